//! Coordinates of text that are far from the origin. A 32-bit float near 5,000,000 is a multiple of 0.5, so walls of a house
//! on a map would move or vanish. Such coordinates are read relative to a decimal point near them: the difference is exact,
//! and it alone is rounded to a float.
//!
//! The point is the lowest coordinate on each axis along which the mesh is far from the origin: more than [`FAR`] times as
//! far as it is long. Vertices that are not used count as well. So it depends on the vertices, not on their order.

use std::cmp::Ordering;
use std::fmt::Write;

use super::number;
use voxelize_core::geom::Rational;

/// A mesh is far if its greatest coordinate is more than so many times the longest side of its bounds.
const FAR: f32 = 16.0;

/// A decimal number: `mantissa` times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: i128,
    exponent: i32,
}

impl Decimal {
    /// The most digits, so that powers of ten of the exponents fit beside them.
    const MOST: usize = 24;

    /// The number that a word is; none if it has too many digits, too large an exponent, or is no number.
    fn parse(word: &[u8]) -> Option<Self> {
        let (is_negative, unsigned) = match word {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let end = unsigned
            .iter()
            .position(|byte| matches!(byte, b'e' | b'E'))
            .unwrap_or(unsigned.len());
        let (digits, power) = unsigned.split_at(end);
        let mut mantissa = 0_i128;
        let mut exponent = 0;
        let mut count = 0;
        let mut has_point = false;
        for byte in digits {
            match byte {
                b'.' if !has_point => has_point = true,
                b'0'..=b'9' => {
                    count += 1;
                    mantissa = mantissa
                        .checked_mul(10)?
                        .checked_add(i128::from(byte - b'0'))?;
                    exponent -= i32::from(has_point);
                }
                _ => return None,
            }
        }
        if count == 0 || mantissa >= 10_i128.pow(Self::MOST as u32) {
            return None;
        }
        if let [_, power @ ..] = power {
            exponent += std::str::from_utf8(power)
                .ok()?
                .parse::<i32>()
                .ok()
                .filter(|power| power.abs() < 100)?;
        }
        // Zeros at the end make exponents of equal numbers differ.
        while mantissa != 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        let exponent = if mantissa == 0 { 0 } else { exponent };
        Some(Self {
            mantissa: if is_negative { -mantissa } else { mantissa },
            exponent,
        })
    }

    /// The shortest decimal that is nearest to a double.
    fn of(value: f64) -> Option<Self> {
        if value.is_finite() {
            Self::parse(format!("{value:e}").as_bytes())
        } else {
            None
        }
    }

    /// This number less another.
    fn minus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let scaled = |number: Self| {
            let power = u32::try_from(number.exponent - exponent).ok()?;
            number.mantissa.checked_mul(10_i128.checked_pow(power)?)
        };
        Some(Self {
            mantissa: scaled(self)?.checked_sub(scaled(other)?)?,
            exponent,
        })
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        Some(self.minus(other)?.mantissa.cmp(&0))
    }

    /// The nearest float.
    fn to_f32(self) -> f32 {
        let mut text = String::with_capacity(48);
        let written = write!(text, "{}e{}", self.mantissa, self.exponent);
        written
            .ok()
            .and_then(|()| number::of(text.as_bytes()))
            .unwrap_or(f32::NAN)
    }

    /// The number of a rational that is a decimal of a usual length.
    fn of_rational(value: &Rational) -> Option<Self> {
        let mut scaled = value.clone();
        let ten = Rational::from(10);
        for places in 0..20 {
            if let Some(whole) = scaled
                .floor()
                .filter(|whole| Rational::from(*whole) == scaled)
            {
                return Self::parse(format!("{whole}e-{places}").as_bytes());
            }
            scaled = &scaled * &ten;
        }
        None
    }

    fn to_rational(self) -> Option<Rational> {
        Rational::parse(&format!("{}e{}", self.mantissa, self.exponent)).ok()
    }
}

/// The way from decimals in a file to coordinates of the mesh.
#[derive(Debug, Default)]
pub(super) enum Placement {
    /// Rounded as they are.
    #[default]
    Plain,
    /// Rounded as they are, while it is not known that the mesh is near the origin.
    Watching(Watched),
    /// Rounded after a point was subtracted from them. Without a number, an axis is as it is.
    Near([Option<Decimal>; 3]),
}

/// The coordinates up to now.
#[derive(Debug)]
pub(super) struct Watched {
    min: [f32; 3],
    max: [f32; 3],
    /// The lowest coordinates; none of one that has too many digits.
    least: [Option<Decimal>; 3],
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            min: [f32::INFINITY; 3],
            max: [f32::NEG_INFINITY; 3],
            least: [None; 3],
        }
    }
}

impl Watched {
    /// Whether the mesh is far along each axis. Once it is far along none, no more vertices change that.
    fn far(&self) -> [bool; 3] {
        let longest = (0..3)
            .map(|axis| self.max[axis] - self.min[axis])
            .fold(0.0, f32::max);
        [0, 1, 2].map(|axis| self.min[axis].abs().max(self.max[axis].abs()) > FAR * longest)
    }

