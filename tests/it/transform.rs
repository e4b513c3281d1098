//! Up axis, axes, scale and units follow their definition and change nothing else.

use serde_json::{Value, json};
use voxelize::format::{self, FORMATS};

use crate::support::place::{Place, Triangle, cuboid, stl};
use crate::support::rows;

/// Creates a plate of 4 × 1 × 4 with a tower of 1 × 5 × 1 on its corner at the origin, whose up is y, and a
/// scene.
fn place() -> Place {
    let place = Place::new();
    let tower = moved(&cuboid([1.0, 5.0, 1.0]), |[x, y, z]| [x, y + 1.0, z]);
    place.write("tower.stl", stl(&[cuboid([4.0, 1.0, 4.0]), tower].concat()));
    place.write("scene.gltf", SCENE);
    place
}

fn moved(triangles: &[Triangle], to: impl Fn([f32; 3]) -> [f32; 3]) -> Vec<Triangle> {
    triangles.iter().map(|triangle| triangle.map(&to)).collect()
}

fn json(place: &Place, line: &str) -> Value {
    place.run(&format!("{line} --json")).expect(0).json()
}

/// Returns the digests of cells and grid.
fn digest(place: &Place, line: &str) -> Value {
    json(place, &format!("{line} -o a.npz"))["digest"].clone()
}

/// Asserts that two lists of options make the same cells on the same grid.
#[track_caller]
fn assert_same(place: &Place, mesh: &str, pairs: &[[&str; 2]]) {
    for [first, second] in pairs {
        let [a, b] = [first, second].map(|options| digest(place, &format!("{mesh} {options}")));
        assert_eq!(a, b, "{first} and {second}");
    }
}

/// A scene in metres of one triangle, 0.5 along x and 0.25 along y.
const SCENE: &str = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0.5, 0.25, 0]}],
"buffers": [{"byteLength": 36, "uri":
"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAPwAAAAAAAAAAAAAAAAAAgD4AAAAA"}]}"#;

