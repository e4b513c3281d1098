//! JSON and JUnit XML agree with the table.

use std::fs;

use roxmltree::{Document, Node};
use serde_json::{Value, json};

use super::{bring, cases, dent_knot, meshes, outcomes, read, recorded};
use crate::support::bless;
use crate::support::place::{Place, stl};
use crate::support::rows;
use crate::support::solids::between;

/// Creates one case that passes, one whose cells differ, and one whose mesh is missing.
fn mixed() -> Place {
    let place = recorded();
    dent_knot(&place);
    std::fs::remove_file(place.path("meshes/f.stl")).unwrap();
    place
}

#[test]
fn json_has_an_object_for_every_case() {
    let place = mixed();
    let runs = rows::check(
        &place,
        r#"7 verify goldens.toml --json
             /0/command "verify"
             /0/status "ok"
             /0/exit_code 0
             /0/outcome "same"
             /0/mesh "meshes/cube.stl"
             /0/options "--res 16 --pad 1"
             /0/result/cells 1538
             /1/status "error"
             /1/exit_code 3
             /1/outcome "error"
             /1/error/code "not-found"
             /2/status "failed"
             /2/exit_code 1
             /2/outcome "cells"
             /2/difference/common 5751
             err error: meshes/f.stl:
           7 verify goldens.toml --json=report.json
             out 1 of 3
           3 verify --update goldens.toml --json
             /0/outcome "same"
             /1/outcome "error"
             /2/outcome "changed""#,
    );
    let all = cases(&runs[0]);
    assert_eq!(all[0]["result"], all[0]["golden"]);
    let statuses: Vec<_> = read(&place, "report.json")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone())
        .collect();
    assert_eq!(statuses, ["ok", "error", "failed"]);
}

/// A broken list is refused with the line of its error, and is not recorded again.
#[test]
fn errors_of_lists_have_their_line_in_json() {
    const DIGEST: &str = "grid = \"v1:00000000000000000000000000000001\"\ncells = 1\n";
    let place = recorded();
    for (case, line, code) in [
        ("", "null", "G008"),
        ("mesh = \n", "2", "G002"),
        ("mesh = \"meshes/f.stl\"\njson = true", "3", "G003"),
        ("mesh = \"meshes/f.stl\"\nr = 8", "3", "G003"),
        ("mesh = \"meshes/f.stl\"\nres = [8, 8]", "3", "G009"),
        ("mesh = \"meshes/f.stl\"\ndims = [[1, 1, 1]]", "3", "G005"),
        (
            "mesh = \"meshes/f.stl\"\nres = 8\noptions = \"--res 8\"",
            "3",
            "G009",
        ),
    ] {
        let list = match case {
            "" => String::new(),
            case => format!("[[case]]\n{case}\n{DIGEST}"),
        };
        place.write("list.toml", &list);
        for update in ["", "--update"] {
            rows::refused(
                &place,
                &format!(
                    "3 verify {update} list.toml --json
                         err ]: list.toml:
                         /error/code \"{code}\"
                         /error/line {line}"
                ),
            );
        }
    }
}

fn first<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Node<'a, 'i> {
    let found = node.descendants().find(|node| node.has_tag_name(name));
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn junit_has_a_test_for_every_case() {
    let place = mixed();
    let named = "[[case]]\nname = \"<cube> & \\\"co\\\"\"";
    let list = read(&place, "goldens.toml").replacen("[[case]]", named, 1);
    place.write("goldens.toml", &list);
    rows::check(&place, "7 verify goldens.toml --junit report.xml");
    let xml = read(&place, "report.xml");
    let document = Document::parse(&xml).unwrap();
    let suite = first(document.root(), "testsuite");
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
    let expected = [
        ("<cube> & \"co\"", None),
        ("meshes/f.stl --res 20", Some(("error", "error"))),
        ("meshes/knot.stl --res 40", Some(("failure", "cells"))),
    ];
    assert_eq!(tests.len(), expected.len());
    for (test, (name, result)) in tests.iter().zip(expected) {
        assert_eq!(test.attribute("name"), Some(name));
        let found = test.children().find(|node| node.is_element());
        let kinds = found.map(|node| (node.tag_name().name(), node.attribute("type").unwrap()));
        assert_eq!(kinds, result, "{xml}");
        let line: usize = test.attribute("line").unwrap().parse().unwrap();
        assert_eq!(list.lines().nth(line - 1), Some("[[case]]"));
    }
    let failure = first(tests[2], "failure");
    assert!(!failure.attribute("message").unwrap().is_empty());
    assert!(failure.text().unwrap().lines().count() > 1);
}

/// Characters with a meaning in XML, characters that control terminals, and characters that XML cannot
/// contain.
#[test]
fn junit_holds_every_name() {
    let place = recorded();
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
        rows::check(&place, "3 verify hard.toml --junit report.xml");
        let xml = read(&place, "report.xml");
        let is_obeyed = |c: char| voxelize::tool::text::is_obeyed(c) && c != '\n';
        assert!(!xml.contains(is_obeyed), "{xml}");
        let document = Document::parse(&xml).unwrap();
        let test = first(document.root(), "testcase");
        let wanted = format!("{held}{held_end}");
        assert_eq!(test.attribute("name"), Some(wanted.as_str()));
        let error = first(test, "error");
        let message = "x<&>.stl: no such file";
        assert_eq!(error.attribute("message"), Some(message));
        let text = error.text().unwrap();
        assert!(text.starts_with(&format!("{message}\nhint: ")), "{xml}");
    }
}

