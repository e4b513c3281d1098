//! Options that transform the coordinates of a mesh.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use voxelize::job::UnitOfLength;

/// Display order of the transform options. It is high, so that they follow the options that name inputs.
const LAST: usize = 900;

/// Map from coordinates of a mesh to coordinates of the grid.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct TransformArgs {
    /// turn or mirror the mesh: x,-z,y
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "For each axis of the grid, the axis of the file that becomes it, with a \
                       sign: x,-z,y turns y up into z up. Exact. Triangles are flipped when mirroring, so that \
                       outside stays outside [default: x,y,z]")]
    axes: Option<String>,

    /// multiply coordinates by F, exactly
    #[arg(long, value_name = "F", allow_negative_numbers = true, hide_short_help = true,
          display_order = LAST, long_help = "Multiply coordinates by F, a decimal or a fraction such as 1/3, \
                       exactly. Sizes, bounds and the origin apply to the scaled mesh [default: 1]")]
    scale: Option<String>,

    /// multiply by a matrix: 12 or 16 numbers, row by row
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Multiply coordinates by a matrix, after --axes and before --rotate: 12 or 16 \
                       numbers, row by row. The last number of each row is added; the last row of 16 must be 0 0 0 1. \
                       Coordinates are rounded to 32 bits. Triangles are flipped when mirroring [default: none]")]
    matrix: Option<String>,

    /// turn the mesh about an axis: z,90; can be repeated
    #[arg(long, value_name = "AXIS,DEG", allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Turn the mesh about x, y or z, after --axes and --matrix, counterclockwise seen \
                       from the positive end of the axis. Several rotations are applied in the given order. Multiples of 90 are \
                       exact; other angles are computed in 64 bits and rounded to 32 [default: not turned]")]
    rotate: Vec<String>,

    /// roll, pitch, yaw in radians: 0,0,1.5708 or 0,0,90deg
    #[arg(long, value_name = "R,P,Y", allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Turn the mesh about the fixed axes x by R, then y by P, then z by Y, as a \
                       URDF does. Angles are in radians, or in degrees as in 0,0,90deg. --rpy and --rotate are applied \
                       in the order in which they are typed [default: not turned]")]
    rpy: Vec<String>,

    /// move the mesh, exactly
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, hide_short_help = true,
          display_order = LAST, long_help = "Add X, Y and Z to the coordinates, after all other transforms, exactly. Bounds \
                       and the origin apply to the moved mesh [default: 0,0,0]")]
    translate: Option<String>,

    /// unit, after --scale: um, mm, cm, m, in, ft
    #[arg(long, value_name = "UNIT",
          display_order = LAST, long_help = "The unit of the coordinates after --scale: um, mm, cm, m, in or ft. \
                       Nothing is scaled. Lengths may then have units, as in --voxel-size 5cm; summary, JSON and \
                       files record the unit [default: unknown]")]
    unit: Option<String>,
}

/// Option for the axis that points up in the file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct UpArgs {
    /// the axis that points up in the file: y or z [z]
    #[arg(
        long,
        value_name = "y|z",
        long_help = "The axis that points up in the file. Files with a fixed up axis (.vox) are turned so \
                       that the mesh stands upright; arrays, coordinates and digests do not change [default: \
                       z]"
    )]
    up: Option<String>,
}

/// Returns a parser of units.
pub fn unit() -> impl TypedValueParser<Value = UnitOfLength> {
    PossibleValuesParser::new(units())
        .try_map(|name| UnitOfLength::from_name(&name).ok_or("no such name"))
}

/// Returns the names of units with their aliases.
pub fn units() -> Vec<PossibleValue> {
    let mut values = vec![];
    for unit in UnitOfLength::ALL {
        let aliases = UnitOfLength::ALIASES.iter().filter(|(_, of)| *of == unit);
        values.push(PossibleValue::new(unit.name()).aliases(aliases.map(|(alias, _)| *alias)));
    }
    values
}
