//! Reading of meshes: the table of input formats, and the choice of the format.
//!
//! The content decides the format, never the file name. Formats that recognize a file with certainty are
//! preferred, such as a binary STL whose triangle count matches the length of the file. Next are formats of
//! which the file may be a damaged version. A mesh is read once, in blocks. Memory is allocated only for
//! bytes that exist, not for counts that a header claims. A file without triangles is read as an empty mesh,
//! although no grid can be fitted to it.
//!
//! Every finding has a [code](voxelize_core::Code), and [`Tolerance`] decides its severity. Damage that could
//! change the result without being noticed is an error unless the caller is lenient. Harmless peculiarities
//! are listed in [`Loaded::findings`].
//!
//! A file may be compressed by gzip. It is recognized by its first two bytes, and positions in findings then
//! refer to the unpacked content.

mod affine;
mod clip;
mod decimal;
mod facets;
mod gltf;
mod gzip;
mod indexed;
mod kept;
mod lines;
mod materials;
mod number;
mod obj;
mod off;
mod picture;
mod ply;
mod polygon;
mod records;
mod refuse;
mod room;
mod shares;
mod source;
mod stl_ascii;
mod stl_binary;
mod stl_colours;
#[cfg(feature = "3mf")]
mod threemf;
mod triage;
mod window;
mod words;

pub use self::source::NamedFiles;
pub use self::triage::Tolerance;
pub use voxelize_core::error::Finding;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use crate::{Mesh, UnitOfLength, UpAxis};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::par::Progress;

use kept::{KeepingReader, KeptStream};
use source::{Head, MeshBytes};
use triage::Triage;

/// Input format: a row of [`INPUTS`].
pub struct InputFormat {
    /// Name of the format in summaries and JSON.
    pub name: &'static str,
    /// Usual file extensions of the format, in lower case without the dot.
    pub extensions: &'static [&'static str],
    /// Description of the format in one line, for help texts.
    pub about: &'static str,
    /// The format defines the unit of coordinates, or its files may state the unit.
    pub states_unit: bool,
    /// Coordinates may be decimals or doubles, which are rounded to floats.
    has_decimals: bool,
    recognise: fn(&Head) -> Guess,
    read: fn(MeshBytes, &ReadOptions, &Triage) -> Result<Content>,
}

/// Result of reading a file in one format.
struct Content {
    mesh: Mesh,
    /// Number of bytes that were read.
    bytes: u64,
    unit: Option<UnitOfLength>,
    up: Option<UpAxis>,
    /// Ranges of triangles with pictures that were not read.
    unread_pictures: Vec<Range<usize>>,
}

impl Content {
    /// Creates the result of a format that states neither the unit nor the upward axis.
    fn new(mesh: Mesh, bytes: u64) -> Self {
        Self {
            mesh,
            bytes,
            unit: None,
            up: None,
            unread_pictures: vec![],
        }
    }
}

/// Certainty that an input has some format, judged by its first bytes and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// The input has this format. No other format looks like this.
    Sure,
    /// The input may be a damaged file of this format, or a file whose end has not been seen yet.
    Maybe,
    No,
}

/// All formats that can be read, in the order in which they are tried.
pub static INPUTS: &[InputFormat] = &[
    stl_binary::FORMAT,
    stl_ascii::FORMAT,
    obj::FORMAT,
    off::FORMAT,
    ply::FORMAT,
    gltf::FORMAT,
    #[cfg(feature = "3mf")]
    threemf::FORMAT,
];

/// Point that is subtracted from the coordinates of a mesh. It only affects formats with decimals or doubles:
/// OBJ, OFF, PLY and ASCII STL. The difference is rounded to floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadNear<'a> {
    /// The origin. Nothing is subtracted.
    Origin,
    /// The lowest corner of the mesh if it is far from the origin, otherwise the origin. [`Loaded::near`] has
    /// the result.
    Mesh,
    /// This point, such as the [`Loaded::near`] of another file.
    Point(&'a [Rational; 3]),
}

/// Options for reading a mesh. By default no progress is reported, memory is unlimited, pictures are not
/// read, and damaged files are refused.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ReadOptions<'a> {
    /// Severity of findings.
    pub tolerance: Tolerance,
    /// Maximum memory for the triangles in bytes. `None` for no limit.
    pub max_memory: Option<u64>,
    /// Read pictures on triangles for their colours.
    pub textures: bool,
    /// Keep the [vertex numbers](Mesh::vertex_numbers) of OBJ, OFF, PLY and 3MF, in which a vertex is only a
    /// point. In a glTF file, several vertices have the same position if their normals or texture coordinates
    /// differ.
    pub vertex_numbers: bool,
    /// Point that is subtracted from the coordinates.
    pub near: ReadNear<'a>,
    /// Receives progress and may cancel. There is one phase, `read`, measured in bytes.
    pub progress: &'a dyn Progress,
    /// Called with each file that the mesh names, such as materials, pictures and buffers, even if that file
    /// is not opened. An error of kind [`Usage`](voxelize_core::Kind::Usage) ends the reading.
    pub companions: NamedFiles<'a>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            tolerance: Tolerance::Usual,
            max_memory: None,
            textures: false,
            vertex_numbers: false,
            near: ReadNear::Origin,
            progress: &(),
            companions: &|_| Ok(()),
        }
    }
}

