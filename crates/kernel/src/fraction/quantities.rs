//! The mesh in a cell, and the inside part of the cell: area, area vector, open shares of faces, centroid.
//!
//! All of them follow from sums over the pieces of the mesh in the cell, by the divergence theorem, and from
//! the share of the cell. With the outward normal n and u from 0 to 1 along an axis of the cell, a piece
//! contributes `a = ∫ n dA`, `m = ∫ u n dA` and `q = ∫ u² n dA`, with the component of n along that axis. For
//! a cell with the share V, the open share of its low face is `V − m + a`, of its high face `V − m`, and the
//! first moment of its inside `(V − m + q) / 2`.
//!
//! A piece on a wall belongs to the cell on its inner side, whose volume it bounds. A face is open where both
//! of its sides are inside and no piece lies on it. Two parts that touch there close it.

use super::bricks::{CELLS, SumBricks};
use super::clip::{IndexPoint, PieceTaker, is_on_wall};
use super::units::{NEAR, UNITS, units, without_sign};

/// Quantity of a cell besides its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Area of the mesh in the cell.
    Area,
    /// Sum of the outward area vectors of the mesh in the cell.
    Normal,
    /// Shares of the low x, y and z faces of the cell that are inside on both sides and not on the mesh.
    Faces,
    /// Centroid of the inside of the cell, from the middle of the cell, in sides of the cell.
    Centroid,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 4] = [Self::Area, Self::Normal, Self::Faces, Self::Centroid];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Area => "area",
            Self::Normal => "normal",
            Self::Faces => "faces",
            Self::Centroid => "centroid",
        }
    }

    /// Returns the number of values per cell.
    pub const fn numbers(self) -> usize {
        match self {
            Self::Area => 1,
            _ => 3,
        }
    }

    /// Returns `true` if the quantity is an area, in squares of the unit of length.
    pub const fn is_area(self) -> bool {
        matches!(self, Self::Area | Self::Normal)
    }
}

/// Mean winding number of a cell.
#[derive(Clone, Copy)]
pub(super) struct CellMean {
    pub(super) units: i64,
    /// The cell is in an inverted part, although its mean is so near to 0 that it could be rounding.
    pub(super) is_inverted: bool,
}

/// Sums of the pieces of the mesh in one cell, in units.
#[derive(Clone, Copy, Default)]
pub(super) struct QuantitySum {
    /// ∫ n dA, in faces of the cell.
    area_vector: [i64; 3],
    /// ∫ u n dA.
    moment: [i64; 3],
    /// ∫ u² n dA.
    square: [i64; 3],
    /// ∫ dA, in the largest face.
    area: i64,
}

/// Sums of the cells that contain pieces of the mesh.
pub(super) struct QuantitySums {
    pub(super) bricks: SumBricks<[QuantitySum; CELLS]>,
    /// Areas of the faces across each axis, relative to the largest.
    faces: [f64; 3],
    /// Area of the largest face.
    largest: f64,
    /// Walls along x and y whose pieces belong to the cell below. `None` if the winding decides.
    ends: Option<[i64; 2]>,
}

impl QuantitySums {
    /// Creates the sums of cells with these sides.
    pub(super) fn new(
        bricks: SumBricks<[QuantitySum; CELLS]>,
        sides: [f64; 3],
        ends: Option<[i64; 2]>,
    ) -> Self {
        let [x, y, z] = sides;
        let faces = [y * z, z * x, x * y];
        let largest = faces[0].max(faces[1]).max(faces[2]);
        Self {
            bricks,
            faces: faces.map(|face| face / largest),
            largest,
            ends,
        }
    }
}

