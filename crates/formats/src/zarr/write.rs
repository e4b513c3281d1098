//! Writing a Zarr folder: the shards of each slab, and the shards of smaller levels as soon as their layers
//! are complete.

use std::io::{self, Write as _};
use std::ops::Range;

use super::crc32c::crc32c;
use super::pyramid::{LayerWindow, reduce};
use super::{CHUNK, NODE, NOT_STORED, json, levels};
use crate::packed::gzip;
use crate::several::NewFolder;
use crate::steps::{cancelled, next};
use crate::{Choice, Dtype, SaveOptions};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::spread::spread;
use voxelize_core::grid::{BitGrid, CellSource, CellType, Cells, CellsRef, Field, Labels};
use voxelize_core::par;

/// Number of words in a row of a chunk.
const WORDS: usize = CHUNK / 64;

/// Number of chunks that each thread compresses before they are written.
const CHUNKS_PER_THREAD: usize = 4;

/// Returns the memory in bytes of the chunks that are compressed at a time, both uncompressed and compressed.
pub(super) fn bytes_at_once(dtype: Dtype, threads: usize) -> u64 {
    let width = if dtype == Dtype::F32 { 4 } else { 1 };
    (2 * CHUNKS_PER_THREAD * threads * width * CHUNK.pow(3)) as u64
}

/// Where shards are written. A shard is named by its path relative to the folder of the group.
pub(super) trait ShardFiles: Sync {
    /// Writes the file `name`. It gets this name when it is complete.
    fn write(
        &self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Records that the file of shard `name` does not exist, because all its cells have the fill value.
    fn leave_out(&self, name: &str) -> io::Result<()>;
}

impl ShardFiles for NewFolder {
    fn write(
        &self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        Self::write(self, name, |out| write(out))
    }

    fn leave_out(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn write(
    source: &mut dyn CellSource,
    folder: &NewFolder,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let dims = source.dims();
    let levels = levels(dims, options.choices);
    let shards = vec![CHUNK; levels.len()];
    write_arrays(folder, source.cell_type(), dtype, &levels, &shards, options)?;
    let layout = ShardLayout::new(&levels, &(0..dims[2]), &shards);
    write_shards(source, folder, dtype, &layout, options)?;
    let text = json::group(source, dtype, levels.len());
    folder.write(NODE, |out| out.write_all(text.as_bytes()))
}

/// Writes the node of each level's array. `shards` has the number of layers in a shard for each level.
pub(super) fn write_arrays(
    folder: &NewFolder,
    cells: CellType,
    dtype: Dtype,
    levels: &[[usize; 3]],
    shards: &[usize],
    options: &SaveOptions,
) -> io::Result<()> {
    for (level, (dims, layers)) in levels.iter().zip(shards).enumerate() {
        let text = json::array(*dims, *layers, background(cells), dtype, options);
        folder.write(&format!("{level}/{NODE}"), |out| {
            out.write_all(text.as_bytes())
        })?;
    }
    Ok(())
}

fn background(cells: CellType) -> f32 {
    match cells {
        CellType::Field { background } => background,
        _ => 0.0,
    }
}

/// Layers of a level that are to be written. `shard` is the number of layers in a shard.
struct LevelLayers {
    dims: [usize; 3],
    layers: Range<usize>,
    shard: usize,
}

/// Layers of all levels that are to be written.
pub(super) struct ShardLayout(Vec<LevelLayers>);

impl ShardLayout {
    /// Computes which layers of all levels belong to these layers of the first level. They must cover whole
    /// layers of the last level, except at the upper end of the grid.
    pub(super) fn new(levels: &[[usize; 3]], layers: &Range<usize>, shards: &[usize]) -> Self {
        let mut layout = Vec::new();
        for (level, (dims, shard)) in levels.iter().zip(shards).enumerate() {
            layout.push(LevelLayers {
                dims: *dims,
                layers: layers.start >> level..layers.end.div_ceil(1 << level),
                shard: *shard,
            });
        }
        Self(layout)
    }

    /// Returns the names of all shards.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(level, LevelLayers { layers, shard, .. })| {
                (layers.start / shard..layers.end.div_ceil(*shard))
                    .map(move |z| shard_name(level, z))
            })
    }
}

/// Returns the name of a shard. `z` is its index within the level.
fn shard_name(level: usize, z: usize) -> String {
    format!("{level}/c/{z}/0/0")
}

