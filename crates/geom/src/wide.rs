//! Integers for exact decisions. They have 128 bits if the numbers are short enough, otherwise any size.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

use dashu_int::ops::DivRemEuclid;

pub use dashu_int::IBig;

/// Greatest magnitude of a quotient. Larger quotients are replaced by this bound.
const FARTHEST: i64 = i64::MAX / 2;

/// Integer type for exact decisions: `i128` or [`IBig`].
pub trait Wide:
    Clone
    + Ord
    + From<i64>
    + for<'a> Add<&'a Self, Output = Self>
    + for<'a> Sub<&'a Self, Output = Self>
    + for<'a> Mul<&'a Self, Output = Self>
{
    /// Returns `self / divisor` rounded down, and `true` if the division is exact. The quotient is limited to
    /// half the range of `i64`, so that adding or subtracting one cannot overflow. The divisor must not be
    /// zero.
    fn floor_div(&self, divisor: &Self) -> (i64, bool);

    /// Compares two products, which may exceed the range of the type. In each product, both factors must be
    /// nonnegative or equal to each other.
    fn compare_products(left: [&Self; 2], right: [&Self; 2]) -> Ordering;

    /// Returns `true` if the absolute value is below `2^bits`. Arbitrary-precision integers always return
    /// `true`, because their products never overflow.
    fn is_below(&self, bits: u32) -> bool;

    /// Returns the sign as -1, 0 or 1.
    fn sign(&self) -> i8 {
        match self.cmp(&Self::from(0)) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }
}

impl Wide for i128 {
    fn floor_div(&self, divisor: &Self) -> (i64, bool) {
        let (n, d) = if *divisor < 0 {
            (-self, -divisor)
        } else {
            (*self, *divisor)
        };
        let floor = n.div_euclid(d);
        (
            floor.clamp((-FARTHEST).into(), FARTHEST.into()) as i64,
            floor * d == n,
        )
    }

    fn compare_products(left: [&Self; 2], right: [&Self; 2]) -> Ordering {
        let left = product(left[0].unsigned_abs(), left[1].unsigned_abs());
        let right = product(right[0].unsigned_abs(), right[1].unsigned_abs());
        left.cmp(&right)
    }

    fn is_below(&self, bits: u32) -> bool {
        self.unsigned_abs() < 1 << bits
    }
}

impl Wide for IBig {
    fn floor_div(&self, divisor: &Self) -> (i64, bool) {
        let negative = *divisor < Self::ZERO;
        let (n, d) = if negative {
            (-self, -divisor)
        } else {
            (self.clone(), divisor.clone())
        };
        let (floor, rest) = n.div_rem_euclid(d);
        let limit = if floor < Self::ZERO {
            -FARTHEST
        } else {
            FARTHEST
        };
        let floor = i64::try_from(floor)
            .unwrap_or(limit)
            .clamp(-FARTHEST, FARTHEST);
        (floor, rest.is_zero())
    }

    fn compare_products(left: [&Self; 2], right: [&Self; 2]) -> Ordering {
        (left[0] * left[1]).cmp(&(right[0] * right[1]))
    }

    fn is_below(&self, _: u32) -> bool {
        true
    }
}

/// Returns the upper and the lower 128 bits of a product.
fn product(a: u128, b: u128) -> [u128; 2] {
    const HALF: u128 = u64::MAX as u128;
    if let Some(low) = a.checked_mul(b) {
        return [0, low];
    }
    let [a1, a0] = [a >> 64, a & HALF];
    let [b1, b0] = [b >> 64, b & HALF];
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let other = a0 * b1 + (middle & HALF);
    [
        a1 * b1 + (middle >> 64) + (other >> 64),
        other << 64 | low & HALF,
    ]
}

/// Returns the cross product of two vectors.
pub fn cross<T: Wide>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    let minor = |i: usize, j: usize| a[i].clone() * &b[j] - &(a[j].clone() * &b[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// Returns the dot product of two vectors.
pub fn dot<T: Wide>(a: &[T; 3], b: &[T; 3]) -> T {
    a[0].clone() * &b[0] + &(a[1].clone() * &b[1]) + &(a[2].clone() * &b[2])
}

/// Returns the vector `a - b`.
pub fn difference<T: Wide>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    std::array::from_fn(|i| a[i].clone() - &b[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_128_bits_are_those_of_any_size() {
        let values = [
            0,
            1,
            3,
            i128::from(u64::MAX),
            1 << 64,
            (1 << 64) + 1,
            (1 << 100) - 7,
            i128::MAX - 1,
            i128::MAX,
        ];
        let mut compared = 0;
        for left in values
            .iter()
            .flat_map(|a| values.iter().map(move |b| [*a, *b]))
        {
            for right in values
                .iter()
                .flat_map(|a| values.iter().map(move |b| [*a, *b]))
            {
                let wide = |pair: [i128; 2]| IBig::from(pair[0]) * IBig::from(pair[1]);
                let exact = wide(left).cmp(&wide(right));
                assert_eq!(
                    i128::compare_products(left.each_ref(), right.each_ref()),
                    exact,
                    "{left:?} {right:?}"
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 9 * 9 * 9 * 9);
        let negative = -(1i128 << 90);
        assert_eq!(
            i128::compare_products([&negative; 2], [&(1 << 90); 2]),
            Ordering::Equal
        );
    }
}
