//! Sources of the bytes of a mesh: a file of known length, or a stream. Both may be packed by gzip.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};
use std::rc::Rc;

use super::gzip::{self, Gunzip};
use super::triage::Triage;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::par::Progress;
use voxelize_core::text;

/// Number of bytes at the start of an input that are examined first to choose the format.
const HEAD: usize = 4096;

/// Maximum number of bytes of a text that are examined to choose the format.
const LONGEST_HEAD: usize = 16 << 20;

/// First bytes of an input, and its length. `None` if the length is unknown.
pub(super) struct Head<'a> {
    pub bytes: &'a [u8],
    pub length: Option<u64>,
}

impl<'a> Head<'a> {
    /// Returns the bytes after a byte order mark, if there is one.
    pub(super) fn text(&self) -> &'a [u8] {
        self.bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(self.bytes)
    }

    /// Returns whether the input may be text, which holds if at most
    /// one in 50 of its first 1,024 bytes is a control byte. White space does not count as a control byte. A
    /// stray control byte therefore does not matter. A binary STL has more control bytes: in its numbers, and
    /// in the two attribute bytes after each triangle, which are usually 0.
    pub(super) fn is_text(&self) -> bool {
        let near = &self.bytes[..self.bytes.len().min(1024)];
        near.iter()
            .filter(|&&byte| byte < b' ' && !is_blank(byte))
            .count()
            * 50
            <= near.len()
    }
}

/// Returns whether a byte separates words, as blanks, tabs and line ends do.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Input whose first bytes were read to choose the format.
pub(super) struct MeshBytes<'a> {
    head: Vec<u8>,
    length: Option<u64>,
    rest: Box<dyn Read + 'a>,
    file: Option<&'a File>,
    packed: Option<Packed>,
    folder: Option<MeshFolder<'a>>,
}

/// Function that is called with each file that a mesh names, before that file is opened. To refuse the file,
/// it returns an error.
pub type NamedFiles<'a> = &'a (dyn Fn(&Path) -> Result<()> + Sync);

/// Folder of a mesh, which contains the files that the mesh names.
#[derive(Clone, Copy)]
pub(super) struct MeshFolder<'a> {
    path: &'a Path,
    companions: NamedFiles<'a>,
}

impl MeshFolder<'_> {
    /// Returns whether the folder contains a file with this name.
    pub(super) fn has_file(self, name: &str) -> bool {
        self.path.join(name).is_file()
    }
}

/// Gzip file that the input was unpacked from.
#[derive(Clone)]
pub(super) struct Packed {
    length: Option<u64>,
    read: Rc<Cell<u64>>,
}

impl Packed {
    /// Returns the length of the gzip file. It is valid after the whole file was read.
    pub(super) fn length(&self) -> u64 {
        self.length.unwrap_or(self.read.get())
    }
}

/// Returns whether the file at `path` is in the folder or below it, after all links were resolved.
fn is_below_folder(folder: &Path, path: &Path) -> io::Result<bool> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    Ok(path.canonicalize()?.starts_with(folder.canonicalize()?))
}

/// Reports a file that a mesh names, even if that file is not opened.
pub(super) fn note_beside(folder: Option<MeshFolder>, name: &str) -> Result<()> {
    match folder {
        Some(folder) => (folder.companions)(&folder.path.join(name)),
        None => Ok(()),
    }
}

/// Opens a file that a mesh names, and returns it with its length. The file must be in the folder of the mesh
/// or below it.
fn open_beside(folder: Option<MeshFolder>, name: &str) -> Result<(File, u64)> {
    let shown = sanitize(name.as_bytes());
    let refused = |what: &str| Error::input(Code::S008, format!("it is in '{shown}', {what}"));
    let path = Path::new(name);
    let is_below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.contains("://") || !is_below {
        return Err(refused("which is not below the folder of the mesh"));
    }
    let folder = folder.ok_or_else(|| refused("and a stream lies in no folder"))?;
    let path = folder.path.join(path);
    (folder.companions)(&path)?;
    let beside = |error| unreadable(&error).about(&shown);
    if !is_below_folder(folder.path, &path).map_err(beside)? {
        return Err(refused(
            "which is a link to a path that is not below the folder of the mesh",
        ));
    }
    let is_file = |metadata: &std::fs::Metadata| {
        if metadata.is_file() {
            Ok(())
        } else {
            Err(Error::input(Code::S008, "no file").about(&shown))
        }
    };
    // Opening a named pipe would wait for a writer.
    is_file(&std::fs::metadata(&path).map_err(beside)?)?;
    let file = File::open(&path).map_err(beside)?;
    let metadata = file.metadata().map_err(beside)?;
    is_file(&metadata)?;
    Ok((file, metadata.len()))
}

