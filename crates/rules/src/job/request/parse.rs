//! Parsers for the values of options. Error messages do not contain the name of the option.

use crate::job::measure::{Measure, WrittenBand, WrittenLength, WrittenShell};
use crate::rule::Band;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{Length, MAX_DIM};
use voxelize_core::text::{count, whole};

/// Parses the number of cells along the longest axis, such as `256`, or the numbers of several levels of detail, such
/// as `64,32,16`.
pub(super) fn res(text: &str) -> Result<Vec<usize>> {
    let mut levels = vec![];
    for part in split(text) {
        let cells = count(part).map_err(Error::usage)?;
        if levels.contains(&cells) {
            let error = format!("the level of detail {cells} is given twice");
            return Err(Error::usage(error)
                .with_hint("`--dims X,Y,Z` sets the number of cells along each axis"));
        }
        levels.push(cells);
    }
    Ok(levels)
}

/// Parses the side lengths of a cell, such as `0.5`, `5mm` or `0.5,0.5,1`. All must be positive.
pub(super) fn cell_size(text: &str) -> Result<[Measure; 3]> {
    let sides = match measures(text)?.as_slice() {
        [one] => [one.clone(), one.clone(), one.clone()],
        [x, y, z] => [x.clone(), y.clone(), z.clone()],
        other => {
            return Err(Error::usage(format!(
                "expected one number or three, SX,SY,SZ, not {}",
                other.len()
            )));
        }
    };
    if sides.iter().all(|side| side.number.is_positive()) {
        Ok(sides)
    } else {
        Err(Error::usage("must be above zero"))
    }
}

/// Parses the number of cells along each axis, such as `32,32,32`.
pub(super) fn dims(text: &str) -> Result<[usize; 3]> {
    let parts = split(text);
    let [x, y, z] = parts.as_slice() else {
        let crossed: Vec<_> = text.split(['x', 'X', '×']).collect();
        if crossed.len() == 3 && crossed.iter().all(|part| count(part.trim()).is_ok()) {
            return Err(Error::usage(format!(
                "separate the numbers with commas: {}",
                crossed.join(",")
            )));
        }
        return Err(Error::usage(format!(
            "expected 3 whole numbers X,Y,Z, found {}",
            parts.len()
        )));
    };
    let count = |text: &str| count(text).map_err(Error::usage);
    Ok([count(x)?, count(y)?, count(z)?])
}

/// Parses a point, such as `-0.5,0,0`.
pub(in crate::job) fn point(text: &str) -> Result<[Measure; 3]> {
    let numbers = measures(text)?;
    let given = numbers.len();
    numbers
        .try_into()
        .map_err(|_| Error::usage(format!("expected 3 numbers X,Y,Z, found {given}")))
}

/// Parses the least and the greatest corner of a box, such as `-1,0,0,1,1,1`.
pub(super) fn corners(text: &str) -> Result<[Measure; 6]> {
    let numbers = measures(text)?;
    let given = numbers.len();
    numbers.try_into().map_err(|_| {
        Error::usage(format!(
            "expected 6 numbers X0,Y0,Z0,X1,Y1,Z1 with commas between them, found {given}"
        ))
    })
}

/// Parses the numbers of cells around the mesh: `1` for all sides, `1,1,2` for the axes, or `2,2,0,10,2,5` for
/// the sides in the order of the corners of a box.
pub(super) fn padding(text: &str) -> Result<[[usize; 3]; 2]> {
    let mut numbers = vec![];
    for part in split(text) {
        let number = whole(part).map_err(|text| {
            let error = Error::usage(text);
            if !part.starts_with(|c: char| c.is_ascii_digit()) {
                return error;
            }
            error.with_hint(
                "`--pad` counts cells; `--bounds X0,Y0,Z0,X1,Y1,Z1` states the grid in lengths",
            )
        })?;
        numbers.push(at_most(number)?);
    }
    match *numbers.as_slice() {
        [all] => Ok([[all; 3]; 2]),
        [x, y, z] => Ok([[x, y, z]; 2]),
        [x0, y0, z0, x1, y1, z1] => Ok([[x0, y0, z0], [x1, y1, z1]]),
        _ => Err(Error::usage(format!(
            "expected 1, 3 or 6 numbers, found {}",
            numbers.len()
        ))
        .with_hint(
            "N pads all sides, `--pad X,Y,Z` each axis, `--pad X0,Y0,Z0,X1,Y1,Z1` each side",
        )),
    }
}

