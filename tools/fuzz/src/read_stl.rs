//! Readers of meshes by content: as a file, as a stream and packed, with every tolerance.
//!
//! The input is the file. Its bytes decide the format, as for any user.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use voxelize::mesh::MeshParts;
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{
    INPUTS, Loaded, Packing, ReadOptions, Tolerance, read_file, read_stream,
};
use voxelize::{Bounds, Error, Kind, Mesh, Result};

use crate::{alone, check_error, scratch, within};

/// Bytes of a triangle in memory.
const TRIANGLE: u64 = 36;

/// A stream that ends within this number of bytes is equivalent to a file, because readers look ahead this
/// far.
const HEAD: usize = 4096;

/// Start of gzip files.
pub(crate) const MAGIC: &[u8] = b"\x1f\x8b";

/// Reads `bytes` in every way, and within every relevant memory limit.
pub fn check(bytes: &[u8]) {
    alone();
    let input = Input {
        bytes,
        length: unpacked(bytes),
    };
    let usual = input.check(Tolerance::Usual);
    let strict = input.check(Tolerance::Strict);
    let lenient = input.check(Tolerance::Lenient);
    check_strict(&strict, &usual);
    check_lenient(&lenient, &usual);
    if let Ok(loaded) = &usual {
        input.check_limits(loaded);
    }
}

/// File with the length of its unpacked content.
struct Input<'a> {
    bytes: &'a [u8],
    length: usize,
}

/// Returns the length of the content of a gzip file, as far as it is intact, and the length of any other
/// file.
fn unpacked(bytes: &[u8]) -> usize {
    if !bytes.starts_with(MAGIC) {
        return bytes.len();
    }
    let mut reader = MultiGzDecoder::new(bytes);
    let mut buffer = [0; 4096];
    let mut length = 0;
    while let Ok(n @ 1..) = reader.read(&mut buffer) {
        length += n;
    }
    length
}

impl Input<'_> {
    /// Reads the input in every way and compares the results.
    fn check(&self, tolerance: Tolerance) -> Result<Loaded> {
        let options = ReadOptions::default().tolerance(tolerance);
        let file = self.file(&options);
        let stream = self.stream(&options);
        for result in [&file, &stream] {
            match result {
                Ok(loaded) => self.check_loaded(loaded, tolerance),
                Err(error) => check_error(error, 'S', self.bytes.len().max(self.length)),
            }
        }
        self.check_agreement(&file, &stream);
        // Packing takes longer than reading.
        if !self.is_packed() && self.bytes.len().is_multiple_of(4) {
            check_packed(self.packed(&options), &stream);
        }
        file
    }

    fn is_packed(&self) -> bool {
        self.bytes.starts_with(MAGIC)
    }

    fn file(&self, options: &ReadOptions) -> Result<Loaded> {
        scratch::with_file(self.bytes, |path| {
            within(self.enough(), || read_file(&path, options))
        })
    }

    fn stream(&self, options: &ReadOptions) -> Result<Loaded> {
        within(self.enough(), || {
            read_stream(&mut Dribble(self.bytes, 0), "-", options)
        })
    }

    fn packed(&self, options: &ReadOptions) -> Result<Loaded> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(self.bytes).expect("a Vec takes all");
        let packed = packed.finish().expect("a Vec takes all");
        within(self.enough(), || {
            read_stream(&mut &packed[..], "-", options)
        })
    }

    /// Returns the memory that reading may allocate: a block of lines, because the content may be another
    /// text format; a block of the file; the window and the tables of gzip; and the triangles of the file in
    /// a list that doubles.
    fn enough(&self) -> usize {
        (1 << 20) + (768 << 10) + 4 * self.length
    }

    /// Checks that a mesh has at most as many triangles as its file can contain, all finite, and correct
    /// bounds.
    fn check_loaded(&self, loaded: &Loaded, tolerance: Tolerance) {
        let Loaded {
            mesh,
            format,
            bytes,
            packing,
            dropped,
            findings,
            ..
        } = loaded;
        assert!(INPUTS.iter().any(|input| input.name == *format), "{format}");
        assert_eq!(*bytes, self.bytes.len() as u64);
        assert_eq!(*packing == Packing::Gzip, self.is_packed());
        let triangles = mesh.triangles();
        if !format.starts_with("stl") {
            // `read_indexed` tests it.
            return;
        }
        // The shortest triangle of any format takes more.
        assert!(
            triangles.len() <= self.length / 9,
            "{} triangles",
            triangles.len()
        );
        assert_eq!(*mesh.bounds(), Bounds::of(triangles));
        assert!(mesh.degenerate() <= triangles.len() as u64);
        let again = Mesh::from_triangles(triangles.to_vec()).expect("finite coordinates");
        assert_eq!(again, *mesh);
        assert!(
            findings.is_sorted_by(|a, b| a.first.code().name() < b.first.code().name()),
            "{findings:?}"
        );
        for finding in findings {
            check_error(&finding.first, 'S', self.bytes.len().max(self.length));
            assert!(
                finding.count > 0 && finding.first.file().is_none(),
                "{finding:?}"
            );
        }
        assert!(
            *dropped == 0 || tolerance == Tolerance::Lenient,
            "{dropped} dropped"
        );
        let triangles = triangles.len() as u64;
        let dropped = *dropped;
        match *format {
            "stl-binary" if tolerance != Tolerance::Lenient => {
                assert_eq!(84 + 50 * triangles, self.length as u64);
            }
            "stl-binary" if !self.is_packed() => self.check_records(triangles, dropped),
            "stl-ascii" if !self.is_packed() => {
                let words = self
                    .bytes
                    .split(|byte| matches!(byte, b' ' | b'\t'..=b'\r'));
                let facets = words
                    .filter(|word| word.eq_ignore_ascii_case(b"facet"))
                    .count() as u64;
                assert!(
                    triangles + dropped <= facets,
                    "{triangles} and {dropped} of {facets}"
                );
            }
            _ => (),
        }
    }

    /// Checks that every record is read or dropped, including a truncated last one. Records beyond the count
    /// may be something else.
    fn check_records(&self, triangles: u64, dropped: u64) {
        let count = self.count().expect("a binary STL has one");
        let rest = self.length as u64 - 84;
        let all = rest.div_ceil(50);
        if count == 0 || count >= all || rest.is_multiple_of(50) {
            assert_eq!(triangles + dropped, all, "{count} claimed");
        } else {
            assert_eq!(triangles + dropped, count, "of {all}");
        }
    }

    /// Returns the number of triangles that a binary STL states.
    fn count(&self) -> Option<u64> {
        let bytes = self.bytes.get(80..84)?.try_into().expect("four bytes");
        Some(u32::from_le_bytes(bytes).into())
    }

    /// Checks that file and stream agree, except if a stream that continues cannot know its length yet.
    fn check_agreement(&self, file: &Result<Loaded>, stream: &Result<Loaded>) {
        let is_known = self.is_packed() || self.bytes.len() < HEAD;
        // Its first bytes may look like text, so that only its length decides.
        let by_length = !is_known
            && self
                .count()
                .is_some_and(|n| 84 + 50 * n == self.bytes.len() as u64);
        match (file, stream) {
            (Ok(file), Ok(stream)) if !by_length || file.format == stream.format => {
                assert_eq!(file, stream)
            }
            (Err(file), Err(stream)) if is_known => {
                assert_eq!(place(file), place(stream), "{file}\n{stream}");
            }
            // A too short remainder is detected only after other errors.
            (Err(_), Err(_)) => (),
            _ => assert!(by_length, "file and stream differ: {file:?}, {stream:?}"),
        }
    }

    /// Checks that the memory of the triangles and of the names of their parts suffices, and that one byte
    /// less than the triangles does not.
    fn check_limits(&self, loaded: &Loaded) {
        if !loaded.format.starts_with("stl") {
            return;
        }
        let need = TRIANGLE * loaded.mesh.triangles().len() as u64;
        let names = |parts: &MeshParts| {
            128 + parts
                .names()
                .iter()
                .map(|name| 128 + 2 * name.len() as u64)
                .sum::<u64>()
        };
        let beside = loaded.mesh.parts(PartKind::Object).map_or(0, names);
        let limited = |limit| ReadOptions::default().memory(limit);
        assert_eq!(self.file(&limited(need + beside)).as_ref(), Ok(loaded));
        if let Some(less) = need.checked_sub(1) {
            for result in [self.file(&limited(less)), self.stream(&limited(less))] {
                let error = result.expect_err("a limit of memory");
                assert!(
                    error.kind() == Kind::TooLarge || error.kind() == Kind::Input,
                    "{error}"
                );
            }
        }
    }
}

