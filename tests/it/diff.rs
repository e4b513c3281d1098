//! `voxelize diff` reports the differences between two voxel files and ends with the right exit code.

use std::collections::BTreeSet;

use crate::formats::readable;
use crate::support::place::{Place, cuboid, refused, stl};
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
fn differences_are_counted_and_boxed() {
    let place = place();
    let json = place
        .run("diff padded.npz half.npz --json")
        .expect(1)
        .json();
    // Each face marks the layer above: 9³ minus 7³, and 9 × 9 × 5 minus 7 × 7 × 3.
    assert_eq!(
        (&json["first"]["occupied"], &json["second"]["occupied"]),
        (&json!(386), &json!(258))
    );
    // The lid is added, except for its rim. The walls above it and the other lid are removed.
    let counts = json!({"cells": 1000, "common": 209, "added": 49, "removed": 177, "relabelled": 0, "differing": 226});
    assert_eq!(
        (&json["counts"], json["iou"].as_f64()),
        (&counts, Some(209.0 / 435.0))
    );
    assert_eq!(
        json["box"]["cells"],
        json!({"min": [1, 1, 5], "max": [9, 9, 9]})
    );
    let swapped = place
        .run("diff half.npz padded.npz --json")
        .expect(1)
        .json();
    assert_eq!(
        (&swapped["counts"]["added"], &swapped["counts"]["removed"]),
        (&json!(177), &json!(49))
    );
    let [some, few] = ["-v", ""].map(|how| {
        place
            .run(&format!("diff half.npz padded.npz {how}"))
            .expect(1)
    });
    assert!(
        some.text().lines().count() > few.text().lines().count() + 3,
        "{}",
        some.text()
    );
    assert!(
        some.text().contains("(2, 2, 5)") && some.text().contains("206"),
        "{}",
        some.text()
    );
}

#[test]
fn gates_pass_at_their_limits() {
    let place = place();
    for (gates, code) in [
        ("", 1),
        ("--allow 225", 1),
        ("--allow 226", 0),
        ("--iou-min 0.48", 0),
        ("--iou-min 0.49", 1),
        ("--iou-min 0.48 --allow 3", 1),
        ("--iou-min 0.49 --allow 1000", 1),
        ("--iou-min 0 --allow 226", 0),
    ] {
        let json = place
            .run(&format!("diff padded.npz half.npz --json {gates}"))
            .expect(code)
            .json();
        assert_eq!(
            json["status"],
            if code == 0 { "ok" } else { "failed" },
            "{gates}"
        );
        assert_eq!(json["counts"]["differing"], 226, "{gates}");
    }
}

