//! Contract of the command line: exit codes, messages, pipes, JSON, and files left on disk.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::place::{Place, Run, stl};
use crate::support::rows;

#[test]
fn threads_and_levels_change_no_digest() {
    let runs = rows::check(
        &Place::new(),
        "0 thirds.stl -r 20 --json -o a.npy
         0 thirds.stl -r 20 --json -j 1 -o a.npz
         0 thirds.stl -r 20 --json -j 3 --simd scalar -o a.raw
         0 thirds.stl -r 20 --json --simd auto --surface -o a.vox",
    );
    let base = runs[0].json()["digest"].clone();
    assert!(base["grid"].is_string());
    for run in &runs {
        assert_eq!(run.json()["digest"], base, "{}", run.line);
    }
}

#[test]
fn json_goes_to_a_file_in_addition_to_other_output() {
    let place = Place::new();
    rows::check(
        &place,
        "0 cube.stl -r 4 --json=run.json
            no out
            err cube.vox
         0 cube.stl -r 4 -o - -f raw --json=stream.json
         3 missing.stl --json=failed.json",
    );
    for (name, status) in [("run", "ok"), ("stream", "ok"), ("failed", "error")] {
        let text = fs::read_to_string(place.path(&format!("{name}.json"))).unwrap();
        assert!(text.ends_with('\n') && text.lines().count() == 1);
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap()["status"],
            status
        );
    }
}

