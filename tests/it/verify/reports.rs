//! JSON and JUnit XML agree with the table.

use roxmltree::Document;
use serde_json::{Value, json};

use super::{Place, Run};

/// Creates one case that passes, one whose cells differ, and one whose mesh is missing.
fn mixed() -> Place {
    let place = Place::recorded();
    place.dent_knot();
    std::fs::remove_file(place.path("meshes/f.stl")).unwrap();
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn json_has_an_object_for_every_case() {
    let place = mixed();
    let run: Run = place.run("goldens.toml --json").expect(7);
    let [cube, f, knot] = lines(&run.out).try_into().unwrap();
    const KEYS: &str = "schema tool command status exit_code name mesh options outcome result golden difference \
                        mismatch allowed pictures warnings time_ms";
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        (keys(&cube), keys(&knot)),
        (KEYS.to_string(), KEYS.to_string())
    );
    assert_eq!(keys(&f), KEYS.replace("exit_code", "exit_code error"));
    for (value, status, code, outcome) in [
        (&cube, "ok", 0, "same"),
        (&knot, "failed", 1, "cells"),
        (&f, "error", 3, "error"),
    ] {
        assert_eq!(
            (&value["status"], &value["exit_code"]),
            (&json!(status), &json!(code))
        );
        assert_eq!(
            (&value["command"], &value["outcome"]),
            (&json!("verify"), &json!(outcome))
        );
    }
    assert_eq!(
        (&cube["mesh"], &cube["options"]),
        (&json!("meshes/cube.stl"), &json!("--res 16 --pad 1"))
    );
    assert_eq!(
        (&cube["result"], &cube["result"]["cells"]),
        (&cube["golden"], &json!(1538))
    );
    let difference = &knot["difference"];
    let count = |key: &str| difference[key].as_u64().unwrap();
    assert_eq!(
        count("common") + count("removed"),
        knot["golden"]["cells"].as_u64().unwrap()
    );
    assert_eq!(
        count("common") + count("added"),
        knot["result"]["cells"].as_u64().unwrap()
    );
    assert!(
        difference["box"]["cells"]["min"].is_array()
            && difference["box"]["world"]["max"].is_array()
    );
    assert!(difference["iou"].as_f64().unwrap() < 1.0);
    assert_eq!(f["error"]["code"], "not-found");
    // If no table is printed, errors are.
    assert!(run.err.contains("error: meshes/f.stl: "), "{}", run.err);

    let run = place.run("goldens.toml --json=report.json").expect(7);
    assert!(run.out.contains("1 of 3"), "{}", run.out);
    let statuses: Vec<_> = lines(&place.read("report.json"))
        .iter()
        .map(|line| line["status"].clone())
        .collect();
    assert_eq!(statuses, ["ok", "error", "failed"]);

    let update = place.run("--update goldens.toml --json").expect(3);
    let outcomes: Vec<_> = lines(&update.out)
        .iter()
        .map(|line| line["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["same", "error", "changed"]);
    place.write("broken.toml", "[[case]");
    assert_eq!(
        lines(&place.run("broken.toml --json").expect(3).out)[0]["error"]["line"],
        1
    );
}

#[test]
fn quiet_prints_only_errors() {
    let place = mixed();
    let run = place.run("goldens.toml -q").expect(7);
    assert!(
        run.out.is_empty() && run.err.starts_with("error: meshes/f.stl"),
        "{}{}",
        run.out,
        run.err
    );
}

#[test]
fn junit_has_a_test_for_every_case() {
    let place = mixed();
    let list = place.read("goldens.toml");
    place.write(
        "goldens.toml",
        list.replacen("[[case]]", "[[case]]\nname = \"<cube> & \\\"co\\\"\"", 1),
    );
    place.run("goldens.toml --junit report.xml").expect(7);
    let xml = place.read("report.xml");
    let document = Document::parse(&xml).unwrap();
    let suite = document
        .descendants()
        .find(|node| node.has_tag_name("testsuite"))
        .unwrap();
    for (key, value) in [
        ("name", "goldens.toml"),
        ("tests", "3"),
        ("failures", "1"),
        ("errors", "1"),
    ] {
        assert_eq!(suite.attribute(key), Some(value), "{xml}");
    }
    let tests: Vec<_> = suite
        .children()
        .filter(|node| node.has_tag_name("testcase"))
        .collect();
    let names: Vec<_> = tests
        .iter()
        .map(|test| test.attribute("name").unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "<cube> & \"co\"",
            "meshes/f.stl --res 20",
            "meshes/knot.stl --res 40"
        ]
    );
    let inside = |n: usize| tests[n].children().find(|node| node.is_element());
    assert!(inside(0).is_none());
    let failure = inside(2).unwrap();
    assert!(
        failure.has_tag_name("failure") && failure.attribute("type") == Some("cells"),
        "{xml}"
    );
    assert!(
        !failure.attribute("message").unwrap().is_empty()
            && failure.text().unwrap().lines().count() > 1
    );
    let error = inside(1).unwrap();
    assert!(
        error.has_tag_name("error") && error.attribute("type") == Some("error"),
        "{xml}"
    );
    let line = |n: usize| {
        tests[n]
            .attribute("line")
            .unwrap()
            .parse::<usize>()
            .unwrap()
    };
    let list = place.read("goldens.toml");
    for n in 0..3 {
        assert_eq!(list.lines().nth(line(n) - 1), Some("[[case]]"));
    }
}

/// Characters with a meaning in XML, characters that control terminals, and characters that XML cannot
/// contain.
#[test]
fn junit_holds_every_name() {
    let place = Place::recorded();
    let name = "a<b> & \\\"c\\\" 'd' ]]> tab\\tline\\nend\\r\\u00e9\\U0001f600 \\u009b\\u202e\\u200b\\u007f";
    let held = "a<b> & \"c\" 'd' ]]> tab\tline\nend\r\u{e9}\u{1f600} \u{9b}\u{202e}\u{200b}\u{7f}";
    for (end, held_end) in [
        ("", ""),
        ("\\u0001", "\u{fffd}"),
        ("\\u001b", "\u{fffd}"),
        ("\\uffff", "\u{fffd}"),
    ] {
        let case = format!(
            "[[case]]\nname = \"{name}{end}\"\nmesh = \"x<&>.stl\"\nres = 4\ngolden = \"cells/f-res-20.npz\"\n"
        );
        place.write("hard.toml", case);
        place.run("hard.toml --junit report.xml").expect(3);
        let xml = place.read("report.xml");
        assert!(
            !xml.chars()
                .any(|c| voxelize::tool::text::is_obeyed(c) && c != '\n'),
            "{xml}"
        );
        let document = Document::parse(&xml).unwrap();
        let test = document
            .descendants()
            .find(|node| node.has_tag_name("testcase"))
            .unwrap();
        assert_eq!(
            test.attribute("name"),
            Some(format!("{held}{held_end}").as_str())
        );
        let error = test
            .children()
            .find(|node| node.has_tag_name("error"))
            .unwrap();
        assert_eq!(error.attribute("message"), Some("x<&>.stl: no such file"));
        assert!(
            error
                .text()
                .unwrap()
                .starts_with("x<&>.stl: no such file\nhint: "),
            "{xml}"
        );
    }
}

#[test]
fn junit_has_the_first_change_of_a_grid_in_its_message() {
    let place = Place::new();
    place
        .run("--update g.toml meshes/cube.stl --voxel-size 1 --golden cells")
        .expect(0);
    place.bring("knot.stl", "meshes/cube.stl");
    let run = place
        .run("g.toml --junit report.xml --pictures shown")
        .expect(1);
    assert!(
        run.out.contains("--like, or --bounds of a larger box"),
        "{}",
        run.out
    );
    let changed = "the grid changed: dims: 64 × 64 × 64 → 64 × 66 × 29; 3 more changes below";
    assert!(run.out.contains(changed), "{}", run.out);
    let xml = place.read("report.xml");
    let document = Document::parse(&xml).unwrap();
    let failure = document
        .descendants()
        .find(|node| node.has_tag_name("failure"))
        .unwrap();
    assert_eq!(
        (failure.attribute("type"), failure.attribute("message")),
        (Some("grid"), Some(changed))
    );
    assert!(
        failure.text().unwrap().contains("origin along x: 0 → "),
        "{xml}"
    );
}

#[test]
fn warnings_about_a_mesh_are_in_the_answer() {
    let place = Place::new();
    place.bring("open.stl", "meshes/open.stl");
    place
        .run("--update open.toml meshes/open.stl -r 8 --filled")
        .expect(0);
    let run = place.run("open.toml").expect(0);
    assert!(
        run.out.contains("warning[W006]: the mesh is not closed"),
        "{}",
        run.out
    );
    let json = place.run("open.toml --json").expect(0);
    assert_eq!(lines(&json.out)[0]["warnings"][0]["code"], "W006");
    assert!(!place.run("open.toml -q").expect(0).out.contains("W006"));
}
