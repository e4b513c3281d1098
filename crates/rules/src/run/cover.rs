//! Cells that triangles touch, found in several threads.
//!
//! Each thread takes the next free run of triangles and covers bricks of its own with them. It
//! moves the bricks to the grid when they are many, and at the end. If there are few triangles,
//! each run is also divided by layers.

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

/// Number of runs per thread, so that uneven runs balance.
const RUNS_PER_THREAD: usize = 16;

/// Part of a cell that a triangle must meet to occupy it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a run makes one")]
pub(crate) enum IntersectionTarget {
    /// The whole cell, under the ties of this lattice.
    Box(KernelLattice),
    /// The three segments that join the centres of opposite faces, as lattices of
    /// [`KernelLattice::of_segments`].
    Cross([KernelLattice; 3]),
    /// The ball around the centre with the radius of this lattice.
    Ball(OffsetLattice),
}

/// Occupies every cell of a grid whose intersection target a triangle meets, in the calling
/// threads. Layer 0 of the grid is layer `first` of the lattice. Returns the number of coordinates
/// that snapping moved, counted for the triangles that begin in these layers.
///
/// # Errors
/// Fails if the run is cancelled, or there are more triangles or bricks than 32 bits can number.
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
    // The first access to a large grid takes seconds, so all threads share it.
    par::map_range(0..shape.brick_layers(), |layer| {
        if !progress.cancelled() {
            target.take(layer, &full);
        }
    });
    progress.check()?;
    Ok(snapped)
}

/// Finds every cell of `dims` whose intersection target a triangle meets, in bricks, in the calling
/// threads.
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

/// Cells in bricks. They take much less memory than a grid that is mostly empty.
pub(crate) struct Covered {
    kept: KeptBricks,
    snapped: u64,
}

impl Covered {
    /// Returns the number of coordinates that snapping moved.
    pub(crate) fn snapped(&self) -> u64 {
        self.snapped
    }

    /// Returns the number of layers of bricks. Each has [`SIDE`] layers of cells, the last one the
    /// rest.
    pub(crate) fn brick_layers(&self) -> usize {
        self.kept.shape().brick_layers()
    }

    /// Adds the cells of one layer of bricks to `words`, the words of its rows.
    pub(crate) fn add_to(&self, layer: usize, words: &mut [u64]) {
        self.kept.add_to(layer, words);
    }

    /// Sets `grid` to the layers from `first` on, in the calling threads. `first` is a multiple of
    /// [`SIDE`].
    pub(crate) fn copy_to(&self, first: usize, grid: &mut BitGrid) {
        debug_assert!(first.is_multiple_of(SIDE));
        let words = SIDE * grid.layer_words();
        let layers = grid.words_mut().chunks_mut(words).enumerate().collect();
        par::map(layers, |(n, words): (usize, &mut [u64])| {
            words.fill(0);
            self.add_to(first / SIDE + n, words);
        });
    }

    /// Fills an empty grid with the layers from `first` on and notes its nonzero words, in the
    /// calling threads. `first` is a multiple of [`SIDE`].
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

/// Returns the shape of cells of `dims`, the first in layer `first` of a lattice.
fn numbered(dims: [usize; 3], first: usize) -> Result<Shape> {
    Shape::new(dims, first).ok_or_else(|| {
        let [x, y, z] = dims;
        Error::too_large(format!("{x} × {y} × {z} cells are too many at once"))
            .with_hint("a limit of memory makes them in slabs of fewer layers")
    })
}

/// Covers `target`. Returns the remaining bricks and the number of coordinates that snapping moved.
fn fill(
    cells: &IntersectionTarget,
    triangles: &[Triangle],
    target: &BrickSink,
    level: Level,
    progress: &dyn Progress,
) -> Result<(Vec<ThreadBricks>, u64)> {
    if u32::try_from(triangles.len()).is_err() {
        return Err(Error::too_large(format!(
            "{} triangles; the most is 2^32 - 1",
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

/// Number of triangles between two checks for cancellation. It adapts to a duration of about a
/// millisecond.
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

    /// Covers that number of triangles, and adapts it.
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

/// Greatest number of rows of cells in which one of few triangles is covered at a time. It takes
/// some milliseconds.
const ROWS: usize = 1 << 20;

/// Number of triangles up to which there are few.
const FEW: usize = 1 << 12;

/// Divides triangles into runs, and layers of `rows` rows into ranges for each run.
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
    // Few triangles are large.
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
