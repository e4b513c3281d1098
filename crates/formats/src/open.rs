//! Opening: the format of a file, its sidecar, and readers that trust no size of a header.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::comments::is_marked;
use super::room::CellRoom;
use super::{CELLS, Carries, DTYPE, Dtype, FORMATS, Format, ORDER, Reader, by_path};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{Cells, Digest, Legend};

/// The longest sidecar that is read.
const MAX_SIDECAR: u64 = 1 << 20;

/// Reads a file of any voxel format: known by its content where it has a mark, else by its
/// extension. Its sidecar is read, too.
///
/// # Errors
/// If the file cannot be read or is broken, with the place where that is known.
pub fn open(path: &Path) -> Result<Voxels> {
    open_within(path, None)
}

/// Reads a file as [`open`] does, if its cells take at most so many bytes of memory.
///
/// # Errors
/// As those of [`open`], and [`Kind::TooLarge`](voxelize_core::Kind::TooLarge) before more memory is taken.
pub fn open_within(path: &Path, max_memory: Option<u64>) -> Result<Voxels> {
    let read = || {
        let Recognised {
            mut file,
            format,
            folder,
        } = recognise(path)?;
        let mut source = VoxelSource::new(&mut file, read_sidecar(path)?, CellRoom(max_memory))?;
        source.folder = folder;
        (reader(format)?.cells)(&mut source)
    };
    read().map_err(|error: Error| error.in_file(path))
}

/// Reads `format` from anything that can be searched, such as a `Cursor` over bytes; `sidecar` is
/// the text of the sidecar, if there is one.
///
/// # Errors
/// If the bytes cannot be read or are broken.
pub fn read_from<R: Read + Seek>(
    input: R,
    format: &Format,
    sidecar: Option<&str>,
) -> Result<Voxels> {
    let sidecar = sidecar.map(parse_sidecar).transpose()?;
    (reader(format)?.cells)(&mut VoxelSource::new(
        &mut BufReader::new(input),
        sidecar,
        CellRoom::default(),
    )?)
}

/// The description of a voxel file, without its cells.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its format.
    pub format: &'static Format,
    /// Its length.
    pub bytes: u64,
    /// The type that its cells are stored as, where the format has a choice and the file says it.
    pub dtype: Option<Dtype>,
    /// Dims, lattice and how it was made, as far as the file or its sidecar says them.
    pub metadata: Metadata,
}

/// The description of the file at `path`, from its headers. A sidecar is used if its dims are
/// those of the file; [`open`] also compares the digest of the cells.
///
/// # Errors
/// If the file cannot be read or its headers are broken.
pub fn describe(path: &Path) -> Result<Description> {
    let look = || {
        let Recognised {
            mut file,
            format,
            folder,
        } = recognise(path)?;
        let mut source = VoxelSource::new(&mut file, read_sidecar(path)?, CellRoom::default())?;
        let bytes = folder.as_deref().map_or(source.len(), bytes_in);
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
    };
    look().map_err(|error: Error| error.in_file(path))
}

/// The voxel format of the file at `path`: by its content, or by its name if the format has no mark.
/// `None` for anything else, and for what cannot be read.
pub fn sniff(path: &Path) -> Option<&'static Format> {
    recognise(path).ok().map(|found| found.format)
}

/// Whether the file at `path`, or its sidecar, says that this tool made it. A cheap look; whatever
/// cannot be read does not say so.
pub fn made_by_this_tool(path: &Path) -> bool {
    let described = || describe(path).ok().map(|found| found.metadata);
    let metadata = if is_sidecar(path) {
        parse_file(path).ok().flatten()
    } else {
        described()
    };
    metadata
        .and_then(|metadata| metadata.record.tool)
        .is_some_and(|tool| tool.starts_with("voxelize "))
        || is_marked(path)
}

/// Whether the file at `path` is a sidecar, of whatever program of this library.
pub(super) fn describes_cells(path: &Path) -> bool {
    parse_file(path)
        .ok()
        .flatten()
        .is_some_and(|metadata| metadata.dims.is_some())
        || made_by_this_tool(path)
}

