//! Frame of a scan: the order and the directions of the axes of its array. A grid that is made for a scan is
//! written in the scan's frame, so that both arrays have the same cells at the same indices.
//!
//! If the axes of the scan are parallel to x, y and z, the lattice of the grid has the axes x, y and z, and only
//! the array in the file has the order and the directions of the scan. If the axes are *tilted*, the lattice
//! has the axes of the scan: point p of the world is at D⁻¹ · (p − c), where the columns of D are the
//! directions of the axes, and c is the centre of the first cell. Origin, spacing and cells are then along
//! these axes.

use std::fmt;
use std::str::FromStr;

use super::lattice::{AXES, Lattice};
use super::record::Record;
use crate::geom::Rational;

/// Axis of a lattice, and `true` if the axis of the array runs backwards along it.
pub type ArrayAxis = (usize, bool);

/// Axes of an array that are x, y and z in this order.
pub const PLAIN_AXES: [ArrayAxis; 3] = [(0, false), (1, false), (2, false)];

/// Order and directions of the axes of a scan. `Display` writes the form in which files store it: `-x,-y,z`,
/// for tilted axes the three directions and the centre as twelve numbers, or the axes and nine numbers if they
/// are parallel to x, y and z except for rounding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanFrame {
    /// For each axis of the array, the axis of the lattice.
    axes: [ArrayAxis; 3],
    /// For each axis of the array, the step to the next cell divided by the size of a cell.
    directions: [[Rational; 3]; 3],
    /// Point of the world at the zero of the coordinates of a tilted lattice. `None` if the frame is not
    /// tilted.
    zero: Option<[Rational; 3]>,
}

/// Position of the cells of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayPlace {
    /// Centre of the first cell.
    pub centre: [Rational; 3],
    /// For each axis of the array, the step to the next cell.
    pub steps: [[Rational; 3]; 3],
}

impl ScanFrame {
    /// Creates the frame of a scan whose axes are parallel to x, y and z, except for rounding. `None` if the
    /// array has exactly the axes x, y and z.
    ///
    /// # Panics
    /// Panics if an axis occurs twice.
    pub fn parallel(axes: [ArrayAxis; 3], directions: [[Rational; 3]; 3]) -> Option<Self> {
        let has_all = (0..3).all(|axis| axes.iter().any(|(of, _)| *of == axis));
        assert!(has_all, "an axis occurs twice");
        if axes == PLAIN_AXES && directions == axes.map(unit_vector) {
            return None;
        }
        Some(Self {
            axes,
            directions,
            zero: None,
        })
    }

    /// Creates the frame of a scan with tilted axes. `zero` is the point of the world at the zero of the
    /// lattice's coordinates. `None` if the directions are not independent.
    pub fn tilted(directions: [[Rational; 3]; 3], zero: [Rational; 3]) -> Option<Self> {
        if determinant(&directions).is_zero() {
            return None;
        }
        Some(Self {
            axes: PLAIN_AXES,
            directions,
            zero: Some(zero),
        })
    }

    /// Returns the frame that a record states. `None` if it states none.
    pub fn of(record: &Record) -> Option<Self> {
        record.transform(SCAN_FRAME)?.parse().ok()
    }

    /// Returns the frame that a record states, if its axes are tilted.
    pub fn tilted_of(record: &Record) -> Option<Self> {
        Self::of(record).filter(Self::is_tilted)
    }

    /// Returns true if the axes of the lattice are the axes of the scan instead of x, y and z.
    pub fn is_tilted(&self) -> bool {
        self.zero.is_some()
    }

    /// Returns the point of the world at the zero of the coordinates of a tilted lattice. `None` if the frame is
    /// not tilted.
    pub fn zero(&self) -> Option<&[Rational; 3]> {
        self.zero.as_ref()
    }

    /// Returns the axis of the lattice for each axis of the array. If the frame is tilted, the lattice has the
    /// axes of the array.
    pub fn axes(&self) -> [ArrayAxis; 3] {
        self.axes
    }

    /// Returns the step to the next cell along each axis of the array, divided by the size of a cell.
    pub fn directions(&self) -> &[[Rational; 3]; 3] {
        &self.directions
    }

    /// Returns true if the frame is tilted and left-handed: the lattice is a mirror image of the world.
    pub fn is_mirror(&self) -> bool {
        self.is_tilted() && determinant(&self.directions) < Rational::ZERO
    }

    /// Returns the greatest angle in degrees between an axis of the array and the nearest of x, y and z.
    pub fn tilt(&self) -> f64 {
        let mut tilt = 0.0_f64;
        for direction in &self.directions {
            let [x, y, z] = direction.each_ref().map(|part| part.to_f64().abs());
            let mut parts = [x, y, z];
            parts.sort_by(f64::total_cmp);
            tilt = tilt.max(parts[0].hypot(parts[1]).atan2(parts[2]).to_degrees());
        }
        tilt
    }

