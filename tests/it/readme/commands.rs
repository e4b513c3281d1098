//! The commands of the README and of docs run and print the output on the page.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{blocks, fenced, is_for_users, page, pages};
use crate::support::bless::root;

/// Commands that set up this project. The README promises that there are no others.
const SET_UP: [&str; 2] = [
    "cargo run --release -- fixtures/knot.stl --res 256",
    "cargo test",
];

/// A folder for the commands of a page, with the fixtures, the files that stand in for those of users, and the command.
struct Place {
    folder: tempfile::TempDir,
    path: std::ffi::OsString,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        copy(&root("fixtures"), &folder.path().join("fixtures"));
        for line in page("tests/stand_ins.txt").lines() {
            if line.starts_with('#') {
                continue;
            }
            let (name, fixture) = line.split_once(' ').expect("a name and a fixture");
            let to = folder.path().join(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(root(fixture), to).unwrap();
        }
        let command = Path::new(env!("CARGO_BIN_EXE_voxelize")).parent().unwrap();
        let mut path = command.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Place { folder, path }
    }

    /// Runs a command line of a page. `None` if it does not call this tool.
    fn run(&self, line: &str) -> Option<Output> {
        let line = line.split(" # ").next().unwrap_or(line).trim();
        let line = line.replace("cargo run --release -- ", "voxelize ");
        if !line.starts_with("voxelize ") && !line.contains("| voxelize ") {
            return None;
        }
        let mut command = Command::new("sh");
        command
            .args(["-c", &line])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            // Goldens are recorded, which is refused in CI.
            .env_remove("CI");
        Some(command.output().unwrap())
    }
}

/// The command lines of a block, where `\` joins a line with the next one.
fn lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    joined.lines().map(str::to_string).collect()
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
fn every_command_runs_as_shown() {
    let mut ran = 0;
    let mut compared = 0;
    for (path, text) in pages() {
        let place = Place::new();
        for (language, block) in fenced(&text) {
            match language {
                "sh" => {
                    for line in lines(&block) {
                        if !is_for_users(&path) && !line.contains("fixtures/") {
                            continue;
                        }
                        let Some(output) = place.run(&line) else {
                            continue;
                        };
                        let printed = String::from_utf8_lossy(&output.stderr);
                        assert!(output.status.success(), "{path}: {line}\n{printed}");
                        ran += 1;
                    }
                }
                "console" => {
                    for session in block.split("$ ").skip(1) {
                        let (line, shown) = session.split_once('\n').unwrap_or((session, ""));
                        let Some(output) = place.run(line) else {
                            continue;
                        };
                        let printed = [output.stdout, output.stderr]
                            .map(|bytes| String::from_utf8(bytes).unwrap())
                            .concat();
                        assert!(output.status.success(), "{path}: {line}\n{printed}");
                        let [shown, printed] = [shown, &printed]
                            .map(|text| text.lines().map(steady).collect::<Vec<_>>());
                        assert_eq!(shown, printed, "{path}: {line}");
                        compared += shown.len();
                        ran += 1;
                    }
                }
                // Blocks of other kinds are not run, so they hold no command of ours.
                _ => {
                    let is_command =
                        |line: &str| line.trim_start_matches("$ ").starts_with("voxelize ");
                    assert!(
                        !is_for_users(&path) || !block.lines().any(is_command),
                        "{path}: a command that nothing runs, in a block of {language}"
                    );
                }
            }
        }
    }
    assert!(
        ran > 100 && compared > 30,
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
    let text = page("docs/reference/json.md");
    let place = Place::new();
    let (before, _) = text.split_once("```json").expect("the page shows the JSON");
    let command = blocks(before, "sh")
        .pop()
        .expect("a command before the JSON");
    let output = place.run(&command).expect("a command of this tool");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown: Value = serde_json::from_str(&blocks(&text, "json")[0]).unwrap();
    assert!(
        alike(&shown, &printed, ""),
        "{command}\nshown {shown}\nsaid  {printed}"
    );
}
