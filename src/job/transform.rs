//! From the coordinates of a mesh file to those of the grid: axes, rotation, scale, translation and unit.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result, hint};
use crate::geom::{Point, Rational, Triangle};
use crate::grid::{AXES, Lattice, Length, LengthUnit};
use crate::mesh::{Mesh, UnitOfLength, UpAxis};
use crate::text::GridCoordinates;

use super::measure::WrittenLength;

/// An axis of the file, and its sign, for each axis of the grid: `x,-z,y` turns y up into z up.
///
/// ```
/// use voxelize::job::AxisOrder;
///
/// let order: AxisOrder = "x,-z,y".parse()?;
/// assert_eq!((order.to_string(), order.is_mirror()), ("x,-z,y".to_string(), false));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisOrder([(usize, bool); 3]);

impl Default for AxisOrder {
    fn default() -> Self {
        Self([(0, false), (1, false), (2, false)])
    }
}

impl FromStr for AxisOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let one = |text: &str| {
            let (name, minus) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
            let axis = AXES.iter().position(|axis| name.parse() == Ok(*axis));
            let axis = axis.map(|axis| (axis, minus));
            axis.ok_or_else(|| Error::usage(format!("'{name}' is not an axis: x, y or z")))
        };
        let order = text.split(',').map(|part| one(part.trim())).collect::<Result<Vec<_>>>()?;
        let order: [(usize, bool); 3] =
            order.try_into().map_err(|_| Error::usage("expected three axes such as x,-z,y"))?;
        match (0..3).all(|axis| order.iter().any(|(from, _)| *from == axis)) {
            true => Ok(Self(order)),
            false => Err(Error::usage("each of x, y and z must occur once")),
        }
    }
}

impl fmt::Display for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (axis, minus)) in self.0.into_iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let sign = if minus { "-" } else { "" };
            write!(f, "{comma}{sign}{}", AXES[axis])?;
        }
        Ok(())
    }
}

impl AxisOrder {
    /// Whether it is a mirror, not a turn.
    pub fn is_mirror(self) -> bool {
        let [a, b, c] = self.0.map(|(axis, _)| axis);
        let is_odd = (a > b) ^ (b > c) ^ (a > c);
        self.0.iter().fold(is_odd, |mirror, (_, minus)| mirror ^ minus)
    }

    /// The triangle in these axes, exactly; vertices of a mirrored one change places, so that its outside stays
    /// outside.
    fn apply(self, [a, b, c]: &Triangle) -> Triangle {
        let [b, c] = if self.is_mirror() { [c, b] } else { [b, c] };
        [a, b, c].map(|p| self.point(*p))
    }

    fn point(self, p: Point) -> Point {
        // No zero with a minus.
        self.0.map(|(axis, minus)| if minus { 0.0 - p[axis] } else { p[axis] })
    }
}

/// A rotation about an axis of the grid, counterclockwise seen from its positive end: `z,90`. A multiple of 90 degrees is
/// exact; by another angle coordinates are computed in doubles and rounded to floats once.
///
/// ```
/// use voxelize::job::Rotation;
///
/// let rotation: Rotation = "z,-22.5".parse()?;
/// assert_eq!((rotation.to_string(), rotation.is_exact()), ("z,-45/2".to_string(), false));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    axis: usize,
    degrees: Rational,
}

impl FromStr for Rotation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = || Error::usage("expected an axis and degrees such as z,90");
        let (name, degrees) = text.split_once(',').ok_or_else(expected)?;
        let axis = AXES.iter().position(|axis| name.trim().parse() == Ok(*axis)).ok_or_else(expected)?;
        let degrees = Rational::parse(degrees.trim()).map_err(Error::usage)?;
        quarters_nearest(&degrees).ok_or_else(|| Error::usage("too many degrees"))?;
        Ok(Self { axis, degrees })
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", AXES[self.axis], short(&self.degrees))
    }
}

impl Rotation {
    /// Whether it rounds nothing: a multiple of 90 degrees.
    pub fn is_exact(&self) -> bool {
        self.split().1 == Rational::ZERO
    }

    /// Quarter turns from 0 to 3, and the degrees that are left, from −45 to 45.
    fn split(&self) -> (usize, Rational) {
        let quarters = quarters_nearest(&self.degrees).unwrap_or(0);
        let rest = &self.degrees - &(&Rational::from(quarters) * &Rational::from(90));
        (quarters.rem_euclid(4) as usize, rest)
    }