/// Whether the file at `path` may be an output of this tool: it says so, or it has no place to say so and its cells are
/// laid out as this tool does.
pub fn may_be_of_this_tool(path: &Path) -> bool {
    let is_alike = |found: Description| {
        matches!(
            found.format.carries,
            Carries::SidecarOnRequest | Carries::Rounded
        ) && found
            .metadata
            .extra
            .get(ORDER[0])
            .is_some_and(|order| order == ORDER[1])
    };
    made_by_this_tool(path) || !sidecar_path(path).exists() && describe(path).is_ok_and(is_alike)
}

/// The name of the sidecar of `path`: `NAME.ext.json`.
pub(super) fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".json");
    name.into()
}

/// The lengths of all files in `folder` and below.
pub(super) fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let length = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        _ => entry.metadata().map_or(0, |found| found.len()),
    };
    entries.map(length).sum()
}

fn is_sidecar(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// A file of a known format.
struct Recognised {
    /// The file at its start; of a folder the file that makes it known.
    file: BufReader<File>,
    format: &'static Format,
    /// The folder, if it is one.
    folder: Option<PathBuf>,
}

fn opened(path: &Path) -> Result<BufReader<File>> {
    Ok(BufReader::with_capacity(
        256 << 10,
        File::open(path).map_err(failure)?,
    ))
}

/// The file or folder at `path`, and its format.
fn recognise(path: &Path) -> Result<Recognised> {
    let index = |format: &&'static Format| format.folder()?.index_in(path);
    let found = FORMATS.iter().filter(|format| format.is_readable());
    if let Some((format, index)) = found
        .filter_map(|format| Some((format, index(&format)?)))
        .next()
    {
        return Ok(Recognised {
            file: opened(&index)?,
            format,
            folder: Some(path.to_path_buf()),
        });
    }
    let mut file = opened(path)?;
    let mut start = Vec::new();
    file.by_ref()
        .take(8)
        .read_to_end(&mut start)
        .map_err(failure)?;
    file.rewind().map_err(failure)?;
    let known = |format: &&Format| format.magic.iter().any(|magic| start.starts_with(magic));
    let begins = |format: &&Format| {
        format
            .weak_magic
            .iter()
            .any(|magic| start.starts_with(magic))
    };
    let is_unmarked = |format: &&Format| format.magic.is_empty() && format.weak_magic.is_empty();
    let by_name = || by_path(path).filter(|f| f.is_readable() && (is_unmarked(f) || begins(f)));
    let readable = || FORMATS.iter().filter(|format| format.is_readable());
    match readable().find(known).or_else(by_name) {
        Some(format) => Ok(Recognised {
            file,
            format,
            folder: None,
        }),
        None => Err(unknown(path)),
    }
}

/// How files of `format` are read.
fn reader(format: &Format) -> Result<&Reader> {
    format.reader.as_ref().ok_or_else(|| {
        Error::usage(format!(
            "voxels are written to .{} files, not read from them",
            format.extensions[0]
        ))
    })
}

fn unknown(path: &Path) -> Error {
    let known = || {
        let readable = FORMATS.iter().filter(|format| format.is_readable());
        readable
            .map(|format| format.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
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
        .with_hint(format!("files of {} are read", known())),
        None => {
            Error::input(Code::V001, "is not a voxel file of a known format").with_hint(format!(
                "the formats are {}; save other images as .nrrd or .nii.gz",
                known()
            ))
        }
    }
}

/// The sidecar of `path`, if there is one.
fn read_sidecar(path: &Path) -> Result<Option<Metadata>> {
    parse_file(&sidecar_path(path))
}

/// The content of a sidecar, if there is one.
fn parse_file(path: &Path) -> Result<Option<Metadata>> {
    let read = || {
        let mut text = String::new();
        match File::open(path) {
            Ok(file) => file
                .take(MAX_SIDECAR)
                .read_to_string(&mut text)
                .map_err(failure)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure(error)),
        };
        parse_sidecar(&text).map(Some)
    };
    read().map_err(|error: Error| error.in_file(path))
}

fn parse_sidecar(text: &str) -> Result<Metadata> {
    Metadata::from_json(text)
        .map_err(|why| Error::input(Code::V007, format!("the sidecar is broken: {why}")))
}

/// The error of this crate for a failed read.
pub(super) fn failure(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::input(Code::V002, "the file ends early"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Error::input(Code::V003, error.to_string())
        }
        _ => Error::input(Code::V010, format!("cannot be read: {error}")),
    }
}

