//! The command describes, compares and shows labels and fields that the library saved.

use serde_json::json;
use voxelize::grid::{Field, Label, Labels, Legend};
use voxelize::{Lattice, Rational, Voxels};

use crate::support::place::Place;

const DIMS: [usize; 3] = [20, 6, 4];

fn save(place: &Place, name: &str, cells: impl Into<voxelize::Cells>) {
    let lattice = Lattice::new(
        DIMS,
        [(); 3].map(|()| Rational::ZERO),
        [1, 1, 1].map(Rational::from),
        [true; 3],
    );
    let voxels = Voxels {
        lattice: Some(lattice.unwrap()),
        ..Voxels::new(cells)
    };
    voxels.save(place.path(name)).unwrap();
}

fn labels(marrow: usize) -> Labels {
    let legend = Legend::new([
        Label::new(3, "cortical bone").with_colour([0xee, 0xe8, 0xd5]),
        Label::new(200, "marrow"),
        Label::new(9, "implant"),
    ]);
    let mut labels = Labels::new(DIMS, legend.unwrap()).unwrap();
    (0..20).for_each(|i| labels.set([i, 2, 1], if i < marrow { 200 } else { 3 }));
    labels
}

/// Returns a field with values along x, one cell without a value, and the background elsewhere.
fn field(step: f32) -> Field {
    let mut field = Field::new(DIMS, f32::INFINITY).unwrap();
    (0..20).for_each(|i| field.set([i, 2, 1], i as f32 * step - 1.5));
    field.set([0, 0, 0], f32::NAN);
    field
}

#[test]
fn labels_are_described_with_their_counts() {
    let place = Place::new();
    for name in ["a.npz", "a.vox", "a.raw"] {
        save(&place, name, labels(5));
        let info = place.run(&format!("info {name} --json")).expect(0).json();
        let legend = json!([
            {"value": 3, "name": "cortical bone", "colour": "#eee8d5", "cells": 15},
            {"value": 200, "name": "marrow", "colour": null, "cells": 5},
            {"value": 9, "name": "implant", "colour": null, "cells": 0},
        ]);
        assert_eq!(
            info["contents"],
            json!({"kind": "labels", "legend": legend}),
            "{name}"
        );
        assert_eq!(
            (&info["counts"]["occupied"], &info["volume"]),
            (&json!(20), &json!(20.0))
        );
        let text = place
            .run(&format!("info {name}"))
            .expect(0)
            .text()
            .to_string();
        assert!(
            text.contains("15 cortical bone\n") && text.contains("5 marrow\n"),
            "{text}"
        );
    }
}

#[test]
fn fields_are_described_by_range_and_background() {
    let place = Place::new();
    for name in ["a.npz", "a.raw"] {
        save(&place, name, field(0.25));
        let info = place.run(&format!("info {name} --json")).expect(0).json();
        let contents = json!({"kind": "field", "background": "inf", "range": [-1.5, 3.25], "valued": 20, "nan": 1, "negated": 0});
        assert_eq!(
            (&info["contents"], &info["dtype"]),
            (&contents, &json!("f32")),
            "{name}"
        );
        assert_eq!(
            (&info["counts"]["occupied"], &info["volume"]),
            (&json!(null), &json!(null))
        );
        let text = place
            .run(&format!("info {name}"))
            .expect(0)
            .text()
            .to_string();
        assert!(
            text.contains("-1.5 … 3.25") && text.contains("the background, inf, 1 NaN"),
            "{text}"
        );
    }
    let plain = place.run("cube.stl -r 8 -o cube.npy").expect(0).code;
    let info = place.run("info cube.npy --json").expect(0).json();
    assert_eq!(
        (plain, &info["contents"]),
        (Some(0), &json!({"kind": "bits"}))
    );
}

#[test]
fn labels_that_differ_are_counted() {
    let place = Place::new();
    save(&place, "old.npz", labels(5));
    save(&place, "new.vox", labels(9));
    let json = place.run("diff old.npz new.vox --json").expect(1).json();
    let counts = json!({"cells": 480, "common": 20, "added": 0, "removed": 0, "relabelled": 4, "differing": 4});
    assert_eq!((&json["counts"], &json["iou"]), (&counts, &json!(1.0)));
    assert_eq!(
        json["box"]["cells"],
        json!({"min": [5, 2, 1], "max": [8, 2, 1]})
    );
    place.run("diff old.npz new.vox --allow 4").expect(0);
    place.run("diff old.npz new.vox --allow 3").expect(1);
    place.run("diff old.npz old.npz").expect(0);
}

