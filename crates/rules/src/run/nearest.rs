//! Computes the distances from cell centres to the nearest triangles, brick by brick, with several threads.
//!
//! A tree of all triangles is built once. Each thread repeatedly takes the next row of bricks and computes
//! the distances of its cells. The results are then copied to the field, layer by layer. No two threads write
//! to the same cell, so no thread waits for another. The distances do not depend on the division into slabs.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::run::Run;
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Field, Lattice};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::distance::{
    BrickSearch, CentreLattice, ClusterJob, SIDE, SquaredBrick, TieBreak, TriangleTree,
};
use voxelize_meshes::Mesh;
use voxelize_meshes::numbers::{Dropped, check_count};

/// Number of bricks along x that are skipped together if no triangle is near them.
const ROW: usize = 8;

/// Number of rows of bricks per thread that are computed before they are copied. Several rows balance the
/// load if some take longer than others.
const ROWS_PER_THREAD: usize = 32;

/// Number of cells in a brick.
const CELLS: usize = SIDE * SIDE * SIDE;

/// Stored instead of a triangle number if no triangle is within the band of the cell.
pub(crate) const NO_TRIANGLE: i32 = -1;

/// Triangles of a mesh and centres of cells, prepared for the computation of distances.
pub(crate) struct Distances {
    tree: TriangleTree,
    centres: CentreLattice,
    /// Triangles that were dropped when the mesh was read. Triangle indices count them, so that an index
    /// refers to the file.
    dropped: Arc<Dropped>,
}

/// Result for a row of bricks along x.
struct BrickRow {
    /// Index of the first cell of the first brick.
    first: [usize; 3],
    /// Bit set with one bit for each brick. A bit is set if some distance in the brick is less than the
    /// background. The values of other bricks are undefined.
    found: u8,
    /// Distances of the cells, one brick after the other.
    values: Vec<f32>,
    /// Number of the nearest triangle of each cell. Empty if these numbers were not requested.
    nearest: Vec<i32>,
}

