//! The leak path: a path of cells along which the flood enters the mesh through a hole.
//!
//! Two breadth-first searches go through the flooded cells. The first starts at the faces of the grid and
//! ends at the caps of the holes. The second starts at the cells of the inside that the flood reached, and
//! ends at the cells of the caps where the first search ended.

use std::ops::ControlFlow;

use crate::run::memory::{MemoryEstimate, MemoryFigure};
use crate::run::{Demand, Plan, Run, leak, rows};
use voxelize_core::error::Result;
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::{self, BitGrid, Lattice};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::sink::SIDE;
use voxelize_meshes::Mesh;
use voxelize_meshes::boundary::{self, Loop};
use voxelize_meshes::closed::Closedness;

use super::inside::{Inside, flood};
use super::search::{BreadthFirst, Reached};

/// Number of grids that are in memory at the same time, in addition to the result.
const GRIDS: u128 = 5;

/// Finds a path of cells into the mesh for every hole through which [`Inside::Flood`] leaks. Without leaks
/// the grid is empty. If `inside` is a flood that closes holes, the same holes are closed here. Otherwise no
/// hole is closed.
///
/// Adjacent cells of a path share a face. The mesh touches no cell of the path under ties up. The path starts
/// at a cell on a face of the grid and leads to a nearest cell that the hole's cap touches. From there it
/// leads to a nearest cell that was leaked into: a cell that the flood would not reach if the caps of all
/// leaking holes stopped it. If there is no such cell, the path ends at the cap.
///
/// Both parts of the path are as short as possible. Among equally near cells of a cap, the path uses the
/// first one in the order of cells with x fastest. Each part of the path is traced from this cell. At every
/// step it continues to the first neighbour that is one step nearer to the part's other end. Neighbours are
/// tried in the order −x, +x, −y, +y, −z, +z.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::rule::leak_path;
/// use voxelize::run::Run;
/// use voxelize::{Fit, Inside, Mesh};
///
/// let cube = Mesh::open("fixtures/cube.stl")?;
/// let without_two = Mesh::from_triangles(cube.triangles()[2..].to_vec())?;
/// let lattice = Fit::longest(32).pad(1).to(cube.bounds())?;
/// let path = leak_path::leak_path(&without_two, &lattice, Inside::flood(), &Run::default())?;
/// assert_eq!(path.count(), 3);
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if the search does not fit in memory or exceeds the memory limit of `run`, if the machine lacks the
/// instruction set, or if the run was cancelled.
pub fn leak_path(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<BitGrid> {
    run.supported_level()?;
    let estimate = MemoryEstimate::bound(mesh, lattice, run);
    let need = Demand::of(&estimate, 0).bytes(Plan::Dense) + memory(&estimate);
    run.refuse_above(need, || {
        let [x, y, z] = lattice.dims();
        let triangles = mesh.triangles().len();
        format!("six grids of {x} × {y} × {z} cells and {triangles} triangles")
    })?;
    par::with_threads(run.thread_count(), || find(mesh, lattice, inside, run))?
}

/// Returns the memory, in bytes, that the search needs in addition to the mesh and the resulting grid.
/// Excludes the lists of cells of the search.
pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
    let is_expected = estimate.figure != MemoryFigure::UpperBound;
    if is_expected && estimate.mesh.closedness() != Closedness::Open {
        // A mesh without holes has no leak.
        return 0;
    }
    rows::memory(estimate) + estimate.meshes(0, 2.5) + estimate.grids(GRIDS, 4.6)
}

