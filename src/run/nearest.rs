//! Distances to the nearest triangles: bricks of cells shared out among threads.
//!
//! The triangles are put in a tree once. Every thread takes bricks that nobody has, and measures their cells on its
//! own; what they hold is then copied into the field, layer by layer. No two write to one cell, so nothing waits for
//! anything else, and slabs of layers are the whole.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::grid::{BitGrid, Field, Lattice};
use crate::kernel::distance::{BrickSearch, CentreLattice, ClusterJob, SIDE, SquaredBrick, TriangleTree};
use crate::mesh::Mesh;
use crate::mesh::numbers::{Dropped, check_count};
use crate::par::{self, Progress};
use crate::run::Run;

/// Bricks along x that are skipped together where no triangle is near.
const ROW: usize = 8;

/// Rows of bricks per thread, so that uneven ones balance, that are measured before they are copied.
const ROWS_PER_THREAD: usize = 32;

/// Cells of a brick.
const CELLS: usize = SIDE * SIDE * SIDE;

/// The triangle of a cell that has none.
pub(crate) const NO_TRIANGLE: i32 = -1;

/// The triangles of a mesh and the cells of a lattice, to measure distances between them.
pub(crate) struct Distances {
    tree: TriangleTree,
    centres: CentreLattice,
    /// The triangles that numbers skip.
    dropped: Arc<Dropped>,
}

/// The cells of a brick that were measured.
struct Measured {
    /// The first of them.
    first: [usize; 3],
    /// Rows along y within the lattice.
    rows: usize,
    values: [f32; CELLS],
    /// Empty if they are not wanted.
    nearest: Vec<i32>,
}

impl Distances {
    /// Prepares to measure, in the threads it is called in.
    ///
    /// # Errors
    /// If there are more triangles than 31 bits number, or the level does not exist here.
    pub(crate) fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        let triangles = mesh.triangles();
        let dropped = mesh.dropped();
        let count = dropped.number(triangles.len() as u64);
        check_count(count)?;
        let centres = CentreLattice::new([0, 1, 2].map(|a| {
            let axis = lattice.axis(a);
            (axis.half_plane(1), axis.spacing().clone(), lattice.dims()[a])
        }));
        let cell = lattice.spacing().iter().max().map_or(1.0, |side| side.to_f64());
        let share = |jobs: Vec<ClusterJob>| {
            par::map(jobs, ClusterJob::run);
        };
        let tree = TriangleTree::new(triangles, mesh.bounds(), cell, run.supported_level()?, share);
        Ok(Self { tree, centres, dropped })
    }

    /// The bytes that it takes at most, with those of threads while they measure.
    pub(crate) fn bytes_for(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
        let triangles = mesh.triangles().len();
        let threads = run.thread_count();
        let centres: usize = lattice.dims().iter().map(|n| n * size_of::<f64>()).sum();
        let brick = size_of::<Measured>() + CELLS * size_of::<i32>();
        let rows: usize = lattice.dims().iter().map(|n| n.div_ceil(SIDE)).product::<usize>().div_ceil(ROW);
        // A list that grows takes up to twice what is in it, and its bricks move to the list of their layer, which grows as
        // well. The allocator keeps what both gave back while they grew: as much again.
        let bricks = 8 * ROW * rows.min(ROWS_PER_THREAD * threads);
        TriangleTree::bytes_for(triangles)
            + threads as u128 * BrickSearch::bytes_for(triangles)
            + (centres + bricks * brick + rows * size_of::<[usize; 3]>()) as u128
    }

    /// Makes `field` the distances of the cells of some layers that are below its background, and `nearest`, if
    /// given, the numbers of their triangles; in the threads it is called in.
    ///
    /// # Errors
    /// If the level does not exist here, or the run was cancelled.
    pub(crate) fn fill(
        &self,
        layers: Range<usize>,
        field: &mut Field,
        mut nearest: Option<&mut [i32]>,
        run: &Run,
    ) -> Result<()> {
        let [nx, ny, _] = field.dims();
        let background = field.background();
        let layer = nx * ny;
        let with_nearest = nearest.is_some();
        par::map(field.values_mut().chunks_mut(layer).collect(), |values: &mut [f32]| {
            values.fill(background)
        });
        if let Some(nearest) = &mut nearest {
            par::map(nearest.chunks_mut(layer).collect(), |cells: &mut [i32]| cells.fill(NO_TRIANGLE));
        }
        self.measure(layers.clone(), background, with_nearest, run, |bricks, batch| {
            let place = (batch.start - layers.start) * layer..(batch.end - layers.start) * layer;
            let values = &mut field.values_mut()[place.clone()];
            copy(bricks, batch.start, values, [nx, layer], |brick| &brick.values);
            if let Some(nearest) = &mut nearest {
                copy(bricks, batch.start, &mut nearest[place], [nx, layer], |brick| &brick.nearest);
            }
        })
    }

    /// Occupies the cells of some layers whose distance is at most `most`; in the threads it is called in.
    ///
    /// # Errors
    /// As those of [`fill`](Self::fill).
    pub(crate) fn occupy(
        &self,
        layers: Range<usize>,
        most: f32,
        grid: &mut BitGrid,
        run: &Run,
    ) -> Result<()> {
        let row_words = grid.row_words();
        let layer = grid.layer_words();
        let above = most.next_up();
        self.measure(layers.clone(), above, false, run, |bricks, batch| {
            let place = (batch.start - layers.start) * layer..(batch.end - layers.start) * layer;
            let words = grid.words_mut()[place].chunks_mut(layer).enumerate().collect();
            par::map(words, |(k, words): (usize, &mut [u64])| {
                for (row, j, cells) in rows(bricks, batch.start + k) {
                    let values = &row.values[cells..cells + SIDE];
                    let bits =
                        values.iter().rev().fold(0, |bits, value| bits << 1 | u64::from(*value < above));
                    words[j * row_words + row.first[0] / 64] |= bits << (row.first[0] % 64);
                }
            });
        })
    }

    /// Measures the bricks of some layers, a few rows at a time, and gives `put` those in which a value is below the
    /// background, by their first layer, with the layers that they are in.
    fn measure(
        &self,
        layers: Range<usize>,
        background: f32,
        with_nearest: bool,
        run: &Run,
        mut put: impl FnMut(&BTreeMap<usize, Vec<Measured>>, Range<usize>),
    ) -> Result<()> {
        let level = run.supported_level()?;
        // Distances that round to less than the background.
        let limit = f64::from(background) * (1.0 + 1e-6);
        let [nx, ny, _] = self.centres.centres.each_ref().map(Vec::len);
        let mut work = vec![];
        for z in layers.clone().step_by(SIDE) {
            for y in (0..ny).step_by(SIDE) {
                work.extend((0..nx).step_by(ROW * SIDE).map(|x| [x, y, z]));
            }
        }
        run.begin("voxelize", work.len() as u64);
        // What a search has allocated serves the next.
        let idle = Mutex::new(vec![]);
        for some in work.chunks(ROWS_PER_THREAD * par::current_threads()) {
            let done = par::share(some, |next| {
                let mut search = locked(&idle).pop().unwrap_or_else(|| {
                    let search = BrickSearch::new(&self.tree, &self.centres, limit);
                    if with_nearest { search.with_nearest() } else { search }
                });
                let mut found = vec![];
                for first in next {
                    run.check()?;
                    run.advance(1);
                    if limit.is_finite() && !search.is_near(level, *first, [ROW * SIDE, SIDE, SIDE]) {
                        continue;
                    }
                    for x in (first[0]..nx.min(first[0] + ROW * SIDE)).step_by(SIDE) {
                        let first = [x, first[1], first[2]];
                        if search.brick(level, first) {
                            found.extend(Measured::new(
                                first,
                                SIDE.min(ny - first[1]),
                                &search.found,
                                background,
                                with_nearest.then_some(&*self.dropped),
                            ));
                        }
                    }
                }
                locked(&idle).push(search);
                Ok(found)
            });
            let mut bricks = BTreeMap::<usize, Vec<Measured>>::new();
            for brick in done.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                bricks.entry(brick.first[2]).or_default().push(brick);
            }
            if let (Some(first), Some(last)) = (bricks.keys().next(), bricks.keys().next_back()) {
                put(&bricks, *first..layers.end.min(last + SIDE));
            }
        }
        Ok(())
    }
}

