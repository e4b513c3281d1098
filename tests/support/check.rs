//! Comparison of the library with the oracle, and shrinking of differences.

use std::fmt;
use std::panic::AssertUnwindSafe;

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice, Level, Rule, Run, Ties, Voxelizer};

use super::listed;
use super::meshes::{mesh_of, occupied};
use super::oracle::{self, Oracle, TIES};

/// Triangles on a lattice.
#[derive(Debug, Clone)]
pub struct Case {
    /// Triangles of the mesh.
    pub triangles: Vec<Triangle>,
    /// Lattice of the mesh.
    pub lattice: Lattice,
}

/// Way to run the library.
#[derive(Debug, Clone, Copy)]
pub struct How {
    level: Level,
    threads: usize,
}

/// Counts of the comparisons.
#[derive(Debug, Default, Clone, Copy)]
pub struct Compared {
    /// Triangles of meshes.
    pub triangles: u64,
    /// Decisions: a triangle, a cell, and ties.
    pub decisions: u64,
    /// Wrong cells of grids, over all ways to run.
    pub wrong: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.triangles += other.triangles;
        self.decisions += other.decisions;
        self.wrong += other.wrong;
    }
}

/// Wrong cell.
#[derive(Debug, Clone)]
pub struct Wrong {
    case: Case,
    how: How,
    ties: Ties,
    /// The cell, and the correct decision. `None` if the library panicked.
    cell: Option<([usize; 3], bool)>,
}

/// Returns the compared ways to run: every level, and several threads at one of them, which depends on the
/// case.
fn ways(case: &Case) -> Vec<How> {
    let levels = Level::available();
    let level = levels[case.lattice.dims().iter().sum::<usize>() % levels.len()];
    let mut ways: Vec<_> = levels
        .into_iter()
        .map(|level| How { level, threads: 1 })
        .collect();
    ways.push(How { level, threads: 3 });
    ways
}

/// Returns the grids of the oracle, one for each of [`TIES`], and the number of its queries.
fn expected(case: &Case) -> ([BitGrid; 3], u64) {
    let axes = oracle::axes(&case.lattice);
    let mut grids = TIES.map(|_| BitGrid::try_from(&case.lattice).expect("a small grid"));
    let mut queries = 0;
    for triangle in &case.triangles {
        let oracle = Oracle::new(&axes, triangle);
        let [x, y, z] = oracle.cells.map(|(first, last)| first..=last);
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let touched = oracle.touches([i, j, k]);
                    queries += 3;
                    for (grid, _) in grids
                        .iter_mut()
                        .zip(touched)
                        .filter(|(_, touched)| *touched)
                    {
                        grid.set([i as usize, j as usize, k as usize]);
                    }
                }
            }
        }
    }
    (grids, queries)
}

/// Returns the grid of the library. `None` if it panics.
fn found(case: &Case, how: How, ties: Ties) -> Option<BitGrid> {
    let mesh = mesh_of(case.triangles.clone());
    let run = Run::default().threads(how.threads).level(how.level);
    let rule = Rule::Surface { ties };
    let work = || occupied(Voxelizer::new(rule).with_run(run), &mesh, &case.lattice);
    std::panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Returns the differing cells with their correct values.
fn differing(expected: &BitGrid, found: Option<&BitGrid>) -> Vec<Option<([usize; 3], bool)>> {
    let Some(found) = found else {
        return vec![None];
    };
    let missing = expected
        .iter()
        .filter(|&cell| !found.get(cell))
        .map(|cell| Some((cell, true)));
    let extra = found
        .iter()
        .filter(|&cell| !expected.get(cell))
        .map(|cell| Some((cell, false)));
    missing.chain(extra).collect()
}

/// Compares one case in every way. Returns one wrong cell, if any.
pub fn compare(case: &Case) -> (Compared, Option<Wrong>) {
    let (expected, decisions) = expected(case);
    let mut compared = Compared {
        triangles: case.triangles.len() as u64,
        decisions,
        wrong: 0,
    };
    let mut first = None;
    for how in ways(case) {
        for (ties, expected) in TIES.into_iter().zip(&expected) {
            let found = found(case, how, ties);
            if found.as_ref() != Some(expected) {
                let cells = differing(expected, found.as_ref());
                compared.wrong += cells.len() as u64;
                first.get_or_insert_with(|| Wrong {
                    case: case.clone(),
                    how,
                    ties,
                    cell: cells[0],
                });
            }
        }
    }
    (compared, first)
}

impl Wrong {
    /// Returns the failure of the same way on other triangles, if they fail.
    fn with(&self, triangles: Vec<Triangle>) -> Option<Self> {
        let case = Case {
            triangles,
            lattice: self.case.lattice.clone(),
        };
        let n = TIES.iter().position(|&ties| ties == self.ties)?;
        let expected = &expected(&case).0[n];
        let cell = *differing(expected, found(&case, self.how, self.ties).as_ref()).first()?;
        Some(Self {
            cell,
            case,
            ..*self
        })
    }

    /// Removes triangles, then simplifies coordinates, as long as something stays wrong.
    pub fn shrunk(mut self) -> Self {
        let one = self
            .case
            .triangles
            .iter()
            .find_map(|&triangle| self.with(vec![triangle]));
        self = one.unwrap_or(self);
        let mut n = self.case.triangles.len();
        while n > 1 {
            n -= 1;
            let mut fewer = self.case.triangles.clone();
            fewer.remove(n.min(fewer.len() - 1));
            self = self.with(fewer).unwrap_or(self);
        }
        if self.case.triangles.len() == 1 {
            self = self.simplified();
        }
        self
    }

    /// Removes bits from coordinates.
    fn simplified(mut self) -> Self {
        for n in 0..9 {
            for zeros in (0..32).rev() {
                let mut triangle = self.case.triangles[0];
                let bits = triangle[n / 3][n % 3].to_bits();
                let simple = f32::from_bits(bits >> zeros << zeros);
                triangle[n / 3][n % 3] = simple;
                if let Some(simpler) = self.with(vec![triangle]) {
                    self = simpler;
                    break;
                }
            }
        }
        self
    }
}

impl fmt::Display for Wrong {
    /// Writes a row of `tests/it/regressions.rs`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let what = match self.cell {
            Some((cell, true)) => format!("Cell {cell:?} is touched"),
            Some((cell, false)) => format!("Cell {cell:?} is untouched"),
            None => "The library panics".to_string(),
        };
        let How { level, threads } = self.how;
        let ties = self.ties.name();
        writeln!(
            f,
            "# {what}, ties {ties}; wrong at {level:?}, {threads} threads."
        )?;
        listed::write(&self.case, f)
    }
}
