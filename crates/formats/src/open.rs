//! Opening files: detects the format, reads the sidecar, and gives readers a source that checks the sizes
//! stated in headers.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::comments::is_marked;
use super::room::CellRoom;
use super::{CELLS, Carries, DTYPE, Dtype, FORMATS, Format, ORDER, Reader, by_path};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{Cells, Digest, Legend};

/// Maximum size of a sidecar that is read, in bytes.
const MAX_SIDECAR: u64 = 1 << 20;

/// Reads a voxel file and its sidecar. The format is detected by the first bytes of the file. Formats without
/// characteristic first bytes are detected by the extension.
///
/// # Errors
/// Fails if the file cannot be read or is malformed. The error states the position in the file if it is
/// known.
pub fn open(path: &Path) -> Result<Voxels> {
    open_within(path, None)
}

/// Reads a file like [`open`]. Fails if the cells would need more than `max_memory` bytes.
///
/// # Errors
/// Fails like [`open`]. Also fails with [`Kind::TooLarge`](voxelize_core::Kind::TooLarge), before too much
/// memory is allocated.
pub fn open_within(path: &Path, max_memory: Option<u64>) -> Result<Voxels> {
    read_cells(path, max_memory).map_err(|error| error.in_file(path))
}

fn read_cells(path: &Path, max_memory: Option<u64>) -> Result<Voxels> {
    let Recognised {
        mut file,
        format,
        folder,
    } = recognise(path)?;
    let mut source = VoxelSource::new(&mut file, read_sidecar(path)?, CellRoom(max_memory))?;
    source.folder = folder;
    (reader(format)?.cells)(&mut source)
}

/// Reads a file of the given format from any seekable input, such as a `Cursor` over bytes. `sidecar` is the
/// text of the file's sidecar.
///
/// # Errors
/// Fails if the bytes cannot be read or are malformed.
pub fn read_from<R: Read + Seek>(
    input: R,
    format: &Format,
    sidecar: Option<&str>,
) -> Result<Voxels> {
    let sidecar = match sidecar {
        Some(text) => Some(parse_sidecar(text)?),
        None => None,
    };
    let mut input = BufReader::new(input);
    let mut source = VoxelSource::new(&mut input, sidecar, CellRoom::default())?;
    (reader(format)?.cells)(&mut source)
}

/// Description of a voxel file. It does not include the cells.
#[derive(Debug, Clone)]
pub struct Description {
    /// Format of the file.
    pub format: &'static Format,
    /// Size in bytes.
    pub bytes: u64,
    /// Number type of the stored cells. `None` if the format has only one type or the file does not state the
    /// type.
    pub dtype: Option<Dtype>,
    /// Dims, lattice and record. Those that neither the file nor its sidecar states are missing.
    pub metadata: Metadata,
}

/// Describes the file at `path` by reading its headers. A sidecar is used if it has the same dims as the
/// file. Only [`open`] also compares the digest of the cells.
///
/// # Errors
/// Fails if the file cannot be read or if its headers are malformed.
pub fn describe(path: &Path) -> Result<Description> {
    read_description(path).map_err(|error| error.in_file(path))
}

fn read_description(path: &Path) -> Result<Description> {
    let Recognised {
        mut file,
        format,
        folder,
    } = recognise(path)?;
    let mut source = VoxelSource::new(&mut file, read_sidecar(path)?, CellRoom::default())?;
    let bytes = match &folder {
        Some(folder) => bytes_in(folder),
        None => source.len(),
    };
    source.folder = folder;
    let metadata = (reader(format)?.describe)(&mut source)?;
    let dtype = metadata
        .extra
        .get(DTYPE)
        .and_then(|name| Dtype::from_name(name));
    Ok(Description {
        format,
        bytes,
        dtype,
        metadata,
    })
}

/// Returns the voxel format of the file at `path`. It is detected by the first bytes of the file. Formats
/// without characteristic first bytes are detected by the file name. `None` for other files, and for files
/// that cannot be read.
pub fn sniff(path: &Path) -> Option<&'static Format> {
    recognise(path).ok().map(|found| found.format)
}

/// Returns `true` if the file at `path`, or its sidecar, states that this tool made it. The cells are not
/// read. Returns `false` if the file cannot be read.
pub fn made_by_this_tool(path: &Path) -> bool {
    let metadata = if is_sidecar(path) {
        parse_file(path).ok().flatten()
    } else {
        describe(path).ok().map(|found| found.metadata)
    };
    let tool = metadata.and_then(|metadata| metadata.record.tool);
    tool.is_some_and(|tool| tool.starts_with("voxelize ")) || is_marked(path)
}

/// Returns `true` if the file at `path` is a sidecar. The sidecar may come from any program that uses this
/// library.
pub(super) fn describes_cells(path: &Path) -> bool {
    let metadata = parse_file(path).ok().flatten();
    metadata.is_some_and(|metadata| metadata.dims.is_some()) || made_by_this_tool(path)
}

