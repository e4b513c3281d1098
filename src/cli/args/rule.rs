//! Options of the rule, which decides the occupied cells.

use std::path::PathBuf;

use voxelize::grid::Quantity;
use voxelize::{Error, Inside, Kind, METHODS, Rational};

use super::values;

/// Options of the rule. [`Argv::request`](crate::cli::argv::Argv::request) parses them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct RuleArgs {
    /// also thin, offset, distance, fraction, area
    #[arg(
        long,
        value_name = "RULE",
        long_help = "Occupied cells. surface: the mesh touches the cell. thin: it crosses a line between centres of \
                       opposite faces. filled: it overlaps the part. solid: the centre is inside. offset: the centre is \
                       within --radius. Fields: distance, fraction (share inside), area [default: surface]"
    )]
    rule: Option<String>,

    /// every cell the mesh touches; hollow [default]
    #[arg(long, long_help = "The same as --rule surface")]
    surface: bool,

    /// every cell that overlaps the part
    #[arg(long, long_help = "The same as --rule filled")]
    filled: bool,

    /// cells whose centre is inside
    #[arg(long, long_help = "The same as --rule solid")]
    solid: bool,

    #[arg(long, help = methods(), value_name = "METHOD",
          long_help = "With --solid, --filled. nonzero: winding number not 0. evenodd: odd crossings. flood: not reached \
                       from outside. vote: evenodd on 2 of 3 axes. robust: winding number > 0.5 after repair. auto: nonzero \
                       if closed and oriented, evenodd if closed, or robust [default: auto]")]
    inside: Option<String>,

    /// with --inside flood: cap holes up to N cells wide
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        hide_short_help = true,
        long_help = "With --inside flood: cap holes up to N cells wide before flooding. Cells of caps are \
                       occupied with --filled, not with --solid [default: no caps]"
    )]
    close_holes: Option<String>,

    /// with --solid: keep thin features
    #[arg(
        long,
        hide_short_help = true,
        long_help = "With --solid: keep thin features. Adds the --filled cells that connect components, ribs \
                       and spikes that --solid would lose or break. Criterion: docs/reference/rules.md"
    )]
    keep_thin: bool,

    /// with --solid or --filled: only a shell, 2mm or N layers thick
    #[arg(
        long,
        value_name = "T",
        allow_negative_numbers = true,
        hide_short_help = true,
        long_help = "With --solid or --filled: keep only cells whose centre is within a distance of the mesh, such as 2mm, 3vx (in \
                       cells) or 2units. A number alone, with --filled: a shell of N layers of cells, up to 1.7 N \
                       thick in oblique directions [default: all cells]"
    )]
    hollow: Option<String>,

    /// with --hollow: a hole of diameter D from a point to the cavity
    #[arg(
        long,
        value_name = "X,Y,Z,D",
        allow_hyphen_values = true,
        hide_short_help = true,
        long_help = "With --hollow: cut a drain hole of diameter D straight from the point X,Y,Z on the surface to the nearest \
                       point of the cavity. It empties cells whose centre is within D/2 of this line. Units as in \
                       2.5mm. May be repeated [default: no holes]"
    )]
    drain: Vec<String>,

    /// with --rule offset: the distance, 0.5 or 2vx
    #[arg(
        long,
        value_name = "R",
        allow_hyphen_values = true,
        hide_short_help = true,
        long_help = "With --rule offset: the largest distance from the mesh to the centre of an occupied \
                       cell, in units of the file, or in cells as 2vx (by their smallest side). With --res and \
                       --voxel-size the grid grows by that distance, unless --pad is given"
    )]
    radius: Option<String>,

    /// with --rule distance: W cells from the mesh [3]
    #[arg(
        long,
        value_name = "W|all",
        allow_hyphen_values = true,
        hide_short_help = true,
        long_help = "With --rule distance: store distances below W, cells as in 2.5 or a length as in 10mm or \
                       10units (of the file); the other cells get the width of the band as background. all: \
                       store every distance [default: 3]"
    )]
    band: Option<String>,

    /// with --rule distance: negative inside
    #[arg(
        long,
        hide_short_help = true,
        long_help = "With --rule distance: set the sign bit in every cell whose centre is inside, as --inside decides"
    )]
    signed: bool,

    /// with --rule distance: cells up to V, not a field
    #[arg(
        long,
        value_name = "V",
        allow_hyphen_values = true,
        hide_short_help = true,
        long_help = "With --rule distance: write cells instead of a field; a cell is occupied if its value is at most V, \
                       0.5, 2mm or 2vx. -2mm with --signed shrinks the part. V must be less than the band \
                       [default: a field]"
    )]
    iso: Option<String>,

    #[command(flatten)]
    parts: PartArgs,

    /// a face on a wall marks above, both or none
    #[arg(
        long,
        value_name = "up|both|none",
        long_help = "With --surface and --filled: a face that lies exactly on a wall between cells marks the \
                       cell above it (up), both cells (both) or no cell (none) [default: up; filled: none; a flood: always up]"
    )]
    ties: Option<String>,
}

