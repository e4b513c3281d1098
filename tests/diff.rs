//! Does `voxelize diff` tell what differs between two voxel files, and end with the right code?

mod place;

use place::{Place, cuboid, refused, stl};
use serde_json::json;
use voxelize::format::{self, FORMATS, SaveOptions};
use voxelize::grid::{BitGrid, Meta, Part, Sort};
use voxelize::{Lattice, Rational, Voxels};

/// What every place here begins with: the cube in each format, padded, and half of it on the same grid.
fn place() -> Place {
    let place = Place::new();
    for format in FORMATS {
        place.run(&format!("cube.stl -r 8 -o cube.{}", format.extensions[0])).expect(0);
    }
    place.run("cube.stl -r 8 --pad 1 -o padded.npz").expect(0);
    place.write("half.stl", stl(&cuboid([20.0, 20.0, 10.0])));
    place.run("half.stl --like padded.npz -o half.npz").expect(0);
    place
}

#[test]
fn the_same_grid_is_equal_in_every_format() {
    let place = place();
    let mut pairs = 0;
    for (a, b) in FORMATS.iter().flat_map(|a| FORMATS.iter().map(move |b| (a, b))) {
        let run = place.run(&format!("diff cube.{} cube.{}", a.extensions[0], b.extensions[0])).expect(0);
        assert_eq!((run.label("cells"), run.err.as_str()), ("equal", ""));
        let silent = [a, b].iter().any(|format| format.name == "npy");
        let grid = if silent { "compared by cells: " } else { "the same: cells of 2.5, corner (0, 0, 0)" };
        assert!(run.label("grid").starts_with(grid), "{}", run.text());
        pairs += 1;
    }
    assert!(pairs > 8, "{pairs}");
    let text = place.run("diff cube.npy cube.npy").expect(0);
    assert_eq!(text.label("grid"), "compared by cells: cube.npy and cube.npy do not say where the cells are");
}

#[test]
fn what_differs_is_counted_and_boxed() {
    let place = place();
    let run = place.run("diff padded.npz half.npz").expect(1);
    // Each face marks the layer above: 9³ less 7³, and 9 × 9 × 5 less 7 × 7 × 3.
    assert_eq!(run.label("first"), "padded.npz: 386 voxels in 10 × 10 × 10 cells");
    assert_eq!(run.label("second"), "half.npz: 258 voxels in 10 × 10 × 10 cells");
    // The lid is added, less its rim; the walls above it and the other lid are removed.
    let cells = "different: 49 added, 177 removed, 209 common; intersection over union 0.48046";
    assert_eq!(run.label("cells"), cells);
    let bounds = "cells x 1 … 9, y 1 … 9, z 5 … 9; in space x 0 … 22.5, y 0 … 22.5, z 10 … 22.5";
    assert_eq!(run.label("box"), bounds);
    let run = place.run("diff half.npz padded.npz -v").expect(1);
    assert!(run.text().contains("177 added, 49 removed"), "{}", run.text());
    assert!(
        run.text().contains("cell    (2, 2, 5) removed\n") && run.text().contains("cell    and 206 more")
    );
}

#[test]
fn gates_let_pass_what_they_say() {
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
        let run = place.run(&format!("diff padded.npz half.npz {gates}")).expect(code);
        assert_eq!(run.label("cells").starts_with("different, but within what is allowed"), code == 0);
    }
}

#[test]
fn grids_that_do_not_match_are_named_with_what_differs() {
    let place = place();
    place.run("cube.stl -r 9 -o nine.npz").expect(0);
    place.write("tall.stl", stl(&cuboid([20.0, 20.0, 30.0])));
    place.run("tall.stl --bounds 0,0,0,20,20,20 -r 8 -o open.npz").expect(0);
    place.run("cube.stl --bounds 1,0,0,21,20,20 --voxel-size 2.5 -o moved.npz").expect(0);
    let cases = [
        ("cube.vox nine.npz", "dims: 8 × 8 × 8 and 9 × 9 × 9; cell size: 2.5 and 2.22222", "--like cube.vox"),
        ("cube.npy nine.npz", "dims: 8 × 8 × 8 and 9 × 9 × 9", "--like cube.npy"),
        ("cube.raw open.npz", "the grids do not match; end along z: closed and open", "--ignore-grid"),
        ("cube.vox moved.npz", "corner along x: 0 and 1", "--ignore-grid"),
    ];
    let mut seen = 0;
    for (files, says, hint) in cases {
        let error = refused(&place, &format!("diff {files}"), 2, says);
        assert!(error.starts_with(&format!("error: {} and ", files.split(' ').next().unwrap())), "{error}");
        let run = place.run(&format!("diff {files} --json")).expect(2);
        assert!(run.line("hint:").contains(hint), "{}", run.err);
        let json = run.json();
        assert!(json["grid"]["differs"].as_array().is_some_and(|list| !list.is_empty()), "{json}");
        assert_eq!((&json["counts"], &json["status"]), (&json!(null), &json!("error")));
        seen += 1;
    }
    assert!(seen > 0, "no case");
    // Of other dims there is nothing to compare.
    let run = place.run("diff cube.vox nine.npz --ignore-grid").expect(2);
    assert!(run.err.contains("cell by cell needs as many cells; dims: "), "{}", run.err);
    let run = place.run("diff cube.vox moved.npz --ignore-grid").expect(1);
    assert!(run.label("grid").starts_with("differs, ignored; corner along x: 0 and 1"), "{}", run.text());
    assert!(!run.label("box").contains("space"), "which space? {}", run.text());
    // Under an open end no lid is marked.
    let run = place.run("diff cube.vox open.npz --ignore-grid").expect(1);
    assert!(run.text().contains(" 0 added, 36 removed"), "{}", run.text());
}

