//! Finds the crossings of triangles with rows of cells. They give the winding number of each cell in a row.
//!
//! In a first step, threads take runs of triangles and record their crossings in a list for each slab of
//! layers. In a second step, threads take slabs, sort the crossings of each row, and pass the stretches of
//! cells between crossings to the caller. If the crossings exceed the memory that is reserved for them, the
//! layers are processed in bands, with one pass over the triangles for each band.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::run::memory::{MemoryEstimate, MemoryFigure};
use crate::run::{Run, touched};
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par;
use voxelize_core::par::Progress;
use voxelize_kernel::KernelLattice;
use voxelize_kernel::crossings::{Crosser, Crossing};
use voxelize_meshes::Mesh;

/// Number of triangles in the unit of work of a thread.
const RUN: usize = 1 << 13;

/// Number of triangles between two checks whether there are too many crossings.
const AT_ONCE: usize = 1 << 9;

/// Approximate number of slabs in a band.
const SLABS: usize = 64;

/// Greatest number of crossings in memory at the same time, even without a memory limit. A single layer may
/// have more.
const MOST: usize = 1 << 23;

/// Number of crossings that may be in memory under any memory limit.
const LEAST: usize = 1 << 15;

/// Number of low bits of a packed crossing. They store the index of the cell in its row and the direction.
const CELL_BITS: u32 = 25;

/// Memory, in bytes, of a crossing: its entries in a growing list and in the sorted list.
const BYTES: u64 = 20;

/// Returns the greatest number of crossings that may be in memory at the same time. They may take a sixteenth
/// of the memory limit.
fn most(max_memory: Option<u64>) -> usize {
    match max_memory {
        Some(bytes) => ((bytes / 16 / BYTES) as usize).clamp(LEAST, MOST),
        None => MOST,
    }
}

/// Expected memory, in bytes, of a crossing, including the spare capacity of growing lists.
const EXPECTED_BYTES: u128 = 26;

/// Returns the memory, in bytes, of the crossings of triangles with rows of the lattice. Bands are at least
/// one layer high, so a layer with very many crossings can take more.
pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate {
        mesh, lattice, run, ..
    } = *estimate;
    let rows = if mesh.triangles().len() > MANY {
        rows_by_sums(mesh, lattice)
    } else {
        rows_each(mesh, lattice)
    };
    let bound = rows.min(most(run.max_memory()) as f64) as u128 * u128::from(BYTES);
    if estimate.figure == MemoryFigure::UpperBound {
        return bound;
    }
    let [_, y, z] = lattice.spacing().each_ref().map(|side| side.to_f64());
    let crossings = (touched::projected(mesh)[0] / (y * z)) as u128;
    bound.min(EXPECTED_BYTES * crossings)
}

/// Number of triangles above which [`memory`] uses sums that the mesh stores, instead of a pass over the
/// triangles.
const MANY: usize = 1 << 14;

/// Returns an upper bound of the number of pairs of a triangle and a row that it crosses. It is computed from
/// sums over all triangles, as if the lattice contained the whole mesh.
fn rows_by_sums(mesh: &Mesh, lattice: &Lattice) -> f64 {
    let [y, z] = [1, 2].map(|a| 1.001 / lattice.spacing()[a].to_f64());
    let [both, of_y, of_z] = mesh.extents();
    1.0001
        * (both * y * z
            + 1.01 * (of_y * y + of_z * z)
            + 1.01 * 1.01 * mesh.triangles().len() as f64)
}

/// Returns an upper bound of the number of pairs of a triangle and a row that it crosses, by a pass over the
/// triangles.
fn rows_each(mesh: &Mesh, lattice: &Lattice) -> f64 {
    let [y, z] = [1, 2].map(|a| {
        (
            1.0 / lattice.spacing()[a].to_f64(),
            lattice.dims()[a] as f64,
        )
    });
    // Rounding and snapping change an extent by less than a hundredth of a cell or a thousandth of the
    // extent.
    let across = |[a, b, c]: [f32; 3], (per_cell, most): (f64, f64)| {
        let extent = f64::from(a.max(b).max(c)) - f64::from(a.min(b).min(c));
        (extent * per_cell * 1.001 + 1.01).min(most)
    };
    let rows = |[a, b, c]: &Triangle| across([a[1], b[1], c[1]], y) * across([a[2], b[2], c[2]], z);
    mesh.triangles().iter().map(rows).sum()
}

