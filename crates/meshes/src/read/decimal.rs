//! Text coordinates of meshes that are far from the origin.
//!
//! A 32-bit float near 5,000,000 is a multiple of 0.5, so the walls of a house in map coordinates would move
//! or vanish. Therefore the coordinates of such a mesh are read relative to a point near it, whose
//! coordinates are decimal numbers. The difference is exact, and only the difference is rounded to a float.
//!
//! A mesh is far from the origin along an axis if its greatest absolute coordinate there is more than [`FAR`]
//! times its longest extent. On such an axis, the point has the lowest coordinate of all vertices, including
//! unused ones. On other axes it is 0. The point depends on the vertices, but not on their order.

use super::number;
use voxelize_core::geom::Rational;

/// A mesh is far from the origin along an axis if its greatest absolute coordinate there is more than this
/// many times the longest side of its bounds.
const FAR: f32 = 16.0;

/// Conversion of decimals in a file to coordinates of the mesh.
#[derive(Debug, Default)]
pub(super) enum Placement {
    /// Rounds the decimals to floats.
    #[default]
    Plain,
    /// Rounds the decimals to floats, and collects the bounds of the mesh, because it may be far from the
    /// origin.
    Watching(Watched),
    /// Subtracts this point before rounding. Where a coordinate of the point is 0, nothing is subtracted.
    Near {
        point: [Rational; 3],
        /// The point, rounded to doubles.
        doubles: [f64; 3],
    },
}

/// Bounds of the coordinates read so far.
#[derive(Debug)]
pub(super) struct Watched {
    min: [f32; 3],
    max: [f32; 3],
    /// Lowest coordinate on each axis as an exact number. `None` if its exponent is out of range.
    least: [Option<Rational>; 3],
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            min: [f32::INFINITY; 3],
            max: [f32::NEG_INFINITY; 3],
            least: [const { None }; 3],
        }
    }
}

impl Watched {
    /// Returns, for each axis, whether the mesh is far from the origin along it. Once all three results are
    /// false, they stay false whatever vertices follow.
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
        let is_less = match (&new, &self.least[axis]) {
            (Some(new), Some(old)) => new < old,
            _ => true,
        };
        if value < self.min[axis] || is_less {
            self.min[axis] = value;
            self.least[axis] = new;
        }
    }
}

impl Placement {
    /// Creates a placement that detects whether the mesh is far from the origin.
    pub(super) fn watching() -> Self {
        Self::Watching(Watched::default())
    }

    /// Creates a placement relative to a point.
    pub(super) fn near(point: &[Rational; 3]) -> Self {
        Self::Near {
            point: point.clone(),
            doubles: point.each_ref().map(Rational::to_f64),
        }
    }

    /// Returns whether numbers are rounded without a subtraction and without collecting bounds.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Converts a word of a file to a coordinate along an axis. `None` if the word is not a number.
    pub(super) fn coordinate(&mut self, axis: usize, word: &[u8]) -> Option<f32> {
        let value = number::of(word)?;
        match self {
            Self::Plain => Some(value),
            Self::Watching(watched) => {
                watched.add(axis, value, word);
                // The vertex is complete after its third coordinate.
                if axis == 2 && !watched.far().contains(&true) {
                    *self = Self::Plain;
                }
                Some(value)
            }
            Self::Near { point, doubles } if value.is_finite() && doubles[axis] != 0.0 => {
                Some(relative(word, value, &point[axis], doubles[axis]))
            }
            Self::Near { .. } => Some(value),
        }
    }

    /// Returns the point near the mesh, after the whole file was read relative to the origin. `None` if the
    /// mesh is not far from the origin.
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
            point[axis] = watched.least[axis].clone()?;
        }
        Some(point)
    }
}

/// Parses a word as an exact decimal number. A word with too many digits becomes the decimal representation
/// of the nearest double.
fn decimal(word: &[u8]) -> Option<Rational> {
    if let Ok(exact) = Rational::parse_decimal(std::str::from_utf8(word).ok()?) {
        return Some(exact);
    }
    let double = number::double(word)?;
    Rational::parse_decimal(&format!("{double:e}")).ok()
}

/// Returns the float nearest to the difference of the number in `word` and `near`. `value` is the float
/// nearest to the number itself.
fn relative(word: &[u8], value: f32, near: &Rational, near_double: f64) -> f32 {
    // The result in doubles is sufficient if both ends of its error interval round to the same float. The
    // rounding errors of the number, of `near` and of their difference are half an ulp each. Together they
    // are less than epsilon times the sum of both absolute values.
    if let Some(double) = number::double(word) {
        let difference = double - near_double;
        let error = 2.0 * f64::EPSILON * (double.abs() + near_double.abs()) + f64::MIN_POSITIVE;
        let low = (difference - error) as f32;
        let high = (difference + error) as f32;
        if low.to_bits() == high.to_bits() {
            return low;
        }
    }
    match decimal(word) {
        Some(exact) => (&exact - near).to_f32(),
        None => value - near.to_f32(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_decimals_are_rounded_once() {
        for (a, b, expected) in [
            ("450123.7", "450123.4", 0.3_f32),
            ("5411876.2", "5411876.2", 0.0),
            ("-450123.1", "-450123.4", 0.3),
            ("4.501237e5", "450123.40", 0.3),
            ("450133.4000000001", "450123.4", 10.0),
            ("1e3", "0.001", 999.999),
            ("0", "1e-5", -1e-5),
            ("+12.50", "12.5", 0.0),
            // The first number is halfway between two floats and is rounded to even. The second is greater by
            // less than doubles distinguish.
            ("450124.400000059604644775390625", "450123.4", 1.0),
            (
                "450124.4000000596046447753906251",
                "450123.4",
                1.0_f32.next_up(),
            ),
        ] {
            let near = Rational::parse(b).unwrap();
            let mut placement = Placement::near(&[near, Rational::ZERO, Rational::ZERO]);
            let found = placement.coordinate(0, a.as_bytes());
            assert_eq!(found, Some(expected), "{a} - {b}");
        }
        for text in ["", "-", "1e", "1.2.3", "x", "nan"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_mesh_is_far_in_any_order_of_its_vertices() {
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