/// Makes the shards of all levels from the layers of a source, and writes them.
pub(super) fn write_shards(
    source: &mut dyn CellSource,
    files: &dyn ShardFiles,
    dtype: Dtype,
    layout: &ShardLayout,
    options: &SaveOptions,
) -> io::Result<()> {
    let background = background(source.cell_type());
    let LevelLayers {
        layers,
        shard: height,
        ..
    } = &layout.0[0];
    let mut pending = Vec::new();
    for level in &layout.0[1..] {
        let layers = PendingLayers::new(level, source.cell_type(), dtype);
        pending.push(Some(layers.map_err(io::Error::other)?));
    }
    let mut shards = ShardWriter {
        files,
        options,
        background,
        levels: &layout.0,
        pending,
    };
    options.progress.begin("write", layers.len() as u64);
    while let Some(slab) = next(source)? {
        let cells = match slab.cells {
            CellsRef::Labels(labels) if dtype != Dtype::U8 => CellsRef::Bits(labels.occupied()),
            cells => cells,
        };
        let count = cells.dims()[2];
        if !slab.first.is_multiple_of(*height)
            || !count.is_multiple_of(*height) && slab.first + count != layers.end
        {
            let text = format!("a folder of Zarr is made of slabs of {height} layers");
            return Err(io::Error::other(Error::usage(text)));
        }
        for first in (0..count).step_by(*height) {
            let window = LayerWindow {
                cells,
                first,
                count: (*height).min(count - first),
            };
            shards.add(0, window, slab.first + first)?;
            options.progress.advance(window.count as u64);
        }
    }
    Ok(())
}

/// Layers of a smaller level that are collected until they fill a shard.
struct PendingLayers {
    cells: Cells,
    /// Index of the first pending layer within its level.
    first: usize,
    count: usize,
    /// End of the layers of this level that are to be written.
    end: usize,
}

impl PendingLayers {
    fn new(level: &LevelLayers, cells: CellType, dtype: Dtype) -> Result<Self> {
        let LevelLayers {
            dims: [nx, ny, _],
            layers,
            shard,
        } = level;
        let dims = [*nx, *ny, layers.len().min(*shard)];
        let cells = match cells {
            CellType::Field { background } => Field::new(dims, background)?.into(),
            CellType::Labels(legend) if dtype == Dtype::U8 => {
                Labels::new(dims, legend.clone())?.into()
            }
            _ => BitGrid::new(dims)?.into(),
        };
        Ok(Self {
            cells,
            first: layers.start,
            count: 0,
            end: layers.end,
        })
    }

    /// Returns the number of layers that can still be added.
    fn room(&self) -> usize {
        self.cells.as_ref().dims()[2] - self.count
    }

    fn is_full(&self) -> bool {
        self.room() == 0 || self.first + self.count == self.end
    }

    /// Removes the pending layers, so that the next ones can be added.
    fn clear(&mut self) -> Result<()> {
        self.first += self.count;
        self.count = 0;
        // Cells of bits and fields are overwritten, so only labels need a new grid.
        if let Cells::Labels(labels) = &mut self.cells {
            *labels = Labels::new(labels.dims(), labels.legend().clone())?;
        }
        Ok(())
    }
}

/// Writer of the shards of all levels.
struct ShardWriter<'a> {
    files: &'a dyn ShardFiles,
    options: &'a SaveOptions<'a>,
    background: f32,
    levels: &'a [LevelLayers],
    /// Pending layers of each level, beginning with the second level.
    pending: Vec<Option<PendingLayers>>,
}

impl ShardWriter<'_> {
    /// Writes the layers of one shard, and adds them to the next level. `z` is the index of the first of
    /// these layers within the level.
    fn add(&mut self, level: usize, window: LayerWindow, z: usize) -> io::Result<()> {
        self.write(level, window, z / self.levels[level].shard)?;
        let Some(mut pending) = self.pending.get_mut(level).and_then(Option::take) else {
            return Ok(());
        };
        // A shard of the next level may be full before all of these layers are added.
        let mut left = window;
        while left.count > 0 {
            cancelled(self.options.progress)?;
            let some = LayerWindow {
                count: left.count.min(2 * pending.room()),
                ..left
            };
            reduce(some, &mut pending.cells, pending.count);
            pending.count += some.count.div_ceil(2);
            left = LayerWindow {
                first: left.first + some.count,
                count: left.count - some.count,
                ..left
            };
            if pending.is_full() {
                let window = LayerWindow {
                    cells: pending.cells.as_ref(),
                    first: 0,
                    count: pending.count,
                };
                self.add(level + 1, window, pending.first)?;
                pending.clear().map_err(io::Error::other)?;
            }
        }
        self.pending[level] = Some(pending);
        Ok(())
    }

    /// Writes shard number `z` of a level. If all its cells have the fill value, it is left out.
    fn write(&self, level: usize, window: LayerWindow, z: usize) -> io::Result<()> {
        let layers = self.levels[level].shard;
        let [nx, ny, _] = window.cells.dims().map(|n| n.div_ceil(CHUNK));
        let chunk = |n: usize| ShardChunk {
            window,
            x: n % nx,
            y: n / nx,
            layers,
            background: self.background,
        };
        let is_stored = par::map_range(0..nx * ny, |n| !chunk(n).is_empty());
        let stored: Vec<_> = (0..nx * ny).filter(|n| is_stored[*n]).collect();
        let name = shard_name(level, z);
        if stored.is_empty() {
            return self.files.leave_out(&name);
        }
        let is_packed = !self.options.has(Choice::Uncompressed);
        let encoded = |n| {
            if is_packed {
                gzip(&chunk(n).bytes())
            } else {
                Ok(chunk(n).bytes())
            }
        };
        self.files.write(&name, &mut |out| {
            let mut places = vec![[NOT_STORED; 2]; nx * ny];
            let mut offset = 0;
            for some in stored.chunks(CHUNKS_PER_THREAD * par::current_threads()) {
                cancelled(self.options.progress)?;
                for (n, bytes) in some.iter().zip(par::map(some.to_vec(), encoded)) {
                    let bytes = bytes?;
                    out.write_all(&bytes)?;
                    places[*n] = [offset, bytes.len() as u64];
                    offset += bytes.len() as u64;
                }
            }
            let index: Vec<u8> = places
                .iter()
                .flatten()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            out.write_all(&index)?;
            out.write_all(&crc32c(&index).to_le_bytes())
        })
    }
}