/// Cells of a row between two adjacent crossings, before the first crossing, or after the last crossing.
pub(crate) struct Stretch<'a> {
    /// Indices `[j, k]` of the row in the lattice.
    pub row: [usize; 2],
    /// Cells of the stretch.
    pub cells: Range<usize>,
    /// Number of inward minus outward crossings before the stretch.
    pub turns: i32,
    /// Number of crossings before the stretch.
    pub crossed: u32,
    /// Words of the whole row.
    pub words: &'a mut [u64],
}

/// Finds all crossings of triangles with the rows along x in some layers of a lattice. Calls `mark` for every
/// stretch of cells between crossings. A row without crossings is a single stretch. `grid` has the layers
/// from `first` on. Uses the calling thread pool. Returns the number of triangle coordinates that snapping
/// moved.
///
/// # Errors
/// Fails if the run is cancelled, or if the machine lacks the instruction set.
pub(crate) fn follow(
    frame: &KernelLattice,
    triangles: &[Triangle],
    first: usize,
    grid: &mut BitGrid,
    run: &Run,
    mark: impl Fn(Stretch) + Sync,
) -> Result<u64> {
    let [nx, ny, nz] = grid.dims();
    let layer_words = grid.layer_words();
    let mut snapped = 0;
    let most = most(run.max_memory());
    let whole = first..first + nz;
    let mut bands = Vec::from([whole]);
    let mut tried = false;
    let mut words = grid.words_mut();
    while let Some(band) = bands.pop() {
        let cells = [0..nx, 0..ny, band.clone()];
        let limit = if tried || band.len() == 1 {
            usize::MAX
        } else {
            most
        };
        let noted = note(frame, triangles, cells, limit, run)?;
        let Some(noted) = noted else {
            tried = true;
            bands = bands_of(frame, triangles, band, most);
            continue;
        };
        snapped += noted.snapped;
        let (these, rest) = words.split_at_mut(band.len() * layer_words);
        words = rest;
        let slabs = these
            .chunks_mut(noted.height * layer_words)
            .enumerate()
            .collect();
        let followed = par::map(slabs, |(n, words): (usize, &mut [u64])| {
            run.check()?;
            let start = band.start + n * noted.height;
            let rows = Rows {
                start,
                count: words.len() / layer_words * ny,
                ny,
                nx,
            };
            rows.follow(
                noted.parts.iter().map(|part| part.slabs[n].as_slice()),
                words,
                &mark,
            );
            Ok(())
        });
        followed.into_iter().collect::<Result<()>>()?;
        run.check()?;
    }
    Ok(snapped)
}

/// Returns the number of triangle coordinates that snapping would move in [`follow`]. The grid has its first
/// layer at `first` of the lattice, and `[nx, ny, nz]` cells.
///
/// # Errors
/// Fails if the run is cancelled, or if the machine lacks the instruction set.
pub(crate) fn snapped(
    frame: &KernelLattice,
    triangles: &[Triangle],
    first: usize,
    [nx, ny, nz]: [usize; 3],
    run: &Run,
) -> Result<u64> {
    let level = run.supported_level()?;
    let crosser = Crosser::new(frame, 0, [0..nx, 0..ny, first..first + nz]);
    let parts = par::map(triangles.chunks(64).collect(), |some: &[Triangle]| {
        run.check()?;
        Ok(crosser.cross(level, some, &mut |_| ()))
    });
    parts.into_iter().sum()
}

/// Crossings of the triangles with the rows of a band.
struct Noted {
    /// Crossings that each thread found.
    parts: Vec<ThreadShare>,
    /// Number of layers in a slab.
    height: usize,
    snapped: u64,
}

/// Crossings that one thread found.
struct ThreadShare {
    /// Packed crossings of each slab.
    slabs: Vec<Vec<u64>>,
    snapped: u64,
}