    fn add(&mut self, axis: usize, value: f32, word: &[u8]) {
        if !value.is_finite() {
            return;
        }
        self.max[axis] = self.max[axis].max(value);
        if value > self.min[axis] {
            return;
        }
        let new = decimal(word);
        let is_less = match (new, self.least[axis]) {
            (Some(new), Some(old)) => new.compare(old) == Some(Ordering::Less),
            _ => true,
        };
        if value < self.min[axis] || is_less {
            self.min[axis] = value;
            self.least[axis] = new;
        }
    }
}

impl Placement {
    /// The placement that finds out whether the mesh is far from the origin.
    pub(super) fn watching() -> Self {
        Self::Watching(Watched::default())
    }

    /// The placement relative to a point; none if a coordinate of it is no decimal.
    pub(super) fn near(point: &[Rational; 3]) -> Option<Self> {
        let mut near = [None; 3];
        for (axis, value) in point.iter().enumerate() {
            if *value != Rational::ZERO {
                near[axis] = Some(Decimal::of_rational(value)?);
            }
        }
        Some(Self::Near(near))
    }

    /// Whether words are rounded as they are.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// The coordinate that a word is along an axis; none if it is no number.
    pub(super) fn coordinate(&mut self, axis: usize, word: &[u8]) -> Option<f32> {
        let value = number::of(word)?;
        match self {
            Self::Plain => Some(value),
            Self::Watching(watched) => {
                watched.add(axis, value, word);
                // A vertex has all its coordinates.
                if axis == 2 && !watched.far().contains(&true) {
                    *self = Self::Plain;
                }
                Some(value)
            }
            Self::Near(near) => Some(match near[axis] {
                Some(near) if value.is_finite() => relative(decimal(word), value, near),
                _ => value,
            }),
        }
    }

    /// The point near the mesh, now that all of it was read as it is; none if it is not far.
    pub(super) fn found(&self) -> Option<[Rational; 3]> {
        let Self::Watching(watched) = self else {
            return None;
        };
        let far = watched.far();
        if !far.contains(&true) {
            return None;
        }
        let mut point = [const { Rational::ZERO }; 3];
        for axis in (0..3).filter(|axis| far[*axis]) {
            point[axis] = watched.least[axis]?.to_rational()?;
        }
        Some(point)
    }
}

/// The decimal that a word is; of a long one, that of the nearest double.
fn decimal(word: &[u8]) -> Option<Decimal> {
    let double = || {
        std::str::from_utf8(word)
            .ok()?
            .parse()
            .ok()
            .and_then(Decimal::of)
    };
    Decimal::parse(word).or_else(double)
}

/// The float nearest to a number less `near`; `value` is the float nearest to the number itself.
fn relative(decimal: Option<Decimal>, value: f32, near: Decimal) -> f32 {
    let difference = decimal.and_then(|decimal| decimal.minus(near));
    difference.map_or_else(|| value - near.to_f32(), Decimal::to_f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_decimals_are_rounded_once() {
        let parsed = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
        for (a, b, expected) in [
            ("450123.7", "450123.4", 0.3_f32),
            ("5411876.2", "5411876.2", 0.0),
            ("-450123.1", "-450123.4", 0.3),
            ("4.501237e5", "450123.40", 0.3),
            ("450133.4000000001", "450123.4", 10.0),
            ("1e3", "0.001", 999.999),
            ("0", "1e-5", -1e-5),
            ("+12.50", "12.5", 0.0),
        ] {
            assert_eq!(
                parsed(a).minus(parsed(b)).unwrap().to_f32(),
                expected,
                "{a} - {b}"
            );
        }
        for text in [
            "",
            "-",
            "1e",
            "1.2.3",
            "x",
            "1e200",
            "nan",
            "12345678901234567890123456",
        ] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn points_round_trip() {
        for text in ["450123.4", "-0.001", "12", "5411876.25"] {
            let decimal = Decimal::parse(text.as_bytes()).unwrap();
            let rational = decimal.to_rational().unwrap();
            assert_eq!(rational, Rational::parse(text).unwrap());
            assert_eq!(Decimal::of_rational(&rational), Some(decimal), "{text}");
        }
        assert_eq!(Decimal::of_rational(&Rational::new(1, 3)), None);
    }

    #[test]
    fn a_mesh_is_far_whatever_the_order_of_its_vertices() {
        let found = |vertices: &[[&str; 3]]| {
            let mut placement = Placement::Watching(Watched::default());
            for vertex in vertices {
                for (axis, word) in vertex.iter().enumerate() {
                    placement.coordinate(axis, word.as_bytes());
                }
            }
            placement
                .found()
                .map(|point| point.map(|value| value.to_f64()))
        };
        let far = [
            ["450123.4", "0.5", "10"],
            ["450133.4", "0.25", "20"],
            ["450123.9", "0", "10.5"],
        ];
        let mut turned = far;
        turned.reverse();
        assert_eq!(found(&far), Some([450123.4, 0.0, 0.0]));
        assert_eq!(found(&turned), found(&far));
        assert_eq!(found(&[["1", "2", "3"], ["2", "2", "3"]]), None);
        assert_eq!(found(&[["450123.4", "1", "1"], ["0", "0", "0"]]), None);
        assert_eq!(found(&[]), None);
        let one = found(&[
            ["450123.4", "1", "1"],
            ["nan", "0", "0"],
            ["450124", "1", "2"],
        ]);
        assert_eq!(one, Some([450123.4, 0.0, 0.0]));
    }
}
