//! Filled cells with closed holes.

use voxelize::grid::CellSource;
use voxelize::mesh::boundary::{self, Loop};
use voxelize::run::holes;
use voxelize::{Fit, Inside, Lattice, Rational, Rule, Ties, Voxelizer, voxelize};

use super::plainly::{Steps, cells};
use super::{flood, lattices, made, of, open_meshes, shuffled, without};
use crate::support::meshes::{fixture, surface};

/// Reports whether the bounds of a hole are at most `n` cells long.
fn is_small(hole: &Loop, lattice: &Lattice, n: u32) -> bool {
    let exact = |v: f32| Rational::from_f32(v).unwrap();
    (0..3).all(|a| {
        let most = &lattice.spacing()[a] * &Rational::from(i64::from(n));
        exact(hole.bounds().max[a]) - exact(hole.bounds().min[a]) <= most
    })
}

#[test]
fn closed_holes_keep_the_flood_out_by_definition() {
    let mut compared = 0;
    let mut kept = 0;
    let mut partly = 0;
    for (name, mesh) in open_meshes() {
        let holes = mesh.holes().unwrap();
        let mixed = shuffled(&mesh);
        for lattice in lattices(&mesh) {
            let plain = made(&mesh, &lattice, flood(Rule::filled(), None), 2).0;
            let sides = holes::sides(&holes, &lattice);
            let longest = sides.iter().copied().max().unwrap_or(0).max(2) as u32;
            for n in [1, 2, 3, longest - 1, longest, 1 << 24] {
                let mut small = holes.clone();
                small.retain(|hole| is_small(hole, &lattice, n));
                let capped = of([mesh.triangles(), &boundary::caps(&small)].concat());
                let walls = surface(&capped, &lattice, Ties::Up);
                let outside = Steps::outside(&walls);
                for threads in [1, 2, 7] {
                    for mesh in [&mesh, &mixed] {
                        let [solid, filled] = [Rule::solid(), Rule::filled()]
                            .map(|rule| made(mesh, &lattice, flood(rule, Some(n)), threads));
                        let (solid, report) = solid;
                        let closed = Some(small.len() as u64);
                        assert_eq!(report.closed_holes, closed, "{name}, {n} cells");
                        let (filled, report) = filled;
                        let leaks = report.leak.map_or(0, |leak| leak.holes.len());
                        assert!(leaks <= holes.len() - small.len(), "{name}, {n} cells");
                        for cell in cells(lattice.dims()) {
                            let dry = outside.of(cell).is_none();
                            let wanted = (dry, dry && !walls.get(cell));
                            let found = (filled.get(cell), solid.get(cell));
                            assert_eq!(found, wanted, "{name}, {n} cells, {cell:?}");
                        }
                        kept += u64::from(filled.count() > plain.count());
                        compared += 1;
                    }
                }
                partly += usize::from(!small.is_empty() && small.len() < holes.len());
                let filled = made(&mesh, &lattice, flood(Rule::filled(), Some(n)), 1).0;
                assert!(
                    !small.is_empty() || filled == plain,
                    "{name}: nothing to close changes nothing"
                );
            }
        }
    }
    assert!(
        compared > 500 && kept > 100 && partly > 5,
        "{compared} compared, {kept} kept out, {partly} partly"
    );
}

#[test]
fn a_leak_is_the_flooded_inside_of_the_capped_mesh() {
    let mut leaks = 0;
    let mut dry = 0;
    let sphere = fixture("sphere.stl");
    let few =
        [5, 100, 300, 771].map(|gone| ("a sphere without one", without(&sphere, |n| n == gone)));
    for (name, mesh) in open_meshes().into_iter().chain(few) {
        let capped = of([mesh.triangles(), &boundary::caps(&mesh.holes().unwrap())].concat());
        for lattice in (8..16).map(|n| Fit::longest(n).pad(3).to(mesh.bounds()).unwrap()) {
            let outside = Steps::outside(&surface(&mesh, &lattice, Ties::Up));
            let rule = Rule::solid().with_inside(Inside::EvenOdd).unwrap();
            let inside = made(&capped, &lattice, rule, 1).0;
            let reached = inside.iter().filter(|cell| outside.of(*cell).is_some());
            let reached = reached.count() as u64;
            let leak = made(&mesh, &lattice, flood(Rule::solid(), None), 2).1.leak;
            let cells = leak.as_ref().map_or(0, |leak| leak.cells);
            assert_eq!(cells, reached, "{name}");
            // If the flood does not enter through a hole, lines along x through it are not reported as a
            // leak.
            assert!(leak.is_none_or(|leak| !leak.holes.is_empty()), "{name}");
            if reached > 0 { leaks += 1 } else { dry += 1 }
        }
    }
    assert!(leaks > 20 && dry > 20, "{leaks} leak, {dry} do not");
}

