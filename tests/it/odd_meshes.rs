//! The command reports oddities of a mesh, and --strict and --lenient follow their documentation.

use crate::support::place::{Place, cuboid, refused, stl};
use crate::support::solids::damaged;
use crate::support::wild::files::gzip;
use serde_json::json;

#[test]
fn damage_is_refused_unless_lenient() {
    let place = Place::new();
    place.write("bad.stl", damaged());
    let error = refused(&place, "bad.stl -r 8 -o a.npy", 3);
    assert!(
        error.contains("bad.stl") && error.contains("674"),
        "{error}"
    );
    assert!(
        place
            .run("bad.stl -r 8 -o a.npy")
            .line("hint:")
            .contains("--lenient")
    );
    let run = place.run("bad.stl -r 8 --lenient -o a.npy").expect(0);
    assert_eq!(run.err.matches("warning[").count(), 2, "{}", run.err);
    let found = place
        .run("bad.stl -r 8 --lenient --json -o a.npy")
        .expect(0)
        .json();
    assert_eq!(
        (&found["mesh"]["triangles"], &found["mesh"]["dropped"]),
        (&json!(10), &json!(2))
    );
    let cut = &found["warnings"][0];
    let nan = &found["warnings"][1];
    assert_eq!(
        (&cut["code"], &nan["code"], &nan["level"]),
        (&json!("S003"), &json!("S004"), &json!("warning"))
    );
    let place_of_it = [&nan["count"], &nan["triangle"], &nan["byte"], &nan["line"]];
    assert_eq!(
        place_of_it,
        [&json!(1), &json!(3), &json!(246), &json!(null)]
    );
    let error = place.run("bad.stl --json -o a.npy").expect(3).json();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["byte"]),
        (&json!("S003"), &json!(674))
    );
}

#[test]
fn harmless_oddities_are_notes_and_errors_in_strict_mode() {
    let place = Place::new();
    let mut bytes = stl(&cuboid([20.0; 3]));
    bytes[..5].copy_from_slice(b"solid");
    place.write("odd.stl", bytes);
    let run = place.run("odd.stl -r 8 -o a.npy").expect(0);
    assert!(
        !run.err.contains("note[") && !run.err.contains("warning["),
        "{}",
        run.err
    );
    let run = place.run("odd.stl -r 8 -v -o a.npy").expect(0);
    assert_eq!(run.err.matches("note[").count(), 1, "{}", run.err);
    let found = place.run("odd.stl -r 8 --json -o a.npy").expect(0).json();
    assert_eq!(found["warnings"][0]["level"], "note");
    refused(&place, "odd.stl -r 8 --strict -o a.npy", 3);
    place.run("cube.stl -r 8 --strict -o a.npy").expect(0);
    refused(&place, "cube.stl --strict --lenient", 2);
}

#[test]
fn far_from_the_origin_is_warned_of() {
    let place = Place::new();
    let far: Vec<_> = cuboid([20.0; 3])
        .iter()
        .map(|t| t.map(|[x, y, z]| [x + 500_000.0, y, z]))
        .collect();
    place.write("far.stl", stl(&far));
    let run = place.run("far.stl -r 8 -o a.npy").expect(0);
    assert!(
        run.err.contains("warning[L001]") && run.err.contains("0.03125"),
        "{}",
        run.err
    );
    assert!(
        !place
            .run("far.stl -r 4 -o a.npy")
            .expect(0)
            .err
            .contains("warning[")
    );
    refused(&place, "far.stl -r 8 --strict -o a.npy", 3);
    let found = place.run("far.stl -r 8 --json -o a.npy").expect(0).json();
    assert_eq!(found["warnings"][0]["code"], "L001");
}

#[test]
fn a_gzip_file_is_read_as_its_content() {
    let place = Place::new();
    place.write("part.stl.gz", gzip(&stl(&cuboid([20.0; 3]))));
    place.run("part.stl.gz -r 8").expect(0);
    assert!(
        place.files().contains(&"part.vox".to_string()),
        "{:?}",
        place.files()
    );
    let found = place
        .run("part.stl.gz -r 8 --json -o a.npy")
        .expect(0)
        .json();
    let plain = place.run("cube.stl -r 8 --json -o b.npy").expect(0).json();
    assert_eq!(
        (&found["digest"], &found["input"]["packing"]),
        (&plain["digest"], &json!("gzip"))
    );
    let piped = gzip(&stl(&cuboid([20.0; 3])));
    let found = place
        .run_with("- -r 8 --json -o c.npy", &piped)
        .expect(0)
        .json();
    assert_eq!(found["digest"], plain["digest"]);
}

#[test]
fn info_and_view_take_the_same_options() {
    let place = Place::new();
    place.write("bad.stl", damaged());
    refused(&place, "info bad.stl", 3);
    let run = place.run("info --lenient bad.stl").expect(0);
    assert_eq!(run.text().matches("warning[").count(), 2, "{}", run.text());
    let found = place.run("info --lenient --json bad.stl").expect(0).json();
    assert_eq!(
        (&found["mesh"]["dropped"], &found["warnings"][0]["code"]),
        (&json!(2), &json!("S003"))
    );
    place.run("view --lenient -r 8 bad.stl -o a.png").expect(0);
    place.run("cube.stl -r 4 -o cube.npz").expect(0);
    let error = refused(&place, "view --lenient cube.npz -o a.png", 2);
    assert!(
        error.contains("--lenient") && error.contains("cube.npz"),
        "{error}"
    );
}
