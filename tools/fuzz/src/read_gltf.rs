//! Reader of glTF and GLB.
//!
//! The input is a file. If it is neither, it becomes the JSON and the binary chunk of a GLB.

use voxelize::Result;
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};

use crate::{alone, check_error, check_words, within};

/// Memory limit, because nodes may name one mesh many times.
const LIMIT: u64 = 8 << 20;

/// Memory outside of the limit: blocks of readers, and a Draco decoder for small inputs.
const BESIDE: usize = 24 << 20;

/// Reads `bytes` with default tolerance and leniently.
pub fn check(bytes: &[u8]) {
    alone();
    let made;
    let bytes = if bytes.starts_with(b"glTF") || bytes.starts_with(b"{") {
        bytes
    } else {
        made = glb(bytes);
        &made
    };
    let usual = read(bytes, Tolerance::Usual);
    let lenient = read(bytes, Tolerance::Lenient);
    for result in [&usual, &lenient] {
        match result {
            Ok(loaded) => check_loaded(loaded, bytes),
            // Nodes may name more triangles than there are bytes.
            Err(error) if error.triangle().is_some() => check_words(error),
            Err(error) => check_error(error, 'S', bytes.len()),
        }
    }
    if let Ok(usual) = &usual {
        let lenient = lenient.expect("what is sound is read");
        assert!(usual.mesh == lenient.mesh && lenient.dropped == 0);
    }
}

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    let options = ReadOptions::default()
        .textures(true)
        .tolerance(tolerance)
        .memory(LIMIT);
    within(LIMIT as usize + BESIDE, || {
        read_stream(&mut &*bytes, "-", &options)
    })
}

fn glb(bytes: &[u8]) -> Vec<u8> {
    let split = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let (json, bin) = bytes.split_at(split);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + bytes.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bin)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

fn check_loaded(loaded: &Loaded, bytes: &[u8]) {
    assert_eq!(loaded.bytes, bytes.len() as u64);
    let triangles = loaded.mesh.triangles();
    assert!(
        triangles
            .as_flattened()
            .as_flattened()
            .iter()
            .all(|coordinate| coordinate.is_finite())
    );
    for parts in PartKind::ALL
        .into_iter()
        .filter_map(|kind| loaded.mesh.parts(kind))
    {
        assert!((0..triangles.len() as u32).all(|n| (parts.of(n) as usize) < parts.names().len()));
    }
}
