//! Tables of command lines with their exit codes and expected output.
//!
//! A row is an exit code and a command line. Expectations follow on lines of their own:
//!
//! ```text
//! 0 cube.stl -r 4 -o a.npz --json
//!     /grid/dims [4,4,4]
//!     no err warning
//! 2 cube.stl -r 0
//!     err must be at least 1
//! ```
//!
//! - `/POINTER VALUE`: the JSON on standard output has this value at this pointer. Without a value, it has any.
//!   Several lines of JSON are an array.
//! - `out TEXT`, `err TEXT`: standard output or standard error contains this text.
//! - `no out TEXT`, `no err TEXT`: it does not contain this text. Without a text, it is empty.
//! - `line N TEXT`: line N of standard output, counted from 1, is this text.
//! - `file NAME`, `no file NAME`: the file exists, or does not, after the run.
//!
//! Lines that begin with `#` are comments.

use serde_json::Value;

use super::place::{Place, Run};
use super::stores::files;

/// Row of a table.
struct Row<'a> {
    line: &'a str,
    code: i32,
    expectations: Vec<&'a str>,
}

/// Runs every row of a table in order and checks its expectations. Returns the runs.
#[track_caller]
pub fn check(place: &Place, table: &str) -> Vec<Run> {
    let mut runs = vec![];
    for row in parse(table) {
        let run = place.run(row.line).expect(row.code);
        for expectation in row.expectations {
            meet(place, &run, expectation);
        }
        runs.push(run);
    }
    runs
}

/// Checks a table whose rows are refused, each with one line of error and one of hint, and leave the files
/// unchanged.
#[track_caller]
pub fn refused(place: &Place, table: &str) {
    let before = (place.files(), files(&place.path("")));
    for run in check(place, table) {
        let starts: Vec<_> = run.err.lines().map(|line| line.get(..5)).collect();
        assert_eq!(
            starts,
            [Some("error"), Some("hint:")],
            "voxelize {}\n{}",
            run.line,
            run.err
        );
    }
    assert!(
        (place.files(), files(&place.path(""))) == before,
        "files have changed"
    );
}

#[track_caller]
fn parse(table: &str) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = vec![];
    for line in table.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            let (code, line) = line.split_once(' ').unwrap_or((line, ""));
            rows.push(Row {
                line,
                code: code.parse().expect("an exit code"),
                expectations: vec![],
            });
        } else {
            let row = rows.last_mut().expect("a row before its expectations");
            row.expectations.push(line);
        }
    }
    assert!(!rows.is_empty(), "a table without rows");
    rows
}

/// Checks one expectation.
#[track_caller]
fn meet(place: &Place, run: &Run, expectation: &str) {
    let (expected, positive) = match expectation.strip_prefix("no ") {
        Some(rest) => (false, rest),
        None => (true, expectation),
    };
    let (kind, text) = positive.split_once(' ').unwrap_or((positive, ""));
    let found = match kind {
        "out" => contains(run.text(), text),
        "err" => contains(&run.err, text),
        "line" => {
            let (number, text) = text.split_once(' ').expect("a number and a text");
            let number: usize = number.parse().expect("the number of a line");
            run.text().lines().nth(number - 1) == Some(text)
        }
        "file" => place.path(text).exists(),
        pointer if pointer.starts_with('/') => {
            let json = json(run);
            let value = json.pointer(pointer);
            value.is_some_and(|value| {
                text.is_empty() || *value == serde_json::from_str::<Value>(text).expect(text)
            })
        }
        _ => panic!("not an expectation: {expectation}"),
    };
    assert_eq!(
        found,
        expected,
        "voxelize {}\n{expectation}\n{}{}",
        run.line,
        String::from_utf8_lossy(&run.out),
        run.err
    );
}

/// Reports whether the output contains the text, or anything if there is no text.
fn contains(output: &str, text: &str) -> bool {
    if text.is_empty() {
        !output.is_empty()
    } else {
        output.contains(text)
    }
}

/// Returns the JSON on standard output. Several lines are an array.
#[track_caller]
pub fn json(run: &Run) -> Value {
    let mut objects: Vec<Value> = run
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    if objects.len() == 1 {
        objects.remove(0)
    } else {
        Value::Array(objects)
    }
}
