//! From the coordinates of a mesh file to those of the grid: axes, scale and unit.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::geom::{Rational, Triangle};
use crate::grid::{AXES, Length, LengthUnit};
use crate::mesh::{Mesh, UnitOfLength, UpAxis};

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
        let point = |p: [f32; 3]| {
            // No zero with a minus.
            self.0.map(|(axis, minus)| if minus { 0.0 - p[axis] } else { p[axis] })
        };
        let [b, c] = if self.is_mirror() { [*c, *b] } else { [*b, *c] };
        [point(*a), point(b), point(c)]
    }
}

/// The map from coordinates of a mesh file to coordinates of the grid. The mesh is turned, exactly; it is the lattice
/// that is scaled, since scaled coordinates would be rounded.
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
    /// The factor of coordinates.
    pub scale: Rational,
    /// The unit of the coordinates after that; nothing is scaled by it.
    pub unit: Option<UnitOfLength>,
    /// The axis that points up in the file; formats with a fixed up axis are turned by it when they are written.
    pub up: UpAxis,
}

impl Default for Transform {
    fn default() -> Self {
        Self { axes: AxisOrder::default(), scale: Rational::ONE, unit: None, up: UpAxis::default() }
    }
}

impl Transform {
    /// Whether coordinates are multiplied.
    pub fn is_scaled(&self) -> bool {
        self.scale != Rational::ONE
    }

    /// Whether the mesh is turned or mirrored.
    pub fn turns(&self) -> bool {
        self.axes != AxisOrder::default()
    }

    /// The mesh in the axes of the grid.
    ///
    /// # Errors
    /// If there is not enough memory for another mesh.
    pub fn apply(&self, mesh: Mesh) -> Result<Mesh> {
        if self.turns() { mesh.map(|triangle| self.axes.apply(triangle)) } else { Ok(mesh) }
    }

    /// A length in the coordinates of the file, exactly.
    ///
    /// # Errors
    /// If the unit of the file is not known, the length is no finite decimal in that unit, or coordinates are scaled and
    /// the length is not in cells.
    pub fn length(&self, written: &WrittenLength) -> Result<Length> {
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
        Err(Error::usage("with a scale this length must be in cells").with_hint("such as 2vx"))
    }

    /// The entries of records about it, by name and value: what differs from the default.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let up = (self.up != UpAxis::default()).then(|| ("up", self.up.name().to_string()));
        let axes = self.turns().then(|| ("axes", self.axes.to_string()));
        let scale = self.is_scaled().then(|| ("scale", self.scale.to_string()));
        let unit = self.unit.map(|unit| ("unit", unit.name().to_string()));
        [up, axes, scale, unit].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_file() {
        let length = |text: &str, unit: &str| {
            let transform = Transform { unit: UnitOfLength::from_name(unit), ..Transform::default() };
            transform.length(&text.parse().unwrap()).map(|length| length.to_string())
        };
        assert_eq!((length("5cm", "mm").unwrap(), length("2vx", "m").unwrap()), ("50".into(), "2vx".into()));
        assert_eq!(length("5cm", "m").unwrap(), "0.05");
        assert!(length("1mm", "in").is_err());
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
