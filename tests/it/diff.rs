//! `voxelize diff` compares two voxel files of any format. Its messages and JSON are in the transcripts.

use std::collections::BTreeSet;

use crate::formats::readable;
use crate::support::place::{Place, cuboid, stl};
use crate::support::rows;
use serde_json::json;
use voxelize::format;
use voxelize::grid::{BitGrid, Label, Legend};
use voxelize::{Lattice, Rational, Voxels, compare};

/// Creates the cube in each format, padded, and half of it on the same grid.
fn place() -> Place {
    let place = Place::new();
    for format in readable() {
        place
            .run(&format!("cube.stl -r 8 -o cube.{}", format.extensions[0]))
            .expect(0);
    }
    place.run("cube.stl -r 8 --pad 1 -o padded.npz").expect(0);
    place.write("half.stl", stl(&cuboid([20.0, 20.0, 10.0])));
    place
        .run("half.stl --like padded.npz -o half.npz")
        .expect(0);
    place
}

#[test]
fn the_same_grid_is_equal_in_every_format() {
    let place = place();
    let mut pairs = 0;
    for (a, b) in readable().flat_map(|a| readable().map(move |b| (a, b))) {
        let line = format!(
            "diff cube.{} cube.{} --json",
            a.extensions[0], b.extensions[0]
        );
        let run = place.run(&line).expect(0);
        let json = run.json();
        let silent = [a, b].iter().any(|format| format.name == "npy");
        let by = if silent { "cells" } else { "lattice" };
        assert_eq!(
            (&json["grid"]["compared_by"], &json["counts"]["differing"]),
            (&json!(by), &json!(0)),
            "{line}"
        );
        assert_eq!(run.err, "", "{line}");
        pairs += 1;
    }
    assert!(pairs > 8, "{pairs}");
}

#[test]
fn gates_and_options_are_in_json() {
    rows::check(
        &place(),
        r#"1 diff half.npz padded.npz --json
             no err
             /counts/added 177
             /counts/removed 49
             /outputs []
           0 diff padded.npz half.npz --iou-min 0 --allow 226 --json
             /status "ok"
             /counts/differing 226
           1 diff padded.npz half.npz --iou-min 0.49 --json
             /status "failed"
             /counts/differing 226
           0 diff cube.vox cube.raw --json
             /status "ok"
             /iou 1.0
             /box null
           0 cube.stl --bounds 1,0,0,21,20,20 --voxel-size 2.5 -o moved.npz
           1 diff cube.vox moved.npz --ignore-grid --json
             /grid/differs [{"what": "origin", "axis": "x", "first": "0/1", "second": "1/1"}]
             /box/world null"#,
    );
}

#[test]
fn the_difference_is_written_in_two_colours() {
    let place = place();
    rows::check(
        &place,
        "1 diff padded.npz half.npz -o d.vox
         1 diff padded.npz half.npz -o d.npz
         0 diff cube.vox cube.raw -o none.vox
         # The result is an ordinary voxel file.
         1 diff d.vox padded.npz",
    );
    let all = Voxels::open(place.path("d.vox")).unwrap();
    let labels = all.labels().unwrap();
    assert_eq!(labels.legend(), &Legend::changes());
    assert_eq!(
        labels.counts(),
        [(Label::ADDED.value, 49), (Label::REMOVED.value, 177)]
    );
    assert_eq!((all.count(), all.lattice.is_some()), (226, true));
    // An independent reader finds the two documented colours.
    let scene = dot_vox::load(place.path("d.vox").to_str().unwrap()).unwrap();
    let mut colours = BTreeSet::new();
    for voxel in scene.models.iter().flat_map(|model| &model.voxels) {
        let colour = scene.palette[usize::from(voxel.i)];
        colours.insert((voxel.i + 1, [colour.r, colour.g, colour.b]));
    }
    let expected = [(4, [0x00, 0x72, 0xb2]), (5, [0xd5, 0x5e, 0x00])];
    assert_eq!(colours, BTreeSet::from(expected));
    assert_eq!(Voxels::open(place.path("d.npz")).unwrap(), all);
    assert_eq!(Voxels::open(place.path("none.vox")).unwrap().count(), 0);
}

#[test]
fn colours_that_the_legend_does_not_name_are_refused() {
    let place = Place::new();
    let grid = |text| BitGrid::from_text(text).unwrap();
    let voxels = Voxels::new(compare::diff::labels(&grid("###"), &grid("#..")).unwrap());
    let path = place.path("a.vox");
    voxels.save(&path).unwrap();
    assert_eq!(Voxels::open(&path).unwrap().cells, voxels.cells);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(4)
        .position(|four| four == [1, 0, 0, 5])
        .expect("the second voxel");
    bytes[at + 3] = 9;
    place.write("b.vox", bytes);
    let error = format::open(&place.path("b.vox")).unwrap_err();
    assert_eq!(
        (error.code().name(), error.message().contains('9')),
        ("V007", true),
        "{error}"
    );
}

