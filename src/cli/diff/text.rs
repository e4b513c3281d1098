//! A difference for people.

use voxelize::Voxels;
use voxelize::compare::{Difference, diff};

use super::super::boxes::{boxed, share};
use super::super::numbers::{counted, grouped};
use super::super::tell::line;
use super::{Args, Grid};

/// How many cells -v lists.
const LISTED: usize = 20;

/// Files, grid, counts and box.
pub fn lines(
    args: &Args,
    [first, second]: [&Voxels; 2],
    grid: &Grid,
    difference: &Difference,
    passes: bool,
) -> String {
    let mut text = String::new();
    for (label, path, voxels) in [("first", &args.first, first), ("second", &args.second, second)] {
        let [x, y, z] = voxels.dims();
        let occupied = counted(voxels.count(), "voxel", "voxels");
        line(&mut text, label, &format!("{}: {occupied} in {x} × {y} × {z} cells", path.display()));
    }
    line(&mut text, "grid", &grid.text(args));
    let cells = if difference.is_none() {
        "equal".to_string()
    } else {
        let Difference { common, added, removed, .. } = *difference;
        let verdict = if passes { "different, but within what is allowed" } else { "different" };
        let counts = [common, added, removed].map(grouped);
        let [common, added, removed] = &counts;
        let iou = share(difference.iou());
        format!("{verdict}: {added} added, {removed} removed, {common} common; intersection over union {iou}")
    };
    line(&mut text, "cells", &cells);
    if let Some(bounds) = difference.bounds {
        line(&mut text, "box", &boxed(bounds, grid.lattice));
    }
    text
}

/// The first cells that differ.
pub fn list(text: &mut String, first: &Voxels, second: &Voxels, difference: &Difference) {
    for ([i, j, k], sort) in diff::cells(&first.bits, &second.bits).take(LISTED) {
        line(text, "cell", &format!("({i}, {j}, {k}) {}", sort.name()));
    }
    let more = difference.differing().saturating_sub(LISTED as u64);
    if more > 0 {
        line(text, "cell", &format!("and {} more", grouped(more)));
    }
}
