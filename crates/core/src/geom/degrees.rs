//! Sines and cosines of exact angles in degrees, correctly rounded.
//!
//! The angle, π and the terms of the power series are integers in units of 2^-P. Every step rounds down and
//! adds an error of a few units. The sum has at most P terms, and its error is less than 8 P units. The two
//! ends of the resulting interval are rounded to doubles. If both give the same double, it is the one nearest
//! to the exact value. Otherwise P is doubled. The loop terminates: by Niven's theorem the only rational
//! sines of rational angles in degrees are 0, ±1/2 and ±1, so no sine is exactly halfway between two doubles.
//!
//! System libraries are not used because they round differently. Power series in doubles are not used because
//! their last bit may be wrong.

use super::Rational;
use super::wide::IBig;

/// Number of fractional bits in the first attempt.
const FIRST_BITS: usize = 192;

/// Returns the cosine and the sine of an angle from −45 to 45 degrees, each rounded to the nearest double.
/// Therefore cos 45 equals sin 45, and sin 30 is exactly 1/2.
///
/// # Panics
/// Panics if the magnitude of the angle is greater than 45 degrees.
pub fn cos_sin(degrees: &Rational) -> [f64; 2] {
    assert!(degrees.abs() <= Rational::from(45), "{degrees} degrees");
    let mut bits = FIRST_BITS;
    loop {
        let found = fixed_cos_sin(degrees, bits).map(|value| certain(&value, bits));
        if let [Some(cos), Some(sin)] = found {
            return [cos, sin];
        }
        bits *= 2;
    }
}

/// Rounds a fixed-point number to the nearest double. `None` if the error of the number leaves more than one
/// possible double.
fn certain(value: &IBig, bits: usize) -> Option<f64> {
    let error = IBig::from(8 * bits);
    let unit = Rational::from_wide(IBig::from(1) << bits);
    let [low, high] =
        [value - &error, value + &error].map(|end| (Rational::from_wide(end) / &unit).to_f64());
    // The value is zero only for the sine of a zero angle, which is exactly zero.
    if *value == IBig::from(0) {
        Some(0.0)
    } else {
        (low == high).then_some(low)
    }
}

/// Returns the cosine and the sine as integers in units of 2^-bits.
fn fixed_cos_sin(degrees: &Rational, bits: usize) -> [IBig; 2] {
    let turned = degrees.numerator() * pi(bits);
    let angle = turned / (IBig::from(degrees.denominator().clone()) * IBig::from(180));
    let square: IBig = (&angle * &angle) >> bits;
    [
        series(IBig::from(1) << bits, 1, &square, bits),
        series(angle, 2, &square, bits),
    ]
}

/// Sums the power series of cosine or sine. `first` is the first term. The second term is divided by `start *
/// (start + 1)`.
fn series(first: IBig, start: u32, square: &IBig, bits: usize) -> IBig {
    let mut sum = first.clone();
    let mut term = first;
    let mut n = start;
    while term != IBig::from(0) && term != IBig::from(-1) {
        term = -((&term * square) >> bits) / IBig::from(n * (n + 1));
        sum += &term;
        n += 2;
    }
    sum
}

/// Returns π in units of 2^-bits, by Machin's formula π/4 = 4 arctan 1/5 − arctan 1/239.
fn pi(bits: usize) -> IBig {
    const GUARD: usize = 32;
    let fifth = arctangent(5, bits + GUARD);
    let other = arctangent(239, bits + GUARD);
    (IBig::from(16) * fifth - IBig::from(4) * other) >> GUARD
}

/// Returns arctan 1/`inverse` in units of 2^-bits.
fn arctangent(inverse: u32, bits: usize) -> IBig {
    let square = IBig::from(inverse * inverse);
    let mut power = (IBig::from(1) << bits) / IBig::from(inverse);
    let mut sum = IBig::from(0);
    let mut n = 1_u32;
    while power != IBig::from(0) {
        let term = &power / IBig::from(n);
        if n % 4 == 1 {
            sum += term
        } else {
            sum -= term
        }
        power /= &square;
        n += 2;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pi_is_the_nearest_double() {
        for bits in [64, 192, 1000] {
            let value = Rational::from_wide(pi(bits)) / Rational::from_wide(IBig::from(1) << bits);
            assert_eq!(value.to_f64(), std::f64::consts::PI, "{bits}");
        }
    }

    /// The expected values are the doubles nearest to reference values with 20 digits.
    #[test]
    fn sines_and_cosines_are_the_nearest_doubles() {
        for (degrees, cos, sin) in [
            ("0", 1.0, 0.0),
            ("30", 0.866_025_403_784_438_6, 0.5),
            ("-30", 0.866_025_403_784_438_6, -0.5),
            (
                "45",
                std::f64::consts::FRAC_1_SQRT_2,
                std::f64::consts::FRAC_1_SQRT_2,
            ),
            (
                "-45",
                std::f64::consts::FRAC_1_SQRT_2,
                -std::f64::consts::FRAC_1_SQRT_2,
            ),
            ("15", 0.965_925_826_289_068_3, 0.258_819_045_102_520_74),
            ("22.5", 0.923_879_532_511_286_7, 0.382_683_432_365_089_8),
            ("18", 0.951_056_516_295_153_5, 0.309_016_994_374_947_45),
            ("1", 0.999_847_695_156_391_3, 0.017_452_406_437_283_51),
            ("36", 0.809_016_994_374_947_5, 0.587_785_252_292_473_1),
            ("1e-40", 1.0, 1.745_329_251_994_329_6e-42),
        ] {
            assert_eq!(
                cos_sin(&Rational::parse(degrees).unwrap()),
                [cos, sin],
                "{degrees}"
            );
        }
    }

    #[test]
    fn sines_and_cosines_of_other_precisions_agree() {
        let mut tried = 0;
        for n in -450..=450 {
            let degrees = Rational::new(n, 10);
            let found = cos_sin(&degrees);
            let finer = fixed_cos_sin(&degrees, 512).map(|value| certain(&value, 512).unwrap());
            assert_eq!(found, finer, "{degrees}");
            let angle = degrees.to_f64().to_radians();
            assert!(
                (found[0] - angle.cos()).abs() < 3e-16 && (found[1] - angle.sin()).abs() < 3e-16,
                "{degrees}"
            );
            assert_eq!(cos_sin(&-&degrees), [found[0], 0.0 - found[1]], "{degrees}");
            tried += 1;
        }
        assert_eq!(tried, 901);
    }
}
