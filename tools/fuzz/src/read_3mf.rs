//! Reader of 3MF.
//!
//! The input is a file, or otherwise the model of a package.

use std::io::{Cursor, Read, Write, copy, sink};

use voxelize::Result;
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::{alone, check_error, check_words, within};

/// Memory limit, because items may name one object many times.
const LIMIT: u64 = 8 << 20;

/// Memory outside of the limit: blocks of readers.
const BESIDE: usize = 24 << 20;

/// Reads `bytes` with default tolerance and leniently.
pub fn check(bytes: &[u8]) {
    alone();
    let made;
    let bytes = if bytes.starts_with(b"PK\x03\x04") {
        bytes
    } else {
        made = package(bytes);
        &made
    };
    let usual = read(bytes, Tolerance::Usual);
    let lenient = read(bytes, Tolerance::Lenient);
    for result in [&usual, &lenient] {
        match result {
            Ok(loaded) => check_loaded(loaded, bytes),
            // Items may name more triangles than there are bytes.
            Err(error) if error.triangle().is_some() => check_words(error),
            Err(error) => check_error(error, 'S', longest(bytes)),
        }
    }
    if let Ok(usual) = &usual {
        let lenient = lenient.expect("what is sound is read");
        assert!(usual.mesh == lenient.mesh && lenient.dropped == 0);
    }
}

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    let options = ReadOptions::default().tolerance(tolerance).memory(LIMIT);
    within(LIMIT as usize + BESIDE, || {
        read_stream(&mut &*bytes, "-", &options)
    })
}

/// Returns the length of the package or of the longest file in it. Errors name a place in either.
fn longest(bytes: &[u8]) -> usize {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else {
        return bytes.len();
    };
    let count = archive.len();
    let mut length = |n| {
        let file = archive.by_index(n).ok()?;
        let mut unpacked = file.take(LIMIT);
        // Read as much of it as is intact.
        let _ = copy(&mut unpacked, &mut sink());
        Some((LIMIT - unpacked.limit()) as usize)
    };
    (0..count)
        .filter_map(&mut length)
        .fold(bytes.len(), usize::max)
}

fn package(model: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    zip.start_file("3D/3dmodel.model", SimpleFileOptions::default())
        .expect("a name");
    zip.write_all(model).expect("a Vec takes all");
    zip.finish().expect("a Vec takes all").into_inner()
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