/// Returns the content of an error except its text.
fn place(error: &Error) -> (Kind, &str, Option<u64>, Option<u64>, Option<u64>) {
    (
        error.kind(),
        error.code().name(),
        error.triangle(),
        error.byte(),
        error.line(),
    )
}

/// Checks that a packed file gives the same result.
fn check_packed(packed: Result<Loaded>, plain: &Result<Loaded>) {
    match (packed, plain) {
        (Ok(mut packed), Ok(plain)) => {
            assert_eq!(packed.packing, Packing::Gzip);
            (packed.bytes, packed.packing) = (plain.bytes, Packing::None);
            assert_eq!(&packed, plain);
        }
        (Err(packed), Err(plain)) => assert_eq!(place(&packed), place(plain), "{packed}\n{plain}"),
        (packed, plain) => panic!("packed {packed:?}, else {plain:?}"),
    }
}

/// Checks that strict mode rejects every finding and changes nothing else.
fn check_strict(strict: &Result<Loaded>, usual: &Result<Loaded>) {
    match (strict, usual) {
        (Ok(strict), usual) => {
            assert!(strict.findings.is_empty(), "{:?}", strict.findings);
            assert_eq!(Ok(strict), usual.as_ref());
        }
        (Err(error), Ok(usual)) => {
            let found = usual.findings.iter().map(|finding| place(&finding.first));
            assert!(
                found.into_iter().any(|found| found == place(error)),
                "{error}: {:?}",
                usual.findings
            );
        }
        (Err(_), Err(_)) => (),
    }
}

/// Checks that lenient mode changes nothing for intact files and reports damage.
fn check_lenient(lenient: &Result<Loaded>, usual: &Result<Loaded>) {
    match (lenient, usual) {
        (lenient, Ok(usual)) => assert_eq!(lenient.as_ref(), Ok(usual)),
        (Ok(lenient), Err(error)) => {
            let found = lenient.findings.iter().map(|finding| place(&finding.first));
            assert!(
                found.into_iter().any(|found| found == place(error)),
                "{error}: {:?}",
                lenient.findings
            );
        }
        (Err(_), Err(_)) => (),
    }
}

/// Reader that returns a few bytes at a time, like a pipe.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 5 % 997 + 1;
        let n = self.1.min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}
