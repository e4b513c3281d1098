//! Rotations and matrices that are applied to the coordinates of a mesh before its lattice is fitted.

use std::fmt;
use std::str::FromStr;

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::geom::degrees::cos_sin;
use voxelize_core::grid::AXES;

/// Number of decimals from which on an angle in radians may stand for a quarter turn.
const FEWEST_DECIMALS: usize = 4;

/// Rotation about an axis of the grid, such as `z,90` or `z,0.5rad`. It is counterclockwise if seen from the
/// positive end of the axis.
///
/// Rotations by multiples of 90 degrees are exact. For other angles, sine and cosine are the doubles nearest
/// to the exact values. Coordinates are computed in doubles and rounded only once, to 32-bit floats.
///
/// No decimal in radians is a quarter turn. So an angle with at least four decimals that differs from a
/// multiple of π/2 by less than one unit of its last decimal, or by less than 1e-15, stands for this multiple:
/// `1.5708rad`, `3.14159265rad`.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::job::Rotation;
///
/// let rotation: Rotation = "z,-22.5".parse()?;
/// assert_eq!((rotation.to_string(), rotation.is_exact()), ("z,-45/2".to_string(), false));
/// let rotation: Rotation = "z,1.5708rad".parse()?;
/// assert_eq!((rotation.to_string(), rotation.is_exact()), ("z,90".to_string(), true));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    axis: usize,
    degrees: Rational,
    /// Angle as written, if it was written in radians and is not a multiple of 90 degrees.
    radians: Option<Rational>,
}

impl FromStr for Rotation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = || Error::usage("expected an axis and degrees such as z,90");
        let (name, angle) = text.split_once(',').ok_or_else(expected)?;
        let axis = AXES
            .iter()
            .position(|axis| name.trim().parse() == Ok(*axis))
            .ok_or_else(expected)?;
        let angle = angle.trim();
        if let Some(radians) = angle.strip_suffix("rad") {
            return Self::in_radians(axis, radians.trim_end());
        }
        Self::in_degrees(axis, angle.strip_suffix("deg").unwrap_or(angle).trim_end())
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axis = AXES[self.axis];
        match &self.radians {
            Some(radians) => write!(f, "{axis},{}rad", short(radians)),
            None => write!(f, "{axis},{}", short(&self.degrees)),
        }
    }
}

impl Rotation {
    fn in_degrees(axis: usize, text: &str) -> Result<Self> {
        let degrees = Rational::parse(text).map_err(Error::usage)?;
        quarters_nearest(&degrees).ok_or_else(|| Error::usage("too many degrees"))?;
        Ok(Self {
            axis,
            degrees,
            radians: None,
        })
    }

    fn in_radians(axis: usize, text: &str) -> Result<Self> {
        let radians = Rational::parse(text).map_err(Error::usage)?;
        let degrees = &(&radians * &Rational::from(180)) / &pi();
        let quarters =
            quarters_nearest(&degrees).ok_or_else(|| Error::usage("too many radians"))?;
        let multiple = &(&Rational::from(quarters) * &pi()) / &Rational::from(2);
        let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
        let mut unit = Rational::parse("1e-15").map_err(Error::usage)?;
        let is_long =
            decimals.len() >= FEWEST_DECIMALS && decimals.bytes().all(|b| b.is_ascii_digit());
        if is_long && decimals.len() < 15 {
            unit = Rational::parse(&format!("1e-{}", decimals.len())).map_err(Error::usage)?;
        }
        if (&radians - &multiple).abs() < unit {
            return Ok(Self {
                axis,
                degrees: &Rational::from(quarters) * &Rational::from(90),
                radians: None,
            });
        }
        Ok(Self {
            axis,
            degrees,
            radians: Some(radians),
        })
    }

    /// Returns true if the angle is a multiple of 90 degrees, so that the rotation does not round
    /// coordinates.
    pub fn is_exact(&self) -> bool {
        self.split().1.is_zero()
    }