fn find(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<BitGrid> {
    let flood::Flood {
        outside,
        mut walls,
        leak,
        ..
    } = flood::flooded(mesh, lattice, inside.closed_holes(), run)?;
    let mut caps = BitGrid::try_from(lattice)?;
    let holes = leak.map(|leak| leak.holes).unwrap_or_default();
    if holes.is_empty() {
        return Ok(caps);
    }
    flood::cap(&boundary::caps(&holes), lattice, run, &mut caps)?;
    walls.add(&caps);
    let leaked = leaked(walls, &outside, run)?;
    caps.keep(&outside);

    let touched = touched(&holes, lattice, &outside, run)?;
    let faces = Faces::of(&outside);
    let mut search = BreadthFirst::new(outside)?;
    let ends = ends(&mut search, &faces, &caps, &touched, holes.len(), run)?;
    drop(touched);
    let mut path = BitGrid::try_from(lattice)?;
    caps.clear();
    for Reached { place, steps } in ends {
        search.walk(place, steps, &mut path);
        caps.words_mut()[place / 64] |= 1 << (place % 64);
    }
    search.clear();
    let mut ways = vec![];
    let mut left = caps.count();
    let collect = |found: &[Reached]| {
        ways.extend_from_slice(found);
        left -= found.len() as u64;
        left == 0
    };
    search.run(|word| leaked.words()[word], &caps, run, collect)?;
    for Reached { place, steps } in ways {
        search.walk(place, steps, &mut path);
    }
    Ok(path)
}

/// Returns the cells of `outside` that are not walls and that a flood stopped by `walls` does not reach.
fn leaked(walls: BitGrid, outside: &BitGrid, progress: &dyn Progress) -> Result<BitGrid> {
    let mut leaked = BitGrid::new(walls.dims())?;
    leaked.add(outside);
    leaked.remove(&grid::flood::outside(&walls, progress)?, 0);
    leaked.remove(&walls, 0);
    Ok(leaked)
}

/// Finds, for each hole, the cell at which the path from a face of the grid ends. It is the first of the
/// nearest cells that the hole's cap touches.
fn ends(
    search: &mut BreadthFirst,
    faces: &Faces,
    caps: &BitGrid,
    touched: &[(usize, usize)],
    holes: usize,
    progress: &dyn Progress,
) -> Result<Vec<Reached>> {
    let mut ends: Vec<Option<Reached>> = vec![None; holes];
    let mut left = holes;
    let nearest_of_each = |found: &[Reached]| {
        for &cell in found {
            let first = touched.partition_point(|(place, _)| *place < cell.place);
            for (place, hole) in &touched[first..] {
                if *place != cell.place {
                    break;
                }
                left -= usize::from(ends[*hole].is_none());
                let end = ends[*hole].get_or_insert(cell);
                if (cell.steps, cell.place) < (end.steps, end.place) {
                    *end = cell;
                }
            }
        }
        left == 0
    };
    search.run(|word| faces.cells(word), caps, progress, nearest_of_each)?;
    Ok(ends.into_iter().flatten().collect())
}

/// Returns the cells of `outside` that caps touch, as sorted pairs of a bit index in the grid and the index
/// of the hole.
fn touched(
    holes: &[Loop],
    lattice: &Lattice,
    outside: &BitGrid,
    run: &Run,
) -> Result<Vec<(usize, usize)>> {
    let level = run.supported_level()?;
    let [nx, ny, nz] = lattice.dims();
    let mut layers = BitGrid::new([nx, ny, SIDE.min(nz)])?;
    let mut touched = vec![];
    for (n, hole) in holes.iter().enumerate() {
        run.check()?;
        leak::cap(lattice, hole, &mut layers, level, |first, layers| {
            let before = first * layers.layer_words();
            let outside = &outside.words()[before..];
            for (word, (cap, wet)) in layers.words().iter().zip(outside).enumerate() {
                for bit in bits_of(cap & wet) {
                    touched.push((64 * (before + word) + bit, n));
                }
            }
            ControlFlow::Continue(())
        })?;
    }
    touched.sort_unstable();
    Ok(touched)
}

/// Finds the cells on the faces of a grid.
struct Faces {
    dims: [usize; 3],
    row_words: usize,
}

impl Faces {
    fn of(grid: &BitGrid) -> Self {
        Self {
            dims: grid.dims(),
            row_words: grid.row_words(),
        }
    }

    /// Returns the bits of a word whose cells are on a face of the grid. Bits after the end of the row may be
    /// set.
    fn cells(&self, word: usize) -> u64 {
        let [nx, ny, nz] = self.dims;
        let n = word % self.row_words;
        let row = word / self.row_words;
        let j = row % ny;
        let k = row / ny;
        if j == 0 || j == ny - 1 || k == 0 || k == nz - 1 {
            return !0;
        }
        let low = u64::from(n == 0);
        let high = if n == (nx - 1) / 64 {
            1 << ((nx - 1) % 64)
        } else {
            0
        };
        low | high
    }
}
