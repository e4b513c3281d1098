//! Further quantities of a cell: area, area vector, open shares of faces, and centroid of the inside.
//!
//! All quantities follow, by the divergence theorem, from the share of the cell and from sums over the pieces
//! of the mesh in the cell. Let n be the outward normal, and let u go from 0 to 1 along an axis of the cell.
//! Along this axis, a piece contributes `a = ∫ n dA`, `m = ∫ u n dA` and `q = ∫ u² n dA`, with the component
//! of n along the axis. If the share of the cell is V, the open share of its low face is `V − m + a`, the
//! open share of its high face is `V − m`, and the first moment of its inside is `(V − m + q) / 2`.
//!
//! A piece that lies on a wall belongs to the cell on its inner side, whose volume it bounds. A face is open
//! where both of its sides are inside and no piece lies on it. If two parts of the mesh touch on a face, it
//! is not open there.

use super::bricks::{CELLS, SumBricks};
use super::clip::{IndexPoint, PieceTaker, is_on_wall};
use super::units::{NEAR, UNITS, units, without_sign};

/// Quantity of a cell in addition to its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Area of the mesh in the cell.
    Area,
    /// Sum of the outward area vectors of the mesh in the cell.
    Normal,
    /// Open shares of the low x, y and z faces of the cell: parts of a face that are inside on both sides and
    /// not on the mesh.
    Faces,
    /// Centroid of the inside of the cell, relative to the middle of the cell. The unit is the side of the
    /// cell along each axis.
    Centroid,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 4] = [Self::Area, Self::Normal, Self::Faces, Self::Centroid];

    /// Returns the name of the quantity.
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

    /// Returns `true` if the quantity is an area, so that its unit is the square of the unit of length.
    pub const fn is_area(self) -> bool {
        matches!(self, Self::Area | Self::Normal)
    }
}

/// Mean winding number of a cell.
#[derive(Clone, Copy)]
pub(super) struct CellMean {
    pub(super) units: i64,
    /// The cell is in an inverted part of the mesh, although its mean is so near to 0 that the difference
    /// could be a rounding error.
    pub(super) is_inverted: bool,
}

/// Sums over the pieces of the mesh in one cell, as whole numbers of [`UNITS`].
#[derive(Clone, Copy, Default)]
pub(super) struct QuantitySum {
    /// ∫ n dA. The unit of each component is the area of the cell's face across that axis.
    area_vector: [i64; 3],
    /// ∫ u n dA.
    moment: [i64; 3],
    /// ∫ u² n dA.
    square: [i64; 3],
    /// ∫ dA. The unit is the area of the cell's largest face.
    area: i64,
}

/// Sums of all cells that contain pieces of the mesh.
pub(super) struct QuantitySums {
    pub(super) bricks: SumBricks<[QuantitySum; CELLS]>,
    /// Areas of the faces across each axis, divided by the area of the largest face.
    faces: [f64; 3],
    /// Area of the largest face.
    largest: f64,
    /// Last walls along x and y, if they belong to the lattice. Pieces on these walls belong to the cell
    /// below, and pieces on other walls to the cell above. `None` if the orientation of a piece decides.
    ends: Option<[i64; 2]>,
}

impl QuantitySums {
    /// Creates the sums for cells with sides of these lengths.
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
        // Sums may wrap. The final sums are right if they fit into 64 bits.
        for axis in 0..3 {
            sum.area_vector[axis] = sum.area_vector[axis].wrapping_add(units(vector[axis]));
            sum.moment[axis] = sum.moment[axis].wrapping_add(units(moment[axis] / 6.0));
            sum.square[axis] = sum.square[axis].wrapping_add(units(square[axis] / 12.0));
        }
        let [x, y, z] = [0, 1, 2].map(|axis| vector[axis] * self.faces[axis]);
        sum.area = sum.area.wrapping_add(units((x * x + y * y + z * z).sqrt()));
    }
}

/// Calls `take` with each triangle of the fan of a polygon and with twice the area vector of that triangle.
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
    /// Writes the values of a quantity of a cell to `numbers`. `mean` is the mean winding number of the cell.
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
    /// Returns the area and the moment along x. Shares are computed from these two sums.
    #[cfg(test)]
    pub(super) fn along_x(&self) -> [i64; 2] {
        [self.area_vector[0], self.moment[0]]
    }

    /// Returns the open share of the low face, in units. As for the shares of cells, the absolute value
    /// counts, and it is at most 1.
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

    /// Returns the centroid relative to the middle of the cell. NaN if no part of the cell is inside.
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

    /// Number of cells along each axis, which is one layer of bricks along z.
    const N: usize = 4;

    /// Returns a random octahedron in the grid. Some of its corners are at quarters of cells.
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