    /// Turns a point.
    fn turner(&self) -> impl Fn(Point) -> Point + use<> {
        let [s, t] = [(self.axis + 1) % 3, (self.axis + 2) % 3];
        let (quarters, rest) = self.split();
        let is_exact = rest == Rational::ZERO;
        let [cos, sin] = cos_sin(rest.to_f64() * (std::f64::consts::PI / 180.0));
        move |mut p| {
            for _ in 0..quarters {
                // No zero with a minus.
                (p[s], p[t]) = (0.0 - p[t], p[s]);
            }
            if !is_exact {
                let [u, v] = [f64::from(p[s]), f64::from(p[t])];
                p[s] = (cos * u - sin * v + 0.0) as f32 + 0.0;
                p[t] = (sin * u + cos * v + 0.0) as f32 + 0.0;
            }
            p
        }
    }
}

/// A number without a denominator of one.
pub(super) fn short(number: &Rational) -> String {
    let text = number.to_string();
    text.strip_suffix("/1").map(str::to_string).unwrap_or(text)
}

/// The number of quarter turns nearest to an angle, if there is such a number.
fn quarters_nearest(degrees: &Rational) -> Option<i64> {
    (degrees / &Rational::from(90) + Rational::new(1, 2)).floor()
}

/// Cosine and sine of at most an eighth of a turn, by their series: equal on every machine, which those of the system
/// are not.
fn cos_sin(angle: f64) -> [f64; 2] {
    let square = angle * angle;
    // Ten terms reach beyond the precision of doubles.
    let series = |first: f64| {
        (0..10).rev().fold(1.0, |sum, n| {
            let k = f64::from(2 * n) + first;
            1.0 - sum * square / (k * (k + 1.0))
        })
    };
    [series(1.0), angle * series(2.0)]
}

/// The map from coordinates of a mesh file to coordinates of the grid: axes, then rotation, scale and translation. The
/// mesh is turned; it is the lattice that is scaled and moved, since coordinates would be rounded.
///
/// ```
/// use voxelize::job::Transform;
/// use voxelize::{Mesh, Rational};
///
/// let transform = Transform { axes: "x,-z,y".parse()?, scale: Rational::new(1, 3), ..Transform::default() };
/// let upright = transform.apply(Mesh::open("fixtures/knot.stl")?)?;
/// assert_eq!(transform.entries(), [("axes", "x,-z,y".to_string()), ("scale", "1/3".to_string())]);
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    /// The axes of the file that become those of the grid.
    pub axes: AxisOrder,
    /// The rotation in these axes.
    pub rotate: Option<Rotation>,
    /// The factor of coordinates.
    pub scale: Rational,
    /// What is added to coordinates after that.
    pub translate: [Rational; 3],
    /// The unit of the coordinates after that; nothing is scaled by it.
    pub unit: Option<UnitOfLength>,
    /// The axis of the grid that points up; formats with a fixed up axis are turned by it when they are written.
    pub up: UpAxis,
}

impl Default for Transform {
    fn default() -> Self {
        Self {
            axes: AxisOrder::default(),
            rotate: None,
            scale: Rational::ONE,
            translate: [const { Rational::ZERO }; 3],
            unit: None,
            up: UpAxis::default(),
        }
    }
}

impl Transform {
    /// Whether coordinates are multiplied.
    pub fn is_scaled(&self) -> bool {
        self.scale != Rational::ONE
    }

    /// Whether something is added to coordinates.
    pub fn is_moved(&self) -> bool {
        self.translate.iter().any(|by| *by != Rational::ZERO)
    }

    /// Whether the mesh is turned or mirrored.
    pub fn turns(&self) -> bool {
        self.axes != AxisOrder::default() || self.rotate.is_some()
    }

    /// A point of the grid's coordinates before scale and translation.
    pub fn unplaced(&self, point: &[Rational; 3]) -> [Rational; 3] {
        std::array::from_fn(|axis| (&point[axis] - &self.translate[axis]) / &self.scale)
    }

    /// The lattice in the coordinates of the grid, of one in those of the mesh that was turned.
    ///
    /// # Errors
    /// If a coordinate is beyond the range of exact numbers.
    pub fn place(&self, lattice: &Lattice) -> Result<Lattice> {
        match (self.is_scaled(), self.is_moved()) {
            (false, false) => Ok(lattice.clone()),
            (false, true) => lattice.moved(&self.translate),
            _ => lattice.scaled(&self.scale)?.moved(&self.translate),
        }
    }

    /// The lattice in the coordinates of the mesh that was turned, of one in those of the grid.
    ///
    /// # Errors
    /// If a coordinate is beyond the range of exact numbers.
    pub fn unplace(&self, lattice: &Lattice) -> Result<Lattice> {
        let back = self.translate.each_ref().map(|by| -by);
        lattice.moved(&back)?.scaled(&(Rational::ONE / &self.scale))
    }

    /// How reports write places and lengths of the mesh that was turned.
    pub fn coordinates(&self) -> GridCoordinates {
        GridCoordinates {
            scale: self.scale.to_f64(),
            by: self.translate.each_ref().map(Rational::to_f64),
            unit: self.unit.map(UnitOfLength::name),
        }
    }

