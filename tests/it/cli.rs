//! Contract of the command line: exit codes, messages, pipes, JSON, and files left on disk.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::place::{Place, Run, cuboid, refused, stl};
use serde_json::{Value, json};
use voxelize::{Level, Voxels};

#[test]
fn one_word_is_enough() {
    let place = Place::new();
    let run = place.run("thirds.stl").expect(0);
    assert!(run.out.is_empty());
    assert_eq!(place.files(), ["cube.stl", "thirds.stl", "thirds.vox"]);
    assert_eq!(
        Voxels::open(place.path("thirds.vox")).unwrap().dims(),
        [256, 110, 183]
    );
}

#[test]
fn the_summary_describes_the_run() {
    let place = Place::new();
    let run = place
        .run("cube.stl --voxel-size 0.5 --pad 1 -o cube.npz")
        .expect(0);
    assert!(
        run.out.is_empty() && run.err.lines().count() > 5,
        "{}",
        run.err
    );
    // Each face lies on a wall and marks the layer above: 41³ cells minus their core.
    let voxels = Voxels::open(place.path("cube.npz")).unwrap();
    assert_eq!((voxels.dims(), voxels.count()), ([42; 3], 9602));
    for fact in [
        "cube.stl",
        "cube.npz",
        "9,602",
        "74,088",
        &voxels.digest().cells.to_string(),
    ] {
        assert!(run.err.contains(fact), "{fact} is not in\n{}", run.err);
    }
}

#[test]
fn snapped_coordinates_are_counted() {
    let place = Place::new();
    let snapped = |options: &str| {
        let json = place
            .run(&format!(
                "thirds.stl --voxel-size 0.1 -o a.npy --json {options}"
            ))
            .expect(0)
            .json();
        (
            json["grid"]["dims"].clone(),
            json["snap"]["coordinates"].as_u64(),
        )
    };
    let (dims, coordinates) = snapped("");
    assert!(
        dims == json!([7, 3, 5]) && coordinates > Some(0),
        "{dims} {coordinates:?}"
    );
    assert!(snapped("--snap none").1.is_none_or(|n| n == 0));
}

#[test]
fn boxes_grow_to_whole_cells() {
    let place = Place::new();
    let line = "cube.stl --bounds -1,0,0,1,1,1 --voxel-size 0.4 --pad 1 -o a.npy --json";
    let grid = &place.run(line).expect(0).json()["grid"];
    assert_eq!(
        (&grid["dims"], &grid["pad"]),
        (&json!([7, 5, 5]), &json!(1))
    );
    assert_eq!(grid["origin_exact"], json!(["-7/5", "-2/5", "-2/5"]));
}

#[test]
fn values_may_start_with_a_minus() {
    let place = Place::new();
    let json = |line: &str| place.run(line).expect(0).json();
    let grid = &json("cube.stl --bounds -1,0,0,1,1,1 -r 4 -o a.npy --json")["grid"];
    assert_eq!(
        (&grid["dims"], &grid["origin_exact"]),
        (&[4, 2, 2].into(), &["-1/1", "0/1", "0/1"].into())
    );
    let grid = &json("cube.stl --origin -0.5,0,0 --pitch 4 -o a.npy --json")["grid"];
    assert_eq!(
        grid["origin_exact"],
        serde_json::json!(["-1/2", "0/1", "0/1"])
    );
    assert_eq!(grid["dims"], serde_json::json!([6, 5, 5]));
}

#[test]
fn quiet_prints_nothing_and_verbose_explains() {
    let place = Place::new();
    let run = place.run("cube.stl -r 4 -q").expect(0);
    assert_eq!((run.err.as_str(), run.text()), ("", ""));
    let run = place.run("cube.stl -r4 -v").expect(0);
    let usual = place.run("cube.stl -r4").expect(0);
    assert!(
        run.err.lines().count() > usual.err.lines().count() + 3 && run.err.contains("--res 4"),
        "{}",
        run.err
    );
}