    /// Splits the angle into 0 to 3 quarter turns and a remainder of −45 to 45 degrees.
    fn split(&self) -> (usize, Rational) {
        let quarters = quarters_nearest(&self.degrees).unwrap_or(0);
        let rest = &self.degrees - &(&Rational::from(quarters) * &Rational::from(90));
        (quarters.rem_euclid(4) as usize, rest)
    }

    /// Combines this rotation with the rotation that follows it. `None` if their axes differ.
    fn and(&self, next: &Self) -> Option<Self> {
        if self.axis != next.axis {
            return None;
        }
        let degrees = [self, next].map(|rotation| {
            let (quarters, rest) = rotation.split();
            &Rational::from(90 * quarters as i64) + &rest
        });
        Some(Self {
            axis: self.axis,
            degrees: &degrees[0] + &degrees[1],
            radians: None,
        })
    }

    /// Returns a function that rotates points.
    fn turner(&self) -> impl Fn([f64; 3]) -> [f64; 3] + use<> {
        let [s, t] = [(self.axis + 1) % 3, (self.axis + 2) % 3];
        let (quarters, rest) = self.split();
        let [cos, sin] = cos_sin(&rest);
        move |mut p| {
            for _ in 0..quarters {
                (p[s], p[t]) = (-p[t], p[s]);
            }
            if sin != 0.0 {
                // Equal products cancel exactly. For example, 225 degrees rotate a diagonal exactly onto an
                // axis.
                (p[s], p[t]) = (cos * p[s] - sin * p[t], sin * p[s] + cos * p[t]);
            }
            p
        }
    }
}

/// Parses roll, pitch and yaw as URDF defines them: rotations about the fixed axes x, then y, then z, in
/// radians. `deg` after a number states degrees.
///
/// # Errors
/// Fails if there are not three angles, or if an angle without a suffix is more than a full turn.
pub(super) fn roll_pitch_yaw(text: &str) -> Result<Vec<Rotation>> {
    let words: Vec<_> = text
        .split([',', ' '])
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() != AXES.len() {
        let given = words.len();
        return Err(Error::usage(format!(
            "expected 3 angles R,P,Y, found {given}"
        )));
    }
    let mut rotations = vec![];
    for (axis, word) in words.into_iter().enumerate() {
        let rotation = if let Some(degrees) = word.strip_suffix("deg") {
            Rotation::in_degrees(axis, degrees)?
        } else if let Some(radians) = word.strip_suffix("rad") {
            Rotation::in_radians(axis, radians)?
        } else {
            let rotation = Rotation::in_radians(axis, word)?;
            if rotation.degrees.abs() > Rational::from(360) {
                let error = Error::usage(format!("{word} radians are more than a turn"));
                return Err(error.with_hint(format!(
                    "{word}deg is in degrees; {word}rad is in radians all the same"
                )));
            }
            rotation
        };
        rotations.push(rotation);
    }
    Ok(rotations)
}

/// Returns π with a relative error below 1e-39.
fn pi() -> Rational {
    let digits = "3.141592653589793238462643383279502884197";
    Rational::parse(digits).unwrap_or(Rational::ZERO)
}

/// Sequence of rotations. Consecutive rotations about the same axis are combined by adding their angles
/// exactly.
pub(super) struct Turns(Vec<Rotation>);

impl Turns {
    pub(super) fn new(rotations: &[Rotation]) -> Self {
        let mut turns: Vec<Rotation> = vec![];
        for rotation in rotations {
            let merged = turns.last().and_then(|last| last.and(rotation));
            if merged.is_some() {
                turns.pop();
            }
            let next = merged.unwrap_or_else(|| rotation.clone());
            // A full turn is dropped, so that the rotations before and after it can be combined.
            if next.split() != (0, Rational::ZERO) {
                turns.push(next);
            }
        }
        Self(turns)
    }

