//! `--pictures`: the cells that differ, as voxels in two colours and as a picture beside what is the
//! same, seen from the side where they are.

use std::path::{Path, PathBuf};

use voxelize::compare::{Difference, diff};
use voxelize::format::{self, SaveOptions};
use voxelize::grid::Sort;
use voxelize::view::{self, From, View};
use voxelize::{Lattice, Rational, Result, Voxels};

/// Writes `NAME.vox` and `NAME.png` into `folder`, and gives their names.
///
/// # Errors
/// If they cannot be written.
pub fn write(
    folder: &Path,
    name: &str,
    [golden, now]: [&Voxels; 2],
    difference: &Difference,
) -> Result<Vec<PathBuf>> {
    let (mut parts, lattice) = (Vec::from(diff::parts(&golden.bits, &now.bits)?), now.lattice.as_ref());
    let [vox, png] = ["vox", "png"].map(|extension| folder.join(format!("{name}.{extension}")));
    let spacing = lattice.map_or([1.0; 3], |lattice| lattice.spacing().each_ref().map(Rational::to_f64));
    let from = lattice.zip(difference.bounds).map_or(View::default().from, |(l, bounds)| side(l, bounds));
    view::cells(&parts, spacing, &View { from, ..View::default() })?.save(&png)?;
    parts.retain(|part| part.sort != Sort::Common);
    if let Some(format) = format::by_name("vox") {
        format::save_parts(&parts, lattice, &vox, format, &SaveOptions::default())?;
    }
    Ok(vec![vox, png])
}

/// The corner of the grid from which a box of cells is seen best: the one on its side.
fn side(lattice: &Lattice, [low, high]: [[usize; 3]; 2]) -> From {
    let beyond = |axis: usize| low[axis] + high[axis] + 1 >= lattice.dims()[axis];
    // The viewer goes around from the front, which is at low y.
    let azimuth = match (beyond(0), beyond(1)) {
        (true, false) => 45.0,
        (true, true) => 135.0,
        (false, true) => 225.0,
        (false, false) => 315.0,
    };
    let From { elevation, .. } = View::default().from;
    From::new(azimuth, if beyond(2) { elevation } else { -elevation })
}
