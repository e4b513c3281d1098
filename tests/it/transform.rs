//! Up axis, axes, scale and units follow their definition and change nothing else.

use serde_json::{Value, json};
use voxelize::format::{self, FORMATS};

use crate::support::place::{Place, Triangle, cuboid, refused, stl};

/// Returns a plate of 4 × 1 × 4 with a tower of 1 × 5 × 1 on its corner at the origin. Up is y.
fn tower() -> Vec<u8> {
    let lifted = |triangle: Triangle| triangle.map(|[x, y, z]| [x, y + 1.0, z]);
    let tower = cuboid([1.0, 5.0, 1.0]).into_iter().map(lifted);
    stl(&cuboid([4.0, 1.0, 4.0])
        .into_iter()
        .chain(tower)
        .collect::<Vec<_>>())
}

fn place() -> Place {
    let place = Place::new();
    place.write("tower.stl", tower());
    place
}

#[test]
fn y_up_stands_in_a_scene_and_stays_in_arrays() {
    let place = place();
    for rule in ["--surface", "--filled", "--solid"] {
        let mut seen = 0;
        for format in FORMATS.iter().filter(|format| format.is_readable()) {
            let lying = format!("z.{}", format.name);
            let standing = format!("y.{}", format.name);
            let digest = |line: &str| place.run(line).expect(0).json()["digest"].clone();
            let options = format!("tower.stl --voxel-size 0.5 {rule} --json --sidecar");
            let z = digest(&format!("{options} -o {lying}"));
            assert_eq!(
                z,
                digest(&format!("{options} --up y -o {standing}")),
                "{} {rule}",
                format.name
            );
            place.run(&format!("diff {lying} {standing}")).expect(0);
            let read = |name: &str| format::open(&place.path(name)).unwrap();
            assert_eq!(read(&lying).cells, read(&standing).cells, "{}", format.name);
            assert_eq!(
                read(&standing).record.transform("up"),
                Some("y"),
                "{}",
                format.name
            );
            assert_eq!(read(&lying).record.transform("up"), None, "{}", format.name);
            if ["npy", "raw"].contains(&format.name) {
                let bytes =
                    [&lying, &standing].map(|name| std::fs::read(place.path(name)).unwrap());
                assert!(bytes[0] == bytes[1], "{}", format.name);
            }
            seen += 1;
        }
        assert!(seen > 3);
    }
}

#[test]
fn the_highest_voxels_of_a_scene_belong_to_the_tower() {
    let place = place();
    for (up, dims) in [("y", [8, 8, 12]), ("z", [8, 12, 8])] {
        place
            .run(&format!(
                "tower.stl --voxel-size 0.5 --filled --up {up} -o t.vox"
            ))
            .expect(0);
        // An independent reader.
        let scene = dot_vox::load(place.path("t.vox").to_str().unwrap()).unwrap();
        let model = &scene.models[0];
        let size = [model.size.x, model.size.y, model.size.z].map(|n| n as usize);
        assert_eq!((scene.models.len(), size), (1, dims));
        let top = model.voxels.iter().map(|voxel| voxel.z).max().unwrap();
        let mut highest: Vec<_> = model
            .voxels
            .iter()
            .filter(|v| v.z == top)
            .map(|v| [v.x, v.y])
            .collect();
        highest.sort();
        if up == "y" {
            // The tower is at the file's low x and low z; z becomes -y.
            assert_eq!(highest, [[0, 6], [0, 7], [1, 6], [1, 7]]);
        } else {
            assert_eq!(highest.len(), 16, "the plate's side");
        }
    }
}

#[test]
fn scenes_of_many_tiles_stand_as_well() {
    let place = place();
    let options = "tower.stl --voxel-size 0.013 --up y --json";
    let scene = place.run(&format!("{options} -o t.vox")).expect(0).json();
    let array = place.run(&format!("{options} -o t.npy")).expect(0).json();
    assert_eq!(
        (&scene["digest"], &scene["transform"]["up"]),
        (&array["digest"], &json!("y"))
    );
    assert!(scene["grid"]["dims"][1].as_u64() > Some(256));
    let info = place.run("info t.vox --json").expect(0).json();
    assert_eq!(
        (&info["digest"], &info["transform"]),
        (&scene["digest"], &json!({"up": "y"}))
    );
}

