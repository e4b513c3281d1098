//! Number of bricks with cells near triangles, as an upper bound or an estimate, before any cell is
//! made.

use std::ops::Range;

use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Triangle};
use voxelize_core::grid::Lattice;
use voxelize_core::par::{self, Progress};
use voxelize_kernel::sink::SIDE;
use voxelize_meshes::Mesh;

/// Greatest number of bricks of a box that is not divided further. A triangle over more bricks is
/// halved.
const FEW: usize = 8;

/// Greatest number of halvings of a triangle.
const HALVINGS: usize = 40;

/// Error bound of a coordinate, in cells. Snapping moves a coordinate by less than a thousandth.
/// All roundings of places up to [`FAR`] move it by less than another thousandth: there are some
/// fifty, each of 2⁻²³ bricks of 64 cells.
const MOVED: f64 = 0.01;

/// Greatest distance in bricks from the origin of the lattice, and of coordinates, up to which
/// bricks are counted.
const FAR: f64 = (1 << 30) as f64;

/// Number of triangles that one thread takes at a time.
const CHUNK: usize = 1 << 14;

/// Point in bricks of the lattice.
type BrickPlace = [f64; 3];

/// Set of bricks, with one bit for each.
struct Touched {
    /// Number of bricks along each axis.
    bricks: [usize; 3],
    /// Rows along x, then y.
    words: Vec<u64>,
    origin: [f64; 3],
    /// Bricks per unit of length.
    scale: [f64; 3],
    /// Distance around a triangle within which cells count, in bricks.
    margin: [f64; 3],
}

/// Returns an upper bound of the number of bricks with cells within `reach` of triangles, in cells
/// along each axis. `usize::MAX` if the mesh is too far away to tell. Runs in the calling threads.
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

    /// Adds the bricks of a triangle, which are the bricks of its box or of the boxes of its
    /// halves.
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

    /// Adds the bricks of a box if they are few. Returns true if they were added.
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

    /// Returns the bricks around a box along each axis. `None` if the box is outside the grid.
    fn around(&self, [least, most]: [BrickPlace; 2]) -> Option<[Range<usize>; 3]> {
        let ends = [0, 1, 2].map(|a| [least[a] - self.margin[a], most[a] + self.margin[a]]);
        let is_outside = |a: usize| ends[a][1] < 0.0 || ends[a][0] >= self.bricks[a] as f64;
        if (0..3).any(is_outside) {
            return None;
        }
        // The conversion turns negative numbers into zero.
        Some(
            [0, 1, 2]
                .map(|a| ends[a][0] as usize..(ends[a][1] as usize).min(self.bricks[a] - 1) + 1),
        )
    }
}

/// Divides a triangle into two at the middle of its longest edge.
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

/// Returns the approximate number of bricks of `cells` cells that the triangles of a mesh cross.
/// Seen along an axis, a large triangle crosses one brick for each brick face that it covers. The
/// three projections, counted in faces of bricks, add up.
pub(crate) fn crossed(mesh: &Mesh, lattice: &Lattice, cells: [usize; 3]) -> f64 {
    let side = [0, 1, 2].map(|i| cells[i] as f64 * lattice.spacing()[i].to_f64());
    let [x, y, z] = projected(mesh);
    x / (side[1] * side[2]) + y / (side[0] * side[2]) + z / (side[0] * side[1])
}

/// Returns the areas of all triangles seen along each axis.
pub(crate) fn projected(mesh: &Mesh) -> [f64; 3] {
    let add = |sum: [f64; 3], more: [f64; 3]| [0, 1, 2].map(|i| sum[i] + more[i]);
    let parts = par::map(
        mesh.triangles().chunks(CHUNK).collect(),
        |triangles: &[Triangle]| triangles.iter().map(areas).fold([0.0; 3], add),
    );
    parts.into_iter().fold([0.0; 3], add)
}

/// Returns the areas of a triangle seen along each axis.
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
