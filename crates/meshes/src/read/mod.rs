//! Reading meshes: the table of input formats, and how one is chosen.
//!
//! A format is chosen by content, never by name: first the formats that are sure of it (a binary
//! STL whose count explains the length of the file), then those that could be damaged. A mesh is
//! read once, in blocks; memory is allocated for bytes present, not for bytes that a header claims.
//! A file without triangles is read as an empty mesh: it is a grid that cannot be fitted to it.
//!
//! Findings have a [code](voxelize_core::Code), and [`Tolerance`] decides their severity: damage that could change
//! the result unnoticed is an error unless the caller is lenient; oddities are noted in
//! [`Loaded::findings`].
//!
//! A file may be compressed by gzip, recognised by its first two bytes. Bytes and lines of findings then
//! refer to the decompressed content.

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
use std::path::Path;
use std::rc::Rc;

use crate::{Mesh, UnitOfLength, UpAxis};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::Rational;
use voxelize_core::par::Progress;

use kept::{KeepingReader, KeptStream};
use source::{Head, MeshBytes};
use triage::Triage;

/// One input format: a row of [`INPUTS`].
pub struct InputFormat {
    /// The name in summaries and JSON.
    pub name: &'static str,
    /// The extensions its files usually have, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for help.
    pub about: &'static str,
    /// Whether the format or its files state the unit of coordinates.
    pub states_unit: bool,
    /// Coordinates may be decimals or doubles, which are rounded to floats.
    has_decimals: bool,
    recognise: fn(&Head) -> Guess,
    read: fn(MeshBytes, &ReadOptions, &Triage) -> Result<Content>,
}

/// What a reader makes of an input.
struct Content {
    mesh: Mesh,
    /// The bytes that were read.
    bytes: u64,
    unit: Option<UnitOfLength>,
    up: Option<UpAxis>,
}

impl Content {
    /// Of a format that states neither the unit nor the axis that points up.
    fn new(mesh: Mesh, bytes: u64) -> Self {
        Self {
            mesh,
            bytes,
            unit: None,
            up: None,
        }
    }
}

/// How certain a format is, by the first bytes and the length of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// Nothing else looks like this.
    Sure,
    /// A damaged file of this format would, or one whose end is not known yet.
    Maybe,
    No,
}

/// Every format that is read, in the order they are tried.
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

/// The point that the coordinates of a mesh are relative to. Decimals and doubles of OBJ, OFF, PLY and ASCII STL are rounded
/// to floats after it was subtracted from them; other files are read as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadNear<'a> {
    /// The origin: coordinates are those of the file.
    Origin,
    /// The origin, or the lowest corner of a mesh that is far from it. [`Loaded::near`] tells.
    Mesh,
    /// This point, which is that of another file.
    Point(&'a [Rational; 3]),
}

/// How to read. The default is silence, no limit, no pictures, and refusal of damaged files; options chain.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ReadOptions<'a> {
    /// How findings are treated.
    pub tolerance: Tolerance,
    /// The most memory, in bytes, that the triangles may take.
    pub max_memory: Option<u64>,
    /// Whether pictures on triangles are read, for their colours.
    pub textures: bool,
    /// Whether the [numbers of vertices](Mesh::vertex_numbers) are kept, of formats whose vertices are points alone: OBJ,
    /// OFF, PLY and 3MF. Vertices of a glTF are others where a normal or a place in a picture is.
    pub vertex_numbers: bool,
    /// The point that coordinates are relative to.
    pub near: ReadNear<'a>,
    /// The listener of progress, which may cancel: one phase, `read`, in bytes.
    pub progress: &'a dyn Progress,
    /// Called with each file that the mesh names, such as materials, pictures and buffers, whether or not it is opened. An
    /// error of kind [`Usage`](voxelize_core::Kind::Usage) ends the reading.
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
    /// With findings treated so.
    #[must_use]
    pub fn tolerance(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// With at most so many bytes of memory for the triangles.
    #[must_use]
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        Self {
            max_memory: bytes.into(),
            ..self
        }
    }

    /// With pictures on triangles, or without.
    #[must_use]
    pub fn textures(self, textures: bool) -> Self {
        Self { textures, ..self }
    }

    /// With the numbers of vertices, or without.
    #[must_use]
    pub fn vertex_numbers(self, vertex_numbers: bool) -> Self {
        Self {
            vertex_numbers,
            ..self
        }
    }

    /// With coordinates relative to this point.
    #[must_use]
    pub fn near(self, near: ReadNear<'a>) -> Self {
        Self { near, ..self }
    }

    /// Heard by `progress`, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// With each file that the mesh names told to `companions`.
    #[must_use]
    pub fn companions(self, companions: NamedFiles<'a>) -> Self {
        Self { companions, ..self }
    }
}