#[test]
fn threads_and_levels_change_no_digest() {
    let place = Place::new();
    let digest = |how: &str| {
        let run = place
            .run(&format!("thirds.stl -r 20 --json {how}"))
            .expect(0);
        run.json()["digest"].clone()
    };
    let base = digest("-o a.npy");
    assert!(base["grid"].as_str().unwrap().starts_with("v1:"));
    for how in [
        "-j 1 -o a.npz",
        "-j 3 --simd scalar -o a.raw",
        "--simd auto --surface -o a.vox",
    ] {
        assert_eq!(digest(how), base, "{how}");
    }
}

/// Collects the keys of an object and of nested objects, `mesh.bounds.min`, in order.
fn keys(value: &Value, prefix: &str, found: &mut Vec<String>) {
    if let Value::Object(map) = value {
        for (key, value) in map {
            let path = format!("{prefix}{key}");
            found.push(path.clone());
            keys(value, &format!("{path}."), found);
        }
    }
}

const SCHEMA: &str = "schema tool tool.name tool.version status exit_code \
    input input.path input.format input.bytes input.packing input.files \
    mesh mesh.triangles mesh.degenerate mesh.dropped \
    mesh.bounds mesh.bounds.min mesh.bounds.max \
    mesh.closed mesh.oriented mesh.unit \
    transform transform.up transform.axes transform.rotate transform.scale transform.translate \
    grid grid.dims grid.origin grid.origin_exact grid.origin_is grid.spacing grid.spacing_exact \
    grid.closed grid.pad rule variant radius ties band iso inside snap snap.mode snap.coordinates \
    counts counts.cells counts.occupied counts.surface counts.interior field volume \
    digest digest.grid digest.cells warnings run run.threads run.simd run.plan \
    timings_ms timings_ms.read timings_ms.voxelize timings_ms.digest timings_ms.write \
    timings_ms.total memory memory.peak_bytes outputs doubt";

#[test]
fn json_has_every_key_in_order() {
    let place = Place::new();
    let run = place
        .run("cube.stl --voxel-size 0.5 --pad 1 -o cube.npz -j 2 --json")
        .expect(0);
    assert_eq!(run.err, "", "JSON in place of the summary");
    let json = run.json();
    let mut found = Vec::new();
    keys(&json, "", &mut found);
    assert_eq!(found, SCHEMA.split_whitespace().collect::<Vec<_>>());
    for (pointer, value) in [
        ("/schema", serde_json::json!(1)),
        ("/status", "ok".into()),
        ("/exit_code", 0.into()),
        (
            "/input",
            serde_json::json!({"path": "cube.stl", "format": "stl-binary", "bytes": 684, "packing": null, "files": null}),
        ),
        (
            "/mesh/bounds",
            serde_json::json!({"min": [0.0, 0.0, 0.0], "max": [20.0, 20.0, 20.0]}),
        ),
        ("/mesh/closed", Value::Null),
        ("/grid/dims", serde_json::json!([42, 42, 42])),
        ("/grid/origin", serde_json::json!([-0.5, -0.5, -0.5])),
        (
            "/grid/spacing_exact",
            serde_json::json!(["1/2", "1/2", "1/2"]),
        ),
        ("/grid/closed", serde_json::json!([true, true, true])),
        ("/inside", Value::Null),
        (
            "/counts",
            serde_json::json!({"cells": 74088, "occupied": 9602, "surface": 9602, "interior": 0}),
        ),
        ("/volume", serde_json::json!(1200.25)),
        ("/run/threads", 2.into()),
        ("/run/plan", "dense".into()),
        ("/warnings", serde_json::json!([])),
        ("/outputs/0/path", "cube.npz".into()),
        ("/outputs/0/format", "npz".into()),
    ] {
        assert_eq!(json.pointer(pointer), Some(&value), "{pointer}");
    }
    assert!(json.pointer("/timings_ms/total").unwrap().is_f64());
    assert!(json.pointer("/outputs/0/bytes").unwrap().is_u64());
}

