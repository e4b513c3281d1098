//! Comparison of the library with the oracle: every way to run, every rule with an inside.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use voxelize::geom::{Point, Triangle};
use voxelize::grid::CellSource;
use voxelize::{BitGrid, Inside, Lattice, Level, Mesh, Rule, Run, Ties, Voxelizer};

use super::winding::Windings;
pub use crate::support::check::Case;
use crate::support::meshes::{mesh_of, occupied};
use crate::support::oracle::{self, Oracle, TIES};
use crate::support::suite::Counts;

/// Way to run the library.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Instruction set.
    pub level: Level,
    /// Number of threads.
    pub threads: usize,
    /// Layers of a slab. `None` for the whole grid at once.
    pub slabs: Option<usize>,
}

impl How {
    /// The best level, with this number of threads, in slabs of this height.
    pub fn best(threads: usize, slabs: Option<usize>) -> Self {
        let level = Level::best();
        Self {
            level,
            threads,
            slabs,
        }
    }
}

/// Returns every level with one thread, for the whole grid.
pub fn levels() -> impl Iterator<Item = How> {
    let levels = Level::available().into_iter();
    levels.map(|level| How {
        level,
        ..How::best(1, None)
    })
}

/// Returns several threads, and slabs of one layer and of a few.
pub fn plans() -> [How; 4] {
    [(2, None), (7, None), (1, Some(1)), (2, Some(5))]
        .map(|(threads, slabs)| How::best(threads, slabs))
}

/// Classification of the edges of triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chain {
    /// Every directed edge is cancelled by its reverse.
    Oriented,
    /// Every edge occurs an even number of times.
    Closed,
    /// Neither.
    Open,
}

impl Chain {
    /// Classifies all edges by the bits of their ends.
    pub fn of(triangles: &[Triangle]) -> Self {
        let bits = |p: Point| p.map(|c| (c + 0.0).to_bits());
        let mut edges: BTreeMap<_, (i64, u64)> = BTreeMap::new();
        for t in triangles {
            for n in 0..3 {
                let a = bits(t[n]);
                let b = bits(t[(n + 1) % 3]);
                let (sum, count) = edges.entry((a.min(b), a.max(b))).or_default();
                *sum += i64::from(a < b) - i64::from(b < a);
                *count += u64::from(a != b);
            }
        }
        if edges.values().all(|(sum, _)| *sum == 0) {
            Self::Oriented
        } else if edges.values().all(|(_, count)| count % 2 == 0) {
            Self::Closed
        } else {
            Self::Open
        }
    }
}

/// Counts of the comparisons.
#[derive(Default)]
struct Compared {
    grids: u64,
    cells: u64,
    inside: u64,
    /// Cells in which nonzero and evenodd differ.
    overlapping: u64,
    /// Cells of filled that are not in solid.
    touched: u64,
}

/// Grids of the oracle: solid by nonzero and evenodd, and the cells whose open interior is touched.
struct Expected {
    nonzero: BitGrid,
    evenodd: BitGrid,
    touched: BitGrid,
}

impl Expected {
    fn of(case: &Case, chain: Chain) -> Self {
        // For oriented meshes any ray is valid, and the library does not use this one.
        let axis = if chain == Chain::Oriented { 2 } else { 0 };
        let windings = Windings::along(axis, &case.triangles, &case.lattice);
        Self {
            nonzero: windings.nonzero(),
            evenodd: windings.evenodd(),
            touched: touched(case),
        }
    }

    fn solid(&self, inside: Inside) -> &BitGrid {
        if inside == Inside::EvenOdd {
            &self.evenodd
        } else {
            &self.nonzero
        }
    }
}

/// Returns the cells whose open interior a triangle meets.
fn touched(case: &Case) -> BitGrid {
    let open = TIES
        .iter()
        .position(|ties| *ties == Ties::None)
        .expect("one of three");
    let axes = oracle::axes(&case.lattice);
    let mut grid = BitGrid::try_from(&case.lattice).expect("few cells");
    for triangle in &case.triangles {
        let oracle = Oracle::new(&axes, triangle);
        let [x, y, z] = oracle.cells.map(|(first, last)| first..=last);
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let cell = [i, j, k].map(|c| c as usize);
                    if !grid.get(cell) && oracle.touches([i, j, k])[open] {
                        grid.set(cell);
                    }
                }
            }
        }
    }
    grid
}