    /// Returns true if none of the rotations rounds coordinates.
    pub(super) fn are_exact(&self) -> bool {
        self.0.iter().all(Rotation::is_exact)
    }

    /// Returns a function that rotates points.
    pub(super) fn turner(&self) -> impl Fn([f64; 3]) -> [f64; 3] + use<> {
        let turners: Vec<_> = self.0.iter().map(Rotation::turner).collect();
        move |point| turners.iter().fold(point, |point, turn| turn(point))
    }

    /// Rotates an exact point. The result is exact if all rotations are exact, otherwise it is rounded to
    /// doubles.
    pub(super) fn turned(&self, point: &[Rational; 3]) -> [Rational; 3] {
        if !self.are_exact() {
            let turned = self.turner()(point.each_ref().map(Rational::to_f64));
            return turned.map(|c| Rational::from_f64(c).unwrap_or(Rational::ZERO));
        }
        let mut p = point.clone();
        for rotation in &self.0 {
            let [s, t] = [(rotation.axis + 1) % 3, (rotation.axis + 2) % 3];
            for _ in 0..rotation.split().0 {
                (p[s], p[t]) = (-&p[t], p[s].clone());
            }
        }
        p
    }
}

/// Affine map of coordinates, as a matrix of three rows, such as `1,0,0,5,0,1,0,0,0,0,1,0`. Each row has
/// three factors and one component of the translation.
///
/// The factors are rounded to doubles. Each coordinate is rounded only once, to a 32-bit float. The
/// translation is exact. If the matrix mirrors the mesh, the orientation of all triangles is reversed, so
/// that they still face outwards.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::job::Matrix;
///
/// let matrix: Matrix = "0 -1 0 0; 1 0 0 0; 0 0 1 2.5; 0 0 0 1".parse()?;
/// assert_eq!(matrix.to_string(), "0,-1,0,0,1,0,0,0,0,0,1,5/2");
/// assert!(!matrix.is_mirror() && "1,0,0,0,1,0,0,0,0,0,0,1".parse::<Matrix>().is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    factors: [[Rational; 3]; 3],
    summands: [Rational; 3],
}

impl FromStr for Matrix {
    type Err = Error;

    /// Reads 12 numbers row by row, or 16 numbers of which the last four are 0, 0, 0 and 1. The numbers are
    /// separated by commas, semicolons or blanks.
    fn from_str(text: &str) -> Result<Self> {
        let separators = [',', ';', ' ', '\t', '\n', '\r'];
        let words: Vec<_> = text
            .split(separators)
            .filter(|word| !word.is_empty())
            .collect();
        if words.len() != 12 && words.len() != 16 {
            let text = format!(
                "expected 12 or 16 numbers, row by row, found {}",
                words.len()
            );
            return Err(Error::usage(text));
        }
        let mut numbers = vec![];
        for word in words {
            numbers.push(Rational::parse(word).map_err(Error::usage)?);
        }
        let last = &numbers[12..];
        if !last.is_empty() && last != [0, 0, 0, 1].map(Rational::from) {
            return Err(Error::usage(
                "the last row must be 0 0 0 1, because a perspective matrix is not supported",
            ));
        }
        let row = |n: usize| std::array::from_fn(|m| numbers[4 * n + m].clone());
        let matrix = Self {
            factors: [row(0), row(1), row(2)],
            summands: std::array::from_fn(|n| numbers[4 * n + 3].clone()),
        };
        if matrix.determinant().is_zero() {
            return Err(Error::usage(
                "the matrix is singular: it would flatten the mesh",
            ));
        }
        let is_finite = |number: &Rational| (number.to_f64() as f32).is_finite();
        if !numbers.iter().all(is_finite) {
            return Err(Error::usage(
                "a number is beyond the range of 32-bit floats",
            ));
        }
        Ok(matrix)
    }
}

impl fmt::Display for Matrix {
    /// Writes the 12 numbers of the matrix, row by row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.factors.iter().zip(&self.summands);
        let numbers: Vec<_> = rows
            .flat_map(|(row, summand)| row.iter().chain([summand]).map(short))
            .collect();
        f.write_str(&numbers.join(","))
    }
}