#[test]
fn lengths_with_units_are_converted_to_the_file() {
    let place = place();
    let made = |options: &str| {
        let json = place
            .run(&format!("cube.stl {options} --json -o a.npz"))
            .expect(0)
            .json();
        (
            json["digest"].clone(),
            json["grid"]["spacing_exact"][0].clone(),
        )
    };
    for (with_unit, plain) in [
        ("--unit mm --voxel-size 5cm", "--voxel-size 50"),
        ("--unit m --voxel-size 50cm", "--voxel-size 0.5"),
        ("--unit in --voxel-size 1ft", "--voxel-size 12"),
        ("--unit mm --voxel-size 1in", "--voxel-size 25.4"),
        ("--unit cm --voxel-size 5mm,1cm,2", "--voxel-size 0.5,1,2"),
        (
            "--unit cm --voxel-size 1 --origin 5mm,0,0",
            "--voxel-size 1 --origin 0.5,0,0",
        ),
        (
            "--unit cm -r 8 --bounds 0,0,0,100mm,10,10",
            "-r 8 --bounds 0,0,0,10,10,10",
        ),
        (
            "--unit cm -r 8 --rule offset --radius 20mm",
            "-r 8 --rule offset --radius 2",
        ),
        (
            "--unit m -r 8 --rule distance --iso 150cm",
            "-r 8 --rule distance --iso 1.5",
        ),
    ] {
        assert_eq!(made(with_unit), made(plain), "{with_unit}");
    }
    let run = place
        .run("cube.stl --unit mm --voxel-size 5cm --filled -o b.npz")
        .expect(0);
    assert!(
        run.err.contains("20 × 20 × 20 mm") && run.err.contains("cells of 50 mm"),
        "{}",
        run.err
    );
    assert!(run.err.contains("volume 125,000 mm³"), "{}", run.err);
    let json = place
        .run("cube.stl --unit mm -r 4 --json -o c.npz")
        .expect(0)
        .json();
    assert_eq!(json["mesh"]["unit"], "mm");
    assert!(place.run("info b.npz").expect(0).text().contains("unit mm"));
    for line in [
        "cube.stl --voxel-size 5cm",
        "cube.stl --unit km",
        "cube.stl --unit in --rule offset --radius 1mm",
    ] {
        refused(&place, line, 2);
    }
}

#[test]
fn scale_multiplies_coordinates_exactly() {
    let place = place();
    let json = |line: &str| place.run(&format!("{line} --json")).expect(0).json();
    let grid = |json: &Value| {
        [
            &json["grid"]["origin_exact"],
            &json["grid"]["spacing_exact"],
            &json["grid"]["dims"],
        ]
        .map(Value::clone)
    };
    for rule in [
        "--surface",
        "--filled",
        "--solid",
        "--rule thin",
        "--rule offset --radius 2vx",
    ] {
        let plain = json(&format!("thirds.stl --voxel-size 0.1 {rule} -o a.npz"));
        let scaled = json(&format!(
            "thirds.stl --scale 1000 --voxel-size 100 {rule} -o b.npz"
        ));
        let in_slabs = json(&format!(
            "thirds.stl --scale 1000 --voxel-size 100 {rule} -j 2 --max-memory 17M -o c.raw"
        ));
        assert_eq!(
            plain["digest"]["cells"], scaled["digest"]["cells"],
            "{rule}"
        );
        assert_eq!(scaled["digest"], in_slabs["digest"], "{rule}");
        assert_ne!(plain["digest"]["grid"], scaled["digest"]["grid"], "{rule}");
        assert_eq!(
            scaled["grid"]["spacing_exact"],
            json!(["100/1", "100/1", "100/1"])
        );
        assert_eq!(scaled["transform"]["scale"], "1000/1");
        for name in ["b.npz", "c.raw"] {
            let info = json(&format!("info {name}"));
            assert_eq!(
                (grid(&info), &info["digest"]),
                (grid(&scaled), &scaled["digest"]),
                "{name} {rule}"
            );
        }
    }
    let third = json("thirds.stl --scale 1/3 -r 7 -o d.npz");
    assert_eq!(
        third["grid"]["spacing_exact"][0], "11744051/352321536",
        "0.7 as the file has it, by 21"
    );
    // The grid of one file equals the grid of another, whatever its scale.
    let like = json("thirds.stl --scale 1/3 --like d.npz -o e.npz");
    assert_eq!(
        (grid(&like), &like["digest"]),
        (grid(&third), &third["digest"])
    );
    let bounds =
        json("cube.stl --scale 0.001 --bounds 0,0,0,0.01,0.01,0.01 -r 10 --filled -o f.npz");
    assert_eq!(
        (&bounds["counts"]["occupied"], &bounds["volume"]),
        (&json!(1000), &json!(1e-6))
    );
    place.run("verify b.npz thirds.stl").expect(0);
    for line in [
        "cube.stl --scale 0",
        "cube.stl --scale -1",
        "cube.stl --scale 2 --rule offset --radius 3",
    ] {
        refused(&place, line, 2);
    }
}

