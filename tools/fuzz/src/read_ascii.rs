//! Reader of ASCII STL.
//!
//! The input is the text after `solid`. Bytes that are not text are replaced by `#`.

use std::borrow::Cow;
use std::fmt::Write;

use voxelize::geom::Triangle;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};
use voxelize::{Error, Result};

use crate::{alone, check_error, within};

/// Bytes that the reader reads at a time.
const BLOCK: usize = 256 << 10;

/// Reads `bytes` unchanged, in upper case, with other line ends, and across the end of a block.
pub fn check(bytes: &[u8]) {
    alone();
    let mut text = b"solid ".to_vec();
    text.extend(
        bytes
            .iter()
            .map(|&byte| if is_text(byte) { byte } else { b'#' }),
    );
    for tolerance in [Tolerance::Usual, Tolerance::Lenient] {
        check_text(&text, tolerance);
    }
}

fn check_text(text: &[u8], tolerance: Tolerance) {
    let plain = read(text, tolerance);
    match &plain {
        Ok(loaded) => check_loaded(loaded, text),
        Err(error) => check_error(error, 'S', text.len()),
    }
    assert_eq!(
        heart(&plain, 0),
        heart(&read(&text.to_ascii_uppercase(), tolerance), 0),
        "in capitals"
    );
    assert_eq!(
        heart(&plain, 0),
        heart(&read(&with_crlf(text), tolerance), 0),
        "with CRLF"
    );
    // A block takes longer than everything else together.
    if text.len().is_multiple_of(4) {
        let across = read(&across_blocks(text), tolerance);
        assert_eq!(heart(&plain, 1), heart(&across, 0), "across blocks");
    }
}

fn is_text(byte: u8) -> bool {
    byte >= b' ' || matches!(byte, b'\t'..=b'\r')
}

fn read(text: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    let options = ReadOptions::default().tolerance(tolerance);
    within((512 << 10) + 4 * text.len(), || {
        read_stream(&mut &*text, "-", &options)
    })
}

/// Code of an error, its triangle and its line.
type Place = (&'static str, Option<u64>, Option<u64>);

/// Returns the properties that must not change: the triangles and the number of dropped ones, or the error
/// with its place, `later` lines further down.
fn heart(result: &Result<Loaded>, later: u64) -> std::result::Result<(&[Triangle], u64), Place> {
    match result {
        Ok(loaded) => Ok((loaded.mesh.triangles(), loaded.dropped)),
        Err(error) => Err((
            error.code().name(),
            error.triangle(),
            error.line().map(|line| line + later),
        )),
    }
}

/// Checks that the text is read as ASCII STL, and that the written mesh reads back equal.
fn check_loaded(loaded: &Loaded, text: &[u8]) {
    assert_eq!(
        (loaded.format, loaded.bytes),
        ("stl-ascii", text.len() as u64)
    );
    let shortest = "facet outer loop vertex 0 0 0 vertex 0 0 0 vertex 0 0 0 endloop endfacet".len();
    let triangles = loaded.mesh.triangles();
    assert!(
        triangles.len() <= text.len() / shortest,
        "{} triangles",
        triangles.len()
    );
    let mut written = "solid\n".to_string();
    for triangle in triangles {
        written += "facet normal 0 0 0 outer loop\n";
        for [x, y, z] in triangle {
            writeln!(written, "vertex {x:e} {y} {z}").expect("a String takes all");
        }
        written += "endloop endfacet\n";
    }
    written += "endsolid";
    let again =
        read(written.as_bytes(), Tolerance::Usual).unwrap_or_else(|error: Error| panic!("{error}"));
    assert_eq!(again.mesh, loaded.mesh);
}

/// Replaces every single LF by CRLF.
fn with_crlf(text: &[u8]) -> Vec<u8> {
    let after_cr = |n: usize| n > 0 && text[n - 1] == b'\r';
    let ends = text.iter().enumerate().flat_map(|(n, byte)| {
        match byte {
            b'\n' if !after_cr(n) => Cow::Borrowed(&b"\r\n"[..]),
            byte => Cow::Owned(vec![*byte]),
        }
        .into_owned()
    });
    ends.collect()
}

/// Inserts an empty solid and blanks before the text, so that the reader fetches a block in its middle.
fn across_blocks(text: &[u8]) -> Vec<u8> {
    let mut long = b"solid endsolid\n".to_vec();
    long.resize(BLOCK - text.len() / 2 % BLOCK, b' ');
    long.extend(text);
    long
}
