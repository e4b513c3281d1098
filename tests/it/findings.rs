//! Is docs/findings.md the table of codes, and is every code that is used in it, and used?
//!
//! `VOXELIZE_BLESS=1` writes the page again, and fails once more.

use std::collections::BTreeSet;
use std::fs;

use crate::support::bless;
use voxelize::codes::{CODES, Code, Outcome};

const HEAD: &str = "\
# Findings

Every error and warning has a code, which never changes its meaning: errors in `error.code` of `--json`,
warnings and notes in `warnings[]`, with what was found, how often, and the place of the first: triangle and
byte count from 0, lines from 1, all in what is packed if the file is a .gz.

What is odd about a mesh file is refused by default if it could change the result without a word. What changes
nothing here is a note, said with `-v` and in JSON. `--strict` refuses every finding of codes `S` and `L`: what
passes is a file that any program should read alike. `--lenient` takes what is whole and warns: triangles that
are cut, broken or not finite are dropped, and `mesh.dropped` counts them. If count and length of a binary STL
differ, whole triangles up to the end are taken; what is left is believed to be something else if it makes no
whole triangle, and then the count holds, unless it is 0. If nothing is whole, it is an error all the same.

This page is made from [src/codes.rs](../src/codes.rs).
";

fn table(title: &str, rows: &[&Code]) -> String {
    assert!(!rows.is_empty(), "{title}");
    let outcome = |row: &Code| match (row.usual, row.lenient) {
        (usual, lenient) if usual == lenient => usual.name().to_string(),
        (usual, lenient) => format!("{}; `--lenient`: {}", usual.name(), lenient.name()),
    };
    let line = |row: &&Code| {
        format!("| {} | {} | {} | {} |\n", row.code, row.finding, outcome(row), row.advice.trim())
    };
    let lines: String = rows.iter().map(line).collect();
    format!("\n## {title}\n\n| code | finding | becomes | what to do |\n|---|---|---|---|\n{lines}")
}

fn page() -> String {
    let (coded, words): (Vec<&Code>, Vec<_>) =
        CODES.iter().partition(|row| row.code.starts_with(|c: char| c.is_ascii_uppercase()));
    let of = |letter| coded.iter().copied().filter(|row| row.code.starts_with(letter)).collect::<Vec<_>>();
    let parts = [
        table("Meshes", &of('S')),
        table("Meshes on their grid", &of('L')),
        table("Voxel files", &of('V')),
        table("Lists of goldens", &of('G')),
        table("Other warnings", &of('W')),
        table("Other errors", &words),
    ];
    format!("{HEAD}{}", parts.concat())
}

#[test]
fn the_page_is_the_table() {
    bless::compare("docs/findings.md", &page());
}

/// The text of every source file but the table.
fn sources() -> Vec<String> {
    let (mut folders, mut texts) = (vec![bless::root("src")], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("codes.rs") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(texts.len() > 50, "only {} files", texts.len());
    texts
}

/// Whether a text in quotes is a code of a letter and three digits.
fn is_code(text: &str) -> bool {
    let (letter, digits) = text.split_at(1);
    text.len() == 4 && letter.as_bytes()[0].is_ascii_uppercase() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[test]
fn every_code_is_in_the_table_and_is_used() {
    let sources = sources();
    let quoted: BTreeSet<&str> = sources.iter().flat_map(|text| text.split('"')).collect();
    let mut seen = 0;
    for code in quoted.iter().filter(|text| text.is_ascii() && text.len() == 4 && is_code(text)) {
        assert!(voxelize::codes::of(code).is_some(), "{code} is not in the table");
        seen += 1;
    }
    assert!(seen > 30, "only {seen} codes");
    for row in CODES {
        assert!(quoted.contains(row.code), "{} is in the table, and nothing uses it", row.code);
    }
    // The first word behind `Error::input(` is a code as well.
    for text in &sources {
        for rest in text.split("Error::input(").skip(1) {
            if let Some(code) = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                assert!(voxelize::codes::of(code).is_some(), "{code} is not in the table");
            }
        }
    }
}

#[test]
fn strictness_has_something_to_refuse_and_leniency_something_to_take() {
    let count =
        |usual, lenient| CODES.iter().filter(|row| (row.usual, row.lenient) == (usual, lenient)).count();
    assert!(count(Outcome::Noted, Outcome::Noted) >= 5);
    assert!(count(Outcome::Refused, Outcome::Warned) >= 5);
}