#[test]
fn junit_has_the_first_change_of_a_grid_in_its_message() {
    let place = meshes();
    rows::check(
        &place,
        "0 verify --update g.toml meshes/cube.stl --voxel-size 1 --golden cells",
    );
    bring(&place, "knot.stl", "meshes/cube.stl");
    let changed = "the grid changed: size 64 × 64 × 64 → 64 × 66 × 29, rounded to whole cells; \
                   4 more changes below";
    rows::check(
        &place,
        &format!(
            "1 verify g.toml --junit report.xml --pictures shown
                 out --like, or with --bounds for a larger box
                 out {changed}"
        ),
    );
    let xml = read(&place, "report.xml");
    let document = Document::parse(&xml).unwrap();
    let failure = first(document.root(), "failure");
    assert_eq!(failure.attribute("type"), Some("grid"));
    assert_eq!(failure.attribute("message"), Some(changed));
    let text = failure.text().unwrap();
    assert!(text.contains("origin along x: 0 → -"), "{xml}");
    for line in text.lines().filter(|line| line.contains("origin along")) {
        assert!(!line.contains('/'), "a fraction: {line}");
    }
    // The cells of the rule surface do not fill the mesh.
    assert!(!text.contains("volume"), "{xml}");
}

#[test]
fn warnings_about_a_mesh_are_in_the_answer() {
    let place = meshes();
    bring(&place, "open.stl", "meshes/open.stl");
    rows::check(
        &place,
        r#"0 verify --update open.toml meshes/open.stl -r 8 --filled
           0 verify open.toml
               out warning[W006]: the mesh is not closed
           0 verify open.toml --json
               /warnings/0/code "W006"
           0 verify open.toml -q
               no out"#,
    );
}

#[test]
fn cases_are_chosen_by_name_or_mesh() {
    let place = recorded();
    let text = read(&place, "goldens.toml").replacen("[[case]]", "[[case]]\nname = \"block\"", 1);
    place.write("goldens.toml", text);
    for (only, count) in [
        ("--only block", 1),
        ("--only meshes/cube.stl", 1),
        ("--only cube.stl", 1),
        ("--only cube --only knot --only knot.stl", 2),
        ("--only cube --only f --only knot", 3),
    ] {
        let same = outcomes(&place, &format!("goldens.toml {only}"), 0);
        assert_eq!(same, vec!["same"; count], "{only}");
    }
    // The name of a case without a name, as in JSON, and with the spaces of a column.
    for name in ["meshes/f.stl --res 20", "meshes/f.stl     --res 20"] {
        let mut command = place.command("verify goldens.toml --only");
        let run = command.arg(name).output().unwrap();
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(text.contains("1 of 1 case passes"), "{name}: {text}");
    }
    // A case that is left out needs no mesh.
    fs::remove_file(place.path("meshes/f.stl")).unwrap();
    rows::check(
        &place,
        "0 verify goldens.toml --only knot
             out goldens.toml: 1 of 1 case passes
         3 verify goldens.toml --only f
         2 verify goldens.toml --only bloc
             err no case has the name or the mesh 'bloc'
             err did you mean block?
         2 verify goldens.toml --only screw
             err its cases are block, meshes/f.stl --res 20, meshes/knot.stl --res 40",
    );
}

