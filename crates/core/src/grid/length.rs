//! Length that a user requests: an exact decimal, in the unit of the file or in cells.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::geom::Rational;
use crate::geom::rational::MAX_DIGITS;

use super::lattice::MAX_DIM;

/// Unit of a [`Length`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LengthUnit {
    /// Unit of the coordinates in the file.
    World,
    /// Side of a cell. If the sides have different lengths, the shortest side.
    Cells,
}

/// Nonnegative length: an exact decimal of at most 40 significant digits, with its unit. `Display` writes the
/// text that [`FromStr`] parses, such as `0.5` for a length in the unit of the file, or `2vx` for a length in
/// cells.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::{Length, Rational};
///
/// let spacing = [1, 2, 2].map(|n| Rational::new(n, 8));
/// assert_eq!("0.5".parse::<Length>()?.in_world(&spacing), Rational::new(1, 2));
/// assert_eq!("2vx".parse::<Length>()?.in_world(&spacing), Rational::new(1, 4));
/// assert_eq!("0.50".parse::<Length>()?.to_string(), "0.5");
/// assert!("-1".parse::<Length>().is_err() && "1/3".parse::<Length>().is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Length {
    /// Decimal digits, with the least significant digit first. This digit is not zero unless the length is
    /// zero.
    digits: [u8; MAX_DIGITS],
    /// Exponent of ten of the least significant digit. 0 for a length of zero.
    exponent: i8,
    unit: LengthUnit,
}

impl Length {
    /// Length of zero.
    pub const ZERO: Self = Self {
        digits: [0; MAX_DIGITS],
        exponent: 0,
        unit: LengthUnit::World,
    };

    /// Suffix of a length in cells.
    const CELLS: &str = "vx";

    /// Suffix of a length in units of the file, where a number alone has another meaning.
    pub const UNITS: &str = "units";

    /// Creates a length with this value and unit. `None` if the value is negative, or if it is not a decimal
    /// of at most 40 significant digits.
    pub fn new(value: &Rational, unit: LengthUnit) -> Option<Self> {
        let mut whole = value.clone();
        let mut exponent = 0_i8;
        while !whole.is_whole() {
            exponent = exponent.checked_sub(1)?;
            whole = &whole * &Rational::from(10);
        }
        let written = whole.to_string();
        let written = written.trim_end_matches("/1");
        let significant = written.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self { unit, ..Self::ZERO });
        }
        exponent = exponent.checked_add(i8::try_from(written.len() - significant.len()).ok()?)?;
        let mut digits = [0; MAX_DIGITS];
        if significant.len() > MAX_DIGITS
            || !significant.bytes().all(|digit| digit.is_ascii_digit())
        {
            return None;
        }
        for (to, digit) in digits.iter_mut().zip(significant.bytes().rev()) {
            *to = digit - b'0';
        }
        Some(Self {
            digits,
            exponent,
            unit,
        })
    }

    /// Creates a length of `count` cells.
    pub const fn cells(count: u32) -> Self {
        let mut length = Self {
            unit: LengthUnit::Cells,
            ..Self::ZERO
        };
        let mut rest = count;
        let mut place = 0;
        while rest > 0 {
            let digit = (rest % 10) as u8;
            if place == 0 && digit == 0 {
                length.exponent += 1;
            } else {
                length.digits[place] = digit;
                place += 1;
            }
            rest /= 10;
        }
        length
    }

    /// Returns the significant digits as text, without leading zeros.
    fn significant(&self) -> String {
        let first = self.digits.iter().rposition(|digit| *digit > 0);
        let digits = self.digits[..=first.unwrap_or(0)].iter().rev();
        digits.map(|digit| char::from(b'0' + digit)).collect()
    }

    /// Returns the unit.
    pub fn unit(&self) -> LengthUnit {
        self.unit
    }

    /// Returns the exact number of units.
    pub fn value(&self) -> Rational {
        let ten = Rational::from(10);
        let mut power = Rational::ONE;
        for _ in 0..self.exponent.unsigned_abs() {
            power = &power * &ten;
        }
        let mut whole = Rational::ZERO;
        // The most significant digit comes first.
        for digit in self.digits.iter().rev() {
            whole = &(&whole * &ten) + &Rational::from(i64::from(*digit));
        }
        if self.exponent < 0 {
            whole / power
        } else {
            whole * &power
        }
    }

    /// Converts the length to the unit of the file. `spacing` has the side lengths of a cell. If the length
    /// is in cells, the shortest side is used.
    pub fn in_world(&self, spacing: &[Rational; 3]) -> Rational {
        match self.unit {
            LengthUnit::World => self.value(),
            LengthUnit::Cells => self.value() * spacing.iter().min().unwrap_or(&Rational::ONE),
        }
    }

    /// Returns, for each axis, the number of cells that are at least as long as this length together. It is
    /// limited to [`MAX_DIM`]. `spacing` has the side lengths of a cell.
    pub fn cells_to_cover(&self, spacing: &[Rational; 3]) -> [usize; 3] {
        let length = self.in_world(spacing);
        spacing.each_ref().map(|side| {
            let cells = (&length / side)
                .ceil()
                .and_then(|n| usize::try_from(n).ok());
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
        let value = Rational::parse(decimal).map_err(not_a_decimal)?;
        if value < Rational::ZERO {
            return Err(
                Error::usage(format!("'{text}' is below zero")).with_hint("a length is 0 or more")
            );
        }
        Self::new(&value, unit).ok_or_else(|| {
            not_a_decimal(format!(
                "'{text}' is no decimal of at most {MAX_DIGITS} digits"
            ))
        })
    }
}

fn not_a_decimal(message: String) -> Error {
    Error::usage(message)
        .with_hint("a length is a decimal, 0.5 in units of the file or 2vx in cells")
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.significant();
        let exponent = i32::from(self.exponent);
        let point = digits.len() as i32 + exponent;
        match (exponent.cmp(&0), point) {
            (Ordering::Less, 1..) => write!(
                f,
                "{}.{}",
                &digits[..point as usize],
                &digits[point as usize..]
            )?,
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
            (
                "0.1000000000000000055511151231257827",
                "0.1000000000000000055511151231257827",
            ),
            (
                "1234567890123456789012345678901234567891",
                "1234567890123456789012345678901234567891",
            ),
            ("3/8", "0.375"),
            ("10/4vx", "2.5vx"),
        ] {
            let read = length(text);
            assert_eq!(read.to_string(), written, "{text}");
            assert_eq!(length(written), read, "{text}");
            let decimal = Rational::parse(text.trim_end_matches("vx").trim_end()).unwrap();
            assert_eq!(read.value(), decimal, "{text}");
            assert_eq!(
                read.unit(),
                if text.ends_with("vx") {
                    LengthUnit::Cells
                } else {
                    LengthUnit::World
                }
            );
        }
    }

    #[test]
    fn invalid_lengths_are_refused() {
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
            "0.12345678901234567890123456789012345678901",
            "1/3",
            "-1/4",
            "1,5",
            "2VX",
        ] {
            let error = text.parse::<Length>().unwrap_err();
            assert!(
                error.kind() == crate::Kind::Usage && error.hint().is_some(),
                "{text}"
            );
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
        assert_eq!(Length::cells(0), length("0vx"));
        assert_eq!(Length::cells(u32::MAX), length("4294967295vx"));
    }
}
