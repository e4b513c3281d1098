//! Exactness of thin. Every cell is compared with an oracle in exact arithmetic with symbolic displacement,
//! at all levels. The cells are a part of the surface, which counts snapped coordinates in the same way.
//! `tests/counted/separation` shows that thin separates.

mod oracle;

use voxelize::{
    BitGrid, Bounds, Fit, Lattice, Level, Mesh, Rational, Rule, Run, Size, Snap, Stats, Ties,
    Voxelizer,
};

use crate::exact::families::FAMILIES;
use crate::support::check::Case;
use crate::support::meshes::{cells, cropped, fixture, fixtures, mapped, surface};
use crate::support::random::Random;
use crate::support::suite::{Check, Counts, Suite};
use oracle::Crosses;

pub const SUITE: Suite = Suite::of(
    "crosses",
    &[
        Check {
            name: "decisions_are_exact",
            run: decisions_are_exact,
        },
        Check {
            name: "half_cells_are_exact",
            run: half_cells_are_exact,
        },
        Check {
            name: "fixtures_are_exact_and_within_the_surface",
            run: fixtures_are_exact,
        },
        Check {
            name: "tiles_join",
            run: tiles_join,
        },
        Check {
            name: "mesh_and_lattice_move",
            run: mesh_and_lattice_move,
        },
        Check {
            name: "a_cube_has_one_layer",
            run: a_cube_has_one_layer,
        },
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
                let is = if expected.get(cell) {
                    "is thin"
                } else {
                    "is not"
                };
                panic!(
                    "{name}: {cell:?} {is}, {level:?}, {threads} threads\n{:?}\n{lattice:?}",
                    mesh.triangles()
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
            let mesh = Mesh::from_triangles(triangles).expect("finite");
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
        let dims = [
            2 + random.index(2),
            2 + random.index(2),
            2 + random.index(2),
        ];
        let lattice = Lattice::new(
            dims,
            [0, 0, 0].map(Rational::from),
            [1, 1, 1].map(Rational::from),
            closed,
        );
        let mesh = Mesh::from_triangles(vec![triangle]).expect("finite");
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
            let lattice = Fit::longest(longest)
                .pad(longest % 2)
                .snap(fit)
                .to(mesh.bounds())
                .expect("it fits");
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

/// Returns a lattice that starts at a wall of another and has some of its cells. It is closed where the other
/// is closed and both end.
fn part(whole: &Lattice, low: [usize; 3], dims: [usize; 3]) -> Lattice {
    let origin =
        std::array::from_fn(|a| &whole.origin()[a] + &cells(low[a] as i64, &whole.spacing()[a]));
    let closed = std::array::from_fn(|a| whole.closed()[a] && low[a] + dims[a] == whole.dims()[a]);
    let part = Lattice::new(dims, origin, whole.spacing().clone(), closed).expect("few cells");
    part.with_snap(whole.snap())
}

/// Parts of a lattice have the cells of the whole: crossings outside of them occupy no cell.
fn tiles_join() -> Counts {
    let mut tiles = 0;
    let mut occupied = 0;
    for (name, mesh) in fixtures() {
        for longest in [20, 41] {
            let whole = Lattice::fit(mesh.bounds(), longest).expect("it fits");
            let (all, _) = found(&mesh, &whole, Run::default());
            let mut joined = 0;
            for n in 0..8 {
                let cut = whole.dims().map(|n| n / 3);
                let is_high = |a: usize| n >> a & 1 == 1;
                let low = std::array::from_fn(|a| if is_high(a) { cut[a] } else { 0 });
                let dims: [usize; 3] = std::array::from_fn(|a| {
                    if is_high(a) {
                        whole.dims()[a] - cut[a]
                    } else {
                        cut[a]
                    }
                });
                if dims.contains(&0) {
                    continue;
                }
                let (tile, _) = found(&mesh, &part(&whole, low, dims), Run::default());
                assert_eq!(tile, cropped(&all, low, dims), "{name}, {longest}: {low:?}");
                joined += tile.count();
                tiles += 1;
            }
            assert_eq!(joined, all.count(), "{name}, {longest}");
            occupied += joined;
        }
    }
    vec![("tiles", tiles), ("cells", occupied)]
}

/// Meshes rounded to eighths of a cell, moved by whole cells with their lattice.
fn mesh_and_lattice_move() -> Counts {
    let mut moves = 0;
    let mut occupied = 0;
    for (name, mesh) in fixtures() {
        let extent = (0..3)
            .map(|a| mesh.bounds().max[a] - mesh.bounds().min[a])
            .fold(0.0, f32::max);
        let size = 2_f32.powi((extent / 24.0).log2().floor() as i32);
        let mesh = mapped(&mesh, |v| v.map(|c| (c / size * 8.0).round() * size / 8.0));
        let exact = Rational::from_f32(size).expect("finite");
        let fit = Fit::new(Size::Spacing([exact.clone(), exact.clone(), exact]));
        let lattice = |bounds: &Bounds| fit.to(bounds).expect("it fits");
        let (here, _) = found(&mesh, &lattice(mesh.bounds()), Run::default());
        for shift in [
            [1.0, 0.0, 0.0],
            [0.0, -3.0, 0.0],
            [7.0, -11.0, 64.0],
            [-129.0, 1000.0, 5.0],
        ] {
            let moved = mapped(&mesh, |v| std::array::from_fn(|a| v[a] + shift[a] * size));
            let (there, _) = found(&moved, &lattice(moved.bounds()), Run::default());
            assert_eq!(there, here, "{name} by {shift:?}");
            moves += 1;
        }
        occupied += here.count();
    }
    vec![("moves", moves), ("cells", occupied)]
}

/// The cube 0…64 in 64 cells. Each face occupies the cells of the first layer whose lines cross it. Edges and
/// corners of the cube mark no additional cells, in contrast to the surface.
fn a_cube_has_one_layer() -> Counts {
    let mesh = fixture("cube.stl");
    let mut grids = 0;
    for (pad, count) in [
        (0, 64_u64.pow(3) - 62_u64.pow(3)),
        (1, 6 * 64 * 64 - 3 * 64 + 1),
    ] {
        let lattice = Fit::longest(64)
            .pad(pad)
            .to(mesh.bounds())
            .expect("it fits");
        assert_eq!(
            found(&mesh, &lattice, Run::default()).0.count(),
            count,
            "pad {pad}"
        );
        grids += 1;
    }
    vec![("grids", grids)]
}
