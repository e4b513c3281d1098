//! Is nothing thin lost without a word? Parts that solid loses are named, `--keep-thin` keeps them and
//! changes nothing else; and `--hollow` keeps what a plain loop keeps.

mod places;

use crate::support::place::{Place, refused};
use crate::support::solids::{Triangle, between, block, inside_out, plate, stl};
use voxelize::rule::{LostComponents, lost};
use voxelize::{
    BitGrid, Fit, Inside, Lattice, Mesh, Rational, Rule, Run, Size, ThinFeatures, Ties, Voxelizer,
};

/// Cells of this many tenths, walls through the origin.
fn cells(triangles: &[Triangle], tenths: i64) -> Lattice {
    let fit = Fit::new(Size::Spacing([0; 3].map(|_| Rational::new(tenths, 10))));
    fit.origin([0; 3].map(Rational::from)).to(&voxelize::Bounds::of(triangles)).unwrap()
}

fn made(triangles: &[Triangle], lattice: &Lattice, what: Rule) -> (BitGrid, Option<LostComponents>) {
    let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
    let voxelize::Voxelized { voxels, stats, .. } = Voxelizer::new(what).run(&mesh, lattice).unwrap();
    let found = lost::find(&mesh, lattice, None, &Run::default()).unwrap();
    assert!(stats.inside.lost.is_none_or(|told| told == found));
    (voxels.into_occupied().unwrap(), found.components)
}

fn keep_thin() -> Rule {
    Rule::solid().with_thin(ThinFeatures::Keep).unwrap()
}

fn union(a: &BitGrid, b: &BitGrid) -> BitGrid {
    let mut both = a.clone();
    b.iter().for_each(|cell| both.set(cell));
    both
}

#[test]
fn a_plate_of_a_tenth_of_a_cell_is_named_and_kept_and_nothing_else_is() {
    for (degrees, scattered) in [(0.0, 0), (30.0, 20), (90.0, 0)] {
        let (block, plate) = (block(), plate(degrees));
        let all = [block.clone(), plate.clone()].concat();
        let lattice = cells(&all, 10);
        let (solid, told) = made(&all, &lattice, Rule::solid());
        assert_eq!(solid.count(), 1000 + scattered, "{degrees}");
        let told = told.unwrap();
        let lost = u64::from(scattered == 0);
        assert_eq!((told.components, told.lost, told.scattered), (2, lost, 1 - lost), "{degrees}");
        assert_eq!(told.largest.triangles, 12);
        assert!((0.09..0.1).contains(&told.thickness) && told.thickness < told.cell, "{told:?}");
        assert_eq!(told.largest.bounds, voxelize::Bounds::of(&plate));

        let (whole, _) = made(&plate, &lattice, Rule::filled());
        assert!(whole.count() >= 100);
        let (thick, _) = made(&block, &lattice, Rule::solid());
        let (kept, same) = made(&all, &lattice, keep_thin());
        assert!(kept == union(&thick, &whole), "{degrees}");
        assert_eq!(same, Some(told));
        let (filled, _) = made(&all, &lattice, Rule::filled());
        assert!(whole.iter().all(|cell| filled.get(cell)));
    }
}

#[test]
fn what_has_cells_enough_is_not_named() {
    let all = [block(), plate(30.0)].concat();
    assert_eq!(made(&block(), &cells(&block(), 10), Rule::solid()).1, None);
    // As the warning advises.
    let fine = Fit::new(Size::Spacing([0; 3].map(|_| Rational::new(98, 1000))));
    let lattice = fine.to(&voxelize::Bounds::of(&all)).unwrap();
    assert_eq!(made(&all, &lattice, Rule::solid()).1, None);
}

