//! Cells that are told apart: saved in formats that can, and read back.

use std::path::Path;

use super::open::{Source, read_sidecar, recognise};
use super::save::save_layers;
use super::{FORMATS, Format, SaveOptions, Written};
use crate::error::{Error, Result};
use crate::grid::record::TOOL;
use crate::grid::{Lattice, Part, Record, Voxels, Whole, parts};

/// Saves cells that are told apart, such as those of a difference, each sort in a colour of its own. A
/// reader that knows of no parts finds the cells of all.
///
/// ```
/// use voxelize::format::{self, SaveOptions};
/// use voxelize::grid::{BitGrid, Part, Sort};
///
/// let added = Part { sort: Sort::Added, cells: BitGrid::from_text("#..")? };
/// let removed = Part { sort: Sort::Removed, cells: BitGrid::from_text("..#")? };
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("changes.vox");
/// # let path = path.as_path();
/// let vox = format::by_name("vox").unwrap();
/// format::save_parts(&[added, removed], None, path, vox, &SaveOptions::default())?;
///
/// let (all, parts) = format::open_parts(path)?;
/// assert_eq!((all.count(), parts.len()), (2, 2));
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// As [`save`](super::save); if the format tells no parts apart, or the parts are of different grids.
pub fn save_parts(
    parts: &[Part],
    lattice: Option<&Lattice>,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Vec<Written>> {
    if !format.tells_parts() {
        let known: Vec<_> = FORMATS.iter().filter(|f| f.tells_parts()).map(|f| f.name).collect();
        return Err(Error::usage(format!("{} tells no parts of a grid apart", format.name))
            .with_hint(format!("{} does", known.join(", "))));
    }
    let snap = lattice.map(|lattice| lattice.snap().name().to_string());
    let record = Record { tool: Some(TOOL.to_string()), snap, ..Record::default() };
    let voxels = Voxels { bits: parts::union(parts)?, lattice: lattice.cloned(), record };
    save_layers(&mut Whole::with_parts(&voxels, parts), path, format, options)
}

/// Reads a file as [`open`](super::open) does, with the parts that it tells apart: none for most files.
///
/// # Errors
/// The same.
pub fn open_parts(path: &Path) -> Result<(Voxels, Vec<Part>)> {
    let read = || {
        let (mut file, format) = recognise(path)?;
        let mut source = Source::new(&mut file, read_sidecar(path)?)?;
        match format.read_parts {
            Some(read_parts) => read_parts(&mut source),
            None => Ok(((format.read)(&mut source)?, Vec::new())),
        }
    };
    read().map_err(|error| error.in_file(path))
}
