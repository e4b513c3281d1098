//! Exact centres of cells. They are doubles for the computation of distances, and integers for decisions
//! about ties.

use std::cmp::Ordering;

use crate::geom::degenerate::mantissa_and_exponent;
use crate::geom::feature::{FITS, inner_side, nearer};
use crate::geom::wide::{IBig, Wide, difference};
use crate::geom::{Rational, Triangle};

/// Rule that selects the nearest of several equally near triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreak {
    /// The triangle with the lowest number.
    Number,
    /// The triangle whose inner side faces the centre most directly, in the order of [`inner_side`]. If
    /// triangles are equal in this order, the one with the lowest number. Where two bodies touch, a centre
    /// therefore gets a triangle of the body that contains it.
    InnerSide,
}

/// Coordinates of the centres of a lattice's cells, for each axis.
#[derive(Debug, Clone)]
pub struct CentreLattice {
    /// Coordinates of the centres, each rounded to the nearest double.
    pub centres: [Vec<f64>; 3],
    exact: ExactCentres<IBig>,
    short: Option<ExactCentres<i128>>,
}

/// Coordinates as fractions of integers. The centre of cell `i` along an axis is at `first + i step`, divided
/// by `odd 2^shift`. All axes have the same denominator.
#[derive(Debug, Clone)]
struct ExactCentres<T> {
    first: [T; 3],
    step: [T; 3],
    odd: T,
    shift: usize,
}

/// Coordinate of a vertex as `mantissa 2^exponent`. The mantissa is odd or zero.
type Digits = (i64, i32);

impl CentreLattice {
    /// Creates the centres. Each axis is given by its first coordinate, the step between neighbouring
    /// centres, and the number of cells.
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

    /// Compares the exact distances of two triangles from the centre of a cell. The result is `Less` if the
    /// first triangle is nearer. If both are equally near, `ties` decides, but the numbers of the triangles
    /// are not considered.
    pub fn nearer(&self, cell: [usize; 3], triangles: [&Triangle; 2], ties: TieBreak) -> Ordering {
        let digits = triangles.map(|triangle| triangle.map(|vertex| vertex.map(digits)));
        if let Some(short) = &self.short
            && let Some(relative) = short.relative(cell, &digits)
            && let Some(ordering) = order(&relative, ties)
        {
            return ordering;
        }
        let relative = self.exact.relative(cell, &digits);
        order(&relative, ties).expect("integers of any size are never too short")
    }
}

/// Compares two triangles, whose vertices are relative to a point. `None` if the integer type is too short.
fn order<T: Wide>(triangles: &[[[T; 3]; 3]; 2], ties: TieBreak) -> Option<Ordering> {
    match (nearer(triangles)?, ties) {
        (Ordering::Equal, TieBreak::InnerSide) => inner_side(triangles),
        (decided, _) => Some(decided),
    }
}

/// Returns the mantissa and exponent of a coordinate.
fn digits(value: f32) -> Digits {
    let (mantissa, exponent) = mantissa_and_exponent(value);
    let zeros = if mantissa == 0 {
        0
    } else {
        mantissa.trailing_zeros()
    };
    (mantissa >> zeros, exponent + zeros as i32)
}

/// Returns the least `n` for which all coordinates of the triangles are multiples of 2^-n. It is at least 0.
fn finest(digits: &[[[Digits; 3]; 3]; 2]) -> usize {
    let mut finest = 0;
    for (mantissa, exponent) in digits.as_flattened().as_flattened() {
        if *mantissa != 0 {
            finest = finest.max(-exponent);
        }
    }
    finest as usize
}

impl ExactCentres<IBig> {
    /// Converts the first coordinate and the step of each axis to a common denominator.
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

    /// Returns these centres in 128-bit integers. `None` if they do not fit.
    fn short(&self) -> Option<ExactCentres<i128>> {
        Some(ExactCentres {
            first: short_numbers(&self.first)?,
            step: short_numbers(&self.step)?,
            odd: i128::try_from(&self.odd).ok()?,
            shift: self.shift,
        })
    }

    /// Returns the vertices of two triangles relative to the centre of a cell, as integers in a common unit.
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

fn short_numbers(values: &[IBig; 3]) -> Option<[i128; 3]> {
    let [x, y, z] = values.each_ref().map(|value| i128::try_from(value).ok());
    Some([x?, y?, z?])
}

impl ExactCentres<i128> {
    /// Returns the vertices of two triangles relative to the centre of a cell, as integers in a common unit.
    /// `None` if a number is too long.
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

/// Returns `value` · 2^`by`. `None` if the absolute value of the product has more than 100 bits.
fn shifted(value: i128, by: usize) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let bits = (128 - value.unsigned_abs().leading_zeros()) as usize;
    if bits + by > 100 {
        return None;
    }
    Some(value << by)
}
