//! Unit of sums. Integrals of pieces are rounded to whole units, so that the order of summation does not
//! matter.

/// Number of units in one.
pub(super) const UNITS: f64 = (1_u64 << 44) as f64;

/// Error bound of a share in units: 2^-26, see docs/internals/error-bounds.md. Rounding may take a share this far out
/// of 0 … 1.
pub(super) const LIMIT: i64 = 1 << 18;

/// Largest negative mean, in units, that counts as rounding: 2^-38. A mean between it and [`LIMIT`] below 0
/// may be the share of an inverted part.
pub(super) const NEAR: i64 = 1 << 6;

/// Adding this constant to a number of units rounds it to a whole number, which is in the last bits of the
/// sum.
pub(super) const WHOLE_UNITS: f64 = 1.5 * (1_u64 << 52) as f64;

/// Converts an integral to units. Its absolute value is at most 2^6, as for all integrals of pieces. On
/// targets without a rounding instruction `f64::round_ties_even` is a call, so a sum with a large constant
/// rounds instead.
pub(super) fn units(integral: f64) -> i64 {
    let sum = integral * UNITS + WHOLE_UNITS;
    sum.to_bits().wrapping_sub(WHOLE_UNITS.to_bits()) as i64
}

/// Returns the nearest whole number, in units.
pub(super) fn whole(sum: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    sum.wrapping_add(ONE / 2).div_euclid(ONE).wrapping_mul(ONE)
}

/// Returns the absolute value of a mean or a share, at most 1, in units. Negative values within rounding
/// become 0.
pub(super) fn without_sign(mean: i64) -> i64 {
    const ONE: i64 = UNITS as i64;
    let inside = if mean < -LIMIT {
        mean.saturating_neg()
    } else {
        mean
    };
    inside.clamp(0, ONE)
}