/// Reads at most `most` bytes of a file that a mesh names. `admit` fails if the memory exceeds the limit.
pub(super) fn read_beside(
    folder: Option<MeshFolder>,
    name: &str,
    most: u64,
    admit: impl FnOnce(u64) -> Result<()>,
) -> Result<Vec<u8>> {
    let (file, there) = open_beside(folder, name)?;
    let count = most.min(there);
    admit(count)?;
    let mut bytes = vec![];
    let is_reserved = match usize::try_from(count) {
        Ok(count) => bytes.try_reserve_exact(count).is_ok(),
        Err(_) => false,
    };
    if !is_reserved {
        return Err(Error::too_large(
            "more bytes than the system provides memory for",
        ));
    }
    file.take(count)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

impl<'a> MeshBytes<'a> {
    /// Creates the source for a file of `length` bytes.
    pub(super) fn file(file: &'a File, length: u64) -> Result<Self> {
        let mut source = Self::stream(file)?;
        source.length = Some(length);
        source.file = Some(file);
        Ok(source)
    }

    /// Sets the path of the input. Files that the mesh names must be in the same folder or below it.
    pub(super) fn at(self, path: &'a Path, companions: NamedFiles<'a>) -> Self {
        let folder = path.parent().map(|path| MeshFolder { path, companions });
        Self { folder, ..self }
    }

    /// Returns the folder of the input. `None` for a stream.
    pub(super) fn folder(&self) -> Option<MeshFolder<'a>> {
        self.folder
    }

    /// Creates the source for a stream. The length is known only if the stream ends within the first bytes
    /// that are examined.
    pub(super) fn stream(mut rest: impl Read + 'a) -> Result<Self> {
        let mut head = vec![0; HEAD];
        let filled = fill(&mut rest, &mut head)?;
        head.truncate(filled);
        let length = (filled < HEAD).then_some(filled as u64);
        Ok(Self {
            head,
            length,
            rest: Box::new(rest),
            file: None,
            packed: None,
            folder: None,
        })
    }

    /// Reads more bytes, so that the examined start is eight times as long, but at most `most` bytes. Returns
    /// `false` if there are no more bytes.
    pub(super) fn lengthen_head(&mut self, most: u64) -> Result<bool> {
        let known = self.head.len();
        let longest = usize::try_from(most)
            .unwrap_or(usize::MAX)
            .min(LONGEST_HEAD);
        let wanted = (8 * known).min(longest);
        if self.length.is_some_and(|length| length <= known as u64) || wanted <= known {
            return Ok(false);
        }
        self.head.resize(wanted, 0);
        let filled = fill(&mut self.rest, &mut self.head[known..])?;
        self.head.truncate(known + filled);
        if known + filled < wanted {
            self.length = Some((known + filled) as u64);
        }
        Ok(filled > 0)
    }

    /// Unpacks a gzip file. Returns any other input unchanged.
    pub(super) fn unpacked(self, triage: &'a Triage) -> Result<Self> {
        if !gzip::recognise(&self.head) {
            return Ok(self);
        }
        let packed = Packed {
            length: self.length,
            read: Rc::default(),
        };
        let read = Rc::clone(&packed.read);
        let folder = self.folder;
        let mut source = Self::stream(Gunzip::new(Box::new(self.into_reader()), triage, read))?;
        source.packed = Some(packed);
        source.folder = folder;
        Ok(source)
    }

    /// Returns the gzip file that the content was unpacked from. `None` if it was not packed.
    pub(super) fn packed(&self) -> Option<Packed> {
        self.packed.clone()
    }

    /// Returns the first bytes and the length of the input, which decide its format.
    pub(super) fn head(&self) -> Head<'_> {
        Head {
            bytes: &self.head,
            length: self.length,
        }
    }

    /// Returns the length in bytes. `None` if it is unknown.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns the file, if the system can read it at given positions. `None` for a stream.
    pub(super) fn as_file(&self) -> Option<&'a File> {
        self.file.filter(|_| cfg!(any(unix, windows)))
    }

    /// Reads all bytes into memory, for formats that need random access. Memory grows as bytes arrive.
    ///
    /// # Errors
    /// If the bytes need more memory than `max_memory`.
    pub(super) fn into_bytes(
        self,
        max_memory: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<u8>> {
        const BLOCK: usize = 1 << 20;
        let limit = max_memory.unwrap_or(u64::MAX);
        let mut reader = self.into_reader();
        let mut bytes: Vec<u8> = vec![];
        loop {
            progress.check()?;
            let read = bytes.len();
            let more = read.clamp(BLOCK / 16, 16 * BLOCK);
            // When the buffer grows, the old and the new memory exist at the same time.
            if 2 * read as u64 + more as u64 > limit {
                let limit = text::bytes(limit);
                return Err(Error::too_large(format!(
                    "it is read as a whole, but only {limit} are allowed"
                )));
            }
            bytes.try_reserve_exact(more).map_err(|_| {
                Error::too_large("it is read as a whole, but does not fit in memory")
            })?;
            bytes.resize(read + more, 0);
            let filled = fill(&mut reader, &mut bytes[read..])?;
            bytes.truncate(read + filled);
            progress.advance(filled as u64);
            if filled < more {
                return Ok(bytes);
            }
        }
    }

    /// Returns a reader of all bytes, including those already examined.
    pub(super) fn into_reader(self) -> impl Read + 'a {
        io::Cursor::new(self.head).chain(self.rest)
    }
}

/// Reads until `buffer` is full or the input ends. Returns the number of bytes read.
pub(super) fn fill(reader: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(filled)
}

/// Fills `buffer` with the bytes of `file` from position `at` on. Other threads may read from the file at the
/// same time.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

/// Fills `buffer` with the bytes of `file` from position `at` on. Other threads may read from the file at the
/// same time.
#[cfg(windows)]
pub(super) fn read_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buffer.is_empty() {
        match file.seek_read(buffer, at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buffer = &mut buffer[n..];
                at += n as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Not available on this system. It is never called, because [`MeshBytes::as_file`] returns `None`.
#[cfg(not(any(unix, windows)))]
pub(super) fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns the error for a file that the system cannot read.
pub(super) fn unreadable(error: &io::Error) -> Error {
    // Errors that readers of this crate wrapped in an I/O error are returned unchanged.
    if let Some(finding) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>())
    {
        return finding.clone();
    }
    let message = match error.kind() {
        ErrorKind::NotFound => {
            return Error::input(Code::S008, "no such file").with_hint(
                "check the name; a name without a folder is searched in the working directory",
            );
        }
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => format!("cannot be read: {error}"),
    };
    Error::input(Code::S008, message)
}
