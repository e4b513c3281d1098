//! Oracle: the winding number of a mesh around the centre of each cell, by its definition, in integers of any
//! size and independent of the library.
//!
//! The centre of a cell is displaced by -ε in x, -ε² in y, -ε³ in z (Simulation of Simplicity, Edelsbrunner
//! and Mücke 1990). A ray from there, down along an axis, crosses a triangle iff the point is on one side of
//! its three edges, seen along the ray, and above its plane. Each of these four is the sign of a polynomial
//! in ε, which is the sign of its first non-zero coefficient, because ε is infinitesimal. So no ray meets an
//! edge or a vertex, and no centre lies on a triangle.
//!
//! The winding number is the number of times that the ray leaves the mesh minus the number of times that it
//! enters. For a closed oriented mesh every ray gives the same number. For other meshes the definition uses
//! the ray along x.

use num_bigint::{BigInt, Sign};
use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice};

use super::oracle::{self, Axis, floor};

/// Crossings of the rays of all cells.
pub struct Windings {
    dims: [usize; 3],
    /// Triangles that the ray leaves through minus triangles that it enters through, for each cell.
    turns: Vec<i64>,
    /// Number of crossed triangles.
    crossed: Vec<u64>,
}

/// Coefficients of 1, ε, ε², ε³.
type Polynomial = [BigInt; 4];

/// Returns the sign for small ε.
fn sign(polynomial: &Polynomial) -> Sign {
    polynomial
        .iter()
        .map(BigInt::sign)
        .find(|sign| *sign != Sign::NoSign)
        .unwrap_or(Sign::NoSign)
}

/// Triangle in integer index coordinates, and half a cell in the same units.
struct Scaled {
    vertices: [[BigInt; 3]; 3],
    half: [BigInt; 3],
    normal: [BigInt; 3],
}

fn difference(a: &[BigInt; 3], b: &[BigInt; 3]) -> [BigInt; 3] {
    std::array::from_fn(|n| &a[n] - &b[n])
}

impl Scaled {
    fn new(axes: &[Axis; 3], triangle: &Triangle) -> Self {
        let mut vertices: [[BigInt; 3]; 3] = Default::default();
        let mut half: [BigInt; 3] = Default::default();
        for (a, axis) in axes.iter().enumerate() {
            let coordinates = triangle.map(|v| axis.index(v[a]));
            let unit = axis.unit() >> 1;
            // Short numbers are faster: common powers of two are dropped.
            let zeros = coordinates
                .iter()
                .chain([&unit])
                .filter_map(BigInt::trailing_zeros)
                .min();
            let zeros = zeros.expect("a cell has a size");
            for (vertex, coordinate) in vertices.iter_mut().zip(coordinates) {
                vertex[a] = coordinate >> zeros;
            }
            half[a] = unit >> zeros;
        }
        let [u, v] = [1, 2].map(|n| difference(&vertices[n], &vertices[0]));
        let normal = std::array::from_fn(|a| {
            let b = (a + 1) % 3;
            let c = (a + 2) % 3;
            &u[b] * &v[c] - &u[c] * &v[b]
        });
        Self {
            vertices,
            half,
            normal,
        }
    }

    /// Returns the centre of a cell before the displacement.
    fn centre(&self, cell: [usize; 3]) -> [BigInt; 3] {
        std::array::from_fn(|a| &self.half[a] * (2 * cell[a] + 1))
    }

    /// Returns the cells along an axis whose centres lie between the vertices, or level with one.
    fn cells(&self, axis: usize, count: usize) -> std::ops::Range<usize> {
        let along = self.vertices.each_ref().map(|v| &v[axis]);
        let least = along.iter().min().expect("three");
        let most = along.iter().max().expect("three");
        let half = &self.half[axis];
        // The first centre that is not below the least vertex, and the first above the greatest.
        let first = floor(&(*least - half - 1), &(half * 2)).saturating_add(1);
        let end = floor(&(*most - half), &(half * 2)).saturating_add(1);
        let clamp = |n: i64| n.clamp(0, count as i64) as usize;
        clamp(first)..clamp(end)
    }

