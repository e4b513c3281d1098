//! A difference for people.

use std::fmt::Write;

use voxelize::compare::{Difference, diff};
use voxelize::grid::lattice::AXES;
use voxelize::{Lattice, Voxels};

use super::super::numbers::{counted, grouped, number};
use super::{Args, Grid};

/// How many cells -v lists.
const LISTED: usize = 20;

/// The corners of a box of cells in world space.
pub fn corners(lattice: &Lattice, low: [usize; 3], high: [usize; 3]) -> [[f64; 3]; 2] {
    let at = |axis: usize, wall: usize| lattice.wall(axis, wall).to_f64();
    [std::array::from_fn(|a| at(a, low[a])), std::array::from_fn(|a| at(a, high[a] + 1))]
}

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

/// Where the difference lies: `x 3 … 5, y 0 … 7, z 2; in space x 0.3 … 0.6, …`.
fn boxed([low, high]: [[usize; 3]; 2], lattice: Option<&Lattice>) -> String {
    let cells: Vec<_> = (0..3)
        .map(|a| match (low[a], high[a]) {
            (low, high) if low == high => format!("{} {low}", AXES[a]),
            (low, high) => format!("{} {low} … {high}", AXES[a]),
        })
        .collect();
    let cells = format!("cells {}", cells.join(", "));
    let Some(lattice) = lattice else { return cells };
    let [min, max] = corners(lattice, low, high);
    let space: Vec<_> =
        (0..3).map(|a| format!("{} {} … {}", AXES[a], number(min[a]), number(max[a]))).collect();
    format!("{cells}; in space {}", space.join(", "))
}

/// A share of one, never rounded to all or nothing.
fn share(value: f64) -> String {
    let text = number(value);
    match (value, text.as_str()) {
        (v, "1") if v < 1.0 => "> 0.999999".to_string(),
        _ => text,
    }
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

/// One line with its label.
pub fn line(text: &mut String, label: &str, said: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{label:<8}{said}");
}
