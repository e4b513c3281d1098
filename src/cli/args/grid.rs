//! Options of the grid.

use std::path::PathBuf;

use super::transform::TransformArgs;

/// Options of the grid and of coordinates. [`Argv::request`](crate::cli::argv::Argv::request) parses them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Grid")]
pub struct GridArgs {
    /// cells on the longest axis; levels: 64,32 [256]
    #[arg(
        short,
        long,
        value_name = "N",
        allow_negative_numbers = true,
        long_help = "Number of cells on the longest axis; the other axes get as many cells of this size as the mesh needs. \
                       Several numbers, as in 64,32,16, make levels of detail in one box: FILE-64.vox, FILE-32.vox, \
                       FILE-16.vox [default: 256]"
    )]
    res: Option<String>,

    /// cell size, 0.1, 5mm or SX,SY,SZ
    #[arg(long, value_name = "S", allow_hyphen_values = true,
          visible_aliases = ["pitch", "spacing"],
          long_help = "Size of a cell in the units of the file, or with a unit such as 5mm if --unit is given; \
                       one number for all axes, or SX,SY,SZ. Decimals are exact, to 40 digits; so is 1/3")]
    voxel_size: Option<String>,

    /// exactly this many cubic cells
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        long_help = "Exactly this many cells per axis. Cells are the smallest cubes for which the grid contains the mesh; the mesh \
                       is centred"
    )]
    dims: Option<String>,

    /// with --dims: fill the bounds, sides may differ
    #[arg(
        long,
        hide_short_help = true,
        long_help = "With --dims: fill the mesh's bounds exactly, with cells whose sides may differ"
    )]
    stretch: bool,

    /// with --voxel-size: walls pass through this point
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        hide_short_help = true,
        long_help = "With --voxel-size: walls between cells pass through this point on every axis, so that \
                       0,0,0 makes them multiples of the cell size; the corner of the grid may lie elsewhere [default: the mesh's smallest coordinates]"
    )]
    origin: Option<String>,

    /// fit the cells to this box
    #[arg(
        long,
        value_name = "X0,Y0,Z0,X1,Y1,Z1",
        allow_hyphen_values = true,
        long_help = "Fit the cells to this box, grown at the high end to whole cells, and leave out the mesh \
                       outside it [default: the mesh's bounds]"
    )]
    bounds: Option<String>,

    /// as many cells on every axis, mesh centred
    #[arg(
        long,
        hide_short_help = true,
        long_help = "The same number of cells on every axis as on the longest; cells are added on both sides of shorter axes"
    )]
    cube: bool,

    /// cells to add on every side [0]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        long_help = "Cells to add on every side; X,Y,Z for each axis; X0,Y0,Z0,X1,Y1,Z1 for each side. With \
                       --surface a face on the first or last wall also marks a layer of the padding: at the high \
                       end (--ties up) or at both (--ties both) [default: 0]"
    )]
    pad: Option<String>,

    /// the grid of this voxel file
    #[arg(
        long,
        value_name = "FILE",
        long_help = "Use the grid of FILE: dims, cell size, origin, snapping (--snap overrides it). FILE: a scan \
                       (.nrrd, .nii, .vti), .npz, .vox, .zarr, or any file with a sidecar. A .nrrd or .nii gets the axes of the scan, \
                       also tilted ones"
    )]
    like: Option<PathBuf>,

    /// snap coordinates rounded to 32 bits [float]
    #[arg(
        long,
        value_name = "float|none",
        hide_short_help = true,
        long_help = "float: a coordinate that is the 32-bit float nearest to a wall or a cell centre is \
                       treated as exactly on it, because no float is exactly 0.7. none: use coordinates as they are [default: float]"
    )]
    snap: Option<String>,

    #[command(flatten)]
    transform: TransformArgs,
}
