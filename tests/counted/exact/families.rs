//! Families of compared triangles. A family creates one case at a time from random numbers.

use super::{aimed, exactly, kinds};
use crate::support::check::Case;
use crate::support::random::Random;

/// Family of cases.
pub struct Family {
    /// Name of the family.
    pub name: &'static str,
    /// Number of cases in the gate.
    pub cases: u64,
    /// Creates a case.
    pub make: fn(&mut Random) -> Case,
}

const fn family(name: &'static str, cases: u64, make: fn(&mut Random) -> Case) -> Family {
    Family { name, cases, make }
}

/// All families.
pub static FAMILIES: &[Family] = &[
    family("generic", 150, kinds::generic),
    family("smaller than a cell", 40, |r| kinds::small(r, 0.9)),
    family("up to two cells", 60, |r| kinds::small(r, 1.8)),
    family("up to four cells", 50, |r| kinds::small(r, 3.8)),
    family("rows of cells", 40, |r| kinds::small(r, 11.0)),
    family("whole numbers", 200, |r| kinds::aligned(r, 1.0, "1/1")),
    family("halves", 200, |r| kinds::aligned(r, 0.5, "1/1")),
    family("quarters", 80, |r| kinds::aligned(r, 0.25, "1/1")),
    family("small, on halves", 40, kinds::small_aligned),
    family("small, ending on the last walls", 800, kinds::small_ending),
    family("tenths", 250, |r| kinds::aligned(r, 0.1, "1/10")),
    family("24ths of an extent", 60, |r| kinds::divided(r, 24)),
    family("100ths of an extent", 40, |r| kinds::divided(r, 100)),
    family("slivers", 120, kinds::slivers),
    family("needles through bricks", 60, kinds::needles),
    family("points and segments", 250, kinds::degenerate),
    family("far away", 80, kinds::far),
    family("huge, cut by bounds", 150, kinds::huge),
    family("subnormal and negative zero", 100, kinds::subnormal),
    family("bounds just below zero", 40, kinds::cad_bounds),
    family("snapped spheres", 12, kinds::snapped_sphere),
    family("fixtures", 80, kinds::fixtures),
    family("stretched", 150, kinds::stretched),
    family("cut open", 150, kinds::cut_open),
    family("beyond a closed wall", 150, kinds::beyond_closed),
    family("aimed: edges, few cells", 120, |r| aimed::edges(r, 1.9)),
    family("aimed: edges, four cells around", 120, aimed::edges_around),
    family("aimed: edges, four cells", 80, |r| aimed::edges(r, 3.9)),
    family("aimed: edges, rows", 80, |r| aimed::edges(r, 12.0)),
    family("aimed: planes, few cells", 120, |r| aimed::planes(r, 1.9)),
    family("aimed: planes, four cells", 80, |r| aimed::planes(r, 3.9)),
    family("aimed: planes, rows", 80, |r| aimed::planes(r, 12.0)),
    family("aimed: vertices near walls", 60, |r| aimed::vertices(r, 4)),
    family("aimed: vertices near walls, rows", 100, |r| {
        aimed::vertices(r, 14)
    }),
    family("aimed: tips beyond walls", 60, aimed::tips),
    family("exactly on walls, odd cells", 150, exactly::walls),
    family("exactly through corners, odd cells", 150, exactly::corners),
    family("cells below the float step", 150, exactly::fine),
    family("beside a wall, beyond doubles", 100, exactly::beside),
    family("walls beside the middle of floats", 200, exactly::middles),
];
