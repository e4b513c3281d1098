//! Integers for exact decisions: 128 bits where the numbers allow it, any size where not.

use std::ops::{Add, Mul, Sub};

use dashu_int::ops::DivRemEuclid;

pub use dashu_int::IBig;

/// Quotients beyond this are only known to be far away.
const FARTHEST: i64 = i64::MAX / 2;

/// What an exact decision needs of an integer type: `i128` or [`IBig`].
pub trait Wide:
    Clone
    + Ord
    + From<i64>
    + for<'a> Add<&'a Self, Output = Self>
    + for<'a> Sub<&'a Self, Output = Self>
    + for<'a> Mul<&'a Self, Output = Self>
{
    /// `self / divisor` rounded down, and whether it came out even; the quotient saturates to half
    /// the range of `i64`, so that its neighbours are within it. The divisor is not zero.
    fn floor_div(&self, divisor: &Self) -> (i64, bool);

    /// The sign as -1, 0 or 1.
    fn sign(&self) -> i8 {
        match self.cmp(&Self::from(0)) {
            std::cmp::Ordering::Less => -1,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => 1,
        }
    }
}

impl Wide for i128 {
    fn floor_div(&self, divisor: &Self) -> (i64, bool) {
        let (n, d) = if *divisor < 0 { (-self, -divisor) } else { (*self, *divisor) };
        let floor = n.div_euclid(d);
        (floor.clamp((-FARTHEST).into(), FARTHEST.into()) as i64, floor * d == n)
    }
}

impl Wide for IBig {
    fn floor_div(&self, divisor: &Self) -> (i64, bool) {
        let negative = *divisor < Self::ZERO;
        let (n, d) = if negative { (-self, -divisor) } else { (self.clone(), divisor.clone()) };
        let (floor, rest) = n.div_rem_euclid(d);
        let limit = if floor < Self::ZERO { -FARTHEST } else { FARTHEST };
        let floor = i64::try_from(floor).unwrap_or(limit).clamp(-FARTHEST, FARTHEST);
        (floor, rest.is_zero())
    }
}

/// The cross product of two vectors.
pub fn cross<T: Wide>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    let minor = |i: usize, j: usize| a[i].clone() * &b[j] - &(a[j].clone() * &b[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// The dot product of two vectors.
pub fn dot<T: Wide>(a: &[T; 3], b: &[T; 3]) -> T {
    a[0].clone() * &b[0] + &(a[1].clone() * &b[1]) + &(a[2].clone() * &b[2])
}

/// `a - b`, by component.
pub fn difference<T: Wide>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    std::array::from_fn(|i| a[i].clone() - &b[i])
}