#[test]
fn y_up_stands_in_a_scene_and_stays_in_arrays() {
    let place = place();
    for rule in ["--surface", "--filled", "--solid"] {
        let mut seen = 0;
        for format in FORMATS.iter().filter(|format| format.is_readable()) {
            let name = format.name;
            let [lying, standing] = [format!("z.{name}"), format!("y.{name}")];
            let options = format!("tower.stl --voxel-size 0.5 {rule} --sidecar");
            let z = json(&place, &format!("{options} -o {lying}"));
            let y = json(&place, &format!("{options} --up y -o {standing}"));
            assert_eq!(z["digest"], y["digest"], "{name} {rule}");
            rows::check(&place, &format!("0 diff {lying} {standing}"));
            let read = |file: &str| format::open(&place.path(file)).unwrap();
            let [z, y] = [read(&lying), read(&standing)];
            assert_eq!(z.cells, y.cells, "{name}");
            assert_eq!(y.record.transform("up"), Some("y"), "{name}");
            assert_eq!(z.record.transform("up"), None, "{name}");
            if ["npy", "raw"].contains(&name) {
                let bytes = |file: &str| std::fs::read(place.path(file)).unwrap();
                assert!(bytes(&lying) == bytes(&standing), "{name}");
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
        let options = format!("tower.stl --voxel-size 0.5 --filled --up {up}");
        rows::check(&place, &format!("0 {options} -o t.vox"));
        // An independent reader.
        let scene = dot_vox::load(place.path("t.vox").to_str().unwrap()).unwrap();
        let model = &scene.models[0];
        let size = [model.size.x, model.size.y, model.size.z].map(|n| n as usize);
        assert_eq!((scene.models.len(), size), (1, dims));
        let top = model.voxels.iter().map(|voxel| voxel.z).max().unwrap();
        let mut highest = vec![];
        for voxel in model.voxels.iter().filter(|voxel| voxel.z == top) {
            highest.push([voxel.x, voxel.y]);
        }
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
    let options = "tower.stl --voxel-size 0.013 --up y";
    let scene = json(&place, &format!("{options} -o t.vox"));
    let array = json(&place, &format!("{options} -o t.npy"));
    assert!(scene["grid"]["dims"][1].as_u64() > Some(256));
    assert_eq!(scene["digest"], array["digest"]);
    assert_eq!(scene["transform"]["up"], "y");
    let info = json(&place, "info t.vox");
    assert_eq!(info["digest"], scene["digest"]);
    assert_eq!(info["transform"], json!({"up": "y"}));
}

#[test]
fn lengths_with_units_are_converted_to_the_file() {
    let place = place();
    assert_same(
        &place,
        "cube.stl",
        &[
            ["--unit mm --voxel-size 5cm", "--voxel-size 50"],
            ["--unit m --voxel-size 50cm", "--voxel-size 0.5"],
            ["--unit in --voxel-size 1ft", "--voxel-size 12"],
            ["--unit mm --voxel-size 1in", "--voxel-size 25.4"],
            ["--unit cm --voxel-size 5mm,1cm,2", "--voxel-size 0.5,1,2"],
            [
                "--unit cm --voxel-size 1 --origin 5mm,0,0",
                "--voxel-size 1 --origin 0.5,0,0",
            ],
            [
                "--unit cm -r 8 --bounds 0,0,0,100mm,10,10",
                "-r 8 --bounds 0,0,0,10,10,10",
            ],
            [
                "--unit cm -r 8 --rule offset --radius 20mm",
                "-r 8 --rule offset --radius 2",
            ],
            [
                "--unit m -r 8 --rule distance --iso 150cm",
                "-r 8 --rule distance --iso 1.5",
            ],
        ],
    );
    rows::check(
        &place,
        r#"0 cube.stl --unit mm --voxel-size 5cm --filled -o b.npz
             err 20 × 20 × 20 mm
             err cells of 50 mm
             err volume 125,000 mm³
           0 cube.stl --unit mm -r 4 --json -o c.npz
             /mesh/unit "mm"
           0 info b.npz
             out unit mm"#,
    );
}

#[test]
fn scale_multiplies_coordinates_exactly() {
    let place = place();
    let grid = |json: &Value| {
        ["origin_exact", "spacing_exact", "dims"].map(|key| json["grid"][key].clone())
    };
    for rule in [
        "--surface",
        "--filled",
        "--solid",
        "--rule thin",
        "--rule offset --radius 2vx",
    ] {
        let plain = json(
            &place,
            &format!("thirds.stl --voxel-size 0.1 {rule} -o a.npz"),
        );
        let line = format!("thirds.stl --scale 1000 --voxel-size 100 {rule}");
        let scaled = json(&place, &format!("{line} -o b.npz"));
        let in_slabs = json(&place, &format!("{line} -j 2 --max-memory 17M -o c.raw"));
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
            let info = json(&place, &format!("info {name}"));
            assert_eq!(grid(&info), grid(&scaled), "{name} {rule}");
            assert_eq!(info["digest"], scaled["digest"], "{name} {rule}");
        }
    }
    let third = json(&place, "thirds.stl --scale 1/3 -r 7 -o d.npz");
    let spacing = &third["grid"]["spacing_exact"][0];
    assert_eq!(
        spacing, "11744051/352321536",
        "0.7 as the file has it, by 21"
    );
    // The grid of one file equals the grid of another, whatever its scale.
    let like = json(&place, "thirds.stl --scale 1/3 --like d.npz -o e.npz");
    assert_eq!(grid(&like), grid(&third));
    assert_eq!(like["digest"], third["digest"]);
    rows::check(
        &place,
        "0 cube.stl --scale 0.001 --bounds 0,0,0,0.01,0.01,0.01 -r 10 --filled -o f.npz --json
             /counts/occupied 1000
             /volume 1e-6
         0 verify b.npz thirds.stl
         2 cube.stl --scale -1",
    );
}

#[test]
fn axes_turn_the_mesh() {
    let place = place();
    for (options, slice, text) in [
        ("", "z=0", "#...\n#...\n#...\n#...\n#...\n####\n"),
        (
            "--axes x,-z,y",
            "y=3",
            "#...\n#...\n#...\n#...\n#...\n####\n",
        ),
        (
            "--axes -x,y,z",
            "z=0",
            "...#\n...#\n...#\n...#\n...#\n####\n",
        ),
    ] {
        let line = format!("view tower.stl --voxel-size 1 --filled {options} --slice {slice}");
        assert_eq!(place.run(&line).expect(0).text(), text, "{options}");
    }
    // Mirrors keep the outside outside. A golden records the transforms.
    rows::check(
        &place,
        r#"0 tower.stl -r 12 --axes x,-z,y --json -o a.npz
             /transform {"up": "z", "axes": "x,-z,y", "rotate": null, "scale": "1/1", "translate": ["0/1", "0/1", "0/1"]}
           0 tower.stl -r 12 --solid --inside nonzero --axes z,y,x --json -o b.npz
             /warnings []
           0 verify a.npz tower.stl
           2 verify --update goldens.toml tower.stl -r 12 --axes x,-z,y --scale 1/2 --unit cm --pad 1mm
           0 verify --update goldens.toml tower.stl -r 12 --axes x,-z,y --scale 1/2 --unit cm
           0 verify goldens.toml"#,
    );
}

#[test]
fn the_unit_and_the_up_axis_of_a_file_are_taken() {
    rows::check(
        &place(),
        r#"0 scene.gltf -o a.npz --json --voxel-size 50mm
             /mesh/unit "m"
             /transform/up "y"
             /grid/dims [10, 5, 1]
           0 scene.gltf -o a.npz --json --voxel-size 0.05
             /mesh/unit "m"
             /grid/dims [10, 5, 1]
           0 scene.gltf -o a.npz --json --voxel-size 5cm --rule offset --radius 100mm
             /mesh/unit "m"
             /grid/dims [14, 9, 5]
           0 scene.gltf -o a.npz --json --voxel-size 50mm --up z
             /mesh/unit "m"
             /transform/up "z"
             /grid/dims [10, 5, 1]
           0 scene.gltf -o a.npz --json --voxel-size 1in --unit in --scale 20
             /mesh/unit "in"
             /transform/up "y"
             /grid/dims [10, 5, 1]
           # Scaled, without a unit.
           0 scene.gltf -o a.npz --json --voxel-size 1 --scale 20
             /mesh/unit null
             /grid/dims [10, 5, 1]
           2 scene.gltf -o a.npz --voxel-size 1in --scale 20
           2 tower.stl -o a.npz --voxel-size 5mm
           0 info scene.gltf
             out 0.5 × 0.25 × 0 m: x 0 … 0.5
           0 info scene.gltf --json
             /mesh/unit "m"
           0 check scene.gltf
             out  m,
             out  m long
             out  m³
           0 check scene.gltf --scale 500 --unit mm
             out 250 × 125 × 0 mm
             out  mm³
           # Several files either have one grid each, or share one grid.
           2 scene.gltf tower.stl -o all/ --voxel-size 50mm
           0 scene.gltf -o all/ --voxel-size 50mm
           4 scene.gltf tower.stl -o all/ --same-grid --res 20
             err state different units, m and none
           0 scene.gltf tower.stl -o all/ --same-grid --res 20 --unit m --up z"#,
    );
}

#[test]
fn rotations_are_exact_turns_in_typed_order_after_axes_and_matrices() {
    let place = place();
    assert_same(
        &place,
        "tower.stl --voxel-size 0.5",
        &[
            ["--rotate z,90", "--axes=-y,x,z"],
            ["--rotate z,-270", "--axes=-y,x,z"],
            ["--rotate x,90", "--axes=x,-z,y"],
            ["--rotate y,180", "--axes=-x,y,-z"],
            ["--rotate y,360", "--axes=x,y,z"],
            ["--axes x,-z,y --rotate x,-90", ""],
            ["--rotate z,90 --rotate x,90", "--axes=-y,-z,x"],
            ["--rotate x,90 --rotate z,90", "--axes=z,x,y"],
            ["--rotate z,30 --rotate z,60", "--rotate z,90"],
            ["--rotate z,17.25 --rotate z,-17.25", ""],
            ["--matrix 0,-1,0,0,1,0,0,0,0,0,1,0", "--rotate z,90"],
            [
                "--matrix 0,-1,0,0,1,0,0,0,0,0,1,0,0,0,0,1 --rotate x,90",
                "--rotate z,90 --rotate x,90",
            ],
            ["--matrix=-1,0,0,0,0,1,0,0,0,0,1,0", "--axes=-x,y,z"],
            [
                "--matrix 1,0,0,0.1,0,1,0,1/3,0,0,1,-7",
                "--translate 0.1,1/3,-7",
            ],
            [
                "--matrix 1,0,0,4,0,1,0,0,0,0,1,0 --rotate z,90 --scale 1/2",
                "--rotate z,90 --scale 1/2 --translate 0,2,0",
            ],
            ["--axes x,-z,y --matrix 1,0,0,0,0,0,1,0,0,-1,0,0", ""],
        ],
    );
    assert_ne!(
        digest(
            &place,
            "tower.stl --voxel-size 0.5 --rotate z,20 --rotate x,20"
        ),
        digest(
            &place,
            "tower.stl --voxel-size 0.5 --rotate x,20 --rotate z,20"
        )
    );
    rows::check(
        &place,
        r#"0 tower.stl -r 20 -o a.npz --rotate y,30
             err rotate y,30, coordinates rounded
           0 tower.stl -r 20 -o a.npz --rotate x,10 --rotate z,30 --matrix 3,0,0,1,0,1,0,0,0,0,1,0 --json
             /transform/rotate "x,10;z,30"
             /transform/matrix "3,0,0,1,0,1,0,0,0,0,1,0"
           0 info a.npz
             out x,10;z,30
           # Comparisons transform their meshes in the same way.
           0 clearance tower.stl tower.stl@rotate=z,90@rotate=x,90@matrix=1,0,0,50,0,1,0,0,0,0,1,0"#,
    );
    rows::refused(
        &place,
        "2 tower.stl -r 20 -o a.npz --rotate w,90
         2 tower.stl -r 20 -o a.npz --rotate 90
         2 tower.stl -r 20 -o a.npz --rotate z
         2 tower.stl -r 20 -o a.npz --rotate z,1e40
         2 tower.stl -r 20 -o a.npz --rotate z,9O
         2 tower.stl -r 20 -o a.npz --matrix 1,0,0,0,1,0,0,0,1
             err 12 or 16 numbers
         2 tower.stl -r 20 -o a.npz --matrix 1,0,0,0,0,1,0,0,1,1,0,0
             err singular
         2 tower.stl -r 20 -o a.npz --matrix 1,0,0,0,0,1,0,0,0,0,1,0,0,0,1,1
             err last row
         2 tower.stl -r 20 -o a.npz --matrix 1,0,0,0,0,1,0,0,0,0,1,0 --matrix 1,0,0,0,0,1,0,0,0,0,1,0
             err multiple times",
    );
}

#[test]
fn a_translation_moves_the_lattice_exactly() {
    let place = place();
    let triangles = cuboid([4.0, 1.0, 3.0]);
    place.write("box.stl", stl(&triangles));
    let by = |[x, y, z]: [f32; 3]| [x + 0.5, y - 2.0, z + 0.25];
    place.write("moved.stl", stl(&moved(&triangles, by)));
    for grid in [
        "-r 7",
        "--voxel-size 0.3 --origin 0,0,0",
        "--dims 9,5,7 --bounds 0,-2.5,0,5,0,4",
    ] {
        for rule in ["--surface --ties both", "--filled", "--solid"] {
            let expected = digest(&place, &format!("moved.stl {grid} {rule}"));
            // The grid of a file is transformed back to the coordinates of the mesh.
            for grid in [grid, "--like a.npz"] {
                let line = format!("box.stl {grid} {rule} --translate 1/2,-2,0.25");
                assert_eq!(digest(&place, &line), expected, "{line}");
            }
        }
    }
    rows::check(
        &place,
        r#"0 box.stl -r 8 --scale 1/3 --translate 5mm,0,1cm --unit mm -o a.npz --json
             /grid/origin_exact ["5/1", "0/1", "10/1"]
             /transform/translate ["5/1", "0/1", "10/1"]
           2 box.stl -r 8 --translate 5mm,0,0 -o a.npz
           2 box.stl -r 8 --translate 5,0 -o a.npz"#,
    );
    let file = format::open(&place.path("a.npz")).unwrap();
    assert_eq!(file.record.transform("translate"), Some("5,0,10"));
}

#[test]
fn several_meshes_are_one_in_one_grid() {
    let place = place();
    let [a, b] = [cuboid([2.0, 2.0, 2.0]), cuboid([1.0, 3.0, 1.0])];
    place.write("a.stl", stl(&a));
    place.write("b.stl", stl(&b));
    place.write("both.stl", stl(&[a, b].concat()));
    for rule in ["--surface", "--solid --inside robust"] {
        let runs = rows::check(
            &place,
            &format!(
                r#"0 both.stl -r 6 {rule} -o one.npz --json
                     /input/files null
                   0 a.stl b.stl -r 6 {rule} -o several.npz --json
                     /mesh/triangles 24
                     /input/files/0/path "a.stl"
                     /input/files/1/path "b.stl""#
            ),
        );
        assert_eq!(runs[0].json()["digest"], runs[1].json()["digest"], "{rule}");
    }
    rows::check(
        &place,
        r#"0 a.stl b.stl --voxel-size 0.5 --solid --labels file -o parts.vox --json
             /counts/labels/0 {"label": "a", "value": 1, "cells": 64, "volume": 8.0}
             /counts/labels/1 {"label": "b", "value": 2, "cells": 8, "volume": 1.0}
           0 a.stl b.stl --voxel-size 0.5 --solid --labels file --priority b.stl -o parts.vox --json
             /counts/labels/1/cells 24
           0 a.stl b.stl -r 6 --labels file --skip a.stl -o parts.vox --json
             /mesh/triangles 12
           4 a.stl scene.gltf -r 6 -o c.npz
           0 a.stl scene.gltf -r 6 -o c.npz --unit mm --up z"#,
    );
    rows::refused(
        &place,
        "2 - - -r 6 -o d.npz
         3 a.stl c.stl -r 6 -o d.npz",
    );
    let parts = format::open(&place.path("parts.vox")).unwrap();
    assert_eq!(parts.record.input.as_deref(), Some("a.stl, b.stl"));
    let piped = std::fs::read(place.path("b.stl")).unwrap();
    let run = place
        .run_with("a.stl - -r 6 -f raw -o - -q", &piped)
        .expect(0);
    let one = place.run("both.stl -r 6 -f raw -o - -q").expect(0);
    assert_eq!(run.out, one.out);
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
    let large = |[x, y, z]: [f32; 3]| [2.0 * x + 8.0, 2.0 * y - 16.0, 2.0 * z + 4.0];
    let block = cuboid([8.0; 3]);
    let rib = moved(&cuboid([8.0, 0.125, 6.0]), |[x, y, z]| {
        [x, y + 3.25, z + 8.0]
    });
    let plate = moved(&cuboid([8.0, 8.0, 0.125]), |[x, y, z]| [x, y, z + 10.25]);
    let with_rib = [block.clone(), rib].concat();
    let with_plate = [block.clone(), plate].concat();
    let with_hole = block[1..].to_vec();
    let mut codes = std::collections::BTreeSet::new();
    for (mesh, options) in [
        (&with_hole, "--filled -r 16"),
        (&with_hole, "--solid --inside flood -r 16"),
        (&with_rib, "--solid -r 16"),
        (&with_plate, "--solid -r 16"),
        (&with_plate, "--filled --bounds 500,0,0,600,50,50 -r 8"),
        (&with_plate, "--filled --bounds 10,-14,6,11,-13,7 -r 8"),
    ] {
        place.write("small.stl", stl(mesh));
        place.write("large.stl", stl(&moved(mesh, large)));
        let reports = |mesh: &str| {
            let run = json(&place, &format!("{mesh} {options} --unit mm -o a.npz"));
            let check = format!("check {mesh} --unit mm -r 16");
            let text = place.run(&check).expect(0).text().to_string();
            let check = json(&place, &check);
            (
                ["warnings", "inside", "grid"].map(|key| run[key].clone()),
                run["mesh"]["bounds"].clone(),
                ["mesh", "findings", "components"].map(|key| rounded(&check[key])),
                text.replace(mesh.split(' ').next().unwrap(), "FILE"),
            )
        };
        let scaled = reports("small.stl --scale 2 --translate 8,-16,4");
        assert_eq!(scaled, reports("large.stl"), "{options}");
        for warning in scaled.0[0].as_array().unwrap() {
            codes.insert(warning["code"].as_str().unwrap().to_string());
        }
    }
    let codes: Vec<_> = codes.into_iter().collect();
    assert_eq!(codes, ["W002", "W006", "W007", "W009", "W011"]);
}

#[test]
fn mismatches_with_conventions_of_a_format_are_warnings() {
    let place = place();
    let runs = rows::check(
        &place,
        "0 scene.gltf --filled -r 8 -o a.stl
             err take its coordinates as mm; those of this grid are m; voxelize the mesh with --scale 1000 --unit mm
             err take z as up; in this grid y is up;
         0 scene.gltf --filled -r 8 -o a.slices
         0 scene.gltf --filled -r 8 -o a.stl --scale 1000 --unit mm --axes x,-z,y
             no err W019
         0 scene.gltf --filled -o a.bt --voxel-size 0.1 --axes x,-z,y
             no err W019
         0 scene.gltf --filled -r 8 -o a.glb
             no err W019
         0 scene.gltf --filled -r 8 -o a.npz
             no err W019
         0 scene.gltf --filled -r 8 -o a.bt --scale 100 --unit cm --up z
             err as m; those of this grid are cm
             err --unit m if they are in m, being scaled; else voxelize the mesh with --scale 1 --unit m
         0 convert a.npz b.stl
             err [W019]
         # A unit that differs from the unit of the file.
         0 scene.gltf -r 8 -o a.npz --unit mm
             err warning[W020]: the file states m
         0 scene.gltf -r 8 -o a.npz --unit mm --scale 1000 -v
             no err W020",
    );
    let counts = [0, 1, 6].map(|n: usize| runs[n].err.matches("[W019]").count());
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn the_up_axis_turns_with_the_mesh_and_is_that_of_all_meshes() {
    let place = place();
    for (options, up) in [
        ("scene.gltf", "y"),
        ("scene.gltf --axes x,-z,y", "z"),
        ("scene.gltf --rotate x,90", "z"),
        ("scene.gltf --axes=-x,y,-z", "y"),
        ("scene.gltf --rotate y,30", "y"),
        ("scene.gltf --rotate z,90", "y"),
        ("scene.gltf --up z --axes x,z,-y", "y"),
        // If no option states it, z of the grid is up.
        ("tower.stl --axes x,z,-y", "z"),
    ] {
        let made = json(&place, &format!("{options} -r 8 -o a.npz"));
        assert_eq!(made["transform"]["up"], up, "{options}");
    }
    rows::check(
        &place,
        "4 scene.gltf tower.stl -o one.npz --unit m
             err y is up in some of the meshes, and z in others
         0 scene.gltf tower.stl -o one.npz --unit m --up z
         4 clearance scene.gltf tower.stl --unit m
             err FILE@axes=x,-z,y turns
         0 clearance scene.gltf@axes=x,-z,y tower.stl --unit m
             no err
         0 clearance scene.gltf@axes=x,-z,y tower.stl --unit mm
             err W020
         0 clearance scene.gltf@axes=x,-z,y@scale=1000 tower.stl --unit mm
         0 clearance scene.gltf scene.gltf@rotate=z,90@translate=2,0,0
         4 clearance scene.gltf@axes=x,-z,y tower.stl
             err FILE@scale=1/1000 converts those of a file in mm
         2 clearance tower.stl tower.stl --scale 2
             err FILE@rotate=z,90",
    );
}

#[test]
fn a_length_of_scaled_coordinates_is_as_many_cells() {
    let place = place();
    assert_same(
        &place,
        "tower.stl -r 9",
        &[["--scale 1/25.4", "--scale 5/127"]],
    );
    let offset = "tower.stl --scale 3 --rule offset --voxel-size 0.5 --unit mm";
    let three = "--radius 3vx";
    assert_same(
        &place,
        offset,
        &[["--radius 1.5mm", three], ["--radius 0.15cm", three]],
    );
    let signed = "tower.stl --scale 3 --rule distance --signed --voxel-size 0.5";
    assert_same(&place, signed, &[["--iso 0.25", "--iso 0.5vx"]]);
    rows::refused(
        &place,
        "2 tower.stl --scale 3 -o b.npz --rule offset -r 16 --radius 1
         2 tower.stl --scale 3 -o b.npz --rule offset --voxel-size 1,1,2 --radius 1
         2 tower.stl --scale 3 -o b.npz --rule offset --voxel-size 3 --radius 1
         2 scene.gltf -r 8 --filled --radius 30cm -o b.npz
             err the rule filled has no radius",
    );
}