impl PieceTaker for QuantitySums {
    fn add(&mut self, mut cell: [i64; 3], corners: &[IndexPoint], extents: [[f64; 2]; 3]) {
        let vector = area_vector(corners);
        for axis in 0..2 {
            let is_below = self
                .ends
                .map_or(vector[axis] > 0.0, |ends| cell[axis] == ends[axis]);
            if is_below && is_on_wall(extents[axis]) {
                cell[axis] -= 1;
            }
        }
        let origin = cell.map(|n| n as f64);
        let Some((sums, n)) = self.bricks.at(cell, || [QuantitySum::default(); CELLS]) else {
            return;
        };
        let sum = &mut sums[n];
        let [mut moment, mut square] = [[0.0; 3]; 2];
        each_triangle(corners, |triangle, twice| {
            for axis in 0..3 {
                let [a, b, c] = triangle.map(|corner| corner[axis] - origin[axis]);
                moment[axis] += twice[axis] * (a + b + c);
                square[axis] += twice[axis] * (a * a + b * b + c * c + a * b + b * c + c * a);
            }
        });
        // Sums may wrap. They are right if their totals fit 64 bits.
        for axis in 0..3 {
            sum.area_vector[axis] = sum.area_vector[axis].wrapping_add(units(vector[axis]));
            sum.moment[axis] = sum.moment[axis].wrapping_add(units(moment[axis] / 6.0));
            sum.square[axis] = sum.square[axis].wrapping_add(units(square[axis] / 12.0));
        }
        let [x, y, z] = [0, 1, 2].map(|axis| vector[axis] * self.faces[axis]);
        sum.area = sum.area.wrapping_add(units((x * x + y * y + z * z).sqrt()));
    }
}

/// Calls `take` with each triangle of the fan of a polygon, and with twice its area vector.
fn each_triangle(corners: &[IndexPoint], mut take: impl FnMut([&IndexPoint; 3], [f64; 3])) {
    let first = &corners[0];
    let from_first = |corner: &IndexPoint| [0, 1, 2].map(|axis| corner[axis] - first[axis]);
    for pair in corners[1..].windows(2) {
        let [p, q] = [from_first(&pair[0]), from_first(&pair[1])];
        let twice = [
            p[1] * q[2] - p[2] * q[1],
            p[2] * q[0] - p[0] * q[2],
            p[0] * q[1] - p[1] * q[0],
        ];
        take([first, &pair[0], &pair[1]], twice);
    }
}

/// Returns the area vector of a polygon.
pub(super) fn area_vector(corners: &[IndexPoint]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    each_triangle(corners, |_, twice| {
        for axis in 0..3 {
            sum[axis] += twice[axis];
        }
    });
    sum.map(|twice| twice / 2.0)
}

impl QuantitySums {
    /// Writes the values of a cell with this mean.
    pub(super) fn put(
        &self,
        quantity: Quantity,
        sum: Option<&QuantitySum>,
        mean: CellMean,
        numbers: &mut [f32],
    ) {
        const NONE: QuantitySum = QuantitySum {
            area_vector: [0; 3],
            moment: [0; 3],
            square: [0; 3],
            area: 0,
        };
        let sum = sum.unwrap_or(&NONE);
        for (axis, number) in numbers.iter_mut().enumerate() {
            let exact = match quantity {
                Quantity::Area => sum.area as f64 / UNITS * self.largest,
                Quantity::Normal => {
                    sum.area_vector[axis] as f64 / UNITS * self.faces[axis] * self.largest
                }
                Quantity::Faces => sum.low_face(axis, mean) as f64 / UNITS,
                Quantity::Centroid => sum.centroid(axis, mean),
            };
            *number = exact as f32;
        }
    }
}

impl QuantitySum {
    /// Returns the area and the moment along x, the sums from which shares are computed.
    #[cfg(test)]
    pub(super) fn along_x(&self) -> [i64; 2] {
        [self.area_vector[0], self.moment[0]]
    }

    /// Returns the open share of the low face, in units, as an absolute value of at most 1, like the shares
    /// of cells.
    fn low_face(&self, axis: usize, mean: CellMean) -> i64 {
        let open = mean
            .units
            .wrapping_sub(self.moment[axis])
            .wrapping_add(self.area_vector[axis]);
        let is_inverted = mean.is_inverted || (mean.units < 0 && without_sign(mean.units) > 0);
        without_sign(if is_inverted && open < -NEAR {
            open.saturating_neg()
        } else {
            open
        })
    }