#[test]
fn json_goes_to_a_file_in_addition_to_the_summary() {
    let place = Place::new();
    let run = place.run("cube.stl -r 4 --json=run.json").expect(0);
    assert!(run.out.is_empty() && !run.err.is_empty());
    let text = fs::read_to_string(place.path("run.json")).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1);
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["status"],
        "ok"
    );
    place
        .run("cube.stl -r 4 -o - -f raw --json=run.json")
        .expect(0);
}

#[test]
fn json_also_reports_failures() {
    let place = Place::new();
    for (line, code, path) in [
        ("missing.stl --json", 3, Some("missing.stl")),
        (
            "cube.stl -r 8192 --max-memory 1M --json",
            5,
            Some("cube.stl"),
        ),
        ("cube.stl --rez 3 --json", 2, None),
        ("cube.stl -o - -f npy --json", 2, Some("cube.stl")),
    ] {
        let run = place.run(line).expect(code);
        let json = run.json();
        assert_eq!(
            (&json["status"], &json["exit_code"]),
            (&"error".into(), &code.into()),
            "{line}"
        );
        assert_eq!(json["input"]["path"].as_str(), path, "{line}");
        assert!(
            json["digest"].is_null() && json["outputs"].is_null(),
            "{line}"
        );
        let mut found = Vec::new();
        keys(&json["error"], "", &mut found);
        assert_eq!(
            found,
            ["code", "message", "triangle", "byte", "line", "hint"]
        );
        assert!(
            json["error"]["message"].is_string() && json["error"]["hint"].is_string(),
            "{line}"
        );
        assert!(run.err.starts_with("error: "), "{}", run.err);
        let top = |json: &Value| {
            json.as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        let mut expected: Vec<_> = SCHEMA
            .split_whitespace()
            .filter(|key| !key.contains('.'))
            .map(str::to_string)
            .collect();
        expected.insert(4, "error".to_string());
        assert_eq!(top(&json), expected, "{line}");
    }
    place.run("missing.stl --json=run.json").expect(3);
    assert!(place.path("run.json").exists());
}

#[test]
fn json_never_replaces_the_mesh() {
    let place = Place::new();
    let mesh = fs::read(place.path("cube.stl")).unwrap();
    for options in ["", "--rez 3", "-r 0", "-o missing/a.vox", "-o a.foo"] {
        place.run(&format!("cube.stl --json=cube.stl {options}"));
        assert!(
            fs::read(place.path("cube.stl")).unwrap() == mesh,
            "{options}"
        );
    }
    refused(&place, "cube.stl -r 4 --json=cube.vox", 2);
    assert!(!place.path("cube.vox").exists());
}

#[test]
fn a_dry_run_plans_and_writes_nothing() {
    let place = Place::new();
    let before = place.files();
    let run = place.run("cube.stl -r 100 -n").expect(0);
    assert!(
        run.out.is_empty() && run.err.contains("cube.vox"),
        "{}",
        run.err
    );
    let planned = place.run("cube.stl -r 100 -n --json").expect(0).json();
    assert_eq!(
        (&planned["grid"]["dims"], &planned["run"]["plan"]),
        (&json!([100, 100, 100]), &json!("dense"))
    );
    let json = place
        .run("cube.stl -r 100 --dry-run --json -o a.npy")
        .expect(0)
        .json();
    assert_eq!(
        (&json["status"], &json["counts"]),
        (&"planned".into(), &Value::Null)
    );
    assert_eq!(json["estimate"]["output_bytes"], 1_000_000);
    assert!(json["estimate"]["memory_bytes"].as_u64().unwrap() >= 160_000);
    place.run("cube.stl -r 8192 --max-memory 1G -n").expect(5);
    place
        .run("cube.stl -r 8192 --max-memory 1G -n -o a.raw")
        .expect(0);
    let json = place
        .run("cube.stl -r 8192 --max-memory 1G -n -o a.raw --json")
        .expect(0)
        .json();
    assert_eq!(json["run"]["plan"], "slabs");
    assert!(json["estimate"]["slabs"].as_u64().unwrap() > 64);
    assert!(json["estimate"]["memory_bytes"].as_u64().unwrap() <= 1 << 30);
    assert_eq!(place.files(), before);
}

#[test]
fn a_refusal_names_the_formats_that_stream() {
    let place = Place::new();
    // The hint for a format that cannot be streamed names one that can.
    for (line, advised) in [
        ("cube.stl -r 8192 --max-memory 1G", "-f npy"),
        ("cube.stl -r 8192 --max-memory 1G -o - -f vox", "-f raw"),
        (
            "cube.stl -r 8192 -j 2 --max-memory 17M -o a.raw",
            "--max-memory",
        ),
    ] {
        let run = place.run(&format!("{line} --json=run.json")).expect(5);
        assert!(run.line("hint:").contains(advised), "{line}: {}", run.err);
        let json: Value =
            serde_json::from_str(&fs::read_to_string(place.path("run.json")).unwrap()).unwrap();
        assert_eq!(json["error"]["code"], "too-large", "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn slabs_stay_within_the_limit() {
    let place = Place::new();
    let json =
        place.run("cube.stl -r 1024 --max-memory 32M -o /dev/null -f raw --dtype bit -j 2 --json");
    let json = json.expect(0).json();
    assert_eq!(
        (&json["run"]["plan"], &json["outputs"][0]["bytes"]),
        (&"slabs".into(), &(128 << 20).into())
    );
    let peak = json["memory"]["peak_bytes"].as_u64().unwrap();
    assert!(peak > 16 << 20 && peak <= 32 << 20, "{peak}");
}

#[test]
fn bad_input_is_an_error_with_a_hint() {
    let place = Place::new();
    let whole = stl(&cuboid([1.0; 3]));
    let mut nan = cuboid([1.0; 3]);
    nan[7][1][2] = f32::NAN;
    let many = cuboid([1.0; 3])
        .into_iter()
        .cycle()
        .take(40_000)
        .collect::<Vec<_>>();
    place.write("empty.stl", b"");
    place.write("text.stl", b"this is not a mesh, it is a sentence\n");
    place.write("cut.stl", &whole[..whole.len() / 2]);
    place.write("nan.stl", stl(&nan));
    place.write("none.stl", stl(&[]));
    place.write("many.stl", stl(&many));
    fs::create_dir(place.path("folder")).unwrap();
    fs::create_dir(place.path("scans")).unwrap();
    place.write("scans/part.stl", &whole);
    let before = place.files();
    let cases = [
        ("empty.stl", 3),
        ("text.stl", 3),
        ("missing.stl", 3),
        ("folder", 2),
        ("scans", 2),
        ("cut.stl", 3),
        ("nan.stl", 3),
        ("none.stl", 4),
        ("cube.stl --res 0", 2),
        ("cube.stl --res 1.5", 2),
        ("cube.stl --res", 2),
        ("cube.stl -r 1024 --max-memory 1M", 5),
        ("cube.stl -r 1024 --max-memory 1M -j 2", 5),
        ("cube.stl -r 4096 --max-memory 1M -o a.raw -j 2", 5),
        ("cube.stl -r 4 --max-memory 500", 5),
        ("many.stl -r 4 --max-memory 1M", 5),
        ("cube.stl -r 99999999", 5),
        ("cube.stl -o cube.foo", 2),
        ("cube.stl -o cube", 2),
        ("cube.stl -o missing/cube.vox", 6),
        ("cube.stl -o cube.stl/cube.vox", 6),
        ("cube.stl -o cube.stl/", 6),
        ("- -o out/", 2),
        ("cube.stl -o cube.stl -f npy", 2),
        ("cube.stl -o a.npy --json=a.npy", 2),
        ("cube.stl --json=missing/a.json", 6),
        ("cube.stl thirds.stl", 2),
        ("", 2),
        ("-", 2),
        ("cube.stl --stretch", 2),
        ("cube.stl --origin 0,0,0", 2),
        ("cube.stl --voxel-size 0", 2),
        (
            "cube.stl --pitch 0.12345678901234567890123456789012345678901",
            2,
        ),
        ("cube.stl --bounds 1,0,0,0,1,1", 2),
        ("cube.stl --dims 1,2", 2),
        ("cube.stl --ties sideways", 2),
        ("cube.stl --dtype bit", 2),
        ("cube.stl -o a.raw --json=a.raw.json", 2),
        ("cube.stl --max-memory lots", 2),
        ("cube.stl -j 0", 2),
        ("cube.stl -o -", 2),
        ("cube.stl --rez 3", 2),
    ];
    let mut seen = 0;
    for (line, code) in cases {
        refused(&place, line, code);
        seen += 1;
    }
    assert!(seen > 0, "no case");
    assert_eq!(place.files(), before, "nothing is left");
}

#[test]
fn options_that_exclude_each_other_are_both_named() {
    let place = Place::new();
    let before = place.files();
    let cases = [
        ("--res 3 --dims 1,2,3", ["--res", "--dims"]),
        ("-r 3 --voxel-size 1", ["--res", "--voxel-size"]),
        ("--dims 1,2,3 --cube", ["--dims", "--cube"]),
        ("--pitch 1 -r3", ["--voxel-size", "--res"]),
        ("--spacing=1 --dims 1,2,3", ["--voxel-size", "--dims"]),
        ("--origin 0,0,0 --res 3", ["--origin", "--res"]),
        ("--origin 0,0,0 --dims 3,3,3", ["--origin", "--dims"]),
        (
            "--origin 0,0,0 --voxel-size 1 --bounds 0,0,0,1,1,1",
            ["--origin", "--bounds"],
        ),
        ("--json -o - -f npy", ["--json", "--output -"]),
        ("--sidecar -o - -f npy", ["--sidecar", "--output -"]),
        ("-q -v", ["--quiet", "--verbose"]),
        ("-qv", ["--quiet", "--verbose"]),
        ("--quiet --verbose", ["--quiet", "--verbose"]),
        (
            "--solid --max-doubt 1% --skip-existing",
            ["--max-doubt", "--skip-existing"],
        ),
        (
            "--solid --doubt d.npz --skip-existing",
            ["--doubt", "--skip-existing"],
        ),
        (
            "--solid --inside flood --leak l.npz --skip-existing",
            ["--leak", "--skip-existing"],
        ),
    ];
    let mut seen = 0;
    for (options, names) in cases {
        let error = refused(&place, &format!("cube.stl {options}"), 2);
        assert!(
            names.iter().all(|name| error.contains(name)),
            "{options}: {error}"
        );
        seen += 1;
    }
    assert!(seen > 0, "no case");
    assert_eq!(place.files(), before);
}

/// Regression: a name with a line end gave an error of three lines, and an escape moved the cursor.
#[test]
#[cfg(unix)]
fn words_cannot_break_lines_or_move_the_cursor() {
    let place = Place::new();
    let output = place.command("").arg("a\nb\x1b[2J.stl").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), text.lines().count()),
        (Some(3), 2),
        "{text}"
    );
    assert!(text.contains("a\\nb\\u{1b}[2J.stl"), "{text}");
    // Lines that describe a run escape control characters as well.
    let output = place
        .command("cube.stl -n -v --dims")
        .arg("6\t,6,6\n")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("6\\t,6,6\\n"), "{text}");
}