impl Distances {
    /// Prepares the computation. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the triangles are too many for 31-bit numbers, or if the machine lacks the instruction set.
    pub(crate) fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        let triangles = mesh.triangles();
        let dropped = mesh.dropped();
        let count = dropped.number(triangles.len() as u64);
        check_count(count)?;
        let centres = CentreLattice::new([0, 1, 2].map(|a| {
            let axis = lattice.axis(a);
            (
                axis.half_plane(1),
                axis.spacing().clone(),
                lattice.dims()[a],
            )
        }));
        let cell = lattice
            .spacing()
            .iter()
            .max()
            .map_or(1.0, |side| side.to_f64());
        let share = |jobs: Vec<ClusterJob>| {
            par::map(jobs, ClusterJob::run);
        };
        let tree = TriangleTree::new(
            triangles,
            mesh.bounds(),
            cell,
            run.supported_level()?,
            share,
        );
        Ok(Self {
            tree,
            centres,
            dropped,
        })
    }

    /// Returns the memory, in bytes, that the computation needs, including temporary memory of the threads.
    pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
        let MemoryEstimate { mesh, lattice, .. } = *estimate;
        let triangles = mesh.triangles().len();
        let threads = estimate.run.thread_count();
        let [bx, by, bz] = lattice.dims().map(|n| n.div_ceil(SIDE));
        let centres: usize = lattice.dims().iter().map(|n| n * size_of::<f64>()).sum();
        let rows = bx.div_ceil(ROW) * by * bz;
        let row =
            size_of::<Mutex<BrickRow>>() + ROW * CELLS * (size_of::<f32>() + size_of::<i32>());
        let lists =
            centres + rows.min(ROWS_PER_THREAD * threads) * row + rows * size_of::<[usize; 3]>();
        let bound = TriangleTree::bytes_for(triangles)
            + threads as u128 * BrickSearch::bytes_for(triangles)
            + lists as u128;
        estimate.bytes(bound, 70 * triangles as u128)
    }

    /// Fills some layers. `field` gets every distance that is less than its background value. `nearest` gets
    /// the number of the nearest triangle of each cell, and the tie-break chooses among equally near
    /// triangles. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the machine lacks the instruction set, or if the run was cancelled.
    pub(crate) fn fill(
        &self,
        layers: Range<usize>,
        field: &mut Field,
        nearest: Option<(&mut [i32], TieBreak)>,
        run: &Run,
    ) -> Result<()> {
        let [nx, ny, _] = field.dims();
        let background = field.background();
        let layer = nx * ny;
        let (mut nearest, ties) = nearest.unzip();
        par::map(
            field.values_mut().chunks_mut(layer).collect(),
            |values: &mut [f32]| values.fill(background),
        );
        if let Some(nearest) = &mut nearest {
            par::map(
                nearest.chunks_mut(layer).collect(),
                |cells: &mut [i32]| cells.fill(NO_TRIANGLE),
            );
        }
        self.measure(layers.clone(), background, ties, run, |rows, batch| {
            let place = (batch.start - layers.start) * layer..(batch.end - layers.start) * layer;
            let values = &mut field.values_mut()[place.clone()];
            copy(rows, batch.start, values, [nx, ny], |row| &row.values);
            if let Some(nearest) = &mut nearest {
                copy(rows, batch.start, &mut nearest[place], [nx, ny], |row| {
                    &row.nearest
                });
            }
        })
    }

    /// Occupies the cells of some layers whose distance is at most `most`. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`fill`](Self::fill).
    pub(crate) fn occupy(
        &self,
        layers: Range<usize>,
        most: f32,
        grid: &mut BitGrid,
        run: &Run,
    ) -> Result<()> {
        let [_, ny, _] = grid.dims();
        let row_words = grid.row_words();
        let layer = grid.layer_words();
        let above = most.next_up();
        self.measure(layers.clone(), above, None, run, |rows, batch| {
            let place = (batch.start - layers.start) * layer..(batch.end - layers.start) * layer;
            let words = grid.words_mut()[place]
                .chunks_mut(layer)
                .enumerate()
                .collect();
            par::map(words, |(k, words): (usize, &mut [u64])| {
                for (row, [x, y], from) in rows_of_layer(rows, batch.start + k, ny) {
                    let mut bits = 0;
                    for value in row.values[from..from + SIDE].iter().rev() {
                        bits = bits << 1 | u64::from(*value < above);
                    }
                    words[y * row_words + x / 64] |= bits << (x % 64);
                }
            });
        })
    }

    /// Computes the distances in the bricks of some layers, in batches of a few rows of bricks. For each
    /// batch it calls `put` with the layers of the batch and with those rows that have a distance less than
    /// the background, in order.
    fn measure(
        &self,
        layers: Range<usize>,
        background: f32,
        ties: Option<TieBreak>,
        run: &Run,
        mut put: impl FnMut(&[&BrickRow], Range<usize>),
    ) -> Result<()> {
        let level = run.supported_level()?;
        // A distance up to this limit may be less than the background after rounding.
        let limit = f64::from(background) * (1.0 + 1e-6);
        let [nx, ny, _] = self.centres.centres.each_ref().map(Vec::len);
        let mut work = vec![];
        for z in layers.clone().step_by(SIDE) {
            for y in (0..ny).step_by(SIDE) {
                work.extend((0..nx).step_by(ROW * SIDE).map(|x| [x, y, z]));
            }
        }
        run.begin("voxelize", work.len() as u64);
        let at_a_time = work.len().min(ROWS_PER_THREAD * par::current_threads());
        let mut rows: Vec<_> = (0..at_a_time)
            .map(|_| Mutex::new(BrickRow::new(ties.is_some())))
            .collect();
        // Searches that no thread uses. Their memory is reused for the next batch.
        let idle = Mutex::new(vec![]);
        for some in work.chunks(at_a_time.max(1)) {
            let rows = &mut rows[..some.len()];
            for (row, first) in rows.iter_mut().zip(some) {
                let row = unlocked(row);
                row.first = *first;
                row.found = 0;
            }
            let done = par::share(rows, |next| {
                let mut search = locked(&idle).pop().unwrap_or_else(|| {
                    let search = BrickSearch::new(&self.tree, &self.centres, limit);
                    match ties {
                        Some(ties) => search.with_nearest(ties),
                        None => search,
                    }
                });
                for row in next {
                    run.check()?;
                    run.advance(1);
                    let row = &mut *locked(row);
                    let [x, y, z] = row.first;
                    if limit.is_finite()
                        && !search.is_near(level, row.first, [ROW * SIDE, SIDE, SIDE])
                    {
                        continue;
                    }
                    for (n, x) in (x..nx.min(x + ROW * SIDE)).step_by(SIDE).enumerate() {
                        if search.brick(level, [x, y, z]) {
                            row.set(n, &search.found, background, &self.dropped);
                        }
                    }
                }
                locked(&idle).push(search);
                Ok(())
            });
            done.into_iter().collect::<Result<()>>()?;
            let rows: Vec<_> = rows
                .iter_mut()
                .map(|row| &*unlocked(row))
                .filter(|row| row.found != 0)
                .collect();
            if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
                put(&rows, first.first[2]..layers.end.min(last.first[2] + SIDE));
            }
        }
        Ok(())
    }
}