    /// Returns the rows of the exact inverse of the matrix whose columns are the directions. It maps vectors of
    /// the world to the axes of a tilted lattice.
    pub fn inverse(&self) -> [[Rational; 3]; 3] {
        let [a, b, c] = &self.directions;
        let all = determinant(&self.directions);
        [cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|part| part / all.clone()))
    }

    /// Maps a point from the coordinates of the lattice to the world. Without tilt they are the same.
    pub fn to_world(&self, point: &[Rational; 3]) -> [Rational; 3] {
        let Some(zero) = &self.zero else {
            return point.clone();
        };
        std::array::from_fn(|row| {
            let mut sum = zero[row].clone();
            for (part, direction) in point.iter().zip(&self.directions) {
                sum = &sum + &(part * &direction[row]);
            }
            sum
        })
    }

    /// Maps a point from the world to the coordinates of the lattice. Without tilt they are the same.
    pub fn from_world(&self, point: &[Rational; 3]) -> [Rational; 3] {
        let Some(zero) = &self.zero else {
            return point.clone();
        };
        let vector = std::array::from_fn(|axis| &point[axis] - &zero[axis]);
        self.inverse().map(|row| dot(&row, &vector))
    }

    /// Returns the position of the array whose cells have this lattice.
    pub fn place(&self, lattice: &Lattice) -> ArrayPlace {
        let half = Rational::new(1, 2);
        let spacing = lattice.spacing();
        let mut centre: [Rational; 3] =
            std::array::from_fn(|axis| &lattice.origin()[axis] + &(&spacing[axis] * &half));
        for (axis, is_back) in self.axes {
            if is_back {
                let steps = Rational::from(lattice.dims()[axis] as i64 - 1);
                centre[axis] = &centre[axis] + &(&spacing[axis] * &steps);
            }
        }
        centre = self.to_world(&centre);
        let steps = std::array::from_fn(|n| {
            let size = &spacing[self.axes[n].0];
            self.directions[n].each_ref().map(|part| part * size)
        });
        ArrayPlace { centre, steps }
    }

    /// Returns the position of an array whose cells have this lattice and no frame: its axes are x, y and z.
    pub fn place_without(lattice: &Lattice) -> ArrayPlace {
        let plain = Self {
            axes: PLAIN_AXES,
            directions: PLAIN_AXES.map(unit_vector),
            zero: None,
        };
        plain.place(lattice)
    }

    /// Returns the axes of the array in terms of x, y and z: `-x,-y,z`. `None` if they are tilted.
    pub fn axes_text(&self) -> Option<String> {
        if self.is_tilted() {
            return None;
        }
        let names = self.axes.map(|(axis, is_back)| {
            let sign = if is_back { "-" } else { "" };
            format!("{sign}{}", AXES[axis])
        });
        Some(names.join(","))
    }

    /// Returns true if both frames are equal, except that numbers are rounded to 32-bit floats.
    pub fn is_near(&self, other: &Self) -> bool {
        let are_near = |a: &[Rational; 3], b: &[Rational; 3], size: &Rational| {
            let most = size * &Rational::new(1, 1 << 21);
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most)
        };
        let directions = self.directions.iter().zip(&other.directions);
        if self.axes != other.axes
            || !directions
                .clone()
                .all(|(a, b)| are_near(a, b, &Rational::ONE))
        {
            return false;
        }
        match (&self.zero, &other.zero) {
            (Some(a), Some(b)) => {
                let sizes = a.iter().map(Rational::abs);
                are_near(a, b, &sizes.max().unwrap_or(Rational::ZERO))
            }
            (a, b) => a == b,
        }
    }
}

/// Name of the entry of a record that states the frame.
pub const SCAN_FRAME: &str = "scan_frame";

impl fmt::Display for ScanFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.axes_text();
        if let Some(axes) = &axes {
            f.write_str(axes)?;
            if self.directions == self.axes.map(unit_vector) {
                return Ok(());
            }
            f.write_str(":")?;
        }
        let directions = self.directions.as_flattened().iter();
        for (n, part) in directions.chain(self.zero.iter().flatten()).enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let text = part.to_string();
            write!(f, "{comma}{}", text.strip_suffix("/1").unwrap_or(&text))?;
        }
        Ok(())
    }
}

impl FromStr for ScanFrame {
    type Err = String;

