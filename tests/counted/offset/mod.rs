//! Exactness of offset. Every centre of a cell and every triangle are compared with distances in integers of
//! any size, at all levels, on triangles of every family, touching and degenerate ones, and fixtures.
//!
//! `VOXELIZE_OFFSET_SOAK=20` multiplies the number of random cases.

pub mod oracle;

use voxelize::{BitGrid, Fit, Lattice, Length, Level, Mesh, Rational, Rule, Run, Snap, Voxelizer};

use crate::exact::families::FAMILIES;
use crate::support::check::Case;
use crate::support::meshes::{fitted, fixtures, fraction, mesh_of, occupied};
use crate::support::random::Random;
use crate::support::suite::{Counts, Suite};
use oracle::{Balls, Queries};

pub const SUITE: Suite = Suite::of(
    "offset",
    &[
        ("decisions_are_exact", decisions_are_exact),
        ("touching_balls_are_exact", touching_balls_are_exact),
        ("fixtures_are_exact", fixtures_are_exact),
        ("radius_zero_is_centres_on_the_mesh", radius_zero),
        ("needles_are_exact", needles_are_exact),
        ("large_radii_and_triangles_are_exact", large_radii),
    ],
);

/// Centres at exactly the radius.
const TOUCHING: &str = "exactly at the radius";

/// Returns the multiplier for the number of cases.
fn soak() -> usize {
    std::env::var("VOXELIZE_OFFSET_SOAK").map_or(1, |times| times.parse().expect("a whole number"))
}

fn length(text: &str) -> Length {
    text.parse().expect("a length")
}

/// Returns the cells of the library.
fn found(mesh: &Mesh, lattice: &Lattice, radius: Length, run: Run) -> BitGrid {
    occupied(
        Voxelizer::new(Rule::offset(radius)).with_run(run),
        mesh,
        lattice,
    )
}

/// Counts of the comparisons.
#[derive(Default)]
struct Compared {
    decisions: u64,
    queries: Queries,
    occupied: u64,
    runs: u64,
}

impl Compared {
    /// Compares a mesh at every level, with one thread and sometimes with three.
    fn add(&mut self, name: &str, mesh: &Mesh, lattice: &Lattice, radius: Length) {
        let before = self.queries.pairs;
        let expected =
            Balls::new(lattice, &radius.in_world(lattice.spacing())).cells(mesh, &mut self.queries);
        for level in Level::available() {
            let threads = if self.runs.is_multiple_of(9) { 3 } else { 1 };
            let run = Run::default().threads(threads).level(level);
            let found = found(mesh, lattice, radius, run);
            let wrong = found.iter().find(|cell| !expected.get(*cell));
            let wrong = wrong.or_else(|| expected.iter().find(|cell| !found.get(*cell)));
            if let Some(cell) = wrong {
                let is_near = expected.get(cell);
                let triangles = mesh.triangles();
                panic!(
                    "{name}: {cell:?}, near {is_near}, {radius}, {level:?}, {threads} threads\n{triangles:?}\n{lattice:?}"
                );
            }
            self.runs += 1;
            self.decisions += self.queries.pairs - before;
        }
        self.occupied += expected.count();
    }

    /// Returns the counts without the touching centres, which may be zero by chance in some checks.
    fn counts_without_touching(self) -> Counts {
        self.counts()
            .into_iter()
            .filter(|(name, _)| *name != TOUCHING)
            .collect()
    }

    fn counts(self) -> Counts {
        vec![
            ("decisions", self.decisions),
            ("by the oracle exactly", self.queries.exactly),
            (TOUCHING, self.queries.touching),
            ("cells", self.occupied),
            ("runs", self.runs),
        ]
    }
}

/// Returns a radius in cells, in units of the file, or zero.
fn random_radius(random: &mut Random, lattice: &Lattice) -> Length {
    let cells = ["0", "0.5", "1", "1.5", "2", "2.5", "0.707", "3.25"];
    if random.one_in(3) {
        let side = lattice.spacing()[0].to_f64() * random.within(0.0, 3.0);
        return length(&format!("{side:.3e}"));
    }
    length(&format!("{}vx", random.of(&cells)))
}

/// Every family of the suite `exact`: random, aligned, degenerate, aimed at ties, far, cut by bounds.
fn decisions_are_exact() -> Counts {
    let mut compared = Compared::default();
    for family in FAMILIES {
        let mut random = Random::new(0x0ff5 + family.name.len() as u64);
        for n in 0..soak() * (family.cases as usize / 40).max(2) {
            let Case { triangles, lattice } = (family.make)(&mut random);
            // The oracle tests every cell with every triangle.
            let few = (60_000 / lattice.cells() as usize).clamp(1, triangles.len());
            let mesh = mesh_of(triangles[..few].to_vec());
            let radius = random_radius(&mut random, &lattice);
            compared.add(&format!("{} {n}", family.name), &mesh, &lattice, radius);
        }
    }
    compared.counts()
}

