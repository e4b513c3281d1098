//! A flood stops at closed holes, and the reported path of a leak is a shortest path. Both are compared with
//! their definitions, cell by cell, and tested on the command line.

mod closing;
mod command;
mod path;
mod plainly;

use crate::support::meshes::fixture;
use crate::support::random::Random;
use crate::support::solids::{self, Triangle, cuboid};
use voxelize::rule::InsideReport;
use voxelize::{BitGrid, Fit, Inside, Lattice, Mesh, Rule, Run, Size, Snap, Voxelizer};

fn of(triangles: Vec<Triangle>) -> Mesh {
    Mesh::from_triangles(triangles).unwrap()
}

/// Returns a mesh without some of its triangles.
fn without(mesh: &Mesh, is_gone: impl Fn(usize) -> bool) -> Mesh {
    of(solids::without(mesh, is_gone))
}

/// Returns meshes with holes of many sizes, by name.
fn open_meshes() -> Vec<(&'static str, Mesh)> {
    let sphere = fixture("sphere.stl");
    let cube = of(cuboid([20.0, 14.0, 17.0]));
    let within = solids::between([4.0; 3], [10.0; 3]);
    let nested = of([&cube.triangles()[1..], &within[..11]].concat());
    let neighbours = without(&sphere, |n| n < 7 || n % 211 == 30);
    vec![
        ("a sphere without one", without(&sphere, |n| n == 100)),
        ("a sphere without some", without(&sphere, |n| n % 97 == 3)),
        ("a sphere without neighbours", neighbours),
        ("a cuboid without one", without(&cube, |n| n == 3)),
        ("a cuboid without a face", without(&cube, |n| n < 2)),
        ("a cuboid without two", without(&cube, |n| n == 0 || n == 7)),
        ("one in another, both open", nested),
        ("half a sphere", fixture("open.stl")),
        ("a closed one", cube),
    ]
}

fn shuffled(mesh: &Mesh) -> Mesh {
    of(Random(5).shuffled(mesh.triangles()))
}

fn flood(rule: Rule, close_holes: Option<u32>) -> Rule {
    rule.with_inside(Inside::Flood { close_holes }).unwrap()
}

fn made(mesh: &Mesh, lattice: &Lattice, what: Rule, threads: usize) -> (BitGrid, InsideReport) {
    let voxelize::Voxelized { voxels, stats, .. } = Voxelizer::new(what)
        .with_run(Run::default().threads(threads))
        .run(mesh, lattice)
        .unwrap();
    (voxels.into_occupied().unwrap(), stats.inside)
}

fn lattices(mesh: &Mesh) -> Vec<Lattice> {
    let fits = [
        Fit::longest(19),
        Fit::longest(33).pad(1),
        Fit::new(Size::Stretched([41, 22, 27])),
    ];
    fits.into_iter()
        .map(|fit| fit.snap(Snap::None).to(mesh.bounds()).unwrap())
        .collect()
}