#[test]
fn a_changed_grid_has_counts_and_volumes_and_every_case_its_golden() {
    let place = meshes();
    rows::check(
        &place,
        "0 meshes/cube.stl --voxel-size 1 --solid --unit mm -o cube.npz
         0 verify --update g.toml meshes/cube.stl --voxel-size 1 --solid --unit mm --golden cells
         0 verify --update g.toml meshes/f.stl --voxel-size 0.5
         0 verify --update g.toml meshes/knot.stl -r 20 --rule fraction --golden cells",
    );
    let volume = |name: &str| {
        let json = place.run(&format!("info {name} --json")).expect(0).json();
        json["volume"].as_f64().unwrap()
    };
    let knot = volume("cells/knot-res-20-rule-fraction.npz");
    // The cube has the shape of the knot, and the other meshes are missing.
    bring(&place, "knot.stl", "meshes/cube.stl");
    fs::remove_file(place.path("meshes/f.stl")).unwrap();
    fs::remove_file(place.path("meshes/knot.stl")).unwrap();
    let now = place
        .run("meshes/cube.stl --voxel-size 1 --solid --unit mm -o now.npz --json")
        .expect(0)
        .json();
    let (cells, of_now) = (&now["counts"]["occupied"], volume("now.npz"));
    let run = place.run("verify g.toml --json").expect(7);
    let all = cases(&run);
    assert_eq!(all.len(), 3);
    let [cube, f, knots] = [&all[0], &all[1], &all[2]];
    assert_eq!(cube["outcome"], "grid");
    assert_eq!(
        (&cube["golden"]["cells"], &cube["golden"]["volume"]),
        (&json!(262_144), &json!(262_144.0))
    );
    assert_eq!(
        (&cube["result"]["cells"], &cube["result"]["volume"]),
        (cells, &json!(of_now))
    );
    assert!(cube["golden"]["digest"].is_string());
    assert_eq!(
        (&f["outcome"], &f["result"]),
        (&json!("error"), &Value::Null)
    );
    assert!(f["golden"]["cells"].is_u64() && f["golden"]["volume"].is_null());
    assert_eq!(
        (&knots["outcome"], &knots["golden"]["volume"]),
        (&json!("error"), &json!(knot))
    );
    rows::check(
        &place,
        "7 verify g.toml --junit report.xml
             out golden has 262,144 cells (volume 262,144 mm³), now ",
    );
    assert!(
        read(&place, "report.xml").contains("golden has 262,144 cells (volume 262,144 mm³), now ")
    );
}

#[test]
fn recordings_are_chosen_by_name_or_mesh() {
    let place = recorded();
    dent_knot(&place);
    let before = read(&place, "goldens.toml");
    fs::remove_file(place.path("meshes/f.stl")).unwrap();
    rows::check(
        &place,
        "0 verify --update goldens.toml --only cube
             out goldens.toml: 0 new, 0 changed, 1 same
         2 verify --update goldens.toml --only cub
             err no case has the name or the mesh 'cub'
         2 verify --update goldens.toml --only cube -r 8
             err --res 8: every case of a list has its own options",
    );
    assert_eq!(read(&place, "goldens.toml"), before);
    rows::check(
        &place,
        "0 verify --update goldens.toml --only knot.stl
             out goldens.toml: 0 new, 1 changed, 0 same
         0 verify goldens.toml --only knot",
    );
}

/// A report in Markdown has a row for every case, and draws the cells that differ.
#[test]
fn markdown_draws_what_differs() {
    let place = mixed();
    bring(&place, "octahedron.stl", "meshes/cube.stl");
    let text = fs::read_to_string(place.path("goldens.toml")).unwrap();
    let text = text.replacen("[[case]]", "[[case]]\nname = \"a|b <img> `c`\"", 1);
    place.write("goldens.toml", text);
    rows::check(
        &place,
        "7 verify goldens.toml --markdown report.md
         2 verify goldens.toml --markdown goldens.toml
         2 verify --update goldens.toml --markdown report.md",
    );
    let report = read(&place, "report.md");
    for line in [
        "### goldens.toml: 0 of 3 cases pass, 2 differ, 1 error",
        "| ❌ differs | a\\|b &lt;img> \\`c\\` | `--res 16 --pad 1` | 1,538 cells |",
        "| ❌ differs | meshes/knot.stl | `--res 40` | 5,754 cells",
        "| 3 added, 3 removed |",
        "| ⚠️ error | meshes/f.stl | `--res 20` |",
        "of the 6 cells that differ",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    let count = |square: char| report.matches(square).count();
    // The line that explains the squares has one of each.
    let changed = [count('🟦') - 1, count('🟧') - 1, count('🟪') - 1];
    assert!(changed[0] + changed[1] >= 2 && changed[2] == 0, "{report}");
    assert!(count('⬛') > 5 && count('⬜') > 5, "{report}");
}

/// The script of the action appends the report to the job summary, or the error if no case was compared.
#[cfg(unix)]
#[test]
fn the_action_writes_a_job_summary() {
    use crate::support::place::binary;
    let place = mixed();
    for (list, code, expected) in [
        (
            "goldens.toml",
            7,
            "| ❌ differs | meshes/knot.stl | `--res 40` |",
        ),
        ("missing.toml", 3, "missing.toml: cannot be read"),
    ] {
        let done = std::process::Command::new(bless::root("tools/action/verify"))
            .env("VOXELIZE", binary())
            .env("VOXELIZE_LIST", place.path(list))
            .env("VOXELIZE_OUT", place.path(&format!("of-{list}")))
            .env("GITHUB_STEP_SUMMARY", place.path("summary.md"))
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(code), "{list}");
        let summary = read(&place, "summary.md");
        assert!(summary.contains(expected), "{list}: {summary}");
    }
    assert!(read(&place, "summary.md").contains('🟦'));
}

