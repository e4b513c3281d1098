//! Transforms of the coordinates of a mesh, and their unit: axes, scale, unit; lengths with units.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use voxelize::grid::AXES;
use voxelize::{Error, Length, Mesh, Rational, Result};

/// Behind the options that name inputs.
const LAST: usize = 900;

/// The map from coordinates of a mesh to coordinates of the grid.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct TransformArgs {
    /// turn or mirror the mesh: x,-z,y
    #[arg(long, value_name = "X,Y,Z", value_parser = axes, allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "The axis of the file, with its sign, that becomes each axis of \
                       the grid: x,-z,y turns y up into z up. Exact. Triangles are flipped when mirroring, so that \
                       outside stays outside [default: x,y,z]")]
    pub axes: Option<AxisOrder>,

    /// multiply coordinates by F, exactly
    #[arg(long, value_name = "F", value_parser = factor, allow_negative_numbers = true, hide_short_help = true,
          display_order = LAST, long_help = "Multiply coordinates by F, a decimal or a fraction such as 1/3, \
                       exactly. Sizes, bounds and the origin apply to the scaled mesh [default: 1]")]
    pub scale: Option<Rational>,

    /// unit of the file: mm, cm, m, in, ft
    #[arg(long, value_name = "UNIT", value_parser = unit(), hide_possible_values = true,
          display_order = LAST, long_help = "The unit of the coordinates after --scale: mm, cm, m, in or ft. \
                       Nothing is scaled. Lengths may then have units, --voxel-size 5cm; summary, JSON and \
                       files record the unit [default: unknown]")]
    pub unit: Option<&'static UnitOfLength>,
}

/// The axis that points up in the file.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct UpArgs {
    /// the axis that points up in the file: y or z [z]
    #[arg(long, value_name = "y|z", value_parser = PossibleValuesParser::new(["y", "z"]), hide_possible_values = true,
          long_help = "The axis that points up in the file. Files with a fixed up axis (.vox) are turned so \
                       that the mesh stands upright; arrays, coordinates and digests do not change [default: \
                       z]")]
    pub up: Option<String>,
}

/// A unit of length.
#[derive(Debug, PartialEq, Eq)]
pub struct UnitOfLength {
    pub name: &'static str,
    /// Millimetres, as a fraction.
    millimetres: [i64; 2],
}

static UNITS: [UnitOfLength; 5] = [
    UnitOfLength { name: "mm", millimetres: [1, 1] },
    UnitOfLength { name: "cm", millimetres: [10, 1] },
    UnitOfLength { name: "m", millimetres: [1000, 1] },
    UnitOfLength { name: "in", millimetres: [127, 5] },
    UnitOfLength { name: "ft", millimetres: [1524, 5] },
];

impl UnitOfLength {
    fn millimetres(&self) -> Rational {
        Rational::new(self.millimetres[0], self.millimetres[1])
    }
}

fn unit() -> impl TypedValueParser<Value = &'static UnitOfLength> {
    let by_name = |name: String| UNITS.iter().find(|unit| unit.name == name).ok_or("no such unit");
    PossibleValuesParser::new(UNITS.iter().map(|unit| unit.name)).try_map(by_name)
}

/// `0.001`, `1/3`: a number above zero.
fn factor(text: &str) -> std::result::Result<Rational, String> {
    let factor =
        if text.contains('/') { Rational::parse_fraction(text) } else { Rational::parse_decimal(text) }?;
    if factor.is_positive() { Ok(factor) } else { Err("must be above zero".to_string()) }
}

/// A length as typed: a number of a unit, or of the coordinates' own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    pub number: Rational,
    unit: Option<&'static UnitOfLength>,
    /// As typed.
    text: String,
}

impl Measure {
    /// `0.5`, `-3`, `5cm`.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        let unit = UNITS.iter().filter(|unit| text.ends_with(unit.name)).max_by_key(|unit| unit.name.len());
        let decimal = unit.map_or(text, |unit| text[..text.len() - unit.name.len()].trim_end());
        Ok(Self { number: Rational::parse_decimal(decimal)?, unit, text: text.to_string() })
    }

    /// Whether it was typed with a unit.
    pub fn has_unit(&self) -> bool {
        self.unit.is_some()
    }

    /// The length in units of the coordinates.
    pub fn resolve(&self, of_file: Option<&UnitOfLength>) -> Result<Rational> {
        match (self.unit, of_file) {
            (None, _) => Ok(self.number.clone()),
            (Some(unit), Some(of_file)) => Ok(&(&self.number * &unit.millimetres()) / &of_file.millimetres()),
            (Some(_), None) => {
                let error = Error::usage("the unit of the file is unknown");
                Err(error.with_hint("add --unit mm, cm, m, in or ft"))
            }
        }
    }
}

