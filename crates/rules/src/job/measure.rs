//! Lengths as text: exact numbers with a unit such as mm, without a unit, or in cells.

use std::str::FromStr;

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::Length;
use voxelize_meshes::UnitOfLength;

/// Number with or without a unit, such as `0.5`, `-3`, `1/3` or `5cm`. A number without a unit is in the unit
/// of the coordinates.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::Rational;
/// use voxelize::job::{Measure, UnitOfLength};
///
/// let measure: Measure = "5cm".parse()?;
/// assert_eq!(measure.in_units_of(Some(UnitOfLength::Millimetre))?, Rational::from(50));
/// assert!(measure.in_units_of(None).is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Number before the unit.
    pub number: Rational,
    /// Unit in the text. `None` if the text has no unit.
    pub unit: Option<UnitOfLength>,
    /// Text that was parsed.
    text: String,
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let units = UnitOfLength::ALL
            .into_iter()
            .filter(|unit| text.ends_with(unit.name()));
        let unit = units.max_by_key(|unit| unit.name().len());
        let decimal = match unit {
            Some(unit) => text[..text.len() - unit.name().len()].trim_end(),
            None => text,
        };
        let number = Rational::parse(decimal).map_err(|why| {
            // If the text is a number followed by letters, the unit is unknown.
            let letters = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
            let digits = text[..text.len() - letters.len()].trim_end();
            if letters.chars().all(|c| c.is_ascii_alphabetic()) && Rational::parse(digits).is_ok() {
                let names = UnitOfLength::ALL.map(UnitOfLength::name).join(", ");
                return Error::usage(format!("'{letters}' is not a unit: {names}"));
            }
            Error::usage(why)
        })?;
        Ok(Self {
            number,
            unit,
            text: text.to_string(),
        })
    }
}

impl Measure {
    /// Returns the length in the unit of the coordinates, which is the argument `coordinates`.
    ///
    /// # Errors
    /// Fails if the length has a unit and the unit of the coordinates is unknown.
    pub fn in_units_of(&self, coordinates: Option<UnitOfLength>) -> Result<Rational> {
        match (self.unit, coordinates) {
            (None, _) => Ok(self.number.clone()),
            (Some(unit), Some(of)) => Ok(&(&self.number * &unit.millimetres()) / &of.millimetres()),
            (Some(_), None) => {
                let error = Error::usage("the unit of the file is unknown");
                Err(error.with_hint(
                    "state the unit of the mesh file with `--unit`: um, mm, cm, m, in or ft",
                ))
            }
        }
    }
}

/// Length as the user wrote it in an option of a rule, such as `0.5`, `5mm` or `2vx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenLength {
    /// Length in the unit of the file, or in cells.
    Length(Length),
    /// Length with an explicit unit.
    Measure(Measure),
}

/// Iso value of a field of distances, in written form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenIso {
    /// The value is below zero.
    pub is_below_zero: bool,
    /// Distance from the mesh.
    pub distance: WrittenLength,
}

/// Thickness of a shell, in written form: `3` steps from cell to cell, or a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenShell {
    /// Number of steps from cell to cell.
    Steps(u32),
    /// Distance of the centres of cells from the mesh.
    Wall(WrittenLength),
}

/// Width of a band around the mesh, in written form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenBand {
    /// Width in cells, in the unit of the file, or with a unit.
    Width(WrittenLength),
    /// All cells of the grid.
    All,
}

impl FromStr for WrittenLength {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let why = match text.parse::<Length>() {
            Ok(length) => return Ok(Self::Length(length)),
            Err(why) => why,
        };
        match text.parse::<Measure>() {
            Ok(measure) if measure.number < Rational::ZERO => {
                Err(Error::usage(format!("'{text}' is below zero")))
            }
            Ok(measure) => Ok(Self::Measure(measure)),
            Err(_) => Err(why),
        }
    }
}

impl FromStr for WrittenIso {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (is_below_zero, distance) = match text.trim_start().strip_prefix('-') {
            Some(distance) => (true, distance),
            None => (false, text),
        };
        Ok(Self {
            is_below_zero,
            distance: distance.parse()?,
        })
    }
}

impl WrittenIso {
    /// Returns the value as text.
    pub fn text(&self) -> String {
        let sign = if self.is_below_zero { "-" } else { "" };
        sign.to_string() + &self.distance.text()
    }
}

impl WrittenLength {
    /// Returns the length as text.
    pub fn text(&self) -> String {
        match self {
            Self::Length(length) => length.to_string(),
            Self::Measure(measure) => measure.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let value = |text: &str, unit: &str| {
            text.parse::<Measure>()
                .unwrap()
                .in_units_of(UnitOfLength::from_name(unit))
                .unwrap()
        };
        assert_eq!(value("5cm", "mm"), Rational::from(50));
        assert_eq!(value("0.5 mm", "m"), Rational::new(1, 2000));
        assert_eq!(value("1in", "mm"), Rational::new(127, 5));
        assert_eq!(value("-1ft", "in"), Rational::from(-12));
        assert_eq!(value("0.1", "mm"), Rational::new(1, 10));
        assert!("5cm".parse::<Measure>().unwrap().in_units_of(None).is_err());
        assert!("5km".parse::<Measure>().is_err() && "m".parse::<Measure>().is_err());
        assert!("-1mm".parse::<WrittenLength>().is_err());
    }
}
