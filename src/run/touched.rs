//! How many bricks the cells near triangles lie in, at most: known before any cell is made.

use crate::error::Result;
use crate::geom::Triangle;
use crate::grid::Lattice;
use crate::kernel::sink::SIDE;
use crate::par::{self, Progress};

/// A triangle over more bricks is halved.
const FEW: i64 = 8;

/// Halvings of a triangle, at most.
const HALVINGS: usize = 40;

/// What floats, and snapping, move a coordinate by, in cells.
const MOVED: f64 = 0.01;

/// A point in cells of the lattice.
type Place = [f64; 3];

/// Bricks, a bit each.
struct Touched {
    /// Bricks along each axis.
    bricks: [usize; 3],
    /// Rows along x, then y.
    words: Vec<u64>,
    /// How far around a triangle cells are taken, in cells.
    reach: Place,
}

/// The bricks that cells within `reach` of triangles, in cells along each axis, lie in: that many, or fewer. In the
/// threads it is called in.
///
/// # Errors
/// If the run is cancelled.
pub(crate) fn bricks(
    triangles: &[Triangle],
    lattice: &Lattice,
    reach: Place,
    progress: &dyn Progress,
) -> Result<usize> {
    let origin = lattice.origin().each_ref().map(|at| at.to_f64());
    let spacing = lattice.spacing().each_ref().map(|side| side.to_f64());
    let place = |corner: &[f32; 3]| [0, 1, 2].map(|a| (f64::from(corner[a]) - origin[a]) / spacing[a]);
    let share = triangles.len().div_ceil(par::current_threads()).max(1);
    let parts = par::map(triangles.chunks(share).collect(), |triangles: &[Triangle]| {
        let mut touched = Touched::new(lattice.dims(), reach);
        for some in triangles.chunks(1 << 14) {
            progress.check()?;
            some.iter().for_each(|triangle| touched.add(triangle.each_ref().map(place), HALVINGS));
        }
        Ok(touched.words)
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let all = parts.into_iter().reduce(|mut all, part| {
        all.iter_mut().zip(part).for_each(|(word, more)| *word |= more);
        all
    });
    Ok(all.unwrap_or_default().iter().map(|word| word.count_ones() as usize).sum())
}

impl Touched {
    fn new([nx, ny, nz]: [usize; 3], reach: Place) -> Self {
        let bricks = [nx.div_ceil(64), ny.div_ceil(SIDE), nz.div_ceil(SIDE)];
        let words = vec![0; bricks.iter().product::<usize>().div_ceil(64)];
        Self { bricks, words, reach }
    }

    /// Adds the bricks of a triangle: those of its box, or of the boxes of its halves.
    fn add(&mut self, corners: [Place; 3], halvings: usize) {
        let Some([x, y, z]) = self.around(&corners) else { return };
        let count = [x, y, z].iter().map(|[low, high]| high - low + 1).product::<i64>();
        if count > FEW && halvings > 0 {
            return halves(corners).into_iter().for_each(|half| self.add(half, halvings - 1));
        }
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                let row = (k as usize * self.bricks[1] + j as usize) * self.bricks[0];
                for i in x[0]..=x[1] {
                    let n = row + i as usize;
                    self.words[n / 64] |= 1 << (n % 64);
                }
            }
        }
    }

    /// The first and the last brick around a triangle along each axis; `None` if it is outside of the grid.
    fn around(&self, corners: &[Place; 3]) -> Option<[[i64; 2]; 3]> {
        let mut all = [[0; 2]; 3];
        for (a, ends) in all.iter_mut().enumerate() {
            let [p, q, r] = corners.each_ref().map(|corner| corner[a]);
            let side = [64, SIDE, SIDE][a] as f64;
            let margin = self.reach[a] + MOVED;
            // A float too large for an integer becomes the last of these.
            let low = ((p.min(q).min(r) - margin) / side).floor() as i64;
            let high = ((p.max(q).max(r) + margin) / side).floor() as i64;
            let last = self.bricks[a] as i64 - 1;
            if low > last || high < 0 {
                return None;
            }
            *ends = [low.max(0), high.min(last)];
        }
        Some(all)
    }
}

/// A triangle as two, its longest edge, seen in bricks, halved.
fn halves([a, b, c]: [Place; 3]) -> [[Place; 3]; 2] {
    let length = |p: &Place, q: &Place| {
        let [x, y, z] = [0, 1, 2].map(|n| (p[n] - q[n]) / [64, SIDE, SIDE][n] as f64);
        x * x + y * y + z * z
    };
    let [ab, bc, ca] = [length(&a, &b), length(&b, &c), length(&c, &a)];
    let [a, b, c] = match () {
        () if ab >= bc && ab >= ca => [a, b, c],
        () if bc >= ca => [b, c, a],
        () => [c, a, b],
    };
    let middle = [0, 1, 2].map(|n| f64::midpoint(a[n], b[n]));
    [[a, middle, c], [middle, b, c]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Ties;
    use crate::grid::BitGrid;
    use crate::kernel::{KernelLattice, Level};
    use crate::mesh::Mesh;
    use crate::run::cover::{self, IntersectionTarget};

    #[test]
    fn all_bricks_with_cells_are_counted_and_few_others() {
        for name in ["knot", "bracket", "slivers", "octahedron"] {
            let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
            for cells in [70, 257, 600] {
                let lattice = Lattice::fit(mesh.bounds(), cells).unwrap();
                let target =
                    IntersectionTarget::Box(KernelLattice::new(lattice.axes(), mesh.bounds(), Ties::Both));
                let covered =
                    cover::keep(&target, mesh.triangles(), lattice.dims(), Level::best(), &()).unwrap();
                let mut bits = BitGrid::new(lattice.dims()).unwrap();
                covered.copy_to(0, &mut bits);
                let mut with_cells: Vec<_> =
                    bits.iter().map(|[i, j, k]| [i / 64, j / SIDE, k / SIDE]).collect();
                with_cells.sort_unstable();
                with_cells.dedup();
                let found = with_cells.len();
                let most = bricks(mesh.triangles(), &lattice, [0.0; 3], &()).unwrap();
                assert!(
                    found > 0 && (found..=2 * found + 8).contains(&most),
                    "{name}, {cells}: {found} of {most}"
                );
            }
        }
    }
}
