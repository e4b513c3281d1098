//! Grids of several meshes in one `.npz`, for machine learning.
//!
//! | member | content |
//! |---|---|
//! | `voxels` | n × nx × ny × nz cells, the bytes of each mesh in C order; with [`Choice::Zyx`] n × nz × ny × nx |
//! | `names` | n names |
//! | `origin`, `spacing` | n × 3 doubles: the corner of each grid, the size of its cells |
//! | `origin_exact`, `spacing_exact` | n × 3 fractions |
//! | `cells_digest` | n digests |
//! | `order`, `rule`, `ties`, `tool` … | text, for all meshes; entries that differ between meshes are left out |
//! | `background` | for fields, float32, (n,): the background of each mesh |
//!
//! The grids can be added in any order. They are kept deflated in a temporary file until all are added.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use tempfile::SpooledTempFile;

use super::archive::LARGE;
use super::write::text;
use crate::container::ArchiveWriter;
use crate::npy::{self, Header};
use crate::packed::LEVEL;
use crate::place::failure;
use crate::save::{SPOOL, checked_dtype, not_spooled, spooled};
use crate::{Choice, Dtype, SaveOptions, metadata};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellSource, Lattice};

/// Collects the grids of several meshes in one array. All grids must have the same dims.
///
/// ```
/// # use voxelize_formats::voxelize;
/// use voxelize::format::{GridStack, SaveOptions};
/// use voxelize::grid::InMemory;
/// use voxelize::{BitGrid, Voxels};
///
/// let stack = GridStack::default();
/// for (n, name) in ["cube", "sphere"].iter().enumerate() {
///     let voxels = Voxels::new(BitGrid::new([16, 16, 16])?);
///     stack.add(n, name, &mut InMemory::new(&voxels), &SaveOptions::default())?;
/// }
/// let mut file = Vec::new();
/// stack.write_to(&mut file, &SaveOptions::default())?;
/// assert!(stack.len() == 2 && file.starts_with(b"PK"));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Default)]
pub struct GridStack(Mutex<StackState>);

impl std::fmt::Debug for GridStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GridStack of {}", self.len())
    }
}

#[derive(Default)]
struct StackState {
    /// Temporary file with the deflated cells of all grids. `None` before the first grid.
    spool: Option<SpooledTempFile>,
    length: u64,
    parts: BTreeMap<usize, StackPart>,
}

/// One grid of a stack.
struct StackPart {
    name: String,
    /// Offset and length of the deflated cells in the temporary file, in bytes.
    place: [u64; 2],
    dims: [usize; 3],
    dtype: Dtype,
    metadata: Metadata,
    digest: String,
}

impl GridStack {
    /// Adds the grid of a mesh. `number` is its index in the array, and `name` is the name of the mesh.
    /// Returns the size of the compressed cells in bytes.
    ///
    /// # Errors
    /// Fails if the cells cannot be made, if an `.npz` cannot hold each as a whole number of bytes, or if the
    /// temporary file cannot be written.
    pub fn add(
        &self,
        number: usize,
        name: &str,
        source: &mut dyn CellSource,
        options: &SaveOptions,
    ) -> Result<u64> {
        let dtype = checked_dtype(source, &super::FORMAT, options)?;
        if dtype == Dtype::Bit {
            return Err(Error::usage("a stack has no packed bits")
                .with_hint("bool and u8 take little space, too"));
        }
        let mut own =
            deflated(source, dtype, options).map_err(|error| failure(not_spooled(error)))?;
        let metadata = metadata(source, dtype);
        let digest = source.digest().cells.to_string();
        let dims = source.dims();
        let mut state = self.state();
        let at = state.length;
        let spool = state
            .spool
            .get_or_insert_with(|| SpooledTempFile::new(SPOOL));
        let append = spool
            .seek(SeekFrom::Start(at))
            .and_then(|_| io::copy(&mut own, spool));
        let length = append.map_err(|error| failure(not_spooled(error)))?;
        state.length += length;
        let part = StackPart {
            name: name.to_string(),
            place: [at, length],
            dims,
            dtype,
            metadata,
            digest,
        };
        state.parts.insert(number, part);
        Ok(length)
    }

