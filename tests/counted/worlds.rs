//! Correctness of every small world. Triangles with corners at multiples of a half or of a third of a cell,
//! on a lattice of 3 × 3 × 3 cells: every cell, all ties, and every level are compared with the thirteen axes
//! in integers, with walls displaced symbolically.
//!
//! Triangles differ in more than the order of their vertices and a translation by whole cells. Worlds are
//! placed in a row, five cells apart, along each axis in turn, so that the last walls of the two other axes
//! are closed. Some are placed alone, with all three closed.
//!
//! `VOXELIZE_WORLDS=1` takes every triangle of halves (some minutes in release builds), `N` every N-th. For
//! thirds, which are a hundred times as many, it takes a hundredth of that.

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice, Level, Rational, Rule, Ties, Voxelizer};

use crate::support::meshes::{cross, each_cell, mesh_of, minus, occupied};
use crate::support::suite::{Counts, Suite};

pub const SUITE: Suite = Suite::of(
    "worlds",
    &[("halves", || compare(2, 1)), ("thirds", || compare(3, 100))],
);

/// Cells per axis of a world.
const CELLS: i64 = 3;

/// Distance from one world to the next, in cells.
const PITCH: i64 = 5;

/// Worlds in a row.
const ROW: usize = 2000;

/// The gate takes every 53rd triangle.
const SHARE: usize = 53;

/// Corners in units of a cell divided by the grain.
type Corners = [[i64; 3]; 3];

fn compare(grain: i64, times: usize) -> Counts {
    let share =
        std::env::var("VOXELIZE_WORLDS").map_or(SHARE, |n| n.parse().expect("a number")) * times;
    let mut chosen = vec![];
    let mut seen = 0;
    let mut decisions = 0;
    let mut alone = 0;
    each_triangle(grain, |corners| {
        seen += 1;
        if seen % share as u64 == 0 {
            chosen.push(corners);
        }
    });
    for row in chosen.chunks(ROW) {
        for axis in 0..3 {
            decisions += compare_row(grain, row, Some(axis));
        }
    }
    for corners in chosen.iter().step_by(61) {
        alone += compare_row(grain, &[*corners], None);
    }
    vec![
        ("of", seen),
        ("triangles", chosen.len() as u64),
        ("decisions", decisions),
        ("alone", alone),
    ]
}

/// Calls `take` with each set of three corners whose bounds start in the first cell of every axis.
fn each_triangle(grain: i64, mut take: impl FnMut(Corners)) {
    let side = CELLS * grain + 1;
    let points: Vec<[i64; 3]> = (0..side.pow(3))
        .map(|n| [n % side, n / side % side, n / (side * side)])
        .collect();
    for (i, &a) in points.iter().enumerate() {
        for (j, &b) in points.iter().enumerate().skip(i) {
            for &c in &points[j..] {
                if (0..3).all(|axis| a[axis].min(b[axis]).min(c[axis]) < grain) {
                    take([a, b, c]);
                }
            }
        }
    }
}

