//! Lost features and the cells that `--keep-thin` adds do not depend on the order of the triangles and the
//! rotation of their corners.

use serde_json::{Value, json};
use voxelize::rule::lost;
use voxelize::{Inside, Mesh, Run};

use super::ribs::blocks_and_rib;
use super::{cells, keep_thin, made};
use crate::support::place::Place;
use crate::support::random::Random;
use crate::support::solids::{Triangle, between, block, inside_out, plate, ribbed, stl};

/// Random orders of each mesh.
const ORDERS: u64 = 100;

/// Returns two boxes closer than a cell, and a third one far from them.
fn two_and_one() -> [Vec<Triangle>; 3] {
    let second = between([4.6, 0.0, 0.0], [8.0, 4.0, 4.0]);
    [
        between([0.0; 3], [4.0; 3]),
        second,
        between([0.0, 8.0, 0.0], [4.0, 12.0, 4.0]),
    ]
}

/// Returns a two-sided square exactly on a wall, between corners of the first and the third box.
fn two_sided_sheet() -> Vec<Triangle> {
    let [a, b, c, d] = [[0.0, 4.0], [4.0, 4.0], [4.0, 8.0], [0.0, 8.0]].map(|[x, y]| [x, y, 0.0]);
    let sheet = vec![[a, b, c], [a, c, d]];
    [sheet.clone(), inside_out(sheet)].concat()
}

/// Returns meshes with the number of lost and of broken components of filled cells.
fn worlds() -> Vec<(&'static str, Vec<Triangle>, [u64; 2])> {
    let [first, second, third] = two_and_one();
    let joined = [first.clone(), second, third.clone(), two_sided_sheet()].concat();
    let sheets = [12.0, 14.5].map(|z| [[0.0, 0.0, z], [9.0, 0.0, z], [0.0, 9.0, z]]);
    let plates = [0.0, 3.0].map(|by| {
        let corners = [[14.0, 0.0, 4.95], [24.0, 10.0, 5.05]];
        let [low, high] = corners.map(|corner| corner.map(|c| c + by));
        between(low, high)
    });
    let plates = plates.concat();
    let thin = [plate(0.0), plate(30.0)];
    // At a corner, along an edge, and at a face.
    let touching = [[10.0; 3], [10.0, 10.0, 0.0], [10.0, 0.0, 0.0]]
        .map(|low| between(low, low.map(|c| c + 0.3)));
    let touching = [block(), touching.concat(), thin[0].clone()].concat();
    let copies = [block(), block(), thin[1].clone(), thin[1].clone()].concat();
    let sheets = [block(), thin[1].clone(), sheets.to_vec()].concat();
    let two = [block(), plates.clone()].concat();
    let rib = [ribbed(20.0), plates].concat();
    vec![
        ("boxes joined by a sheet in a wall", joined, [0, 0]),
        ("a plate and sheets", sheets, [1, 1]),
        ("two plates of one size", two, [2, 0]),
        ("boxes that touch", touching, [1, 0]),
        ("copies", copies, [0, 1]),
        ("a rib", rib, [0, 1]),
    ]
}

#[test]
fn lost_features_are_the_same_in_any_order() {
    for (name, triangles, wanted) in worlds() {
        let lattice = cells(&triangles, 10);
        for inside in [Inside::Auto, Inside::Robust, Inside::flood()] {
            let rule = keep_thin().with_inside(inside).unwrap();
            let find = |triangles: &[Triangle]| {
                let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
                let found = lost::find(&mesh, &lattice, inside, None, &Run::default()).unwrap();
                (found, made(triangles, &lattice, rule).0)
            };
            let (first, kept) = find(&triangles);
            if inside == Inside::Auto {
                let found = first
                    .components
                    .map_or([0; 2], |found| [found.lost, found.broken]);
                assert_eq!(found, wanted, "{name}: {first:?}");
            }
            for seed in 0..ORDERS {
                let (again, cells) = find(&Random::new(seed).shuffled(&triangles));
                assert_eq!(again, first, "{name}, {inside:?}, order {seed}");
                assert!(cells == kept, "{name}, {inside:?}, order {seed}");
            }
        }
    }
}

#[test]
fn the_report_of_lost_features_is_the_same_in_any_order() {
    let place = Place::new();
    for (name, triangles, _) in worlds() {
        let mut reports: Vec<(Value, String)> = vec![];
        for seed in 0..10 {
            place.write("mesh.stl", stl(&Random::new(seed).shuffled(&triangles)));
            let options = "mesh.stl --solid --voxel-size 1 --origin 0,0,0 -o a.npy";
            let json = place.run(&format!("{options} --json")).expect(0).json();
            let kept = place.run(&format!("{options} --keep-thin --json"));
            let kept = kept.expect(0).json();
            let text = place.run(options).expect(0).err;
            let warnings = text.lines().filter(|line| line.starts_with("warning"));
            let warnings: Vec<_> = warnings.collect();
            let report = json!([
                json["inside"],
                json["warnings"],
                kept["inside"],
                kept["digest"]
            ]);
            reports.push((report, warnings.join("\n")));
            assert_eq!(reports[0], reports[seed as usize], "{name}, order {seed}");
        }
    }
}

#[test]
fn a_component_is_counted_in_every_component_of_filled_cells_that_it_reaches() {
    let [first, second, third] = two_and_one();
    let boxes = [first.clone(), second.clone(), third.clone()].concat();
    let lattice = cells(&boxes, 10);
    // The first and the third box are one component of the mesh, in two components of filled cells. In the
    // other component of filled cells, the first and the second box are two components of the mesh, in either
    // order.
    let parts = [first, second, third, two_sided_sheet()];
    for order in [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0], [1, 3, 2, 0]] {
        let triangles = order.map(|n| parts[n].clone()).concat();
        let mesh = Mesh::from_triangles(triangles).unwrap();
        let found = lost::find(&mesh, &lattice, Inside::Auto, None, &Run::default()).unwrap();
        assert_eq!(found.components, None, "{order:?}");
    }
}

#[test]
fn a_sheet_in_a_wall_reaches_touched_cells_without_a_corner_there() {
    let rib = blocks_and_rib([0.05; 2], 12.0)
        .into_iter()
        .map(|triangle| triangle.map(|v| v.map(|c| c as f32)));
    let rib: Vec<Triangle> = rib.collect();
    let lattice = cells(&rib, 10);
    let broken = |height: Option<f32>| {
        let corners = |z: f32| [[-90.0, -90.0, z], [300.0, -90.0, z], [-90.0, 300.0, z]];
        let sheet = height.map(|z| vec![corners(z)]).unwrap_or_default();
        let all = [rib.clone(), sheet.clone(), inside_out(sheet)].concat();
        let mesh = Mesh::from_triangles(all).unwrap();
        let found = lost::find(&mesh, &lattice, Inside::Auto, None, &Run::default()).unwrap();
        found.components.map_or(0, |found| found.broken)
    };
    // Two pieces: one component of the mesh breaks, two do not.
    assert_eq!(
        [None, Some(-2.0), Some(0.0), Some(10.0), Some(12.0)].map(broken),
        [1, 1, 0, 0, 1]
    );
}
