//! Every misuse with its exit code and message. No file is written.

use serde_json::json;

use super::Place;

const DIGEST: &str = "grid = \"v1:00000000000000000000000000000001\"\ncells = 1\n";

#[test]
fn wrong_questions_are_refused() {
    let place = Place::recorded();
    place
        .run("--update cube.toml meshes/cube.stl -r 8")
        .expect(0);
    place.write(
        "gated.toml",
        "[[case]]\nmesh = \"meshes/f.stl\"\ngolden = \"a.npz\"\nallow = 1\n",
    );
    let files = |place: &Place| -> Vec<_> {
        place
            .files()
            .into_iter()
            .map(|f| (place.read_bytes(&f), f))
            .collect()
    };
    let before = files(&place);
    let mut seen = 0;
    for (line, code) in [
        ("", 2),
        ("missing.toml", 3),
        ("meshes", 3),
        ("meshes/cube.stl", 3),
        ("cells/f-res-20.npz", 2),
        ("goldens.toml -r 8", 2),
        ("goldens.toml --ties both", 2),
        ("cube.toml --allow 3", 2),
        ("cube.toml --iou-min 0.5", 2),
        ("gated.toml --allow 3", 2),
        ("goldens.toml --allow -1", 2),
        ("goldens.toml --iou-min 2", 2),
        ("goldens.toml --golden cells", 2),
        ("goldens.toml --update --allow 1", 2),
        ("goldens.toml --update --junit a.xml", 2),
        ("goldens.toml --junit goldens.toml", 2),
        ("goldens.toml --junit meshes/f.stl", 2),
        ("goldens.toml --junit no/such.xml", 6),
        ("goldens.toml --junit cells", 6),
        ("goldens.toml --json=no/such.json", 6),
        ("goldens.toml --pictures goldens.toml/a", 6),
        ("goldens.toml --json=goldens.toml", 2),
        ("--update goldens.toml -r 8", 2),
        ("--update goldens.toml --golden new", 2),
        ("--update missing.toml", 3),
        ("--update new.toml meshes/f.stl meshes/f.stl", 2),
        ("--update meshes/f.stl meshes/cube.stl", 3),
        ("--update no/new.toml meshes/f.stl", 6),
        ("--update new.toml meshes/f.stl -o a.npz", 2),
        ("--update new.toml meshes/f.stl --origin 0,0,0", 2),
        ("--update new.toml - -r 5", 2),
        ("--update new.toml meshes/f.stl --golden goldens.toml/a", 6),
        ("--update new.npz meshes/f.stl", 2),
        ("--update cells/f-res-20.npz meshes/f.stl", 2),
    ] {
        let run = place.run(line).expect(code);
        assert!(
            run.err.starts_with("error") && run.err.contains("\nhint: "),
            "{line}\n{}",
            run.err
        );
        assert!(run.out.is_empty(), "{line}\n{}", run.out);
        assert!(
            files(&place) == before && !place.path("new").exists(),
            "{line} left something"
        );
        assert!(!run.err.contains("(line 0)"), "{}", run.err);
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn broken_lists_are_refused_with_their_line() {
    let place = Place::recorded();
    let mut seen = 0;
    for (list, line, code) in [
        (String::new(), None, "G008"),
        ("# later\n".into(), None, "G008"),
        ("[[case]]\nmesh = \n".into(), Some(2), "G002"),
        (format!("\n[[case]]\n{DIGEST}"), Some(2), "G004"),
        (
            format!("[[case]]\nmesh = \"a\"\n{DIGEST}toleranz = 1\n"),
            Some(5),
            "G003",
        ),
        (
            format!("[[case]]\nmesh = \"a\"\n{DIGEST}allow = 1\n"),
            Some(5),
            "G006",
        ),
        (format!("[[case]]\nmesh = \"-\"\n{DIGEST}"), Some(1), "G005"),
        (
            format!("[[case]]\nmesh = \"a\"\n{DIGEST}[[case]]\nmesh = \"a\"\n{DIGEST}"),
            Some(5),
            "G007",
        ),
    ] {
        place.write("list.toml", &list);
        for verb in ["", "--update "] {
            // A list without a case can be extended, but not recorded again.
            let run = place.run(&format!("{verb}list.toml --json")).expect(3);
            assert!(
                run.err.starts_with("error[") && run.err.contains("]: list.toml: "),
                "{list}\n{}",
                run.err
            );
            let error = &run.cases()[0]["error"];
            assert_eq!(
                (&error["code"], &error["line"]),
                (&json!(code), &json!(line)),
                "{list}"
            );
            assert!(run.err.contains("\nhint: "), "{list}\n{}", run.err);
            assert_eq!(place.read("list.toml"), list);
        }
        seen += 1;
    }
    assert!(seen > 5);
}

#[test]
fn options_of_a_case_are_those_that_decide_its_cells() {
    let place = Place::recorded();
    for options in [
        "-o a.npz",
        "--json",
        "-q",
        "-j 4",
        "--dry-run",
        "--rez 8",
        "--res eight",
        "--res 8 --dims 1,1,1",
        "--stretch",
        "meshes/f.stl",
        "--res '8",
    ] {
        place.write(
            "list.toml",
            format!(
                "\n[[case]]\nmesh = \"meshes/f.stl\"\n# These:\noptions = \"{options}\"\n{DIGEST}"
            ),
        );
        let run = place.run("list.toml --json").expect(3);
        let error = &run.cases()[0]["error"];
        assert_eq!(
            (&error["code"], &error["line"]),
            (&json!("G009"), &json!(5)),
            "{options}"
        );
        assert!(
            run.err.contains("list.toml") && run.err.contains("\nhint: "),
            "{}",
            run.err
        );
    }
    // The same for keys: the reported line is the line of the key.
    for (keys, line, code) in [
        ("output = \"a.npz\"", 4, "G003"),
        ("json = true", 4, "G003"),
        ("threads = 4", 4, "G003"),
        ("pad = 1\nrez = 8", 5, "G003"),
        ("r = 8", 4, "G003"),
        ("pad = 1\nres = \"eight\"", 5, "G009"),
        ("res = true", 4, "G009"),
        ("solid = 1", 4, "G009"),
        ("solid = false", 4, "G005"),
        ("res = [8, 8]", 4, "G009"),
        ("dims = [[1, 1, 1]]", 4, "G005"),
        ("pad = 1\nstretch = true", 5, "G009"),
        ("res = 8\ndims = [1, 1, 1]", 4, "G009"),
        ("res = 8\noptions = \"--res 8\"", 4, "G009"),
    ] {
        place.write(
            "list.toml",
            format!("\n[[case]]\nmesh = \"meshes/f.stl\"\n{keys}\n{DIGEST}"),
        );
        let run = place.run("list.toml --json").expect(3);
        let error = &run.cases()[0]["error"];
        assert_eq!(
            (&error["code"], &error["line"]),
            (&json!(code), &json!(line)),
            "{keys}\n{}",
            run.err
        );
        assert!(
            run.err.contains("list.toml") && run.err.contains("\nhint: "),
            "{}",
            run.err
        );
    }
}

#[test]
fn cases_that_cannot_be_compared_fail() {
    let place = Place::recorded();
    place.write("cut.npz", &place.read_bytes("cells/f-res-20.npz")[..200]);
    place.write("empty.stl", "solid\nendsolid\n");
    place.write("nowhere.npy", npy(&place));
    for (mesh, golden, code) in [
        ("missing.stl", "cells/f-res-20.npz", 3),
        ("meshes/f.stl", "missing.npz", 3),
        ("meshes/f.stl", "cut.npz", 3),
        ("meshes/f.stl", "goldens.toml", 3),
        ("meshes", "cells/f-res-20.npz", 2),
        ("cells/f-res-20.npz", "cells/f-res-20.npz", 3),
        ("empty.stl", "cells/f-res-20.npz", 4),
        ("meshes/f.stl", "nowhere.npy", 2),
    ] {
        let list =
            format!("[[case]]\nmesh = \"{mesh}\"\noptions = \"-r 20\"\ngolden = \"{golden}\"\n");
        place.write("list.toml", list);
        let run = place.run("list.toml").expect(code);
        assert!(run.row(mesh).starts_with("ERROR "), "{}", run.out);
        // If a file must be created, the hint explains how.
        let advised = run.out.contains("voxelize verify --update list.toml");
        assert_eq!(advised, golden == "missing.npz", "{}", run.out);
        assert!(
            run.err.is_empty() && run.out.contains("hint: "),
            "{}",
            run.out
        );
        let case = &place.run("list.toml --json").expect(code).cases()[0];
        assert_eq!(
            (&case["outcome"], &case["exit_code"]),
            (&json!("error"), &json!(code)),
            "{mesh} {golden}"
        );
    }
}

/// Returns a .npy without a sidecar.
fn npy(place: &Place) -> Vec<u8> {
    let mut voxels = voxelize::format::open(&place.path("cells/f-res-20.npz")).unwrap();
    voxels.lattice = None;
    let mut bytes = vec![];
    let npy = voxelize::format::by_name("npy").unwrap();
    voxelize::format::write_to(
        &voxels,
        &mut bytes,
        npy,
        &voxelize::format::SaveOptions::default(),
    )
    .unwrap();
    bytes
}

#[test]
fn nothing_is_recorded_in_ci() {
    let place = Place::recorded();
    let list = place.read("goldens.toml");
    let files = place.files();
    for line in ["--update goldens.toml", "--update new.toml meshes/f.stl"] {
        let run = place.run_as(line, Some("true")).expect(2);
        assert!(
            run.err.starts_with("error: ") && run.err.contains("CI"),
            "{}",
            run.err
        );
        assert_eq!(
            (place.read("goldens.toml"), place.files()),
            (list.clone(), files.clone())
        );
    }
    place.run_as("goldens.toml", Some("true")).expect(0);
    place.run_as("--update goldens.toml", Some("")).expect(0);
}

#[test]
fn shared_golden_files_are_verified_but_not_recorded() {
    let place = Place::recorded();
    place.bring("f.stl", "meshes/copy.stl");
    let case = "\n[[case]]\nmesh = \"meshes/copy.stl\"\noptions = \"--res 20\"\ngolden = \"cells/f-res-20.npz\"\n";
    place.write("goldens.toml", place.read("goldens.toml") + case);
    assert_eq!(place.outcomes("goldens.toml", 0), ["same"; 4]);
    let run = place.run("--update goldens.toml").expect(2);
    assert!(run.err.contains("cells/f-res-20.npz"), "{}", run.err);
}
