//! Compares the library with the oracle, and makes what differs small.

use std::fmt;

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice, Level, Mesh, Rational, Rule, Run, Snap, Ties, voxelize_with};

use crate::oracle::{self, Oracle, TIES};

/// Triangles on a lattice.
#[derive(Debug, Clone)]
pub struct Case {
    /// The mesh.
    pub triangles: Vec<Triangle>,
    /// Its lattice.
    pub lattice: Lattice,
}

/// A way to run the library.
#[derive(Debug, Clone, Copy)]
pub struct How {
    level: Level,
    threads: usize,
}

/// What was compared.
#[derive(Debug, Default, Clone, Copy)]
pub struct Compared {
    /// Triangles of meshes.
    pub triangles: u64,
    /// Questions: does this triangle touch this cell under these ties.
    pub decisions: u64,
    /// Cells of grids that were wrong, over all ways to run.
    pub wrong: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.triangles += other.triangles;
        self.decisions += other.decisions;
        self.wrong += other.wrong;
    }
}

/// A cell that is wrong.
#[derive(Debug, Clone)]
pub struct Wrong {
    case: Case,
    how: How,
    ties: Ties,
    cell: [usize; 3],
    expected: bool,
}

/// Every way to run that is compared.
pub fn ways() -> Vec<How> {
    let with = |threads| Level::available().into_iter().map(move |level| How { level, threads });
    with(1).chain(with(3)).collect()
}

/// The grids that the oracle gives, one for each of [`TIES`], and how often it was asked.
fn expected(case: &Case) -> ([BitGrid; 3], u64) {
    let axes = oracle::axes(&case.lattice);
    let mut grids = TIES.map(|_| BitGrid::try_from(&case.lattice).expect("a small grid"));
    let mut asked = 0;
    for triangle in &case.triangles {
        let oracle = Oracle::new(&axes, triangle);
        let [x, y, z] = oracle.cells.map(|(first, last)| first..=last);
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let touched = oracle.touches([i, j, k]);
                    asked += 3;
                    for (grid, _) in grids.iter_mut().zip(touched).filter(|(_, touched)| *touched) {
                        grid.set([i as usize, j as usize, k as usize]);
                    }
                }
            }
        }
    }
    (grids, asked)
}

/// The grid that the library gives.
fn found(case: &Case, how: How, ties: Ties) -> BitGrid {
    let mesh = Mesh::from_triangles(case.triangles.clone()).expect("finite coordinates");
    let run = Run { threads: how.threads, level: Some(how.level), ..Run::default() };
    let rule = Rule::Surface.with_ties(ties);
    voxelize_with(&mesh, &case.lattice, rule, &run).expect("a small grid").0.bits
}

/// The cells in which two grids differ.
fn differing(a: &BitGrid, b: &BitGrid) -> Vec<[usize; 3]> {
    let of = |a: &BitGrid, b: &BitGrid| a.iter().filter(|&cell| !b.get(cell)).collect::<Vec<_>>();
    [of(a, b), of(b, a)].concat()
}

/// Compares one case, every way; answers with one wrong cell, if any is wrong.
pub fn compare(case: &Case) -> (Compared, Option<Wrong>) {
    let (expected, decisions) = expected(case);
    let mut compared = Compared { triangles: case.triangles.len() as u64, decisions, wrong: 0 };
    let mut first = None;
    for how in ways() {
        for (ties, expected) in TIES.into_iter().zip(&expected) {
            let found = found(case, how, ties);
            if found != *expected {
                let cells = differing(expected, &found);
                compared.wrong += cells.len() as u64;
                let (cell, expected) = (cells[0], expected.get(cells[0]));
                first.get_or_insert_with(|| Wrong { case: case.clone(), how, ties, cell, expected });
            }
        }
    }
    (compared, first)
}

impl Wrong {
    /// The same way on other triangles, if something is wrong there, too.
    fn with(&self, triangles: Vec<Triangle>) -> Option<Self> {
        let case = Case { triangles, lattice: self.case.lattice.clone() };
        let n = TIES.iter().position(|&ties| ties == self.ties)?;
        let expected = &expected(&case).0[n];
        let cell = *differing(expected, &found(&case, self.how, self.ties)).first()?;
        Some(Self { cell, expected: expected.get(cell), case, ..*self })
    }

    /// Fewer triangles, then simpler coordinates, as long as something stays wrong.
    pub fn shrunk(mut self) -> Self {
        let one = self.case.triangles.iter().find_map(|&triangle| self.with(vec![triangle]));
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

    /// Coordinates with fewer bits.
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
    /// In the form of a case of `tests/regressions.rs`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { case: Case { triangles, lattice }, how, ties, cell, expected } = self;
        let word = if *expected { "touched" } else { "untouched" };
        writeln!(f, "    // Cell {cell:?} is {word} under ties {}; wrong with {how:?}.", ties.name())?;
        writeln!(f, "    Listed {{\n        triangles: &[")?;
        for triangle in triangles {
            writeln!(f, "            {:#010x?},", triangle.map(|v| v.map(f32::to_bits)).as_flattened())?;
        }
        let texts = |of: &[Rational; 3]| of.each_ref().map(Rational::to_string);
        writeln!(f, "        ],\n        dims: {:?},", lattice.dims())?;
        writeln!(f, "        origin: {:?},", texts(lattice.origin()))?;
        writeln!(f, "        spacing: {:?},", texts(lattice.spacing()))?;
        writeln!(f, "        closed: {:?},", lattice.closed())?;
        writeln!(f, "        snap: Snap::{:?},\n    }},", lattice.snap())
    }
}

/// A lattice from its fractions.
pub fn lattice<T: AsRef<str>>(
    dims: [usize; 3],
    origin: &[T; 3],
    spacing: &[T; 3],
    closed: [bool; 3],
    snap: Snap,
) -> Lattice {
    let fractions =
        |of: &[T; 3]| of.each_ref().map(|text| Rational::parse_fraction(text.as_ref()).expect("a fraction"));
    Lattice::new(dims, fractions(origin), fractions(spacing), closed).expect("a lattice").with_snap(snap)
}