/// Regression: `info` advised `--max-memory`, which it did not have, and `diff` advised larger cells.
#[test]
fn hints_name_only_options_that_the_command_has() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.npz").expect(0);
    place
        .run("verify --update list.toml cube.stl -r 4")
        .expect(0);
    place.write(
        "cut.stl",
        &std::fs::read(place.path("cube.stl")).unwrap()[..300],
    );
    place.write(
        "cut.npz",
        &std::fs::read(place.path("a.npz")).unwrap()[..300],
    );
    let mut seen = 0;
    for (command, line) in [
        ("info", "info cut.stl"),
        ("info", "info cube.stl --max-memory 100"),
        ("info", "info cut.npz"),
        ("info", "info cube.stl --json=/proc/x/y"),
        ("diff", "diff a.npz cube.stl"),
        ("diff", "diff a.npz cut.npz"),
        ("diff", "diff a.npz a.npz -o /proc/x/y.vox"),
        ("view", "view cut.stl -o a.png"),
        ("view", "view cube.stl -r 2000 --max-memory 10M -o a.png"),
        ("view", "view a.npz --slice z=9"),
        ("verify", "verify a.npz cut.stl"),
        ("verify", "verify list.toml --max-memory 100"),
        ("verify", "verify list.toml --junit /proc/x/y"),
        ("verify", "verify none.toml"),
        ("formats", "formats --json=/proc/x/y"),
    ] {
        let run = place.run(line);
        assert!(run.code > Some(0), "{line}: {:?}", run.code);
        let help = place.run(&format!("{command} --help")).expect(0);
        let text = format!("{}{}", run.text(), run.err);
        let hints = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("hint: "));
        for word in hints
            .filter(|hint| !hint.contains("voxelize "))
            .flat_map(str::split_whitespace)
        {
            let option = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let option = option.split('=').next().unwrap();
            if option.starts_with('-') && option.len() > 1 {
                assert!(
                    help.text().contains(option),
                    "{line}: {option} is no option of {command}\n{text}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "{seen}");
}

/// Regression: every method of the inside panicked on the infinite bounds of an empty mesh, also in view and
/// verify.
#[test]
fn a_mesh_without_area_has_no_inside() {
    let place = Place::new();
    let point = |n: f32| [n, n, n];
    place.write(
        "line.stl",
        crate::support::place::stl(&[[point(0.0), point(1.0), point(2.0)]]),
    );
    for inside in ["auto", "nonzero", "evenodd", "flood", "vote", "robust"] {
        let rule = format!("-r 16 --solid --inside {inside}");
        for line in [
            format!("line.stl {rule} -o a.npy"),
            format!("line.stl {rule} --keep-thin -o a.npy"),
            format!("line.stl {rule} --max-memory 24M -o a.npy"),
            format!("verify --update list.toml line.stl {rule}"),
        ] {
            place.run(&line).expect(0);
        }
        // Nothing is visible.
        place
            .run(&format!("view line.stl {rule} -o a.png"))
            .expect(4);
    }
    place.run("verify list.toml").expect(0);
}

/// Regression: a panic ended the whole batch, and no JSON was written.
#[test]
#[cfg(debug_assertions)]
fn a_panic_ends_one_mesh_and_one_case() {
    let place = Place::new();
    let panics = |line: &str| {
        let output = place
            .command(line)
            .env("VOXELIZE_PANIC", "thirds.stl")
            .env_remove("RUST_BACKTRACE")
            .output();
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, err) = panics("cube.stl thirds.stl -r 4 -o out/ --json=out.json");
    assert_eq!(code, Some(70), "{err}");
    assert!(place.path("out/cube.vox").exists() && !place.path("out/thirds.vox").exists());
    assert!(
        err.contains("thirds.stl") && err.contains("this is a bug") && !err.contains("panicked"),
        "{err}"
    );
    assert!(
        err.contains(env!("CARGO_PKG_VERSION")) && err.contains("guard.rs"),
        "{err}"
    );
    let json = std::fs::read_to_string(place.path("out.json")).unwrap();
    let lines: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        [&lines[0]["exit_code"], &lines[1]["exit_code"]],
        [&Value::from(0), &Value::from(70)]
    );
    assert_eq!(lines[1]["error"]["code"], "internal");
    place
        .run("verify --update list.toml cube.stl thirds.stl -r 4")
        .expect(0);
    let (code, err) = panics("verify list.toml --junit report.xml");
    assert_eq!(code, Some(70), "{err}");
    let report = std::fs::read_to_string(place.path("report.xml")).unwrap();
    assert!(
        report.contains("tests=\"2\" failures=\"0\" errors=\"1\""),
        "{report}"
    );
    assert_eq!(panics("view thirds.stl -r 4 -o a.png").0, Some(70));
    assert_eq!(panics("thirds.stl -r 4 -o a.vox").0, Some(70));
}

/// Regression: the error did not name the missing file.
#[test]
fn a_stream_names_the_folder_that_it_needs() {
    let place = Place::new();
    let mut command = place.command("cube.stl -r 400 -o - -f vox");
    let output = command.env("TMPDIR", place.path("gone")).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{text}");
    assert!(
        text.contains("/gone: ") && text.contains("TMPDIR"),
        "{text}"
    );
    let output = place
        .command("cube.stl -r 400 -o - -f raw")
        .env("TMPDIR", place.path("gone"))
        .output()
        .unwrap();
    assert!(output.status.success());
}

#[test]
fn near_misses_are_guessed() {
    let place = Place::new();
    for (line, code, hint) in [
        ("fromats", 2, "voxelize formats"),
        ("cube.slt", 3, "cube.stl"),
        ("cube.stl --voxelsize 3", 2, "--voxel-size"),
    ] {
        assert!(
            place.run(line).expect(code).line("hint:").contains(hint),
            "{line}"
        );
    }
}

#[test]
fn only_own_files_are_replaced_without_an_option() {
    let place = Place::new();
    place.run("cube.stl -r 4").expect(0);
    place.run("cube.stl -r 5").expect(0);
    place.write("cube.vox", b"someone else's work");
    let error = refused(&place, "cube.stl -r 4", 6);
    assert!(error.contains("cube.vox"), "{error}");
    assert_eq!(
        fs::read(place.path("cube.vox")).unwrap(),
        b"someone else's work"
    );
    place.run("cube.stl -r 4 -o cube.vox").expect(0);
    assert_ne!(
        fs::read(place.path("cube.vox")).unwrap(),
        b"someone else's work"
    );
}

#[test]
fn pipes_work_at_both_ends() {
    let place = Place::new();
    let mesh = fs::read(place.path("cube.stl")).unwrap();
    let piped = place.run_with("- -r 4 -o - -f raw", &mesh).expect(0);
    place.run("cube.stl -r 4 -o a.raw").expect(0);
    assert_eq!(piped.out, fs::read(place.path("a.raw")).unwrap());
    assert!(!piped.err.is_empty());
    let json = place
        .run_with("- -r 4 -o b.npy --json", &mesh)
        .expect(0)
        .json();
    assert_eq!(json["input"]["path"], "-");
    place.run_with("- -o c.npy", b"").expect(3);
    assert!(!place.path("c.npy").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    // Far more output than the buffer of a pipe.
    for line in [
        "cube.stl -r 1 --pad 100 -o - -f raw",
        "cube.stl thirds.stl -r 4 -o out/ --json",
        "--help",
        "formats",
        "cube.stl -r 1 --json",
    ] {
        let mut command = place.command(line);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let run = Run::new(line, child.wait_with_output().unwrap()).expect(0);
        assert_eq!(run.err, "", "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_run_and_leaves_nothing() {
    use std::io::Read;
    let place = Place::new();
    let before = place.files();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let line = "cube.stl -r 1 --pad 100 -o - -f raw";
        let mut command = place.command(line);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // After the first byte the run waits for the reader, because a pipe buffers less than the grid.
        let mut first = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let run = Run::new(line, child.wait_with_output().unwrap()).expect(code);
        assert!(run.err.starts_with("error: "), "{}", run.err);
    }
    assert_eq!(place.files(), before);
}

#[test]
fn the_word_help_shows_the_pages() {
    let place = Place::new();
    let page = |line: &str| String::from_utf8(place.run(line).expect(0).out).unwrap();
    for (word, option) in [
        ("help", "--help"),
        ("help view", "view --help"),
        ("help diff", "diff --help"),
    ] {
        assert_eq!(page(word), page(option), "{word}");
    }
}

#[test]
fn the_first_page_of_help_fits_a_terminal() {
    let shown = Place::new().run("-h").expect(0);
    assert!(shown.err.is_empty() && shown.text().lines().count() > 20);
    assert!(
        shown.text().lines().all(|line| line.chars().count() <= 80),
        "{}",
        shown.text()
    );
}

#[test]
fn version_and_formats_list_the_build() {
    let place = Place::new();
    for line in ["-V", "--version"] {
        let run = place.run(line).expect(0);
        assert!(
            run.text()
                .starts_with(concat!("voxelize ", env!("CARGO_PKG_VERSION"), "\n"))
        );
        assert!(
            Level::available()
                .iter()
                .all(|level| run.text().contains(level.name())),
            "{}",
            run.text()
        );
    }
    let list = place.run("formats").expect(0);
    assert!(!voxelize::format::FORMATS.is_empty());
    for format in voxelize::format::FORMATS {
        assert!(
            list.text().contains(&format!("  {} ", format.name)),
            "{}",
            list.text()
        );
    }
}

#[cfg(unix)]
#[test]
fn a_plan_that_no_disk_has_room_for_is_warned_of() {
    let place = Place::new();
    let codes = |line: &str| {
        let json = place.run(&format!("{line} --json")).expect(0).json();
        let warnings = json["warnings"].as_array().unwrap().clone();
        warnings
            .iter()
            .map(|warning| warning["code"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let large = codes("cube.stl -r 500000 -n --max-memory 100G -o a.raw");
    assert!(large.contains(&"W012".to_string()), "{large:?}");
    assert_eq!(codes("cube.stl -r 8 -n -o a.raw"), [""; 0]);
    assert!(!place.path("a.raw").exists());
}

#[test]
fn misspelled_options_and_outputs_get_suggestions() {
    let place = Place::new();
    for (line, said) in [
        (
            "cube.stl --dims 4,4,4 --dims 5,5,5 -o a.npz",
            "'--dims <X,Y,Z>' cannot be used multiple times",
        ),
        (
            "cube.stl --origin 0,0,0 --dims 5,5,5 -o a.npz",
            "for a grid with a given corner, use --bounds",
        ),
        (
            "cube.stl thirds.stl -f npz -o out",
            "use -o out/; meshes that are named one by one go into one file",
        ),
        ("cube.stl --output-format npz", "did you mean --format?"),
        (
            "cube.stl --filled --hollow 2mm --unit mm",
            "is a number of cells and takes no unit: write 3 for a shell of three cells",
        ),
        (
            "cube.stl --rule distance --band 2mm --unit mm",
            "is a number of cells and takes no unit: write 3, 2.5 or all",
        ),
    ] {
        let found = place.run(line).expect(2);
        assert!(found.err.contains(said), "{line}: {}", found.err);
    }
    // Blanks replace commas where the meaning is unambiguous.
    let with = |option: &str, value: &str| {
        place
            .command("cube.stl -o a.npz")
            .args([option, value])
            .output()
            .unwrap()
    };
    for (option, value) in [
        ("--bounds", "0 0 0 10 10 10"),
        ("--dims", "4 4 4"),
        ("--voxel-size", "1 1 2"),
    ] {
        assert!(with(option, value).status.success(), "{option} '{value}'");
    }
    let refused = with("-r", "64 64 64");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(2) && said.contains("--dims X,Y,Z sets all three"),
        "{said}"
    );
}