#[test]
fn sizes_that_look_alike_are_told_exactly() {
    let place = Place::new();
    let save = |name: &str, size: Rational| {
        let lattice =
            Lattice::new([1; 3], [(); 3].map(|()| Rational::ZERO), [(); 3].map(|()| size.clone()), [true; 3]);
        let bits = BitGrid::from_text("#").unwrap();
        let voxels = Voxels { bits, lattice: Some(lattice.unwrap()), meta: Meta::default() };
        voxels.save(place.path(name)).unwrap();
    };
    save("a.npz", Rational::new(1, 3));
    save("b.npz", Rational::new(333_333_333, 1_000_000_000));
    refused(&place, "diff a.npz b.npz", 2, "cell size: 1/3 and 333333333/1000000000");
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
    let run = place.run("--json diff padded.npz half.npz -o d.vox").expect(1);
    assert_eq!(run.err, "");
    let json = run.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().collect();
    let expected = "schema tool verb status exit_code first second grid counts iou box outputs";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    for (pointer, value) in [
        ("/verb", json!("diff")),
        ("/status", json!("failed")),
        ("/exit_code", json!(1)),
        ("/first", json!({"path": "padded.npz", "dims": [10, 10, 10], "occupied": 386})),
        ("/grid", json!({"dims": [10, 10, 10], "compared_by": "lattice", "differs": []})),
        ("/counts", json!({"cells": 1000, "common": 209, "added": 49, "removed": 177, "differing": 226})),
        ("/box/cells", json!({"min": [1, 1, 5], "max": [9, 9, 9]})),
        ("/box/world", json!({"min": [0.0, 0.0, 10.0], "max": [22.5, 22.5, 22.5]})),
        ("/outputs/0/path", json!("d.vox")),
    ] {
        assert_eq!(json.pointer(pointer), Some(&value), "{pointer}");
    }
    let equal = place.run("diff cube.vox cube.raw --json").expect(0).json();
    assert_eq!((&equal["status"], &equal["iou"], &equal["box"]), (&json!("ok"), &json!(1.0), &json!(null)));
    let failed = place.run("diff cube.vox missing.npz --json").expect(3).json();
    assert_eq!(failed.as_object().unwrap().len(), keys.len() + 1, "the error, and all the rest");
    assert_eq!(failed["second"]["path"], "missing.npz");
}

#[test]
fn the_difference_is_written_in_two_colours() {
    let place = place();
    let run = place.run("diff padded.npz half.npz -o d.vox").expect(1);
    assert!(run.label("wrote").starts_with("d.vox, ") && run.label("wrote").ends_with(": 226 cells"));
    let (all, parts) = format::open_parts(&place.path("d.vox")).unwrap();
    let counts: Vec<_> = parts.iter().map(|part| (part.sort, part.cells.count())).collect();
    assert_eq!(counts, [(Sort::Added, 49), (Sort::Removed, 177)]);
    assert_eq!((all.count(), all.lattice.is_some()), (226, true));
    // An independent reader sees two colours, and the ones that are documented.
    let scene = dot_vox::load(place.path("d.vox").to_str().unwrap()).unwrap();
    let mut colours: Vec<_> = scene.models.iter().flat_map(|m| &m.voxels).map(|v| v.i + 1).collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours, [4, 5]);
    let colour = |n: usize| (scene.palette[n - 1].r, scene.palette[n - 1].g, scene.palette[n - 1].b);
    assert_eq!((colour(4), colour(5)), ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)));
    // It is a voxel file as any other.
    place.run("diff d.vox padded.npz").expect(1);
    place.run("diff cube.vox cube.raw -o none.vox").expect(0);
    assert_eq!(Voxels::open(place.path("none.vox")).unwrap().count(), 0);
}