    /// Reports whether the line along `axis` through the displaced centre passes through the triangle.
    fn is_on_line(&self, axis: usize, centre: &[BigInt; 3]) -> bool {
        let s = (axis + 1) % 3;
        let t = (axis + 2) % 3;
        let side = |n: usize| {
            let from = &self.vertices[n];
            let to = &self.vertices[(n + 1) % 3];
            let ds = &to[s] - &from[s];
            let dt = &to[t] - &from[t];
            let mut side = Polynomial::default();
            side[0] = &ds * (&centre[t] - &from[t]) - &dt * (&centre[s] - &from[s]);
            side[1 + t] = -ds;
            side[1 + s] = dt;
            sign(&side)
        };
        self.normal[axis].sign() != Sign::NoSign && side(0) == side(1) && side(1) == side(2)
    }

    /// Reports whether the displaced centre is above the plane of the triangle, along `axis`.
    fn is_below(&self, axis: usize, centre: &[BigInt; 3]) -> bool {
        let from = difference(centre, &self.vertices[0]);
        let height: BigInt = self.normal.iter().zip(&from).map(|(n, d)| n * d).sum();
        let [x, y, z] = &self.normal;
        sign(&[height, -x, -y, -z]) == self.normal[axis].sign()
    }
}

impl Windings {
    /// Counts along rays down `axis`.
    pub fn along(axis: usize, triangles: &[Triangle], lattice: &Lattice) -> Self {
        let dims = lattice.dims();
        let count = dims.iter().product();
        let mut this = Self {
            dims,
            turns: vec![0; count],
            crossed: vec![0; count],
        };
        let axes = oracle::axes(lattice);
        for triangle in triangles {
            this.add(axis, &Scaled::new(&axes, triangle));
        }
        // Accumulate from the first cell above each triangle to all cells above it.
        let step = [1, dims[0], dims[0] * dims[1]][axis];
        for n in 0..count {
            if !(n / step).is_multiple_of(dims[axis]) {
                this.turns[n] += this.turns[n - step];
                this.crossed[n] += this.crossed[n - step];
            }
        }
        this
    }

    /// Records a triangle in the first cell above it on each line.
    fn add(&mut self, axis: usize, triangle: &Scaled) {
        let s = (axis + 1) % 3;
        let t = (axis + 2) % 3;
        let mut cell = [0; 3];
        for at_s in triangle.cells(s, self.dims[s]) {
            for at_t in triangle.cells(t, self.dims[t]) {
                (cell[axis], cell[s], cell[t]) = (0, at_s, at_t);
                if !triangle.is_on_line(axis, &triangle.centre(cell)) {
                    continue;
                }
                let mut low = 0;
                let mut high = self.dims[axis];
                while low < high {
                    cell[axis] = (low + high) / 2;
                    if triangle.is_below(axis, &triangle.centre(cell)) {
                        high = cell[axis];
                    } else {
                        low = cell[axis] + 1;
                    }
                }
                if low < self.dims[axis] {
                    cell[axis] = low;
                    let n = cell[0] + self.dims[0] * (cell[1] + self.dims[1] * cell[2]);
                    // A ray that goes down through a face that faces down leaves the mesh.
                    self.turns[n] += if triangle.normal[axis].sign() == Sign::Minus {
                        1
                    } else {
                        -1
                    };
                    self.crossed[n] += 1;
                }
            }
        }
    }

    /// Returns the cells with a non-zero winding number.
    pub fn nonzero(&self) -> BitGrid {
        self.cells(|n| self.turns[n] != 0)
    }

    /// Returns the cells whose rays cross an odd number of triangles.
    pub fn evenodd(&self) -> BitGrid {
        self.cells(|n| self.crossed[n] % 2 == 1)
    }

    fn cells(&self, holds: impl Fn(usize) -> bool) -> BitGrid {
        let mut grid = BitGrid::new(self.dims).expect("few cells");
        let [nx, ny, _] = self.dims;
        (0..self.turns.len())
            .filter(|n| holds(*n))
            .for_each(|n| grid.set([n % nx, n / nx % ny, n / nx / ny]));
        grid
    }
}
