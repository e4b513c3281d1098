//! Exact rational numbers. They represent every finite `f32`, every decimal that a user types, and every wall
//! of a lattice.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dashu_int::ops::{BitTest, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::text::sanitize;

/// Maximum number of significant digits of a decimal. Programs print doubles with 17 digits and numbers of
/// quadruple precision with 36.
pub const MAX_DIGITS: usize = 40;

/// Exact fraction of any size, always in lowest terms. `Display` writes `p/q`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rational(RBig);

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self(RBig::ZERO);
    /// One.
    pub const ONE: Self = Self(RBig::ONE);

    /// Creates the fraction `numerator / denominator`.
    ///
    /// # Panics
    /// Panics if the denominator is zero.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        Self(RBig::from_parts_signed(
            IBig::from(numerator),
            IBig::from(denominator),
        ))
    }

    /// Converts an integer of any size.
    pub fn from_wide(value: IBig) -> Self {
        Self(RBig::from(value))
    }

    /// Returns the exact value of a 32-bit float. `None` if the float is not finite.
    pub fn from_f32(value: f32) -> Option<Self> {
        RBig::try_from(value).ok().map(Self)
    }

    /// Returns the exact value of a double. `None` if the double is not finite.
    pub fn from_f64(value: f64) -> Option<Self> {
        RBig::try_from(value).ok().map(Self)
    }

    /// Parses a decimal or a fraction, such as `0.1`, `2.5e-3` or `1/3`.
    ///
    /// # Errors
    /// Fails with a sentence that states the problem, for the reasons listed at
    /// [`parse_decimal`](Self::parse_decimal), or if the divisor is not positive.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((p, q)) = text.split_once('/') else {
            return Self::parse_decimal(text);
        };
        let [p, q] = [p, q].map(|text| Self::parse_decimal(text.trim()));
        let (p, q) = (p?, q?);
        if q.is_positive() {
            Ok(p / q)
        } else {
            Err(format!(
                "'{}' does not divide by a positive number",
                sanitize(text)
            ))
        }
    }

    /// Parses a decimal exactly, such as `-0.1`, `5`, `.5` or `2.5e-3`.
    ///
    /// # Errors
    /// Fails with a sentence that states the problem: the text is not a number, it has more than
    /// [`MAX_DIGITS`] significant digits, or its exponent is beyond ±60.
    pub fn parse_decimal(text: &str) -> Result<Self, String> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((m, e)) => (m, e.parse::<i32>().map_err(|_| not_a_decimal(text))?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = [whole, fraction].concat();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(not_a_decimal(text));
        }
        if !(-60..=60).contains(&exponent) || fraction.len() > 60 || whole.len() > 60 {
            return Err(format!(
                "'{text}' is out of range: exponents reach from -60 to 60"
            ));
        }
        if digits.trim_matches('0').len() > MAX_DIGITS {
            return Err(format!(
                "'{text}' has more than {MAX_DIGITS} significant digits"
            ));
        }
        let value: IBig = digits.parse().map_err(|_| not_a_decimal(text))?;
        let value = if text.starts_with('-') { -value } else { value };
        let power = exponent - fraction.len() as i32;
        let scale = UBig::from(10u8).pow(power.unsigned_abs() as usize);
        Ok(Self(if power >= 0 {
            RBig::from(value * IBig::from(scale))
        } else {
            RBig::from_parts(value, scale)
        }))
    }

    /// Parses `p/q`, as [`Display`](fmt::Display) writes it, or an integer.
    ///
    /// # Errors
    /// Fails with a sentence that states the problem.
    pub fn parse_fraction(text: &str) -> Result<Self, String> {
        let (p, q) = text.split_once('/').unwrap_or((text, "1"));
        if text.len() > 4096 {
            return Err("the fraction has more than 4096 digits".to_string());
        }
        let p = p.parse::<IBig>().map_err(|_| not_a_fraction(text))?;
        let q = q.parse::<UBig>().map_err(|_| not_a_fraction(text))?;
        if q.is_zero() {
            Err(not_a_fraction(text))
        } else {
            Ok(Self(RBig::from_parts(p, q)))
        }
    }

    /// Returns the nearest double, with ties to even. The result is infinite beyond the range of doubles.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }

    /// Returns the nearest 32-bit float, with ties to even. The result is infinite beyond the range of
    /// floats.
    pub fn to_f32(&self) -> f32 {
        self.0.to_f32().value()
    }

    /// Returns the double nearest to the square root, with ties to even. The result is NaN for negative
    /// numbers.
    pub fn root_to_f64(&self) -> f64 {
        if *self < Self::ZERO {
            return f64::NAN;
        }
        if self.is_zero() {
            return 0.0;
        }
        let mut numerator: UBig = self.0.numerator().clone().unsigned_abs();
        let mut denominator = self.0.denominator().clone();
        // With a factor of 4^shift, the quotient has at least 129 bits and its square root at least 65.
        let size = numerator.bit_len() as i64 - denominator.bit_len() as i64;
        let shift = (131_i64 - size).div_euclid(2);
        if shift >= 0 {
            numerator <<= 2 * shift as usize;
        } else {
            denominator <<= 2 * shift.unsigned_abs() as usize;
        }
        let root = (&numerator / &denominator).sqrt();
        let is_exact = &root * &root * denominator == numerator;
        // A sticky bit is appended, which is set if the root is not exact. With it the conversion rounds
        // correctly.
        let root = (root << 1) | UBig::from(u8::from(!is_exact));
        let one = UBig::from(1_u8) << (shift + 1).unsigned_abs() as usize;
        if shift + 1 >= 0 {
            Self(RBig::from_parts(root.into(), one)).to_f64()
        } else {
            Self(RBig::from(root * one)).to_f64()
        }
    }

    /// Returns `true` if a double represents this value exactly.
    pub fn is_f64(&self) -> bool {
        Self::from_f64(self.to_f64()).as_ref() == Some(self)
    }

    /// Returns the greatest integer that is at most the value. `None` if it does not fit in 64 bits.
    pub fn floor(&self) -> Option<i64> {
        i64::try_from(self.0.floor()).ok()
    }

    /// Returns the smallest integer that is at least the value. `None` if it does not fit in 64 bits.
    pub fn ceil(&self) -> Option<i64> {
        i64::try_from(self.0.ceil()).ok()
    }

    /// Returns the nearest integer. `None` if it does not fit in 64 bits.
    pub fn round(&self) -> Option<i64> {
        i64::try_from(self.0.round()).ok()
    }

    /// Returns `true` if the value is an integer.
    pub fn is_whole(&self) -> bool {
        self.0.is_int()
    }

    /// Returns `true` if the value is zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Returns `true` if the value is greater than zero.
    pub fn is_positive(&self) -> bool {
        *self > Self::ZERO
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn abs(&self) -> Self {
        if *self < Self::ZERO {
            -self
        } else {
            self.clone()
        }
    }

    /// Returns the numerator and the denominator of the fraction in lowest terms. `None` if one does not fit
    /// in 128 bits.
    pub fn parts(&self) -> Option<(i128, i128)> {
        Some((
            self.numerator().try_into().ok()?,
            self.denominator().try_into().ok()?,
        ))
    }

    /// Returns the numerator of the fraction in lowest terms. It has the sign of the value.
    pub fn numerator(&self) -> &IBig {
        self.0.numerator()
    }

    /// Returns the denominator of the fraction in lowest terms. It is positive.
    pub fn denominator(&self) -> &UBig {
        self.0.denominator()
    }
}

