//! Meshes as bytes. They are read in every way, which must agree: from a file, from a stream, and from a
//! stream that returns a few bytes at a time.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_file, read_stream};
use voxelize::{Error, Kind, Mesh, Result};

pub use crate::support::tables::{rows, text, unescaped};

/// Three vertices.
pub type Triangle = [[f32; 3]; 3];

/// Returns the path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

/// Returns the paths of all fixtures.
pub fn fixtures() -> Vec<PathBuf> {
    let all = std::fs::read_dir(fixture(""))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let meshes: Vec<_> = all
        .filter(|path| path.extension().is_some_and(|e| e == "stl"))
        .collect();
    assert!(meshes.len() >= 12);
    meshes
}

/// Reader that returns one to seven bytes at a time.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 % 7 + 1;
        let n = self.1.min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}

/// Returns the content of an error except its text, which is more specific for files.
pub fn place(error: &Error) -> (Kind, &str, Option<u64>, Option<u64>, Option<u64>) {
    (
        error.kind(),
        error.code().name(),
        error.triangle(),
        error.byte(),
        error.line(),
    )
}

/// Reads `bytes` in every way.
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Loaded> {
    let mut file = tempfile::Builder::new().suffix(".stl").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let result = read_file(file.path(), options);
    for stream in [
        &mut Cursor::new(bytes) as &mut dyn Read,
        &mut Dribble(bytes, 0),
    ] {
        match (&result, read_stream(stream, "-", options)) {
            (Ok(a), Ok(b)) => assert_eq!(*a, b),
            (Err(a), Err(b)) => assert_eq!(place(a), place(&b), "{a}\n{b}"),
            (a, b) => panic!("file and stream differ: {a:?}, {b:?}"),
        }
    }
    result
}

/// Reads `bytes` in every way without limits.
pub fn read(bytes: &[u8]) -> Result<Loaded> {
    read_with(bytes, &ReadOptions::default())
}

/// Reads `bytes` from a stream.
pub fn stream(bytes: impl AsRef<[u8]>, tolerance: Tolerance) -> Result<Loaded> {
    let options = ReadOptions::default().tolerance(tolerance);
    let loaded = read_stream(&mut bytes.as_ref(), "-", &options)?;
    assert_eq!(loaded.bytes, bytes.as_ref().len() as u64);
    Ok(loaded)
}

/// Returns the mesh of a file without findings.
#[track_caller]
pub fn sound(bytes: impl AsRef<[u8]>) -> Mesh {
    match stream(bytes, Tolerance::Strict) {
        Ok(loaded) => loaded.mesh,
        Err(error) => panic!("{error}"),
    }
}

/// Checks that a file is refused with an error of this code that contains this text. Returns the error.
#[track_caller]
pub fn refused(bytes: impl AsRef<[u8]>, code: &str, text: &str) -> Error {
    let error = stream(bytes, Tolerance::Usual)
        .map(|loaded| loaded.mesh)
        .expect_err("a damaged file");
    assert!(
        error.code().name() == code && error.to_string().contains(text),
        "{}: {error}, not {code}: {text}",
        error.code()
    );
    error
}

/// Checks that a limit of memory refuses a file.
#[track_caller]
pub fn too_large(bytes: impl AsRef<[u8]>, limit: u64) {
    let options = ReadOptions::default().memory(limit);
    let error = read_stream(&mut bytes.as_ref(), "-", &options).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge, "{limit}: {error}");
}

/// Returns the codes of the findings, separated by blanks.
pub fn codes(loaded: &Loaded) -> String {
    let names: Vec<_> = loaded
        .findings
        .iter()
        .map(|finding| finding.code().name())
        .collect();
    names.join(" ")
}

/// Returns `n` different triangles.
pub fn soup(n: usize) -> Vec<Triangle> {
    (0..n)
        .map(|i| {
            [
                [i as f32, 0.5, -1.0],
                [i as f32, 1.5, 2.0],
                [i as f32 + 0.25, 0.0, 0.125],
            ]
        })
        .collect()
}

/// Returns a binary STL of these triangles with the given header and count.
pub fn binary(header: &[u8], count: u32, triangles: &[Triangle]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend(count.to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}
