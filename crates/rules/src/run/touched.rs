//! Counts the bricks that contain cells near triangles, before any cell is made. The count is an upper bound
//! or an estimate.

use std::ops::Range;

use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Triangle};
use voxelize_core::grid::Lattice;
use voxelize_core::par::{self, Progress};
use voxelize_kernel::sink::SIDE;
use voxelize_meshes::Mesh;

/// Greatest number of bricks in the bounding box of a triangle that is not divided. A triangle whose box has
/// more bricks is halved.
const FEW: usize = 8;

/// Greatest depth of the repeated halving of a triangle.
const HALVINGS: usize = 40;

/// Error bound of a coordinate, in cells. Snapping moves a coordinate by less than 0.001. All roundings
/// together move a coordinate of at most [`FAR`] by less than another 0.001, because there are about fifty
/// roundings, each by at most 2⁻²³ bricks of 64 cells.
const MOVED: f64 = 0.01;

/// Greatest sum of two distances, in bricks, up to which bricks are counted: the distance of a coordinate
/// from zero, and the distance of the lattice's origin from zero.
const FAR: f64 = (1 << 30) as f64;

/// Number of triangles in the unit of work of a thread.
const CHUNK: usize = 1 << 14;

/// Point in the coordinate system of the lattice, in units of bricks.
type BrickPlace = [f64; 3];

/// Set of bricks, with one bit for each brick.
struct Touched {
    /// Number of bricks along each axis.
    bricks: [usize; 3],
    /// Bits of the bricks, with x fastest and y before z.
    words: Vec<u64>,
    origin: [f64; 3],
    /// Number of bricks per unit of length, along each axis.
    scale: [f64; 3],
    /// Distance along each axis, in bricks, up to which cells around a triangle count.
    margin: [f64; 3],
}

/// Returns an upper bound of the number of bricks that contain cells within `reach` of triangles. `reach` is
/// in cells along each axis. Returns `usize::MAX` if the mesh is too far from the lattice or from the origin
/// for the bound of rounding errors. Uses the calling thread pool.
///
/// # Errors
/// Fails if the run is cancelled.
pub(crate) fn bricks(
    mesh: &Mesh,
    lattice: &Lattice,
    reach: [f64; 3],
    progress: &dyn Progress,
) -> Result<usize> {
    let Touched { origin, scale, .. } = Touched::new(lattice, reach);
    let Bounds { min, max } = mesh.bounds();
    let far =
        |a: usize| (f64::from(min[a].abs().max(max[a].abs())) + origin[a].abs()) * scale[a] > FAR;
    if (0..3).any(far) {
        return Ok(usize::MAX);
    }
    let triangles = mesh.triangles();
    let share = triangles.len().div_ceil(par::current_threads()).max(1);
    let parts = par::map(
        triangles.chunks(share).collect(),
        |triangles: &[Triangle]| {
            let mut touched = Touched::new(lattice, reach);
            for some in triangles.chunks(CHUNK) {
                progress.check()?;
                some.iter()
                    .for_each(|triangle| touched.add_triangle(triangle));
            }
            Ok(touched.words)
        },
    );
    let mut all: Vec<u64> = vec![];
    for part in parts {
        let part = part?;
        if all.is_empty() {
            all = part;
            continue;
        }
        for (word, more) in all.iter_mut().zip(part) {
            *word |= more;
        }
    }
    Ok(all.iter().map(|word| word.count_ones() as usize).sum())
}

impl Touched {
    fn new(lattice: &Lattice, reach: [f64; 3]) -> Self {
        let sides = [64, SIDE, SIDE];
        let bricks = [0, 1, 2].map(|a| lattice.dims()[a].div_ceil(sides[a]));
        Self {
            bricks,
            words: vec![0; bricks.iter().product::<usize>().div_ceil(64)],
            origin: lattice.origin().each_ref().map(|at| at.to_f64()),
            scale: [0, 1, 2].map(|a| 1.0 / (lattice.spacing()[a].to_f64() * sides[a] as f64)),
            margin: [0, 1, 2].map(|a| (reach[a] + MOVED) / sides[a] as f64),
        }
    }

    fn place(&self, corner: &[f32; 3]) -> BrickPlace {
        [0, 1, 2].map(|a| (f64::from(corner[a]) - self.origin[a]) * self.scale[a])
    }

    /// Adds the bricks of a triangle. If its bounding box has few bricks, these are added. Otherwise the
    /// triangle is halved repeatedly, and the bricks of the boxes of its parts are added.
    fn add_triangle(&mut self, triangle: &Triangle) {
        let [p, q, r] = triangle;
        let least = [0, 1, 2].map(|a| p[a].min(q[a]).min(r[a]));
        let most = [0, 1, 2].map(|a| p[a].max(q[a]).max(r[a]));
        if !self.add_box([self.place(&least), self.place(&most)]) {
            self.add_halves(
                triangle.each_ref().map(|corner| self.place(corner)),
                HALVINGS,
            );
        }
    }

    fn add_halves(&mut self, corners: [BrickPlace; 3], halvings: usize) {
        for half in halves(corners) {
            let [p, q, r] = half;
            let least = [0, 1, 2].map(|a| p[a].min(q[a]).min(r[a]));
            let most = [0, 1, 2].map(|a| p[a].max(q[a]).max(r[a]));
            if !self.add_box([least, most]) {
                match halvings {
                    0 => self.add_all(self.around([least, most])),
                    _ => self.add_halves(half, halvings - 1),
                }
            }
        }
    }

