//! One mesh compared with one voxel file: the mesh is voxelized on the grid and by the rule that the file
//! records.

use std::process::Command;

use serde_json::json;
use voxelize::grid::record::FIELDS;
use voxelize::{Record, Voxels};

use super::Place;

fn voxelize(place: &Place, line: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    let output = command
        .current_dir(place.path(""))
        .args(line.split_whitespace())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{line}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_file_states_grid_and_rule() {
    let place = Place::new();
    let mut seen = 0;
    for (options, output) in [
        ("-r 40", "a.npz"),
        ("-r 40 --ties both --pad 2", "a.vox"),
        ("--voxel-size 1.7 --origin 0.1,0,0 --ties none", "a.raw"),
        (
            "--bounds 0,0,-9,20,20,9 -r 40 --snap none",
            "a.npy --sidecar",
        ),
        ("--dims 40,30,20 --stretch", "a.npz"),
        (
            "-r 40 --filled --inside flood --close-holes 2 --hollow 2",
            "a.vox",
        ),
        ("-r 40 --filled --ties both --inside evenodd", "a.npz"),
        ("-r 40 --solid --keep-thin --inside vote", "a.raw"),
        ("-r 40 --rotate z,90 --rotate x,45", "a.npz"),
    ] {
        voxelize(&place, &format!("meshes/knot.stl -q {options} -o {output}"));
        let file = output.split(' ').next().unwrap();
        let case = &place
            .run(&format!("{file} meshes/knot.stl --json"))
            .expect(0)
            .cases()[0];
        assert_eq!(
            (&case["outcome"], &case["mesh"]),
            (&json!("same"), &json!("meshes/knot.stl"))
        );
        assert!(
            case["options"]
                .as_str()
                .unwrap()
                .starts_with(&format!("--like {file}")),
            "{case}"
        );
        // Another mesh of about the same size on the same grid.
        place.bring("sphere.stl", "meshes/other.stl");
        assert_eq!(
            place.outcomes(&format!("{file} meshes/other.stl"), 1),
            ["cells"]
        );
        seen += 1;
    }
    assert_eq!(seen, 9);
}

#[test]
fn rules_of_other_versions_are_refused() {
    let place = Place::new();
    voxelize(&place, "meshes/f.stl -q -r 20 --filled -o known.npz");
    place.run("known.npz meshes/f.stl").expect(0);
    let known = Voxels::open(place.path("known.npz")).unwrap();
    for (rule, name, value) in [
        ("melted", "ties", "none"),
        ("surface", "inside", "nonzero"),
        ("filled", "inside", "guess"),
        ("filled", "ties", "down"),
        ("filled", "variant", "pad 3"),
        ("filled", "variant", "hollow 0"),
        ("solid", "variant", "keep-thin --pad 3"),
        ("solid", "close_holes", "3"),
    ] {
        let fields = vec![(
            *FIELDS.iter().find(|field| **field == name).unwrap(),
            value.to_string(),
        )];
        let record = Record {
            rule_name: Some(rule.to_string()),
            fields,
            ..known.record.clone()
        };
        Voxels {
            record,
            ..known.clone()
        }
        .save(place.path("other.npz"))
        .unwrap();
        let run = place.run("other.npz meshes/f.stl").expect(2);
        assert!(
            run.err.starts_with("error: other.npz: ") && run.err.contains("\nhint: "),
            "{}",
            run.err
        );
    }
}

#[test]
fn gates_reports_and_pictures_work_as_for_lists() {
    let place = Place::new();
    voxelize(&place, "meshes/knot.stl -q -r 40 -o knot.npz");
    place.dent_knot();
    for (options, code) in [
        ("", 1),
        ("--allow 6", 0),
        ("--allow 5", 1),
        ("--iou-min 0.9989", 0),
        ("--iou-min 0.999", 1),
    ] {
        let case = &place
            .run(&format!("knot.npz meshes/knot.stl {options} --json"))
            .expect(code)
            .cases()[0];
        let difference = &case["difference"];
        assert_eq!(
            (&difference["added"], &difference["removed"]),
            (&json!(3), &json!(3)),
            "{options}"
        );
        assert_eq!(
            case["outcome"],
            if code == 0 { "allowed" } else { "cells" },
            "{options}"
        );
    }
    place
        .run("knot.npz meshes/knot.stl --junit a.xml --pictures shown --json=a.json")
        .expect(1);
    assert!(place.read("a.xml").contains("<failure type=\"cells\" "));
    assert!(
        place
            .read("a.json")
            .contains("\"pictures\":[\"shown/knot.vox\",\"shown/knot.png\"]")
    );
    assert!(place.path("shown/knot.png").exists());
}

#[test]
fn wrong_questions_are_refused() {
    let place = Place::recorded();
    voxelize(&place, "meshes/f.stl -q -r 20 -o nowhere.npy");
    let mut seen = 0;
    for (line, code) in [
        ("missing.npz meshes/f.stl", 3),
        ("goldens.toml meshes/f.stl", 2),
        ("meshes/f.stl meshes/f.stl", 2),
        ("cells/f-res-20.npz meshes/f.stl meshes/f.stl", 2),
        ("cells/f-res-20.npz meshes/f.stl --res 20", 2),
        ("nowhere.npy meshes/f.stl", 2),
        (
            "cells/f-res-20.npz meshes/f.stl --junit cells/f-res-20.npz",
            2,
        ),
    ] {
        let run = place.run(line).expect(code);
        assert!(
            run.err.starts_with("error") && run.err.contains("\nhint: "),
            "{line}\n{}",
            run.err
        );
        assert!(run.out.is_empty(), "{}", run.out);
        seen += 1;
    }
    assert!(seen > 5);
    let case = &place
        .run("cells/f-res-20.npz missing.stl --json")
        .expect(3)
        .cases()[0];
    assert_eq!(
        (&case["outcome"], &case["error"]["code"]),
        (&json!("error"), &json!("not-found"))
    );
}

#[test]
fn a_case_may_take_its_grid_from_a_file() {
    let place = Place::recorded();
    std::fs::create_dir(place.path("lists")).unwrap();
    place
        .run("--update lists/a.toml meshes/f.stl --like cells/knot-res-40.npz --allow-outside")
        .expect(0);
    let list = place.read("lists/a.toml");
    assert!(
        list.contains("like = \"../cells/knot-res-40.npz\""),
        "{list}"
    );
    place.run("lists/a.toml --allow-outside").expect(0);
    let line = "--update lists/a.toml meshes/f.stl --like cells/knot-res-40.npz --allow-outside";
    assert_eq!(place.outcomes(line, 0), ["same"]);
}
