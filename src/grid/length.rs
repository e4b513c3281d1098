//! A length that a person asks for: an exact decimal, in units of the file or in cells.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::geom::Rational;

use super::lattice::MAX_DIM;

/// What a [`Length`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LengthUnit {
    /// Units of the file, as coordinates have them.
    World,
    /// Cells; where their sides differ, the smallest of the three counts.
    Cells,
}

/// A length of zero or more: an exact decimal of at most 15 significant digits and its unit. `Display` writes
/// what [`FromStr`] reads: `0.5` in units of the file, `2vx` in cells.
///
/// ```
/// use voxelize::{Length, Rational};
///
/// let spacing = [1, 2, 2].map(|n| Rational::new(n, 8));
/// assert_eq!("0.5".parse::<Length>()?.in_world(&spacing), Rational::new(1, 2));
/// assert_eq!("2vx".parse::<Length>()?.in_world(&spacing), Rational::new(1, 4));
/// assert_eq!("0.50".parse::<Length>()?.to_string(), "0.5");
/// assert!("-1".parse::<Length>().is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Length {
    /// The decimal is `mantissa * 10^exponent`; the mantissa does not end in 0, save that of zero.
    mantissa: u64,
    exponent: i8,
    unit: LengthUnit,
}

impl Length {
    /// No length.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0, unit: LengthUnit::World };

    /// The suffix of a length in cells.
    const CELLS: &str = "vx";

    /// So many cells.
    pub const fn cells(count: u32) -> Self {
        Self::reduced(count as u64, 0, LengthUnit::Cells)
    }

    const fn reduced(mut mantissa: u64, mut exponent: i8, unit: LengthUnit) -> Self {
        if mantissa == 0 {
            return Self { mantissa, exponent: 0, unit };
        }
        while mantissa.is_multiple_of(10) {
            (mantissa, exponent) = (mantissa / 10, exponent + 1);
        }
        Self { mantissa, exponent, unit }
    }

    /// The unit.
    pub fn unit(&self) -> LengthUnit {
        self.unit
    }

    /// The number before the unit, exactly.
    pub fn value(&self) -> Rational {
        let power = |n: i8| {
            let ten = Rational::from(10);
            (0..n).fold(Rational::ONE, |product, _| &product * &ten)
        };
        let mantissa = Rational::from(self.mantissa as i64);
        if self.exponent < 0 { mantissa / power(-self.exponent) } else { mantissa * &power(self.exponent) }
    }

    /// The length in units of the file, for cells of these sides: a length in cells takes the smallest.
    pub fn in_world(&self, spacing: &[Rational; 3]) -> Rational {
        match self.unit {
            LengthUnit::World => self.value(),
            LengthUnit::Cells => self.value() * spacing.iter().min().unwrap_or(&Rational::ONE),
        }
    }

    /// The cells of these sides along each axis that the length reaches into, rounded up; no more than
    /// [`MAX_DIM`].
    pub fn cells_to_cover(&self, spacing: &[Rational; 3]) -> [usize; 3] {
        let length = self.in_world(spacing);
        spacing.each_ref().map(|side| {
            let cells = (&length / side).ceil().and_then(|n| usize::try_from(n).ok());
            cells.map_or(MAX_DIM, |n| n.min(MAX_DIM))
        })
    }
}

impl FromStr for Length {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let (decimal, unit) = match text.strip_suffix(Self::CELLS) {
            Some(cells) => (cells.trim_end(), LengthUnit::Cells),
            None => (text, LengthUnit::World),
        };
        let value = Rational::parse_decimal(decimal).map_err(|why| {
            Error::usage(why).with_hint("a length is a decimal, 0.5 in units of the file or 2vx in cells")
        })?;
        if value < Rational::ZERO {
            return Err(Error::usage(format!("'{text}' is below zero")).with_hint("a length is 0 or more"));
        }
        // Well formed, and of few enough digits, or it would have been refused.
        let (number, exponent) = decimal.split_once(['e', 'E']).unwrap_or((decimal, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole.trim_start_matches(['+', '-']), fraction].concat();
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let exponent = exponent.parse::<i32>().unwrap_or(0) - fraction.len() as i32 + zeros as i32;
        let mantissa = significant.parse().unwrap_or(0);
        // From -120 to 120, as both parts are within 60.
        Ok(Self::reduced(mantissa, exponent as i8, unit))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, exponent) = (self.mantissa.to_string(), i32::from(self.exponent));
        let point = digits.len() as i32 + exponent;
        match (exponent.cmp(&0), point) {
            (Ordering::Less, 1..) => {
                write!(f, "{}.{}", &digits[..point as usize], &digits[point as usize..])?
            }
            (Ordering::Less, -5..) => write!(f, "0.{:0>1$}", digits, -exponent as usize)?,
            (Ordering::Equal, _) => f.write_str(&digits)?,
            (Ordering::Greater, ..=21) => write!(f, "{digits}{:0>1$}", "", exponent as usize)?,
            _ => write!(f, "{digits}e{exponent}")?,
        }
        f.write_str(match self.unit {
            LengthUnit::World => "",
            LengthUnit::Cells => Self::CELLS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str) -> Length {
        text.parse().unwrap()
    }

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for (text, written) in [
            ("0.5", "0.5"),
            ("2vx", "2vx"),
            ("2 vx", "2vx"),
            ("0", "0"),
            ("-0", "0"),
            ("0.000vx", "0vx"),
            ("+1.50", "1.5"),
            ("100", "100"),
            ("1e3", "1000"),
            (".25e1", "2.5"),
            ("123456789012345", "123456789012345"),
            ("0.000012", "0.000012"),
            ("12e-30", "12e-30"),
            ("12e58", "12e58"),
            ("0.123456789012345vx", "0.123456789012345vx"),
            ("0e60", "0"),
            ("1e-60", "1e-60"),
        ] {
            let read = length(text);
            assert_eq!(read.to_string(), written, "{text}");
            assert_eq!(length(written), read, "{text}");
            let decimal = Rational::parse_decimal(text.trim_end_matches("vx").trim_end()).unwrap();
            assert_eq!(read.value(), decimal, "{text}");
            assert_eq!(read.unit(), if text.ends_with("vx") { LengthUnit::Cells } else { LengthUnit::World });
        }
    }

    #[test]
    fn what_is_no_length_is_refused() {
        for text in [
            "",
            "vx",
            "-1",
            "-0.5vx",
            "nan",
            "inf",
            "1e99",
            "0.5mm",
            "1vx2",
            "0.1234567890123456",
            "1,5",
            "2VX",
        ] {
            let error = text.parse::<Length>().unwrap_err();
            assert!(error.kind() == crate::Kind::Usage && error.hint().is_some(), "{text}");
        }
    }

    #[test]
    fn cells_are_counted_by_their_smallest_side_and_rounded_up() {
        let spacing = [Rational::new(1, 2), Rational::ONE, Rational::from(2)];
        assert_eq!(length("3vx").in_world(&spacing), Rational::new(3, 2));
        assert_eq!(length("3vx").cells_to_cover(&spacing), [3, 2, 1]);
        assert_eq!(length("2.0001").cells_to_cover(&spacing), [5, 3, 2]);
        assert_eq!(Length::ZERO.cells_to_cover(&spacing), [0; 3]);
        assert_eq!(length("1e60").cells_to_cover(&spacing), [MAX_DIM; 3]);
        assert_eq!(Length::cells(20), length("20vx"));
    }
}