#[test]
fn json_never_replaces_the_mesh() {
    rows::refused(
        &Place::new(),
        "2 cube.stl --json=cube.stl
         2 cube.stl --json=cube.stl --rez 3
         2 cube.stl --json=cube.stl -r 0
         2 cube.stl --json=cube.stl -o missing/a.vox
         2 cube.stl --json=cube.stl -o a.foo
         2 cube.stl --json=cube.vox -r 4",
    );
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

/// Regression: `info` advised `--max-memory`, which it did not have, and `diff` advised larger cells.
#[test]
fn hints_name_only_options_that_the_command_has() {
    let place = Place::new();
    rows::check(
        &place,
        "0 cube.stl -r 4 -o a.npz
         0 verify --update list.toml cube.stl -r 4",
    );
    for (name, cut) in [("cube.stl", "cut.stl"), ("a.npz", "cut.npz")] {
        place.write(cut, &fs::read(place.path(name)).unwrap()[..300]);
    }
    let mut seen = 0;
    for line in [
        "info cut.stl",
        "info cube.stl --max-memory 100",
        "info cut.npz",
        "info cube.stl --json=/proc/x/y",
        "diff a.npz cube.stl",
        "diff a.npz cut.npz",
        "diff a.npz a.npz -o /proc/x/y.vox",
        "view cut.stl -o a.png",
        "view cube.stl -r 2000 --max-memory 10M -o a.png",
        "view a.npz --slice z=9",
        "verify a.npz cut.stl",
        "verify list.toml --max-memory 100",
        "verify list.toml --junit /proc/x/y",
        "verify none.toml",
        "formats --json=/proc/x/y",
    ] {
        let run = place.run(line);
        assert!(run.code > Some(0), "{line}: {:?}", run.code);
        let command = line.split(' ').next().unwrap();
        let help = place.run(&format!("{command} --help")).expect(0);
        let text = format!("{}{}", run.text(), run.err);
        for line in text.lines().map(str::trim) {
            if !line.starts_with("hint: ") || line.contains("voxelize ") {
                continue;
            }
            for word in line.split_whitespace() {
                let option = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                let option = option.split('=').next().unwrap();
                if option.starts_with('-') && option.len() > 1 {
                    assert!(
                        help.text().contains(option),
                        "{line}: {option} is no option of {command}"
                    );
                    seen += 1;
                }
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
    place.write("line.stl", stl(&[[[0.0; 3], [1.0; 3], [2.0; 3]]]));
    for inside in ["auto", "nonzero", "evenodd", "flood", "vote", "robust"] {
        let rule = format!("line.stl -r 16 --solid --inside {inside}");
        // Nothing is visible to view.
        let table = format!(
            "0 {rule} -o a.npy
             0 {rule} --keep-thin -o a.npy
             0 {rule} --max-memory 24M -o a.npy
             0 verify --update list.toml {rule}
             4 view {rule} -o a.png"
        );
        rows::check(&place, &table);
    }
    place.run("verify list.toml").expect(0);
}

/// Regression: a panic ended the whole batch, and no JSON was written.
#[test]
#[cfg(debug_assertions)]
fn a_panic_ends_one_mesh_and_one_case() {
    let place = Place::new();
    let panics = |line: &str| {
        let mut command = place.command(line);
        command
            .env("VOXELIZE_PANIC", "thirds.stl")
            .env_remove("RUST_BACKTRACE");
        Run::new(line, command.output().unwrap()).expect(70)
    };
    let run = panics("cube.stl thirds.stl -r 4 -o out/ --json");
    assert!(place.path("out/cube.vox").exists() && !place.path("out/thirds.vox").exists());
    for said in [
        "thirds.stl",
        "this is a bug",
        env!("CARGO_PKG_VERSION"),
        "guard.rs",
    ] {
        assert!(run.err.contains(said), "{}", run.err);
    }
    assert!(!run.err.contains("panicked"), "{}", run.err);
    let objects = rows::json(&run);
    assert_eq!(
        [&objects[0]["exit_code"], &objects[1]["exit_code"]],
        [&Value::from(0), &Value::from(70)]
    );
    assert_eq!(objects[1]["error"]["code"], "internal");
    place
        .run("verify --update list.toml cube.stl thirds.stl -r 4")
        .expect(0);
    panics("verify list.toml --junit report.xml");
    let report = fs::read_to_string(place.path("report.xml")).unwrap();
    assert!(
        report.contains("tests=\"2\" failures=\"0\" errors=\"1\""),
        "{report}"
    );
    panics("view thirds.stl -r 4 -o a.png");
    panics("thirds.stl -r 4 -o a.vox");
}

#[test]
fn only_own_files_are_replaced_without_an_option() {
    let place = Place::new();
    rows::check(&place, "0 cube.stl -r 4\n 0 cube.stl -r 5");
    place.write("cube.vox", "mine");
    rows::refused(&place, "6 cube.stl -r 4\n err cube.vox");
    place.run("cube.stl -r 4 -o cube.vox").expect(0);
    assert_ne!(fs::read(place.path("cube.vox")).unwrap(), b"mine");
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
fn formats_lists_every_format() {
    let list = Place::new().run("formats").expect(0);
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
    rows::check(
        &Place::new(),
        r#"0 cube.stl -r 500000 -n --max-memory 100G -o a.raw --json
            out "code":"W012"
            no file a.raw
           0 cube.stl -r 8 -n -o a.raw --json
            /warnings []"#,
    );
}

#[test]
fn misspelled_options_and_outputs_get_suggestions() {
    let place = Place::new();
    rows::refused(
        &place,
        "2 cube.stl --dims 4,4,4 --dims 5,5,5 -o a.npz
            err '--dims <X,Y,Z>' cannot be used multiple times
         2 cube.stl thirds.stl -f npz -o out
            err use -o out/; only meshes that the command line names one by one go into one file
         2 cube.stl --force
            err an existing file that -o names is replaced
         2 --input cube.stl
            err input files are named without an option
         2 cube.stl --center
            no err did you mean
         2 cube.stl --marching-cubes
            err -o FILE.stl or FILE.ply
         2 cube.stl --rule sdf
            err --rule distance --signed
         2 cube.stl -f .npz
            err did you mean npz?
         2 cube.stl -o a.npzz
            err did you mean .npz?
         2 cube.stl -o a.gltf
            err did you mean .glb?
         2 cube.stl --voxel-size 0.5 mm
            err as in --voxel-size 0.5mm
         2 cube.stl --output-format npz
            err did you mean --format?",
    );
    // Blanks replace commas where the meaning is unambiguous.
    for (option, value, code) in [
        ("--bounds", "0 0 0 10 10 10", 0),
        ("--dims", "4 4 4", 0),
        ("--voxel-size", "1 1 2", 0),
        ("-r", "64 64 64", 2),
    ] {
        let mut command = place.command("cube.stl -o a.npz");
        let output = command.args([option, value]).output().unwrap();
        let run = Run::new(option, output).expect(code);
        assert_eq!(
            run.err.contains("--dims X,Y,Z sets the number of cells"),
            code == 2,
            "{}",
            run.err
        );
    }
}
