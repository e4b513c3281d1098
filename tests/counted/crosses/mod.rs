//! Exactness of thin. Every cell is compared with an oracle in exact arithmetic with symbolic displacement,
//! at all levels. The cells are a part of the surface, which counts snapped coordinates in the same way.
//! The suite `separation` shows
//! that thin separates, and the suite `invariance` that its tiles join and that it moves with its mesh.

mod oracle;

use voxelize::{
    BitGrid, Fit, Lattice, Level, Mesh, Rational, Rule, Run, Snap, Stats, Ties, Voxelizer,
};

use crate::exact::families::FAMILIES;
use crate::support::check::Case;
use crate::support::meshes::{fitted, fixtures, mesh_of, surface};
use crate::support::random::Random;
use crate::support::suite::{Counts, Suite};
use oracle::Crosses;

pub const SUITE: Suite = Suite::of(
    "crosses",
    &[
        ("decisions_are_exact", decisions_are_exact),
        ("half_cells_are_exact", half_cells_are_exact),
        (
            "fixtures_are_exact_and_within_the_surface",
            fixtures_are_exact,
        ),
    ],
);

/// Returns the cells of the library, and the statistics.
fn found(mesh: &Mesh, lattice: &Lattice, run: Run) -> (BitGrid, Stats) {
    let made = Voxelizer::new(Rule::Thin)
        .with_run(run)
        .run(mesh, lattice)
        .expect("a small grid");
    (made.voxels.into_occupied().expect("bits"), made.stats)
}

/// Returns the cells of the oracle, and the number of segments it tested.
fn expected(mesh: &Mesh, lattice: &Lattice) -> (BitGrid, u64) {
    let crosses = Crosses::new(lattice);
    let mut cells = BitGrid::try_from(lattice).expect("a small grid");
    let queried = mesh
        .triangles()
        .iter()
        .map(|triangle| crosses.add(triangle, &mut cells))
        .sum();
    (cells, queried)
}

/// Counts of the comparisons.
#[derive(Default)]
struct Compared {
    meshes: u64,
    segments: u64,
    cells: u64,
    /// Cells of the surface that are not thin.
    fewer: u64,
    runs: u64,
}

impl Compared {
    /// Compares a mesh at every level, with one thread and sometimes with three.
    fn add(&mut self, name: &str, mesh: &Mesh, lattice: &Lattice) {
        let (expected, queried) = expected(mesh, lattice);
        for level in Level::available() {
            let threads = if self.runs.is_multiple_of(9) { 3 } else { 1 };
            let (found, _) = found(mesh, lattice, Run::default().threads(threads).level(level));
            let wrong = found.iter().find(|cell| !expected.get(*cell));
            let wrong = wrong.or_else(|| expected.iter().find(|cell| !found.get(*cell)));
            if let Some(cell) = wrong {
                let is_thin = expected.get(cell);
                let triangles = mesh.triangles();
                panic!(
                    "{name}: {cell:?}, thin {is_thin}, {level:?}, {threads} threads\n{triangles:?}\n{lattice:?}"
                );
            }
            self.runs += 1;
        }
        let touched = surface(mesh, lattice, Ties::Up);
        assert!(
            expected.iter().all(|cell| touched.get(cell)),
            "{name}: a cell is not touched"
        );
        self.meshes += 1;
        self.segments += queried;
        self.cells += expected.count();
        self.fewer += touched.count() - expected.count();
    }

    fn counts(self) -> Counts {
        vec![
            ("meshes", self.meshes),
            ("segments", self.segments),
            ("cells", self.cells),
            ("touched, but not thin", self.fewer),
            ("runs", self.runs),
        ]
    }
}

/// Every family of the suite `exact`: random, aligned, degenerate, aimed at ties, far, cut by bounds.
fn decisions_are_exact() -> Counts {
    let mut compared = Compared::default();
    for family in FAMILIES {
        let mut random = Random::new(0x7417 + family.name.len() as u64);
        let before = compared.cells;
        for n in 0..family.cases.div_ceil(2) {
            let Case { triangles, lattice } = (family.make)(&mut random);
            let mesh = mesh_of(triangles);
            compared.add(&format!("{} {n}", family.name), &mesh, &lattice);
        }
        // Triangles without area, or hardly any, meet no line.
        let is_thin = ["points and segments", "slivers"].contains(&family.name);
        assert!(
            compared.cells > before || is_thin,
            "{}: no cell",
            family.name
        );
    }
    compared.counts()
}

/// Single triangles with corners on walls and centre planes of a few cells, closed on some axes: every
/// decision is a tie.
fn half_cells_are_exact() -> Counts {
    let mut random = Random::new(6);
    let mut compared = Compared::default();
    for n in 0..3000 {
        let triangle = [[(); 3]; 3].map(|v| v.map(|()| random.whole(0, 5) as f32 / 2.0));
        let closed = [(); 3].map(|()| random.one_in(2));
        let dims = [(); 3].map(|()| 2 + random.index(2));
        let lattice = Lattice::new(
            dims,
            [0, 0, 0].map(Rational::from),
            [1, 1, 1].map(Rational::from),
            closed,
        );
        let mesh = mesh_of(vec![triangle]);
        compared.add(
            &format!("half cells {n}"),
            &mesh,
            &lattice.expect("few cells"),
        );
    }
    compared.counts()
}

/// All fixtures on lattices with and without ties. Snapped coordinates are counted once, like in the surface.
fn fixtures_are_exact() -> Counts {
    let mut compared = Compared::default();
    let mut snapped = 0;
    for (name, mesh) in fixtures() {
        for (fit, longest) in [(Snap::Float, 20), (Snap::None, 20), (Snap::Float, 33)] {
            let lattice = fitted(Fit::longest(longest).pad(longest % 2).snap(fit), &mesh);
            compared.add(&name, &mesh, &lattice);
            let by_surface = Voxelizer::new(Rule::surface())
                .run(&mesh, &lattice)
                .expect("it fits")
                .stats;
            assert_eq!(
                found(&mesh, &lattice, Run::default()).1,
                by_surface,
                "{name}"
            );
            snapped += by_surface.snapped;
        }
    }
    let mut counts = compared.counts();
    counts.push(("snapped", snapped));
    counts
}
