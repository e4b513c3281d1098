//! The whole story: record, verify, break a mesh, see it, mend it.

use std::fs;

use super::Place;

#[test]
fn a_moved_vertex_is_seen_and_said_where() {
    let place = Place::recorded();
    let run = place.run("goldens.toml").expect(0);
    assert!(run.row("meshes/cube.stl").starts_with("pass meshes/cube.stl --res 16 --pad 1 "), "{}", run.out);
    assert!(run.out.ends_with("goldens.toml: 3 of 3 cases pass\n") && run.err.is_empty(), "{}", run.out);

    place.dent_knot();
    let run = place.run("goldens.toml").expect(1);
    assert!(
        run.row("meshes/knot.stl").starts_with("FAIL meshes/knot.stl --res 40 5,754 cells "),
        "{}",
        run.out
    );
    assert!(run.row("meshes/f.stl").starts_with("pass "), "{}", run.out);
    run.says(&["       6 cells differ: 3 added, 3 removed; golden has 5,754, now 5,754; intersection over union 0.99"]);
    run.says(&["       where: cells x 37 … 38, y 18 … 21, z 6 … 8; in space x 32.2193 … 35.5028, y "]);
    run.says(&["goldens.toml: 2 of 3 cases pass, 1 differs\n"]);
    // The README shows this very difference.
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let details: Vec<_> = run.out.lines().filter(|line| line.starts_with("       ")).collect();
    assert_eq!(details.len(), 2);
    for line in details {
        assert!(readme.contains(&format!("\n{line}\n")), "not in the README:\n{line}");
    }

    place.bring("knot.stl", "meshes/knot.stl");
    place.run("goldens.toml").expect(0);
}

#[test]
fn another_grid_is_told_from_other_cells() {
    let place = Place::recorded();
    place.move_vertex("meshes/f.stl", [0.0; 3], [-1.0, 0.0, 0.0]);
    let run = place.run("goldens.toml").expect(1);
    run.says(&["the grid is another; golden and now:", "origin along x: 0 and -1"]);
    place.bring("f.stl", "meshes/f.stl");
    // The same cells by other ties are another record.
    let list = place.read("goldens.toml").replace("\"--res 40\"", "\"--res 40 --ties both\"");
    place.write("goldens.toml", list);
    place.run("goldens.toml").expect(1).says(&["ties: up and both"]);
}

#[test]
fn digests_tell_that_but_not_where() {
    let place = Place::recorded();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run("goldens.toml").expect(1);
    run.says(&["the digest is another: golden has 1,538 cells, now ", "golden v1:", "now    v1:"]);
    run.says(&["hint: a digest cannot say where; --update LIST MESH OPTIONS --golden DIR keeps the cells"]);
}

#[test]
fn gates_let_small_differences_pass() {
    let place = Place::recorded();
    place.dent_knot();
    let list = place.read("goldens.toml");
    let gated = |gate: &str| {
        place.write(
            "goldens.toml",
            list.replace("knot-res-40.npz\"\n", &format!("knot-res-40.npz\"\n{gate}\n")),
        );
        place.run("goldens.toml")
    };
    gated("").expect(1).says(&["6 cells differ: ", "intersection over union 0.998958"]);
    for (gate, code) in [
        ("allow = 6", 0),
        ("allow = 5", 1),
        ("iou_min = 0.9989", 0),
        ("iou_min = 0.999", 1),
        ("allow = 6\niou_min = 0.9989", 0),
        ("allow = 6\niou_min = 1", 1),
        ("allow = 5\niou_min = 0.9989", 1),
    ] {
        let run = gated(gate).expect(code);
        run.says(&["allowed: ", "6 cells differ: "]);
        assert_eq!(run.row("meshes/knot.stl").starts_with("pass "), code == 0, "{gate}");
    }
    gated("allow = 5\niou_min = 0.9")
        .expect(1)
        .says(&["allowed: 5 cells and intersection over union at least 0.9\n"]);
    // On the command line for cases that have a file and say nothing themselves.
    place.write("goldens.toml", &list);
    for (option, code) in
        [("--allow 6", 0), ("--allow 5", 1), ("--iou-min 0.9989", 0), ("--iou-min 0.999", 1)]
    {
        place.run(&format!("goldens.toml {option}")).expect(code);
    }
    gated("allow = 5");
    place.run("goldens.toml --allow 6").expect(1);
    // A digest is compared exactly beside them.
    place.write("goldens.toml", list.replacen("cells = 1538", "cells = 1537", 1));
    let run = place.run("goldens.toml --allow 6").expect(1);
    run.says(&["the digest is another: golden has 1,537 cells, now 1,538\n", "2 of 3 cases pass, 1 differs"]);
}

#[test]
fn threads_and_memory_change_no_answer() {
    let place = Place::recorded();
    let rows = |how: &str| {
        let run = place.run(&format!("goldens.toml -v {how}")).expect(0);
        let steady = |line: &str| line.split(" cells ").next().unwrap().trim().to_string();
        run.out.lines().map(steady).collect::<Vec<_>>()
    };
    let base = rows("");
    assert!(base.iter().filter(|line| line.starts_with("digest: v1:")).count() == 3, "{base:?}");
    for how in ["-j 1", "-j 7", "--simd scalar", "--max-memory 1G", "-j 3 --max-memory 40M"] {
        assert_eq!(rows(how), base, "{how}");
    }
}

#[test]
fn large_cases_take_their_turn_or_slabs() {
    let place = Place::new();
    place.run("--update goldens.toml meshes/cube.stl -r 512").expect(0);
    place.run("--update goldens.toml meshes/f.stl -r 32").expect(0);
    // The cube's 16 MiB do not fit in half of it, nor whole: in slabs they do.
    for how in ["-j 2 --max-memory 64M", "-j 2 --max-memory 26M", "-j 1 --max-memory 16M"] {
        let run = place.run(&format!("goldens.toml {how}")).expect(0);
        assert!(run.row("meshes/cube.stl").starts_with("pass "), "{how}\n{}", run.out);
    }
    // Cells that are kept are whole, and twice.
    place.run("--update files.toml meshes/cube.stl -r 512 --golden cells").expect(0);
    place.run("files.toml --max-memory 72M").expect(0);
    let run = place.run("files.toml --max-memory 26M").expect(5);
    run.says(&["of which half is for the golden file", "0 of 1 cases pass, 1 error"]);
}