/// Options that divide a mesh into parts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rule")]
struct PartArgs {
    /// label cells by file, object, material, colour
    #[arg(
        long,
        value_name = "file|object|material|colour",
        hide_short_help = true,
        long_help = "Label cells by file, object or material; a shared cell gets the first label. With --rule fraction or \
                       area each part has a field. NAME=FILE names a file. colour: the colour of the nearest \
                       triangle. object,colour: a label per colour of a part [default: no labels]"
    )]
    labels: Option<String>,

    /// parts that win shared cells, first to last
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "labels",
        hide_short_help = true,
        long_help = "With --labels: a cell of several parts gets the label of the first of them. These parts come first, in this \
                       order, then the other parts in the order of the file [default: the order of the file]"
    )]
    priority: Vec<String>,

    /// use only this part; may be repeated
    #[arg(
        long,
        hide_short_help = true,
        value_name = "NAME",
        long_help = "Use only the parts with this name: objects, or materials with --labels material. May be \
                       repeated [default: all]"
    )]
    only: Vec<String>,

    /// leave this part out; may be repeated
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        long_help = "Leave out the parts with this name: objects, or materials with --labels material. May be repeated \
                     [default: none]"
    )]
    skip: Vec<String>,
}

/// Returns the help text of `--inside`: `auto|nonzero|evenodd [auto]`.
fn methods() -> String {
    let names: Vec<_> = METHODS.iter().map(|method| method.name).collect();
    format!("{} [{}]", names.join("|"), Inside::default().name())
}

/// Returns `error` with `prefix` before its message, such as the name of an option.
pub fn prefixed(prefix: &str, error: &Error) -> Error {
    match error.kind() {
        Kind::Usage | Kind::TooLarge => error
            .clone()
            .with_message(format!("{prefix}{}", error.message())),
        _ => error.clone(),
    }
}

/// Options of a flood.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct LeakArgs {
    /// write where a flood leaks in
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "skip_existing",
        hide_short_help = true,
        long_help = "With --inside flood: write to FILE a shortest path of cells from the outside through \
                       every hole that leaks, in the format of its extension. Takes six times the memory of \
                       the grid [default: none]"
    )]
    pub leak: Option<PathBuf>,
}

/// Options of distances.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct NearestArgs {
    /// write the nearest triangle of each cell
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "skip_existing",
        hide_short_help = true,
        long_help = "With --rule distance: write to FILE the index of the triangle nearest to each cell, as a \
                       .npy of int32. Indices start at 0. If several triangles are equally near, the lowest index is written; \
                       beyond the band, -1 [default: none]"
    )]
    pub nearest: Option<PathBuf>,
}

/// Options that request arrays in addition to the shares of the cells.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct QuantityArgs {
    /// more arrays: area,normal,faces,centroid
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = values::quantity(),
        hide_short_help = true,
        long_help = "With --rule fraction: more arrays in a .npz or .vti, with commas. area: area of the mesh in \
                       each cell. normal: its area vector, outwards. faces: open shares of the low x, y, z faces. \
                       centroid: centroid of the inside, from the cell centre, in cell sides [default: none]"
    )]
    pub with: Vec<Quantity>,
}

/// Options of the cells in doubt: cells for which the methods of `--inside` disagree.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct DoubtArgs {
    /// write the cells on which methods disagree
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "skip_existing",
        hide_short_help = true,
        long_help = "With --solid and --filled: write to FILE the cells on which nonzero, evenodd, robust and \
                       flood disagree, labelled by the methods that call them inside. flood is compared \
                       only off the surface, and not at all if it leaked. Takes six times the memory of the grid \
                       [default: none]"
    )]
    pub doubt: Option<PathBuf>,

    /// fail above this share of cells in doubt
    #[arg(long, value_name = "X", value_parser = values::portion, allow_negative_numbers = true,
          conflicts_with = "skip_existing", hide_short_help = true,
          long_help = "Exit with code 1 if the cells in doubt exceed this share, 0.01 or 1%, of the cells that \
                       any compared method calls inside. Outputs are still written. Not allowed with --skip-existing \
                       [default: none]")]
    pub max_doubt: Option<Rational>,
}