#[test]
fn thick_parts_stay_as_solid_has_them_wherever_they_are() {
    // An octahedron off the walls, through whose surface filled would have more cells.
    let octahedron: Vec<Triangle> = Mesh::open("fixtures/octahedron.stl").unwrap().triangles().to_vec();
    let extent = voxelize::Bounds::of(&octahedron);
    let lattice = Fit::longest(23).pad(8).to(&extent).unwrap();
    let cell = lattice.spacing()[0].to_f64() as f32;
    let high = extent.max.map(|c| c + 3.3 * cell);
    let low = [high[0] - 2.0 * cell, high[1] - 3.0 * cell, high[2] - 0.05 * cell];
    let sliver = between(low, high);
    let (solid, none) = made(&octahedron, &lattice, Rule::solid());
    assert_eq!(none, None);
    assert!(made(&octahedron, &lattice, keep_thin()).0 == solid);
    let all = [octahedron, sliver.clone()].concat();
    let (kept, _) = made(&all, &lattice, keep_thin());
    let (whole, _) = made(&sliver, &lattice, Rule::filled());
    assert!(kept == union(&solid, &whole) && whole.count() >= 6);
    assert!(made(&all, &lattice, Rule::filled()).0.count() > kept.count());
}

#[test]
fn cavities_and_open_parts_are_no_parts_to_be_lost() {
    let slot = between([2.0, 2.0, 5.05], [8.0, 8.0, 5.15]);
    let slot: Vec<Triangle> = slot.into_iter().map(|[a, b, c]| [a, c, b]).collect();
    let all = [block(), slot].concat();
    let lattice = cells(&all, 10);
    let (solid, told) = made(&all, &lattice, Rule::solid());
    assert_eq!(told, None);
    assert!(made(&all, &lattice, keep_thin()).0 == solid);
    let sheet = vec![[[12.0, 0.0, 5.1], [14.0, 0.0, 5.1], [12.0, 9.0, 5.1]]];
    let all = [block(), sheet].concat();
    let lattice = cells(&all, 10);
    let (solid, told) = made(&all, &lattice, Rule::solid());
    assert_eq!((told, solid.count()), (None, 1000));
    assert!(made(&all, &lattice, keep_thin()).0 == solid);
}

#[test]
fn what_has_cells_for_some_of_it_only_is_named_and_kept() {
    // A rod, tilted, with one cell in its middle; the walls of a hollow box, with none; a plate whose cells hang
    // together by corners only.
    let tilted =
        |t: Triangle| t.map(|[x, y, z]| [x + 0.31 * y - 0.135, y - 0.31 * x + 0.2, z + 0.17 * x + 0.05]);
    let rod: Vec<_> = between([15.0, 8.45, 2.0], [25.0, 8.55, 2.1]).into_iter().map(tilted).collect();
    let low = [14.3, 0.3, 0.3];
    let outer = between(low, low.map(|c| c + 8.0));
    let hollow = [outer, inside_out(between(low.map(|c| c + 0.1), low.map(|c| c + 7.9)))].concat();
    let sloped = |t: Triangle| t.map(|[x, y, z]| [x, y, z + 0.7 * x + 0.6 * y]);
    let sheet: Vec<_> = between([14.0, 0.0, 2.0], [22.0, 8.0, 2.5]).into_iter().map(sloped).collect();
    let mut cells_of_it = vec![];
    for thin in [rod, hollow, sheet] {
        let all = [block(), thin.clone()].concat();
        let lattice = cells(&all, 10);
        let (solid, told) = made(&all, &lattice, Rule::solid());
        let told = told.expect("it is thin");
        cells_of_it.push(solid.count() - 1000);
        assert_eq!((told.components, told.lost + told.scattered), (2, 1), "{told:?}");
        assert_eq!(told.lost == 1, solid.count() == 1000, "{told:?}");
        assert_eq!(told.largest.bounds, voxelize::Bounds::of(&thin));
        assert_eq!(told.largest.triangles, thin.len() as u64);
        assert!(told.thickness < 1.0, "{told:?}");
        let (whole, _) = made(&thin, &lattice, Rule::filled());
        let (thick, _) = made(&block(), &lattice, Rule::solid());
        assert!(made(&all, &lattice, keep_thin()).0 == union(&thick, &whole));
        // What becomes of a part depends neither on others nor on which way its triangles face.
        let turned = |(n, [a, b, c]): (usize, Triangle)| if n % 2 == 0 { [a, b, c] } else { [a, c, b] };
        let mixed: Vec<_> = all.into_iter().enumerate().map(turned).collect();
        for others in [thin, mixed] {
            let again = made(&others, &lattice, Rule::solid()).1.expect("it is thin");
            assert_eq!((again.lost, again.scattered), (told.lost, told.scattered));
            assert!((again.thickness / told.thickness - 1.0).abs() < 1e-9, "{again:?} {told:?}");
        }
    }
    assert!(cells_of_it[0] > 0 && cells_of_it[1] == 0 && cells_of_it[2] > 20, "{cells_of_it:?}");
}