impl Matrix {
    /// Returns true if the matrix mirrors the mesh.
    pub fn is_mirror(&self) -> bool {
        self.determinant() < Rational::ZERO
    }

    /// Returns true if the matrix does not round any coordinate. This is the case if each result is plus or
    /// minus a coordinate of the file times a power of two, as for quarter turns and mirrors along an axis.
    pub fn is_exact(&self) -> bool {
        self.factors.iter().all(|row| {
            let mut factors = row.iter().filter(|factor| !factor.is_zero());
            let (Some(factor), None) = (factors.next(), factors.next()) else {
                return false;
            };
            matches!(factor.abs().parts(), Some((1, q)) if q.count_ones() == 1)
                || matches!(factor.abs().parts(), Some((p, 1)) if p.count_ones() == 1)
        })
    }

    /// Returns true if the matrix is a pure translation.
    pub(super) fn only_moves(&self) -> bool {
        let identity = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        self.factors == identity.map(|row| row.map(Rational::from))
    }

    /// Applies the matrix, including its translation, to an exact point.
    pub(super) fn applied(&self, point: &[Rational; 3]) -> [Rational; 3] {
        std::array::from_fn(|axis| {
            let [a, b, c] = &self.factors[axis];
            let products = &(&(a * &point[0]) + &(b * &point[1])) + &(c * &point[2]);
            &products + &self.summands[axis]
        })
    }

    fn determinant(&self) -> Rational {
        let [a, b, c] = &self.factors;
        let minor = |i: usize, j: usize| &(&b[i] * &c[j]) - &(&b[j] * &c[i]);
        let [x, y, z] = [
            &a[0] * &minor(1, 2),
            &a[1] * &minor(2, 0),
            &a[2] * &minor(0, 1),
        ];
        &(&x + &y) + &z
    }

    /// Returns a function that applies the 3 × 3 part of the matrix to points, without its translation.
    /// Products are exact and sums are compensated, so terms that cancel exactly give zero or almost zero.
    pub(super) fn multiplier(&self) -> impl Fn([f64; 3]) -> [f64; 3] + use<> {
        multiplier(&self.factors)
    }
}

/// Returns a function that multiplies points with a matrix of these rows. The factors are rounded to doubles.
/// If coordinates are 32-bit floats, products are exact and sums are compensated, so terms that cancel exactly
/// give zero or almost zero.
pub(super) fn multiplier(rows: &[[Rational; 3]; 3]) -> impl Fn([f64; 3]) -> [f64; 3] + use<> {
    let factors = rows
        .each_ref()
        .map(|row| row.each_ref().map(|factor| halves(factor.to_f64())));
    move |p| {
        factors.each_ref().map(|row| {
            let mut sum = 0.0;
            let mut rest = 0.0;
            for (halves, c) in row.iter().zip(p) {
                for half in halves {
                    let term = half * c;
                    let next = sum + term;
                    // Adds the rounding error of the sum to `rest` (Knuth's two-sum).
                    let back = next - sum;
                    rest += (sum - (next - back)) + (term - back);
                    sum = next;
                }
            }
            sum + rest
        })
    }
}

/// Splits a double into the sum of two doubles with 26 significant bits each. The product of each with a
/// 32-bit float is exact (Veltkamp's splitting).
fn halves(value: f64) -> [f64; 2] {
    let scaled = 134_217_729.0 * value;
    let high = scaled - (scaled - value);
    [high, value - high]
}

/// Formats a number as a fraction, or as an integer if its denominator is one.
pub(super) fn short(number: &Rational) -> String {
    let text = number.to_string();
    text.strip_suffix("/1").map(str::to_string).unwrap_or(text)
}

