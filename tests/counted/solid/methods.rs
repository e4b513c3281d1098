//! Other methods for the inside, each compared with its definition: vote with the oracle's rays along three
//! axes, flood with a queue of cells, robust with the sum of all solid angles of the repaired mesh.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::VecDeque;

use voxelize::geom::{Triangle, Winding};
use voxelize::mesh::repair::Repaired;
use voxelize::{
    BitGrid, Inside, Lattice, Mesh, Rational, Rule, Run, Snap, Ties, Voxelizer, voxelize,
};

use super::check::Case;
use super::winding::Windings;
use super::{closed, soups};
use crate::support::meshes;
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

fn mesh(case: &Case) -> Mesh {
    Mesh::from_triangles(case.triangles.clone()).expect("finite")
}

fn solid(case: &Case, inside: Inside, threads: usize) -> BitGrid {
    let run = Run::default().threads(threads);
    Voxelizer::new(Rule::solid().with_inside(inside).unwrap())
        .with_run(run)
        .run(&mesh(case), &case.lattice)
        .expect("it fits")
        .voxels
        .into_occupied()
        .unwrap()
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
            for cell in cells(&case.lattice) {
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

/// Cells that a queue of cells does not reach from outside, between cells of the surface.
pub fn flood() -> Counts {
    let mut counts = Tally::default();
    for case in cases().into_iter().chain(closed::fixtures()) {
        let walls = voxelize(
            &mesh(&case),
            &case.lattice,
            Rule::Surface { ties: Ties::Up },
        )
        .unwrap()
        .into_occupied()
        .unwrap();
        let outside = reached(&walls);
        let what = Rule::filled().with_inside(Inside::flood()).unwrap();
        let filled = voxelize(&mesh(&case), &case.lattice, what)
            .unwrap()
            .into_occupied()
            .unwrap();
        for threads in [1, 3] {
            let found = solid(&case, Inside::flood(), threads);
            for cell in cells(&case.lattice) {
                assert_eq!(
                    found.get(cell),
                    !outside.get(cell) && !walls.get(cell),
                    "{cell:?} of {case:?}"
                );
                assert_eq!(
                    filled.get(cell),
                    !outside.get(cell),
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

fn reached(walls: &BitGrid) -> BitGrid {
    let dims = walls.dims();
    let mut found = BitGrid::new(dims).unwrap();
    let on_face = |cell: [usize; 3]| (0..3).any(|a| cell[a] == 0 || cell[a] + 1 == dims[a]);
    let all = (0..dims[2])
        .flat_map(|k| (0..dims[1]).flat_map(move |j| (0..dims[0]).map(move |i| [i, j, k])));
    let mut queue: VecDeque<[usize; 3]> = all
        .filter(|cell| on_face(*cell) && !walls.get(*cell))
        .collect();
    queue.iter().for_each(|cell| found.set(*cell));
    while let Some(cell) = queue.pop_front() {
        for axis in 0..3 {
            for step in [-1, 1] {
                let mut next = cell;
                let Some(n) = cell[axis]
                    .checked_add_signed(step)
                    .filter(|n| *n < dims[axis])
                else {
                    continue;
                };
                next[axis] = n;
                if !walls.get(next) && !found.get(next) {
                    found.set(next);
                    queue.push_back(next);
                }
            }
        }
    }
    found
}

/// All solid angles of the repaired mesh, one by one, in cells where they decide.
pub fn robust() -> Counts {
    let mut counts = Tally::default();
    let open = meshes::fixture("open.stl");
    let without = |name: &str, every: usize| {
        let whole = meshes::fixture(name);
        let left = whole
            .triangles()
            .iter()
            .enumerate()
            .filter(|(n, _)| n % every != 3)
            .map(|(_, t)| *t);
        Mesh::from_triangles(left.collect()).unwrap()
    };
    let torn = [
        without("knot.stl", 9),
        without("sphere.stl", 50),
        without("cube.stl", 7),
    ];
    let mut all: Vec<Case> = torn
        .iter()
        .chain([&open])
        .map(|mesh| fitted(mesh, 26))
        .collect();
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
        let repaired = Repaired::new(&mesh(&case)).unwrap();
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
        for cell in cells(&case.lattice) {
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
            assert_eq!(
                found[0].get(cell),
                seen.value > 0.5,
                "{cell:?}: {seen:?}, {case:?}"
            );
            counts.add("cells", 1);
            counts.add(
                "between",
                u64::from((seen.value - seen.value.round()).abs() > 0.05),
            );
        }
        counts.add("meshes", 1);
    }
    counts.at_least("between", 1000)
}

fn fitted(mesh: &Mesh, longest: usize) -> Case {
    let lattice = Lattice::fit(mesh.bounds(), longest).unwrap();
    Case {
        triangles: mesh.triangles().to_vec(),
        lattice,
    }
}

fn cells(lattice: &Lattice) -> impl Iterator<Item = [usize; 3]> + use<> {
    let [nx, ny, nz] = lattice.dims();
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}
