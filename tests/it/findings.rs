//! Is docs/findings.md the table of codes, and is every code that is used in it, and used?
//!
//! `VOXELIZE_BLESS=1` writes the page again, and fails once more.

use std::collections::BTreeSet;
use std::fs;

use crate::support::bless;
use voxelize::error::CodeInfo;
use voxelize::{CODES, Severity};

const HEAD: &str = "\
# Findings

Every error and warning has a code, which never changes its meaning: errors in `error.code` of `--json`,
warnings and notes in `warnings[]`, with what was found, how often, and the place of the first: triangle and
byte count from 0, lines from 1, all in what is packed if the file is a .gz.

What is odd about a mesh file is refused by default if it could change the result without a word. What changes
nothing here is a note, said with `-v` and in JSON. `--strict` refuses every finding of codes `S` and `L`, in [`check`](check.md) of `M` too: what
passes is a file that any program should read alike. `--lenient` takes what is whole and warns: triangles that
are cut, broken or not finite are dropped, and `mesh.dropped` counts them. If count and length of a binary STL
differ, whole triangles up to the end are taken; what is left is believed to be something else if it makes no
whole triangle, and then the count holds, unless it is 0. If nothing is whole, it is an error all the same.

This page is made from [src/error/code.rs](../src/error/code.rs).
";

fn table(title: &str, rows: &[&CodeInfo]) -> String {
    assert!(!rows.is_empty(), "{title}");
    let outcome = |row: &CodeInfo| match (row.severity, row.lenient) {
        (usual, lenient) if usual == lenient => usual.name().to_string(),
        (usual, lenient) => format!("{}; `--lenient`: {}", usual.name(), lenient.name()),
    };
    let line = |row: &&CodeInfo| {
        format!("| {} | {} | {} | {} |\n", row.name, row.finding, outcome(row), row.advice.trim())
    };
    let lines: String = rows.iter().map(line).collect();
    format!("\n## {title}\n\n| code | finding | becomes | what to do |\n|---|---|---|---|\n{lines}")
}

fn page() -> String {
    let (coded, words): (Vec<&CodeInfo>, Vec<_>) =
        CODES.iter().partition(|row| row.name.starts_with(|c: char| c.is_ascii_uppercase()));
    let of = |letter| coded.iter().copied().filter(|row| row.name.starts_with(letter)).collect::<Vec<_>>();
    let parts = [
        table("Meshes", &of('S')),
        table("Checks of meshes", &of('M')),
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
            } else if !path.ends_with("error/code.rs") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(texts.len() > 50, "only {} files", texts.len());
    texts
}

#[test]
fn every_code_is_used() {
    let sources = sources();
    let after = |text: &str| text.chars().take_while(|c| c.is_alphanumeric()).collect::<String>();
    let used: BTreeSet<String> =
        sources.iter().flat_map(|text| text.split("Code::").skip(1).map(after)).collect();
    assert!(used.len() > 30, "only {} codes", used.len());
    for row in CODES {
        assert!(
            used.contains(&format!("{:?}", row.code)),
            "{} is in the table, and nothing uses it",
            row.name
        );
    }
}

#[test]
fn strictness_has_something_to_refuse_and_leniency_something_to_take() {
    let count =
        |usual, lenient| CODES.iter().filter(|row| (row.severity, row.lenient) == (usual, lenient)).count();
    assert!(count(Severity::Note, Severity::Note) >= 5);
    assert!(count(Severity::Error, Severity::Warning) >= 5);
}
