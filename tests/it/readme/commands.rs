//! The commands of the README and of docs run and print the output on the page.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{blocks, page, pages};
use crate::support::bless::root;

/// Commands that set up this project. The README promises that there are no others.
const SET_UP: [&str; 2] = [
    "cargo run --release -- fixtures/knot.stl --res 256",
    "cargo test",
];

/// Runs a command line of the README in `folder`. `None` if it is not a command of this tool.
fn run(line: &str, folder: &Path) -> Option<Output> {
    let line = line.split(" # ").next().unwrap_or(line).trim();
    let words = line
        .strip_prefix("voxelize ")
        .or_else(|| line.strip_prefix("cargo run --release -- "))?;
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("\"$VOXELIZE\" {words}")])
        .current_dir(folder);
    // Recording goldens is refused in CI.
    Some(
        command
            .env("VOXELIZE", env!("CARGO_BIN_EXE_voxelize"))
            .env_remove("CI")
            .output()
            .unwrap(),
    )
}

/// Creates a folder with the fixtures for running commands.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    copy(&root("fixtures"), &place.path().join("fixtures"));
    place
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let from = entry.as_ref().unwrap().path();
        let to = to.join(entry.unwrap().file_name());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Returns the start of a line that is the same in every run.
fn steady(line: &str) -> &str {
    match line.rsplit_once("  ") {
        _ if line.starts_with("time ") => "time ",
        _ if line.starts_with("total ") => line.rsplitn(3, "; ").last().unwrap_or(line),
        // The time of a case.
        Some((before, time)) if time.ends_with(" ms") => before.trim_end(),
        _ => line.trim_end(),
    }
}

#[cfg(unix)]
#[test]
fn every_command_with_a_fixture_runs_as_shown() {
    let mut ran = 0;
    let mut compared = 0;
    for (path, text) in pages() {
        let place = place();
        for block in blocks(&text, "sh") {
            for line in block.lines().filter(|line| line.contains("fixtures/")) {
                let Some(output) = run(line, place.path()) else {
                    continue;
                };
                let printed = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{path}: {line}\n{printed}");
                ran += 1;
            }
        }
        for block in blocks(&text, "console") {
            for session in block.split("$ ").skip(1) {
                let (line, shown) = session.split_once('\n').unwrap_or((session, ""));
                let Some(output) = run(line, place.path()) else {
                    continue;
                };
                let printed = [output.stdout, output.stderr]
                    .map(|bytes| String::from_utf8(bytes).unwrap())
                    .concat();
                assert!(output.status.success(), "{path}: {line}\n{printed}");
                let [shown, printed] =
                    [shown, &printed].map(|text| text.lines().map(steady).collect::<Vec<_>>());
                assert_eq!(shown, printed, "{path}: {line}");
                compared += shown.len();
                ran += 1;
            }
        }
    }
    assert!(
        ran > 30 && compared > 30,
        "{ran} commands ran, {compared} lines were compared"
    );
}

#[test]
fn the_set_up_commands_are_there() {
    let text = page("README.md");
    let lines: Vec<_> = ["sh", "console"]
        .iter()
        .flat_map(|l| blocks(&text, l))
        .collect();
    for command in SET_UP {
        let line = |block: &String| {
            block
                .lines()
                .any(|line| line.trim_start_matches("$ ") == command)
        };
        assert!(lines.iter().any(line), "{command}");
    }
}

/// Reports whether two values have the same keys and, except for values that vary between runs, the same
/// values.
fn alike(shown: &Value, printed: &Value, key: &str) -> bool {
    match (shown, printed) {
        _ if ["timings_ms", "memory", "run"].contains(&key) => keys(shown) == keys(printed),
        (Value::Object(a), Value::Object(b)) => {
            keys(shown) == keys(printed) && a.iter().all(|(key, value)| alike(value, &b[key], key))
        }
        _ => shown == printed,
    }
}

fn keys(value: &Value) -> Vec<&String> {
    value
        .as_object()
        .map(|map| map.keys().collect())
        .unwrap_or_default()
}

#[cfg(unix)]
#[test]
fn the_json_shown_is_the_output_of_the_command() {
    let text = page("docs/json.md");
    let place = place();
    let (before, _) = text.split_once("```json").expect("the page shows the JSON");
    let command = blocks(before, "sh")
        .pop()
        .expect("a command before the JSON");
    let output = run(&command, place.path()).expect("a command of this tool");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown: Value = serde_json::from_str(&blocks(&text, "json")[0]).unwrap();
    assert!(
        alike(&shown, &printed, ""),
        "{command}\nshown {shown}\nsaid  {printed}"
    );
}
