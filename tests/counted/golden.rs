//! Digests of fixtures × rules × ties × resolutions, and the bytes of files, compared with
//! `fixtures/golden.txt`: one line per case, sorted.
//!
//! `VOXELIZE_BLESS=1 cargo test --test counted golden` rewrites the file and fails nevertheless, so that a
//! blessing run never counts as a comparison.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::bless;
use crate::support::meshes::{fitted, fixture, fixtures, folder, rules, takes};
use crate::support::suite::{Counts, Suite};
use voxelize::format::{self, FORMATS, SaveOptions};
use voxelize::{Digest, Fit, Rule, Snap, voxelize};

/// Most meshes have ties on the first lattice, few on the second.
const LONGEST: [usize; 2] = [20, 67];

/// Formats whose bytes are the same everywhere. The bytes of a .npz depend on the compressor.
const PLAIN: [&str; 3] = ["vox", "npy", "raw"];

/// Cases by their key, the first words of a line. The value is the rest of the line.
type Lines = BTreeMap<String, String>;

pub const SUITE: Suite = Suite::of(
    "golden",
    &[
        ("changes_are_seen", changes_are_seen),
        ("nothing_changed", nothing_changed),
    ],
);

fn path() -> PathBuf {
    folder().join("golden.txt")
}

/// Computes every case with this build.
fn found() -> (Lines, Counts) {
    let mut lines = Lines::new();
    let grids = grid_lines();
    let files = file_lines();
    let counts = vec![("grids", grids.len() as u64), ("files", files.len() as u64)];
    lines.extend(grids);
    lines.extend(files);
    (lines, counts)
}

/// Returns lines `grid MESH RULE TIES LONGEST+PAD SNAP  DIMS COUNT CELLS GRID`.
fn grid_lines() -> Lines {
    let mut lines = Lines::new();
    for (name, mesh) in fixtures() {
        for (longest, pad, snap) in [(LONGEST[0], 0, Snap::Float), (LONGEST[0], 1, Snap::None)]
            .into_iter()
            .chain([(LONGEST[1], 0, Snap::Float)])
        {
            let lattice = fitted(Fit::longest(longest).pad(pad).snap(snap), &mesh);
            let offsets =
                ["0", "2.5vx"].map(|radius| Rule::offset(radius.parse().expect("a length")));
            for rule in rules()
                .into_iter()
                .filter(|rule| takes(rule, &mesh))
                .chain(offsets)
            {
                let voxels = voxelize(&mesh, &lattice, rule).expect("it fits");
                let Digest { cells, grid } = voxels.digest();
                let dims = voxels.dims().map(|n| n.to_string()).join("x");
                let snap = snap.name();
                let key = format!("grid {name} {} {longest}+{pad} {snap}", named(rule));
                let grid = grid.expect("the lattice is known");
                let value = format!("{dims} {} {cells} {grid}", voxels.count());
                assert!(
                    lines.insert(key.clone(), value).is_none(),
                    "{key} is there twice"
                );
            }
        }
    }
    lines
}

fn named(rule: Rule) -> String {
    let option = match rule {
        Rule::Offset { radius } => radius.to_string(),
        _ => rule.ties().map_or("-", |ties| ties.name()).to_string(),
    };
    format!("{} {option}", rule.name())
}

/// Returns lines `file MESH FORMAT TYPE  LENGTH HASH`.
fn file_lines() -> Lines {
    let mut lines = Lines::new();
    let formats: Vec<_> = FORMATS
        .iter()
        .filter(|format| PLAIN.contains(&format.name))
        .collect();
    assert_eq!(formats.len(), PLAIN.len());
    for mesh in ["f.stl", "prism.stl"] {
        for format in &formats {
            for &dtype in format.dtypes {
                let key = format!("file {mesh} {} {}", format.name, dtype.name());
                let bytes = bytes(mesh, format, dtype);
                let value = format!("{} {}", bytes.len(), blake3::hash(&bytes).to_hex());
                assert!(
                    lines.insert(key.clone(), value).is_none(),
                    "{key} is there twice"
                );
            }
        }
    }
    lines
}

