//! Exposed faces of cells as meshes for slicers, game engines and modellers.
//!
//! | format | faces | vertices | labels | record of how the cells were made |
//! |---|---|---|---|---|
//! | `.ply` | quads; with labels two triangles each | shared, doubles | `label` and colour of a face | comments of the header |
//! | `.obj` | quads | shared, decimals | groups and materials | comments |
//! | `.glb` | two triangles each | shared, floats | a primitive and a material each | `asset.extras.voxelize` |
//! | `.stl` | two triangles each | three per triangle, floats | none | a sidecar, on request |
//!
//! A face is exposed if its cell is occupied and the cell on the other side is empty or outside the grid.
//! There is no face between two occupied cells, even if their labels differ. Seen from outside, the corners
//! of a face are counterclockwise. If vertices are shared, each directed edge of a face is matched by the
//! opposite edge of another face. Two cells that touch only along an edge or at a corner share the vertices
//! there. Such an edge has four faces instead of two, and programs that require a manifold report it.
//!
//! A vertex is where three walls meet. Its coordinates are the nearest floats or doubles, in the coordinates
//! of the mesh. If there is no lattice, cells have size 1. A grid is refused if two of its walls round to the
//! same number.
//!
//! With `--merge greedy`, faces that have the same plane, direction and label become rectangles
//! (`greedy.rs`). There are far fewer rectangles than faces, but their edges meet in T-junctions. The bytes
//! of a file depend neither on slabs nor on threads. These formats are only written. When a file with such an
//! extension is read, it is a mesh.

mod exposed;
mod glb;
mod greedy;
mod meshing;
mod numbers;
mod obj;
mod ply;
mod sections;
mod single;
mod sink;
mod stl;

pub(super) use self::glb::FORMAT as GLB;
pub(super) use self::obj::FORMAT as OBJ;
pub(super) use self::ply::FORMAT as PLY;
pub(super) use self::stl::FORMAT as STL;

use super::{Choice, FileSize};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{AXES, CellSource, Lattice};

/// Returns an upper bound for the size of a file of exposed faces. `face` and `vertex` are the sizes of a
/// face and of a vertex in bytes. `None` if the number of occupied cells is not known.
fn most_bytes(
    [nx, ny, nz]: [usize; 3],
    occupied: Option<u64>,
    [face, vertex]: [u128; 2],
) -> Option<FileSize> {
    let [x, y, z] = [nx, ny, nz].map(|n| n as u128);
    // The number of walls of all cells, including those on the boundary of the grid.
    let walls = (x + 1) * y * z + x * (y + 1) * z + x * y * (z + 1);
    let faces = walls.min(6 * u128::from(occupied?));
    Some(FileSize::at_most(faces * (face + 4 * vertex)))
}

/// Type of number to which coordinates are rounded.
trait WallNumber: Copy + PartialEq {
    const NAME: &'static str;
    fn nearest(exact: &Rational) -> Self;
    fn is_finite(self) -> bool;
    /// Returns the distance to the next number away from zero.
    fn step(self) -> f64;
}

impl WallNumber for f32 {
    const NAME: &'static str = "32-bit floats";
    fn nearest(exact: &Rational) -> Self {
        exact.to_f32()
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    fn step(self) -> f64 {
        f64::from(self.abs().next_up()) - f64::from(self.abs())
    }
}

impl WallNumber for f64 {
    const NAME: &'static str = "doubles";
    fn nearest(exact: &Rational) -> Self {
        exact.to_f64()
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    fn step(self) -> f64 {
        self.abs().next_up() - self.abs()
    }
}

/// Returns the numbers that are nearest to the walls along each axis.
fn walls<N: WallNumber>(source: &dyn CellSource) -> [Vec<N>; 3] {
    let dims = source.dims();
    [0, 1, 2].map(|axis| {
        let mut walls = Vec::with_capacity(dims[axis] + 1);
        for n in 0..=dims[axis] {
            let exact = match source.lattice() {
                Some(lattice) => lattice.wall(axis, n),
                None => Rational::from(n as i64),
            };
            walls.push(N::nearest(&exact));
        }
        walls
    })
}

/// Fails if two walls round to the same number, or if a wall rounds to infinity.
fn check_walls<N: WallNumber>(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    let Some(lattice) = lattice else {
        return Ok(());
    };
    for (axis, name) in AXES.into_iter().enumerate() {
        let cells = lattice.dims()[axis];
        let wall = |n: usize| N::nearest(&lattice.wall(axis, n));
        let ends = [wall(0), wall(cells)];
        let step = ends[0].step().max(ends[1].step());
        // Walls that are more than two steps apart cannot round to the same number.
        let are_apart = lattice.spacing()[axis].to_f64() > 2.0 * step;
        let are_finite = ends.iter().all(|end| end.is_finite());
        if are_finite && (are_apart || (0..cells).all(|n| wall(n) != wall(n + 1))) {
            continue;
        }
        let problem = if are_finite { "the same as" } else { "beyond" };
        let text = format!("walls along {name} are {problem} {}", N::NAME);
        return Err(
            Error::usage(text).with_hint("use larger cells, or move the mesh nearer to the origin")
        );
    }
    Ok(())
}
