//! Lists of goldens: TOML, parsed with lines and written again with comments.
//!
//! The input is the list. Bytes that are not text become �.

use voxelize::compare::{Case, Golden, Goldens};
use voxelize::grid::Hash;

use crate::{alone, check_error, within};

/// Parses a list and records in it.
pub fn check(bytes: &[u8]) {
    alone();
    let text = String::from_utf8_lossy(bytes);
    // A tree of the text, in which a byte becomes a node of a few hundred bytes.
    let parsed = within((1 << 20) + 2000 * text.len(), || Goldens::parse(&text));
    let goldens = match parsed {
        Ok(goldens) => goldens,
        Err(error) => return check_error(&error, 'G', text.len()),
    };
    assert!(!goldens.cases().is_empty());
    assert_eq!(parse(&goldens.to_text()).cases(), goldens.cases());
    for case in goldens.cases() {
        let lines = 1..=text.len() as u64 + 1;
        let options = case.options.0.iter().map(|option| option.line);
        for line in options.chain([case.line]) {
            assert!(line.is_some_and(|line| lines.contains(&line)), "{case:?}");
        }
        assert!(!case.title().is_empty());
        check_recorded(&goldens, case);
    }
}

fn parse(text: &str) -> Goldens {
    Goldens::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Checks that a recorded case is read back and that no other case changes.
fn check_recorded(goldens: &Goldens, case: &Case) {
    let grid: Hash = format!("v1:{}", "0a".repeat(16)).parse().expect("a digest");
    let golden = Golden::Digest { grid, cells: 7 };
    if !case.gate.is_closed() {
        // Limits are for voxel files only.
        return;
    }
    let mut goldens = goldens.clone();
    let before: Vec<_> = goldens.cases().iter().map(essence).collect();
    goldens.record(Case {
        golden: golden.clone(),
        ..case.clone()
    });
    let again = parse(&goldens.to_text());
    assert_eq!(again.cases().len(), before.len());
    for (after, before) in again.cases().iter().map(essence).zip(before) {
        let recorded = after.0 == case.mesh && after.1 == words(case);
        assert!(
            if recorded {
                after.3 == golden
            } else {
                after == before
            },
            "{before:?} is {after:?}"
        );
    }
}

/// Returns everything of a case except its lines, which may move.
fn essence(case: &Case) -> (String, String, Option<String>, Golden) {
    (
        case.mesh.clone(),
        words(case),
        case.name.clone(),
        case.golden.clone(),
    )
}

fn words(case: &Case) -> String {
    case.options
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