/// Returns the file of a small grid without the version of the tool.
fn bytes(mesh: &str, format: &'static format::Format, dtype: format::Dtype) -> Vec<u8> {
    let mesh = fixture(mesh);
    let lattice = fitted(Fit::longest(10).pad(1), &mesh);
    let mut voxels = voxelize(&mesh, &lattice, Rule::surface()).expect("it fits");
    voxels.record.tool = Some("voxelize golden".to_string());
    let mut bytes = vec![];
    let options = SaveOptions {
        dtype: Some(dtype),
        ..SaveOptions::default()
    };
    format::write_to(&voxels, &mut bytes, format, &options).expect("it is written");
    bytes
}

/// Parses the lines of the file: a key and its value, split at the first two blanks.
fn parse(text: &str) -> Result<Lines, String> {
    let mut lines = Lines::new();
    let mut last = "";
    for (n, line) in text.lines().enumerate() {
        let (key, value) = line
            .split_once("  ")
            .ok_or(format!("line {}: no value: {line}", n + 1))?;
        if line <= last {
            return Err(format!("line {} is not sorted: {line}", n + 1));
        }
        last = line;
        if lines.insert(key.to_string(), value.to_string()).is_some() {
            return Err(format!("line {} is there twice: {key}", n + 1));
        }
    }
    Ok(lines)
}

fn print(lines: &Lines) -> String {
    let mut lines: Vec<_> = lines
        .iter()
        .map(|(key, value)| format!("{key}  {value}\n"))
        .collect();
    lines.sort();
    lines.concat()
}

/// Describes every difference in one line.
fn differences(golden: &Lines, found: &Lines) -> Vec<String> {
    let mut changes = vec![];
    for (key, now) in found {
        match golden.get(key) {
            None => changes.push(format!("missing: {key}  {now}")),
            Some(was) if was != now => {
                changes.push(format!("changed: {key}\n  was {was}\n  now {now}"))
            }
            Some(_) => {}
        }
    }
    let orphans = golden.keys().filter(|key| !found.contains_key(*key));
    changes.extend(orphans.map(|key| format!("orphan, no such case: {key}")));
    changes
}

/// Compares with the committed file.
fn nothing_changed() -> Counts {
    let (found, counts) = found();
    let text = std::fs::read_to_string(path())
        .unwrap_or_default()
        .replace("\r\n", "\n");
    if bless::is_blessing() {
        let changes =
            parse(&text).map_or_else(|why| vec![why], |golden| differences(&golden, &found));
        std::fs::write(path(), print(&found)).expect("the file can be written");
        panic!("blessed {} lines:\n{}", found.len(), changes.join("\n"));
    }
    let golden = parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path().display()));
    let changes = differences(&golden, &found);
    assert!(
        changes.is_empty(),
        "{} differences; if they are meant: VOXELIZE_BLESS=1 cargo test --test counted golden\n{}",
        changes.len(),
        changes.join("\n")
    );
    counts
}

/// The comparison detects a changed, a missing and an orphan line, and lines out of order.
fn changes_are_seen() -> Counts {
    let base = parse("grid a  1\ngrid b  2\n").expect("it is sorted");
    let cases = [
        (
            "grid a  1\ngrid b  3\n",
            "changed: grid b\n  was 2\n  now 3",
        ),
        ("grid a  1\n", "orphan, no such case: grid b"),
        ("grid a  1\ngrid b  2\ngrid c  3\n", "missing: grid c  3"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            differences(&base, &parse(text).expect("it is sorted")),
            [expected]
        );
    }
    assert!(differences(&base, &base).is_empty() && print(&base) == "grid a  1\ngrid b  2\n");
    for broken in [
        "grid b  2\ngrid a  1\n",
        "grid a  1\ngrid a  2\n",
        "grid a 1\n",
        "\n",
    ] {
        assert!(parse(broken).is_err(), "{broken:?}");
    }
    vec![("changes", cases.len() as u64)]
}
