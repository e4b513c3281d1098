//! The options that transform the coordinates of a mesh.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use voxelize::job::{AxisOrder, Matrix, Measure, Rotation, Transform, UnitOfLength, UpAxis};
use voxelize::{Rational, Result};

use super::prefixed;
use super::values::{named, parsed, point};

/// Behind the options that name inputs.
const LAST: usize = 900;

/// The map from coordinates of a mesh to coordinates of the grid.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct TransformArgs {
    /// turn or mirror the mesh: x,-z,y
    #[arg(long, value_name = "X,Y,Z", value_parser = parsed::<AxisOrder>, allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "The axis of the file, with its sign, that becomes each axis of \
                       the grid: x,-z,y turns y up into z up. Exact. Triangles are flipped when mirroring, so that \
                       outside stays outside [default: x,y,z]")]
    pub axes: Option<AxisOrder>,

    /// multiply coordinates by F, exactly
    #[arg(long, value_name = "F", value_parser = factor, allow_negative_numbers = true, hide_short_help = true,
          display_order = LAST, long_help = "Multiply coordinates by F, a decimal or a fraction such as 1/3, \
                       exactly. Sizes, bounds and the origin apply to the scaled mesh [default: 1]")]
    pub scale: Option<Rational>,

    /// multiply by a matrix: 12 or 16 numbers, row by row
    #[arg(long, value_name = "NUMBERS", value_parser = parsed::<Matrix>, allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Multiply coordinates by a matrix, after --axes and before --rotate: 12 or 16 \
                       numbers, row by row; the last of each row is added, and the last row of 16 is 0 0 0 1. \
                       Coordinates are rounded to 32 bits once. Triangles are flipped when mirroring [default: none]")]
    pub matrix: Option<Matrix>,

    /// turn the mesh about an axis: z,90; can be repeated
    #[arg(long, value_name = "AXIS,DEG", value_parser = parsed::<Rotation>, allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Turn the mesh about x, y or z, after --axes and --matrix, counterclockwise seen \
                       from the positive end of the axis. Several are done in the order typed. Multiples of 90 are \
                       exact; by other angles coordinates are computed in 64 bits and rounded to 32 once [default: not \
                       turned]")]
    pub rotate: Vec<Rotation>,

    /// move the mesh, exactly
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Add X, Y and Z to the coordinates, after all other transforms, exactly. Bounds \
                       and the origin apply to the moved mesh [default: 0,0,0]")]
    pub translate: Option<[Measure; 3]>,

    /// unit, after --scale: um, mm, cm, m, in, ft
    #[arg(long, value_name = "UNIT", value_parser = unit(), hide_possible_values = true,
          display_order = LAST, long_help = "The unit of the coordinates after --scale: um, mm, cm, m, in or ft. \
                       Nothing is scaled. Lengths may then have units, --voxel-size 5cm; summary, JSON and \
                       files record the unit [default: unknown]")]
    pub unit: Option<UnitOfLength>,
}

/// The axis that points up in the file.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct UpArgs {
    /// the axis that points up in the file: y or z [z]
    #[arg(long, value_name = "y|z", value_parser = up_axis(), hide_possible_values = true,
          long_help = "The axis that points up in the file. Files with a fixed up axis (.vox) are turned so \
                       that the mesh stands upright; arrays, coordinates and digests do not change [default: \
                       z]")]
    pub up: Option<UpAxis>,
}

impl TransformArgs {
    /// The names of [`TransformArgs::set`].
    pub const NAMES: [&str; 5] = ["axes", "matrix", "rotate", "scale", "translate"];

    /// Sets the option of this name, as it is written behind a mesh: `translate=0,0,5`.
    pub fn set(&mut self, name: &str, value: &str) -> std::result::Result<(), String> {
        let is_twice = match name {
            "axes" => self.axes.replace(parsed(value)?).is_some(),
            "matrix" => self.matrix.replace(parsed(value)?).is_some(),
            "rotate" => {
                self.rotate.push(parsed(value)?);
                false
            }
            "scale" => self.scale.replace(factor(value)?).is_some(),
            "translate" => self.translate.replace(point(value)?).is_some(),
            _ => return Err(format!("is none of {}", Self::NAMES.join(", "))),
        };
        if is_twice {
            Err("is there twice".to_string())
        } else {
            Ok(())
        }
    }

    /// Whether axes, matrix or rotations are given.
    pub fn turns(&self) -> bool {
        self.axes.is_some() || self.matrix.is_some() || !self.rotate.is_empty()
    }

    pub fn transform(&self) -> Result<Transform> {
        let by = |measure: &Measure| {
            measure
                .in_units_of(self.unit)
                .map_err(|error| prefixed("--translate: ", &error))
        };
        let translate = match &self.translate {
            None => Transform::default().translate,
            Some([x, y, z]) => [by(x)?, by(y)?, by(z)?],
        };
        Ok(Transform {
            axes: self.axes.unwrap_or_default(),
            scale: self.scale.clone().unwrap_or(Rational::ONE),
            matrix: self.matrix.clone(),
            rotate: self.rotate.clone(),
            translate,
            unit: self.unit,
            ..Transform::default()
        })
    }
}

pub fn unit() -> impl TypedValueParser<Value = UnitOfLength> {
    let values = UnitOfLength::ALL.map(|unit| {
        let aliases = UnitOfLength::ALIASES
            .iter()
            .filter(move |(_, of)| *of == unit);
        clap::builder::PossibleValue::new(unit.name()).aliases(aliases.map(|(alias, _)| *alias))
    });
    PossibleValuesParser::new(values)
        .try_map(|name| UnitOfLength::from_name(&name).ok_or("no such name"))
}

fn up_axis() -> impl TypedValueParser<Value = UpAxis> {
    named(UpAxis::ALL.map(|axis| (axis.name(), axis)))
}

/// `0.001`, `1/3`: a number above zero.
fn factor(text: &str) -> std::result::Result<Rational, String> {
    let factor = Rational::parse(text)?;
    if factor.is_positive() {
        Ok(factor)
    } else {
        Err("must be above zero".to_string())
    }
}