/// The source of the bytes.
pub(super) trait Input: Read + Seek {}
impl<T: Read + Seek> Input for T {}

/// A file that is being read: every claimed length is held against the bytes that are left.
pub(super) struct VoxelSource<'a> {
    input: &'a mut dyn Input,
    len: u64,
    position: u64,
    /// The metadata of the sidecar, if there is one.
    pub sidecar: Option<Metadata>,
    /// The memory for cells.
    pub room: CellRoom,
    /// The folder of the file, if its format is one.
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

    /// The length of the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Where the next byte comes from.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes from here to the end of the file.
    pub(super) fn left(&self) -> u64 {
        self.len.saturating_sub(self.position)
    }

    /// Goes to `position`.
    ///
    /// # Errors
    /// If the file ends before it.
    pub(super) fn seek(&mut self, position: u64) -> Result<()> {
        if position > self.len {
            let says = format!("the file ends early: its cells begin at byte {position}");
            return Err(Error::input(Code::V002, says).at_byte(self.len));
        }
        self.input
            .seek(SeekFrom::Start(position))
            .map_err(failure)?;
        self.position = position;
        Ok(())
    }

    /// The next `N` bytes.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The next number, 32 bits, little-endian.
    pub(super) fn u32(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    /// The next `len` bytes, if the file has so many.
    pub(super) fn vec(&mut self, len: u64) -> Result<Vec<u8>> {
        let wanted = usize::try_from(len).ok().filter(|_| len <= self.left());
        let mut bytes = vec![0; wanted.ok_or_else(|| self.ends_early(len))?];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes` with what is next.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        if bytes.len() as u64 > self.left() {
            return Err(self.ends_early(bytes.len() as u64));
        }
        self.read_exact(bytes).map_err(failure)
    }

    /// The file has fewer than `wanted` bytes from here.
    fn ends_early(&self, wanted: u64) -> Error {
        let left = self.left();
        Error::input(
            Code::V002,
            format!("the file ends early: {wanted} more bytes are expected, {left} follow"),
        )
        .at_byte(self.position)
    }

    /// The whole input, for readers that find their own way.
    pub(super) fn input(&mut self) -> &mut dyn Input {
        self.input
    }

    /// An error about what was read just before or at the current place.
    pub(super) fn error(&self, code: Code, message: impl Into<String>) -> Error {
        Error::input(code, message).at_byte(self.position)
    }
}

/// Whether a sidecar is about these cells, read by what it says of them: it may be left from an earlier file.
pub(super) fn is_about(metadata: &Metadata, cells: &Cells) -> bool {
    let legend = match cells {
        Cells::Labels(labels) => Some(labels.legend()),
        _ => None,
    };
    let digest = || Digest::of(cells, None).cells.to_string();
    metadata.dims == Some(cells.as_ref().dims())
        // Labels without names are those of the file, in place of a legend that does not name them.
        && metadata.legend.as_ref() == legend
        && metadata.extra.get(CELLS).is_none_or(|cells| *cells == digest())
}

/// The cells of a file that nothing describes.
pub(super) fn nameless(cells: Cells) -> Result<Cells> {
    Ok(match cells {
        Cells::Labels(labels)
            if labels
                .counts()
                .iter()
                .filter(|(_, count)| *count > 0)
                .count()
                < 2 =>
        {
            labels.into_occupied().into()
        }
        Cells::Labels(labels) => labels.with_legend(Legend::default())?.into(),
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