/// Finds all crossings with the rows of a box of cells. `None` if there are more than `most` crossings.
fn note(
    frame: &KernelLattice,
    triangles: &[Triangle],
    cells: [Range<usize>; 3],
    most: usize,
    run: &Run,
) -> Result<Option<Noted>> {
    let level = run.supported_level()?;
    let progress = run;
    let layers = cells[2].clone();
    let height = layers.len().div_ceil(SLABS);
    let slabs = layers.len().div_ceil(height);
    let ny = cells[1].len();
    let runs: Vec<&[Triangle]> = triangles.chunks(RUN).collect();
    progress.begin("inside", runs.len() as u64);
    let found = AtomicUsize::new(0);
    // For each layer, the index of its slab and the index of its first row within the slab.
    let places: Vec<(u32, u32)> = (0..layers.len())
        .map(|k| ((k / height) as u32, (k % height * ny) as u32))
        .collect();
    let crosser = Crosser::new(frame, 0, cells);
    let parts = par::share(&runs, |next| {
        let mut part = ThreadShare {
            slabs: vec![vec![]; slabs],
            snapped: 0,
        };
        for triangles in next {
            progress.check()?;
            let mut count = 0;
            for some in triangles.chunks(AT_ONCE) {
                part.snapped += crosser.cross(level, some, &mut |crossings| {
                    count += crossings.len();
                    // If there are more than `most` crossings, all of them are discarded, so the rest need
                    // not be stored.
                    for crossing in if count <= most { crossings } else { &[] } {
                        let (slab, row) = places[crossing.row[1] - layers.start];
                        part.slabs[slab as usize].push(packed(crossing, row as usize));
                    }
                });
                if count > most {
                    break;
                }
            }
            if found.fetch_add(count, Ordering::Relaxed) + count > most {
                break;
            }
            progress.advance(1);
        }
        Ok(part)
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    if found.into_inner() > most {
        return Ok(None);
    }
    let snapped = parts.iter().map(|part| part.snapped).sum();
    Ok(Some(Noted {
        parts,
        height,
        snapped,
    }))
}

/// Packs the row, the cell and the direction of a crossing into one word.
fn packed(crossing: &Crossing, row: usize) -> u64 {
    let row = (row + crossing.row[0]) as u64;
    row << CELL_BITS | (crossing.first as u64) << 1 | u64::from(crossing.inwards)
}

/// Divides layers into bands, and returns the last band first. Each band has about `most` crossings. The
/// number of crossings is estimated from the areas of the triangles projected along x.
fn bands_of(
    frame: &KernelLattice,
    triangles: &[Triangle],
    layers: Range<usize>,
    most: usize,
) -> Vec<Range<usize>> {
    let per_layer = par::map(
        triangles.chunks(RUN << 4).collect(),
        |run: &[Triangle]| {
            // Differences between the estimated numbers of crossings of adjacent layers.
            let mut changes = vec![0.0; layers.len() + 1];
            for triangle in run {
                let at = |axis: usize| triangle.map(|v| frame.axes[axis].index(v[axis]));
                let y = at(1);
                let z = at(2);
                let area =
                    ((y[1] - y[0]) * (z[2] - z[0]) - (y[2] - y[0]) * (z[1] - z[0])).abs() / 2.0;
                let low = z[0].min(z[1]).min(z[2]);
                let high = z[0].max(z[1]).max(z[2]);
                let place =
                    |z: f64| (z.floor() as i64).clamp(layers.start as i64, layers.end as i64 - 1);
                let from = place(low) as usize - layers.start;
                let to = place(high) as usize - layers.start;
                let share = area / (high - low).max(1.0);
                changes[from] += share;
                changes[to + 1] -= share;
            }
            changes
        },
    );
    let mut bands = vec![];
    let mut share = 0.0;
    let mut sum = 0.0;
    let mut start = layers.start;
    for k in layers.clone() {
        share += per_layer
            .iter()
            .map(|changes| changes[k - layers.start])
            .sum::<f64>();
        if sum + share > most as f64 && k > start {
            bands.push(start..k);
            start = k;
            sum = 0.0;
        }
        sum += share;
    }
    bands.push(start..layers.end);
    bands.reverse();
    bands
}

/// Rows of a slab of layers.
struct Rows {
    /// Index of the first layer.
    start: usize,
    count: usize,
    ny: usize,
    nx: usize,
}

impl Rows {
    /// Sorts the crossings of each row, and calls `mark` for the stretches of cells between them.
    fn follow<'p>(
        &self,
        parts: impl Iterator<Item = &'p [u64]> + Clone,
        words: &mut [u64],
        mark: &impl Fn(Stretch),
    ) {
        // Counting sort by row. At first `places` has the index of the first crossing of each row. After the
        // crossings are placed, it has the index after the last crossing of each row.
        let mut places = vec![0_usize; self.count + 1];
        let row_of = |packed: u64| (packed >> CELL_BITS) as usize;
        for packed in parts.clone().flatten() {
            places[row_of(*packed) + 1] += 1;
        }
        for row in 0..self.count {
            places[row + 1] += places[row];
        }
        let mut crossings = vec![0_u32; places[self.count]];
        for packed in parts.flatten() {
            let place = &mut places[row_of(*packed)];
            crossings[*place] = (packed & ((1 << CELL_BITS) - 1)) as u32;
            *place += 1;
        }
        let mut begin = 0;
        for (row, words) in words.chunks_mut(words.len() / self.count).enumerate() {
            let crossings = &mut crossings[begin..places[row]];
            begin = places[row];
            crossings.sort_unstable();
            self.stretches(
                [row % self.ny, self.start + row / self.ny],
                crossings,
                words,
                mark,
            );
        }
    }

    /// Calls `mark` for the stretch before the first crossing of a row, and for the stretch after each
    /// crossing.
    fn stretches(
        &self,
        row: [usize; 2],
        crossings: &[u32],
        words: &mut [u64],
        mark: &impl Fn(Stretch),
    ) {
        let mut turns = 0;
        let ahead = match crossings.first() {
            Some(crossing) => (crossing >> 1) as usize,
            None => self.nx,
        };
        if ahead > 0 {
            mark(Stretch {
                row,
                cells: 0..ahead,
                turns,
                crossed: 0,
                words: &mut *words,
            });
        }
        for (crossed, crossing) in (1..).zip(crossings.iter()) {
            turns += if crossing & 1 == 1 { 1 } else { -1 };
            let from = (crossing >> 1) as usize;
            let to = match crossings.get(crossed as usize) {
                Some(next) => (next >> 1) as usize,
                None => self.nx,
            };
            if from < to {
                mark(Stretch {
                    row,
                    cells: from..to,
                    turns,
                    crossed,
                    words: &mut *words,
                });
            }
        }
    }
}

impl Stretch<'_> {
    /// Occupies the cells of the stretch.
    pub(crate) fn occupy(&mut self) {
        let Range { start, end } = self.cells;
        let first = start / 64;
        let last = (end - 1) / 64;
        let from = !0 << (start % 64);
        let to = !0 >> (63 - (end - 1) % 64);
        if first == last {
            self.words[first] |= from & to;
        } else {
            self.words[first] |= from;
            self.words[first + 1..last].fill(!0);
            self.words[last] |= to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cells inside, the number of stretches, and the number of coordinates that snapping moved.
    fn followed(mesh: &Mesh, lattice: &Lattice, max_memory: Option<u64>) -> (BitGrid, usize, u64) {
        let frame = KernelLattice::of_centres(lattice.axes(), mesh.bounds(), 0);
        let mut grid = BitGrid::try_from(lattice).unwrap();
        let run = Run::default().memory(max_memory);
        let handed = AtomicUsize::new(0);
        let snapped = follow(
            &frame,
            mesh.triangles(),
            0,
            &mut grid,
            &run,
            |mut stretch| {
                handed.fetch_add(1, Ordering::Relaxed);
                if stretch.turns != 0 {
                    stretch.occupy();
                }
            },
        );
        (grid, handed.into_inner(), snapped.unwrap())
    }

    #[test]
    fn sums_bound_the_rows_of_each_triangle() {
        for name in ["sphere", "cube", "knot", "bracket", "prism", "slivers"] {
            let mesh = Mesh::open(format!("../../fixtures/{name}.stl")).unwrap();
            for res in [7, 64, 500] {
                let lattice = Lattice::fit(mesh.bounds(), res).unwrap();
                let each = rows_each(&mesh, &lattice);
                let all = rows_by_sums(&mesh, &lattice);
                assert!(
                    each <= all && all < 2.0 * each,
                    "{name} at {res}: {each}, {all}"
                );
            }
        }
    }

    #[test]
    fn bands_of_layers_equal_the_whole() {
        // Each row through the mesh has at least one crossing. Together they are several times as many as fit
        // in memory.
        for (name, res) in [("sphere", 400), ("cube", 400)] {
            let mesh = Mesh::open(format!("../../fixtures/{name}.stl")).unwrap();
            let lattice = Lattice::fit(mesh.bounds(), res).unwrap();
            let whole = followed(&mesh, &lattice, None);
            assert!(
                whole.1 > 3 * LEAST && most(Some(1)) == LEAST,
                "{name}: {} stretches",
                whole.1
            );
            assert!(
                followed(&mesh, &lattice, Some(1)) == whole,
                "{name} in bands"
            );

            let frame = KernelLattice::of_centres(lattice.axes(), mesh.bounds(), 0);
            let layers = 0..lattice.dims()[2];
            let bands = bands_of(&frame, mesh.triangles(), layers.clone(), LEAST);
            assert!(bands.len() > 2, "{name}: {bands:?}");
            let joined: Vec<usize> = bands.into_iter().rev().flatten().collect();
            assert_eq!(joined, layers.collect::<Vec<_>>(), "{name}");
        }
    }
}
