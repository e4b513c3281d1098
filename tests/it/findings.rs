//! docs/reference/findings.md is the table of codes. Every code that it mentions is defined, and every code is used.
//!
//! `VOXELIZE_BLESS=1` writes the page again and fails once more.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::bless;
#[cfg(feature = "cli")]
use crate::support::place::Place;
use voxelize::error::CodeInfo;
use voxelize::{CODES, Hint, Severity};

const HEAD: &str = "\
# Findings

Every error and every warning has a code. A code never changes its meaning. `--json` has the code of an error in
`error.code`, and warnings and notes in `warnings[]`, each with a message, a count and the place of the first
occurrence. Triangles and bytes are numbered from 0, lines from 1. In a gzip file, byte positions refer to the unpacked
content. `voxelize explain W009` prints the row of a code.

By default, a finding in a mesh file is an error if it could silently change the result. Findings without effect
are notes, which `-v` and JSON report. `--strict` makes every finding with a code S or L an error, and in
[`check`](check.md) also every code M. `--lenient` keeps the intact part of a damaged file and warns. It drops
triangles that are truncated, malformed or not finite, and `mesh.dropped` counts them. If the length of a binary STL does
not match its stated number of triangles, `--lenient` reads whole triangles up to the end of the file. A file without an
intact triangle is always an error.

A test generates this page from the table of codes in `crates/core/src/error/code.rs`.
";

fn table(title: &str, rows: &[&CodeInfo]) -> String {
    assert!(!rows.is_empty(), "{title}");
    let outcome = |row: &CodeInfo| match (row.severity, row.lenient) {
        (usual, lenient) if usual == lenient => usual.name().to_string(),
        (usual, lenient) => format!("{}; `--lenient`: {}", usual.name(), lenient.name()),
    };
    let line = |row: &&CodeInfo| {
        let advice = Hint::from(row.advice);
        format!(
            "| {} | {} | {} | {advice} |\n",
            row.name,
            row.finding,
            outcome(row)
        )
    };
    let lines: String = rows.iter().map(line).collect();
    format!(
        "\n## {title}\n\n| code | finding | severity | what to do |\n|---|---|---|---|\n{lines}"
    )
}

fn page() -> String {
    let (coded, words): (Vec<&CodeInfo>, Vec<_>) = CODES
        .iter()
        .partition(|row| row.name.starts_with(|c: char| c.is_ascii_uppercase()));
    let of = |letter| {
        coded
            .iter()
            .copied()
            .filter(|row| row.name.starts_with(letter))
            .collect::<Vec<_>>()
    };
    let parts = [
        table("Meshes", &of('S')),
        table("Checks of meshes", &of('M')),
        table("Meshes on their grid", &of('L')),
        table("Voxel files", &of('V')),
        table("Regions of stores", &of('R')),
        table("Lists of goldens", &of('G')),
        table("Other warnings", &of('W')),
        table("Other errors", &words),
    ];
    let page = format!("{HEAD}{}", parts.concat());
    let is_there = |row: &&CodeInfo| page.contains(&format!("\n| {} |", row.name));
    assert!(
        CODES.iter().all(|row| is_there(&row)),
        "a code is in no table"
    );
    page
}

#[test]
fn the_page_is_the_table() {
    bless::compare("docs/reference/findings.md", &page());
}

/// Returns every source file with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![bless::root("src"), bless::root("crates")];
    let mut texts = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                texts.push((path, text));
            }
        }
    }
    assert!(texts.len() > 50, "only {} files", texts.len());
    texts
}

#[test]
fn every_code_is_used() {
    let sources = sources();
    let after = |text: &str| {
        text.chars()
            .take_while(|c| c.is_alphanumeric())
            .collect::<String>()
    };
    let used: BTreeSet<String> = sources
        .iter()
        .filter(|(path, _)| !path.ends_with("error/code.rs"))
        .flat_map(|(_, text)| text.split("Code::").skip(1).map(after))
        .collect();
    assert!(used.len() > 30, "only {} codes", used.len());
    for row in CODES {
        assert!(
            used.contains(&format!("{:?}", row.code)),
            "{} is in the table, and nothing uses it",
            row.name
        );
    }
}

/// Hints of the library name options between backquotes, so that other front ends can spell them.
#[cfg(feature = "cli")]
#[test]
fn options_in_hints_are_options_of_the_command_line() {
    let place = Place::new();
    let commands = [
        "",
        "check",
        "clearance",
        "finish",
        "plan",
        "region",
        "verify",
    ];
    let help: String = commands
        .map(|command| {
            place
                .run(&format!("{command} --help"))
                .expect(0)
                .text()
                .to_string()
        })
        .concat();
    let words: BTreeSet<&str> = help
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .collect();
    let mut quoted = 0;
    for (path, text) in sources() {
        if path.starts_with(bless::root("src")) {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for line in code.lines() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for (i, piece) in line.split('`').enumerate() {
                let is_quoted = i % 2 == 1;
                let is_hint = piece.starts_with('-') || piece.starts_with("voxelize ");
                if is_quoted && is_hint {
                    for option in piece.split(' ').filter(|word| is_option(word)) {
                        assert!(words.contains(option), "{}: {option}", path.display());
                        quoted += 1;
                    }
                } else if line.contains('"') && !line.contains("# Golden results") {
                    // The first line of a list of goldens is for its readers.
                    let bare = piece
                        .split(' ')
                        .find(|word| word.starts_with("--") && is_option(word));
                    assert_eq!(bare, None, "{}: {line}", path.display());
                }
            }
        }
    }
    assert!(quoted > 60, "{quoted}");
}

/// Whether it is `-o` or `--output`, and not a list such as `-x,-y,z`.
#[cfg(feature = "cli")]
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_name && (dashes == 1 && name.len() == 1 || dashes == 2 && name.len() > 1)
}

#[test]
fn strictness_has_something_to_refuse_and_leniency_something_to_take() {
    let count = |usual, lenient| {
        CODES
            .iter()
            .filter(|row| (row.severity, row.lenient) == (usual, lenient))
            .count()
    };
    assert!(count(Severity::Note, Severity::Note) >= 5);
    assert!(count(Severity::Error, Severity::Warning) >= 5);
}