#[test]
fn shared_options_stand_before_and_after() {
    let place = place();
    let runs = rows::check(
        &place,
        "1 diff padded.npz half.npz
         1 -j 1 diff padded.npz half.npz --simd scalar
         1 --simd auto diff -j 2 padded.npz half.npz
         1 --json=d.json diff padded.npz half.npz
         1 -q diff padded.npz half.npz
             no out
             no err
         1 diff padded.npz -q half.npz
             no out
             no err",
    );
    for run in &runs[1..4] {
        assert_eq!(run.text(), runs[0].text(), "{}", run.line);
    }
    let json = std::fs::read_to_string(place.path("d.json")).unwrap();
    assert!(json.contains("\"status\":\"failed\""), "{json}");
    assert_eq!(json.lines().count(), 1);
}

#[test]
fn images_of_other_programs_may_round_their_place() {
    let place = Place::new();
    let head = |size: &str, origin: &str| {
        format!(
            "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nspace directions: ({size},0,0) (0,{size},0) \
             (0,0,{size})\nspace origin: ({origin},0,0)\nencoding: raw\n\n\u{1}\0\0\0\0\0\0\0"
        )
    };
    place.write("exact.nrrd", head("0.1", "0.3"));
    let float = |value: f32| format!("{:.20}", f64::from(value));
    place.write("float.nrrd", head(&float(0.1), &float(0.3)));
    place.write("other.nrrd", head("0.1001", "0.3"));
    place.write("moved.nrrd", head("0.1", "0.3000001"));
    rows::check(
        &place,
        r#"0 diff exact.nrrd float.nrrd
             out the same except for rounding to 32-bit floats: cells of 0.1,
           0 diff float.nrrd exact.nrrd --json
             /grid/compared_by "lattice"
           2 diff exact.nrrd other.nrrd
             err cell size: 0.1 → 0.1001
           2 diff exact.nrrd moved.nrrd
             err , 1e-7 apart
           # Files of this tool have exact positions.
           0 cube.stl -r 4 -o a.npz
           0 cube.stl -r 4 --translate 0.0000001,0,0 -o b.npz
           2 diff a.npz b.npz"#,
    );
}

#[test]
fn coordinates_in_other_units_are_another_grid() {
    rows::check(
        &Place::new(),
        r#"0 cube.stl -r 8 --unit mm -o mm.npz
           0 cube.stl -r 8 --unit in -o in.npz
           0 cube.stl -r 8 -o none.npz
           2 diff mm.npz in.npz
             err the grids do not match; unit: mm → in
             err --scale 127/5 --unit mm
           0 diff mm.npz in.npz --ignore-grid --json
             /grid/differs [{"what": "unit", "axis": null, "first": "mm", "second": "in"}]
           0 diff mm.npz none.npz"#,
    );
}

/// Layers that are removed from a plate and added to it, in the unit of the file and across units.
#[test]
fn a_difference_has_volumes_and_depths() {
    let place = Place::new();
    place.write("plate.stl", stl(&cuboid([20.0, 20.0, 4.0])));
    let mut worn = cuboid([20.0, 20.0, 4.0]);
    for corner in worn.iter_mut().flatten() {
        if corner[2] > 0.0 {
            corner[2] = 2.5;
        }
    }
    place.write("worn.stl", stl(&worn));
    // The same plate in inches, and one that is 25.4 times smaller.
    let inches = cuboid([20.0 / 25.4, 20.0 / 25.4, 4.0 / 25.4]);
    place.write("inches.stl", stl(&inches));
    rows::check(
        &place,
        r#"0 plate.stl --voxel-size 0.5mm --unit mm --pad 4 --solid -o plate.npz -q
           0 worn.stl --like plate.npz --unit mm --solid -o worn.npz -q
           1 diff plate.npz worn.npz
             out volume  0 mm³ added, 600 mm³ removed
             out depth   removed up to 1.5 mm below the surface of the first
           1 diff worn.npz plate.npz --json
             /unit "mm"
             /volumes/added 600.0
             /volumes/removed 0.0
             /volumes/common 1000.0
             /depth/added/distance 1.5
             /depth/removed null
             /size_factor null
           0 plate.stl --like plate.npz --unit mm --solid -o same.npz -q
           0 diff plate.npz same.npz --json
             /depth null
           0 inches.stl --voxel-size 0.5mm --unit in --pad 4 --solid -o inches.npz -q
           0 diff plate.npz inches.npz
             out grid    the same in mm, converted from in
           0 inches.stl --voxel-size 0.02 --pad 4 --solid -o small.npz -q
           2 diff plate.npz small.npz
             err is about 25.4 times smaller than the first: inches and millimetres?
           0 plate.stl --voxel-size 5 --scale 10 --pad 4 --solid -o large.npz -q
           2 diff plate.npz large.npz
             err is about 10 times larger than the first: centimetres and millimetres?"#,
    );
}

