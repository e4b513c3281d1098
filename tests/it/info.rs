//! `voxelize info` describes meshes and voxel files.

use std::fs;

use crate::support::place::{Place, Run, cuboid, refused, stl};
use serde_json::{Value, json};
use voxelize::Mesh;
use voxelize::format::FORMATS;

/// Open fixtures with the number of their open edges.
const OPEN: [(&str, u64); 2] = [("open.stl", 32), ("slivers.stl", 600)];

/// Returns one JSON object per line of standard output.
fn objects(run: &Run) -> Vec<Value> {
    run.text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_fixture_matches_its_table() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let table = fs::read_to_string(format!("{folder}/README.md")).unwrap();
    let mut seen = 0;
    for row in table
        .lines()
        .filter(|line| line.starts_with("| `") && !line.contains("`defects/"))
    {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        let run = place.run(&format!("info {folder}/{name} --json")).expect(0);
        let mesh = &objects(&run)[0]["mesh"];
        assert_eq!(mesh["triangles"].to_string(), cells[2], "{name}");
        let open = OPEN
            .iter()
            .find(|(open, _)| *open == name)
            .map_or(0, |(_, edges)| *edges);
        assert_eq!(
            (mesh["open_edges"].as_u64(), cells[4] == "no"),
            (Some(open), open > 0),
            "{name}"
        );
        assert_eq!(
            (&mesh["closed"], &mesh["oriented"]),
            (&json!(open == 0), &json!(open == 0)),
            "{name}"
        );
        assert_eq!(
            mesh["volume"].is_number(),
            open == 0,
            "{name}: of no meaning for an open mesh"
        );
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn a_mesh_is_described_with_suggested_cell_sizes() {
    let place = Place::new();
    let knot = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl");
    fs::copy(knot, place.path("knot.stl")).unwrap();
    let run = place.run("info knot.stl").expect(0);
    assert_eq!(
        (run.text().contains("4,800"), run.err.as_str()),
        (true, ""),
        "{}",
        run.text()
    );
    let mut seen = 0;
    for suggestion in objects(&place.run("info knot.stl --json").expect(0))[0]["suggestions"]
        .as_array()
        .unwrap()
    {
        let option = suggestion["option"].as_str().unwrap();
        let grid = &place
            .run(&format!("knot.stl {option} -n --json"))
            .expect(0)
            .json()["grid"];
        assert_eq!(grid["dims"], suggestion["dims"], "{option}");
        assert_eq!(
            grid["spacing_exact"][0], suggestion["spacing_exact"],
            "{option}"
        );
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn holes_flipped_and_odd_triangles_are_reported() {
    let place = Place::new();
    let cube = cuboid([1.0; 3]);
    let inside_out: Vec<_> = cube.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let mut turned = cube.clone();
    turned[0].swap(0, 1);
    let mut flat = cube.clone();
    flat.push([[0.5; 3]; 3]);
    let mut seen = 0;
    for (name, triangles, pointer, value) in [
        ("whole.stl", cube.clone(), "/mesh/volume", json!(1.0)),
        ("inside_out.stl", inside_out, "/mesh/volume", json!(-1.0)),
        ("turned.stl", turned, "/mesh/oriented", json!(false)),
        ("hole.stl", cube[1..].to_vec(), "/mesh/open_edges", json!(3)),
        ("flat.stl", flat, "/mesh/degenerate", json!(1)),
        (
            "one.stl",
            vec![[[2.0; 3]; 3]],
            "/mesh/bounds",
            json!({"min": [2.0, 2.0, 2.0], "max": [2.0, 2.0, 2.0]}),
        ),
        ("none.stl", vec![], "/bytes", json!(84)),
    ] {
        place.write(name, stl(&triangles));
        let json = &objects(&place.run(&format!("info {name} --json")).expect(0))[0];
        assert_eq!(json.pointer(pointer), Some(&value), "{name}");
        assert_eq!(json["mesh"]["triangles"], triangles.len(), "{name}");
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn a_voxel_file_is_described_in_every_format() {
    let place = Place::new();
    let made = place
        .run("thirds.stl -r 20 --pad 1 --bounds 0,0,0,0.6,0.3,0.5 --json -o base.npz")
        .expect(0)
        .json();
    let mut seen = 0;
    for format in FORMATS.iter().filter(|format| format.is_readable()) {
        for dtype in format.dtypes {
            let name = format!("{}.{}", dtype.name(), format.extensions[0]);
            let how = format!("--dtype {} --sidecar -o {name}", dtype.name());
            place
                .run(&format!(
                    "thirds.stl -r 20 --pad 1 --bounds 0,0,0,0.6,0.3,0.5 {how}"
                ))
                .expect(0);
            let json = &objects(&place.run(&format!("info {name} --json")).expect(0))[0];
            assert_eq!(
                (&json["format"], &json["digest"]),
                (&json!(format.name), &made["digest"]),
                "{name}"
            );
            for key in ["dims", "origin_exact", "spacing_exact", "closed"] {
                assert_eq!(json["grid"][key], made["grid"][key], "{name}, {key}");
            }
            assert_eq!(
                (&json["rule"], &json["ties"], &json["snap"]),
                (&json!("surface"), &json!("up"), &json!("float")),
                "{name}"
            );
            assert_eq!(
                (&json["counts"]["occupied"], &json["volume"]),
                (&made["counts"]["occupied"], &made["volume"])
            );
            assert_eq!(
                json["dtype"],
                if format.dtypes.len() > 1 {
                    json!(dtype.name())
                } else {
                    json!(null)
                }
            );
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
    let run = place.run("info base.npz -q").expect(0);
    assert_eq!((run.text(), run.err.as_str()), ("", ""));
}

#[test]
fn the_volume_of_shares_is_reported_with_the_volume_of_the_mesh() {
    let place = Place::new();
    for name in ["knot.stl", "open.stl"] {
        let from = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::copy(from, place.path(name)).unwrap();
    }
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
    let mut seen = 0;
    for (name, dtype, off) in [
        ("a.npz", "", 1e-8),
        ("a.vti", "", 1e-8),
        ("a.nrrd", "", 1e-8),
        ("b.npz", " --dtype u8", 1e-3),
        ("a.raw --sidecar", "", 1e-8),
    ] {
        for scale in [1.0, 0.5] {
            place
                .run(&format!(
                    "knot.stl -r 40 --scale {scale} --rule fraction{dtype} -o {name}"
                ))
                .expect(0);
            let name = name.split(' ').next().unwrap();
            let json = &objects(&place.run(&format!("info {name} --json")).expect(0))[0];
            let [volume, of_mesh] =
                ["volume", "mesh_volume"].map(|key| json[key].as_f64().unwrap());
            let wanted = mesh.volume() * f64::powi(scale, 3);
            assert!(
                (of_mesh / wanted - 1.0).abs() < 1e-12,
                "{name}: {of_mesh} for {wanted}"
            );
            assert!(
                (volume / wanted - 1.0).abs() < off,
                "{name}: {volume} for {wanted}"
            );
            let text = place.run(&format!("info {name}")).expect(0);
            assert!(
                text.text().contains("the sum of all shares; of the mesh "),
                "{}",
                text.text()
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 10);
    // Holes have to be closed first, and cells next to a small grid have no share of the mesh.
    place
        .run("open.stl -r 8 --rule fraction --inside robust -o a.npz")
        .expect(0);
    let closed = objects(&place.run("info a.npz --json").expect(0))[0].clone();
    let [volume, of_mesh] = ["volume", "mesh_volume"].map(|key| closed[key].as_f64().unwrap());
    assert!((volume / of_mesh - 1.0).abs() < 1e-7, "{volume}, {of_mesh}");
    place
        .run("cube.stl --bounds 0,0,0,20,20,10 -r 8 --rule fraction -o a.npz")
        .expect(0);
    let half = objects(&place.run("info a.npz --json").expect(0))[0].clone();
    assert_eq!(
        [&half["volume"], &half["mesh_volume"]],
        [&json!(4_000.0), &json!(8_000.0)]
    );
    place.run("cube.stl -r 8 -o a.npz").expect(0);
    assert_eq!(
        objects(&place.run("info a.npz --json").expect(0))[0]["mesh_volume"],
        json!(null)
    );
}

#[test]
fn fractions_are_shown_where_decimals_round_them() {
    let place = Place::new();
    for (how, sizes) in [
        ("-r 7", &["20/7"][..]),
        ("--dims 3,7,1 --stretch", &["20/3", "20/7", "20/1"]),
    ] {
        place.run(&format!("cube.stl {how} -o a.npz")).expect(0);
        let run = place.run("info a.npz").expect(0);
        assert!(
            sizes.iter().all(|size| run.text().contains(size)),
            "{how}: {}",
            run.text()
        );
    }
    place.run("cube.stl -r 8 -o a.npz").expect(0);
    let run = place.run("info a.npz").expect(0);
    assert!(!run.text().contains("5/2"), "{}", run.text());
}

#[test]
fn missing_metadata_is_reported() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.npy").expect(0);
    let json = &objects(&place.run("info a.npy --json").expect(0))[0];
    assert_eq!(
        (&json["grid"], &json["volume"], &json["made_by"]),
        (&json!({"dims": [4, 4, 4]}), &json!(null), &json!(null))
    );
    // A sidecar of another file is ignored, and the report states it.
    place.run("cube.stl -r 4 --sidecar -o b.npy").expect(0);
    place.run("thirds.stl --dims 4,4,4 -o b.npy").expect(0);
    let json = &objects(&place.run("info b.npy --json").expect(0))[0];
    assert_eq!(
        (&json["grid"], &json["rule"]),
        (&json!({"dims": [4, 4, 4]}), &json!(null))
    );
    let [left, none] = ["b.npy", "a.npy"].map(|file| place.run(&format!("info {file}")).expect(0));
    assert_ne!(left.text().replace("b.npy", "a.npy"), none.text());
    place.run("diff a.npy a.npy -o d.vox").expect(0);
    let json = &objects(&place.run("info d.vox --json").expect(0))[0];
    assert_eq!(
        json["labels"],
        json!([{"label": "added", "cells": 0}, {"label": "removed", "cells": 0}])
    );
}

#[test]
fn one_failing_file_does_not_stop_the_others() {
    let place = Place::new();
    place.write("cut.stl", &stl(&cuboid([1.0; 3]))[..100]);
    place.write("empty.npz", b"");
    let run = place
        .run("info cut.stl cube.stl empty.npz thirds.stl missing.vox")
        .expect(3);
    for (name, shown) in [("cube.stl", true), ("thirds.stl", true), ("cut.stl", false)] {
        assert_eq!(run.text().contains(name), shown, "{}", run.text());
    }
    assert_eq!(
        run.err
            .lines()
            .filter(|line| line.starts_with("error"))
            .count(),
        3,
        "{}",
        run.err
    );
    let run = place
        .run("info cut.stl cube.stl missing.vox --json")
        .expect(3);
    let objects = objects(&run);
    let keys = |object: &Value| {
        object
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let expected = "schema tool command status exit_code path kind format bytes mesh suggestions warnings dtype contents labels grid \
        made_by input rule variant radius ties band iso inside close_holes snap transform counts volume mesh_volume digest";
    assert_eq!(
        keys(&objects[1]),
        expected.split_whitespace().collect::<Vec<_>>()
    );
    for (object, path) in objects.iter().zip(["cut.stl", "cube.stl", "missing.vox"]) {
        assert_eq!(object["path"], path);
        assert_eq!(object["error"].is_object(), path != "cube.stl");
    }
    assert_eq!(objects.len(), 3);
    // The same lines in a file, in addition to the text.
    let run = place
        .run("info cube.stl thirds.stl --json=info.json")
        .expect(0);
    assert!(
        run.text().contains("\n\n"),
        "a line between: {}",
        run.text()
    );
    assert_eq!(
        fs::read_to_string(place.path("info.json"))
            .unwrap()
            .lines()
            .count(),
        2
    );
}

#[test]
fn bad_options_and_bad_files_are_errors_with_a_hint() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.raw").expect(0);
    fs::remove_file(place.path("a.raw.json")).unwrap();
    place.write("text.txt", b"neither this nor that\n");
    place.write("part.amf", b"<amf/>\n");
    fs::create_dir(place.path("folder")).unwrap();
    let before = place.files();
    let cases = [
        ("info", 2),
        ("info cube.stl --rez", 2),
        ("info cube.slt", 3),
        ("info folder", 3),
        ("info a.raw", 3),
        ("info text.txt", 3),
        ("info part.amf", 3),
        ("info cube.stl --json=cube.stl", 2),
        ("ifno cube.stl", 2),
        // A voxel file is not a mesh, and the error states it under any name.
        ("a.npz", 3),
        ("a.npz -o b.npz", 3),
        ("a.vox", 3),
        ("b.stl", 3),
        ("cube.stl b.npy", 2),
    ];
    place.run("cube.stl -r 4 -o a.npz").expect(0);
    place.run("cube.stl -r 4 -o a.vox").expect(0);
    fs::copy(place.path("a.vox"), place.path("b.stl")).unwrap();
    let with_voxels = place.files();
    let mut seen = 0;
    for (line, code) in cases {
        refused(&place, line, code);
        seen += 1;
    }
    assert!(seen > 0, "no case");
    assert_eq!(
        (place.files(), before.len() + 3),
        (with_voxels, place.files().len()),
        "nothing is left"
    );
    place.run("info cube.stl --json").expect(0);
    let run = place.run("cube.stl b.npy").expect(2);
    assert!(run.line("hint:").contains("-o b.npy"), "{}", run.err);
}

#[test]
fn images_of_types_that_are_not_read_are_described() {
    let place = Place::new();
    let head = "NRRD0004\ntype: unsigned short\ndimension: 3\nspace: RAS\nsizes: 4 3 2\n\
                space directions: (0.5,0,0) (0,0.5,0) (0,0,1.25)\nspace origin: (-10,5,20)\nencoding: raw\n\n";
    place.write("ct.nrrd", [head.as_bytes(), &[0; 48]].concat());
    let said = place.run("info ct.nrrd").expect(0).text().to_string();
    for part in [
        "ct.nrrd: nrrd, unsigned short, ",
        "4 × 3 × 2 cells of 0.5 × 0.5 × 1.25 mm, corner (8.25, -6.25, 19.375) mm, the axes of the image run -x,-y,z",
        "not read: their type is unsigned short, not uint8 or float; '--like ct.nrrd' takes the grid",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let json = place.run("info ct.nrrd --json").expect(0).json();
    assert_eq!(
        (&json["dtype"], &json["grid"]["dims"]),
        (&json!("unsigned short"), &json!([4, 3, 2]))
    );
    assert_eq!(
        (&json["transform"], &json["contents"]),
        (&json!({"unit": "mm"}), &Value::Null)
    );

    let mut nifti = vec![0; 352 + 48];
    nifti[..4].copy_from_slice(&348_u32.to_le_bytes());
    (0..4).for_each(|n| nifti[40 + 2 * n] = [3, 4, 3, 2][n]);
    (70..)
        .step_by(2)
        .zip([4, 16])
        .for_each(|(at, n)| nifti[at] = n);
    (76..)
        .step_by(4)
        .zip([1.0_f32, 0.5, 0.5, 1.25])
        .for_each(|(at, size)| {
            nifti[at..at + 4].copy_from_slice(&size.to_le_bytes());
        });
    nifti[108..112].copy_from_slice(&352_f32.to_le_bytes());
    // Millimetres and seconds.
    nifti[123] = 2 + 8;
    nifti[344..347].copy_from_slice(b"n+1");
    place.write("ct.nii", &nifti);
    let said = place.run("info ct.nii").expect(0).text().to_string();
    assert!(
        said.contains("ct.nii: nii, int16, ") && said.contains("cells of 0.5 × 0.5 × 1.25 mm"),
        "{said}"
    );
    // Its qform and sform are 0. A run on its grid warns about that.
    assert!(
        said.contains("the image does not state its position"),
        "{said}"
    );
    let run = place.run("cube.stl --like ct.nii -o a.npz").expect(0);
    assert!(
        run.err
            .contains("W018]: the image does not state its position"),
        "{}",
        run.err
    );
    nifti[252] = 1;
    place.write("placed.nii", &nifti);
    let run = place.run("cube.stl --like placed.nii -o a.npz").expect(0);
    assert!(
        run.err.contains("W018]: the axes of the image run -x,-y,z"),
        "{}",
        run.err
    );
    // The cells are still rejected with a list of the readable types.
    let refused = place.run("convert ct.nii a.npz").expect(3);
    assert!(
        refused.err.contains("of type 'int16', not uint8 or float"),
        "{}",
        refused.err
    );
}