#[test]
fn what_loses_nothing_is_not_named() {
    let at = |low: [f32; 3], size: [f32; 3]| between(low, [0, 1, 2].map(|a| low[a] + size[a]));
    let plates = [
        // As thick as a cell, on walls and between them, and thinner with all cells of a layer.
        (at([14.0, 0.0, 0.0], [20.0, 20.0, 1.0]), 400),
        (at([14.0, 0.0, 4.5], [20.0, 20.0, 1.0]), 400),
        (at([14.0, 0.0, 4.25], [20.0, 20.0, 0.5]), 400),
        // Two thirds of its area by its volume, and a whole cube of cells.
        (at([14.25, 0.25, 0.25], [2.5; 3]), 27),
        // Within the block, whose cells it has.
        (at([2.0, 2.0, 5.05], [6.0, 6.0, 0.1]), 0),
    ];
    for (plate, cells_of_it) in plates {
        let all = [block(), plate].concat();
        let lattice = cells(&all, 10);
        let (solid, told) = made(&all, &lattice, Rule::solid());
        assert_eq!((told, solid.count()), (None, 1000 + cells_of_it));
        assert!(made(&all, &lattice, keep_thin()).0 == solid);
    }
    // Beyond the grid.
    let all = [block(), plate(0.0)].concat();
    let lattice = cells(&block(), 10);
    let (solid, told) = made(&all, &lattice, Rule::solid());
    assert_eq!((told, solid.count()), (None, 1000));
}

#[test]
fn what_is_in_a_hole_or_a_cavity_is_named_whichever_way_it_faces() {
    let knot = Mesh::open("fixtures/knot.stl").unwrap();
    let plate = between([-1.0, -1.0, -0.05], [1.0, 1.0, 0.05]);
    let lattice = Lattice::fit(knot.bounds(), 40).unwrap();
    let cavity = inside_out(between([1.0; 3], [9.0; 3]));
    let within = between([2.0, 2.0, 5.05], [8.0, 8.0, 5.15]);
    let hollow = [block(), cavity].concat();
    let cases = [(knot.triangles().to_vec(), plate, lattice), (hollow.clone(), within, cells(&hollow, 10))];
    for (around, part, lattice) in cases {
        let (plain, none) = made(&around, &lattice, Rule::solid());
        assert_eq!(none, None);
        let (whole, _) = made(&part, &lattice, Rule::filled());
        assert!(whole.count() >= 4 && whole.iter().all(|cell| !plain.get(cell)));
        for part in [part.clone(), inside_out(part)] {
            let all = [around.clone(), part.clone()].concat();
            let (_, told) = made(&all, &lattice, Rule::solid());
            let told = told.expect("it is lost");
            assert_eq!((told.lost, told.largest.bounds), (1, voxelize::Bounds::of(&part)));
            assert!(made(&all, &lattice, keep_thin()).0 == union(&plain, &whole));
        }
    }
    // As many as are asked about by a tree: twenty in the cavity, as many in the block around it. This block is
    // one part with its cavity, as its walls are thin.
    let slivers = |z: f32| {
        (0..20).flat_map(move |n| {
            let y = 1.3 + 0.35 * n as f32;
            between([1.2, y, z], [8.8, y + 0.05, z + 0.1])
        })
    };
    let all: Vec<_> = hollow.iter().copied().chain(slivers(5.05)).chain(slivers(0.3)).collect();
    let (_, told) = made(&all, &cells(&hollow, 10), Rule::solid());
    assert_eq!(told.map(|told| (told.components, told.lost + told.scattered)), Some((41, 20)));
}