    /// Returns the number of grids.
    pub fn len(&self) -> usize {
        self.state().parts.len()
    }

    /// Returns `true` if there is no grid.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that [`write_to`](Self::write_to) needs, in bytes. It holds one grid and one of its
    /// layers at a time.
    pub fn bytes(&self) -> u128 {
        let mut most = 0;
        for part in self.state().parts.values() {
            let [nx, ny, nz] = part.dims.map(|n| n as u128);
            let bytes = (nx + 1) * ny * nz * size_of_number(part.dtype) as u128;
            most = most.max(bytes);
        }
        most
    }

    /// Writes the archive with all grids.
    ///
    /// # Errors
    /// Fails if there is no grid, if two grids have different dims or number types, if the work is cancelled,
    /// or if the archive cannot be written.
    pub fn write_to(&self, out: &mut dyn Write, options: &SaveOptions) -> Result<()> {
        let mut state = self.state();
        let StackState { spool, parts, .. } = &mut *state;
        let (Some(spool), Some(first)) = (spool, parts.values().next()) else {
            return Err(Error::usage("the stack has no grid to write"));
        };
        if let Some(other) = parts
            .values()
            .find(|part| part.dims != first.dims || part.dtype != first.dtype)
        {
            return Err(Error::usage(format!(
                "one array cannot store grids as different as {} and {}",
                name_and_dims(first),
                name_and_dims(other)
            ))
            .with_hint(
                "`--dims X,Y,Z` is for all; with cubes of one size, a rule that grows them by a length needs `--pad N` as well",
            ));
        }
        spooled(out, options, |sink| {
            write(ArchiveWriter::new(sink), (spool, parts), options)
        })
        .map_err(failure)
    }

