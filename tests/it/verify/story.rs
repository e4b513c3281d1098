//! A complete session: record, verify, break a mesh, view the difference, repair it.

use serde_json::Value;

use super::{bring, cases, dent_knot, meshes, outcomes, read, recorded};
use crate::support::{bless, rows};

#[test]
fn a_moved_vertex_is_detected_and_located() {
    let place = recorded();
    assert_eq!(outcomes(&place, "goldens.toml", 0), ["same"; 3]);

    dent_knot(&place);
    let run = place.run("verify goldens.toml").expect(1);
    let json = rows::check(
        &place,
        r#"1 verify goldens.toml --json
             /0/outcome "same"
             /1/outcome "same"
             /2/outcome "cells"
             /2/golden/cells 5754
             /2/result/cells 5754
             /2/difference/added 3
             /2/difference/removed 3
             /2/difference/box/cells {"min": [37, 18, 6], "max": [38, 21, 8]}"#,
    );
    let world = cases(&json[0])[2]["difference"]["box"]["world"].clone();
    let [low, high] = ["min", "max"].map(|end| world[end][0].as_f64().unwrap());
    assert!(
        (low - 32.2193).abs() < 1e-3 && (high - 35.5028).abs() < 1e-3,
        "{low} {high}"
    );
    // The page shows exactly this difference.
    let page = std::fs::read_to_string(bless::root("docs/how-to/ci.md")).unwrap();
    let mut shown = 0;
    for line in run
        .text()
        .lines()
        .filter(|line| line.starts_with("       "))
    {
        let is_on_page = page.contains(&format!("\n{line}\n"));
        assert!(is_on_page, "not on the page:\n{line}");
        shown += 1;
    }
    assert_eq!(shown, 2);

    bring(&place, "knot.stl", "meshes/knot.stl");
    assert_eq!(outcomes(&place, "goldens.toml", 0), ["same"; 3]);
}

#[test]
fn gates_let_small_differences_pass() {
    let place = recorded();
    dent_knot(&place);
    let list = read(&place, "goldens.toml");
    let write_gate = |gate: &str| {
        let file = "knot-res-40.npz\"\n";
        place.write(
            "goldens.toml",
            list.replace(file, &format!("{file}{gate}\n")),
        );
    };
    for (gate, code, outcome) in [
        ("allow = 6", 0, "allowed"),
        ("allow = 5", 1, "cells"),
        ("iou_min = 0.9989", 0, "allowed"),
        ("iou_min = 0.999", 1, "cells"),
        ("allow = 6\niou_min = 0.9989", 0, "allowed"),
        ("allow = 6\niou_min = 1", 1, "cells"),
        ("allow = 5\niou_min = 0.9989", 1, "cells"),
    ] {
        write_gate(gate);
        rows::check(
            &place,
            &format!(
                "{code} verify goldens.toml --json
                     /2/outcome \"{outcome}\"
                     /2/difference/added 3"
            ),
        );
    }
    write_gate("allow = 5\niou_min = 0.9");
    let run = &rows::check(
        &place,
        r#"1 verify goldens.toml --json
             /2/allowed {"cells": 5, "iou": 0.9}"#,
    )[0];
    let iou = cases(run)[2]["difference"]["iou"].as_f64().unwrap();
    assert!((iou - 0.998_958).abs() < 1e-6, "{iou}");
    write_gate("allow = 5");
    rows::check(&place, "1 verify goldens.toml --allow 6");
    // The option on the command line applies to cases with a file and without their own tolerance.
    place.write("goldens.toml", &list);
    rows::check(
        &place,
        "0 verify goldens.toml --allow 6
         1 verify goldens.toml --allow 5
         0 verify goldens.toml --iou-min 0.9989
         1 verify goldens.toml --iou-min 0.999",
    );
    // A digest is compared exactly in addition.
    let other_count = list.replacen("cells = 1538", "cells = 1537", 1);
    place.write("goldens.toml", other_count);
    rows::check(
        &place,
        r#"1 verify goldens.toml --allow 6 --json
             /0/outcome "digest"
             /0/golden/cells 1537
             /0/result/cells 1538
             /0/difference null
             /1/outcome "same"
             /2/outcome "allowed""#,
    );
}

#[test]
fn threads_and_memory_change_no_answer() {
    let place = recorded();
    let results = |how: &str| -> Vec<[Value; 2]> {
        let run = place.run(&format!("verify goldens.toml --json {how}"));
        cases(&run.expect(0))
            .iter()
            .map(|case| [case["outcome"].clone(), case["result"].clone()])
            .collect()
    };
    let base = results("");
    assert_eq!(base.len(), 3);
    for [outcome, result] in &base {
        let digest = result["digest"].as_str().unwrap();
        assert!(outcome == "same" && digest.starts_with("v1:"), "{base:?}");
    }
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

/// The 16 MiB of the cube do not fit in half of the limit, or as a whole, but in slabs they fit. Kept cells
/// are in memory as a whole, and twice.
#[test]
fn large_cases_take_their_turn_or_slabs() {
    rows::check(
        &meshes(),
        r#"0 verify --update goldens.toml meshes/cube.stl -r 512
           0 verify --update goldens.toml meshes/f.stl -r 32
           0 verify goldens.toml -j 2 --max-memory 64M
               out 2 of 2 cases pass
           0 verify goldens.toml -j 2 --max-memory 28M
               out 2 of 2 cases pass
           0 verify goldens.toml -j 1 --max-memory 20M
               out 2 of 2 cases pass
           0 verify --update files.toml meshes/cube.stl -r 512 --golden cells
           0 verify files.toml --max-memory 76M
           5 verify files.toml --max-memory 28M --json
               /outcome "error"
               /error/code "too-large""#,
    );
}