/// A part that is exported in inches instead of millimetres, or in micrometres: its grid changes, cells of a
/// fixed grid differ, or its grid does not fit into memory.
#[test]
fn confused_units_have_a_hint() {
    let place = meshes();
    let part = |by: f32| stl(&between([0.0; 3], [50.0, 30.0, 10.0].map(|side| side * by)));
    place.write("part.stl", part(1.0));
    rows::check(
        &place,
        "0 verify --update g.toml part.stl --voxel-size 1 --solid --golden cells
         0 verify --update g.toml part.stl --bounds=-2,-2,-2,52,32,12 --voxel-size 1 --golden cells
         0 verify --update g.toml part.stl --res 16 --golden cells --rule thin
         0 verify --update g.toml part.stl --res 32",
    );
    place.write("part.stl", part(1.0 / 25.4));
    let run = place.run("verify g.toml --json").expect(1);
    let found: Vec<_> = cases(&run)
        .iter()
        .map(|case| (case["outcome"].clone(), case["size_factor"].as_f64()))
        .collect();
    let [first, second, third, fourth] = found.as_slice() else {
        panic!("{found:?}")
    };
    for (outcome, factor) in [first, second, third] {
        let factor = factor.unwrap_or_default();
        assert!((factor * 25.4 - 1.0).abs() < 1e-12, "{outcome}: {factor}");
    }
    assert_eq!((&first.0, &second.0), (&json!("grid"), &json!("cells")));
    // A digest does not have the size.
    assert_eq!(fourth, &(json!("digest"), None));
    place.write("part.stl", part(1000.0));
    let run = place
        .run("verify g.toml --max-memory 100M --json")
        .expect(7);
    let all = cases(&run);
    for case in &all[..3] {
        let factor = case["size_factor"].as_f64().unwrap();
        assert!((factor - 1000.0).abs() < 1e-9, "{case}");
        assert!(case["golden"]["cells"].is_u64(), "{case}");
    }
    place.write("part.stl", part(1.25));
    let all = cases(&place.run("verify g.toml --json"));
    assert!(all.len() == 4 && all.iter().all(|case| case["size_factor"].is_null()));
}

/// Fields are compared by their values, not by their digests.
#[test]
fn fields_that_differ_have_the_largest_difference() {
    let place = meshes();
    let block = |height: f32| stl(&between([0.0; 3], [4.0, 4.0, height]));
    place.write("block.stl", block(4.0));
    rows::check(
        &place,
        "0 verify --update g.toml block.stl --bounds 0,0,0,4,4,8 --voxel-size 1 --rule fraction --golden cells",
    );
    place.write("block.stl", block(4.5));
    rows::check(
        &place,
        r#"1 verify g.toml --pictures shown
             out 16 cells differ, at most by 0.5 in cell (0, 0, 4): golden has 0, now 0.5
             out where: cells x 0 … 3, y 0 … 3, z 4; in space x 0 … 4, y 0 … 4, z 4 … 5
             out golden has 64 cells (volume 64), now 80 cells (volume 72)
             out no picture: the cells are a field
             no out digest
           1 verify g.toml --json
             /outcome "cells"
             /difference/differing 16
             /difference/largest/difference 0.5
             /difference/box/cells {"min": [0, 0, 4], "max": [3, 3, 4]}"#,
    );
}

/// Reports in text and in JUnit XML have the code of an error.
#[test]
fn errors_of_cases_have_their_code() {
    let place = recorded();
    place.write("meshes/f.stl", "solid f\nfacet");
    let json = cases(
        &place
            .run("verify goldens.toml --json --junit report.xml")
            .expect(3),
    );
    let code = json[1]["error"]["code"].as_str().unwrap();
    let error = format!("error[{code}]: meshes/f.stl: ");
    let text = place.run("verify goldens.toml").expect(3);
    assert!(text.text().contains(&error), "{}", text.text());
    let xml = read(&place, "report.xml");
    assert!(xml.contains(&format!("message=\"{error}")), "{xml}");
}

/// A golden file that cannot be compared still has its number of cells in the report.
#[test]
fn a_golden_without_positions_is_described() {
    let place = meshes();
    place.write(
        "list.toml",
        "[[case]]\nmesh = \"meshes/cube.stl\"\nres = 8\ngolden = \"cube.npy\"\n",
    );
    let runs = rows::check(
        &place,
        r#"0 meshes/cube.stl -r 8 -o cube.npy --json
           2 verify list.toml --json
             /outcome "error""#,
    );
    let made = &runs[0].json()["counts"]["occupied"];
    assert_eq!(&runs[1].json()["golden"]["cells"], made);
}
