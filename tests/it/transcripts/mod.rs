//! Transcripts of reviewed messages. Each file of tests/transcripts is one session in a separate folder:
//! commands, their exit codes, and all their output.
//!
//! To add a case, write a line `$ voxelize …` into one of the files and run `VOXELIZE_BLESS=1 cargo test
//! --test it transcripts`. Then read the changes.
//!
//! Lines of a file:
//! - `$ COMMAND` is run by bash. `voxelize` is the tool, `codes` a filter that keeps the codes of its JSON,
//!   and `interrupted voxelize …` interrupts the tool after a while.
//! - `meshes: NAME…` creates meshes by the names of [`meshes`] or of fixtures. `wild` is a folder of odd and
//!   broken ones.
//! - `exit: N`, `out| TEXT` and `err| TEXT` follow a command and are written when blessing. Commands other
//!   than the tool must succeed; their exit code is not shown.
//! - A command that fails leaves every file as it was. Exceptions are a report by `--json=FILE`, and the other
//!   meshes of a run into a folder.
//! - Comments (`#`) and empty lines are kept.

mod mask;
mod meshes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use tempfile::TempDir;
use voxelize::CODES;

use crate::support::{bless, place, wild};

/// Functions that commands may call besides the tool.
const PRELUDE: &str = r#"
set -o pipefail
voxelize() { "$VOXELIZE" "$@"; }
codes() { grep -o '"code":"[^"]*"'; }
interrupted() { shift; timeout --preserve-status -s INT 2 "$VOXELIZE" "$@"; }
"#;

/// Codes that cannot occur in a transcript: a closed pipe, which is no error; a file that a test cannot make
/// unreadable; S008, which the command replaces by its own codes; and a full disk.
const ELSEWHERE: [&str; 4] = ["closed-pipe", "S008", "V010", "W012"];

/// Starts of generated lines.
const MADE: [&str; 3] = ["exit: ", "out|", "err|"];

/// Generates a test for every subject: a file `tests/transcripts/SUBJECT.txt`.
macro_rules! subjects {
    ($($subject:ident)*) => {
        const SUBJECTS: &[&str] = &[$(stringify!($subject)),*];
        $(#[test] fn $subject() { check(stringify!($subject)); })*
    };
}

subjects! { checks clearance codes convert diff dry_run errors formats help info json many memory poses reading regions summary verify verify_errors view warnings }

#[test]
fn every_transcript_is_of_a_subject() {
    let found = fs::read_dir(bless::root("tests/transcripts")).unwrap();
    let found: BTreeSet<_> = found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<_> = SUBJECTS
        .iter()
        .map(|subject| format!("{subject}.txt"))
        .collect();
    assert_eq!(found, known, "files, and subjects of the list");
}

#[test]
fn every_code_is_in_a_transcript() {
    let shown: String = SUBJECTS
        .iter()
        .map(|subject| {
            fs::read_to_string(bless::root(&format!("tests/transcripts/{subject}.txt"))).unwrap()
        })
        .collect();
    let is_shown = |code: &&str| shown.contains(&format!("\"code\":\"{code}\""));
    let (shown, missing): (Vec<_>, Vec<_>) = CODES.iter().map(|code| code.name).partition(is_shown);
    assert!(
        shown.len() > 40 && missing.iter().all(|code| ELSEWHERE.contains(code)),
        "not shown: {missing:?}"
    );
}

/// Replays the session of a subject and compares.
fn check(subject: &str) {
    let path = format!("tests/transcripts/{subject}.txt");
    let text = fs::read_to_string(bless::root(&path)).unwrap();
    let session = Session::new();
    let mut played = String::new();
    let mut tried = 0;
    for line in text.lines() {
        if MADE.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        played += &format!("{line}\n");
        if let Some(command) = line.strip_prefix("$ ") {
            tried += usize::from(is_tool(command));
            played += &session.run(command);
        } else if let Some(names) = line.strip_prefix("meshes: ") {
            names.split(' ').for_each(|name| session.bring(name));
        } else {
            assert!(
                line.is_empty() || line.starts_with('#'),
                "{path}: is no line of a transcript: {line}"
            );
        }
    }
    assert!(tried > 0, "{path} has no command of the tool");
    bless::compare(&path, &played);
}

/// Reports whether a command calls the tool.
fn is_tool(command: &str) -> bool {
    command
        .split([' ', '(', '='])
        .any(|word| word == "voxelize")
}

/// Reports whether a single command failed as a whole, so that it must not write.
fn is_refusal(command: &str, code: i32) -> bool {
    let mut words = command.split(' ');
    let may_write = code != 2 && words.any(|w| w.ends_with('/') || w.starts_with("--json="));
    code >= 2 && !may_write && is_tool(command) && !command.contains(['|', '&', ';', '>'])
}

/// Folder in which commands run one after the other.
struct Session {
    folder: TempDir,
}

impl Session {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn bring(&self, name: &str) {
        if name == "wild" {
            fs::create_dir(self.folder.path().join(name)).unwrap();
            for case in wild::all() {
                fs::write(
                    self.folder.path().join(format!("wild/{}.stl", case.name)),
                    case.bytes,
                )
                .unwrap();
            }
            return;
        }
        fs::write(self.folder.path().join(name), meshes::bytes(name)).unwrap();
    }

    /// Returns the entries below the folder, and the size and time of files.
    fn files(&self) -> BTreeMap<PathBuf, Option<(u64, SystemTime)>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let facts = fs::symlink_metadata(&path).unwrap();
                let of_file = facts
                    .is_file()
                    .then(|| (facts.len(), facts.modified().unwrap()));
                found.insert(path.clone(), of_file);
                if facts.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }

    /// Runs a command and returns its exit code and output as lines of a transcript.
    fn run(&self, command: &str) -> String {
        place::dispositions();
        let before = self.files();
        let output = Command::new("bash")
            .args(["-c", &format!("{PRELUDE}\n{command}")])
            .current_dir(self.folder.path())
            .env("VOXELIZE", env!("CARGO_BIN_EXE_voxelize"))
            .env("FIXTURES", bless::root("fixtures"))
            .env("LC_ALL", "C")
            .env_remove("CI")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let code = output.status.code().unwrap();
        if is_refusal(command, code) {
            assert!(self.files() == before, "files have changed: {command}");
        }
        assert!(
            !out.contains('\x1b') && !err.contains('\x1b'),
            "colours or bars off a terminal: {command}"
        );
        assert!(is_tool(command) || code == 0, "{command}\n{out}{err}");
        let exit = if is_tool(command) {
            format!("exit: {code}\n")
        } else {
            String::new()
        };
        let folder = self.folder.path().to_str().unwrap();
        let shown = |start: &str, text: &str| -> String {
            text.lines()
                .filter(|line| !mask::is_of_disk(line))
                .map(|line| {
                    format!("{start} {}", mask::line(line, folder))
                        .trim_end()
                        .to_string()
                        + "\n"
                })
                .collect()
        };
        exit + &shown("out|", &out) + &shown("err|", &err)
    }
}
