//! Independence of results from levels, threads, order of triangles, and rotation of vertices.

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Digest, Lattice, Level, Mesh, Rule, Run, Ties, Voxelizer};

use crate::support::meshes::{fixture, fixtures, mapped, mesh_of, rules_for, surface};
use crate::support::random::Random;
use crate::support::suite::Counts;

const THREADS: [usize; 3] = [1, 2, 7];

/// Rows of one word, and rows of several words with several slabs.
pub const LONGEST: [usize; 2] = [21, 70];

fn digest(mesh: &Mesh, lattice: &Lattice, what: Rule, level: Level, threads: usize) -> Digest {
    let run = Run::default().threads(threads).level(level);
    let made = Voxelizer::new(what).with_run(run).run(mesh, lattice);
    made.expect("it fits").voxels.digest()
}

/// Calls `check` for every fixture, lattice and rule with the digests of the simplest run.
fn each_case(mut check: impl FnMut(&str, &Mesh, &Lattice, Rule, Digest)) -> u64 {
    let mut cases = 0;
    for (name, mesh) in fixtures() {
        for longest in LONGEST {
            let lattice = Lattice::fit(mesh.bounds(), longest).expect("it fits");
            for what in rules_for(&mesh) {
                let expected = digest(&mesh, &lattice, what, Level::Scalar, 1);
                check(
                    &format!("{name}, {longest}, {what:?}"),
                    &mesh,
                    &lattice,
                    what,
                    expected,
                );
                cases += 1;
            }
        }
    }
    cases
}

/// Every level of this machine with 1, 2 and 7 threads.
pub fn levels_and_threads() -> Counts {
    let levels = Level::available();
    let mut runs = 0;
    let cases = each_case(|name, mesh, lattice, what, expected| {
        for &level in &levels {
            for threads in THREADS {
                let found = digest(mesh, lattice, what, level, threads);
                assert_eq!(found, expected, "{name}: {level:?}, {threads} threads");
                runs += 1;
            }
        }
    });
    vec![
        ("cases", cases),
        ("levels", levels.len() as u64),
        ("runs", runs),
    ]
}

/// The same triangles in other orders, with rotated or reversed vertices.
pub fn order_of_triangles_and_vertices() -> Counts {
    let levels = Level::available();
    let mut runs = 0;
    let cases = each_case(|name, mesh, lattice, what, expected| {
        for (n, (how, triangles)) in orders(mesh.triangles()).into_iter().enumerate() {
            let other = mesh_of(triangles);
            let level = levels[n % levels.len()];
            let threads = THREADS[n % THREADS.len()];
            let found = digest(&other, lattice, what, level, threads);
            assert_eq!(
                found, expected,
                "{name}: {how}, {level:?}, {threads} threads"
            );
            runs += 1;
        }
    });
    vec![("cases", cases), ("runs", runs)]
}

/// More triangles than a thread sorts at a time: the knot in fifteen sizes is the OR of the sizes.
pub fn many_triangles() -> Counts {
    let knot = fixture("knot.stl");
    let sizes: Vec<_> = (0..15)
        .map(|n| mapped(&knot, |v| v.map(|c| c * (1.0 - n as f32 / 32.0))))
        .collect();
    let lattice = Lattice::fit(knot.bounds(), 90).expect("it fits");
    let all = sizes
        .iter()
        .flat_map(|mesh| mesh.triangles().iter().copied())
        .collect();
    let all = mesh_of(all);
    let mut cells = BitGrid::new(lattice.dims()).expect("it fits");
    let mut runs = 0;
    for mesh in &sizes {
        surface(mesh, &lattice, Ties::Up)
            .iter()
            .for_each(|cell| cells.set(cell));
    }
    let expected = Digest::of(&cells, Some(&lattice));
    for level in Level::available() {
        for threads in THREADS {
            let found = digest(&all, &lattice, Rule::surface(), level, threads);
            assert_eq!(found, expected, "{level:?}, {threads} threads");
            runs += 1;
        }
    }
    vec![("triangles", all.triangles().len() as u64), ("runs", runs)]
}

/// Returns the triangles in every tested order, each with its description.
fn orders(triangles: &[Triangle]) -> Vec<(&'static str, Vec<Triangle>)> {
    let with = |change: fn(&Triangle) -> Triangle| triangles.iter().map(change).collect::<Vec<_>>();
    let mut all = vec![
        ("rotated once", with(|&[a, b, c]| [b, c, a])),
        ("rotated twice", with(|&[a, b, c]| [c, a, b])),
        ("wound the other way", with(|&[a, b, c]| [a, c, b])),
        ("backwards", triangles.iter().rev().copied().collect()),
    ];
    for seed in 1..=3 {
        all.push(("shuffled and rotated", Random(seed).shuffled(triangles)));
    }
    all
}