/// A mesh and where it came from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh.
    pub mesh: Mesh,
    /// The name of its format in [`INPUTS`].
    pub format: &'static str,
    /// The length of the input, packed as it is.
    pub bytes: u64,
    /// How it is packed.
    pub packing: Packing,
    /// Triangles that were there, or in parts, and were not taken: only under [`Tolerance::Lenient`].
    pub dropped: u64,
    /// Oddities, by code; at most one of each. They do not name the file.
    pub findings: Vec<Finding>,
    /// The unit of its coordinates, if the file or its format states it.
    pub unit: Option<UnitOfLength>,
    /// The axis that points up, if the format states it.
    pub up: Option<UpAxis>,
    /// The point of the file that the coordinates of the mesh are relative to; usually the origin.
    pub near: [Rational; 3],
}

/// The packing of a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Nothing.
    None,
    /// A gzip file.
    Gzip,
}

impl Packing {
    /// The word for it in JSON; none for nothing.
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
/// Findings that are refused, with the path; [`Kind::TooLarge`](voxelize_core::Kind::TooLarge) before more than
/// `max_memory` is taken; [`Kind::Usage`](voxelize_core::Kind::Usage) for a folder of meshes.
pub fn read_file(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    let read = |near: ReadNear| {
        if path.is_dir() {
            return Err(refuse::folder(path));
        }
        let file = File::open(path).map_err(|e| source::unreadable(&e))?;
        let metadata = file.metadata().map_err(|e| source::unreadable(&e))?;
        // A pipe has no length, and files that the system generates on reading report 0.
        let whole = metadata.is_file() && metadata.len() > 0;
        // It is read once more only if it can be.
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

/// Reads a mesh from a stream of unknown length, such as standard input; `name` is for errors.
///
/// Binary or ASCII is decided by the first bytes and confirmed at the end.
///
/// # Errors
/// As [`read_file`].
pub fn read_stream(input: &mut dyn Read, name: &str, options: &ReadOptions) -> Result<Loaded> {
    if options.near == ReadNear::Mesh {
        return read_twice(input, name, options).map_err(|error| error.in_file(name));
    }
    MeshBytes::stream(input)
        .and_then(|source| choose_and_read(source, Path::new(name), options))
        .map_err(|error| error.in_file(name))
}

/// Reads a mesh by `read`, and once more if it is far from the origin.
fn near_mesh(options: &ReadOptions, read: impl Fn(ReadNear) -> Result<Loaded>) -> Result<Loaded> {
    let loaded = read(options.near)?;
    let near = loaded.near.clone();
    if options.near != ReadNear::Mesh || near.iter().all(|value| *value == Rational::ZERO) {
        return Ok(loaded);
    }
    drop(loaded);
    read(ReadNear::Point(&near))
}

/// Reads a stream; as long as its mesh may be far from the origin, its bytes are kept to be read once more.
fn read_twice(input: &mut dyn Read, name: &str, options: &ReadOptions) -> Result<Loaded> {
    let kept = Rc::new(KeptStream::new(options.max_memory));
    let first = MeshBytes::stream(KeepingReader {
        input,
        kept: Rc::clone(&kept),
    })
    .and_then(|source| choose_kept(source, Path::new(name), options, Some(&kept)))?;
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
    MeshBytes::stream(&bytes[..])
        .and_then(|source| choose_and_read(source, Path::new(name), &options))
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
        // What lies in a zip that is no 3MF is known by its extension.
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
    })
}

/// Returns the format of an input. More of a text is looked at if its beginning does not tell.
fn choose(
    source: &mut MeshBytes,
    path: &Path,
    options: &ReadOptions,
) -> Result<&'static InputFormat> {
    let guessed = |head: &Head, guess| {
        INPUTS
            .iter()
            .find(|format| (format.recognise)(head) == guess)
    };
    // A part of what the mesh may take.
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