/// Chunk of a shard.
struct ShardChunk<'a> {
    window: LayerWindow<'a>,
    x: usize,
    y: usize,
    /// Number of layers in the chunk.
    layers: usize,
    background: f32,
}

impl ShardChunk<'_> {
    /// Returns the rows `(j, k)` of the chunk, each with its offset in the chunk.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let start = self.y * CHUNK;
        let end = self.window.cells.dims()[1].min(start + CHUNK);
        let first = self.window.first;
        let place = move |j: usize, k: usize| ((k - first) * CHUNK + j - start) * CHUNK;
        (first..first + self.window.count)
            .flat_map(move |k| (start..end).map(move |j| (j, k, place(j, k))))
    }

    /// Returns the range of words in a row of bits that belong to the chunk.
    fn words(&self, bits: &BitGrid) -> std::ops::Range<usize> {
        self.x * WORDS..bits.row_words().min((self.x + 1) * WORDS)
    }

    /// Returns the values in row `(j, k)` of a field that belong to the chunk.
    fn values<'a>(&self, field: &'a Field, j: usize, k: usize) -> &'a [f32] {
        let row = field.row(j, k);
        &row[self.x * CHUNK..row.len().min((self.x + 1) * CHUNK)]
    }

    /// Returns `true` if no cell of the chunk is occupied.
    fn is_clear(&self, bits: &BitGrid) -> bool {
        let words = self.words(bits);
        self.rows()
            .all(|(j, k, _)| bits.row(j, k)[words.clone()].iter().all(|word| *word == 0))
    }

    /// Returns `true` if all cells of the chunk have the fill value.
    fn is_empty(&self) -> bool {
        match self.window.cells {
            CellsRef::Bits(bits) => self.is_clear(bits),
            CellsRef::Labels(labels) => self.is_clear(labels.occupied()),
            CellsRef::Field(field) => {
                let fill = canonical(self.background);
                self.rows().all(|(j, k, _)| {
                    self.values(field, j, k)
                        .iter()
                        .all(|value| canonical(*value) == fill)
                })
            }
        }
    }

    /// Returns the bytes of the cells. x varies fastest. Cells outside the grid have the fill value.
    fn bytes(&self) -> Vec<u8> {
        match self.window.cells {
            CellsRef::Bits(bits) => self.spread(bits, |n, j, k, cells| {
                cells.copy_from_slice(&spread(bits.row(j, k)[n]).as_flattened()[..cells.len()]);
            }),
            CellsRef::Labels(labels) => self.spread(labels.occupied(), |n, j, k, cells| {
                labels.word_values(n, j, k, cells)
            }),
            CellsRef::Field(field) => {
                let mut bytes = canonical(self.background)
                    .to_le_bytes()
                    .repeat(CHUNK * CHUNK * self.layers);
                for (j, k, at) in self.rows() {
                    let places = bytes[4 * at..].as_chunks_mut::<4>().0;
                    for (place, value) in places.iter_mut().zip(self.values(field, j, k)) {
                        *place = canonical(*value).to_le_bytes();
                    }
                }
                bytes
            }
        }
    }

    /// Returns one byte for each cell. `put` writes the bytes for one word of a row.
    fn spread(&self, occupied: &BitGrid, put: impl Fn(usize, usize, usize, &mut [u8])) -> Vec<u8> {
        let nx = occupied.dims()[0];
        let mut bytes = vec![0; CHUNK * CHUNK * self.layers];
        for (j, k, at) in self.rows() {
            for (n, word) in self.words(occupied).enumerate() {
                if occupied.row(j, k)[word] != 0 {
                    let cells = &mut bytes[at + 64 * n..][..(nx - 64 * word).min(64)];
                    put(word, j, k, cells);
                }
            }
        }
        bytes
    }
}