    /// The mesh in the axes of the grid.
    ///
    /// # Errors
    /// If there is not enough memory for another mesh.
    pub fn apply(&self, mesh: Mesh) -> Result<Mesh> {
        let turned = match &self.rotate {
            _ if !self.turns() => return Ok(mesh),
            None => mesh.map(|triangle| self.axes.apply(triangle))?,
            Some(rotation) => {
                let turned = rotation.turner();
                mesh.map(|triangle| self.axes.apply(triangle).map(&turned))?
            }
        };
        Ok(if self.axes.is_mirror() { turned.with_turned_corners() } else { turned })
    }

    /// The mesh in the coordinates of the grid, scaled and moved as well: each coordinate computed in doubles and rounded
    /// to a float. Where only the grid has to fit the mesh, [`place`](Self::place) rounds nothing.
    ///
    /// # Errors
    /// If there is not enough memory for another mesh, or a coordinate is beyond the range of floats.
    pub fn apply_all(&self, mesh: Mesh) -> Result<Mesh> {
        let mesh = self.apply(mesh)?;
        if !self.is_scaled() && !self.is_moved() {
            return Ok(mesh);
        }
        let scale = self.scale.to_f64();
        let by = self.translate.each_ref().map(Rational::to_f64);
        let point = |p: &Point| std::array::from_fn(|a| (scale * f64::from(p[a]) + by[a] + 0.0) as f32 + 0.0);
        mesh.map(|triangle| triangle.each_ref().map(point))
    }

    /// A length in the coordinates of the file, exactly; where these are scaled, in cells, of which `cell` is the side.
    ///
    /// # Errors
    /// If the unit of the file is not known, the length is no finite decimal in that unit, or coordinates are scaled and
    /// the length is no finite decimal in cells, or the side of a cell is not known.
    pub fn length(&self, written: &WrittenLength, cell: Option<&Rational>) -> Result<Length> {
        let length = match written {
            WrittenLength::Length(length) => *length,
            WrittenLength::Measure(measure) => {
                let unit = self.unit.map_or("", UnitOfLength::name);
                Length::new(&measure.in_units_of(self.unit)?, LengthUnit::World).ok_or_else(|| {
                    Error::usage(format!("is not a finite decimal when converted to {unit}"))
                        .with_hint("write it in the unit of the file")
                })?
            }
        };
        if !self.is_scaled() || length.unit() == LengthUnit::Cells {
            return Ok(length);
        }
        let in_cells = |cell: &Rational| Length::new(&(&length.value() / cell), LengthUnit::Cells);
        cell.and_then(in_cells).ok_or_else(|| {
            let error =
                Error::usage("with a scale this length must be in cells, or a finite decimal of them");
            error.with_hint(
                hint!["2vx is two cells; {} with cubes of a known side converts it" VoxelSize = "S"],
            )
        })
    }

