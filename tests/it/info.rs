//! `voxelize info` describes meshes and voxel files.

use std::fs;

use serde_json::json;
use voxelize::Mesh;
use voxelize::format::FORMATS;

use crate::support::place::Place;
use crate::support::rows;

#[test]
fn every_fixture_matches_its_table() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let table = fs::read_to_string(format!("{folder}/README.md")).unwrap();
    let mut seen = 0;
    for row in table.lines() {
        if !row.starts_with("| `") || row.contains("`defects/") {
            continue;
        }
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        let open = match name {
            "open.stl" => 32,
            "slivers.stl" => 600,
            _ => 0,
        };
        assert_eq!(cells[4] == "no", open > 0, "{name}");
        let closed = open == 0;
        let table = format!(
            "0 info {folder}/{name} --json
                /mesh/triangles {}
                /mesh/open_edges {open}
                /mesh/closed {closed}
                /mesh/oriented {closed}",
            cells[2]
        );
        let json = rows::check(&place, &table)[0].json();
        // An open mesh has no volume.
        assert_eq!(json["mesh"]["volume"].is_number(), closed, "{name}");
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn suggested_cell_sizes_give_the_grids_that_they_promise() {
    let place = Place::new();
    place.write("knot.stl", fs::read("fixtures/knot.stl").unwrap());
    let json = place.run("info knot.stl --json").expect(0).json();
    let suggestions = json["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 2);
    for suggestion in suggestions {
        let option = suggestion["option"].as_str().unwrap();
        let table = format!(
            "0 knot.stl {option} -n --json
                /grid/dims {}
                /grid/spacing_exact/0 {}",
            suggestion["dims"], suggestion["spacing_exact"]
        );
        rows::check(&place, &table);
    }
}

#[test]
fn a_voxel_file_is_described_in_every_format() {
    let place = Place::new();
    let line = "thirds.stl -r 20 --pad 1 --bounds 0,0,0,0.6,0.3,0.5";
    let made = place
        .run(&format!("{line} --json -o base.npz"))
        .expect(0)
        .json();
    let grid = &made["grid"];
    let mut seen = 0;
    for format in FORMATS.iter().filter(|format| format.is_readable()) {
        for dtype in format.dtypes {
            let dtype = dtype.name();
            let name = format!("{dtype}.{}", format.extensions[0]);
            let shown = if format.dtypes.len() > 1 {
                json!(dtype)
            } else {
                json!(null)
            };
            let table = format!(
                r#"0 {line} --dtype {dtype} --sidecar -o {name}
                   0 info {name} --json
                    /format "{}"
                    /dtype {shown}
                    /digest {}
                    /grid/dims {}
                    /grid/origin_exact {}
                    /grid/spacing_exact {}
                    /grid/closed {}
                    /rule "surface"
                    /ties "up"
                    /snap "float"
                    /counts/occupied {}
                    /volume {}"#,
                format.name,
                made["digest"],
                grid["dims"],
                grid["origin_exact"],
                grid["spacing_exact"],
                grid["closed"],
                made["counts"]["occupied"],
                made["volume"]
            );
            rows::check(&place, &table);
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
    rows::check(&place, "0 info base.npz -q\n no out\n no err");
}

/// Returns the volumes of the cells and of the mesh that `info` reports for a file of shares.
fn volumes(place: &Place, name: &str) -> [f64; 2] {
    let json = place.run(&format!("info {name} --json")).expect(0).json();
    ["volume", "mesh_volume"].map(|key| json[key].as_f64().unwrap())
}

#[test]
fn the_volume_of_shares_is_reported_with_the_volume_of_the_mesh() {
    let place = Place::new();
    for name in ["knot.stl", "open.stl"] {
        place.write(name, fs::read(format!("fixtures/{name}")).unwrap());
    }
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
    for (name, options, error) in [
        ("a.npz", "", 1e-8),
        ("a.vti", "", 1e-8),
        ("a.nrrd", "", 1e-8),
        ("b.npz", "--dtype u8", 1e-3),
        ("a.raw", "--sidecar", 1e-8),
    ] {
        for scale in [1.0, 0.5] {
            let table = format!(
                "0 knot.stl -r 40 --scale {scale} --rule fraction {options} -o {name}
                 0 info {name}
                    out (sum over all shares); volume of the mesh "
            );
            rows::check(&place, &table);
            let [volume, of_mesh] = volumes(&place, name);
            let wanted = mesh.volume() * f64::powi(scale, 3);
            assert!(
                (of_mesh / wanted - 1.0).abs() < 1e-12,
                "{name}: {of_mesh} for {wanted}"
            );
            assert!(
                (volume / wanted - 1.0).abs() < error,
                "{name}: {volume} for {wanted}"
            );
        }
    }
    // Holes have to be closed first, and cells next to a small grid have no share of the mesh.
    place
        .run("open.stl -r 8 --rule fraction --inside robust -o a.npz")
        .expect(0);
    let [volume, of_mesh] = volumes(&place, "a.npz");
    assert!((volume / of_mesh - 1.0).abs() < 1e-7, "{volume}, {of_mesh}");
    rows::check(
        &place,
        "0 cube.stl --bounds 0,0,0,20,20,10 -r 8 --rule fraction -o a.npz
         0 info a.npz --json
            /volume 4000.0
            /mesh_volume 8000.0
         0 cube.stl -r 8 -o a.npz
         0 info a.npz --json
            /mesh_volume null",
    );
}

#[test]
fn missing_metadata_is_reported() {
    // A sidecar of another file is ignored.
    rows::check(
        &Place::new(),
        r#"0 cube.stl -r 4 -o a.npy
           0 info a.npy --json
            /grid {"dims": [4, 4, 4]}
            /volume null
            /made_by null
           0 cube.stl -r 4 --sidecar -o b.npy
           0 thirds.stl --dims 4,4,4 -o b.npy
           0 info b.npy --json
            /grid {"dims": [4, 4, 4]}
            /rule null
           0 diff a.npy a.npy -o d.vox
           0 info d.vox --json
            /labels [{"label": "added", "cells": 0}, {"label": "removed", "cells": 0}]"#,
    );
}

#[test]
fn one_failing_file_does_not_stop_the_others() {
    let place = Place::new();
    rows::check(
        &place,
        r#"3 info missing.vox cube.stl folder --json
            /0/path "missing.vox"
            /0/error/code "not-found"
            /1/path "cube.stl"
            /1/status "ok"
            /2/path "folder"
            /2/status "error"
           0 info cube.stl thirds.stl --json=info.json
            out thirds.stl"#,
    );
    // The same lines in a file, in addition to the text.
    let lines = fs::read_to_string(place.path("info.json")).unwrap();
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn images_of_types_that_are_not_read_are_described() {
    let place = Place::new();
    let head = "NRRD0004\ntype: unsigned short\ndimension: 3\nspace: RAS\nsizes: 4 3 2\n\
                space directions: (0.5,0,0) (0,0.5,0) (0,0,1.25)\nspace origin: (-10,5,20)\nencoding: raw\n\n";
    place.write("ct.nrrd", [head.as_bytes(), &[0; 48]].concat());
    rows::check(
        &place,
        r#"0 info ct.nrrd
            out ct.nrrd: nrrd, unsigned short,
            out 4 × 3 × 2 cells of 0.5 × 0.5 × 1.25 mm, corner (8.25, -6.25, 19.375) mm, the axes of the image run -x,-y,z
            out not read: their type is unsigned short, not uint8 or float; '--like ct.nrrd' takes the grid
           0 info ct.nrrd --json
            /dtype "unsigned short"
            /grid/dims [4, 3, 2]
            /transform {"unit": "mm", "scan_frame": "-x,-y,z"}
            /contents null"#,
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
    nifti[252] = 1;
    place.write("placed.nii", &nifti);
    // The qform and sform of the first image are 0. Cells of this type are not read.
    rows::check(
        &place,
        "0 info ct.nii
            out ct.nii: nii, int16,
            out cells of 0.5 × 0.5 × 1.25 mm
            out the image does not state its position
         0 cube.stl --like ct.nii -o a.npz
            err W018]: the image does not state its position
         0 cube.stl --like placed.nii -o a.npz
            err W018]: the axes of the image run -x,-y,z
         3 convert ct.nii a.npz
            err of type 'int16', not uint8 or float",
    );
}

/// Two objects, two materials, and colours of the corners.
const PARTS: &str = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 0 0 1 1 0 0\nv 1 1 1 1 0 0\nv 2 1 1 1 0 0\n\
    o body\nusemtl steel\nf 1 3 2\nf 1 2 4\no lid\nf 1 4 3\nusemtl glass\nf 2 3 4\no lid\nf 4 5 6\no empty\n";

#[test]
fn parts_and_colours_of_a_mesh_are_listed() {
    let place = Place::new();
    place.write("parts.obj", PARTS);
    rows::check(
        &place,
        r#"0 info parts.obj --json
            /mesh/parts/0 {"kind": "object", "name": "body", "triangles": 2}
            /mesh/parts/1 {"kind": "object", "name": "lid", "triangles": 3}
            /mesh/parts/2 {"kind": "material", "name": "steel", "triangles": 3}
            /mesh/parts/3 {"kind": "material", "name": "glass", "triangles": 2}
            /mesh/colours {"texture": 0, "vertex": 4, "single": 1}
           0 info parts.obj
            out objects: body (2 triangles), lid (3)
            out materials: steel (3 triangles), glass (2)
            out vertex colours on 4 triangles, one colour each on 1
           0 info cube.stl --json
            /mesh/parts []
            /mesh/colours null
           0 info cube.stl
            no out parts
            no out colours"#,
    );
}

#[test]
fn the_mass_of_a_mesh_needs_its_unit() {
    let place = Place::new();
    for name in ["cube.stl", "open.stl"] {
        place.write(name, fs::read(format!("fixtures/{name}")).unwrap());
    }
    rows::check(
        &place,
        "0 info cube.stl --unit mm --density 2 --json
             /mesh/volume 262144.0
             /mesh/volume_ml 262.144
             /mesh/mass_g 524.288
         0 info cube.stl --unit m --density 2 --json
             /mesh/volume_ml 262144000000.0
             /mesh/mass_g 524288000000.0
         0 info cube.stl --unit mm --density 1.24
             out volume 262,144 mm³ (262 ml), mass 325 g
         0 info open.stl --unit mm --density 1 --json
             /mesh/mass_g null
         2 info cube.stl --density 1
             err the unit of the mesh is unknown
         0 -q cube.stl -r 4 --unit mm -o cube.npz
         2 info cube.npz --density 1
             err this file holds voxels",
    );
}