    /// Returns the centroid from the middle of the cell, or NaN if nothing is inside.
    fn centroid(&self, axis: usize, mean: CellMean) -> f64 {
        if without_sign(mean.units) == 0 && !mean.is_inverted {
            return f64::NAN;
        }
        let twice = mean
            .units
            .wrapping_sub(self.moment[axis])
            .wrapping_add(self.square[axis]);
        (twice as f64 / (2.0 * mean.units as f64) - 0.5).clamp(-0.5, 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::fraction::{LayerBins, LayerSums};
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::{Bounds, Rational, Ties, Triangle};
    use crate::lattice::KernelLattice;
    use crate::random::Random;

    /// Number of cells along each axis, in one layer of bricks.
    const N: usize = 4;

    /// An octahedron in the grid. Some of its corners are at quarters of cells.
    fn octahedron(random: &mut Random) -> Vec<Triangle> {
        let is_round = random.index(2) == 0;
        let mut corner = |axis: usize, side: f64| {
            let radius = random.within(0.2, 1.9);
            let radius = if is_round {
                (radius * 4.0).ceil() / 4.0
            } else {
                radius
            };
            let mut corner = [2.0_f64; 3];
            corner[axis] += side * radius;
            corner.map(|c| c as f32)
        };
        let corners = [0, 1, 2].map(|axis| [corner(axis, -1.0), corner(axis, 1.0)]);
        let face = |n: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| corners[axis][n >> axis & 1]);
            if n.count_ones() % 2 == 1 {
                [x, y, z]
            } else {
                [x, z, y]
            }
        };
        (0..8).map(face).collect()
    }

    #[test]
    fn sums_of_closed_meshes_cancel() {
        let mut random = Random::new(21);
        let (mut cells, mut cut) = (0, 0);
        for _ in 0..200 {
            let triangles = octahedron(&mut random);
            let map = || AxisMap::new(Rational::ZERO, Rational::ONE, Snap::None);
            let axes = [(); 3].map(|()| LatticeAxis {
                map: map(),
                cells: N,
                closed: true,
            });
            let frame = KernelLattice::new(axes, &Bounds::of(&triangles), Ties::None);
            assert_eq!(LayerBins::range(&frame, &triangles[0]), [0, 0]);
            let mut sums =
                LayerSums::new(&frame, [0; 2], Level::best()).with_quantities(&frame, [1.0; 3]);
            sums.begin(0..N);
            sums.add(
                &frame,
                &triangles,
                &Vec::from_iter(0..triangles.len() as u32),
            );
            sums.end();
            let found = sums.quantity_sums();
            let at = |[i, j, k]: [usize; 3]| &found[(k * N + j) * N + i];
            let area: f64 = found.iter().map(|(_, sum)| sum.area as f64 / UNITS).sum();
            let wanted: f64 = triangles
                .iter()
                .map(|triangle| {
                    let corners = triangle.map(|corner| corner.map(f64::from));
                    area_vector(&corners)
                        .iter()
                        .map(|n| n * n)
                        .sum::<f64>()
                        .sqrt()
                })
                .sum();
            assert!((area / wanted - 1.0).abs() < 1e-12, "{area} {wanted}");
            for axis in 0..3 {
                let all: i64 = found.iter().map(|(_, sum)| sum.area_vector[axis]).sum();
                assert!((all as f64 / UNITS).abs() < 1e-12);
                for n in 0..N * N * N {
                    let cell = [n % N, n / N % N, n / N / N];
                    if cell[axis] + 1 == N {
                        continue;
                    }
                    let mut next = cell;
                    next[axis] += 1;
                    let (low, high) = (at(cell), at(next));
                    let face = |(units, sum): &(i64, QuantitySum)| {
                        sum.low_face(
                            axis,
                            CellMean {
                                units: *units,
                                is_inverted: false,
                            },
                        )
                    };
                    let flow = face(high) - face(low) + low.1.area_vector[axis];
                    assert!((flow as f64 / UNITS).abs() < 1e-9, "{cell:?} {axis}");
                    cells += 1;
                    cut += u64::from(low.1.area > 0);
                }
            }
        }
        assert!(cells > 20_000 && cut > 3_000, "{cells} {cut}");
    }
}
