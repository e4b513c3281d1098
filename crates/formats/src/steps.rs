//! Steps of writing a grid slab by slab. All formats share them.

use std::io;

use voxelize_core::error::Error;
use voxelize_core::grid::{BitGrid, CellSource, Slab};
use voxelize_core::par::Progress;

/// Returns [`Error::interrupted`] if the run was cancelled.
pub(crate) fn cancelled(progress: &dyn Progress) -> io::Result<()> {
    progress.check().map_err(io::Error::other)
}

/// Returns the next slab. Fails if the slab does not have the kind of cells and the dims that its source
/// states.
pub(crate) fn next<'a>(source: &'a mut dyn CellSource) -> io::Result<Option<Slab<'a>>> {
    let kind = source.cell_type().kind();
    let [nx, ny, nz] = source.dims();
    let Some(slab) = source.next().map_err(io::Error::other)? else {
        return Ok(None);
    };
    let [x, y, layers] = slab.cells.dims();
    if slab.cells.kind() != kind || [x, y] != [nx, ny] || slab.first + layers > nz {
        let what = "a slab has cells of another kind or another grid than its source";
        return Err(io::Error::other(Error::usage(what)));
    }
    Ok(Some(slab))
}

/// Calls `work` with the occupied cells of the whole grid. If the source has several slabs, they are joined
/// first.
pub(crate) fn whole(
    source: &mut dyn CellSource,
    work: impl FnOnce(&BitGrid) -> io::Result<()>,
) -> io::Result<()> {
    let dims = source.dims();
    let mut whole = None;
    while let Some(slab) = next(source)? {
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        if bits.dims() == dims {
            return work(bits);
        }
        if whole.is_none() {
            whole = Some(BitGrid::new(dims).map_err(io::Error::other)?);
        }
        if let Some(whole) = &mut whole {
            whole.put(bits, slab.first);
        }
    }
    match whole {
        Some(bits) => work(&bits),
        None => Ok(()),
    }
}