impl<'a> ReadOptions<'a> {
    /// Sets the severity of findings.
    #[must_use]
    pub fn tolerance(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// Limits the memory for the triangles, in bytes. `None` for no limit.
    #[must_use]
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        Self {
            max_memory: bytes.into(),
            ..self
        }
    }

    /// Sets whether pictures on triangles are read.
    #[must_use]
    pub fn textures(self, textures: bool) -> Self {
        Self { textures, ..self }
    }

    /// Sets whether the vertex numbers of the file are kept.
    #[must_use]
    pub fn vertex_numbers(self, vertex_numbers: bool) -> Self {
        Self {
            vertex_numbers,
            ..self
        }
    }

    /// Sets the point that is subtracted from the coordinates.
    #[must_use]
    pub fn near(self, near: ReadNear<'a>) -> Self {
        Self { near, ..self }
    }

    /// Sets the receiver of progress, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Sets the function that is called with each file that the mesh names.
    #[must_use]
    pub fn companions(self, companions: NamedFiles<'a>) -> Self {
        Self { companions, ..self }
    }
}

/// Mesh, and facts about the file that it was read from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh.
    pub mesh: Mesh,
    /// Name of the format in [`INPUTS`].
    pub format: &'static str,
    /// Length of the input in bytes. For a packed input, the packed length.
    pub bytes: u64,
    /// Packing of the input.
    pub packing: Packing,
    /// Number of triangles that were dropped, including incomplete ones. Zero except under
    /// [`Tolerance::Lenient`].
    pub dropped: u64,
    /// Findings that are not errors, at most one for each code. They do not name the file.
    pub findings: Vec<Finding>,
    /// Unit of the coordinates. `None` if neither the file nor its format states it.
    pub unit: Option<UnitOfLength>,
    /// Axis that points up. `None` if the format does not define it.
    pub up: Option<UpAxis>,
    /// Point that was subtracted from the coordinates of the file, usually the origin.
    pub near: [Rational; 3],
    /// Ranges of triangles with pictures that were not read. Empty if [`ReadOptions::textures`] is set.
    pub unread_pictures: Vec<Range<usize>>,
}

/// Packing of a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Not packed.
    None,
    /// Compressed by gzip.
    Gzip,
}

impl Packing {
    /// Name of the packing in JSON. `None` if the file is not packed.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip"),
        }
    }
}

/// Reads a mesh from a file.
///
/// # Errors
/// If a finding is refused. The error names the path. [`Kind::TooLarge`](voxelize_core::Kind::TooLarge) if
/// the triangles need more than `max_memory` bytes. [`Kind::Usage`](voxelize_core::Kind::Usage) if the path
/// is a folder that contains meshes.
pub fn read_file(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    let read = |near: ReadNear| {
        if path.is_dir() {
            return Err(refuse::folder(path));
        }
        let file = File::open(path).map_err(|e| source::unreadable(&e))?;
        let metadata = file.metadata().map_err(|e| source::unreadable(&e))?;
        // A pipe has no length, and files whose content the system generates have the length 0.
        let whole = metadata.is_file() && metadata.len() > 0;
        // Only a regular file can be read a second time.
        let near = if metadata.is_file() {
            near
        } else {
            ReadNear::Origin
        };
        let source = if whole {
            MeshBytes::file(&file, metadata.len())
        } else {
            MeshBytes::stream(&file)
        };
        choose_and_read(
            source?.at(path, options.companions),
            path,
            &options.near(near),
        )
    };
    near_mesh(options, read).map_err(|error: Error| error.in_file(path))
}

/// Reads a mesh from a stream of unknown length, such as standard input. Error messages name the stream
/// `name`.
///
/// Whether an STL is binary or ASCII is decided by the first bytes, and confirmed at the end of the stream.
///
/// # Errors
/// As [`read_file`].
pub fn read_stream(input: &mut dyn Read, name: &str, options: &ReadOptions) -> Result<Loaded> {
    if options.near == ReadNear::Mesh {
        return read_twice(input, name, options).map_err(|error| error.in_file(name));
    }
    let source = MeshBytes::stream(input);
    source
        .and_then(|source| choose_and_read(source, Path::new(name), options))
        .map_err(|error| error.in_file(name))
}

