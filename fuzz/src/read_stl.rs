//! Readers of meshes, by content as a file and as a stream.
//!
//! The input is the file. Bytes decide the format, as for any user.

use std::io::Read;

use voxelize::mesh::read::{INPUTS, Loaded, ReadOptions, read_file, read_stream};
use voxelize::{Bounds, Error, Kind, Mesh, Result};

use crate::{alone, check_error, scratch, within};

/// Bytes of a triangle in memory.
const TRIANGLE: u64 = 36;

/// Reads `bytes` in every way, and within every limit of memory that matters.
pub fn check(bytes: &[u8]) {
    alone();
    let silent = ReadOptions::default();
    let file = from_file(bytes, &silent);
    let stream = from_stream(bytes, &silent);
    for result in [&file, &stream] {
        match result {
            Ok(loaded) => check_loaded(loaded, bytes),
            Err(error) => check_error(error, 'S', bytes.len()),
        }
    }
    check_agreement(&file, &stream, bytes);
    if let Ok(loaded) = &file {
        check_limits(loaded, bytes);
    }
}

fn from_file(bytes: &[u8], options: &ReadOptions) -> Result<Loaded> {
    scratch::with_file(bytes, |path| within(enough(bytes), || read_file(&path, options)))
}

fn from_stream(bytes: &[u8], options: &ReadOptions) -> Result<Loaded> {
    within(enough(bytes), || read_stream(&mut Dribble(bytes, 0), "-", options))
}

/// Memory that reading may take: a block, and triangles that are in the file, in a list that doubles.
fn enough(bytes: &[u8]) -> usize {
    (512 << 10) + 4 * bytes.len()
}

/// A mesh has as many triangles as its file can hold, all finite, and knows its bounds.
fn check_loaded(loaded: &Loaded, bytes: &[u8]) {
    let Loaded { mesh, format, bytes: length } = loaded;
    assert!(INPUTS.iter().any(|input| input.name == *format), "{format}");
    assert_eq!(*length, bytes.len() as u64);
    // The shortest triangle of any format takes more.
    assert!(mesh.triangles().len() <= bytes.len() / 9, "{} triangles", mesh.triangles().len());
    if *format == "stl-binary" {
        assert_eq!(84 + 50 * mesh.triangles().len(), bytes.len());
    }
    assert_eq!(*mesh.bounds(), Bounds::of(mesh.triangles()));
    assert!(mesh.degenerate() <= mesh.triangles().len() as u64);
    let again = Mesh::from_triangles(mesh.triangles().to_vec()).expect("finite coordinates");
    assert_eq!(again, *mesh);
}

/// File and stream agree, unless a stream cannot tell yet which format it is.
fn check_agreement(file: &Result<Loaded>, stream: &Result<Loaded>, bytes: &[u8]) {
    let place = |error: &Error| (error.kind(), error.code(), error.triangle(), error.byte(), error.line());
    match (file, stream) {
        (Ok(file), Ok(stream)) => assert_eq!(file, stream),
        (Err(file), Err(stream)) => assert_eq!(place(file), place(stream), "{file}\n{stream}"),
        // Looks like text as far as a stream is looked at, and only its length says otherwise.
        (Ok(file), Err(_)) if file.format == "stl-binary" && bytes.len() > 4096 => {}
        (file, stream) => panic!("file and stream differ: {file:?}, {stream:?}"),
    }
}

/// What the triangles take is enough, one byte less is not.
fn check_limits(loaded: &Loaded, bytes: &[u8]) {
    let need = TRIANGLE * loaded.mesh.triangles().len() as u64;
    let limited = |limit| ReadOptions { max_memory: Some(limit), ..ReadOptions::default() };
    assert_eq!(from_file(bytes, &limited(need)).as_ref(), Ok(loaded));
    if let Some(less) = need.checked_sub(1) {
        for result in [from_file(bytes, &limited(less)), from_stream(bytes, &limited(less))] {
            let error = result.expect_err("a limit of memory");
            assert!(error.kind() == Kind::TooLarge || error.kind() == Kind::Input, "{error}");
        }
    }
}

/// Gives a few bytes at a time, as pipes may.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 5 % 997 + 1;
        let n = self.1.min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}