/// Corners at halves of cells, and radii at which centres touch: 1, 3/2, and 5/2, which is also the distance
/// between two centres offset by 3/2 and 2. Points, segments and collinear corners are included.
fn touching_balls_are_exact() -> Counts {
    let mut random = Random::new(6);
    let mut compared = Compared::default();
    for n in 0..soak() * 1500 {
        let dims = [4, 4, 3].map(|least| least + random.index(3));
        let mut corner = || [(); 3].map(|()| random.whole(-2, 14) as f32 / 2.0);
        let [a, b, c] = [corner(), corner(), corner()];
        let triangle = match n % 6 {
            0 => [a, a, a],
            1 => [a, a, b],
            2 => [a, b, std::array::from_fn(|i| 2.0 * b[i] - a[i])],
            _ => [a, b, c],
        };
        let side = random.of(&["1/1", "1/1", "1/4", "3/1"]);
        let side = fraction(side);
        let size = side.to_f64() as f32;
        let triangle = triangle.map(|v| v.map(|c| c * size));
        let lattice = Lattice::new(
            dims,
            [0, 0, 0].map(Rational::from),
            [(); 3].map(|()| side.clone()),
            [true; 3],
        );
        let radius = random.of(&["0", "0.5", "1", "1.5", "2", "2.5", "3"]);
        let mesh = mesh_of(vec![triangle]);
        let radius = length(&format!("{radius}vx"));
        let lattice = lattice.expect("few cells");
        compared.add(&format!("touching {n}"), &mesh, &lattice, radius);
    }
    compared.counts()
}

/// All fixtures on lattices with and without ties, with and without padding by the radius.
fn fixtures_are_exact() -> Counts {
    let mut compared = Compared::default();
    for (name, mesh) in fixtures() {
        // The oracle tests every pair.
        let longest = if mesh.triangles().len() > 1500 {
            [8, 9]
        } else {
            [10, 13]
        };
        for (longest, snap, radius) in [
            (longest[0], Snap::Float, "1vx"),
            (longest[0], Snap::None, "2.5vx"),
            (longest[1], Snap::Float, "0.75"),
        ] {
            let radius = length(radius);
            let fit = Fit::longest(longest).snap(snap);
            let fit = if longest % 2 == 0 {
                fit.margin(radius)
            } else {
                fit
            };
            compared.add(&name, &mesh, &fitted(fit, &mesh), radius);
        }
    }
    compared.counts()
}

/// A radius of zero gives the cells whose centres are on the mesh.
fn radius_zero() -> Counts {
    let mut compared = Compared::default();
    for (name, mesh) in fixtures() {
        let lattice = fitted(Fit::longest(7), &mesh);
        compared.add(&name, &mesh, &lattice, Length::ZERO);
    }
    // A slope through centres: x = y.
    let slope = mesh_of(vec![[[0.0, 0.0, 0.0], [8.0, 8.0, 0.0], [8.0, 8.0, 8.0]]]);
    let lattice = fitted(Fit::longest(8), &slope);
    let on = found(&slope, &lattice, Length::ZERO, Run::default());
    assert_eq!(on.count(), (1..=8).sum::<u64>(), "{}", on.layer_text(0));
    compared.add("slope", &slope, &lattice, Length::ZERO);
    compared.counts()
}

/// Triangles of up to fifty cells and hardly any width, in all directions. Many are nearly parallel to an
/// axis.
fn needles_are_exact() -> Counts {
    let mut random = Random::new(17);
    let mut compared = Compared::default();
    for n in 0..soak() * 60 {
        let dims = [[70, 12, 12], [12, 50, 14], [14, 12, 50], [30, 30, 30]][n % 4];
        let length_of_axis = |a: usize| dims[a] as f64;
        let stray = [0.0, 0.02, 1.0, 8.0][n / 4 % 4];
        let mut end = |share: f64| -> [f32; 3] {
            std::array::from_fn(|a| {
                let along = if dims[a] > 20 { share } else { 0.5 };
                (length_of_axis(a) * along + random.within(-stray, stray)) as f32
            })
        };
        let [a, b] = [end(0.02), end(0.98)];
        let width = [0.0, 1e-4, 0.1, 0.6][n / 16 % 4];
        let t = random.within(0.0, 1.0) as f32;
        let c =
            std::array::from_fn(|i| a[i] + t * (b[i] - a[i]) + random.within(-width, width) as f32);
        let spacing = [["1/1"; 3], ["1/1", "3/2", "5/4"]][n % 2];
        let spacing = spacing.map(fraction);
        let lattice = Lattice::new(dims, [0, 0, 0].map(Rational::from), spacing, [true; 3]);
        let mesh = mesh_of(vec![[a, b, c]]);
        let radius = length(random.of(&["0.4", "1", "2", "2.5vx", "5"]));
        let lattice = lattice.expect("few cells");
        compared.add(&format!("needle {n}"), &mesh, &lattice, radius);
    }
    compared.counts_without_touching()
}

/// Radii of many bricks, triangles far larger than the grid, needles, and non-cubic cells.
fn large_radii() -> Counts {
    let mut random = Random::new(21);
    let mut compared = Compared::default();
    for n in 0..soak() * 40 {
        let dims = [(70, 70), (5, 30), (3, 20)].map(|(least, more)| least + random.index(more));
        let spacing = if n % 2 == 0 {
            ["1/1"; 3]
        } else {
            random.of(&[["1/1", "1/2", "3/1"], ["2/3", "1/1", "1/10"]])
        };
        let spacing = spacing.map(fraction);
        let reach = [30.0, 100.0, 100.0, 1e5][n / 2 % 4];
        let mut corner = || [(); 3].map(|()| random.within(-reach, reach) as f32);
        let [a, b, c] = [corner(), corner(), corner()];
        let needle: [f32; 3] = std::array::from_fn(|i| a[i] + (b[i] - a[i]) * 0.37 + 0.01);
        let triangle = if n % 3 == 0 {
            [a, b, needle]
        } else {
            [a, b, c]
        };
        let radius = length(random.of(&["4", "12", "20.5", "45", "0.3", "70"]));
        let lattice = Lattice::new(dims, [-40, -6, 0].map(Rational::from), spacing, [false; 3])
            .expect("few cells");
        let mesh = mesh_of(vec![triangle]);
        compared.add(&format!("large {n}"), &mesh, &lattice, radius);
    }
    compared.counts_without_touching()
}
