//! A triangle and a radius in exact integers of one unit, made only when lanes are not sure.

use crate::geom::tri_sphere::{FITS, is_within};
use crate::geom::wide::{IBig, Wide, difference};
use crate::geom::{Rational, Triangle};
use crate::lattice::KernelLattice;

use super::OffsetLattice;

/// A triangle relative to the centre of a base cell, made on first use.
pub struct LazyBall<'a> {
    offset: &'a OffsetLattice,
    triangle: &'a Triangle,
    base: [i64; 3],
    narrow: Option<Option<ExactBall<i128>>>,
    wide: Option<ExactBall<IBig>>,
}

/// All of it in one unit of length, so short that everything is whole.
struct ExactBall<T> {
    vertices: [[T; 3]; 3],
    /// The sides of a cell.
    sides: [T; 3],
    radius: T,
}

impl<'a> LazyBall<'a> {
    /// The triangle relative to the centre of cell `base`.
    pub fn new(offset: &'a OffsetLattice, triangle: &'a Triangle, base: [i64; 3]) -> Self {
        Self {
            offset,
            triangle,
            base,
            narrow: None,
            wide: None,
        }
    }

    /// Whether the centre of a cell, relative to the base, is within the radius.
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
    /// The vertices relative to the centre of a cell.
    fn relative(&self, cell: [i64; 3]) -> [[T; 3]; 3] {
        let centre = std::array::from_fn(|a| T::from(cell[a]) * &self.sides[a]);
        self.vertices.each_ref().map(|v| difference(v, &centre))
    }
}

/// `n` below `2^bits`, by size.
fn fits(n: i128, bits: u32) -> bool {
    n.unsigned_abs() < 1 << bits
}

impl ExactBall<i128> {
    /// In 128 bits, if the numbers are short.
    fn narrow(offset: &OffsetLattice, triangle: &Triangle, base: [i64; 3]) -> Option<Self> {
        let (sides, radius) = offset.ratios.as_ref()?;
        let mut scaled = vec![];
        for (axis, map) in maps(&offset.lattice).enumerate() {
            scaled.push((map.scaled(triangle.map(|v| v[axis]))?, sides[axis]));
        }
        // The least unit of which every coordinate and the radius is a multiple.
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
            // The unit is even.
            let centre = coordinates
                .unit
                .checked_mul(base[axis].into())?
                .checked_add(coordinates.unit / 2)?;
            for (vertex, value) in this.vertices.iter_mut().zip(coordinates.values) {
                vertex[axis] = value.checked_sub(centre)?.checked_mul(factor)?;
            }
        }
        fits(this.radius, FITS[1]).then_some(this)
    }

    /// The answer, if 128 bits are enough for it.
    fn decide(&self, cell: [i64; 3]) -> Option<bool> {
        let near = |a: usize| {
            self.sides[a]
                .checked_mul(cell[a].into())
                .is_some_and(|c| fits(c, 100))
        };
        let near = (0..3).all(near) && self.vertices.iter().flatten().all(|c| fits(*c, 100));
        let relative = near.then(|| self.relative(cell))?;
        relative
            .iter()
            .flatten()
            .all(|c| fits(*c, FITS[0]))
            .then(|| is_within(&relative, &self.radius))
    }
}

impl ExactBall<IBig> {
    /// In integers of any size.
    fn wide(offset: &OffsetLattice, triangle: &Triangle, base: [i64; 3]) -> Self {
        let mut numbers = vec![offset.radius.clone()];
        for (axis, map) in maps(&offset.lattice).enumerate() {
            let centre = map.half_plane(2 * base[axis] + 1);
            numbers.push(map.spacing().clone());
            let coordinate = |v: f32| map.half_plane(0) + &(map.index(v) * map.spacing()) - &centre;
            numbers.extend(triangle.iter().map(|v| coordinate(v[axis])));
        }
        let unit = numbers.iter().fold(IBig::from(1), |product, number| {
            // A common denominator; it need not be the least.
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