/// Reads a mesh by calling `read`. If [`ReadNear::Mesh`] is requested and the mesh is far from the origin,
/// reads it a second time, relative to the point that was found.
fn near_mesh(options: &ReadOptions, read: impl Fn(ReadNear) -> Result<Loaded>) -> Result<Loaded> {
    let loaded = read(options.near)?;
    let near = loaded.near.clone();
    if options.near != ReadNear::Mesh || near.iter().all(|value| *value == Rational::ZERO) {
        return Ok(loaded);
    }
    drop(loaded);
    read(ReadNear::Point(&near))
}

/// Reads a stream. Its bytes are kept as long as the mesh may be far from the origin and a second reading may
/// be necessary.
fn read_twice(input: &mut dyn Read, name: &str, options: &ReadOptions) -> Result<Loaded> {
    let kept = Rc::new(KeptStream::new(options.max_memory));
    let source = MeshBytes::stream(KeepingReader {
        input,
        kept: Rc::clone(&kept),
    })?;
    let first = choose_kept(source, Path::new(name), options, Some(&kept))?;
    if first.near.iter().all(|value| *value == Rational::ZERO) {
        return Ok(first);
    }
    let near = first.near.clone();
    drop(first);
    let bytes = kept.take()?;
    let left = options
        .max_memory
        .map(|most| most.saturating_sub(bytes.len() as u64));
    let options = options.memory(left).near(ReadNear::Point(&near));
    choose_and_read(MeshBytes::stream(&bytes[..])?, Path::new(name), &options)
}

fn choose_and_read(source: MeshBytes, path: &Path, options: &ReadOptions) -> Result<Loaded> {
    choose_kept(source, path, options, None)
}

fn choose_kept(
    source: MeshBytes,
    path: &Path,
    options: &ReadOptions,
    kept: Option<&Rc<KeptStream>>,
) -> Result<Loaded> {
    let triage = Triage::new(options.tolerance);
    triage.place(options.near, kept.cloned());
    let mut source = source.unpacked(&triage)?;
    if source.head().bytes.is_empty() {
        triage.finish(0)?;
        return Err(Error::input(Code::S001, "the file is empty"));
    }
    let format = choose(&mut source, path, options)?;
    if !format.has_decimals {
        triage.place_plainly();
    }
    options.progress.begin("read", source.length().unwrap_or(0));
    options.progress.check()?;
    let packed = source.packed();
    let is_zip = source.head().bytes.starts_with(b"PK");
    let content = (format.read)(source, options, &triage).map_err(|error| {
        // A zip that is not a 3MF gets the error for its file extension.
        let other = if is_zip && error.code() == Code::S002 {
            refuse::by_extension(path)
        } else {
            None
        };
        other.unwrap_or_else(|| triage.advised(error))
    })?;
    let Content {
        mut mesh,
        bytes,
        unit,
        up,
        unread_pictures,
    } = content;
    let findings = triage.finish(mesh.triangles().len())?;
    let dropped = triage.count_dropped();
    mesh.dropped = triage.take_dropped().into();
    let packing = if packed.is_some() {
        Packing::Gzip
    } else {
        Packing::None
    };
    let bytes = packed.map_or(bytes, |packed| packed.length());
    let near = triage.near();
    Ok(Loaded {
        mesh,
        format: format.name,
        bytes,
        packing,
        dropped,
        findings,
        unit,
        up,
        near,
        unread_pictures,
    })
}

/// Returns the format of an input. If the start of a text is not sufficient to decide, more of it is
/// examined.
fn choose(
    source: &mut MeshBytes,
    path: &Path,
    options: &ReadOptions,
) -> Result<&'static InputFormat> {
    // The examined text may take up to a quarter of the memory limit.
    let most = options.max_memory.unwrap_or(u64::MAX) / 4;
    loop {
        let head = source.head();
        if let Some(format) = guessed(&head, Guess::Sure) {
            return Ok(format);
        }
        if let Some(error) = refuse::by_content(path, &head) {
            return Err(error);
        }
        options.progress.check()?;
        if !head.is_text() || !source.lengthen_head(most)? {
            break;
        }
    }
    if let Some(error) = refuse::by_extension(path) {
        return Err(error);
    }
    guessed(&source.head(), Guess::Maybe).ok_or_else(refuse::unknown)
}

/// Returns the first format that recognizes the input with this certainty.
fn guessed(head: &Head, guess: Guess) -> Option<&'static InputFormat> {
    INPUTS
        .iter()
        .find(|format| (format.recognise)(head) == guess)
}