#[test]
fn parts_are_judged_alike_in_any_order_by_any_method_and_in_tiles() {
    let all = [block(), plate(30.0)].concat();
    let lattice = cells(&all, 10);
    let (kept, told) = made(&all, &lattice, keep_thin());
    let turned: Vec<_> = all.iter().rev().map(|[a, b, c]| [*b, *c, *a]).collect();
    let (again, others) = made(&turned, &lattice, keep_thin());
    assert!(again == kept && others == told);
    let methods = [Inside::Nonzero, Inside::EvenOdd, Inside::Vote, Inside::Robust];
    for inside in methods {
        let what = keep_thin().with_inside(inside).unwrap();
        assert!(made(&all, &lattice, what).0 == kept, "{inside:?}");
    }
    // A tile that cuts the plate.
    let (dims, spacing) = ([7, 10, 4], lattice.spacing().clone());
    let first = [16, 0, 3];
    let origin = [0, 1, 2].map(|a| lattice.wall(a, first[a]));
    let tile = Lattice::new(dims, origin, spacing, [false; 3]).unwrap();
    let (part, same) = made(&all, &tile, keep_thin());
    assert_eq!(same, told);
    assert!(part.count() > 10);
    for n in 0..7 * 10 * 4 {
        let cell = [n % 7, n / 7 % 10, n / 70];
        assert_eq!(part.get(cell), kept.get([0, 1, 2].map(|a| cell[a] + first[a])), "{cell:?}");
    }
}

/// The cells of a grid with an empty one, or none at all, within some steps, by a plain loop.
fn outer(filled: &BitGrid, steps: i64) -> BitGrid {
    let dims = filled.dims();
    let is_empty = |cell: [i64; 3]| {
        let is_beyond = (0..3).any(|a| cell[a] < 0 || cell[a] >= dims[a] as i64);
        is_beyond || !filled.get(cell.map(|c| c as usize))
    };
    let mut outer = BitGrid::new(dims).unwrap();
    let near = || -steps..=steps;
    for cell in filled.iter() {
        let [i, j, k] = cell.map(|c| c as i64);
        if near().any(|z| near().any(|y| near().any(|x| is_empty([i + x, j + y, k + z])))) {
            outer.set(cell);
        }
    }
    outer
}

#[test]
fn hollow_keeps_the_outer_cells_whole_and_in_slabs() {
    let mut emptied = 0;
    for name in ["cube", "knot", "sphere", "open"] {
        let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
        let lattice = Lattice::fit(mesh.bounds(), 30).unwrap();
        let voxelize::Voxelized { voxels: filled, .. } =
            Voxelizer::new(Rule::filled()).run(&mesh, &lattice).unwrap();
        for steps in [1, 2, 5, 16, 1000] {
            let what = Rule::filled().with_shell(steps).unwrap();
            let wanted = outer(filled.occupied().unwrap(), i64::from(steps).min(31));
            emptied += filled.count() - wanted.count();
            let voxelize::Voxelized { voxels: whole, stats, .. } =
                Voxelizer::new(what).run(&mesh, &lattice).unwrap();
            assert!(*whole.occupied().unwrap() == wanted, "{name}, {steps}");
            for height in [1, 4, 11] {
                let mut slabs = voxelize::Voxelizer::new(what)
                    .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
                    .unwrap();
                use voxelize::grid::CellSource;
                while slabs.next().unwrap().is_some() {}
                assert_eq!(slabs.digest(), whole.digest(), "{name}, {steps}, slabs of {height}");
                assert_eq!(slabs.made().stats.snapped, stats.snapped);
            }
        }
    }
    assert!(emptied > 10_000, "{emptied}");
}