/// Returns `true` if the file at `path` may be an output of this tool. Either it states that this tool made
/// it, or its format cannot state this and its cells have the order that this tool uses.
pub fn may_be_of_this_tool(path: &Path) -> bool {
    if made_by_this_tool(path) {
        return true;
    }
    if sidecar_path(path).exists() {
        return false;
    }
    let Ok(found) = describe(path) else {
        return false;
    };
    let order = found.metadata.extra.get(ORDER[0]);
    matches!(
        found.format.carries,
        Carries::SidecarOnRequest | Carries::Rounded
    ) && order.is_some_and(|order| order == ORDER[1])
}

/// Returns the path of the sidecar of `path`: `NAME.ext.json`.
pub(super) fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".json");
    name.into()
}

/// Returns the total size in bytes of all files in `folder` and its subfolders.
pub(super) fn bytes_in(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        bytes += match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
            _ => entry.metadata().map_or(0, |found| found.len()),
        };
    }
    bytes
}

fn is_sidecar(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// File whose format is known.
struct Recognised {
    /// The open file, positioned at its start. If the format is a folder, the file in the folder that
    /// identifies the format.
    file: BufReader<File>,
    format: &'static Format,
    /// Path of the folder. `None` if the format is a single file.
    folder: Option<PathBuf>,
}

fn opened(path: &Path) -> Result<BufReader<File>> {
    Ok(BufReader::with_capacity(
        256 << 10,
        File::open(path).map_err(failure)?,
    ))
}

/// Opens the file or folder at `path` and finds out its format.
fn recognise(path: &Path) -> Result<Recognised> {
    for format in readable() {
        let index = format.folder().and_then(|layout| layout.index_in(path));
        if let Some(index) = index {
            return Ok(Recognised {
                file: opened(&index)?,
                format,
                folder: Some(path.to_path_buf()),
            });
        }
    }
    let mut file = opened(path)?;
    let mut start = Vec::new();
    file.by_ref()
        .take(8)
        .read_to_end(&mut start)
        .map_err(failure)?;
    file.rewind().map_err(failure)?;
    let marked = readable().find(|format| has_mark(&start, format.magic));
    let Some(format) = marked.or_else(|| by_name_and_start(path, &start)) else {
        return Err(unknown(path));
    };
    Ok(Recognised {
        file,
        format,
        folder: None,
    })
}

/// Returns all formats that can be read.
fn readable() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.is_readable())
}

fn has_mark(start: &[u8], marks: &[&[u8]]) -> bool {
    marks.iter().any(|mark| start.starts_with(mark))
}

/// Returns the format that the extension of `path` belongs to. `None` if there is no such format, if it
/// cannot be read, or if the first bytes belong to another format.
fn by_name_and_start(path: &Path, start: &[u8]) -> Option<&'static Format> {
    let format = by_path(path)?;
    if !format.is_readable() {
        return None;
    }
    let is_unmarked = format.magic.is_empty() && format.weak_magic.is_empty();
    if is_unmarked || has_mark(start, format.weak_magic) {
        Some(format)
    } else {
        None
    }
}

/// Returns the functions that read a format. Fails if the format is only written.
fn reader(format: &Format) -> Result<&Reader> {
    format.reader.as_ref().ok_or_else(|| {
        Error::usage(format!(
            "voxels are written to .{} files, not read from them",
            format.extensions[0]
        ))
    })
}

fn unknown(path: &Path) -> Error {
    let known: Vec<_> = readable().map(|format| format.name).collect();
    let known = known.join(", ");
    match by_path(path) {
        Some(format) if format.is_readable() => Error::input(
            Code::V001,
            format!(
                "the content is not that of a .{} file",
                format.extensions[0]
            ),
        ),
        Some(format) => Error::input(
            Code::V001,
            format!(
                "voxels are written to .{} files, not read from them",
                format.extensions[0]
            ),
        )
        .with_hint(format!("files of {} are read", known)),
        None => Error::input(Code::V001, "is not a voxel file of a known format").with_hint(
            format!("the formats are {known}; save other images as .nrrd or .nii.gz"),
        ),
    }
}

/// Reads the sidecar of `path`. `None` if there is none.
fn read_sidecar(path: &Path) -> Result<Option<Metadata>> {
    parse_file(&sidecar_path(path))
}

/// Reads the sidecar at `path`. `None` if the file does not exist.
fn parse_file(path: &Path) -> Result<Option<Metadata>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(error).in_file(path)),
    };
    let mut text = String::new();
    file.take(MAX_SIDECAR)
        .read_to_string(&mut text)
        .map_err(|error| failure(error).in_file(path))?;
    let metadata = parse_sidecar(&text).map_err(|error| error.in_file(path))?;
    Ok(Some(metadata))
}