/// Compares worlds in a row along an axis, or a single one, at every level. Returns the number of decided
/// cells.
fn compare_row(grain: i64, worlds: &[Corners], row: Option<usize>) -> u64 {
    // Thirds are integers if a cell is three units.
    let unit = if grain == 3 { 1.0 } else { 1.0 / grain as f32 };
    let spacing = Rational::from(if grain == 3 { 3 } else { 1 });
    let place = |n: usize, axis: usize| {
        if row == Some(axis) {
            1 + PITCH * n as i64
        } else {
            0
        }
    };
    let dims = [0, 1, 2].map(|axis| {
        if row == Some(axis) {
            PITCH as usize * worlds.len()
        } else {
            CELLS as usize
        }
    });
    let lattice = Lattice::new(
        dims,
        [0; 3].map(|_| Rational::from(0)),
        [0; 3].map(|_| spacing.clone()),
        [true; 3],
    );
    let lattice = lattice.expect("a lattice");
    let at = |n: usize, v: &[i64; 3]| -> [f32; 3] {
        [0, 1, 2].map(|axis| (v[axis] + grain * place(n, axis)) as f32 * unit)
    };
    let triangles: Vec<Triangle> = worlds
        .iter()
        .enumerate()
        .map(|(n, corners)| corners.each_ref().map(|v| at(n, v)))
        .collect();
    let mut expected = Ties::ALL.map(|_| BitGrid::try_from(&lattice).expect("few cells"));
    let mut cells = 0;
    for (n, corners) in worlds.iter().enumerate() {
        for cell in 0..PITCH.pow(3) {
            let cell = [cell % PITCH, cell / PITCH % PITCH, cell / (PITCH * PITCH)].map(|c| c - 1);
            let whole = [0, 1, 2].map(|axis| cell[axis] + place(n, axis));
            if (0..3).any(|axis| whole[axis] < 0 || whole[axis] >= dims[axis] as i64) {
                continue;
            }
            cells += 1;
            let last = [0, 1, 2].map(|axis| row != Some(axis) && cell[axis] == CELLS - 1);
            for (grid, touches) in expected.iter_mut().zip(touched(grain, corners, cell, last)) {
                if touches {
                    grid.set(whole.map(|c| c as usize));
                }
            }
        }
    }
    let mesh = mesh_of(triangles);
    for (ties, expected) in Ties::ALL.into_iter().zip(&expected) {
        for level in Level::available() {
            let voxelizer = Voxelizer::new(Rule::Surface { ties });
            let found = occupied(voxelizer.threads(1).level(level), &mesh, &lattice);
            assert!(
                found == *expected,
                "{}",
                first_difference(grain, worlds, row, ties, level, &found, expected)
            );
        }
    }
    cells * Ties::ALL.len() as u64
}

/// Describes the mismatch with the corners of its world.
fn first_difference(
    grain: i64,
    worlds: &[Corners],
    row: Option<usize>,
    ties: Ties,
    level: Level,
    found: &BitGrid,
    expected: &BitGrid,
) -> String {
    let mut cells = each_cell(found.dims());
    let cell = cells.find(|cell| found.get(*cell) != expected.get(*cell));
    let cell = cell.expect("they differ");
    let world = row.map_or(0, |axis| cell[axis] / PITCH as usize);
    format!(
        "corners {:?} by {grain}, row {row:?}, ties {ties:?}, {level:?}: cell {cell:?} of world {world} is {}",
        worlds[world],
        found.get(cell)
    )
}

/// Number with infinitesimal parts in x, y and z, each far below the previous one.
type Displaced = [i64; 4];

/// Reports whether a triangle touches a cell, under each of [`Ties::ALL`]: none of the thirteen axes
/// separates them.
fn touched(grain: i64, corners: &Corners, cell: [i64; 3], last: [bool; 3]) -> [bool; 3] {
    let units = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let edges = [0, 1, 2].map(|v| minus(corners[(v + 1) % 3], corners[v]));
    let mut axes = vec![cross(edges[0], edges[1])];
    axes.extend(units);
    axes.extend(
        edges
            .iter()
            .flat_map(|edge| units.map(|unit| cross(*edge, unit))),
    );
    // Displacements of the low and the high wall of an axis.
    let walls = Ties::ALL.map(|ties| {
        last.map(|is_last| match ties {
            Ties::Up => [-1, if is_last { 1 } else { -1 }],
            Ties::Both => [0, 0],
            _ => [1, -1],
        })
    });
    walls.map(|walls| {
        axes.iter().filter(|axis| **axis != [0; 3]).all(|axis| {
            let along = corners.map(|v| (0..3).map(|a| axis[a] * v[a]).sum::<i64>());
            let least = along.into_iter().min().expect("three");
            let most = along.into_iter().max().expect("three");
            let [low, high] = [false, true].map(|is_high| -> Displaced {
                let mut end = [0; 4];
                for a in 0..3 {
                    // The wall that is farther in that direction.
                    let wall = usize::from((axis[a] > 0) == is_high);
                    end[0] += axis[a] * grain * (cell[a] + wall as i64);
                    end[1 + a] = axis[a] * walls[a][wall];
                }
                end
            });
            [most, 0, 0, 0] >= low && [least, 0, 0, 0] <= high
        })
    })
}
