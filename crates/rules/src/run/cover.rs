//! Finds the cells that triangles touch, with several threads.
//!
//! The triangles are divided into runs. Each thread repeatedly takes the next run and marks the touched cells
//! in its own bricks. It moves the bricks to the grid when it has many of them, and at the end. If there are
//! few triangles, each run is also divided by layers.

use std::ops::Range;
use std::time::{Duration, Instant};

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::grid::BitGrid;
use voxelize_core::par::{self, Progress};
use voxelize_kernel::offset::{OffsetLattice, Offsetter};
use voxelize_kernel::sink::{KeptBricks, LayerCells, SIDE};
use voxelize_kernel::{
    BrickSink, Coverer, CrossCoverer, KernelLattice, Level, Shape, ThreadBricks,
};

/// Greatest number of triangles in a run.
const RUN: usize = 1 << 14;

/// Number of runs per thread. Several runs balance the load if some take longer than others.
const RUNS_PER_THREAD: usize = 16;

/// Set of points of a cell. The cell is occupied if a triangle intersects this set.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a run makes one")]
pub(crate) enum IntersectionTarget {
    /// The box of the cell, under the ties of this lattice.
    Box(KernelLattice),
    /// The three segments that join the centres of opposite faces. Each axis has its lattice, made by
    /// [`KernelLattice::of_segments`].
    Cross([KernelLattice; 3]),
    /// The ball around the centre of the cell. The lattice has its radius.
    Ball(OffsetLattice),
}

/// Occupies every cell of a grid whose target a triangle intersects. Layer 0 of the grid is layer `first` of
/// the lattice. Uses the calling thread pool. Returns the number of triangle coordinates that snapping moved.
/// A triangle is counted only if its lowest layer is one of the layers of the grid.
///
/// # Errors
/// Fails if the run is cancelled, or if the triangles or bricks are too many for 32-bit numbers.
pub(crate) fn cover(
    cells: &IntersectionTarget,
    triangles: &[Triangle],
    first: usize,
    grid: &mut BitGrid,
    level: Level,
    progress: &dyn Progress,
) -> Result<u64> {
    let shape = numbered(grid.dims(), first)?;
    let target = BrickSink::rows(grid.words_mut(), shape);
    let (full, snapped) = fill(cells, triangles, &target, level, progress)?;
    // The first write access to a large grid takes seconds, because the system then provides its pages. All
    // threads share this work.
    par::map_range(0..shape.brick_layers(), |layer| {
        if !progress.cancelled() {
            target.take(layer, &full);
        }
    });
    progress.check()?;
    Ok(snapped)
}

/// Returns all cells of a grid of `dims` cells whose target a triangle intersects, stored in bricks. Uses the
/// calling thread pool.
///
/// # Errors
/// Fails for the reasons listed at [`cover`].
pub(crate) fn keep(
    cells: &IntersectionTarget,
    triangles: &[Triangle],
    dims: [usize; 3],
    level: Level,
    progress: &dyn Progress,
) -> Result<Covered> {
    let target = BrickSink::kept(numbered(dims, 0)?);
    let (full, snapped) = fill(cells, triangles, &target, level, progress)?;
    Ok(Covered {
        kept: target.into_kept(full),
        snapped,
    })
}

/// Occupied cells, stored in bricks. If the grid is mostly empty, bricks need much less memory than the grid.
pub(crate) struct Covered {
    kept: KeptBricks,
    snapped: u64,
}

impl Covered {
    /// Returns the number of triangle coordinates that snapping moved.
    pub(crate) fn snapped(&self) -> u64 {
        self.snapped
    }

    /// Returns the number of layers of bricks. Each has [`SIDE`] layers of cells, except that the last may
    /// have fewer.
    pub(crate) fn brick_layers(&self) -> usize {
        self.kept.shape().brick_layers()
    }

    /// Adds the occupied cells of one layer of bricks to `words`, which has the words of the grid for these
    /// layers.
    pub(crate) fn add_to(&self, layer: usize, words: &mut [u64]) {
        self.kept.add_to(layer, words);
    }

    /// Copies the layers from `first` on to `grid`. `first` must be a multiple of [`SIDE`]. Uses the calling
    /// thread pool.
    pub(crate) fn copy_to(&self, first: usize, grid: &mut BitGrid) {
        debug_assert!(first.is_multiple_of(SIDE));
        let words = SIDE * grid.layer_words();
        let layers = grid.words_mut().chunks_mut(words).enumerate().collect();
        par::map(layers, |(n, words): (usize, &mut [u64])| {
            words.fill(0);
            self.add_to(first / SIDE + n, words);
        });
    }

    /// Copies the layers from `first` on to an empty grid, which records its nonzero words. `first` must be a
    /// multiple of [`SIDE`]. Uses the calling thread pool.
    pub(crate) fn fill_noted(&self, first: usize, grid: &mut BitGrid) {
        debug_assert!(first.is_multiple_of(SIDE));
        let end = (first + grid.dims()[2]).div_ceil(SIDE);
        let layers = par::map_range(first / SIDE..end, |layer| self.kept.layer(layer));
        if layers.iter().any(LayerCells::has_rows) {
            self.copy_to(first, grid);
        } else {
            grid.fill_noted(|k, take| layers[k / SIDE].each_word(k % SIDE, take));
        }
    }
}