#[test]
fn axes_turn_the_mesh() {
    let place = place();
    let text = |options: &str, slice: &str| {
        let line = format!("view tower.stl --voxel-size 1 --filled {options} --slice {slice}");
        place.run(&line).expect(0).text().to_string()
    };
    assert_eq!(text("", "z=0"), "#...\n#...\n#...\n#...\n#...\n####\n");
    assert_eq!(
        text("--axes x,-z,y", "y=3"),
        "#...\n#...\n#...\n#...\n#...\n####\n"
    );
    assert_eq!(
        text("--axes -x,y,z", "z=0"),
        "...#\n...#\n...#\n...#\n...#\n####\n"
    );
    let json = place
        .run("tower.stl -r 12 --axes x,-z,y --json -o a.npz")
        .expect(0)
        .json();
    let still = json!(["0/1", "0/1", "0/1"]);
    let transform =
        json!({"up": "z", "axes": "x,-z,y", "rotate": null, "scale": "1/1", "translate": still});
    assert_eq!(json["transform"], transform);
    // Mirrors keep the outside outside, and a rotation followed by its inverse changes nothing.
    let solid = place
        .run("tower.stl -r 12 --solid --inside nonzero --axes z,y,x --json -o b.npz")
        .expect(0)
        .json();
    assert_eq!(solid["warnings"], json!([]));
    // A golden records the transforms.
    place.run("verify a.npz tower.stl").expect(0);
    place
        .run("verify --update goldens.toml tower.stl -r 12 --axes x,-z,y --scale 1/2 --unit cm --pad 1mm")
        .expect(2);
    place
        .run("verify --update goldens.toml tower.stl -r 12 --axes x,-z,y --scale 1/2 --unit cm")
        .expect(0);
    place.run("verify goldens.toml").expect(0);
    for line in [
        "tower.stl --axes x,y",
        "tower.stl --axes x,x,y",
        "tower.stl --up x",
    ] {
        refused(&place, line, 2);
    }
}

/// A scene in metres of one triangle, 0.5 along x and 0.25 along y.
const SCENE: &str = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0.5, 0.25, 0]}],
"buffers": [{"byteLength": 36, "uri":
"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAPwAAAAAAAAAAAAAAAAAAgD4AAAAA"}]}"#;

