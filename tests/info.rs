//! Does `voxelize info` say what a mesh or a voxel file is?

mod place;

use std::fs;

use place::{Place, Run, cuboid, refused, stl};
use serde_json::{Value, json};
use voxelize::format::FORMATS;

/// The fixtures that are open, and how many open edges they have.
const OPEN: [(&str, u64); 2] = [("open.stl", 32), ("slivers.stl", 600)];

/// One object of JSON for each line of standard output.
fn objects(run: &Run) -> Vec<Value> {
    run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_fixture_is_what_its_table_says() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let table = fs::read_to_string(format!("{folder}/README.md")).unwrap();
    let mut seen = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        let run = place.run(&format!("info {folder}/{name} --json")).expect(0);
        let mesh = &objects(&run)[0]["mesh"];
        assert_eq!(mesh["triangles"].to_string(), cells[2], "{name}");
        let open = OPEN.iter().find(|(open, _)| *open == name).map_or(0, |(_, edges)| *edges);
        assert_eq!((mesh["open_edges"].as_u64(), cells[4] == "no"), (Some(open), open > 0), "{name}");
        assert_eq!((&mesh["closed"], &mesh["oriented"]), (&json!(open == 0), &json!(open == 0)), "{name}");
        assert_eq!(mesh["volume"].is_number(), open == 0, "{name}: of no meaning for an open mesh");
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn a_mesh_is_told_with_cell_sizes_to_begin_with() {
    let place = Place::new();
    let knot = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl");
    fs::copy(knot, place.path("knot.stl")).unwrap();
    let run = place.run("info knot.stl").expect(0);
    let expected = "\
mesh    knot.stl: binary STL, 4,800 triangles, 234.5 KiB
size    63.0259 × 65.6704 × 28.9429: x -28.5259 … 34.5, y -32.8352 … 32.8352, z -14.4714 … 14.4714
closed  yes, and oriented; volume 28,480.3
cells   --res 256 (the default): 246 × 256 × 113 of 0.256525, 904 KiB as bits
        --voxel-size 2.1 (about the median edge, 2.14604): 31 × 32 × 14 of 2.1, 3.5 KiB as bits
";
    assert_eq!((run.text(), run.err.as_str()), (expected, ""));
    let mut seen = 0;
    for suggestion in
        objects(&place.run("info knot.stl --json").expect(0))[0]["suggestions"].as_array().unwrap()
    {
        let option = suggestion["option"].as_str().unwrap();
        let grid = &place.run(&format!("knot.stl {option} -n --json")).expect(0).json()["grid"];
        assert_eq!(grid["dims"], suggestion["dims"], "{option}");
        assert_eq!(grid["spacing_exact"][0], suggestion["spacing_exact"], "{option}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn holes_turned_sides_and_odd_triangles_are_said() {
    let place = Place::new();
    let cube = cuboid([1.0; 3]);
    let inside_out: Vec<_> = cube.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let mut turned = cube.clone();
    turned[0].swap(0, 1);
    let mut flat = cube.clone();
    flat.push([[0.5; 3]; 3]);
    let mut seen = 0;
    for (name, triangles, label, says) in [
        ("whole.stl", cube.clone(), "closed", "yes, and oriented; volume 1"),
        ("inside_out.stl", inside_out, "closed", "yes, but inside out: its volume is -1"),
        ("turned.stl", turned, "closed", "yes, but not oriented: 3 edges are not cancelled by their reverse"),
        ("hole.stl", cube[1..].to_vec(), "closed", "no, 3 open edges"),
        ("flat.stl", flat, "mesh", "flat.stl: binary STL, 13 triangles (1 degenerate), 734 B"),
        ("one.stl", vec![[[2.0; 3]; 3]], "size", "0 × 0 × 0: x 2 … 2, y 2 … 2, z 2 … 2"),
        ("none.stl", vec![], "mesh", "none.stl: binary STL, 0 triangles, 84 B"),
    ] {
        place.write(name, stl(&triangles));
        let run = place.run(&format!("info {name}")).expect(0);
        assert_eq!(run.label(label), says, "{name}");
        let json = &objects(&place.run(&format!("info {name} --json")).expect(0))[0];
        assert_eq!(json["mesh"]["triangles"], triangles.len(), "{name}");
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn a_voxel_file_is_told_in_every_format() {
    let place = Place::new();
    let made =
        place.run("thirds.stl -r 20 --pad 1 --bounds 0,0,0,0.6,0.3,0.5 --json -o base.npz").expect(0).json();
    let mut seen = 0;
    for format in FORMATS {
        for dtype in format.dtypes {
            let name = format!("{}.{}", dtype.name(), format.extensions[0]);
            let how = format!("--dtype {} --sidecar -o {name}", dtype.name());
            place.run(&format!("thirds.stl -r 20 --pad 1 --bounds 0,0,0,0.6,0.3,0.5 {how}")).expect(0);
            let run = place.run(&format!("info {name}")).expect(0);
            let first = format!("{name}: {}", format.name);
            assert!(run.label("voxels").starts_with(&first), "{}", run.text());
            assert_eq!(
                run.label("grid"),
                "22 × 12 × 19 cells of 0.03, corner (-0.03, -0.03, -0.03), open at the end of x"
            );
            assert_eq!(run.label("rule"), "surface; ties: up; snap: float");
            assert!(run.label("made").ends_with(" from thirds.stl") && !run.text().contains("exact "));
            let json = &objects(&place.run(&format!("info {name} --json")).expect(0))[0];
            assert_eq!((&json["format"], &json["digest"]), (&json!(format.name), &made["digest"]), "{name}");
            assert_eq!(json["grid"]["spacing_exact"], made["grid"]["spacing_exact"], "{name}");
            assert_eq!(
                (&json["counts"]["occupied"], &json["volume"]),
                (&made["counts"]["occupied"], &made["volume"])
            );
            assert_eq!(
                json["dtype"],
                if format.dtypes.len() > 1 { json!(dtype.name()) } else { json!(null) }
            );
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
    let run = place.run("info base.npz -q").expect(0);
    assert_eq!((run.text(), run.err.as_str()), ("", ""));
}

#[test]
fn fractions_are_shown_where_decimals_round_them() {
    let place = Place::new();
    place.run("cube.stl -r 7 -o a.npz").expect(0);
    let run = place.run("info a.npz").expect(0);
    assert_eq!(run.label("exact"), "cells of 20/7, corner (0/1, 0/1, 0/1)");
    place.run("cube.stl --dims 3,7,1 --stretch -o b.npz").expect(0);
    let run = place.run("info b.npz").expect(0);
    assert_eq!(run.label("exact"), "cells of 20/3 × 20/7 × 20/1, corner (0/1, 0/1, 0/1)");
}

#[test]
fn what_a_file_does_not_say_is_said_too() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.npy").expect(0);
    let run = place.run("info a.npy").expect(0);
    let grid = "4 × 4 × 4 cells; the file does not say where they are; with --sidecar a .json beside it does";
    assert_eq!(run.label("grid"), grid);
    assert!(run.label("digest").starts_with("cells v1:") && !run.text().contains("rule"));
    let json = &objects(&place.run("info a.npy --json").expect(0))[0];
    assert_eq!(
        (&json["grid"], &json["volume"], &json["made_by"]),
        (&json!({"dims": [4, 4, 4]}), &json!(null), &json!(null))
    );
    // A sidecar that was left from another file is not believed, and that is said.
    place.run("cube.stl -r 4 --sidecar -o b.npy").expect(0);
    place.run("thirds.stl --dims 4,4,4 -o b.npy").expect(0);
    let grid =
        "4 × 4 × 4 cells; the file does not say where they are, and the .json beside it is about other cells";
    assert_eq!(place.run("info b.npy").expect(0).label("grid"), grid);
    place.run("diff a.npy a.npy -o d.vox").expect(0);
    let json = &objects(&place.run("info d.vox --json").expect(0))[0];
    assert_eq!(json["parts"], json!([{"sort": "added", "cells": 0}, {"sort": "removed", "cells": 0}]));
}

#[test]
fn one_failing_file_does_not_stop_the_others() {
    let place = Place::new();
    place.write("cut.stl", &stl(&cuboid([1.0; 3]))[..100]);
    place.write("empty.npz", b"");
    let run = place.run("info cut.stl cube.stl empty.npz thirds.stl missing.vox").expect(3);
    assert_eq!(run.text().matches("mesh ").count(), 2, "{}", run.text());
    assert_eq!(run.err.matches("error: ").count(), 3, "{}", run.err);
    let run = place.run("info cut.stl cube.stl missing.vox --json").expect(3);
    let objects = objects(&run);
    let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let expected = "schema tool verb status exit_code path kind format bytes mesh suggestions warnings dtype parts grid \
        made_by input rule variant ties inside close_holes snap counts volume digest";
    assert_eq!(keys(&objects[1]), expected.split_whitespace().collect::<Vec<_>>());
    for (object, path) in objects.iter().zip(["cut.stl", "cube.stl", "missing.vox"]) {
        assert_eq!(object["path"], path);
        assert_eq!(object["error"].is_object(), path != "cube.stl");
    }
    assert_eq!(objects.len(), 3);
    // The same lines in a file, beside the text.
    let run = place.run("info cube.stl thirds.stl --json=info.json").expect(0);
    assert!(run.text().contains("\n\nmesh "), "a line between: {}", run.text());
    assert_eq!(fs::read_to_string(place.path("info.json")).unwrap().lines().count(), 2);
}

#[test]
fn bad_questions_and_bad_files_are_errors_with_a_hint() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.raw").expect(0);
    fs::remove_file(place.path("a.raw.json")).unwrap();
    place.write("text.txt", b"neither this nor that\n");
    place.write("part.obj", b"v 0 0 0\n");
    fs::create_dir(place.path("folder")).unwrap();
    let before = place.files();
    let cases = [
        ("info", 2, "<FILE>...: not given"),
        ("info cube.stl --rez", 2, "--rez: no such option"),
        ("info cube.slt", 3, "cube.slt: no such file"),
        ("info folder", 3, "folder: is a folder"),
        ("info a.raw", 3, "a.raw: nothing says the size of this grid"),
        ("info text.txt", 3, "text.txt: neither a mesh nor voxels of a kind that is known"),
        ("info part.obj", 3, "part.obj: OBJ is not read"),
        ("info cube.stl --json=cube.stl", 2, "cube.stl: is a file to be read"),
        ("ifno cube.stl", 3, "ifno: no such file"),
        // A voxel file is no mesh, and says so under any name.
        ("a.npz", 3, "a.npz: holds voxels (npz), not a mesh"),
        ("a.npz -o b.npz", 3, "a.npz: holds voxels (npz), not a mesh"),
        ("a.vox", 3, "a.vox: holds voxels (vox), not a mesh"),
        ("b.stl", 3, "b.stl: holds voxels (vox), not a mesh"),
        ("cube.stl b.npy", 2, "2 meshes make a file each, in a folder that is not named"),
    ];
    place.run("cube.stl -r 4 -o a.npz").expect(0);
    place.run("cube.stl -r 4 -o a.vox").expect(0);
    fs::copy(place.path("a.vox"), place.path("b.stl")).unwrap();
    let with_voxels = place.files();
    let mut seen = 0;
    for (line, code, says) in cases {
        refused(&place, line, code, says);
        seen += 1;
    }
    assert!(seen > 0, "no case");
    assert_eq!((place.files(), before.len() + 3), (with_voxels, place.files().len()), "nothing is left");
    place.run("info cube.stl --json").expect(0);
    let hint = place.run("cube.stl b.npy").expect(2).line("hint:").to_string();
    assert_eq!(hint, "-o DIR/ names it; -o b.npy writes one mesh there");
}