#[test]
fn colours_that_no_part_has_are_refused() {
    let place = Place::new();
    let part = |sort, text| Part { sort, cells: BitGrid::from_text(text).unwrap() };
    let parts = [part(Sort::Common, "#.."), part(Sort::Removed, ".##")];
    let (vox, npz) = (format::by_name("vox").unwrap(), format::by_name("npz").unwrap());
    let path = place.path("a.vox");
    format::save_parts(&parts, None, &path, vox, &SaveOptions::default()).unwrap();
    assert_eq!(format::open_parts(&path).unwrap().1, parts);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|four| four == [1, 0, 0, 5]).expect("the second voxel");
    bytes[at + 3] = 9;
    place.write("b.vox", bytes);
    let error = format::open_parts(&place.path("b.vox")).unwrap_err();
    assert_eq!((error.code(), error.message().contains("colour 9")), ("V007", true), "{error}");
    let error = format::save_parts(&parts, None, &place.path("a.npz"), npz, &SaveOptions::default());
    assert!(error.unwrap_err().message().contains("npz tells no parts"));
}

#[test]
fn bad_questions_and_bad_files_are_errors_with_a_hint() {
    let place = place();
    place.write("broken.npz", b"PK\x03\x04 and then nothing");
    place.write("text.vox", b"not a scene");
    place.run("cube.stl --voxel-size 1,2,4 -o flat.npz").expect(0);
    std::fs::create_dir(place.path("folder")).unwrap();
    let before = place.files();
    let cases = [
        ("diff", 2, "<A> and <B>: not given"),
        ("diff cube.vox", 2, "<B>: not given"),
        ("diff cube.vox cube.npy cube.raw", 2, "cube.raw: one word too many for diff"),
        ("diff cube.vox missing.vox", 3, "missing.vox: no such file"),
        ("diff cube.vox folder", 3, "folder: is a folder"),
        ("diff broken.npz cube.vox", 3, "broken.npz"),
        ("diff cube.vox text.vox", 3, "text.vox: the content is not that of a .vox file"),
        ("diff cube.stl cube.vox", 3, "cube.stl: is a mesh, not voxels"),
        ("diff cube.vox cube.npy --allow -1", 2, "--allow -1"),
        ("diff cube.vox cube.npy --allow some", 2, "--allow some: 'some' is not a whole number"),
        ("diff cube.vox cube.npy --iou-min 1.5", 2, "--iou-min 1.5: must be from 0 to 1"),
        ("diff cube.vox cube.npy --rez 3", 2, "--rez: no such option"),
        ("diff cube.vox cube.npy -r 3", 2, "-r: no such option"),
        ("diff cube.vox cube.npy -q -v", 2, "-q and -v exclude each other"),
        ("diff cube.vox cube.npy -o d.npz", 2, "d.npz: no format that tells added from removed"),
        ("diff cube.vox cube.npy -o cube.vox", 2, "cube.vox: is the first file"),
        ("diff cube.npy cube.vox -o cube.vox", 2, "cube.vox: is the second file"),
        ("diff flat.npz flat.npz -o d.vox", 2, "d.vox: a .vox file cannot hold cells that are not cubes"),
        ("diff cube.vox cube.npy -o missing/d.vox", 6, "missing/d.vox"),
        ("diff cube.vox cube.npy --json=cube.npy", 2, "cube.npy: is the second file"),
        ("diff cube.vox cube.npy -o d.vox --json=d.vox", 2, "d.vox: is the output"),
        ("diff cube.vox cube.npy --json=missing/d.json", 6, "missing/d.json"),
        ("diff cube.vox cube.npy -j 0", 2, "-j 0"),
        ("dif cube.vox cube.npy", 3, "dif: no such file"),
    ];
    let mut seen = 0;
    for (line, code, says) in cases {
        refused(&place, line, code, says);
        seen += 1;
    }
    assert!(seen > 0, "no case");
    let meshes = place.run("diff cube.stl cube.stl").expect(3);
    assert!(meshes.err.contains("hint: voxelize cube.stl -o NAME.npz makes voxels of it"), "{}", meshes.err);
    assert_eq!(place.files(), before, "nothing is left");
    place.run("diff cube.vox half.npz --json=cube.vox").expect(2);
    place.run("diff cube.vox cube.npy").expect(0);
}

#[test]
fn shared_options_stand_before_and_after() {
    let place = place();
    let said = place.run("diff padded.npz half.npz").expect(1).out;
    for line in ["-j 1 diff padded.npz half.npz --simd scalar", "--simd auto diff -j 2 padded.npz half.npz"] {
        assert_eq!(place.run(line).expect(1).out, said, "{line}");
    }
    for line in ["-q diff padded.npz half.npz", "diff padded.npz -q half.npz"] {
        let run = place.run(line).expect(1);
        assert_eq!((run.text(), run.err.as_str()), ("", ""), "{line}");
    }
    let run = place.run("--json=d.json diff padded.npz half.npz").expect(1);
    assert_eq!(run.out, said, "the text stays");
    let text = std::fs::read_to_string(place.path("d.json")).unwrap();
    assert!(text.contains("\"status\":\"failed\"") && text.lines().count() == 1, "{text}");
}