#[test]
fn the_unit_and_the_up_axis_of_a_file_are_taken() {
    let place = place();
    place.write("scene.gltf", SCENE);
    let dims = |options: &str, unit: Value, up: &str| {
        let json = place
            .run(&format!("scene.gltf -o a.npz --json {options}"))
            .expect(0)
            .json();
        assert_eq!(
            (&json["mesh"]["unit"], &json["transform"]["up"]),
            (&unit, &json!(up)),
            "{options}"
        );
        json["grid"]["dims"].clone()
    };
    let metres = json!("m");
    assert_eq!(
        dims("--voxel-size 50mm", metres.clone(), "y"),
        json!([10, 5, 1])
    );
    assert_eq!(
        dims("--voxel-size 0.05", metres.clone(), "y"),
        json!([10, 5, 1])
    );
    assert_eq!(
        dims(
            "--voxel-size 5cm --rule offset --radius 100mm",
            metres.clone(),
            "y"
        ),
        json!([14, 9, 5])
    );
    assert_eq!(
        dims("--voxel-size 50mm --up z", metres.clone(), "z"),
        json!([10, 5, 1])
    );
    assert_eq!(
        dims("--voxel-size 1in --unit in --scale 20", json!("in"), "y"),
        json!([10, 5, 1])
    );
    assert_eq!(
        dims("--voxel-size 1 --scale 20", Value::Null, "y"),
        json!([10, 5, 1]),
        "of unknown units"
    );
    for line in [
        "scene.gltf --voxel-size 1in --scale 20",
        "tower.stl --voxel-size 5mm",
        "none.stl --radius 5mm",
    ] {
        place
            .run(&format!("{line} -o a.npz --rule offset --radius 1mm"))
            .expect(2);
    }
    let said = place.run("info scene.gltf").expect(0);
    assert!(
        said.text().contains("0.5 × 0.25 × 0 m: x 0 … 0.5"),
        "{}",
        said.text()
    );
    assert_eq!(
        place.run("info scene.gltf --json").expect(0).json()["mesh"]["unit"],
        metres
    );
    let said = place.run("check scene.gltf").expect(0).text().to_string();
    assert!(
        said.contains(" m, ") && said.contains(" m long") && said.contains(" m³"),
        "{said}"
    );
    let said = place
        .run("check scene.gltf --scale 500 --unit mm")
        .expect(0)
        .text()
        .to_string();
    assert!(
        said.contains("250 × 125 × 0 mm") && said.contains(" mm³"),
        "{said}"
    );
    // Several files either have one grid each, or share one grid.
    place
        .run("scene.gltf tower.stl -o all/ --voxel-size 50mm")
        .expect(2);
    place.run("scene.gltf -o all/ --voxel-size 50mm").expect(0);
    let refused = place
        .run("scene.gltf tower.stl -o all/ --same-grid --res 20")
        .expect(4);
    assert!(
        refused.err.contains("state different units, m and none"),
        "{}",
        refused.err
    );
    place
        .run("scene.gltf tower.stl -o all/ --same-grid --res 20 --unit m --up z")
        .expect(0);
}

#[test]
fn rotations_by_quarters_are_turns_of_axes() {
    let place = place();
    let digest = |options: &str| {
        place
            .run(&format!(
                "tower.stl --voxel-size 0.5 -o a.npz --json {options}"
            ))
            .expect(0)
            .json()["digest"]
            .clone()
    };
    for (rotate, axes) in [
        ("z,90", "-y,x,z"),
        ("z,-270", "-y,x,z"),
        ("x,90", "x,-z,y"),
        ("y,180", "-x,y,-z"),
        ("y,360", "x,y,z"),
    ] {
        assert_eq!(
            digest(&format!("--rotate {rotate}")),
            digest(&format!("--axes={axes}")),
            "{rotate}"
        );
    }
    // The axes are applied before the rotation.
    assert_eq!(digest("--axes x,-z,y --rotate x,-90"), digest(""));
    let turned = place
        .run("tower.stl -r 20 -o a.npz --rotate y,30")
        .expect(0);
    assert!(
        turned.err.contains("rotate y,30, coordinates rounded"),
        "{}",
        turned.err
    );
    for wrong in ["w,90", "90", "z", "z,1e40", "z,9O"] {
        place
            .run(&format!("tower.stl -r 20 -o a.npz --rotate {wrong}"))
            .expect(2);
    }
}

