//! Reads the cells of an array, one row of chunks along the fastest axis at a time. The chunks of a row are
//! read and decompressed in parallel.

use super::chunks::{ArrayFile, FileRows};
use super::node::{ZarrArray, ZarrImage};
use crate::Dtype;
use crate::Voxels;
use crate::dense::RowValues;
use crate::open::{VoxelSource, bytes_in};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Field;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::par;

/// Number of chunks that each thread decompresses at a time.
const CHUNKS_PER_THREAD: usize = 4;

/// Maximum size of the cells in a row of chunks, in bytes.
const MOST: usize = 2 << 30;

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let ZarrImage {
        frame, metadata, ..
    } = ZarrImage::open(source)?;
    Ok(frame.describe(metadata))
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let ZarrImage {
        array,
        frame,
        metadata,
    } = ZarrImage::open(source)?;
    let room = source.room;
    let dims = frame.dims();
    let bits = 8 * array.width() as u128;
    room.check_proportion(dims, bits, bytes_in(&array.folder))?;
    let mut row = ChunkRow::new(&array)?;
    let cells = match array.dtype {
        Dtype::F32 => {
            let [fill] = array.fill.as_chunks::<4>().0 else {
                unreachable!("a float has four bytes")
            };
            let fill = f32::from_le_bytes(*fill);
            let mut field = room
                .field(dims)?
                .with_background(metadata.background.unwrap_or(fill));
            if fill.to_bits() != 0 {
                field.values_mut().fill(fill);
            }
            row.each(&array.files()?, |place, cells| {
                put_values(&mut field, place, cells);
                Ok(())
            })?;
            frame.turned(field.into())?
        }
        _ => {
            let mut values = RowValues::new(dims, metadata.legend.as_ref(), room)?;
            row.each(&array.files()?, |[j, k], cells| {
                values.put_rows(k * dims[1] + j, cells)
            })?;
            frame.placed(values.cells, &metadata)?
        }
    };
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

/// Copies consecutive rows of values to a field, beginning with row `(j, k)`.
fn put_values(field: &mut Field, [j, k]: [usize; 2], cells: &[u8]) {
    let [nx, ny, _] = field.dims();
    let values = &mut field.values_mut()[(k * ny + j) * nx..];
    for (value, bytes) in values.iter_mut().zip(cells.as_chunks::<4>().0) {
        *value = f32::from_le_bytes(*bytes);
    }
}

/// Cells of all chunks in one row along the fastest axis.
struct ChunkRow<'a> {
    array: &'a ZarrArray,
    /// Size of a chunk's cells in bytes.
    chunk_bytes: usize,
    cells: Vec<u8>,
}

/// Chunk in a row of chunks: its file, its index in the file, and its first cell along the fastest axis.
struct ChunkPlace<'a> {
    file: &'a ArrayFile,
    number: usize,
    first: usize,
}

impl<'a> ChunkRow<'a> {
    fn new(array: &'a ZarrArray) -> Result<Self> {
        let chunk_bytes = array.chunk_bytes()?;
        let row = Self {
            array,
            chunk_bytes,
            cells: Vec::new(),
        };
        let [layers, rows] = row.size([0, 0]);
        let nx = array.shape[2];
        match [layers, rows, nx]
            .iter()
            .try_fold(array.width(), |all, n| all.checked_mul(*n))
        {
            Some(bytes) if bytes <= MOST => Ok(row),
            _ => Err(Error::too_large(format!(
                "a row of chunks has {layers} × {rows} × {nx} cells"
            ))
            .with_hint("save it in smaller chunks")),
        }
    }

    /// Returns the number of layers in a row of chunks, and the number of rows in each layer. The row of
    /// chunks begins at row `(j, k)`.
    fn size(&self, [j, k]: [usize; 2]) -> [usize; 2] {
        let ZarrArray { chunk, shape, .. } = self.array;
        [chunk[0].min(shape[0] - k), chunk[1].min(shape[1] - j)]
    }