#[test]
fn slabs_and_variants_match_the_whole() {
    let mut compared = 0;
    for (name, mesh) in open_meshes() {
        let lattice = Fit::longest(33).pad(1).to(mesh.bounds()).unwrap();
        let [solid, filled] = [Rule::solid(), Rule::filled()].map(|rule| flood(rule, Some(9)));
        for rule in [solid, filled, filled.with_shell(2).unwrap()] {
            let whole = voxelize(&mesh, &lattice, rule).unwrap();
            let plan = voxelize::run::Plan::Slabs(5);
            let mut slabs = Voxelizer::new(rule).slabs(&mesh, &lattice, plan).unwrap();
            while slabs.next().unwrap().is_some() {}
            assert_eq!(slabs.digest(), whole.digest(), "{name}");
            assert_eq!(Rule::from_record(&whole.record), Some(rule));
            assert!(slabs.made().stats.inside.closed_holes.is_some(), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn a_sphere_that_lacks_a_triangle_is_filled_as_the_whole_one() {
    let sphere = fixture("sphere.stl");
    for res in [24, 256] {
        let lattice = Lattice::fit(sphere.bounds(), res).unwrap();
        let of_whole = [Rule::filled(), Rule::solid()]
            .map(|rule| made(&sphere, &lattice, flood(rule, None), 2).0);
        for gone in [100, 771] {
            let mesh = without(&sphere, |n| n == gone);
            let holes = mesh.holes().unwrap();
            let n = holes::sides(&holes, &lattice)[0] as u32;
            assert!(holes.len() == 1 && (1..25).contains(&n), "{n}");
            let cap = surface(&of(boundary::caps(&holes)), &lattice, Ties::Up);
            let triangle = surface(&of(vec![sphere.triangles()[gone]]), &lattice, Ties::Up);
            for (rule, whole) in [Rule::filled(), Rule::solid()].into_iter().zip(&of_whole) {
                let (closed, report) = made(&mesh, &lattice, flood(rule, Some(n)), 2);
                assert_eq!((report.closed_holes, report.leak), (Some(1), None));
                let [more, less] = if rule == Rule::filled() {
                    [&cap, &triangle]
                } else {
                    [&triangle, &cap]
                };
                let mut added = closed.iter().filter(|cell| !whole.get(*cell));
                let mut lacking = whole.iter().filter(|cell| !closed.get(*cell));
                assert!(added.all(|cell| more.get(cell)), "{res} {gone} {rule:?}");
                assert!(lacking.all(|cell| less.get(cell)), "{res} {gone} {rule:?}");
                // One cell less closes nothing.
                let (open, report) = made(&mesh, &lattice, flood(rule, Some(n - 1)), 2);
                let plain = made(&mesh, &lattice, flood(rule, None), 2);
                assert!(open == plain.0 && report.leak == plain.1.leak);
                assert_eq!(report.closed_holes, Some(0));
                assert!(res < 100 || plain.1.leak.is_some());
            }
        }
    }
}

#[test]
fn holes_are_closed_for_a_flood_alone() {
    let mut rules = vec![Rule::surface()];
    for method in voxelize::METHODS {
        if !method.inside.is_flood() {
            rules.push(Rule::solid().with_inside(method.inside).unwrap());
        }
    }
    assert_eq!(rules.len(), 6);
    for rule in rules {
        let error = rule.with_closed_holes(2).unwrap_err();
        assert!(
            error.kind() == voxelize::Kind::Usage && error.hint().is_some(),
            "{rule:?}"
        );
    }
    // Not in an explicit rule either.
    let rule = Rule::Filled {
        inside: Inside::flood(),
        ties: Ties::Both,
        shell: None,
    };
    let mesh = fixture("open.stl");
    let lattice = Lattice::fit(mesh.bounds(), 8).unwrap();
    let error = voxelize(&mesh, &lattice, rule).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::Usage);
}