/// Returns the cells of both grids.
pub fn union(a: &BitGrid, b: &BitGrid) -> BitGrid {
    let mut grid = a.clone();
    b.iter().for_each(|cell| grid.set(cell));
    grid
}

/// Returns the grid of the library.
pub fn found(mesh: &Mesh, lattice: &Lattice, what: Rule, how: How) -> BitGrid {
    let run = Run::default().threads(how.threads).level(how.level);
    let Some(height) = how.slabs else {
        return occupied(Voxelizer::new(what).with_run(run), mesh, lattice);
    };
    let mut slabs = Voxelizer::new(what)
        .with_run(run)
        .slabs(mesh, lattice, voxelize::run::Plan::Slabs(height))
        .expect("few cells");
    let mut grid = BitGrid::try_from(lattice).expect("few cells");
    while let Some(window) = slabs.next().expect("memory") {
        window
            .cells
            .occupied()
            .unwrap()
            .iter()
            .for_each(|[i, j, k]| grid.set([i, j, window.first + k]));
    }
    grid
}

/// Compares one case at every level, and with threads and in slabs in turn: for each rule and method another
/// plan, starting with plan `turn`.
///
/// # Panics
/// A cell is wrong.
fn compare(case: &Case, mut turn: usize) -> Compared {
    let chain = Chain::of(&case.triangles);
    let expected = Expected::of(case, chain);
    let mesh = mesh_of(case.triangles.clone());
    let count = |grid: &BitGrid| grid.iter().count() as u64;
    let not_in = |a: &BitGrid, b: &BitGrid| a.iter().filter(|cell| !b.get(*cell)).count() as u64;
    let mut compared = Compared {
        inside: count(&expected.nonzero),
        overlapping: not_in(&expected.nonzero, &expected.evenodd),
        ..Compared::default()
    };
    let mut insides = vec![
        (Inside::Nonzero, Inside::Nonzero),
        (Inside::EvenOdd, Inside::EvenOdd),
    ];
    match chain {
        Chain::Oriented => insides.push((Inside::Auto, Inside::Nonzero)),
        Chain::Closed => insides.push((Inside::Auto, Inside::EvenOdd)),
        Chain::Open => {}
    }
    for (inside, used) in insides {
        let solid = expected.solid(used);
        let filled = union(solid, &expected.touched);
        compared.touched += not_in(&filled, solid);
        for (rule, expected) in [(Rule::solid(), solid), (Rule::filled(), &filled)] {
            turn += 1;
            let plan = plans()[turn % 4];
            // The method that auto selects is already compared in every way.
            let every = if inside == Inside::Auto {
                1
            } else {
                usize::MAX
            };
            for how in levels().chain([plan]).take(every) {
                let found = found(&mesh, &case.lattice, rule.with_inside(inside).unwrap(), how);
                let wrong = not_in(&found, expected) + not_in(expected, &found);
                assert!(
                    wrong == 0,
                    "{wrong} cells wrong: {rule:?}, {inside:?}, {how:?}\n{}",
                    shown(case)
                );
                compared.grids += 1;
                compared.cells += case.lattice.cells() as u64;
            }
        }
    }
    compared
}

/// Returns a case for pasting. A long list of triangles is only counted.
pub fn shown(case: &Case) -> String {
    let Case { triangles, lattice } = case;
    let list = if triangles.len() > 60 {
        String::new()
    } else {
        format!("{triangles:?}")
    };
    format!("{} triangles {list}\n{lattice:?}", triangles.len())
}

/// Compares all cases, as many at a time as there are processors.
///
/// # Panics
/// A cell is wrong.
pub fn all(cases: &[Case]) -> Counts {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Compared::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(n) else { break };
                    let compared = compare(case, n);
                    let mut total = total.lock().expect("no thread panicked");
                    total.grids += compared.grids;
                    total.cells += compared.cells;
                    total.inside += compared.inside;
                    total.overlapping += compared.overlapping;
                    total.touched += compared.touched;
                }
            });
        }
    });
    let total = total.into_inner().expect("no thread panicked");
    let mut counts = vec![
        ("meshes", cases.len() as u64),
        ("grids", total.grids),
        ("decisions", total.cells),
        ("cells inside", total.inside),
        ("filled but not solid", total.touched),
    ];
    if total.overlapping > 0 {
        counts.push(("where nonzero and evenodd differ", total.overlapping));
    }
    counts
}