/// A length that may be in cells, `2vx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LengthArg {
    Length(Length),
    Measure(Measure),
}

impl LengthArg {
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let plain = text.parse::<Length>().map_err(|error| error.message().to_string());
        match plain {
            Ok(length) => Ok(Self::Length(length)),
            Err(why) => match Measure::parse(text) {
                Ok(measure) if measure.number < Rational::ZERO => Err(format!("'{text}' is below zero")),
                Ok(measure) => Ok(Self::Measure(measure)),
                Err(_) => Err(why),
            },
        }
    }

    /// As typed.
    pub fn text(&self) -> String {
        match self {
            Self::Length(length) => length.to_string(),
            Self::Measure(measure) => measure.text.clone(),
        }
    }

    pub fn resolve(&self, transform: &Transform) -> Result<Length> {
        let length = match self {
            Self::Length(length) => *length,
            Self::Measure(measure) => as_length(&measure.resolve(transform.unit)?).ok_or_else(|| {
                let unit = transform.unit.map_or("", |unit| unit.name);
                Error::usage(format!("is not a finite decimal when converted to {unit}"))
                    .with_hint("write it in the unit of the file")
            })?,
        };
        if !transform.is_scaled() || length.unit() == voxelize::LengthUnit::Cells {
            return Ok(length);
        }
        Err(Error::usage("with --scale this length must be in cells").with_hint("such as 2vx"))
    }
}

/// A fraction as the decimal that it is, of at most 15 digits; `None` if it is none.
fn as_length(value: &Rational) -> Option<Length> {
    let (mut scaled, mut power) = (value.clone(), 0);
    while !scaled.is_whole() {
        (scaled, power) = (&scaled * &Rational::from(10), power + 1);
        if power > 30 {
            return None;
        }
    }
    format!("{}e-{power}", scaled.floor()?).parse().ok()
}

/// An axis of the file, and its sign, for each axis of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisOrder([(usize, bool); 3]);

impl Default for AxisOrder {
    fn default() -> Self {
        Self([(0, false), (1, false), (2, false)])
    }
}

/// `x,-z,y`.
fn axes(text: &str) -> std::result::Result<AxisOrder, String> {
    let one = |text: &str| {
        let (name, minus) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let axis = AXES.iter().position(|axis| name.parse() == Ok(*axis));
        axis.map(|axis| (axis, minus)).ok_or_else(|| format!("'{name}' is not an axis: x, y or z"))
    };
    let order = text.split(',').map(|part| one(part.trim())).collect::<std::result::Result<Vec<_>, _>>()?;
    let order: [(usize, bool); 3] =
        order.try_into().map_err(|_| "expected three axes such as x,-z,y".to_string())?;
    match (0..3).all(|axis| order.iter().any(|(from, _)| *from == axis)) {
        true => Ok(AxisOrder(order)),
        false => Err("each of x, y and z must occur once".to_string()),
    }
}

impl AxisOrder {
    /// `x,-z,y`.
    pub fn name(self) -> String {
        let one = |(axis, minus): (usize, bool)| format!("{}{}", if minus { "-" } else { "" }, AXES[axis]);
        self.0.map(one).join(",")
    }

    /// Whether it is a mirror, not a turn.
    fn is_mirror(self) -> bool {
        let [a, b, c] = self.0.map(|(axis, _)| axis);
        let is_odd = (a > b) ^ (b > c) ^ (a > c);
        self.0.iter().fold(is_odd, |mirror, (_, minus)| mirror ^ minus)
    }

    /// The mesh in these axes; vertices of a mirrored one change places, so that its outside stays outside.
    fn apply(self, mesh: &Mesh) -> Result<Mesh> {
        let point = |p: [f32; 3]| {
            // No zero with a minus.
            self.0.map(|(axis, minus)| if minus { 0.0 - p[axis] } else { p[axis] })
        };
        let is_mirror = self.is_mirror();
        let triangle = |[a, b, c]: &[[f32; 3]; 3]| {
            let [b, c] = if is_mirror { [*c, *b] } else { [*b, *c] };
            [point(*a), point(b), point(c)]
        };
        mesh.map(triangle)
    }
}

