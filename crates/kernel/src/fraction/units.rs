//! Unit of the sums. Integrals over pieces are rounded to whole units, so that the order of summation does
//! not matter.

/// Number of units that make up the value 1.
pub(super) const UNITS: f64 = (1_u64 << 44) as f64;

/// Error bound of a share in units. It is 2^-26, see docs/internals/error-bounds.md. Because of rounding, a
/// share may be outside of 0 … 1 by up to this bound.
pub(super) const LIMIT: i64 = 1 << 18;

/// A mean that is negative by at most this number of units counts as a rounding error. It is 2^-38. A mean
/// that is negative by more, but by at most [`LIMIT`], may be the share of an inverted part.
pub(super) const NEAR: i64 = 1 << 6;

/// Constant that rounds numbers of units: after adding it, the last bits of the sum are the nearest whole
/// number.
pub(super) const WHOLE_UNITS: f64 = 1.5 * (1_u64 << 52) as f64;

/// Converts an integral to units. Its absolute value must be at most 2^6, which is true for all integrals
/// over pieces. The value is rounded by adding a large constant, because `f64::round_ties_even` is a function
/// call on targets without a rounding instruction.
pub(super) fn units(integral: f64) -> i64 {
    let sum = integral * UNITS + WHOLE_UNITS;
    sum.to_bits().wrapping_sub(WHOLE_UNITS.to_bits()) as i64
}

/// Returns the whole number nearest to a sum. Both are in units.
pub(super) fn whole(sum: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    sum.wrapping_add(ONE / 2).div_euclid(ONE).wrapping_mul(ONE)
}

/// Returns the absolute value of a mean or share in units, but at most 1. A value that is negative only by a
/// rounding error becomes 0.
pub(super) fn without_sign(mean: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    let inside = if mean < -LIMIT {
        mean.saturating_neg()
    } else {
        mean
    };
    inside.clamp(0, ONE)
}