/// Parses a number of steps between cells, such as `2`.
pub(super) fn steps(text: &str) -> Result<u32> {
    Ok(at_most(count(text).map_err(Error::usage)?)? as u32)
}

fn at_most(n: usize) -> Result<usize> {
    if n > MAX_DIM {
        return Err(Error::usage(format!("the maximum is {MAX_DIM}")));
    }
    Ok(n)
}

/// Parses a positive number, such as `0.001` or `1/3`.
pub(in crate::job) fn factor(text: &str) -> Result<Rational> {
    let factor = Rational::parse(text).map_err(Error::usage)?;
    if factor.is_positive() {
        Ok(factor)
    } else {
        Err(Error::usage("must be above zero"))
    }
}

/// Parses the thickness of a shell: `3` steps from cell to cell, or a length such as `2mm`, `2.5vx`
/// or `2units` in units of the file.
pub(super) fn shell(text: &str) -> Result<WrittenShell> {
    if let Some(number) = text.trim().strip_suffix(Length::UNITS) {
        return Ok(WrittenShell::Wall(number.trim_end().parse()?));
    }
    if text.contains(|c: char| c.is_ascii_alphabetic()) {
        return Ok(WrittenShell::Wall(text.parse()?));
    }
    if text.contains('.') && text.parse::<Measure>().is_ok() {
        return Err(
            Error::usage("a number of cells is whole").with_hint(format!(
                "a length has a unit: {text}mm, {text}vx or {text}{}",
                Length::UNITS
            )),
        );
    }
    Ok(WrittenShell::Steps(steps(text)?))
}

/// Parses the width of a band: `3` or `2.5` cells, a length such as `10mm` or `2units`, or the word `all`.
pub(super) fn band(text: &str) -> Result<WrittenBand> {
    let text = text.trim();
    let measure = text.parse::<Measure>();
    if let Ok(measure) = measure
        && measure.unit.is_some()
    {
        if !measure.number.is_positive() {
            return Err(Error::usage("must be above zero"));
        }
        return Ok(WrittenBand::Width(WrittenLength::Measure(measure)));
    }
    match text.parse()? {
        Band::Width(width) => Ok(WrittenBand::Width(WrittenLength::Length(width))),
        Band::All => Ok(WrittenBand::All),
    }
}

/// Parses a drain hole, such as `10,10,0,2.5mm`: a point and a diameter.
pub(super) fn drain(text: &str) -> Result<[Measure; 4]> {
    let numbers = measures(text)?;
    let given = numbers.len();
    let hole: [Measure; 4] = numbers.try_into().map_err(|_| {
        Error::usage(format!(
            "expected 4 numbers X,Y,Z,D, a point and a diameter, found {given}"
        ))
    })?;
    if hole[3].number.is_positive() {
        Ok(hole)
    } else {
        Err(Error::usage("the diameter must be above zero"))
    }
}

fn measures(text: &str) -> Result<Vec<Measure>> {
    split(text).into_iter().map(str::parse).collect()
}

/// Splits a text at commas. Also splits it at blanks if every word between blanks has a digit, as in `0 0 5`
/// but not in `5 mm`.
fn split(text: &str) -> Vec<&str> {
    let is_number = |part: &str| part.contains(|c: char| c.is_ascii_digit());
    let mut all = vec![];
    for part in text.split(',').map(str::trim) {
        if !part.is_empty() && part.split_whitespace().all(is_number) {
            all.extend(part.split_whitespace());
        } else {
            all.push(part);
        }
    }
    all
}