/// Returns the greatest distance of a cell that only `one` has from the cells that `one` does not have,
/// and from the cells of `other`, by all pairs of cells. Cells around the grid are empty.
fn depth_by_all_pairs(one: &BitGrid, other: &BitGrid, spacing: [f64; 3]) -> f64 {
    let dims = one.dims().map(|n| n as i64);
    let has = |grid: &BitGrid, cell: [i64; 3]| {
        (0..3).all(|axis| (0..dims[axis]).contains(&cell[axis]))
            && grid.get(cell.map(|c| c as usize))
    };
    let mut cells = vec![];
    for x in -1..=dims[0] {
        for y in -1..=dims[1] {
            for z in -1..=dims[2] {
                cells.push([x, y, z]);
            }
        }
    }
    let mut greatest: f64 = 0.0;
    for cell in &cells {
        if !has(one, *cell) || has(other, *cell) {
            continue;
        }
        let mut nearest = [f64::INFINITY; 2];
        for target in &cells {
            let mut squared = 0.0;
            for axis in 0..3 {
                squared += ((cell[axis] - target[axis]) as f64 * spacing[axis]).powi(2);
            }
            if !has(one, *target) {
                nearest[0] = nearest[0].min(squared);
            }
            if has(other, *target) {
                nearest[1] = nearest[1].min(squared);
            }
        }
        for squared in nearest.into_iter().filter(|squared| squared.is_finite()) {
            greatest = greatest.max(squared.sqrt());
        }
    }
    greatest
}

/// Pockets in a plate, a hole through it, an edge, a layer and the whole plate are removed, and added.
/// Equal depths are measured from the first file.
#[test]
fn depths_match_all_pairs_of_cells() {
    let place = Place::new();
    let block = |grid: &mut BitGrid, [low, high]: [[usize; 3]; 2]| {
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    grid.toggle([x, y, z]);
                }
            }
        }
    };
    let plate = [[1, 1, 1], [14, 14, 5]];
    let cases = [
        (
            [1.0; 3],
            [[4, 4, 2], [11, 11, 5]],
            Some((4.0, ["second", "first"])),
        ),
        (
            [0.5, 0.5, 0.25],
            [[4, 4, 2], [11, 11, 5]],
            Some((1.0, ["second", "first"])),
        ),
        ([1.0; 3], [[5, 5, 1], [8, 12, 5]], None),
        ([0.5, 0.75, 2.0], [[1, 1, 3], [14, 2, 5]], None),
        (
            [1.0; 3],
            [[1, 1, 4], [14, 14, 5]],
            Some((2.0, ["first", "first"])),
        ),
        ([1.0; 3], plate, Some((3.0, ["first", "second"]))),
    ];
    for (spacing, removed, known) in cases {
        let mut old = BitGrid::new([16, 16, 8]).unwrap();
        block(&mut old, plate);
        let mut new = old.clone();
        block(&mut new, removed);
        let sides = spacing.map(|side| Rational::from_f64(side).unwrap());
        let origin = [const { Rational::ZERO }; 3];
        let lattice = Lattice::new(old.dims(), origin, sides, [true; 3]).unwrap();
        for (name, grid) in [("old.npz", &old), ("new.npz", &new)] {
            let mut voxels = Voxels::new(grid.clone());
            voxels.lattice = Some(lattice.clone());
            voxels.save(place.path(name)).unwrap();
        }
        let expected = depth_by_all_pairs(&old, &new, spacing);
        for (line, what, at) in [
            ("diff old.npz new.npz --json", "removed", 0),
            ("diff new.npz old.npz --json", "added", 1),
        ] {
            let json = place.run(line).expect(1).json();
            let depth = &json["depth"][what];
            let found = depth["distance"].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-9,
                "{removed:?}: {depth}, {expected}"
            );
            let cell: [usize; 3] = serde_json::from_value(depth["cell"].clone()).unwrap();
            assert_eq!(depth["point"], json!(lattice.centre(cell)));
            if let Some((distance, surfaces)) = known {
                assert_eq!(found, distance, "{removed:?}");
                assert_eq!(depth["surface"], surfaces[at], "{removed:?}");
            }
        }
    }
}

#[test]
fn two_meshes_of_confused_units_have_a_hint() {
    let place = Place::new();
    place.write("mm.stl", stl(&cuboid([80.0, 50.0, 4.0])));
    place.write("in.stl", stl(&cuboid([3.15, 1.969, 0.157])));
    rows::check(
        &place,
        "3 diff mm.stl in.stl
             err mm.stl: is a mesh, not voxels
             err the second is about 25.4 times smaller than the first: inches and millimetres?
             err voxelize mm.stl in.stl@scale=25.4 --same-grid -r 256 -o DIR/ makes voxels of both
         3 diff in.stl mm.stl
             err the second is about 25.4 times larger than the first
             err voxelize in.stl mm.stl@scale=1/25.4 --same-grid
         0 in.stl mm.stl@scale=1/25.4 --same-grid -r 16 -o both/ -q
         3 diff mm.stl cube.stl
             no err millimetres
             err voxelize mm.stl cube.stl --same-grid -r 256 -o DIR/ makes voxels of both",
    );
}
