//! Triangles shared out among threads.
//!
//! Every thread takes the next run of triangles that nobody has, and covers bricks of its own with
//! them; they go into the grid when they are many, and at the end. Where triangles are few, each
//! run is shared out again by layers.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::geom::Triangle;
use crate::grid::BitGrid;
use crate::kernel::{Coverer, Frame, Level, Target};
use crate::par::{self, Progress};

/// Triangles in a run, at most.
const RUN: usize = 1 << 14;

/// Runs per thread, so that uneven ones balance.
const RUNS_PER_THREAD: usize = 16;

/// Occupies every cell of a grid that a triangle touches, in the threads it is called in. Layer 0
/// of the grid is layer `layers.start` of the lattice. The answer counts the coordinates that
/// snapping moved, of triangles that begin in these layers.
///
/// # Errors
/// If the run is cancelled, or there are more triangles or bricks than 32 bits number.
pub fn cover(
    frame: &Frame,
    triangles: &[Triangle],
    layers: Range<usize>,
    grid: &mut BitGrid,
    level: Level,
    progress: &dyn Progress,
) -> Result<u64> {
    if u32::try_from(triangles.len()).is_err() {
        return Err(Error::too_large(format!("{} triangles; the most is 2^32 - 1", triangles.len())));
    }
    if !Target::can_number(grid) {
        let [x, y, z] = grid.dims();
        return Err(Error::too_large(format!("{x} × {y} × {z} cells are too many at once"))
            .with_hint("slabs of fewer layers are possible, with a limit of memory"));
    }
    let threads = par::current_threads();
    let work = share(triangles.len(), &layers, threads);
    let target = Target::new(grid, layers.start);
    progress.begin("voxelize", work.len() as u64);
    let done = par::share(&work, |next| {
        let mut coverer = Coverer::new(frame, triangles, &target, threads);
        for (triangles, layers) in next {
            progress.check()?;
            coverer.cover(level, triangles.clone(), layers.clone());
            progress.advance(1);
        }
        Ok(coverer.finish(level))
    });
    let done = done.into_iter().collect::<Result<Vec<_>>>()?;
    par::map_range(0..target.brick_layers(), |layer| done.iter().for_each(|(full, _)| full.put_layer(layer)));
    Ok(done.iter().map(|(_, snapped)| snapped).sum())
}

/// Runs of triangles and the layers to take them for.
fn share(triangles: usize, layers: &Range<usize>, threads: usize) -> Vec<(Range<u32>, Range<i64>)> {
    let pieces = if threads == 1 { 1 } else { RUNS_PER_THREAD * threads };
    let run = triangles.div_ceil(pieces).clamp(1, RUN);
    let runs = triangles.div_ceil(run);
    // Few triangles are large ones.
    let parts = pieces.div_ceil(runs.max(1)).min(layers.len());
    let height = layers.len().div_ceil(parts);
    let mut work = vec![];
    for first in (0..triangles).step_by(run) {
        for low in layers.clone().step_by(height) {
            let high = layers.end.min(low + height);
            work.push((first as u32..triangles.min(first + run) as u32, low as i64..high as i64));
        }
    }
    work
}
