//! The leak path: the way of a flood into a mesh, as cells.
//!
//! Two searches go through the flooded cells: one from the faces of the grid to the caps of the holes, one
//! from what was leaked into back to where the first paths end.

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

/// Grids in memory at a time, besides the result.
const GRIDS: u128 = 5;

/// The cells of a way in for every hole through which [`Inside::Flood`] leaks; none if
/// it does not. The flood is that of `inside` if it is one, and the holes that it closes are none; otherwise no hole
/// is closed.
///
/// A way in is a path of cells, each sharing a face with the next, none that the mesh touches under ties up:
/// from a cell on a face of the grid to a nearest cell that the hole's cap touches, and from there on to a
/// nearest cell that was leaked into: one that the flood does not reach where the caps of all holes that leak
/// are walls as well. (Where there is no such cell, the path ends at the cap.) Both parts are as short as can
/// be. Of several cells of a cap that are as near, the first is taken, x fastest; from it each part goes to
/// the first neighbour that is a step nearer, of those below and above along x, y and z.
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
/// If what it needs does not fit in memory or is above the limit of `run`, the level
/// does not exist here, or the run was cancelled.
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

/// Returns the bytes that it takes in addition to the mesh and the grid of the answer, except for lists of cells that
/// the search is at.
pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
    let is_expected = estimate.figure != MemoryFigure::UpperBound;
    if is_expected && estimate.mesh.closedness() != Closedness::Open {
        // Without holes there is no leak.
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
    let see = |found: &[Reached]| {
        ways.extend_from_slice(found);
        left -= found.len() as u64;
        left == 0
    };
    search.run(|word| leaked.words()[word], &caps, run, see)?;
    for Reached { place, steps } in ways {
        search.walk(place, steps, &mut path);
    }
    Ok(path)
}

/// The cells of `outside` that are not reached from outside between these walls, and are none of them.
fn leaked(walls: BitGrid, outside: &BitGrid, progress: &dyn Progress) -> Result<BitGrid> {
    let mut leaked = BitGrid::new(walls.dims())?;
    leaked.add(outside);
    leaked.remove(&grid::flood::outside(&walls, progress)?, 0);
    leaked.remove(&walls, 0);
    Ok(leaked)
}

/// Where the path from a face of the grid to each hole ends: of the cells of its cap the first of the nearest.
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
    let see = |found: &[Reached]| {
        for &cell in found {
            let first = touched.partition_point(|(place, _)| *place < cell.place);
            for (_, hole) in touched[first..]
                .iter()
                .take_while(|(place, _)| *place == cell.place)
            {
                left -= usize::from(ends[*hole].is_none());
                let end = ends[*hole].get_or_insert(cell);
                if (cell.steps, cell.place) < (end.steps, end.place) {
                    *end = cell;
                }
            }
        }
        left == 0
    };
    search.run(|word| faces.cells(word), caps, progress, see)?;
    Ok(ends.into_iter().flatten().collect())
}

/// The places of cells of `outside` that caps touch, each with the number of the hole, in order.
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
            for (word, (cap, wet)) in layers
                .words()
                .iter()
                .zip(&outside.words()[before..])
                .enumerate()
            {
                touched.extend(bits_of(cap & wet).map(|bit| (64 * (before + word) + bit, n)));
            }
            ControlFlow::Continue(())
        })?;
    }
    touched.sort_unstable();
    Ok(touched)
}

/// The cells of a grid that are on its faces.
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

    /// The cells of a word, and maybe bits beyond the row.
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