    fn state(&self) -> MutexGuard<'_, StackState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the array of a grid to a temporary file, deflated.
fn deflated(
    source: &mut dyn CellSource,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<SpooledTempFile> {
    let mut file = SpooledTempFile::new(SPOOL);
    let mut deflate = DeflateEncoder::new(&mut file, Compression::fast());
    npy::write(source, &mut deflate, dtype, options)?;
    deflate.finish()?;
    file.rewind()?;
    Ok(file)
}

fn name_and_dims(part: &StackPart) -> String {
    let [x, y, z] = part.dims;
    format!("{} of {x} × {y} × {z} cells", part.name)
}

fn size_of_number(dtype: Dtype) -> usize {
    if dtype == Dtype::F32 { 4 } else { 1 }
}

fn write(
    mut archive: ArchiveWriter,
    (spool, parts): (&mut SpooledTempFile, &BTreeMap<usize, StackPart>),
    options: &SaveOptions,
) -> io::Result<()> {
    let Some(first) = parts.values().next() else {
        return archive.finish();
    };
    let [nx, ny, nz] = first.dims;
    let size = size_of_number(first.dtype);
    let is_zyx = options.has(Choice::Zyx);
    let descr = npy::descr(first.dtype);
    let shape = if is_zyx {
        [parts.len(), nz, ny, nx]
    } else {
        [parts.len(), nx, ny, nz]
    };
    let large = shape.iter().map(|n| *n as u128).product::<u128>() * size as u128 > LARGE;
    archive.deflate(("voxels.npy", Compression::fast()), large, |out| {
        out.write_all(&npy::header_of_rows(descr, &shape))?;
        let mut grid = vec![0; nx * ny * nz * size];
        let mut layer = Vec::with_capacity(ny * nz * size);
        options.progress.begin("write", parts.len() as u64);
        for part in parts.values() {
            options.progress.check().map_err(io::Error::other)?;
            let [at, length] = part.place;
            spool.seek(SeekFrom::Start(at)).map_err(not_spooled)?;
            let mut numbers = DeflateDecoder::new((&mut *spool).take(length));
            Header::read(&mut numbers).map_err(io::Error::other)?;
            numbers.read_exact(&mut grid).map_err(not_spooled)?;
            if is_zyx {
                out.write_all(&grid)?;
            } else {
                // In `grid`, neighbours along x are adjacent. In the file, neighbours along z must be
                // adjacent.
                for x in 0..nx {
                    layer.clear();
                    for y in 0..ny {
                        for z in 0..nz {
                            let cell = size * ((z * ny + y) * nx + x);
                            layer.extend(&grid[cell..cell + size]);
                        }
                    }
                    out.write_all(&layer)?;
                }
            }
            options.progress.advance(1);
        }
        Ok(())
    })?;
    for (name, bytes) in members(&parts.values().collect::<Vec<_>>(), is_zyx) {
        let large = bytes.len() as u128 > LARGE;
        archive.deflate(
            (&format!("{name}.npy"), Compression::new(LEVEL)),
            large,
            |out| out.write_all(&bytes),
        )?;
    }
    archive.finish()
}

/// Values of the member `order`: the default, and the value with [`Choice::Zyx`].
pub(super) const ORDERS: [&str; 2] = ["nxyz", "nzyx"];

/// Returns all members except the cells.
fn members(parts: &[&StackPart], is_zyx: bool) -> Vec<(&'static str, Vec<u8>)> {
    let count = parts.len();
    let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    let digests: Vec<String> = parts.iter().map(|part| part.digest.clone()).collect();
    let order = ORDERS[usize::from(is_zyx)];
    let mut members = vec![
        ("names", texts(&[count], &names)),
        ("cells_digest", texts(&[count], &digests)),
        ("order", text(&[], &[order])),
    ];
    let lattices: Option<Vec<&Lattice>> = parts
        .iter()
        .map(|part| part.metadata.lattice.as_ref())
        .collect();
    if let Some(lattices) = lattices {
        type Three = fn(&Lattice) -> &[Rational; 3];
        let both: [(_, _, Three); 2] = [
            ("origin", "origin_exact", Lattice::origin),
            ("spacing", "spacing_exact", Lattice::spacing),
        ];
        for (name, exact, values) in both {
            let mut doubles = npy::header_of_rows("<f8", &[count, 3]);
            let mut fractions = Vec::new();
            for lattice in &lattices {
                for value in values(lattice) {
                    doubles.extend(value.to_f64().to_le_bytes());
                    fractions.push(value.to_string());
                }
            }
            members.push((name, doubles));
            members.push((exact, texts(&[count, 3], &fractions)));
        }
    }
    // Only entries that are the same in all records are written.
    let mut shared = entries(parts[0]);
    for part in &parts[1..] {
        let other = entries(part);
        shared.retain(|name, value| other.get(name) == Some(value));
    }
    shared.remove("input");
    for (name, value) in &shared {
        members.push((*name, text(&[], &[value])));
    }
    // The background of distances depends on the cell size, which may differ between meshes.
    let backgrounds: Option<Vec<f32>> = parts.iter().map(|part| part.metadata.background).collect();
    if let Some(all) = backgrounds {
        let mut bytes = npy::header("<f4", &[count]);
        for background in all {
            bytes.extend(background.to_le_bytes());
        }
        members.push(("background", bytes));
    }
    members
}

fn texts(shape: &[usize], all: &[String]) -> Vec<u8> {
    let texts: Vec<_> = all.iter().map(String::as_str).collect();
    text(shape, &texts)
}

/// Returns the entries in the record of a grid.
fn entries(part: &StackPart) -> BTreeMap<&'static str, String> {
    let mut entries = BTreeMap::new();
    for (name, value) in part.metadata.record.entries() {
        entries.insert(name, value.to_string());
    }
    entries
}