impl BrickRow {
    /// Allocates memory for the distances, and also for the numbers of the nearest triangles if requested.
    fn new(with_nearest: bool) -> Self {
        let nearest = if with_nearest {
            vec![NO_TRIANGLE; ROW * CELLS]
        } else {
            vec![]
        };
        Self {
            first: [0; 3],
            found: 0,
            values: vec![0.0; ROW * CELLS],
            nearest,
        }
    }

    /// Stores the distances of a brick, limited to the background, and the numbers of the nearest triangles.
    /// `dropped` converts the index of a triangle in the mesh to its number in the file.
    fn set(&mut self, brick: usize, found: &SquaredBrick, background: f32, dropped: &Dropped) {
        let cells = brick * CELLS..(brick + 1) * CELLS;
        let mut any = false;
        for (value, squared) in self.values[cells.clone()].iter_mut().zip(&found.squared) {
            let distance = squared.sqrt() as f32;
            any |= distance < background;
            *value = if distance < background {
                distance
            } else {
                background
            };
        }
        self.found |= u8::from(any) << brick;
        if any && !self.nearest.is_empty() {
            let nearest = self.nearest[cells.clone()]
                .iter_mut()
                .zip(&self.values[cells]);
            for ((nearest, value), triangle) in nearest.zip(&found.nearest) {
                let is_below = *value < background;
                *nearest = if is_below {
                    dropped.number(u64::from(*triangle)) as i32
                } else {
                    NO_TRIANGLE
                };
            }
        }
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock.
fn locked<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value of a mutex without locking it, even if a thread panicked while it held the lock.
fn unlocked<T>(guarded: &mut Mutex<T>) -> &mut T {
    guarded.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Copies the values of bricks to `cells`, which has the layers from `first` on. A row has `nx` cells, and a
/// layer has `ny` rows.
fn copy<T: Copy + Send + Sync>(
    rows: &[&BrickRow],
    first: usize,
    cells: &mut [T],
    [nx, ny]: [usize; 2],
    of: impl Fn(&BrickRow) -> &[T] + Sync,
) {
    par::map(
        cells.chunks_mut(nx * ny).enumerate().collect(),
        |(k, cells): (usize, &mut [T])| {
            for (row, [x, y], from) in rows_of_layer(rows, first + k, ny) {
                let to = y * nx + x;
                let count = SIDE.min(nx - x);
                cells[to..to + count].copy_from_slice(&of(row)[from..from + count]);
            }
        },
    );
}

/// Iterates over the rows of cells in one layer, within each brick that has values. Yields the row of bricks,
/// the x and y index of the first cell, and the index of this cell in the values of the row of bricks. A
/// layer has `ny` rows.
fn rows_of_layer<'a>(
    rows: &'a [&BrickRow],
    layer: usize,
    ny: usize,
) -> impl Iterator<Item = (&'a BrickRow, [usize; 2], usize)> {
    let first = rows.partition_point(|row| row.first[2] + SIDE <= layer);
    let end = rows.partition_point(|row| row.first[2] <= layer);
    rows[first..end].iter().flat_map(move |row| {
        let [x, y, z] = row.first;
        let found = (0..ROW).filter(|brick| row.found >> brick & 1 != 0);
        found.flat_map(move |brick| {
            let from = brick * CELLS + (layer - z) * SIDE * SIDE;
            (0..SIDE.min(ny - y)).map(move |j| (*row, [x + brick * SIDE, y + j], from + j * SIDE))
        })
    })
}
