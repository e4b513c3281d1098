//! A complete session: record, verify, break a mesh, view the difference, repair it.

use std::fs;

use serde_json::{Value, json};

use super::Place;

#[test]
fn a_moved_vertex_is_detected_and_located() {
    let place = Place::recorded();
    let run = place.run("goldens.toml").expect(0);
    assert!(
        run.row("meshes/cube.stl").contains(" --res 16 --pad 1 ") && run.err.is_empty(),
        "{}",
        run.out
    );
    assert_eq!(place.outcomes("goldens.toml", 0), ["same"; 3]);

    place.dent_knot();
    let run = place.run("goldens.toml").expect(1);
    let [cube, f, knot] = place
        .run("goldens.toml --json")
        .expect(1)
        .cases()
        .try_into()
        .unwrap();
    assert_eq!(
        [&cube["outcome"], &f["outcome"], &knot["outcome"]],
        ["same", "same", "cells"]
    );
    assert_eq!(
        (&knot["golden"]["cells"], &knot["result"]["cells"]),
        (&json!(5754), &json!(5754))
    );
    let difference = &knot["difference"];
    assert_eq!(
        (&difference["added"], &difference["removed"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(
        difference["box"]["cells"],
        json!({"min": [37, 18, 6], "max": [38, 21, 8]})
    );
    let [low, high] =
        ["min", "max"].map(|end| difference["box"]["world"][end][0].as_f64().unwrap());
    assert!(
        (low - 32.2193).abs() < 1e-3 && (high - 35.5028).abs() < 1e-3,
        "{low} {high}"
    );
    // The page shows exactly this difference.
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/how-to/ci.md")).unwrap();
    let details: Vec<_> = run
        .out
        .lines()
        .filter(|line| line.starts_with("       "))
        .collect();
    assert_eq!(details.len(), 2);
    for line in details {
        assert!(
            page.contains(&format!("\n{line}\n")),
            "not on the page:\n{line}"
        );
    }

    place.bring("knot.stl", "meshes/knot.stl");
    place.run("goldens.toml").expect(0);
}

#[test]
fn another_grid_is_distinguished_from_other_cells() {
    let place = Place::recorded();
    place.move_vertex("meshes/f.stl", [0.0; 3], [-1.0, 0.0, 0.0]);
    let f = &place.run("goldens.toml --json").expect(1).cases()[1];
    assert_eq!(f["outcome"], "grid");
    assert!(f["mismatch"].to_string().contains("origin"), "{f}");
    place.bring("f.stl", "meshes/f.stl");
    // The same cells with other ties have another record.
    let list = place
        .read("goldens.toml")
        .replace("res = 40", "res = 40\nties = \"both\"");
    place.write("goldens.toml", list);
    let knot = &place.run("goldens.toml --json").expect(1).cases()[2];
    assert!(
        knot["outcome"] == "grid" && knot["mismatch"].to_string().contains("ties"),
        "{knot}"
    );
}

#[test]
fn digests_detect_but_do_not_locate() {
    let place = Place::recorded();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run("goldens.toml").expect(1);
    assert!(
        run.out.contains("hint: ") && run.out.contains("--golden DIR"),
        "{}",
        run.out
    );
    let cube = &place.run("goldens.toml --json").expect(1).cases()[0];
    assert_eq!(
        (&cube["outcome"], &cube["golden"]["cells"]),
        (&json!("digest"), &json!(1538))
    );
    assert!(
        cube["golden"]["digest"] != cube["result"]["digest"] && cube["difference"].is_null(),
        "{cube}"
    );
}

#[test]
fn gates_let_small_differences_pass() {
    let place = Place::recorded();
    place.dent_knot();
    let list = place.read("goldens.toml");
    let gated = |gate: &str| {
        place.write(
            "goldens.toml",
            list.replace(
                "knot-res-40.npz\"\n",
                &format!("knot-res-40.npz\"\n{gate}\n"),
            ),
        );
        place.run("goldens.toml --json")
    };
    let iou = gated("").expect(1).cases()[2]["difference"]["iou"]
        .as_f64()
        .unwrap();
    assert!((iou - 0.998_958).abs() < 1e-6, "{iou}");
    for (gate, code) in [
        ("allow = 6", 0),
        ("allow = 5", 1),
        ("iou_min = 0.9989", 0),
        ("iou_min = 0.999", 1),
        ("allow = 6\niou_min = 0.9989", 0),
        ("allow = 6\niou_min = 1", 1),
        ("allow = 5\niou_min = 0.9989", 1),
    ] {
        let knot = &gated(gate).expect(code).cases()[2];
        assert_eq!(
            knot["outcome"],
            if code == 0 { "allowed" } else { "cells" },
            "{gate}"
        );
        assert_eq!(knot["difference"]["added"], 3, "{gate}");
    }
    let knot = &gated("allow = 5\niou_min = 0.9").expect(1).cases()[2];
    assert_eq!(knot["allowed"], json!({"cells": 5, "iou": 0.9}));
    // The option on the command line applies to cases with a file and without their own tolerance.
    place.write("goldens.toml", &list);
    for (option, code) in [
        ("--allow 6", 0),
        ("--allow 5", 1),
        ("--iou-min 0.9989", 0),
        ("--iou-min 0.999", 1),
    ] {
        place.run(&format!("goldens.toml {option}")).expect(code);
    }
    gated("allow = 5");
    place.run("goldens.toml --allow 6").expect(1);
    // A digest is compared exactly in addition.
    place.write(
        "goldens.toml",
        list.replacen("cells = 1538", "cells = 1537", 1),
    );
    let run = place.run("goldens.toml --allow 6 --json").expect(1);
    assert_eq!(run.outcomes(), ["digest", "same", "allowed"]);
    let cube = &run.cases()[0];
    assert_eq!(
        (&cube["golden"]["cells"], &cube["result"]["cells"]),
        (&json!(1537), &json!(1538))
    );
}

#[test]
fn threads_and_memory_change_no_answer() {
    let place = Place::recorded();
    let results = |how: &str| {
        let cases = place
            .run(&format!("goldens.toml --json {how}"))
            .expect(0)
            .cases();
        cases
            .iter()
            .map(|case| [&case["outcome"], &case["result"]].map(Value::clone))
            .collect::<Vec<_>>()
    };
    let base = results("");
    let digests = base.iter().filter(|[_, result]| {
        result["digest"]
            .as_str()
            .is_some_and(|d| d.starts_with("v1:"))
    });
    assert_eq!(digests.count(), 3, "{base:?}");
    for how in [
        "-j 1",
        "-j 7",
        "--simd scalar",
        "--max-memory 1G",
        "-j 3 --max-memory 40M",
    ] {
        assert_eq!(results(how), base, "{how}");
    }
}

#[test]
fn large_cases_take_their_turn_or_slabs() {
    let place = Place::new();
    place
        .run("--update goldens.toml meshes/cube.stl -r 512")
        .expect(0);
    place
        .run("--update goldens.toml meshes/f.stl -r 32")
        .expect(0);
    // The 16 MiB of the cube do not fit in half of the limit, or as a whole, but in slabs they fit.
    for how in [
        "-j 2 --max-memory 64M",
        "-j 2 --max-memory 28M",
        "-j 1 --max-memory 20M",
    ] {
        assert_eq!(
            place.outcomes(&format!("goldens.toml {how}"), 0),
            ["same", "same"],
            "{how}"
        );
    }
    // Kept cells are in memory as a whole, and twice.
    place
        .run("--update files.toml meshes/cube.stl -r 512 --golden cells")
        .expect(0);
    place.run("files.toml --max-memory 76M").expect(0);
    let case = &place
        .run("files.toml --max-memory 28M --json")
        .expect(5)
        .cases()[0];
    assert_eq!(
        (&case["outcome"], &case["error"]["code"]),
        (&json!("error"), &json!("too-large"))
    );
}