#[test]
fn mismatched_grids_are_named_with_their_difference() {
    let place = place();
    place.run("cube.stl -r 9 -o nine.npz").expect(0);
    place.write("tall.stl", stl(&cuboid([20.0, 20.0, 30.0])));
    place
        .run("tall.stl --bounds 0,0,0,20,20,20 -r 8 -o open.npz")
        .expect(0);
    place
        .run("cube.stl --bounds 1,0,0,21,20,20 --voxel-size 2.5 -o moved.npz")
        .expect(0);
    let cases = [
        (
            "cube.vox nine.npz",
            &["dims", "spacing"][..],
            "--like cube.vox",
        ),
        ("cube.npy nine.npz", &["dims"], "--like cube.npy"),
        ("cube.raw open.npz", &["closed"], "--ignore-grid"),
        ("cube.vox moved.npz", &["origin"], "--ignore-grid"),
    ];
    let mut seen = 0;
    for (files, what, hint) in cases {
        let error = refused(&place, &format!("diff {files}"), 2);
        assert!(files.split(' ').all(|file| error.contains(file)), "{error}");
        let run = place.run(&format!("diff {files} --json")).expect(2);
        assert!(run.line("hint:").contains(hint), "{}", run.err);
        let json = run.json();
        let differs: BTreeSet<_> = json["grid"]["differs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["what"].as_str().unwrap())
            .collect();
        assert_eq!(differs, what.iter().copied().collect(), "{json}");
        assert_eq!(
            (&json["counts"], &json["status"]),
            (&json!(null), &json!("error"))
        );
        seen += 1;
    }
    assert!(seen > 0, "no case");
    // Grids of different dims cannot be compared.
    place.run("diff cube.vox nine.npz --ignore-grid").expect(2);
    let json = place
        .run("diff cube.vox moved.npz --ignore-grid --json")
        .expect(1)
        .json();
    assert_eq!(json["grid"]["differs"][0]["what"], "origin");
    assert!(json["box"]["world"].is_null(), "in which space? {json}");
    // No lid is marked below an open end.
    let json = place
        .run("diff cube.vox open.npz --ignore-grid --json")
        .expect(1)
        .json();
    assert_eq!(
        (&json["counts"]["added"], &json["counts"]["removed"]),
        (&json!(0), &json!(36))
    );
}

#[test]
fn sizes_that_look_alike_are_printed_exactly() {
    let place = Place::new();
    let save = |name: &str, size: Rational| {
        let lattice = Lattice::new(
            [1; 3],
            [(); 3].map(|()| Rational::ZERO),
            [(); 3].map(|()| size.clone()),
            [true; 3],
        );
        let bits = BitGrid::from_text("#").unwrap();
        let voxels = Voxels {
            lattice: Some(lattice.unwrap()),
            ..Voxels::new(bits)
        };
        voxels.save(place.path(name)).unwrap();
    };
    save("a.npz", Rational::new(1, 3));
    save("b.npz", Rational::new(333_333_333, 1_000_000_000));
    let error = refused(&place, "diff a.npz b.npz", 2);
    assert!(
        error.contains("1/3") && error.contains("333333333/1000000000"),
        "{error}"
    );
    let json = place.run("diff a.npz b.npz --json").expect(2).json();
    let differs = &json["grid"]["differs"][1];
    assert_eq!(
        differs,
        &json!({"what": "spacing", "axis": "y", "first": "1/3", "second": "333333333/1000000000"})
    );
}

#[test]
fn json_has_every_key_in_order() {
    let place = place();
    let run = place
        .run("--json diff padded.npz half.npz -o d.vox")
        .expect(1);
    assert_eq!(run.err, "");
    let json = run.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().collect();
    let expected =
        "schema tool command status exit_code first second grid counts iou largest box outputs";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    for (pointer, value) in [
        ("/command", json!("diff")),
        ("/status", json!("failed")),
        ("/exit_code", json!(1)),
        (
            "/first",
            json!({"path": "padded.npz", "kind": "bits", "dims": [10, 10, 10], "occupied": 386, "rule": "surface"}),
        ),
        (
            "/grid",
            json!({"dims": [10, 10, 10], "compared_by": "lattice", "differs": []}),
        ),
        (
            "/counts",
            json!({"cells": 1000, "common": 209, "added": 49, "removed": 177, "relabelled": 0, "differing": 226}),
        ),
        ("/box/cells", json!({"min": [1, 1, 5], "max": [9, 9, 9]})),
        (
            "/box/world",
            json!({"min": [0.0, 0.0, 10.0], "max": [22.5, 22.5, 22.5]}),
        ),
        ("/outputs/0/path", json!("d.vox")),
    ] {
        assert_eq!(json.pointer(pointer), Some(&value), "{pointer}");
    }
    let equal = place.run("diff cube.vox cube.raw --json").expect(0).json();
    assert_eq!(
        (&equal["status"], &equal["iou"], &equal["box"]),
        (&json!("ok"), &json!(1.0), &json!(null))
    );
    let failed = place
        .run("diff cube.vox missing.npz --json")
        .expect(3)
        .json();
    assert_eq!(
        failed.as_object().unwrap().len(),
        keys.len() + 1,
        "the error, and all the rest"
    );
    assert_eq!(failed["second"]["path"], "missing.npz");
}

#[test]
fn the_difference_is_written_in_two_colours() {
    let place = place();
    let json = place
        .run("diff padded.npz half.npz -o d.vox --json")
        .expect(1)
        .json();
    assert_eq!(json["outputs"][0]["path"], "d.vox");
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
    let mut colours: Vec<_> = scene
        .models
        .iter()
        .flat_map(|m| &m.voxels)
        .map(|v| v.i + 1)
        .collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours, [4, 5]);
    let colour = |n: usize| {
        (
            scene.palette[n - 1].r,
            scene.palette[n - 1].g,
            scene.palette[n - 1].b,
        )
    };
    assert_eq!(
        (colour(4), colour(5)),
        ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00))
    );
    // The result is an ordinary voxel file.
    place.run("diff d.vox padded.npz").expect(1);
    place.run("diff padded.npz half.npz -o d.npz").expect(1);
    assert_eq!(Voxels::open(place.path("d.npz")).unwrap(), all);
    place.run("diff cube.vox cube.raw -o none.vox").expect(0);
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
fn bad_options_and_bad_files_are_errors_with_a_hint() {
    let place = place();
    place.write("broken.npz", b"PK\x03\x04 and then nothing");
    place.write("text.vox", b"not a scene");
    place
        .run("cube.stl --voxel-size 1,2,4 -o flat.npz")
        .expect(0);
    std::fs::create_dir(place.path("folder")).unwrap();
    let before = place.files();
    let cases = [
        ("diff", 2),
        ("diff cube.vox", 2),
        ("diff cube.vox cube.npy cube.raw", 2),
        ("diff cube.vox missing.vox", 3),
        ("diff cube.vox folder", 3),
        ("diff broken.npz cube.vox", 3),
        ("diff cube.vox text.vox", 3),
        ("diff cube.stl cube.vox", 3),
        ("diff cube.vox cube.npy --allow -1", 2),
        ("diff cube.vox cube.npy --allow some", 2),
        ("diff cube.vox cube.npy --iou-min 1.5", 2),
        ("diff cube.vox cube.npy --rez 3", 2),
        ("diff cube.vox cube.npy -r 3", 2),
        ("diff cube.vox cube.npy -q -v", 2),
        ("diff cube.vox cube.npy -o d.stl", 2),
        ("diff cube.vox cube.npy -o cube.vox", 2),
        ("diff cube.npy cube.vox -o cube.vox", 2),
        ("diff flat.npz flat.npz -o d.vox", 2),
        ("diff cube.vox cube.npy -o missing/d.vox", 6),
        ("diff cube.vox cube.npy --json=cube.npy", 2),
        ("diff cube.vox cube.npy -o d.vox --json=d.vox", 2),
        ("diff cube.vox cube.npy --json=missing/d.json", 6),
        ("diff cube.vox cube.npy -j 0", 2),
        ("dif cube.vox cube.npy", 2),
    ];
    let mut seen = 0;
    for (line, code) in cases {
        refused(&place, line, code);
        seen += 1;
    }
    assert!(seen > 0, "no case");
    let meshes = place.run("diff cube.stl cube.stl").expect(3);
    assert!(
        meshes.line("hint:").contains("voxelize cube.stl -o "),
        "{}",
        meshes.err
    );
    assert_eq!(place.files(), before, "nothing is left");
    place
        .run("diff cube.vox half.npz --json=cube.vox")
        .expect(2);
    place.run("diff cube.vox cube.npy").expect(0);
}