    /// Adds the bricks of a box if there are at most [`FEW`]. Returns true if they were added.
    fn add_box(&mut self, ends: [BrickPlace; 2]) -> bool {
        let around = self.around(ends);
        let is_small = around
            .as_ref()
            .is_none_or(|[x, y, z]| x.len() * y.len() * z.len() <= FEW);
        if is_small {
            self.add_all(around);
        }
        is_small
    }

    fn add_all(&mut self, around: Option<[Range<usize>; 3]>) {
        let Some([x, y, z]) = around else { return };
        for k in z {
            for j in y.clone() {
                let row = (k * self.bricks[1] + j) * self.bricks[0];
                for n in row + x.start..row + x.end {
                    self.words[n / 64] |= 1 << (n % 64);
                }
            }
        }
    }

    /// Returns the range of bricks that a box and its margin overlap, along each axis. `None` if the box is
    /// outside the grid.
    fn around(&self, [least, most]: [BrickPlace; 2]) -> Option<[Range<usize>; 3]> {
        let ends = [0, 1, 2].map(|a| [least[a] - self.margin[a], most[a] + self.margin[a]]);
        let is_outside = |a: usize| ends[a][1] < 0.0 || ends[a][0] >= self.bricks[a] as f64;
        if (0..3).any(is_outside) {
            return None;
        }
        // The conversion to `usize` turns negative numbers into zero.
        Some(
            [0, 1, 2]
                .map(|a| ends[a][0] as usize..(ends[a][1] as usize).min(self.bricks[a] - 1) + 1),
        )
    }
}

/// Divides a triangle into two halves at the midpoint of its longest edge.
fn halves([a, b, c]: [BrickPlace; 3]) -> [[BrickPlace; 3]; 2] {
    let length =
        |p: &BrickPlace, q: &BrickPlace| (0..3).map(|n| (p[n] - q[n]) * (p[n] - q[n])).sum::<f64>();
    let [ab, bc, ca] = [length(&a, &b), length(&b, &c), length(&c, &a)];
    let [a, b, c] = if ab >= bc && ab >= ca {
        [a, b, c]
    } else if bc >= ca {
        [b, c, a]
    } else {
        [c, a, b]
    };
    let middle = [0, 1, 2].map(|n| f64::midpoint(a[n], b[n]));
    [[a, middle, c], [middle, b, c]]
}

/// Returns the approximate number of bricks that the triangles of a mesh cross. `cells` is the size of a
/// brick in cells. The estimate is the sum, over the three axes, of the area projected along the axis divided
/// by the area of a brick's face.
pub(crate) fn crossed(mesh: &Mesh, lattice: &Lattice, cells: [usize; 3]) -> f64 {
    let side = [0, 1, 2].map(|i| cells[i] as f64 * lattice.spacing()[i].to_f64());
    let [x, y, z] = projected(mesh);
    x / (side[1] * side[2]) + y / (side[0] * side[2]) + z / (side[0] * side[1])
}

/// Returns, for each axis, the sum of the areas of all triangles projected along this axis.
pub(crate) fn projected(mesh: &Mesh) -> [f64; 3] {
    let add = |sum: [f64; 3], more: [f64; 3]| [0, 1, 2].map(|i| sum[i] + more[i]);
    let parts = par::map(
        mesh.triangles().chunks(CHUNK).collect(),
        |triangles: &[Triangle]| triangles.iter().map(areas).fold([0.0; 3], add),
    );
    parts.into_iter().fold([0.0; 3], add)
}

/// Returns, for each axis, the area of a triangle projected along this axis.
fn areas([a, b, c]: &Triangle) -> [f64; 3] {
    let edge = |to: &[f32; 3]| [0, 1, 2].map(|i| f64::from(to[i]) - f64::from(a[i]));
    let p = edge(b);
    let q = edge(c);
    [[1, 2], [2, 0], [0, 1]].map(|[i, j]| (p[i] * q[j] - p[j] * q[i]).abs() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cover::{self, IntersectionTarget};
    use voxelize_core::geom::Ties;
    use voxelize_core::grid::BitGrid;
    use voxelize_kernel::{KernelLattice, Level};

    #[test]
    fn all_bricks_with_cells_are_counted_and_few_others() {
        for name in ["knot", "bracket", "slivers", "octahedron"] {
            let mesh = Mesh::open(format!("../../fixtures/{name}.stl")).unwrap();
            for cells in [70, 257, 600] {
                let lattice = Lattice::fit(mesh.bounds(), cells).unwrap();
                let target = IntersectionTarget::Box(KernelLattice::new(
                    lattice.axes(),
                    mesh.bounds(),
                    Ties::Both,
                ));
                let covered = cover::keep(
                    &target,
                    mesh.triangles(),
                    lattice.dims(),
                    Level::best(),
                    &(),
                )
                .unwrap();
                let mut bits = BitGrid::new(lattice.dims()).unwrap();
                covered.copy_to(0, &mut bits);
                let mut with_cells: Vec<_> = bits
                    .iter()
                    .map(|[i, j, k]| [i / 64, j / SIDE, k / SIDE])
                    .collect();
                with_cells.sort_unstable();
                with_cells.dedup();
                let found = with_cells.len();
                let most = bricks(&mesh, &lattice, [0.0; 3], &()).unwrap();
                assert!(
                    found > 0 && (found..=2 * found + 8).contains(&most),
                    "{name}, {cells}: {found} of {most}"
                );
            }
        }
    }
}