#[test]
fn rotations_are_done_in_typed_order_and_matrices_before_them() {
    let place = place();
    let digest = |options: &str| {
        place
            .run(&format!(
                "tower.stl --voxel-size 0.5 -o a.npz --json {options}"
            ))
            .expect(0)
            .json()["digest"]
            .clone()
    };
    let mut cases = 0;
    for (options, same) in [
        ("--rotate z,90 --rotate x,90", "--axes=-y,-z,x"),
        ("--rotate x,90 --rotate z,90", "--axes=z,x,y"),
        ("--rotate z,30 --rotate z,60", "--rotate z,90"),
        ("--rotate z,17.25 --rotate z,-17.25", ""),
        ("--matrix 0,-1,0,0,1,0,0,0,0,0,1,0", "--rotate z,90"),
        (
            "--matrix 0,-1,0,0,1,0,0,0,0,0,1,0,0,0,0,1 --rotate x,90",
            "--rotate z,90 --rotate x,90",
        ),
        ("--matrix=-1,0,0,0,0,1,0,0,0,0,1,0", "--axes=-x,y,z"),
        (
            "--matrix 1,0,0,0.1,0,1,0,1/3,0,0,1,-7",
            "--translate 0.1,1/3,-7",
        ),
        (
            "--matrix 1,0,0,4,0,1,0,0,0,0,1,0 --rotate z,90 --scale 1/2",
            "--rotate z,90 --scale 1/2 --translate 0,2,0",
        ),
        ("--axes x,-z,y --matrix 1,0,0,0,0,0,1,0,0,-1,0,0", ""),
    ] {
        assert_eq!(digest(options), digest(same), "{options}");
        cases += 1;
    }
    assert_eq!(cases, 10);
    assert_ne!(
        digest("--rotate z,20 --rotate x,20"),
        digest("--rotate x,20 --rotate z,20")
    );
    let json = place
        .run("tower.stl -r 20 -o a.npz --rotate x,10 --rotate z,30 --matrix 3,0,0,1,0,1,0,0,0,0,1,0 --json");
    let json = json.expect(0).json();
    assert_eq!(json["transform"]["rotate"], json!("x,10;z,30"));
    assert_eq!(
        json["transform"]["matrix"],
        json!("3,0,0,1,0,1,0,0,0,0,1,0")
    );
    // The record is read back, and comparisons transform their meshes accordingly.
    let info = place.run("info a.npz").expect(0);
    assert!(info.text().contains("x,10;z,30"), "{}", info.text());
    place
        .run(
            "clearance tower.stl tower.stl@rotate=z,90@rotate=x,90@matrix=1,0,0,50,0,1,0,0,0,0,1,0",
        )
        .expect(0);
    for (wrong, words) in [
        ("--matrix 1,0,0,0,1,0,0,0,1", "12 or 16 numbers"),
        ("--matrix 1,0,0,0,0,1,0,0,1,1,0,0", "singular"),
        ("--matrix 1,0,0,0,0,1,0,0,0,0,1,0,0,0,1,1", "last row"),
        (
            "--matrix 1,0,0,0,0,1,0,0,0,0,1,0 --matrix 1,0,0,0,0,1,0,0,0,0,1,0",
            "multiple times",
        ),
    ] {
        let run = place
            .run(&format!("tower.stl -r 20 -o a.npz {wrong}"))
            .expect(2);
        assert!(run.err.contains(words), "{wrong}: {}", run.err);
    }
}

