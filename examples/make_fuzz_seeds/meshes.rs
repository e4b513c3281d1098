//! STL files: some triangles of every fixture, and the oddities that readers must expect.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Seeds;
use super::fixtures::{self, FIXTURES, Triangle};

/// Number of triangles of a fixture that suffice as a start.
const ENOUGH: usize = 12;

/// Returns the first triangles of every fixture.
fn parts() -> Vec<(&'static str, Vec<Triangle>)> {
    FIXTURES
        .iter()
        .map(|f| (f.file, (f.make)().into_iter().take(ENOUGH).collect()))
        .collect()
}

/// Returns whole files of every kind, for the target that detects formats.
pub fn files() -> Seeds {
    let mut seeds = Seeds::new();
    for (name, triangles) in parts() {
        seeds.push((format!("binary-{name}"), fixtures::binary(&triangles)));
        seeds.push((format!("ascii-{name}"), fixtures::ascii(&triangles)));
    }
    let (_, triangles) = &parts()[0];
    let binary = fixtures::binary(triangles);
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut bytes = binary.clone();
        change(&mut bytes);
        bytes
    };
    let odd = [
        ("empty", Vec::new()),
        (
            "no-triangles",
            changed(|bytes| {
                bytes.truncate(84);
                bytes[80..].fill(0);
            }),
        ),
        ("cut", changed(|bytes| bytes.truncate(bytes.len() - 7))),
        ("longer", changed(|bytes| bytes.extend([0; 50]))),
        ("count-of-all", changed(|bytes| bytes[80..84].fill(0xff))),
        (
            "nan",
            changed(|bytes| bytes[84 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes())),
        ),
        (
            "solid-binary",
            changed(|bytes| bytes[..6].copy_from_slice(b"solid ")),
        ),
        (
            "cut-nan",
            changed(|bytes| {
                bytes.truncate(bytes.len() - 7);
                bytes[84 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
            }),
        ),
        ("gzip-head", b"\x1f\x8b\x08\0".to_vec()),
        ("gzip", packed(&binary)),
        (
            "gzip-members",
            [packed(&binary[..99]), packed(&binary[99..])].concat(),
        ),
        (
            "gzip-cut",
            changed(|bytes| {
                *bytes = packed(bytes);
                bytes.truncate(bytes.len() / 2);
            }),
        ),
        ("gzip-longer", [&packed(&binary), &b"more"[..]].concat()),
        (
            "gzip-sum",
            changed(|bytes| {
                *bytes = packed(bytes);
                let sum = bytes.len() - 8;
                bytes[sum] ^= 1;
            }),
        ),
        ("gzip-twice", packed(&packed(&binary))),
        (
            "gzip-bomb",
            packed(&fixtures::binary(&[[[0.0; 3]; 3]; 10_000])),
        ),
        ("zip", b"PK\x03\x04".to_vec()),
        ("utf-16", b"\xff\xfes\0o\0l\0i\0d\0".to_vec()),
        ("ply", b"ply\nformat ascii 1.0\n".to_vec()),
    ];
    seeds.extend(odd.map(|(name, bytes)| (name.to_string(), bytes)));
    seeds.extend(
        texts()
            .into_iter()
            .map(|(name, text)| (format!("text-{name}"), [b"solid ", &text[..]].concat())),
    );
    seeds
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed
        .write_all(bytes)
        .and_then(|()| packed.finish())
        .expect("a Vec takes all")
}

/// Returns the texts after `solid ` in ASCII files.
pub fn texts() -> Seeds {
    let facet =
        "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet";
    let lines = facet
        .replace(" outer", "\nouter")
        .replace(" vertex", "\n vertex")
        .replace(" end", "\nend");
    let with = |from: &str, to: &str| format!("part\n{}\nendsolid part\n", lines.replace(from, to));
    let odd = [
        ("plain", with("", "")),
        (
            "two-solids",
            format!("a\n{lines}\nendsolid a\nsolid b\n{lines}\nendsolid b\n"),
        ),
        (
            "one-line",
            format!("{facet} {facet} endsolid solid {facet} endsolid"),
        ),
        ("no-name", format!("\n{lines}\nendsolid")),
        ("only-cr", with("\n", "\r")),
        ("crlf", with("\n", "\r\n")),
        ("shouted", with("", "").to_ascii_uppercase()),
        ("no-normals", with("normal 0 0 1", "")),
        ("nan-normals", with("0 0 1", "nan -nan(ind) 1.#QNAN")),
        ("nan", with("1 0 0", "nan 0 0")),
        ("infinite", with("1 0 0", "1e99 0 0")),
        ("comma", with("1 0 0", "1,5 0 0")),
        ("fortran", with("1 0 0", "1d3 0 0")),
        (
            "four-vertices",
            with("vertex 1 0 0", "vertex 1 0 0 vertex 1 1 0"),
        ),
        ("two-vertices", with("vertex 1 0 0", "")),
        (
            "one-of-three",
            format!(
                "a\n{facet}\n{}\n{facet}\nendsolid",
                facet.replace("1 0 0", "1,0 0")
            ),
        ),
        (
            "cut-word",
            with("", "").replace("endfacet\nendsolid part\n", "endfac"),
        ),
        ("more-after", with("", "") + "and more"),
        ("empty-solid", "\nendsolid\n".to_string()),
    ];
    odd.map(|(name, text)| (name.to_string(), text.into_bytes()))
        .into()
}