/// Returns the shape of a grid of `dims` cells whose layer 0 is layer `first` of the lattice. Fails if the
/// bricks are too many for 32-bit numbers.
fn numbered(dims: [usize; 3], first: usize) -> Result<Shape> {
    Shape::new(dims, first).ok_or_else(|| {
        let [x, y, z] = dims;
        Error::too_large(format!("{x} × {y} × {z} cells are too many at once"))
            .with_hint("with a memory limit the grid is made in slabs of fewer layers")
    })
}

/// Writes the touched cells to `target`. Returns the bricks that the threads still have, and the number of
/// triangle coordinates that snapping moved.
fn fill(
    cells: &IntersectionTarget,
    triangles: &[Triangle],
    target: &BrickSink,
    level: Level,
    progress: &dyn Progress,
) -> Result<(Vec<ThreadBricks>, u64)> {
    if u32::try_from(triangles.len()).is_err() {
        return Err(Error::too_large(format!(
            "{} triangles; the maximum is 2^32 - 1",
            triangles.len()
        )));
    }
    let threads = par::current_threads();
    let shape = target.shape();
    let work = share(triangles.len(), shape.dims[1], &shape.layers(), threads);
    progress.begin("voxelize", work.len() as u64);
    let done = par::share(&work, |next| {
        let each = |cover: &mut dyn FnMut(Range<u32>, Range<i64>)| {
            let mut pace = Pace::default();
            for (triangles, layers) in next {
                let mut left = triangles.clone();
                while !left.is_empty() {
                    progress.check()?;
                    let taken = left.start..left.end.min(left.start.saturating_add(pace.triangles));
                    left.start = taken.end;
                    pace.time(|| cover(taken, layers.clone()));
                }
                progress.advance(1);
            }
            Ok(())
        };
        Ok(match cells {
            IntersectionTarget::Box(frame) => {
                let mut coverer = Coverer::new(frame, triangles, target, threads);
                each(&mut |triangles, layers| coverer.cover(level, triangles, layers))?;
                coverer.finish(level)
            }
            IntersectionTarget::Cross(frames) => {
                let mut coverer = CrossCoverer::new(frames, triangles, target, threads);
                each(&mut |triangles, layers| coverer.cover(level, triangles, layers))?;
                coverer.finish()
            }
            IntersectionTarget::Ball(offset) => {
                let mut offsetter = Offsetter::new(offset, triangles, target, threads);
                each(&mut |triangles, layers| offsetter.cover(level, triangles, layers))?;
                offsetter.finish()
            }
        })
    });
    let mut full = vec![];
    let mut snapped = 0;
    for part in done {
        let (bricks, moved): (_, u64) = part?;
        full.push(bricks);
        snapped += moved;
    }
    Ok((full, snapped))
}

/// Number of triangles between two checks for cancellation. It is adapted so that the time between two checks
/// is about a millisecond.
struct Pace {
    triangles: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { triangles: 1 }
    }
}

impl Pace {
    const SHORT: Duration = Duration::from_micros(500);
    const LONG: Duration = Duration::from_millis(2);

    /// Calls `cover`, which processes this number of triangles, and adapts the number to the measured time.
    fn time(&mut self, cover: impl FnOnce()) {
        let start = Instant::now();
        cover();
        match start.elapsed() {
            short if short < Self::SHORT => self.triangles = self.triangles.saturating_mul(2),
            long if long > Self::LONG => self.triangles = (self.triangles / 2).max(1),
            _ => {}
        }
    }
}

/// Greatest number of rows of cells in one work item if there are few triangles. A triangle over so many rows
/// takes some milliseconds.
const ROWS: usize = 1 << 20;

/// Greatest number of triangles that counts as few.
const FEW: usize = 1 << 12;

/// Divides the work into items. Each item is a run of triangles and a range of layers. A layer has `rows`
/// rows.
fn share(
    triangles: usize,
    rows: usize,
    layers: &Range<i64>,
    threads: usize,
) -> Vec<(Range<u32>, Range<i64>)> {
    let pieces = if threads == 1 {
        1
    } else {
        RUNS_PER_THREAD * threads
    };
    let run = triangles.div_ceil(pieces).clamp(1, RUN);
    let runs = triangles.div_ceil(run);
    // If there are few triangles, they are probably large.
    let count = (layers.end - layers.start) as usize;
    let most = if triangles <= FEW {
        (ROWS / rows).max(1)
    } else {
        count
    };
    let height = count
        .div_ceil(pieces.div_ceil(runs.max(1)).min(count))
        .min(most);
    let mut work = vec![];
    for first in (0..triangles).step_by(run) {
        for low in layers.clone().step_by(height) {
            let high = layers.end.min(low + height as i64);
            work.push((first as u32..triangles.min(first + run) as u32, low..high));
        }
    }
    work
}
