//! One mesh compared with one voxel file: the mesh is voxelized on the grid and by the rule that the file
//! records.

use serde_json::json;
use voxelize::grid::record::FIELDS;
use voxelize::{Record, Voxels};

use super::{bring, dent_knot, meshes, outcomes, read, recorded};
use crate::support::rows;

#[test]
fn the_file_states_grid_and_rule() {
    let place = meshes();
    // Another mesh of about the same size.
    bring(&place, "sphere.stl", "meshes/other.stl");
    for (options, file) in [
        ("-r 40", "a.npz"),
        ("-r 40 --ties both --pad 2", "a.vox"),
        ("--voxel-size 1.7 --origin 0.1,0,0 --ties none", "a.raw"),
        (
            "--bounds 0,0,-9,20,20,9 -r 40 --snap none --sidecar",
            "a.npy",
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
        let runs = rows::check(
            &place,
            &format!(
                r#"0 meshes/knot.stl -q {options} -o {file}
                   0 verify {file} meshes/knot.stl --json
                       /outcome "same"
                       /mesh "meshes/knot.stl"
                   1 verify {file} meshes/other.stl --json
                       /outcome "cells""#
            ),
        );
        let used = runs[1].json()["options"].to_string();
        assert!(used.starts_with(&format!("\"--like {file}")), "{used}");
    }
}

#[test]
fn rules_of_other_versions_are_refused() {
    let place = meshes();
    rows::check(
        &place,
        "0 meshes/f.stl -q -r 20 --filled -o known.npz
         0 verify known.npz meshes/f.stl",
    );
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
        let field = *FIELDS.iter().find(|field| **field == name).unwrap();
        let mut other = known.clone();
        other.record = Record {
            rule_name: Some(rule.to_string()),
            fields: vec![(field, value.to_string())],
            ..known.record.clone()
        };
        other.save(place.path("other.npz")).unwrap();
        rows::refused(
            &place,
            "2 verify other.npz meshes/f.stl
                 err error: other.npz:",
        );
    }
}

#[test]
fn gates_reports_and_pictures_work_as_for_lists() {
    let place = meshes();
    rows::check(&place, "0 meshes/knot.stl -q -r 40 -o knot.npz");
    dent_knot(&place);
    for (options, code, outcome) in [
        ("", 1, "cells"),
        ("--allow 6", 0, "allowed"),
        ("--allow 5", 1, "cells"),
        ("--iou-min 0.9989", 0, "allowed"),
        ("--iou-min 0.999", 1, "cells"),
    ] {
        rows::check(
            &place,
            &format!(
                "{code} verify knot.npz meshes/knot.stl {options} --json
                     /outcome {}
                     /difference/added 3
                     /difference/removed 3",
                json!(outcome)
            ),
        );
    }
    rows::check(
        &place,
        "1 verify knot.npz meshes/knot.stl --junit a.xml --pictures shown --json=a.json
             file shown/knot.png",
    );
    assert!(read(&place, "a.xml").contains("<failure type=\"cells\" "));
    let pictures = "\"pictures\":[\"shown/knot.vox\",\"shown/knot.png\"]";
    assert!(read(&place, "a.json").contains(pictures));
}

#[test]
fn a_case_may_take_its_grid_from_a_file() {
    let place = recorded();
    std::fs::create_dir(place.path("lists")).unwrap();
    let line = "--update lists/a.toml meshes/f.stl --like cells/knot-res-40.npz --allow-outside";
    assert_eq!(outcomes(&place, line, 0), ["new"]);
    let list = read(&place, "lists/a.toml");
    let like = "like = \"../cells/knot-res-40.npz\"";
    assert!(list.contains(like), "{list}");
    assert_eq!(
        outcomes(&place, "lists/a.toml --allow-outside", 0),
        ["same"]
    );
    assert_eq!(outcomes(&place, line, 0), ["same"]);
}