    /// Parses the text that `Display` writes.
    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains(['x', 'y', 'z']) {
            let [a, b, c, zero] = parse_vectors(text)?;
            return Self::tilted([a, b, c], zero)
                .ok_or_else(|| "the directions of the frame are not independent".to_string());
        }
        let (names, directions) = match text.split_once(':') {
            Some((names, numbers)) => (names, Some(parse_vectors(numbers)?)),
            None => (text, None),
        };
        let axes = parse_axes(names).ok_or("expected three axes such as -x,-y,z")?;
        let directions = directions.unwrap_or_else(|| axes.map(unit_vector));
        Self::parallel(axes, directions).ok_or_else(|| "the frame has the axes x,y,z".to_string())
    }
}

fn parse_axes(text: &str) -> Option<[ArrayAxis; 3]> {
    let mut axes = vec![];
    for name in text.split(',') {
        let (name, is_back) = match name.strip_prefix('-') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let axis = AXES.iter().position(|axis| name.parse() == Ok(*axis))?;
        axes.push((axis, is_back));
    }
    let axes: [ArrayAxis; 3] = axes.try_into().ok()?;
    let has_all = (0..3).all(|axis| axes.iter().any(|(of, _)| *of == axis));
    has_all.then_some(axes)
}

fn parse_vectors<const N: usize>(text: &str) -> Result<[[Rational; 3]; N], String> {
    let mut numbers = vec![];
    for number in text.split(',') {
        numbers.push(Rational::parse_fraction(number)?);
    }
    let (vectors, rest) = numbers.as_chunks::<3>();
    match (vectors.to_vec().try_into(), rest) {
        (Ok(vectors), []) => Ok(vectors),
        _ => Err(format!("expected {N} vectors of three numbers")),
    }
}

fn unit_vector((axis, is_back): ArrayAxis) -> [Rational; 3] {
    let mut vector = [Rational::ZERO; 3];
    vector[axis] = Rational::from(if is_back { -1 } else { 1 });
    vector
}

fn dot(a: &[Rational; 3], b: &[Rational; 3]) -> Rational {
    let [x, y, z] = [0, 1, 2].map(|n| &a[n] * &b[n]);
    &(&x + &y) + &z
}

fn cross(a: &[Rational; 3], b: &[Rational; 3]) -> [Rational; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| &(&a[i] * &b[j]) - &(&a[j] * &b[i]))
}

/// Returns the determinant of the matrix with these columns.
pub fn determinant([a, b, c]: &[[Rational; 3]; 3]) -> Rational {
    dot(a, &cross(b, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice() -> Lattice {
        let origin = [1, -2, 30].map(|n| Rational::new(n, 3));
        let spacing = [Rational::new(1, 2), Rational::ONE, Rational::new(5, 7)];
        Lattice::new([3, 4, 5], origin, spacing, [true; 3]).unwrap()
    }

    #[test]
    fn frames_are_written_and_parsed() {
        for text in [
            "-x,-y,z",
            "z,x,-y",
            "x,y,z:1,1/1000000000,0,0,1,0,0,0,1",
            "4/5,3/5,0,-3/5,4/5,0,0,0,-1,1/3,-2,5",
        ] {
            let frame: ScanFrame = text.parse().unwrap();
            assert_eq!(frame.to_string(), text);
            assert_eq!(frame.is_tilted(), !text.contains('x'), "{text}");
        }
        for wrong in [
            "",
            "x,y,z",
            "x,y",
            "x,x,z",
            "1,2,3",
            "1,0,0,0,1,0,0,0,1",
            "1,0,0,0,1,0,1,1,0,0,0,0",
            "x,y,z:1",
        ] {
            assert!(wrong.parse::<ScanFrame>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_cell_of_an_array_is_at_its_corner_of_the_lattice() {
        let place = "-x,z,y".parse::<ScanFrame>().unwrap().place(&lattice());
        let centre = [
            Rational::new(19, 12),
            Rational::new(-1, 6),
            Rational::new(145, 14),
        ];
        assert_eq!(place.centre, centre);
        assert_eq!(place.steps[0][0], Rational::new(-1, 2));
        assert_eq!(
            place.steps[1],
            [Rational::ZERO, Rational::ZERO, Rational::new(5, 7)]
        );
    }

    #[test]
    fn tilted_points_come_back() {
        let frame: ScanFrame = "4/5,3/5,0,-3/5,4/5,1/100,0,0,-1,100,-7/3,8"
            .parse()
            .unwrap();
        assert!(frame.is_mirror());
        let point = [5, -7, 11].map(Rational::from);
        assert_eq!(frame.to_world(&frame.from_world(&point)), point);
        assert!((frame.tilt() - 36.87).abs() < 0.01, "{}", frame.tilt());
    }
}
