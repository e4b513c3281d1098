//! Where cells are that differ, and how much: for the verbs that compare.

use voxelize::Lattice;
use voxelize::grid::lattice::AXES;

use super::numbers::number;

/// The corners of a box of cells in world space.
pub fn corners(lattice: &Lattice, low: [usize; 3], high: [usize; 3]) -> [[f64; 3]; 2] {
    let at = |axis: usize, wall: usize| lattice.wall(axis, wall).to_f64();
    [std::array::from_fn(|a| at(a, low[a])), std::array::from_fn(|a| at(a, high[a] + 1))]
}

/// Where the difference lies: `x 3 … 5, y 0 … 7, z 2; in space x 0.3 … 0.6, …`.
pub fn boxed([low, high]: [[usize; 3]; 2], lattice: Option<&Lattice>) -> String {
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
pub fn share(value: f64) -> String {
    let text = number(value);
    match (value, text.as_str()) {
        (v, "1") if v < 1.0 => "> 0.999999".to_string(),
        _ => text,
    }
}