    /// This transform of a file in which `up` points up: in the grid the axis that it becomes does. Where that is neither y
    /// nor z, the file's stays, as of a mesh that is to be turned upright when it is written.
    #[must_use]
    pub fn with_up(self, up: UpAxis) -> Self {
        let turned = self.rotate.as_ref().map(Rotation::turner);
        let axis = self.axes.point(if up == UpAxis::Y { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] });
        let [x, y, z] = turned.map_or(axis, |turn| turn(axis));
        let up = match [x, y, z] {
            [x, y, z] if y > x.abs() && y > z.abs() => UpAxis::Y,
            [x, y, z] if z > x.abs() && z > y.abs() => UpAxis::Z,
            _ => up,
        };
        Self { up, ..self }
    }

    /// The transform that has these entries.
    ///
    /// # Errors
    /// If a name or a value is unknown.
    pub fn from_entries(entries: &[(&'static str, String)]) -> Result<Self> {
        let unknown =
            |name: &str, value: &str| Error::usage(format!("the transform {name} {value} is unknown"));
        let mut transform = Self::default();
        for (name, value) in entries {
            let number = |text: &str| Rational::parse_fraction(text).map_err(|_| unknown(name, value));
            match *name {
                "up" => {
                    let up = UpAxis::ALL.into_iter().find(|up| up.name() == value);
                    transform.up = up.ok_or_else(|| unknown(name, value))?;
                }
                "axes" => transform.axes = value.parse()?,
                "rotate" => transform.rotate = Some(value.parse()?),
                "scale" => transform.scale = number(value)?,
                "translate" => {
                    let by = value.split(',').map(number).collect::<Result<Vec<_>>>()?;
                    transform.translate = by.try_into().map_err(|_| unknown(name, value))?;
                }
                "unit" => {
                    let unit = UnitOfLength::from_name(value).ok_or_else(|| unknown(name, value))?;
                    transform.unit = Some(unit);
                }
                _ => return Err(unknown(name, value)),
            }
        }
        Ok(transform)
    }

    /// The entries of records about it, by name and value: what differs from the default.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let up = (self.up != UpAxis::default()).then(|| ("up", self.up.name().to_string()));
        let axes = (self.axes != AxisOrder::default()).then(|| ("axes", self.axes.to_string()));
        let rotate = self.rotate.as_ref().map(|rotation| ("rotate", rotation.to_string()));
        let scale = self.is_scaled().then(|| ("scale", self.scale.to_string()));
        let by = || self.translate.each_ref().map(short).join(",");
        let translate = self.is_moved().then(|| ("translate", by()));
        let unit = self.unit.map(|unit| ("unit", unit.name().to_string()));
        [up, axes, rotate, scale, translate, unit].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_file() {
        let length = |text: &str, unit: &str| {
            let transform = Transform { unit: UnitOfLength::from_name(unit), ..Transform::default() };
            transform.length(&text.parse().unwrap(), None).map(|length| length.to_string())
        };
        assert_eq!((length("5cm", "mm").unwrap(), length("2vx", "m").unwrap()), ("50".into(), "2vx".into()));
        assert_eq!(length("5cm", "m").unwrap(), "0.05");
        assert!(length("1mm", "in").is_err());
    }

    #[test]
    fn quarter_turns_are_exact_and_others_within_a_float() {
        let point = [1.0, 2.0, 3.0];
        let turned = |text: &str| text.parse::<Rotation>().unwrap().turner()(point);
        for (text, expected) in [
            ("z,90", [-2.0, 1.0, 3.0]),
            ("z,-90", [2.0, -1.0, 3.0]),
            ("x,180", [1.0, -2.0, -3.0]),
            ("y,450", [3.0, 2.0, -1.0]),
            ("y,-720", point),
        ] {
            assert_eq!(turned(text), expected, "{text}");
        }
        for degrees in -200..200 {
            let angle = f64::from(degrees).to_radians();
            let [x, y, z] = turned(&format!("z,{degrees}"));
            let expected = [angle.cos() - 2.0 * angle.sin(), angle.sin() + 2.0 * angle.cos()];
            let error = (f64::from(x) - expected[0]).abs().max((f64::from(y) - expected[1]).abs());
            assert!(error < 1.3e-7 && z == 3.0, "{degrees}: {error}");
        }
        let [cos, sin] = cos_sin(std::f64::consts::FRAC_PI_4);
        assert!((cos - sin).abs() < 3e-16 && (cos * cos + sin * sin - 1.0).abs() < 3e-16);
        for wrong in ["z", "w,90", "z,", "z,1e40", "90,z"] {
            assert!(wrong.parse::<Rotation>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lattice_is_placed_and_taken_back() {
        let lattice = Lattice::fit(Mesh::open("fixtures/knot.stl").unwrap().bounds(), 9).unwrap();
        let translate = [Rational::new(1, 3), Rational::ZERO, Rational::from(-7)];
        let transform = Transform { scale: Rational::new(5, 7), translate, ..Transform::default() };
        let placed = transform.place(&lattice).unwrap();
        assert_eq!(placed.spacing()[0], &lattice.spacing()[0] * &transform.scale);
        assert_eq!(transform.unplaced(placed.origin()), *lattice.origin());
        assert_eq!(transform.unplace(&placed).unwrap(), lattice);
    }

    #[test]
    fn axes_are_turned_or_mirrored() {
        for (text, is_mirror) in [
            ("x,y,z", false),
            ("x,-z,y", false),
            ("y,z,x", false),
            ("y,x,z", true),
            ("-x,y,z", true),
            ("-y,x,z", false),
            ("-x,-y,-z", true),
        ] {
            let order: AxisOrder = text.parse().unwrap();
            assert_eq!((order.is_mirror(), order.to_string()), (is_mirror, text.to_string()));
        }
        for wrong in ["x,y", "x,y,x", "x,y,w", "", "x,y,z,x"] {
            assert!(wrong.parse::<AxisOrder>().is_err(), "{wrong}");
        }
        let triangle = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 1.0]];
        let moved = |axes: &str| {
            let transform = Transform { axes: axes.parse().unwrap(), ..Transform::default() };
            transform.apply(Mesh::from_triangles(vec![triangle]).unwrap()).unwrap().triangles()[0]
        };
        let turned = moved("x,-z,y");
        assert_eq!(turned, [[1.0, -3.0, 2.0], [0.0, 0.0, 0.0], [4.0, -1.0, 0.0]]);
        assert!(turned.as_flattened().iter().all(|c| c.to_bits() != (-0.0_f32).to_bits()));
        assert_eq!(moved("-x,y,z"), [[-1.0, 2.0, 3.0], [-4.0, 0.0, 1.0], [0.0, 0.0, 0.0]]);
    }
}
