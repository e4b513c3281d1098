//! The way of a flood through the holes that leak, as paths of cells.
//!
//! Two searches go through the flooded cells: one from the faces of the grid to the caps of the holes, one
//! from what was leaked into back to where the first paths end.

use std::ops::ControlFlow;

use super::cover::{self, IntersectionTarget};
use super::leak;
use super::search::{BreadthFirst, Reached};
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Ties};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::{BitGrid, Lattice, flood};
use voxelize_core::par::Progress;
use voxelize_kernel::sink::SIDE;
use voxelize_kernel::{KernelLattice, Level};
use voxelize_meshes::boundary::{self, Loop};

/// Grids in memory at a time, besides the one of the answer.
pub(crate) const GRIDS: u128 = 5;

/// A path of cells, each sharing a face with the next, for every hole: from a cell on a face of the grid to
/// a nearest cell that the hole's cap touches, and from there on to a nearest one that was leaked into, if
/// there is one to be reached. All are cells of `outside`, which the flood reached between the cells of
/// `walls`. Leaked into are those that it does not reach where the cells that the caps of `holes` touch keep
/// it out, and that are none of these.
///
/// Of nearest cells of a cap the path takes the first, x fastest; from there each way is gone to the first
/// neighbour that is a step nearer, of those below and above along x, y and z. Runs in the threads it is
/// called in.
///
/// # Errors
/// If the run was cancelled, or memory is not there.
pub(crate) fn through(
    holes: &[Loop],
    lattice: &Lattice,
    mut walls: BitGrid,
    outside: BitGrid,
    level: Level,
    progress: &dyn Progress,
) -> Result<BitGrid> {
    let mut caps = BitGrid::try_from(lattice)?;
    if holes.is_empty() {
        return Ok(caps);
    }
    let triangles = boundary::caps(holes);
    let cells = IntersectionTarget::Box(KernelLattice::new(
        lattice.axes(),
        &Bounds::of(&triangles),
        Ties::Up,
    ));
    cover::cover(&cells, &triangles, 0, &mut caps, level, progress)?;
    walls.add(&caps);
    let leaked = leaked(walls, &outside, progress)?;
    caps.keep(&outside);

    let touched = touched(holes, lattice, &outside, level, progress)?;
    let faces = Faces::of(&outside);
    let mut search = BreadthFirst::new(outside)?;
    let ends = ends(&mut search, &faces, &caps, &touched, holes.len(), progress)?;
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
    search.run(|word| leaked.words()[word], &caps, progress, see)?;
    for Reached { place, steps } in ways {
        search.walk(place, steps, &mut path);
    }
    Ok(path)
}

/// The cells of `outside` that are not reached from outside between these walls, and are none of them.
fn leaked(walls: BitGrid, outside: &BitGrid, progress: &dyn Progress) -> Result<BitGrid> {
    let mut leaked = BitGrid::new(walls.dims())?;
    leaked.add(outside);
    leaked.remove(&flood::outside(&walls, progress)?, 0);
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
    level: Level,
    progress: &dyn Progress,
) -> Result<Vec<(usize, usize)>> {
    let [nx, ny, nz] = lattice.dims();
    let mut layers = BitGrid::new([nx, ny, SIDE.min(nz)])?;
    let mut touched = vec![];
    for (n, hole) in holes.iter().enumerate() {
        progress.check()?;
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
