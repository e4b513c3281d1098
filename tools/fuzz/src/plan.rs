//! The command line, from words to the report of a dry run. No file is read.
//!
//! The input consists of the words, one per line, without the name of the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use voxelize::cli::{self, DryRun};
use voxelize::{Kind, Mesh};

use crate::alone;

/// Plans the run of these words and reports it.
pub fn check(bytes: &[u8]) {
    alone();
    let words = std::iter::once(&b"voxelize"[..]).chain(bytes.split(|byte| *byte == b'\n'));
    match cli::dry_run(words.map(OsStr::from_bytes), &pyramid()) {
        DryRun::Page(text) => assert!(!text.trim().is_empty()),
        DryRun::Command(name) => assert!(bytes.windows(name.len()).any(|w| w == name.as_bytes())),
        DryRun::Report {
            error: None,
            text,
            json,
            exit_code,
        } => {
            check_harmless(&text);
            let map: serde_json::Value = serde_json::from_str(&json).expect("one object of JSON");
            assert_eq!(
                (map["schema"].as_u64(), map["exit_code"].as_u64()),
                (Some(1), Some(0))
            );
            assert!(!json.contains('\n') && exit_code == 0);
            assert!(
                map["status"] != "planned" || text.lines().count() >= 5,
                "{text:?}"
            );
        }
        DryRun::Report {
            error: Some(error),
            text,
            exit_code,
            ..
        } => {
            let lines: Vec<&str> = text.lines().collect();
            assert!(
                matches!(lines.len(), 1 | 2) && lines[0].starts_with("error"),
                "{text:?}"
            );
            check_harmless(&text);
            let expected = match error.kind() {
                Kind::Usage => 2,
                Kind::Unfit => 4,
                Kind::TooLarge => 5,
                // A word that is nearly a command; a mesh too far away for --strict.
                Kind::Input if matches!(error.code().name(), "not-found" | "L001") => 3,
                other => panic!("{other:?} for words: {error}"),
            };
            assert_eq!(exit_code, expected, "{error}");
        }
    }
}

/// Returns a mesh with differing extents. One of them is not a double.
fn pyramid() -> Mesh {
    let corners = [
        [0.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [4.0, 2.5, 0.0],
        [0.0, 2.5, 0.0],
    ];
    let sides = (0..4).map(|n| [corners[n], corners[(n + 1) % 4], [1.0, 1.0, -0.7]]);
    Mesh::from_triangles(sides.collect()).expect("finite coordinates")
}

/// Checks that terminals only print the text, whatever the words were.
fn check_harmless(text: &str) {
    assert!(
        !text.replace('\n', "").contains(char::is_control),
        "{text:?}"
    );
}
