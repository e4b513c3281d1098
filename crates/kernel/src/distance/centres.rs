//! The centres of cells, exactly: as doubles for distances, as integers for ties.

use std::cmp::Ordering;

use crate::geom::degenerate::mantissa_and_exponent;
use crate::geom::feature::{FITS, inner_side, nearer};
use crate::geom::wide::{IBig, Wide, difference};
use crate::geom::{Rational, Triangle};

/// Decides which of several equally near triangles is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreak {
    /// The one of the least number.
    Number,
    /// The one that faces the centre most with its inner side, as [`inner_side`] orders them; of several the one of the
    /// least number. Where two bodies touch, it belongs to the body that the centre is in.
    InnerSide,
}

/// The centres of the cells of a lattice, per axis.
#[derive(Debug, Clone)]
pub struct CentreLattice {
    /// Coordinates, each the double nearest to the exact one.
    pub centres: [Vec<f64>; 3],
    exact: ExactCentres<IBig>,
    short: Option<ExactCentres<i128>>,
}

/// Coordinates as integers: of cell `i` along an axis `first + i step`, over `odd 2^shift` for all axes.
#[derive(Debug, Clone)]
struct ExactCentres<T> {
    first: [T; 3],
    step: [T; 3],
    odd: T,
    shift: usize,
}

/// A coordinate of a vertex as `mantissa 2^exponent`, the mantissa odd or zero.
type Digits = (i64, i32);

impl CentreLattice {
    /// The centres of so many cells along each axis: the coordinate of the first, and the step from one to the next.
    pub fn new(axes: [(Rational, Rational, usize); 3]) -> Self {
        let centres = axes.each_ref().map(|(first, step, cells)| {
            (0..*cells)
                .map(|i| (first + &(step * &Rational::from(i as i64))).to_f64())
                .collect()
        });
        let exact = ExactCentres::new(axes.map(|(first, step, _)| [first, step]));
        Self {
            centres,
            short: exact.short(),
            exact,
        }
    }

    /// Which of two triangles is nearer to the centre of a cell, exactly: less if the first is. Of equally near ones
    /// `ties` decides, as far as it does not ask for their numbers.
    pub fn nearer(&self, cell: [usize; 3], triangles: [&Triangle; 2], ties: TieBreak) -> Ordering {
        let digits = triangles.map(|triangle| triangle.map(|vertex| vertex.map(digits)));
        let short = self
            .short
            .as_ref()
            .and_then(|short| short.relative(cell, &digits));
        short
            .and_then(|short| order(&short, ties))
            .unwrap_or_else(|| {
                let exact = self.exact.relative(cell, &digits);
                order(&exact, ties).expect("integers of any size are never too short")
            })
    }
}

/// Which of two triangles, their vertices relative to a point, comes first; `None` if the type is too short for it.
fn order<T: Wide>(triangles: &[[[T; 3]; 3]; 2], ties: TieBreak) -> Option<Ordering> {
    match (nearer(triangles)?, ties) {
        (Ordering::Equal, TieBreak::InnerSide) => inner_side(triangles),
        (decided, _) => Some(decided),
    }
}

/// The digits of a coordinate.
fn digits(value: f32) -> Digits {
    let (mantissa, exponent) = mantissa_and_exponent(value);
    let zeros = if mantissa == 0 {
        0
    } else {
        mantissa.trailing_zeros()
    };
    (mantissa >> zeros, exponent + zeros as i32)
}

/// The power of two below one that all coordinates of triangles are multiples of.
fn finest(digits: &[[[Digits; 3]; 3]; 2]) -> usize {
    let exponents = digits
        .iter()
        .flatten()
        .flatten()
        .filter(|(mantissa, _)| *mantissa != 0);
    exponents
        .map(|(_, exponent)| -exponent)
        .max()
        .unwrap_or(0)
        .max(0) as usize
}

impl ExactCentres<IBig> {
    /// The first coordinate and the step of each axis, over one denominator.
    fn new(axes: [[Rational; 2]; 3]) -> Self {
        let denominator = axes
            .iter()
            .flatten()
            .fold(IBig::from(1), |product, number| {
                let scaled = number * &Rational::from_wide(product.clone());
                product * IBig::from(scaled.denominator().clone())
            });
        let whole = |number: &Rational| {
            (number * &Rational::from_wide(denominator.clone()))
                .numerator()
                .clone()
        };
        let shift = denominator.trailing_zeros().unwrap_or(0);
        Self {
            first: axes.each_ref().map(|[first, _]| whole(first)),
            step: axes.each_ref().map(|[_, step]| whole(step)),
            odd: denominator >> shift,
            shift,
        }
    }

    /// These centres in 128 bits, if they fit.
    fn short(&self) -> Option<ExactCentres<i128>> {
        let short = |value: &IBig| i128::try_from(value).ok();
        let all =
            |values: &[IBig; 3]| Some([short(&values[0])?, short(&values[1])?, short(&values[2])?]);
        Some(ExactCentres {
            first: all(&self.first)?,
            step: all(&self.step)?,
            odd: short(&self.odd)?,
            shift: self.shift,
        })
    }

    /// The vertices of triangles relative to the centre of a cell, in one unit.
    fn relative(&self, cell: [usize; 3], digits: &[[[Digits; 3]; 3]; 2]) -> [[[IBig; 3]; 3]; 2] {
        let shift = self.shift.max(finest(digits));
        let centre: [IBig; 3] = std::array::from_fn(|axis| {
            (&self.first[axis] + &self.step[axis] * IBig::from(cell[axis])) << (shift - self.shift)
        });
        let scaled = |(mantissa, exponent): Digits| {
            (&self.odd * IBig::from(mantissa)) << (shift as i32 + exponent).max(0) as usize
        };
        digits.map(|triangle| triangle.map(|vertex| difference(&vertex.map(scaled), &centre)))
    }
}

impl ExactCentres<i128> {
    /// The vertices of triangles relative to the centre of a cell, in one unit, if all are short.
    fn relative(
        &self,
        cell: [usize; 3],
        digits: &[[[Digits; 3]; 3]; 2],
    ) -> Option<[[[i128; 3]; 3]; 2]> {
        let shift = self.shift.max(finest(digits));
        let mut relative = [[[0; 3]; 3]; 2];
        for axis in 0..3 {
            let along = self.step[axis].checked_mul(cell[axis] as i128)?;
            let centre = shifted(self.first[axis].checked_add(along)?, shift - self.shift)?;
            for (triangle, digits) in relative.iter_mut().zip(digits) {
                for (vertex, digits) in triangle.iter_mut().zip(digits) {
                    let (mantissa, exponent) = digits[axis];
                    let scaled = self.odd.checked_mul(mantissa.into())?;
                    let scaled = shifted(scaled, (shift as i32 + exponent).max(0) as usize)?;
                    vertex[axis] = scaled.checked_sub(centre)?;
                    if vertex[axis].unsigned_abs() >= 1 << FITS[1] {
                        return None;
                    }
                }
            }
        }
        Some(relative)
    }
}

/// `value` times a power of two, if it is below 2^100 by size.
fn shifted(value: i128, by: usize) -> Option<i128> {
    let bits = (128 - value.unsigned_abs().leading_zeros()) as usize;
    (value == 0 || bits + by <= 100).then(|| if value == 0 { 0 } else { value << by })
}
