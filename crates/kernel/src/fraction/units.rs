//! The unit of sums: integrals of pieces are rounded to whole ones, so that no order changes their sum.

/// The unit of sums is one in so many.
pub(super) const UNITS: f64 = (1_u64 << 44) as f64;

/// How far from 0 … 1 rounding may bring a share, in units: 2^-26, the error bound of docs/error-bounds.md.
pub(super) const LIMIT: i64 = 1 << 18;

/// A mean that is below 0 by no more than this many units is rounding: 2^-38. Between it and [`LIMIT`] it may be the
/// share of an inverted part.
pub(super) const NEAR: i64 = 1 << 6;

/// A number of units plus this one is rounded to a whole one, which the last bits of the sum are.
pub(super) const WHOLE_UNITS: f64 = 1.5 * (1_u64 << 52) as f64;

/// An integral in units; at most 2^6 in size, as integrals of pieces are. Without an instruction for it
/// `f64::round_ties_even` is a call: a sum with a number of this size is rounded to whole ones.
pub(super) fn units(integral: f64) -> i64 {
    let sum = integral * UNITS + WHOLE_UNITS;
    sum.to_bits().wrapping_sub(WHOLE_UNITS.to_bits()) as i64
}

/// The nearest whole number, in units.
pub(super) fn whole(sum: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    sum.wrapping_add(ONE / 2).div_euclid(ONE).wrapping_mul(ONE)
}

/// A mean or a share without its sign, unless that is of rounding, and 1 at most; in units.
pub(super) fn without_sign(mean: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    let inside = if mean < -LIMIT {
        mean.saturating_neg()
    } else {
        mean
    };
    inside.clamp(0, ONE)
}