impl Measured {
    /// The values of a brick that are below the background, and the numbers of their triangles if those that are left
    /// out are given; `None` if there are none.
    fn new(
        first: [usize; 3],
        rows: usize,
        found: &SquaredBrick,
        background: f32,
        dropped: Option<&Dropped>,
    ) -> Option<Self> {
        let mut values = [background; CELLS];
        let mut nearest = if dropped.is_some() { vec![NO_TRIANGLE; CELLS] } else { vec![] };
        let mut any = false;
        for (n, squared) in found.squared.iter().enumerate() {
            let value = squared.sqrt() as f32;
            if value < background {
                (values[n], any) = (value, true);
                if let Some(dropped) = dropped {
                    nearest[n] = dropped.number(u64::from(found.nearest[n])) as i32;
                }
            }
        }
        any.then_some(Self { first, rows, values, nearest })
    }
}

/// The searches that no thread has.
fn locked<T>(idle: &Mutex<T>) -> MutexGuard<'_, T> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes `cells`, of layers from `first` on with so many cells a row and a layer, what bricks have of them.
fn copy<T: Copy + Send + Sync>(
    bricks: &BTreeMap<usize, Vec<Measured>>,
    first: usize,
    cells: &mut [T],
    [nx, layer]: [usize; 2],
    of: impl Fn(&Measured) -> &[T] + Sync,
) {
    par::map(cells.chunks_mut(layer).enumerate().collect(), |(k, cells): (usize, &mut [T])| {
        for (brick, j, from) in rows(bricks, first + k) {
            let to = j * nx + brick.first[0];
            let count = SIDE.min(nx - brick.first[0]);
            cells[to..to + count].copy_from_slice(&of(brick)[from..from + count]);
        }
    });
}

/// The rows of a layer of cells in the bricks that have some of it: the brick, the row of the layer, and the place of
/// its first cell in the brick.
fn rows(
    bricks: &BTreeMap<usize, Vec<Measured>>,
    layer: usize,
) -> impl Iterator<Item = (&Measured, usize, usize)> {
    let found = bricks.range(..=layer).next_back().filter(|(first, _)| layer - **first < SIDE);
    let bricks = found.map_or(&[][..], |(_, bricks)| bricks);
    bricks.iter().flat_map(move |brick| {
        let k = layer - brick.first[2];
        (0..brick.rows).map(move |j| (brick, brick.first[1] + j, (k * SIDE + j) * SIDE))
    })
}