#[test]
fn fields_differ_by_more_than_a_tolerance() {
    let place = Place::new();
    save(&place, "old.npz", field(0.25));
    save(&place, "new.raw", field(0.5));
    let json = place
        .run("diff old.npz new.raw --json --tolerance 4")
        .expect(1)
        .json();
    assert_eq!(
        json["counts"],
        json!({"cells": 480, "differing": 19, "signs_of_zero": 0, "beyond": 3})
    );
    assert_eq!(
        json["largest"],
        json!({"cell": [19, 2, 1], "values": [3.25, 8.0], "difference": 4.75})
    );
    assert_eq!(
        json["box"]["cells"],
        json!({"min": [17, 2, 1], "max": [19, 2, 1]})
    );
    for (options, code) in [
        ("--tolerance 5", 0),
        ("--tolerance 4 --allow 3", 0),
        ("--allow 3", 1),
        ("", 1),
    ] {
        place
            .run(&format!("diff old.npz new.raw {options}"))
            .expect(code);
    }
    place.run("diff old.npz old.npz").expect(0);
}

#[test]
fn signs_of_zeros_make_fields_differ() {
    let place = Place::new();
    for (name, zero) in [("inside.npz", -0.0), ("outside.npz", 0.0)] {
        save(
            &place,
            name,
            Field::from_values(DIMS, f32::INFINITY, vec![zero; 480]).unwrap(),
        );
    }
    let digest =
        |name: &str| place.run(&format!("info {name} --json")).expect(0).json()["digest"].clone();
    assert_ne!(digest("inside.npz"), digest("outside.npz"));
    let counts = json!({"cells": 480, "differing": 480, "signs_of_zero": 480, "beyond": 480});
    let json = place
        .run("diff inside.npz outside.npz --json")
        .expect(1)
        .json();
    assert_eq!(json["counts"], counts);
    assert_eq!(
        json["largest"],
        json!({"cell": [0, 0, 0], "values": [-0.0, 0.0], "difference": 0.0})
    );
    let run = place.run("diff inside.npz outside.npz").expect(1);
    assert_eq!(run.label("cells"), "different: 480 cells");
    assert!(
        run.text()
            .contains("480 cells are -0 in one field and +0 in the other"),
        "{}",
        run.text()
    );
    let run = place
        .run("diff inside.npz outside.npz --tolerance 0")
        .expect(0);
    assert_eq!(run.label("cells"), "equal within 0; 480 cells differ");
    place.run("diff inside.npz inside.npz").expect(0);
    place
        .run("diff inside.npz outside.npz --allow 479")
        .expect(1);
    place
        .run("diff inside.npz outside.npz --allow 480")
        .expect(0);
}

#[test]
fn impossible_comparisons_and_pictures_are_usage_errors() {
    let place = Place::new();
    save(&place, "field.npz", field(0.25));
    save(&place, "labels.npz", labels(5));
    for line in [
        "diff field.npz labels.npz",
        "diff labels.npz field.npz --tolerance 1",
        "diff labels.npz labels.npz --tolerance 1",
        "diff field.npz field.npz --iou-min 0.5",
        "diff field.npz field.npz -o d.vox",
        "diff field.npz field.npz --tolerance -1",
        "view field.npz",
    ] {
        let json = place.run(&format!("{line} --json")).expect(2).json();
        assert_eq!(json["status"], "error", "{line}");
    }
    assert!(!place.path("d.vox").exists() && !place.path("field.png").exists());
}

#[test]
fn layers_of_labels_and_fields_are_shown() {
    let place = Place::new();
    save(&place, "field.npz", field(0.25));
    save(&place, "labels.npz", labels(5));
    let text = place
        .run("view field.npz --slice z=1")
        .expect(0)
        .text()
        .to_string();
    assert_eq!(text.lines().nth(3), Some("eddcba00123345667899"));
    assert_eq!(text.lines().nth(4), Some("...................."));
    let text = place
        .run("view labels.npz --slice z=1")
        .expect(0)
        .text()
        .to_string();
    assert_eq!(text.lines().nth(3), Some("#####333333333333333"));
    for (line, size) in [
        ("field.npz --slice z=1 --size 400x300", [400, 300]),
        ("field.npz --sheet z --size 500x300", [500, 300]),
        ("labels.npz --size 400x300", [400, 300]),
        ("labels.npz --slice y --size 400x300", [400, 300]),
    ] {
        let json = place
            .run(&format!("view {line} -o a.png --json"))
            .expect(0)
            .json();
        let found: Vec<u64> = json["picture"]["size"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|n| n.as_u64())
            .collect();
        assert!(
            found[0] <= size[0] && found[1] <= size[1] && found[0] > 200,
            "{line}: {found:?}"
        );
    }
}
