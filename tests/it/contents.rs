//! The command describes, compares and shows labels and fields that the library saved.

use voxelize::grid::{Field, Label, Labels, Legend};
use voxelize::{Lattice, Rational, Voxels};

use crate::support::place::Place;
use crate::support::rows;

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
        let table = format!(
            r##"0 info {name} --json
                /contents/kind "labels"
                /contents/legend/0 {{"value": 3, "name": "cortical bone", "colour": "#eee8d5", "cells": 15}}
                /contents/legend/1 {{"value": 200, "name": "marrow", "colour": null, "cells": 5}}
                /contents/legend/2 {{"value": 9, "name": "implant", "colour": null, "cells": 0}}
                no /contents/legend/3
                /counts/occupied 20
                /volume 20.0
               0 info {name}
                out 15 cortical bone
                out 5 marrow"##
        );
        rows::check(&place, &table);
    }
}

#[test]
fn fields_are_described_by_range_and_background() {
    let place = Place::new();
    for name in ["a.npz", "a.raw"] {
        save(&place, name, field(0.25));
        let table = format!(
            r#"0 info {name} --json
                /contents {{"kind": "field", "background": "inf", "range": [-1.5, 3.25], "valued": 20, "nan": 1, "negated": 0}}
                /dtype "f32"
                /counts/occupied null
                /volume null
               0 info {name}
                out -1.5 … 3.25
                out the background, inf, 1 NaN"#
        );
        rows::check(&place, &table);
    }
    rows::check(
        &place,
        r#"0 cube.stl -r 8 -o cube.npy
           0 info cube.npy --json
            /contents {"kind": "bits"}"#,
    );
}

#[test]
fn labels_that_differ_are_counted() {
    let place = Place::new();
    save(&place, "old.npz", labels(5));
    save(&place, "new.vox", labels(9));
    rows::check(
        &place,
        r#"1 diff old.npz new.vox --json
            /counts {"cells": 480, "common": 20, "added": 0, "removed": 0, "relabelled": 4, "differing": 4}
            /iou 1.0
            /box/cells {"min": [5, 2, 1], "max": [8, 2, 1]}
           0 diff old.npz new.vox --allow 4
           1 diff old.npz new.vox --allow 3
           0 diff old.npz old.npz"#,
    );
}

#[test]
fn fields_differ_by_more_than_a_tolerance() {
    let place = Place::new();
    save(&place, "old.npz", field(0.25));
    save(&place, "new.raw", field(0.5));
    rows::check(
        &place,
        r#"1 diff old.npz new.raw --json --tolerance 4
            /counts {"cells": 480, "differing": 19, "signs_of_zero": 0, "beyond": 3}
            /largest {"cell": [19, 2, 1], "values": [3.25, 8.0], "difference": 4.75}
            /box/cells {"min": [17, 2, 1], "max": [19, 2, 1]}
           0 diff old.npz new.raw --tolerance 5
           0 diff old.npz new.raw --tolerance 4 --allow 3
           1 diff old.npz new.raw --allow 3
           1 diff old.npz new.raw
           0 diff old.npz old.npz"#,
    );
}

#[test]
fn signs_of_zeros_make_fields_differ() {
    let place = Place::new();
    for (name, zero) in [("inside.npz", -0.0), ("outside.npz", 0.0)] {
        let field = Field::from_values(DIMS, f32::INFINITY, vec![zero; 480]);
        save(&place, name, field.unwrap());
    }
    let runs = rows::check(
        &place,
        r#"0 info inside.npz --json
           0 info outside.npz --json
           1 diff inside.npz outside.npz --json
            /counts {"cells": 480, "differing": 480, "signs_of_zero": 480, "beyond": 480}
            /largest {"cell": [0, 0, 0], "values": [-0.0, 0.0], "difference": 0.0}
           1 diff inside.npz outside.npz
            out cells   different: 480 cells
            out 480 cells are -0 in one field and +0 in the other
           0 diff inside.npz outside.npz --tolerance 0
            out cells   equal within 0; 480 cells differ
           0 diff inside.npz inside.npz
           1 diff inside.npz outside.npz --allow 479
           0 diff inside.npz outside.npz --allow 480"#,
    );
    assert_ne!(runs[0].json()["digest"], runs[1].json()["digest"]);
}

#[test]
fn impossible_comparisons_and_pictures_are_usage_errors() {
    let place = Place::new();
    save(&place, "field.npz", field(0.25));
    save(&place, "labels.npz", labels(5));
    rows::refused(
        &place,
        "2 diff field.npz labels.npz
         2 diff labels.npz field.npz --tolerance 1
         2 diff labels.npz labels.npz --tolerance 1
         2 diff field.npz field.npz --iou-min 0.5
         2 diff field.npz field.npz -o d.vox
         2 diff field.npz field.npz --tolerance -1
         2 view field.npz",
    );
}

#[test]
fn layers_of_labels_and_fields_are_shown() {
    let place = Place::new();
    save(&place, "field.npz", field(0.25));
    save(&place, "labels.npz", labels(5));
    // Three lines of description, and then the rows from the highest y.
    rows::check(
        &place,
        "0 view field.npz --slice z=1
            line 4 eddcba00123345667899
            line 5 ....................
         0 view labels.npz --slice z=1
            line 4 #####333333333333333",
    );
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
        let [width, height] = [0, 1].map(|n| json["picture"]["size"][n].as_u64().unwrap());
        assert!(
            width > 200 && width <= size[0] && height <= size[1],
            "{line}: {width} × {height}"
        );
    }
}
