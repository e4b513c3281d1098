//! Clipping in exact arithmetic: all numbers are multiplied by the same power of two to become integers. The
//! interval of fractions shrinks plane by plane. The first plane that leaves it empty ends the search.

use num_bigint::BigInt;

use super::cases::Case;

/// `numerator / denominator` with a positive denominator.
#[derive(Debug, Clone)]
pub struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

impl Fraction {
    fn whole(n: i32) -> Self {
        Self {
            numerator: n.into(),
            denominator: 1.into(),
        }
    }

    fn is_above(&self, other: &Self) -> bool {
        &self.numerator * &other.denominator > &other.numerator * &self.denominator
    }
}

/// Returns mantissa and exponent of a double: `m * 2^e`.
fn parts(value: f64) -> (i64, i64) {
    let bits = value.to_bits();
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction + (1 << 52)
    };
    (
        if value < 0.0 { -mantissa } else { mantissa },
        exponent.max(1) - 1075,
    )
}

/// Returns `value * 2^shift`, which is an integer.
fn scaled(value: f64, shift: i64) -> BigInt {
    let (m, e) = parts(value);
    if m == 0 {
        BigInt::ZERO
    } else {
        BigInt::from(m) << (e + shift) as u64
    }
}

/// Returns the fractions of the segment between which it is in the box. `None` if it is never inside.
pub fn exact_span(case: &Case) -> Option<[Fraction; 2]> {
    let corners = [
        case.segment[0],
        case.segment[1],
        case.within.low,
        case.within.high,
    ];
    let exponents = corners
        .iter()
        .flatten()
        .map(|c| parts(*c))
        .filter(|(m, _)| *m != 0)
        .map(|(_, e)| e);
    let shift = -exponents.min().unwrap_or(0);
    let [from, to, low, high] = corners.map(|point| point.map(|c| scaled(c, shift)));
    let [mut enter, mut leave] = [0, 1].map(Fraction::whole);
    for axis in 0..3 {
        let along = &to[axis] - &from[axis];
        // The inside is at or above the low plane and at or below the high plane.
        let above = (&from[axis] - &low[axis], along.clone());
        let below = (&high[axis] - &from[axis], -along);
        for (room, growth) in [above, below] {
            // The room left on the inner side of the plane is `room + t growth`.
            if growth == BigInt::ZERO {
                if room < BigInt::ZERO {
                    return None;
                }
            } else if growth > BigInt::ZERO {
                let t = Fraction {
                    numerator: -room,
                    denominator: growth,
                };
                enter = if t.is_above(&enter) { t } else { enter };
            } else {
                let t = Fraction {
                    numerator: room,
                    denominator: -growth,
                };
                leave = if leave.is_above(&t) { t } else { leave };
            }
            if enter.is_above(&leave) {
                return None;
            }
        }
    }
    Some([enter, leave])
}

/// Reports whether `value` is within a relative error of `3.1 * 2^-53` of the exact value. Values that
/// underflow may deviate by the smallest double.
pub fn is_close(value: f64, exact: &Fraction) -> bool {
    let (m, e) = parts(value);
    // Both sides times 2^1080 and the denominator.
    let found = (BigInt::from(m) << (e + 1080) as u64) * &exact.denominator;
    let wanted = &exact.numerator << 1080_u64;
    let off = if found > wanted {
        &found - &wanted
    } else {
        &wanted - &found
    };
    let smallest = &exact.denominator << 6_u64;
    off <= smallest || (off * 10) << 53_u64 <= wanted * 31
}
