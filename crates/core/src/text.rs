//! Functions that format numbers in messages. Each kind of number is formatted only here.

pub use voxelize_geom::text::{is_obeyed, sanitize, visible};

/// Formats an integer with commas between groups of three digits, as in `64,000`.
pub fn grouped(n: u64) -> String {
    group(&n.to_string())
}

/// Formats a length or a coordinate with at most six significant digits, as in `0.5`, `-1.375` or `2.7e-16`.
/// `123456.7` becomes `123457`.
pub fn number(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        let text = format!("{value:.*e}", DIGITS as usize - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = (DIGITS - 1 - magnitude).max(0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_string()
}

/// Conversion of positions and lengths of the turned mesh to coordinates of the grid, in doubles, for
/// messages and reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridCoordinates {
    /// Factor by which the mesh's coordinates are multiplied.
    pub scale: f64,
    /// Offset that is added after the multiplication.
    pub by: [f64; 3],
    /// Point of the file to which the mesh's coordinates are relative. `None` if it is the origin.
    pub near: Option<[f64; 3]>,
    /// Unit of the grid's coordinates. `None` if it is unknown.
    pub unit: Option<&'static str>,
    /// Directions of the axes of the grid in the world, and the point of the world at the zero of the grid.
    /// `None` if the axes are x, y and z.
    pub tilted: Option<([[f64; 3]; 3], [f64; 3])>,
}

impl Default for GridCoordinates {
    fn default() -> Self {
        Self {
            scale: 1.0,
            by: [0.0; 3],
            near: None,
            unit: None,
            tilted: None,
        }
    }
}

impl GridCoordinates {
    /// Converts a coordinate along an axis to the coordinates of the grid.
    pub fn at(&self, axis: usize, coordinate: f64) -> f64 {
        self.scale * coordinate + self.by[axis]
    }

    /// Converts a point to the coordinates of the grid. If the axes of the grid are tilted, converts it to the
    /// world.
    pub fn point(&self, point: [f64; 3]) -> [f64; 3] {
        let placed = [0, 1, 2].map(|axis| self.at(axis, point[axis]));
        let Some((directions, zero)) = &self.tilted else {
            return placed;
        };
        let mut point = *zero;
        for (direction, distance) in directions.iter().zip(placed) {
            for (sum, part) in point.iter_mut().zip(direction) {
                *sum += part * distance;
            }
        }
        point
    }

    /// Converts a length to the unit of the grid.
    pub fn length(&self, length: f64) -> f64 {
        self.scale * length
    }

    /// Converts and formats a length of the mesh, as in `3.4 mm`.
    pub fn length_text(&self, length: f64) -> String {
        number(self.length(length)) + &self.suffix()
    }

    /// Converts and formats a point of the mesh, as in `(0, 1, 2) mm`.
    pub fn point_text(&self, point: [f64; 3]) -> String {
        format!(
            "({}){}",
            self.point(point).map(number).join(", "),
            self.suffix()
        )
    }

    /// Returns the unit as a suffix for numbers: a space and the unit, or an empty string if the unit is
    /// unknown.
    pub fn suffix(&self) -> String {
        match self.unit {
            Some(unit) => format!(" {unit}"),
            None => String::new(),
        }
    }
}

/// Formats a number, such as a volume, with commas between groups of three digits, as in `8,000`.
pub fn grouped_number(value: f64) -> String {
    let text = number(value);
    if text.contains('e') {
        return text;
    }
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", group(whole)),
        None => group(&text),
    }
}

/// Returns the name of a file without its extension, which is used as the name of a part. For example, it is
/// `liver` for `liver.stl` and for `liver.stl.gz`. An ending without letters, as in `v1.2`, is not an
/// extension.
///
/// ```
/// # use voxelize_core as voxelize;
/// # use voxelize::text::file_label;
/// let names = ["liver.stl", "liver.STL.gz", "v1.2.3mf", "v1.2", ".stl", "left lung"];
/// assert_eq!(names.map(file_label), ["liver", "liver", "v1.2", "v1.2", ".stl", "left lung"]);
/// ```
pub fn file_label(name: &str) -> &str {
    let unpacked = without_ending(name, |end| end.eq_ignore_ascii_case("gz"));
    without_ending(unpacked, is_extension)
}

/// Removes the last dot and the text after it, if `is_accepted` accepts this text and the rest is not empty.
fn without_ending(name: &str, is_accepted: impl Fn(&str) -> bool) -> &str {
    match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() && is_accepted(end) => stem,
        _ => name,
    }
}

fn is_extension(end: &str) -> bool {
    const LONGEST: usize = 8;
    end.len() <= LONGEST
        && end.chars().all(|c| c.is_ascii_alphanumeric())
        && end.chars().any(|c| c.is_ascii_alphabetic())
}

/// Formats a count with its noun, as in `12 triangles` or `1 triangle`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Parses a nonnegative integer, such as `0` or `16`.
///
/// # Errors
/// Fails with a text that describes the problem.
pub fn whole(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) => Ok(n),
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {
            Err("is out of range".to_string())
        }
        Err(_) if text.parse::<i64>().is_ok() => Err("must not be below zero".to_string()),
        Err(_) => Err(format!("'{text}' is not a whole number")),
    }
}

/// Parses a positive integer, such as `16`.
///
/// # Errors
/// Fails with a text that describes the problem.
pub fn count(text: &str) -> Result<usize, String> {
    match text.parse::<i64>() {
        Ok(n) if n < 1 => Err("must be at least 1".to_string()),
        _ => whole(text),
    }
}

/// Formats sorted numbers, with runs of three or more consecutive numbers shortened, as in `1–3, 7`.
pub fn numbers_in_runs(numbers: &[usize]) -> String {
    let mut runs = vec![];
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        runs.push(match run {
            [only] => only.to_string(),
            [first, second] => format!("{first}, {second}"),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        });
    }
    runs.join(", ")
}

fn trimmed(decimal: &str) -> &str {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.')
    } else {
        decimal
    }
}

fn group(whole: &str) -> String {
    let digits = whole.trim_start_matches('-');
    let mut text = whole[..whole.len() - digits.len()].to_string();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes, as in `64 GiB`, `1.5 MiB` or `200 B`.
pub fn bytes(n: impl Into<u128>) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let n = n.into();
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    format!("{short} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (0.078125, "0.078125"),
            (1.0 / 3.0, "0.333333"),
            (0.699999988079071, "0.7"),
            (1234567.25, "1234567"),
            (-2.7e-16, "-2.7e-16"),
            (1e30, "1e30"),
            (0.000123456789, "0.000123457"),
            (20.0, "20"),
            (100.0, "100"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (64_000, "64,000"),
            (1_000_000, "1,000,000"),
        ] {
            assert_eq!(grouped(n), text);
        }
        assert_eq!(
            (grouped_number(8000.0), grouped_number(-1234.5)),
            ("8,000".into(), "-1,234.5".into())
        );
        assert_eq!(counted(1, "triangle", "triangles"), "1 triangle");
    }

    #[test]
    fn numbers_are_listed_in_runs() {
        assert_eq!(numbers_in_runs(&[1, 2, 3, 7, 9, 10]), "1–3, 7, 9, 10");
        assert_eq!(
            (numbers_in_runs(&[]), numbers_in_runs(&[5])),
            (String::new(), "5".to_string())
        );
    }

    #[test]
    fn bytes_read_well() {
        for (n, text) in [
            (0_u64, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (64 << 30, "64 GiB"),
            (1 << 20, "1 MiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }
}