fn parse_sidecar(text: &str) -> Result<Metadata> {
    Metadata::from_json(text)
        .map_err(|why| Error::input(Code::V007, format!("the sidecar is broken: {why}")))
}

/// Converts a system error of reading to an error of this crate.
pub(super) fn failure(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::input(Code::V002, "the file ends early"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Error::input(Code::V003, error.to_string())
        }
        _ => Error::input(Code::V010, format!("cannot be read: {error}")),
    }
}

/// Source of bytes that can seek.
pub(super) trait Input: Read + Seek {}
impl<T: Read + Seek> Input for T {}

/// File that is being read. Every length that the file states is checked against the number of remaining
/// bytes.
pub(super) struct VoxelSource<'a> {
    input: &'a mut dyn Input,
    len: u64,
    position: u64,
    /// Metadata of the sidecar. `None` if there is none.
    pub sidecar: Option<Metadata>,
    /// Memory limit for the cells.
    pub room: CellRoom,
    /// Path of the folder, if the format is a folder.
    pub folder: Option<PathBuf>,
}

impl<'a> VoxelSource<'a> {
    pub(super) fn new(
        input: &'a mut dyn Input,
        sidecar: Option<Metadata>,
        room: CellRoom,
    ) -> Result<Self> {
        let len = input.seek(SeekFrom::End(0)).map_err(failure)?;
        input.rewind().map_err(failure)?;
        Ok(Self {
            input,
            len,
            position: 0,
            sidecar,
            room,
            folder: None,
        })
    }

    /// Returns the length of the file in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the offset of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of bytes from the current position to the end of the file.
    pub(super) fn left(&self) -> u64 {
        self.len.saturating_sub(self.position)
    }

    /// Seeks to byte `position`.
    ///
    /// # Errors
    /// Fails if the file ends before this byte.
    pub(super) fn seek(&mut self, position: u64) -> Result<()> {
        if position > self.len {
            let text = format!("the file ends early: its cells begin at byte {position}");
            return Err(Error::input(Code::V002, text).at_byte(self.len));
        }
        self.input
            .seek(SeekFrom::Start(position))
            .map_err(failure)?;
        self.position = position;
        Ok(())
    }

    /// Reads the next `N` bytes.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the next four bytes as a little-endian number.
    pub(super) fn u32(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    /// Reads the next `len` bytes. Fails before allocating memory if the file has fewer.
    pub(super) fn vec(&mut self, len: u64) -> Result<Vec<u8>> {
        let wanted = usize::try_from(len).ok().filter(|_| len <= self.left());
        let mut bytes = vec![0; wanted.ok_or_else(|| self.ends_early(len))?];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes` with the next bytes of the file.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        if bytes.len() as u64 > self.left() {
            return Err(self.ends_early(bytes.len() as u64));
        }
        self.read_exact(bytes).map_err(failure)
    }

    /// Returns the error for a file that has fewer than `wanted` bytes after the current position.
    fn ends_early(&self, wanted: u64) -> Error {
        let left = self.left();
        Error::input(
            Code::V002,
            format!("the file ends early: {wanted} more bytes are expected, {left} follow"),
        )
        .at_byte(self.position)
    }

    /// Returns the underlying input, for readers that seek on their own.
    pub(super) fn input(&mut self) -> &mut dyn Input {
        self.input
    }

    /// Returns an error about the data at the current position, or just before it.
    pub(super) fn error(&self, code: Code, message: impl Into<String>) -> Error {
        Error::input(code, message).at_byte(self.position)
    }
}

/// Returns `true` if the sidecar describes these cells, which were read with the help of the sidecar. A
/// sidecar may belong to an earlier file with the same name.
pub(super) fn is_about(metadata: &Metadata, cells: &Cells) -> bool {
    if metadata.dims != Some(cells.as_ref().dims()) {
        return false;
    }
    let legend = match cells {
        Cells::Labels(labels) => Some(labels.legend()),
        _ => None,
    };
    // If the legend did not name all values, the reader made labels without names.
    if metadata.legend.as_ref() != legend {
        return false;
    }
    match metadata.extra.get(CELLS) {
        Some(digest) => *digest == Digest::of(cells, None).cells.to_string(),
        None => true,
    }
}

/// Converts cells whose file has no description. Labels become bits if at most one label occurs, otherwise
/// they lose their names. The background of a field becomes 0.
pub(super) fn nameless(cells: Cells) -> Result<Cells> {
    Ok(match cells {
        Cells::Labels(labels) => {
            let counts = labels.counts();
            let used = counts.iter().filter(|(_, count)| *count > 0).count();
            if used < 2 {
                labels.into_occupied().into()
            } else {
                labels.with_legend(Legend::default())?.into()
            }
        }
        Cells::Field(field) => field.with_background(0.0).into(),
        bits => bits,
    })
}

impl Read for VoxelSource<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(bytes)?;
        self.position += n as u64;
        Ok(n)
    }
}