/// The map from coordinates of a file to coordinates of the grid.
#[derive(Debug, Clone)]
pub struct Transform {
    pub axes: AxisOrder,
    pub scale: Rational,
    pub unit: Option<&'static UnitOfLength>,
    /// The axis that points up: y or z.
    pub up: &'static str,
}

impl Transform {
    pub fn new(args: &TransformArgs) -> Self {
        let axes = args.axes.unwrap_or_default();
        Self { axes, scale: args.scale.clone().unwrap_or(Rational::ONE), unit: args.unit, up: "z" }
    }

    #[must_use]
    pub fn with_up(self, up: &UpArgs) -> Self {
        let up = if up.up.as_deref() == Some("y") { "y" } else { "z" };
        Self { up, ..self }
    }

    pub fn is_scaled(&self) -> bool {
        self.scale != Rational::ONE
    }

    /// Whether the mesh is another one.
    pub fn turns(&self) -> bool {
        self.axes != AxisOrder::default()
    }

    /// The mesh in the axes of the grid.
    pub fn apply(&self, mesh: Mesh) -> Result<Mesh> {
        if self.turns() { self.axes.apply(&mesh) } else { Ok(mesh) }
    }

    /// What files say of it, by name and value: what differs from the usual.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let up = (self.up != "z").then(|| ("up", self.up.to_string()));
        let axes = self.turns().then(|| ("axes", self.axes.name()));
        let scale = self.is_scaled().then(|| ("scale", self.scale.to_string()));
        let unit = self.unit.map(|unit| ("unit", unit.name.to_string()));
        [up, axes, scale, unit].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<&'static UnitOfLength> {
        UNITS.iter().find(|unit| unit.name == name)
    }

    #[test]
    fn lengths_have_units() {
        let value = |text: &str, unit: &str| Measure::parse(text).unwrap().resolve(named(unit)).unwrap();
        assert_eq!(value("5cm", "mm"), Rational::from(50));
        assert_eq!(value("0.5 mm", "m"), Rational::new(1, 2000));
        assert_eq!(value("1in", "mm"), Rational::new(127, 5));
        assert_eq!(value("-1ft", "in"), Rational::from(-12));
        assert_eq!(value("0.1", "mm"), Rational::new(1, 10));
        assert!(Measure::parse("5cm").unwrap().resolve(None).is_err());
        assert!(Measure::parse("5km").is_err() && Measure::parse("m").is_err());
        let transform =
            |unit: &str| Transform { unit: named(unit), ..Transform::new(&TransformArgs::default()) };
        let length = |text: &str, unit: &str| {
            LengthArg::parse(text).unwrap().resolve(&transform(unit)).map(|length| length.to_string())
        };
        assert_eq!((length("5cm", "mm").unwrap(), length("2vx", "m").unwrap()), ("50".into(), "2vx".into()));
        assert_eq!(length("5cm", "m").unwrap(), "0.05");
        assert!(length("1mm", "in").is_err() && LengthArg::parse("-1mm").is_err());
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
            let order = axes(text).unwrap();
            assert_eq!((order.is_mirror(), order.name()), (is_mirror, text.to_string()));
        }
        for wrong in ["x,y", "x,y,x", "x,y,w", "", "x,y,z,x"] {
            assert!(axes(wrong).is_err(), "{wrong}");
        }
        let mesh = Mesh::from_triangles(vec![[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 1.0]]]).unwrap();
        let turned = axes("x,-z,y").unwrap().apply(&mesh).unwrap();
        assert_eq!(turned.triangles()[0], [[1.0, -3.0, 2.0], [0.0, 0.0, 0.0], [4.0, -1.0, 0.0]]);
        assert!(turned.triangles()[0].as_flattened().iter().all(|c| c.to_bits() != (-0.0_f32).to_bits()));
        let mirrored = axes("-x,y,z").unwrap().apply(&mesh).unwrap();
        assert_eq!(mirrored.triangles()[0], [[-1.0, 2.0, 3.0], [-4.0, 0.0, 1.0], [0.0, 0.0, 0.0]]);
    }
}