fn not_a_decimal(text: &str) -> String {
    format!("'{text}' is not a decimal number")
}

fn not_a_fraction(text: &str) -> String {
    format!("'{}' is not a fraction p/q", sanitize(text))
}

impl From<i64> for Rational {
    fn from(value: i64) -> Self {
        Self(RBig::from(value))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.numerator(), self.0.denominator())
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Implements operators for values and references.
macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait<&Rational> for &Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                Rational((&self.0).$method(&other.0))
            }
        }
        impl $trait<Rational> for &Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                Rational((&self.0).$method(other.0))
            }
        }
        impl $trait<&Rational> for Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                Rational(self.0.$method(&other.0))
            }
        }
        impl $trait<Rational> for Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                Rational(self.0.$method(other.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for &Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        Rational(-&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, p, q) in [
            ("0.1", 1, 10),
            ("-2.50", -5, 2),
            (".5", 1, 2),
            ("5.", 5, 1),
            ("1e-3", 1, 1000),
            ("2.5E2", 250, 1),
            ("+7", 7, 1),
            ("0.30000000000000", 3, 10),
            ("100000000000000000", 100_000_000_000_000_000, 1),
        ] {
            assert_eq!(
                Rational::parse_decimal(text),
                Ok(Rational::new(p, q)),
                "{text}"
            );
            assert_eq!(Rational::parse(text), Ok(Rational::new(p, q)), "{text}");
        }
    }

    #[test]
    fn what_programs_print_of_doubles_is_read_back() {
        for value in [
            0.1_f64,
            1.0 / 3.0,
            2.0 / 3.0 * 1e-30,
            f64::EPSILON,
            1e40 / 7.0,
            -123_456.789,
        ] {
            for text in [
                format!("{value:?}"),
                format!("{value:.16e}"),
                format!("{value:.35e}"),
            ] {
                assert_eq!(Rational::parse(&text).unwrap().to_f64(), value, "{text}");
            }
        }
    }

    #[test]
    fn fractions_are_read_as_they_are_written() {
        for (text, p, q) in [
            ("1/3", 1, 3),
            ("-2/4", -1, 2),
            ("1e3/7", 1000, 7),
            (" 5 / 2 ", 5, 2),
            ("0/9", 0, 1),
            ("1/25.4", 5, 127),
            ("0.5/2", 1, 4),
        ] {
            assert_eq!(Rational::parse(text), Ok(Rational::new(p, q)), "{text}");
        }
        for text in ["1/0", "1/-3", "1/", "/3", "1/2/3", "a/b"] {
            assert!(Rational::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bad_decimals_say_why() {
        for (text, why) in [
            ("", "not a decimal"),
            ("abc", "not a decimal"),
            ("1,5", "not a decimal"),
            ("--1", "not a decimal"),
            ("1e", "not a decimal"),
            ("nan", "not a decimal"),
            ("inf", "not a decimal"),
            (
                "0.12345678901234567890123456789012345678901",
                "40 significant digits",
            ),
            ("1e99", "out of range"),
        ] {
            let error = Rational::parse_decimal(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn nearest_float_of_seven_tenths() {
        let r = Rational::parse_decimal("0.7").unwrap();
        assert_eq!(r.to_f32(), 0.7_f32);
        assert!(Rational::from_f32(0.7).unwrap() < r, "the float lies below");
        assert!(!r.is_f64());
        assert!(Rational::new(3, 8).is_f64());
    }

    #[test]
    fn fractions_round_trip() {
        for r in [
            Rational::new(-27, 256),
            Rational::ZERO,
            Rational::from_f32(f32::MIN_POSITIVE).unwrap(),
        ] {
            assert_eq!(Rational::parse_fraction(&r.to_string()), Ok(r));
        }
        assert!(Rational::parse_fraction("1/0").is_err());
        assert!(Rational::parse_fraction("x").is_err());
    }

    /// Checks that each root is the nearest double: the exact root is between the midpoints to both adjacent
    /// doubles.
    #[test]
    fn roots_are_the_nearest_doubles() {
        let exact = |v: f64| Rational::from_f64(v).unwrap();
        for (squared, root) in [
            (Rational::ZERO, 0.0),
            (Rational::from(9), 3.0),
            (Rational::new(1, 4), 0.5),
            (Rational::new(25, 3), 2.886_751_345_948_128_7),
            (exact(2f64.powi(-298)), 2f64.powi(-149)),
            (exact(1e300), 1e150),
            // A root at the midpoint of two doubles is rounded to the even one.
            (
                exact(1.0 + f64::EPSILON / 2.0) * exact(1.0 + f64::EPSILON / 2.0),
                1.0,
            ),
        ] {
            assert_eq!(squared.root_to_f64(), root, "{squared}");
        }
        let mut random = crate::random::Random::new(11);
        for n in 0..2_000 {
            let [p, q] = [0; 2].map(|_| random.whole(1, i64::MAX / 2));
            let power = exact(2f64.powi(random.whole(-300, 300) as i32));
            let squared = Rational::new(p, if n % 3 == 0 { 1 } else { q }) * power;
            let root = squared.root_to_f64();
            let middle = |other: f64| (exact(root) + exact(other)) / Rational::from(2);
            let [below, above] = [middle(root.next_down()), middle(root.next_up())];
            assert!(
                &below * &below <= squared && squared <= &above * &above,
                "{squared}: {root}"
            );
        }
        assert!(Rational::from(-1).root_to_f64().is_nan());
    }

    #[test]
    fn floor_ceil_round() {
        let r = Rational::new(-5, 2);
        assert_eq!((r.floor(), r.ceil()), (Some(-3), Some(-2)));
        assert_eq!(Rational::new(7, 3).round(), Some(2));
    }
}
