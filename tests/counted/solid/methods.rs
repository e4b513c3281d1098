//! Other methods for the inside, each compared with its definition: vote with the oracle's rays along three
//! axes, flood with the flood of the suite `separation`, robust with the sum of all solid angles of the repaired mesh.

use std::cell::Cell;
use std::cmp::Ordering;

use voxelize::geom::{Triangle, Winding};
use voxelize::mesh::repair::Repaired;
use voxelize::{BitGrid, Bounds, Inside, Lattice, Rational, Rule, Snap, Ties, Voxelizer};

use super::check::Case;
use super::winding::Windings;
use super::{closed, soups};
use crate::separation::flood::{Steps, from_outside, index};
use crate::support::meshes::{each_cell, fixture, mesh_of, occupied};
use crate::support::solids::without;
use crate::support::suite::Counts;

/// Counts in the order of their first use.
#[derive(Default)]
pub struct Tally(Counts);

impl Tally {
    /// Adds to a count.
    pub fn add(&mut self, what: &'static str, count: u64) {
        match self.0.iter_mut().find(|(name, _)| *name == what) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((what, count)),
        }
    }

    /// Returns all counts. One of them must be at least `count`.
    pub fn at_least(self, what: &'static str, count: u64) -> Counts {
        let found = self
            .0
            .iter()
            .find(|(name, _)| *name == what)
            .map_or(0, |(_, sum)| *sum);
        assert!(found >= count, "{found} {what}");
        self.0
    }
}

fn solid(case: &Case, inside: Inside, threads: usize) -> BitGrid {
    cells_of(case, Rule::solid().with_inside(inside).unwrap(), threads)
}

fn cells_of(case: &Case, rule: Rule, threads: usize) -> BitGrid {
    let mesh = mesh_of(case.triangles.clone());
    occupied(Voxelizer::new(rule).threads(threads), &mesh, &case.lattice)
}

/// Returns closed meshes, and meshes that are neither closed nor consistently oriented.
fn cases() -> Vec<Case> {
    let some = |cases: Vec<Case>| cases.into_iter().step_by(5);
    some(soups::open())
        .chain(some(soups::not_oriented()))
        .chain(some(soups::anywhere()))
        .collect()
}

/// Two of three rays find the cell inside.
pub fn vote() -> Counts {
    let mut counts = Tally::default();
    for case in cases()
        .into_iter()
        .chain(closed::fixtures().into_iter().step_by(4))
    {
        let rays =
            [0, 1, 2].map(|axis| Windings::along(axis, &case.triangles, &case.lattice).evenodd());
        for threads in [1, 3] {
            let found = solid(&case, Inside::Vote, threads);
            for cell in each_cell(case.lattice.dims()) {
                let votes = rays.iter().filter(|grid| grid.get(cell)).count();
                assert_eq!(found.get(cell), votes >= 2, "{cell:?} of {case:?}");
                counts.add("cells", 1);
                counts.add("disputed", u64::from(votes % 3 != 0));
            }
        }
        counts.add("meshes", 1);
    }
    counts.at_least("disputed", 100)
}

/// Cells that a flood by faces does not reach from outside, between cells of the surface.
pub fn flood() -> Counts {
    let mut counts = Tally::default();
    for case in cases().into_iter().chain(closed::fixtures()) {
        let walls = cells_of(&case, Rule::Surface { ties: Ties::Up }, 1);
        let outside = from_outside(&walls, Steps::Faces);
        let what = Rule::filled().with_inside(Inside::flood()).unwrap();
        let filled = cells_of(&case, what, 1);
        for threads in [1, 3] {
            let found = solid(&case, Inside::flood(), threads);
            for cell in each_cell(case.lattice.dims()) {
                let is_outside = outside[index(walls.dims(), cell.map(|c| c + 1))];
                let is_inside = !is_outside && !walls.get(cell);
                assert_eq!(found.get(cell), is_inside, "{cell:?} of {case:?}");
                assert_eq!(
                    filled.get(cell),
                    !is_outside,
                    "filled, {cell:?} of {case:?}"
                );
                counts.add("cells", 1);
                counts.add("inside", u64::from(found.get(cell)));
            }
        }
        counts.add("meshes", 1);
    }
    counts.at_least("inside", 100)
}

/// All solid angles of the repaired mesh, one by one, in cells where they decide.
pub fn robust() -> Counts {
    let mut counts = Tally::default();
    let mut all: Vec<Case> = [("knot.stl", 9), ("sphere.stl", 50), ("cube.stl", 7)]
        .map(|(name, every)| fitted(without(&fixture(name), |n| n % every == 3)))
        .into();
    all.push(fitted(fixture("open.stl").triangles().to_vec()));
    all.extend(
        cases()
            .into_iter()
            .filter(|case| case.triangles.len() < 60)
            .take(60),
    );
    for case in all {
        let case = Case {
            lattice: case.lattice.with_snap(Snap::None),
            ..case
        };
        let repaired = Repaired::new(&mesh_of(case.triangles.clone())).unwrap();
        // In units of cells along x, from the centre of the first cell.
        let sizes = case.lattice.spacing().each_ref().map(Rational::to_f64);
        let place = |v: [f32; 3]| -> [f64; 3] {
            std::array::from_fn(|a| {
                let from_first = case.lattice.axis(a).index(v[a]) - Rational::new(1, 2);
                from_first.to_f64() * sizes[a] / sizes[0]
            })
        };
        let placed = |t: &Triangle| t.map(place);
        let winding = Winding::new(repaired.triangles.iter().map(placed).collect());
        let found = [1, 3].map(|threads| solid(&case, Inside::Robust, threads));
        assert_eq!(found[0], found[1]);
        for cell in each_cell(case.lattice.dims()) {
            let centre = std::array::from_fn(|a| cell[a] as f64 * sizes[a] / sizes[0]);
            let on_plane = Cell::new(false);
            let seen = winding.direct(&centre, |_| {
                on_plane.set(true);
                Ordering::Equal
            });
            if on_plane.get() || (seen.value - 0.5).abs() <= seen.error + 1e-6 {
                counts.add("cells too near to tell", 1);
                continue;
            }
            let is_inside = seen.value > 0.5;
            assert_eq!(
                found[0].get(cell),
                is_inside,
                "{cell:?}: {seen:?}, {case:?}"
            );
            counts.add("cells", 1);
            let is_between = (seen.value - seen.value.round()).abs() > 0.05;
            counts.add("between", u64::from(is_between));
        }
        counts.add("meshes", 1);
    }
    counts.at_least("between", 1000)
}

fn fitted(triangles: Vec<Triangle>) -> Case {
    let lattice = Lattice::fit(&Bounds::of(&triangles), 26).unwrap();
    Case { triangles, lattice }
}
