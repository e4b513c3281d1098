//! Readers of OBJ, OFF and PLY.
//!
//! The input is a file.

use std::fmt::Write;

use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};
use voxelize::{Kind, Result};

use crate::{alone, check_error, read_stl, within};

/// Blocks of readers, and the initial size of lists of one word.
const BLOCKS: usize = 4 << 20;

/// Reads `bytes` with default tolerance, leniently, and with too little memory. Meshes are also written and
/// read back as OBJ.
pub fn check(bytes: &[u8]) {
    alone();
    if bytes.starts_with(read_stl::MAGIC) {
        // Packed files are the same for all formats.
        return;
    }
    let usual = read(bytes, ReadOptions::default());
    let lenient = read(bytes, ReadOptions::default().tolerance(Tolerance::Lenient));
    for result in [&usual, &lenient] {
        match result {
            Ok(loaded) => check_loaded(loaded, bytes),
            Err(error) => check_error(error, 'S', bytes.len()),
        }
    }
    if let Ok(usual) = &usual {
        let lenient = lenient.expect("what is sound is read");
        assert!(usual.mesh == lenient.mesh && lenient.dropped == 0);
        let need = size_of_val(usual.mesh.triangles()) as u64;
        if let Some(less) = need.checked_sub(1) {
            let error =
                read(bytes, ReadOptions::default().memory(less)).expect_err("a limit of memory");
            assert!(
                matches!(error.kind(), Kind::TooLarge | Kind::Input),
                "{error}"
            );
        }
    }
}

fn read(bytes: &[u8], options: ReadOptions) -> Result<Loaded> {
    within(BLOCKS + 64 * bytes.len(), || {
        read_stream(&mut &*bytes, "-", &options)
    })
}

/// Checks that the mesh is finite, no larger than its file permits, and reads back equal when written.
fn check_loaded(loaded: &Loaded, bytes: &[u8]) {
    assert_eq!(loaded.bytes, bytes.len() as u64);
    let triangles = loaded.mesh.triangles();
    // A corner takes two bytes as text, and one byte in a list of bytes.
    assert!(
        triangles.len() <= bytes.len(),
        "{} triangles",
        triangles.len()
    );
    assert!(
        triangles
            .as_flattened()
            .as_flattened()
            .iter()
            .all(|coordinate| coordinate.is_finite())
    );
    if let Some(parts) = loaded.mesh.parts(PartKind::Object) {
        assert!((0..triangles.len() as u32).all(|n| (parts.of(n) as usize) < parts.names().len()));
    }
    if triangles.is_empty() {
        return;
    }
    let mut written = String::new();
    for triangle in triangles {
        for [x, y, z] in triangle {
            writeln!(written, "v {x:e} {y} {z}").expect("a String takes all");
        }
        written += "f -3 -2 -1\n";
    }
    let again =
        read(written.as_bytes(), ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((again.format, &again.mesh), ("obj", &loaded.mesh));
}