    /// Reads all rows of chunks. Passes the cells of each to `put`, as consecutive rows that begin with row
    /// `(j, k)`.
    fn each(
        &mut self,
        files: &FileRows,
        mut put: impl FnMut([usize; 2], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let array = self.array;
        // If the new grid has the fill value everywhere, cells that are not stored can be skipped.
        let is_sparse = array.dtype == Dtype::F32 || array.fill == [0];
        let counts = [0, 1].map(|axis| array.shape[axis].div_ceil(array.shard[axis]));
        let places: Vec<[usize; 2]> = if is_sparse {
            files.keys().copied().collect()
        } else {
            (0..counts[0])
                .flat_map(|z| (0..counts[1]).map(move |y| [z, y]))
                .collect()
        };
        for [z, y] in places {
            let paths = files.get(&[z, y]).map(Vec::as_slice).unwrap_or_default();
            let mut found = Vec::new();
            for (x, path) in paths {
                found.push((*x, ArrayFile::open(path.clone(), array)?));
            }
            let [layers, rows, _] = array.chunks_of_file();
            for n in 0..layers * rows {
                let k = z * array.shard[0] + n / rows * array.chunk[0];
                let j = y * array.shard[1] + n % rows * array.chunk[1];
                if k < array.shape[0] && j < array.shape[1] {
                    match self.stored(&found, n).as_slice() {
                        [] if is_sparse => {}
                        [] => self.hand_on_fill([j, k], &mut put)?,
                        chunks => self.read([j, k], chunks)?.hand_on([j, k], &mut put)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the chunks in row `n` of each file that are stored and within the array.
    fn stored<'f>(&self, files: &'f [(usize, ArrayFile)], n: usize) -> Vec<ChunkPlace<'f>> {
        let ZarrArray {
            chunk,
            shape,
            shard,
            ..
        } = self.array;
        let count = shard[2] / chunk[2];
        let mut stored = Vec::new();
        for (x, file) in files {
            for m in 0..count {
                let number = n * count + m;
                let first = x * shard[2] + m * chunk[2];
                if first < shape[2] && file.has(number) {
                    stored.push(ChunkPlace {
                        file,
                        number,
                        first,
                    });
                }
            }
        }
        stored
    }

    /// Reads the row of chunks that begins at row `place` of the array.
    fn read(&mut self, place: [usize; 2], chunks: &[ChunkPlace]) -> Result<&Self> {
        let [layers, rows] = self.size(place);
        let ZarrArray {
            chunk, shape, fill, ..
        } = self.array;
        let width = fill.len();
        self.cells.clear();
        for some in chunks.chunks(CHUNKS_PER_THREAD * par::current_threads()) {
            let mut packed = Vec::new();
            for place in some {
                packed.push(place.file.read(place.number)?);
            }
            let unpacked = par::map(
                some.iter().zip(packed).collect(),
                |(place, bytes): (&ChunkPlace, _)| {
                    let cells = self.array.decoded(bytes, self.chunk_bytes);
                    cells.map_err(|error| place.file.about(place.number, error))
                },
            );
            let unpacked = unpacked.into_iter().collect::<Result<Vec<_>>>()?;
            if self.cells.is_empty() {
                // The memory is allocated only after a chunk has been read, because the node alone may state
                // any size.
                self.cells = fill.repeat(layers * rows * shape[2]);
            }
            for (place, cells) in some.iter().zip(unpacked) {
                let length = chunk[2].min(shape[2] - place.first) * width;
                for (n, m) in (0..layers).flat_map(|n| (0..rows).map(move |m| (n, m))) {
                    let from = (n * chunk[1] + m) * chunk[2] * width;
                    let to = ((n * rows + m) * shape[2] + place.first) * width;
                    self.cells[to..to + length].copy_from_slice(&cells[from..from + length]);
                }
            }
        }
        Ok(self)
    }

    fn hand_on(
        &self,
        [j, k]: [usize; 2],
        put: &mut impl FnMut([usize; 2], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let [layers, _] = self.size([j, k]);
        let layer = self.cells.len() / layers;
        for (n, cells) in self.cells.chunks(layer).enumerate() {
            put([j, k + n], cells)?;
        }
        Ok(())
    }

    /// Passes on a row of chunks of which no chunk is stored. It begins at row `(j, k)`.
    fn hand_on_fill(
        &self,
        [j, k]: [usize; 2],
        put: &mut impl FnMut([usize; 2], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let [layers, rows] = self.size([j, k]);
        let cells = self.array.fill.repeat(self.array.shape[2]);
        for n in 0..layers {
            for m in 0..rows {
                put([j + m, k + n], &cells)?;
            }
        }
        Ok(())
    }
}