#[test]
fn a_translation_moves_the_lattice_exactly() {
    let place = place();
    let moved = |triangle: Triangle| triangle.map(|[x, y, z]| [x + 0.5, y - 2.0, z + 0.25]);
    let triangles: Vec<_> = cuboid([4.0, 1.0, 3.0]);
    place.write("box.stl", stl(&triangles));
    place.write(
        "moved.stl",
        stl(&triangles.into_iter().map(moved).collect::<Vec<_>>()),
    );
    let digest = |line: &str| {
        place
            .run(&format!("{line} -o a.npz --json"))
            .expect(0)
            .json()["digest"]
            .clone()
    };
    let mut seen = 0;
    for grid in [
        "-r 7",
        "--voxel-size 0.3 --origin 0,0,0",
        "--dims 9,5,7 --bounds 0,-2.5,0,5,0,4",
    ] {
        for rule in ["--surface --ties both", "--filled", "--solid"] {
            let expected = digest(&format!("moved.stl {grid} {rule}"));
            let by = "--translate 1/2,-2,0.25";
            assert_eq!(
                digest(&format!("box.stl {grid} {rule} {by}")),
                expected,
                "{grid} {rule}"
            );
            // The grid of a file is transformed back to the coordinates of the mesh.
            assert_eq!(
                digest(&format!("box.stl --like a.npz {rule} {by}")),
                expected,
                "{grid} {rule}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 9);
    let both = place
        .run("box.stl -r 8 --scale 1/3 --translate 5mm,0,1cm --unit mm -o a.npz --json")
        .expect(0)
        .json();
    assert_eq!(both["grid"]["origin_exact"], json!(["5/1", "0/1", "10/1"]));
    assert_eq!(
        both["transform"]["translate"],
        json!(["5/1", "0/1", "10/1"])
    );
    let file = format::open(&place.path("a.npz")).unwrap();
    assert_eq!(file.record.transform("translate"), Some("5,0,10"));
    place
        .run("box.stl -r 8 --translate 5mm,0,0 -o a.npz")
        .expect(2);
    place.run("box.stl -r 8 --translate 5,0 -o a.npz").expect(2);
}

#[test]
fn several_meshes_are_one_in_one_grid() {
    let place = place();
    let [a, b] = [cuboid([2.0, 2.0, 2.0]), cuboid([1.0, 3.0, 1.0])];
    place.write("a.stl", stl(&a));
    place.write("b.stl", stl(&b));
    place.write("both.stl", stl(&[a, b].concat()));
    place.write("scene.gltf", SCENE);
    let json = |line: &str| place.run(&format!("{line} --json")).expect(0).json();
    for rule in ["--surface", "--solid --inside robust"] {
        let one = json(&format!("both.stl -r 6 {rule} -o one.npz"));
        let several = json(&format!("a.stl b.stl -r 6 {rule} -o several.npz"));
        assert_eq!(one["digest"], several["digest"], "{rule}");
        assert_eq!(several["mesh"]["triangles"], 24);
        let names: Vec<_> = several["input"]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| &f["path"])
            .collect();
        assert_eq!(names, ["a.stl", "b.stl"]);
        assert_eq!(one["input"]["files"], Value::Null);
    }
    let labelled = json("a.stl b.stl --voxel-size 0.5 --solid --labels file -o parts.vox");
    let labels = &labelled["counts"]["labels"];
    assert_eq!(
        labels[0],
        json!({"label": "a", "value": 1, "cells": 64, "volume": 8.0})
    );
    assert_eq!(
        labels[1],
        json!({"label": "b", "value": 2, "cells": 8, "volume": 1.0})
    );
    let turned =
        json("a.stl b.stl --voxel-size 0.5 --solid --labels file --priority b.stl -o parts.vox");
    assert_eq!(turned["counts"]["labels"][1]["cells"], 24);
    assert_eq!(
        json("a.stl b.stl -r 6 --labels file --skip a.stl -o parts.vox")["mesh"]["triangles"],
        12
    );
    assert_eq!(
        format::open(&place.path("parts.vox"))
            .unwrap()
            .record
            .input
            .as_deref(),
        Some("a.stl, b.stl")
    );
    let piped = std::fs::read(place.path("b.stl")).unwrap();
    let run = place
        .run_with("a.stl - -r 6 -f raw -o - -q", &piped)
        .expect(0);
    assert_eq!(
        run.out,
        place.run("both.stl -r 6 -f raw -o - -q").expect(0).out
    );
    refused(&place, "- - -r 6 -o c.npz", 2);
    refused(&place, "a.stl c.stl -r 6 -o c.npz", 3);
    refused(&place, "a.stl scene.gltf -r 6 -o c.npz", 4);
    place
        .run("a.stl scene.gltf -r 6 -o c.npz --unit mm --up z")
        .expect(0);
}

/// Rounds numbers to nine digits, because a third is rounded before or after scaling.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(format!("{:.8e}", number.as_f64().unwrap())),
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(key, value)| (key.clone(), rounded(value)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn places_and_lengths_in_reports_are_in_coordinates_of_the_grid() {
    let place = place();
    let moved = |[x, y, z]: [f32; 3]| [2.0 * x + 8.0, 2.0 * y - 16.0, 2.0 * z + 4.0];
    let at = |triangles: Vec<Triangle>, by: [f32; 3]| {
        let to = |p: [f32; 3]| [0, 1, 2].map(|axis| p[axis] + by[axis]);
        triangles
            .into_iter()
            .map(move |triangle| triangle.map(to))
            .collect::<Vec<_>>()
    };
    let with_rib = [
        cuboid([8.0; 3]),
        at(cuboid([8.0, 0.125, 6.0]), [0.0, 3.25, 8.0]),
    ]
    .concat();
    let with_plate = [
        cuboid([8.0; 3]),
        at(cuboid([8.0, 8.0, 0.125]), [0.0, 0.0, 10.25]),
    ]
    .concat();
    let box_with_hole = cuboid([8.0; 3])[1..].to_vec();
    let mut codes = std::collections::BTreeSet::new();
    for (mesh, options) in [
        (&box_with_hole, "--filled -r 16"),
        (&box_with_hole, "--solid --inside flood -r 16"),
        (&with_rib, "--solid -r 16"),
        (&with_plate, "--solid -r 16"),
        (&with_plate, "--filled --bounds 500,0,0,600,50,50 -r 8"),
        (&with_plate, "--filled --bounds 10,-14,6,11,-13,7 -r 8"),
    ] {
        place.write("small.stl", stl(mesh));
        place.write(
            "large.stl",
            stl(&mesh
                .iter()
                .map(|triangle| triangle.map(moved))
                .collect::<Vec<_>>()),
        );
        let runs = ["small.stl --scale 2 --translate 8,-16,4", "large.stl"];
        let [scaled, large] = runs.map(|mesh| {
            let run = place
                .run(&format!("{mesh} {options} --unit mm -o a.npz --json"))
                .expect(0)
                .json();
            let check = place
                .run(&format!("check {mesh} --unit mm -r 16 --json"))
                .expect(0)
                .json();
            let of_check = ["mesh", "findings", "components"].map(|key| rounded(&check[key]));
            (
                ["warnings", "inside", "grid"].map(|key| run[key].clone()),
                run["mesh"]["bounds"].clone(),
                of_check,
            )
        });
        assert_eq!(scaled, large, "{options}");
        let found = scaled.0[0]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["code"].as_str().unwrap().to_string());
        codes.extend(found);
        let texts = runs.map(|mesh| {
            let text = place
                .run(&format!("check {mesh} --unit mm -r 16"))
                .expect(0)
                .text()
                .to_string();
            text.split_once('\n').unwrap().1.to_string()
        });
        assert_eq!(texts[0], texts[1]);
    }
    assert_eq!(
        codes.into_iter().collect::<Vec<_>>(),
        ["W002", "W006", "W007", "W009", "W011"]
    );
}

#[test]
fn mismatches_with_conventions_of_a_format_are_warnings() {
    let place = place();
    place.write("scene.gltf", SCENE);
    let says = |options: &str| {
        let run = place
            .run(&format!("scene.gltf --filled {options}"))
            .expect(0);
        run.err
            .lines()
            .filter(|line| line.contains("[W019]"))
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let unit = "take its coordinates as mm; those of this grid are m; ";
    let up = "take z as up; in this grid y is up; ";
    let stl = says("-r 8 -o a.stl");
    assert!(
        stl.len() == 2 && stl[0].contains(unit) && stl[1].contains(up),
        "{stl:?}"
    );
    assert!(
        stl[0].ends_with("voxelize the mesh with --scale 1000 --unit mm"),
        "{stl:?}"
    );
    assert_eq!(
        says("-r 8 -o a.stl --scale 1000 --unit mm --axes x,-z,y"),
        [""; 0]
    );
    assert_eq!(
        says("-o a.bt --voxel-size 0.1 --axes x,-z,y"),
        [""; 0],
        "in metres"
    );
    assert_eq!(
        (
            says("-r 8 -o a.slices").len(),
            says("-r 8 -o a.glb").len(),
            says("-r 8 -o a.npz").len()
        ),
        (1, 0, 0)
    );
    let [bt] = says("-r 8 -o a.bt --scale 100 --unit cm --up z")
        .try_into()
        .unwrap();
    assert!(
        bt.contains("as m; those of this grid are cm")
            && bt.contains(
                "--unit m if they are in m, being scaled; else voxelize the mesh with --scale 1 --unit m"
            ),
        "{bt}"
    );
    let converted = place.run("convert a.npz b.stl").expect(0);
    assert!(converted.err.contains("[W019]"), "{}", converted.err);
    // A unit that differs from the unit of the file.
    let other = place.run("scene.gltf -r 8 -o a.npz --unit mm").expect(0);
    assert!(
        other.err.contains("warning[W020]: the file states m"),
        "{}",
        other.err
    );
    assert!(
        !place
            .run("scene.gltf -r 8 -o a.npz --unit mm --scale 1000 -v")
            .expect(0)
            .err
            .contains("W020")
    );
}

#[test]
fn the_up_axis_turns_with_the_mesh_and_is_that_of_all_meshes() {
    let place = place();
    place.write("scene.gltf", SCENE);
    let up = |options: &str| {
        let json = place
            .run(&format!("scene.gltf -r 8 -o a.npz --json {options}"))
            .expect(0)
            .json();
        json["transform"]["up"].as_str().unwrap().to_string()
    };
    for (options, expected) in [
        ("", "y"),
        ("--axes x,-z,y", "z"),
        ("--rotate x,90", "z"),
        ("--axes=-x,y,-z", "y"),
        ("--rotate y,30", "y"),
        ("--rotate z,90", "y"),
        ("--up z --axes x,z,-y", "y"),
    ] {
        assert_eq!(up(options), expected, "{options}");
    }
    // If no option states it, z of the grid is up.
    let turned = place
        .run("tower.stl -r 8 --axes x,z,-y -o a.npz --json")
        .expect(0)
        .json();
    assert_eq!(turned["transform"]["up"], json!("z"));
    let both = place
        .run("scene.gltf tower.stl -o one.npz --unit m")
        .expect(4);
    assert!(
        both.err
            .contains("y is up in some of the meshes, and z in others"),
        "{}",
        both.err
    );
    place
        .run("scene.gltf tower.stl -o one.npz --unit m --up z")
        .expect(0);
    let pair = place
        .run("clearance scene.gltf tower.stl --unit m")
        .expect(4);
    assert!(pair.err.contains("FILE@axes=x,-z,y turns"), "{}", pair.err);
    let stands = "scene.gltf@axes=x,-z,y";
    assert_eq!(
        place
            .run(&format!("clearance {stands} tower.stl --unit m"))
            .expect(0)
            .err,
        ""
    );
    let other = place
        .run(&format!("clearance {stands} tower.stl --unit mm"))
        .expect(0);
    assert!(other.err.contains("W020"), "{}", other.err);
    place
        .run(&format!(
            "clearance {stands}@scale=1000 tower.stl --unit mm"
        ))
        .expect(0);
    place
        .run("clearance scene.gltf scene.gltf@rotate=z,90@translate=2,0,0")
        .expect(0);
    let mixed = place
        .run(&format!("clearance {stands} tower.stl"))
        .expect(4);
    assert!(
        mixed
            .err
            .contains("FILE@scale=1/1000 converts those of a file in mm"),
        "{}",
        mixed.err
    );
    let misplaced = place
        .run("clearance tower.stl tower.stl --scale 2")
        .expect(2);
    assert!(
        misplaced.err.contains("FILE@rotate=z,90"),
        "{}",
        misplaced.err
    );
}

#[test]
fn a_length_of_scaled_coordinates_is_as_many_cells() {
    let place = place();
    place.write("scene.gltf", SCENE);
    let wrong = place
        .run("scene.gltf -r 8 --filled --radius 30cm -o a.npz")
        .expect(2);
    assert!(
        wrong.err.contains("the rule filled has no radius"),
        "{}",
        wrong.err
    );
    let scaled = |by: &str| {
        place
            .run(&format!("tower.stl --scale {by} -r 9 -o a.npz --json"))
            .expect(0)
            .json()["digest"]
            .clone()
    };
    assert_eq!(scaled("1/25.4"), scaled("5/127"));
    let digest = |options: &str| {
        let line = format!("tower.stl --scale 3 -o a.npz --json {options}");
        place.run(&line).expect(0).json()["digest"].clone()
    };
    let offset = "--rule offset --voxel-size 0.5 --unit mm --radius";
    assert_eq!(
        digest(&format!("{offset} 1.5mm")),
        digest(&format!("{offset} 3vx"))
    );
    assert_eq!(
        digest(&format!("{offset} 0.15cm")),
        digest(&format!("{offset} 3vx"))
    );
    let signed = "--rule distance --signed --voxel-size 0.5 --iso";
    assert_eq!(
        digest(&format!("{signed} 0.25")),
        digest(&format!("{signed} 0.5vx"))
    );
    for line in [
        "--rule offset -r 16 --radius 1",
        "--rule offset --voxel-size 1,1,2 --radius 1",
        "--rule offset --voxel-size 3 --radius 1",
    ] {
        let refused = place
            .run(&format!("tower.stl --scale 3 -o a.npz {line}"))
            .expect(2);
        assert!(
            refused.err.contains("give it in cells, such as 2vx"),
            "{}",
            refused.err
        );
    }
}
