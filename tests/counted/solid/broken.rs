//! Broken meshes: closed meshes are torn, randomly flipped, turned inside out or doubled, and the result of
//! robust is compared with the solid of the closed mesh.

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Inside, Lattice, Mesh, Rule, Voxelizer};

use super::methods::Tally;
use crate::support::meshes::{fixture, fixtures, mapped, mesh_of, occupied};
use crate::support::random::Random;
use crate::support::solids::inside_out;
use crate::support::suite::Counts;

/// Share of the inside cells that may differ.
const MOST: f64 = 0.005;

/// Returns the closed fixtures of at least a thousand triangles, and one with a cavity, by name.
fn whole() -> Vec<(String, Mesh)> {
    let large = |mesh: &Mesh| mesh.triangles().len() >= 1000 && mesh.edge_counts().is_oriented();
    let mut all: Vec<_> = fixtures()
        .into_iter()
        .filter(|(_, mesh)| large(mesh))
        .collect();
    let sphere = fixture("sphere.stl");
    let cavity = mapped(&sphere, |v| v.map(|c| c / 2.0));
    let cavity = inside_out(cavity.triangles().to_vec());
    let hollow = mesh_of([sphere.triangles(), &cavity].concat());
    all.push(("a sphere with a cavity".to_string(), hollow));
    assert!(all.len() >= 3);
    all
}

/// Way to break a mesh: its name, and the remains of each triangle.
type Breaking = (&'static str, fn(&Triangle, &mut Random) -> Vec<Triangle>);

const BREAKINGS: [Breaking; 5] = [
    ("with a fiftieth of its triangles removed", |t, random| {
        if random.one_in(50) { vec![] } else { vec![*t] }
    }),
    ("with triangles turned at random", |t, random| {
        vec![if random.one_in(2) { turned(t) } else { *t }]
    }),
    ("inside out", |t, _| vec![turned(t)]),
    ("with every third triangle doubled", |t, random| {
        vec![*t; if random.one_in(3) { 2 } else { 1 }]
    }),
    ("torn, tossed and doubled", |t, random| {
        let one = if random.one_in(2) { turned(t) } else { *t };
        if random.one_in(50) {
            vec![]
        } else {
            vec![one; if random.one_in(3) { 2 } else { 1 }]
        }
    }),
];

fn turned(&[a, b, c]: &Triangle) -> Triangle {
    [a, c, b]
}

/// Few cells differ, and no row is longer than the longest original row.
pub fn differs_little() -> Counts {
    let mut counts = Tally::default();
    for (name, mesh) in whole() {
        let lattice = Lattice::fit(mesh.bounds(), 128).unwrap();
        let solid = |mesh: &Mesh, inside| {
            let rule = Rule::solid().with_inside(inside).unwrap();
            occupied(Voxelizer::new(rule), mesh, &lattice)
        };
        let expected = solid(&mesh, Inside::Nonzero);
        assert_eq!(solid(&mesh, Inside::Robust), expected, "{name} as it is");
        for (how, broken) in BREAKINGS {
            let mut random = Random::new(7);
            let triangles = mesh
                .triangles()
                .iter()
                .flat_map(|t| broken(t, &mut random))
                .collect();
            let found = solid(&mesh_of(triangles), Inside::Robust);
            let differ = found.iter().filter(|cell| !expected.get(*cell)).count()
                + expected.iter().filter(|cell| !found.get(*cell)).count();
            let share = differ as f64 / expected.count() as f64;
            println!(
                "     {name} {how}: {differ} of {} cells differ, {:.3} %",
                expected.count(),
                100.0 * share
            );
            assert!(share < MOST, "{name} {how}: {differ} cells");
            for axis in 0..3 {
                let longest = runs(&expected, axis).max().unwrap();
                let found_longest = runs(&found, axis).max().unwrap();
                assert!(
                    found_longest <= longest,
                    "{name} {how}: axis {axis}, above {longest}"
                );
                counts.add("runs", runs(&found, axis).count() as u64);
            }
            counts.add("cells inside", expected.count());
            counts.add("cells that differ", differ as u64);
        }
        counts.add("meshes", 1);
    }
    counts.at_least("runs", 10_000)
}

/// Returns the lengths of all runs of occupied cells along an axis.
fn runs(grid: &BitGrid, axis: usize) -> impl Iterator<Item = usize> + '_ {
    let dims = grid.dims();
    let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
    let cell = move |n: usize, m: usize, i: usize| {
        let mut cell = [0; 3];
        (cell[a], cell[b], cell[axis]) = (n, m, i);
        cell
    };
    (0..dims[a])
        .flat_map(move |n| (0..dims[b]).map(move |m| [n, m]))
        .flat_map(move |[n, m]| {
            let row: Vec<bool> = (0..dims[axis]).map(|i| grid.get(cell(n, m, i))).collect();
            let runs = row.split(|occupied| !occupied).map(<[bool]>::len);
            runs.filter(|n| *n > 0).collect::<Vec<_>>()
        })
}