#[test]
fn the_command_warns_keeps_and_records() {
    let place = Place::new();
    place.write("plate.stl", stl(&[block(), plate(0.0)].concat()));
    let kept = place.run("plate.stl --solid --voxel-size 1 --keep-thin -o b.npz --json").expect(0).json();
    assert_eq!((&kept["warnings"], &kept["variant"]), (&serde_json::json!([]), &"keep-thin".into()));
    assert_eq!(kept["inside"]["thin"]["lost"], 1, "{kept}");
    let json = place.run("plate.stl --solid --voxel-size 1 -o c.npz --json").expect(0).json();
    assert_eq!(json["inside"]["thin_places"], serde_json::json!({"places": 0, "cells": 0}));
    let json_of =
        |line: &str| place.run(&format!("{line} -o d.npz --json")).expect(0).json()["inside"].clone();
    assert_eq!(json_of("cube.stl --solid")["thin"], serde_json::json!({"lost": 0, "scattered": 0}));
    assert!(json_of("cube.stl --filled")["thin"].is_null());
    let thin = &json["inside"]["thin"];
    assert_eq!((&thin["parts"], &thin["lost"], &thin["scattered"]), (&2.into(), &1.into(), &0.into()));
    assert_eq!((json["variant"].as_str(), json["warnings"][0]["code"].as_str()), (None, Some("W009")));
    let info = place.run("info b.npz --json").expect(0).json();
    assert_eq!((&info["rule"], &info["variant"]), (&"solid".into(), &"keep-thin".into()));
    // A golden is made again as it was made.
    place.run("verify b.npz plate.stl").expect(0);
    place.run("cube.stl --filled --hollow 2 -r 20 -o h.npz").expect(0);
    place.run("verify h.npz cube.stl").expect(0);
    place.run("cube.stl --filled --hollow 2 -r 20 -o h.npz --json --max-memory 1G").expect(0);
}

#[test]
fn short_of_memory_no_part_is_looked_for_and_that_is_said() {
    let place = Place::new();
    for name in ["knot.stl", "sphere.stl"] {
        place.write(name, std::fs::read(format!("fixtures/{name}")).unwrap());
    }
    let json = place.run("knot.stl --solid -r 32 --max-memory 1M -o a.npz --json").expect(0).json();
    assert_eq!(json["warnings"][0]["code"].as_str(), Some("W010"), "{json}");
    let whole = place.run("knot.stl --solid -r 32 -o b.npz --json").expect(0).json();
    assert_eq!(
        (json["digest"].clone(), whole["warnings"].as_array().unwrap().len()),
        (whole["digest"].clone(), 0)
    );
    // Many share the memory, but none has less to say for it.
    let line = "knot.stl cube.stl sphere.stl --solid -r 32 --max-memory 3M -o all/ -f npz --json";
    let many = place.run(line).expect(0);
    assert!(!many.text().contains("W010") && many.text().lines().count() == 3, "{}", many.text());
}

#[test]
fn variants_belong_to_their_rules() {
    let place = Place::new();
    for options in ["--keep-thin", "--filled --keep-thin", "--solid --hollow 1", "--filled --hollow 0"] {
        refused(&place, &format!("cube.stl {options}"), 2);
    }
    for refused in [Rule::filled().with_thin(ThinFeatures::Keep), Rule::solid().with_shell(1)] {
        assert_eq!(refused.unwrap_err().kind(), voxelize::Kind::Usage);
    }
    // No shell, written out.
    let (mesh, lattice) = (Mesh::from_triangles(block()).unwrap(), cells(&block(), 10));
    let rule = Rule::Filled { inside: Inside::Auto, ties: Ties::None, shell: Some(0) };
    let error = Voxelizer::new(rule).run(&mesh, &lattice).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::Usage);
}
