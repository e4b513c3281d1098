//! Exact triangle and radius, as integers in a common unit. They are created only when the test in lanes is
//! not sure.

use crate::geom::tri_sphere::{FITS, is_within};
use crate::geom::wide::{IBig, Wide, difference};
use crate::geom::{Rational, Triangle};
use crate::lattice::KernelLattice;

use super::OffsetLattice;

/// Triangle relative to the centre of a base cell. The exact numbers are computed at the first use.
pub struct LazyBall<'a> {
    offset: &'a OffsetLattice,
    triangle: &'a Triangle,
    base: [i64; 3],
    narrow: Option<Option<ExactBall<i128>>>,
    wide: Option<ExactBall<IBig>>,
}

/// Triangle and radius in a unit of length that makes all their numbers integers.
struct ExactBall<T> {
    vertices: [[T; 3]; 3],
    /// Lengths of the sides of a cell.
    sides: [T; 3],
    radius: T,
}

impl<'a> LazyBall<'a> {
    /// Creates the triangle relative to the centre of cell `base`.
    pub fn new(offset: &'a OffsetLattice, triangle: &'a Triangle, base: [i64; 3]) -> Self {
        Self {
            offset,
            triangle,
            base,
            narrow: None,
            wide: None,
        }
    }

    /// Returns `true` if the centre of a cell is within the radius of the triangle. `cell` is relative to the
    /// base.
    pub fn is_within(&mut self, cell: [i64; 3]) -> bool {
        let Self {
            offset,
            triangle,
            base,
            narrow,
            wide,
        } = self;
        let narrow = narrow.get_or_insert_with(|| ExactBall::narrow(offset, triangle, *base));
        if let Some(answer) = narrow.as_ref().and_then(|ball| ball.decide(cell)) {
            return answer;
        }
        let ball = wide.get_or_insert_with(|| ExactBall::wide(offset, triangle, *base));
        is_within(&ball.relative(cell), &ball.radius)
    }
}

impl<T: Wide> ExactBall<T> {
    /// Returns the vertices relative to the centre of a cell, which is relative to the base.
    fn relative(&self, cell: [i64; 3]) -> [[T; 3]; 3] {
        let centre = std::array::from_fn(|a| T::from(cell[a]) * &self.sides[a]);
        self.vertices.each_ref().map(|v| difference(v, &centre))
    }
}

/// Returns `true` if the absolute value of `n` is below `2^bits`.
fn fits(n: i128, bits: u32) -> bool {
    n.unsigned_abs() < 1 << bits
}

fn all_fit(vertices: &[[i128; 3]; 3], bits: u32) -> bool {
    vertices.iter().flatten().all(|c| fits(*c, bits))
}

impl ExactBall<i128> {
    /// Creates the triangle and radius in 128-bit integers. `None` if the numbers are too long.
    fn narrow(offset: &OffsetLattice, triangle: &Triangle, base: [i64; 3]) -> Option<Self> {
        let (sides, radius) = offset.ratios.as_ref()?;
        let mut scaled = vec![];
        for (axis, map) in maps(&offset.lattice).enumerate() {
            scaled.push((map.scaled(triangle.map(|v| v[axis]))?, sides[axis]));
        }
        // Least common multiple of the denominators of all coordinates and of the radius.
        let mut unit = radius[1];
        for (axis, side) in &scaled {
            unit = common_multiple(unit, axis.unit.checked_mul(side[1])?)?;
        }
        let mut this = Self {
            vertices: [[0; 3]; 3],
            sides: [0; 3],
            radius: 0,
        };
        this.radius = radius[0].checked_mul(unit / radius[1])?;
        for (axis, (coordinates, side)) in scaled.iter().enumerate() {
            let factor = (unit / (coordinates.unit * side[1])).checked_mul(side[0])?;
            this.sides[axis] = coordinates.unit.checked_mul(factor)?;
            // The unit is chosen even, so that the coordinates of centres are integers.
            let centre = coordinates
                .unit
                .checked_mul(base[axis].into())?
                .checked_add(coordinates.unit / 2)?;
            for (vertex, value) in this.vertices.iter_mut().zip(coordinates.values) {
                vertex[axis] = value.checked_sub(centre)?.checked_mul(factor)?;
            }
        }
        if !fits(this.radius, FITS[1]) {
            return None;
        }
        Some(this)
    }

    /// Returns the decision. `None` if 128 bits are not sufficient for it.
    fn decide(&self, cell: [i64; 3]) -> Option<bool> {
        for axis in 0..3 {
            let centre = self.sides[axis].checked_mul(cell[axis].into())?;
            if !fits(centre, 100) {
                return None;
            }
        }
        if !all_fit(&self.vertices, 100) {
            return None;
        }
        let relative = self.relative(cell);
        if !all_fit(&relative, FITS[0]) {
            return None;
        }
        Some(is_within(&relative, &self.radius))
    }
}

impl ExactBall<IBig> {
    /// Creates the triangle and radius in integers of any size.
    fn wide(offset: &OffsetLattice, triangle: &Triangle, base: [i64; 3]) -> Self {
        let mut numbers = vec![offset.radius.clone()];
        for (axis, map) in maps(&offset.lattice).enumerate() {
            let centre = map.half_plane(2 * base[axis] + 1);
            numbers.push(map.spacing().clone());
            for vertex in triangle {
                let offset = map.index(vertex[axis]) * map.spacing();
                numbers.push(map.half_plane(0) + &offset - &centre);
            }
        }
        let unit = numbers.iter().fold(IBig::from(1), |product, number| {
            // A common denominator, which need not be the least one.
            let scaled = number * &Rational::from_wide(product.clone());
            product * IBig::from(scaled.denominator().clone())
        });
        let unit = Rational::from_wide(unit);
        let whole: Vec<IBig> = numbers
            .iter()
            .map(|n| (n * &unit).numerator().clone())
            .collect();
        let at = |axis: usize, n: usize| whole[1 + 4 * axis + n].clone();
        Self {
            vertices: std::array::from_fn(|v| std::array::from_fn(|axis| at(axis, 1 + v))),
            sides: std::array::from_fn(|axis| at(axis, 0)),
            radius: whole[0].clone(),
        }
    }
}

fn maps(lattice: &KernelLattice) -> impl Iterator<Item = &crate::geom::axis::AxisMap> {
    lattice.axes.iter().map(|axis| &axis.map)
}

fn common_multiple(a: i128, b: i128) -> Option<i128> {
    let mut x = a;
    let mut y = b;
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}
