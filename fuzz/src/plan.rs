//! The command line, from words to what a dry run says. No file is looked at.
//!
//! The input is the words, one a line, without the name of the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use voxelize::Kind;

use crate::{alone, cli};

/// Plans and tells what the words ask for.
pub fn check(bytes: &[u8]) {
    alone();
    let words = std::iter::once(&b"voxelize"[..]).chain(bytes.split(|byte| *byte == b'\n'));
    let said = cli::words::said(words.map(OsStr::from_bytes));
    match said {
        cli::words::Said::Text(text) => assert!(!text.trim().is_empty()),
        cli::words::Said::Called(verb) => assert!(bytes.windows(verb.len()).any(|w| w == verb.as_bytes())),
        cli::words::Said::Many => (),
        cli::words::Said::Planned { text, json } => {
            assert!(text.lines().count() >= 5, "{text:?}");
            check_harmless(&text);
            let map: serde_json::Value = serde_json::from_str(&json).expect("one object of JSON");
            assert_eq!((map["schema"].as_u64(), map["exit_code"].as_u64()), (Some(1), Some(0)));
            assert!(!json.contains('\n') && map["status"] == "planned");
        }
        cli::words::Said::Failed { error, printed, exit_code } => {
            let lines: Vec<&str> = printed.lines().collect();
            assert!(matches!(lines.len(), 1 | 2) && lines[0].starts_with("error: "), "{printed:?}");
            check_harmless(&printed);
            let expected = match error.kind() {
                Kind::Usage => 2,
                Kind::Unfit => 4,
                Kind::TooLarge => 5,
                // A word that is nearly a verb; a mesh too far away for --strict.
                Kind::Input if matches!(error.code(), "not-found" | "L001") => 3,
                other => panic!("{other:?} for words: {error}"),
            };
            assert_eq!(exit_code, expected, "{error}");
        }
    }
}

/// Whatever was typed, a terminal shows it and obeys none of it.
fn check_harmless(text: &str) {
    assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
}