#[test]
fn shared_options_stand_before_and_after() {
    let place = place();
    let text = place.run("diff padded.npz half.npz").expect(1).out;
    for line in [
        "-j 1 diff padded.npz half.npz --simd scalar",
        "--simd auto diff -j 2 padded.npz half.npz",
    ] {
        assert_eq!(place.run(line).expect(1).out, text, "{line}");
    }
    for line in ["-q diff padded.npz half.npz", "diff padded.npz -q half.npz"] {
        let run = place.run(line).expect(1);
        assert_eq!((run.text(), run.err.as_str()), ("", ""), "{line}");
    }
    let run = place
        .run("--json=d.json diff padded.npz half.npz")
        .expect(1);
    assert_eq!(run.out, text, "the text stays");
    let text = std::fs::read_to_string(place.path("d.json")).unwrap();
    assert!(
        text.contains("\"status\":\"failed\"") && text.lines().count() == 1,
        "{text}"
    );
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
    let same = place
        .run("diff exact.nrrd float.nrrd")
        .expect(0)
        .text()
        .to_string();
    assert!(
        same.contains("the same but for rounding to 32-bit floats: cells of 0.1, "),
        "{same}"
    );
    let json = place
        .run("diff float.nrrd exact.nrrd --json")
        .expect(0)
        .json();
    assert_eq!(json["grid"]["compared_by"], json!("lattice"));
    for (other, said) in [
        ("other", "cell size: 0.1 → 0.1001"),
        ("moved", ", 1e-7 apart"),
    ] {
        let refused = place
            .run(&format!("diff exact.nrrd {other}.nrrd"))
            .expect(2);
        assert!(refused.err.contains(said), "{}", refused.err);
    }
    // Files of this tool have exact positions.
    place.run("cube.stl -r 4 -o a.npz").expect(0);
    place
        .run("cube.stl -r 4 --translate 0.0000001,0,0 -o b.npz")
        .expect(0);
    place.run("diff a.npz b.npz").expect(2);
}

#[test]
fn coordinates_in_other_units_are_another_grid() {
    let place = Place::new();
    for unit in ["mm", "in"] {
        place
            .run(&format!("cube.stl -r 8 --unit {unit} -o {unit}.npz"))
            .expect(0);
    }
    place.run("cube.stl -r 8 -o none.npz").expect(0);
    let refused = place.run("diff mm.npz in.npz").expect(2);
    assert!(
        refused
            .err
            .contains("the grids do not match; unit: mm → in"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("--scale 127/5 --unit mm"),
        "{}",
        refused.err
    );
    let json = place
        .run("diff mm.npz in.npz --ignore-grid --json")
        .expect(0)
        .json();
    assert_eq!(
        json["grid"]["differs"],
        json!([{"what": "unit", "axis": null, "first": "mm", "second": "in"}])
    );
    place.run("diff mm.npz none.npz").expect(0);
}