/// Returns the number of quarter turns that is nearest to an angle. `None` if the number does not fit in 64
/// bits.
fn quarters_nearest(degrees: &Rational) -> Option<i64> {
    (degrees / &Rational::from(90) + Rational::new(1, 2)).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(rotations: &[&str], point: [f64; 3]) -> [f64; 3] {
        let rotations: Vec<Rotation> = rotations.iter().map(|text| text.parse().unwrap()).collect();
        Turns::new(&rotations).turner()(point).map(|c| c + 0.0)
    }

    #[test]
    fn symmetric_angles_give_symmetric_results() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let (cos, sin) = (0.866_025_403_784_438_6, 0.5);
        for (rotations, point, expected) in [
            (&["z,90"][..], [1.0, 2.0, 3.0], [-2.0, 1.0, 3.0]),
            (&["z,-90"], [1.0, 2.0, 3.0], [2.0, -1.0, 3.0]),
            (&["x,180"], [1.0, 2.0, 3.0], [1.0, -2.0, -3.0]),
            (&["y,450"], [1.0, 2.0, 3.0], [3.0, 2.0, -1.0]),
            (&["y,-720"], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
            (&["z,45"], [1.0, 1.0, 0.0], [0.0, 2.0 * half, 0.0]),
            (&["z,45"], [1.0, 0.0, 0.0], [half, half, 0.0]),
            (&["z,135"], [1.0, 0.0, 0.0], [-half, half, 0.0]),
            (&["z,225"], [0.1, 0.1, 0.0], [0.0, -2.0 * (half * 0.1), 0.0]),
            (&["x,225"], [0.0, 0.3, 0.3], [0.0, 0.0, -2.0 * (half * 0.3)]),
            (&["z,30"], [1.0, 0.0, 0.0], [cos, sin, 0.0]),
            (&["z,60"], [1.0, 0.0, 0.0], [sin, cos, 0.0]),
            (&["z,-30"], [1.0, 0.0, 0.0], [cos, -sin, 0.0]),
            (&["z,120"], [1.0, 0.0, 0.0], [-sin, cos, 0.0]),
            (&["z,210"], [1.0, 0.0, 0.0], [-cos, -sin, 0.0]),
            (&["z,10", "z,20", "z,60"], [1.0, 2.0, 3.0], [-2.0, 1.0, 3.0]),
            (
                &["z,17.3", "x,90", "x,270", "z,-17.3"],
                [1.0, 2.0, 3.0],
                [1.0, 2.0, 3.0],
            ),
            (&["z,90", "x,90"], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            (&["x,90", "z,90"], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            (
                &["z,1000000000000000000", "z,90"],
                [1.0, 0.0, 0.0],
                turned(&["z,10"], [1.0, 0.0, 0.0]),
            ),
        ] {
            assert_eq!(turned(rotations, point), expected, "{rotations:?}");
        }
        for wrong in ["z", "w,90", "z,", "z,1e40", "90,z", "z,rad", "z,1e40rad"] {
            assert!(wrong.parse::<Rotation>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn radians_near_a_quarter_turn_stand_for_it() {
        let mut tried = 0;
        for (text, expected) in [
            ("1.5708", "x,90"),
            ("1.57079", "x,90"),
            ("1.57079632", "x,90"),
            ("1.5707963267948966", "x,90"),
            ("-1.5708", "x,-90"),
            ("3.1415", "x,180"),
            ("3.141592653589793", "x,180"),
            ("4.71238898038469", "x,270"),
            ("6.2832", "x,360"),
            ("0.0000", "x,0"),
            ("0", "x,0"),
            ("-5.55111512312578e-17", "x,0"),
            ("1.57", "x,157/100rad"),
            ("3.14", "x,157/50rad"),
            ("1.5706", "x,7853/5000rad"),
            ("0.5", "x,1/2rad"),
        ] {
            let rotation: Rotation = format!("x,{text}rad").parse().unwrap();
            assert_eq!(rotation.to_string(), expected, "{text}");
            assert_eq!(rotation.to_string().parse::<Rotation>().unwrap(), rotation);
            tried += 1;
        }
        assert!(tried > 10);
        let [x, y, _] = turned(&["z,0.5rad"], [1.0, 0.0, 0.0]);
        assert!((x - 0.5_f64.cos()).abs() < 2e-16 && (y - 0.5_f64.sin()).abs() < 2e-16);
    }

    /// The matrix of URDF is Rz(yaw) · Ry(pitch) · Rx(roll).
    #[test]
    fn roll_pitch_and_yaw_turn_about_fixed_axes() {
        let angles = [0.3_f64, -1.1, 2.4];
        let [[cr, sr], [cp, sp], [cy, sy]] = angles.map(|angle| [angle.cos(), angle.sin()]);
        let rows = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ];
        let turn = Turns::new(&roll_pitch_yaw("0.3, -1.1, 2.4").unwrap()).turner();
        for (column, point) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            .into_iter()
            .enumerate()
        {
            for (row, c) in rows.iter().zip(turn(point)) {
                assert!((row[column] - c).abs() < 1e-15, "{column}");
            }
        }
        let quarter = |text: &str| {
            let rotations = roll_pitch_yaw(text).unwrap();
            rotations
                .iter()
                .map(Rotation::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(quarter("1.5708,0,90deg"), "x,90 y,0 z,90");
    }

    #[test]
    fn matrices_are_read_row_by_row() {
        let text = "0,-1,0,5,1,0,0,-1/3,0,0,1,0.25";
        let matrix: Matrix = text.parse().unwrap();
        assert_eq!(matrix.to_string(), "0,-1,0,5,1,0,0,-1/3,0,0,1,1/4");
        assert_eq!(matrix.to_string().parse::<Matrix>().unwrap(), matrix);
        assert_eq!(matrix.multiplier()([1.0, 2.0, 3.0]), [-2.0, 1.0, 3.0]);
        for (text, is_mirror, is_exact, only_moves) in [
            (text, false, true, false),
            ("1 0 0 7 0 1 0 0 0 0 1 0 0 0 0 1", false, true, true),
            ("-1,0,0,0;0,1,0,0;0,0,1,0", true, true, false),
            ("0 1 0 0 1 0 0 0 0 0 1 0", true, true, false),
            ("2,0,0,0, 0,0.5,0,0, 0,0,1,0", false, true, false),
            ("3,0,0,0, 0,1,0,0, 0,0,1,0", false, false, false),
            ("1,0.1,0,0, 0,1,0,0, 0,0,1,0", false, false, false),
        ] {
            let matrix: Matrix = text.parse().unwrap();
            let found = (matrix.is_mirror(), matrix.is_exact(), matrix.only_moves());
            assert_eq!(found, (is_mirror, is_exact, only_moves), "{text}");
        }
        for (wrong, words) in [
            ("1,0,0,0,1,0,0,0,1", "found 9"),
            ("1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,2", "last row"),
            ("1,0,0,0,0,1,0,0,0,0,1,0,0,0,1,1", "last row"),
            ("1,0,0,0,0,1,0,0,1,1,0,0", "singular"),
            ("0.1,0.2,0.3,0,1,2,3,0,0,0,1,0", "singular"),
            ("1,0,0,0,0,1,0,0,0,0,1,x", "not a decimal"),
            ("1e39,0,0,0,0,1,0,0,0,0,1,0", "beyond the range"),
            ("", "found 0"),
        ] {
            let error = wrong.parse::<Matrix>().unwrap_err();
            assert!(error.message().contains(words), "{wrong}: {error}");
        }
        // Sums that are zero with exact factors are almost zero with rounded factors.
        let matrix: Matrix = "0.1 0.2 -0.3 0 1 0 0 0 0 1 0 0".parse().unwrap();
        let [x, ..] = matrix.multiplier()([3.0, 3.0, 3.0]);
        assert!(x.abs() < 1e-16, "{x}");
    }
}
