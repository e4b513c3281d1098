//! Saving: afterwards the whole new file exists, or the old one is intact.
//!
//! A file is written under a temporary name in its folder, synced, and renamed; then its folder is synced. It gets
//! the permissions of the one it replaces. Links are followed to what they point to; devices, pipes and
//! `/dev/stdout` are written directly.
//!
//! A sidecar is renamed before the file it describes. If the process dies between the two, the older
//! file, if there was one, has a sidecar that is not its own: reading it reports this, as a sidecar
//! has the digest of its cells. There is no file without the sidecar it needs.
//!
//! The next process that writes to the folder removes temporary files of processes that died.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, SpooledTempFile};

use super::ahead::Ahead;
use super::{Carries, Dtype, Durability, Format, SaveOptions, Sidecar, Write, Written};
use crate::error::{Error, Result};
use crate::grid::metadata::Style;
use crate::grid::{CellSource, InMemory, Lattice, Slab, Voxels};
use crate::par::Progress;

/// What formats write to that go back to fill in sizes.
pub(super) trait Sink: io::Write + Seek {}
impl<T: io::Write + Seek> Sink for T {}

/// Bytes of a format that goes back, on their way to a pipe, that stay in memory.
const SPOOL: usize = 1 << 20;

/// Saves `voxels` to `path` atomically, with a sidecar where the format or the options want one.
///
/// # Errors
/// If the format cannot hold the grid, the run was cancelled, or the file cannot be written. What
/// was at `path` before is then still there, and nothing else.
pub fn save(voxels: &Voxels, path: &Path, format: &Format, options: &SaveOptions) -> Result<Vec<Written>> {
    save_source(&mut InMemory::new(voxels), path, format, options)
}

/// The same for a grid that comes in slabs: the bytes are those of the whole. Slabs have a multiple of
/// [`Format::slab_layers`] layers, save the last.
///
/// # Errors
/// The same, and whatever ends the slabs.
pub fn save_source(
    source: &mut dyn CellSource,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Vec<Written>> {
    let dtype = checked_dtype(source, format, options)?;
    let file = match Place::of(path)? {
        Place::Direct => return save_directly(source, path, format, options).map(|one| vec![one]),
        Place::File(file) => file,
    };
    let durability = options.durability;
    let data = Beside::write(path, &file, durability, |file| match format.write {
        Write::Forward(write) => {
            let mut out = Ahead::new(file.try_clone()?, durability);
            write(source, &mut out, dtype, options)?;
            out.finish()
        }
        Write::Seeking(write) => buffered(file, |out| write(source, out, dtype, options)),
    })?;
    let wanted = options.sidecar == Sidecar::Write || format.carries == Carries::Sidecar;
    let sidecar = wanted.then(|| write_sidecar(source, path, format, dtype, durability)).transpose()?;
    // Other processes that write the same pair wait, so that no file gets the sidecar of another.
    let _lock = sidecar.as_ref().map(|sidecar| lock_folder(&sidecar.place)).transpose()?;
    // The sidecar first: a data file never stands there without what it needs.
    let sidecar = sidecar.map(|sidecar| sidecar.persist("json", durability)).transpose()?;
    let mut written = vec![data.persist(format.name, durability)?];
    written.extend(sidecar);
    Ok(written)
}

/// Writes `voxels` to a stream such as standard output, without a sidecar; answers with the length.
///
/// # Errors
/// If the format cannot hold the grid, the run was cancelled, or writing fails; a pipe closed by
/// its reader has the code `closed-pipe`.
pub fn write_to(
    voxels: &Voxels,
    out: &mut dyn io::Write,
    format: &Format,
    options: &SaveOptions,
) -> Result<u64> {
    write_source_to(&mut InMemory::new(voxels), out, format, options)
}

/// The same for a grid that comes in slabs, as [`save_source`] takes it.
///
/// # Errors
/// The same, and whatever ends the slabs.
pub fn write_source_to(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    format: &Format,
    options: &SaveOptions,
) -> Result<u64> {
    let dtype = checked_dtype(source, format, options)?;
    let mut out = CountedWriter { out, bytes: 0 };
    let result = match format.write {
        Write::Forward(write) => write(source, &mut out, dtype, options),
        Write::Seeking(write) => {
            let mut spool = SpooledTempFile::new(SPOOL);
            write(source, &mut spool, dtype, options)
                .and_then(|()| spool.rewind())
                .map_err(not_spooled)
                .and_then(|()| copy(&mut spool, &mut out, options.progress))
        }
    };
    result.and_then(|()| out.flush()).map_err(failure)?;
    Ok(out.bytes)
}

/// The type of number of the cells, in a format that holds them on their lattice.
fn checked_dtype(source: &dyn CellSource, format: &Format, options: &SaveOptions) -> Result<Dtype> {
    let (dims, lattice) = (source.dims(), source.lattice());
    if let Some(other) = lattice.map(Lattice::dims).filter(|other| *other != dims) {
        return Err(Error::usage(format!("there are {dims:?} cells, and the lattice has {other:?}")));
    }
    (format.limits)(lattice)?;
    format.dtype(source.cell_type().kind(), options)
}

/// The error for what is written here first, as its sizes are filled in at the end: it names the place.
fn not_spooled(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    match error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        true => error,
        false => io::Error::other(
            Error::output(format!("cannot be written here before it is passed on: {error}"))
                .in_file(folder)
                .with_hint("TMPDIR names another folder; -o FILE and -f raw need none"),
        ),
    }
}

/// Saves whatever `write` writes at `path`, as grids are: whole or not at all. `format` is the word
/// for it in [`Written`].
///
/// # Errors
/// If it cannot be written. What was at `path` before is then still there.
pub fn save_bytes(
    path: &Path,
    format: &'static str,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<Written> {
    match Place::of(path)? {
        Place::File(file) => {
            let durability = Durability::default();
            Beside::write(path, &file, durability, |file| buffered(file, |out| write(out)))?
                .persist(format, durability)
        }
        Place::Direct => {
            let bytes = open_direct(path)
                .and_then(|mut file| {
                    let mut out = CountedWriter { out: &mut file, bytes: 0 };
                    write(&mut out).and_then(|()| out.flush()).map(|()| out.bytes)
                })
                .map_err(|error| failure(error).in_file(path))?;
            Ok(Written { path: path.to_path_buf(), format, bytes })
        }
    }
}

/// Whether `path` can be written to, checked early: its folder exists and accepts new files.
///
/// # Errors
/// If not, with the system's reason. Nothing is left behind.
pub fn probe_output(path: &Path) -> Result<()> {
    match Place::of(path)? {
        // To open a pipe is to begin to write: its reader would see the end.
        Place::Direct => Ok(()),
        Place::File(file) => temporary(&file).map(drop),
    }
    .map_err(|error| failure(error).in_file(path))
}

/// The name of the sidecar of `path`: `NAME.ext.json`.
pub(super) fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".json");
    name.into()
}

/// Ends a write with [`Error::interrupted`] if the run was cancelled.
pub(super) fn cancelled(progress: &dyn Progress) -> io::Result<()> {
    progress.check().map_err(io::Error::other)
}

/// The next slab, as a step of writing: of the kind and the size that its source promises.
pub(super) fn next<'a>(source: &'a mut dyn CellSource) -> io::Result<Option<Slab<'a>>> {
    let (kind, [nx, ny, nz]) = (source.cell_type().kind(), source.dims());
    let slab = source.next().map_err(io::Error::other)?;
    let fits = |slab: &Slab| {
        let [x, y, layers] = slab.cells.dims();
        slab.cells.kind() == kind && [x, y] == [nx, ny] && slab.first + layers <= nz
    };
    match slab {
        Some(slab) if !fits(&slab) => {
            let what = "a slab has cells of another kind or another grid than its source";
            Err(io::Error::other(Error::usage(what)))
        }
        slab => Ok(slab),
    }
}

/// The error of this crate for a failed write: its own, if one was passed through, or the system's.
fn failure(error: io::Error) -> Error {
    if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return own.clone();
    }
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::closed_pipe(),
        _ => Error::output(format!("cannot be written: {error}")),
    }
}

/// The file at the end of the links that `path` begins, whether there is one or not.
pub fn link_target(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    // As many links as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&place) {
            Ok(target) if !has_no_name(&place) => {
                place = place.parent().unwrap_or(Path::new("")).join(target);
            }
            _ => break,
        }
    }
    place
}

/// Whether it is what `/dev/stdout` points to, which has no name that could be replaced, even if it is a file.
fn has_no_name(place: &Path) -> bool {
    place.starts_with("/proc") || place.starts_with("/dev/fd")
}

/// Where output for a path goes.
enum Place {
    /// A file at the end of all links, to be replaced.
    File(PathBuf),
    /// A device or pipe.
    Direct,
}

impl Place {
    fn of(path: &Path) -> Result<Self> {
        let fail = |reason: String| Error::output(reason).in_file(path);
        let place = link_target(path);
        if has_no_name(&place) {
            return Ok(Self::Direct);
        }
        match fs::metadata(&place) {
            Ok(found) if found.is_dir() => Err(fail("is a folder".into())),
            Ok(found) if !found.is_file() => Ok(Self::Direct),
            Ok(_) => Ok(Self::File(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if folder(&place).is_dir() {
                    return Ok(Self::File(place));
                }
                let hint = format!("make the folder {} first", folder(&place).display());
                Err(fail(format!("cannot be written: {error}")).with_hint(hint))
            }
            Err(error) => Err(fail(format!("cannot be written: {error}"))),
        }
    }
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of what is written: `.voxelize-PID-….tmp`.
const PREFIX: &str = ".voxelize-";
const SUFFIX: &str = ".tmp";

/// A new file in the folder of `file`, removed unless persisted.
fn temporary(file: &Path) -> io::Result<NamedTempFile> {
    sweep(folder(file));
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any new file gets; the system takes the umask off.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let made = builder.tempfile_in(folder(file)).map_err(without_name)?;
    // By this others know that its process lives; where the system has no locks, its number says so.
    let _ = made.as_file().try_lock();
    Ok(made)
}

/// The system's error without the name of the temporary file.
fn without_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_string()),
        None => error,
    }
}

/// Removes what processes that died left in `folder`; once in a process, as it may be a long list.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !SWEPT.lock().unwrap_or_else(|e| e.into_inner()).insert(folder.to_path_buf()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && entry.file_name().to_str().is_some_and(is_left) {
            // Another container may have a process of that number, which holds the lock.
            let lock = File::open(entry.path()).map(|file| file.try_lock().is_ok());
            if lock.is_ok_and(|is_free| is_free) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether this is the name of what a process wrote that is no more.
fn is_left(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX).filter(|name| name.ends_with(SUFFIX));
    let process = number.and_then(|name| name.split_once('-')).and_then(|(id, _)| id.parse::<u32>().ok());
    let processes = Path::new("/proc");
    process.is_some_and(|id| processes.join("self").exists() && !processes.join(id.to_string()).exists())
}

/// How long to wait for another process that writes to the same folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lock on the folder of `file`, as long as it lives: for files that belong together. Nothing where the system
/// has no such locks.
///
/// # Errors
/// If another process has it for ten seconds.
pub fn lock_folder(file: &Path) -> Result<Option<File>> {
    let Ok(locked) = File::open(folder(file)) else { return Ok(None) };
    let start = Instant::now();
    loop {
        match locked.try_lock() {
            Ok(()) => return Ok(Some(locked)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                let error = Error::output("another process has been writing to this folder for ten seconds");
                return Err(error.in_file(folder(file)).with_hint("wait for it, or end it"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A finished file under its temporary name.
struct Beside {
    file: NamedTempFile,
    place: PathBuf,
    /// The requested name, for messages.
    path: PathBuf,
    bytes: u64,
}

impl Beside {
    fn write(
        path: &Path,
        place: &Path,
        durability: Durability,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Self> {
        let finish = || {
            let file = temporary(place)?;
            write(file.as_file())?;
            keep_permissions(place, file.as_file())?;
            if durability == Durability::Synced {
                file.as_file().sync_all()?;
            }
            let bytes = file.as_file().metadata()?.len();
            Ok(Self { file, place: place.to_path_buf(), path: path.to_path_buf(), bytes })
        };
        finish().map_err(|error| failure(error).in_file(path))
    }

    fn persist(self, format: &'static str, durability: Durability) -> Result<Written> {
        let Self { file, place, path, bytes } = self;
        file.persist(&place).map_err(|e| failure(e.error).in_file(&path))?;
        if durability == Durability::Synced {
            sync_folder(folder(&place));
        }
        Ok(Written { path, format, bytes })
    }
}

/// Writes to a file through a buffer.
fn buffered(file: &File, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, file);
    if let Err(error) = write(&mut out) {
        // Without this, the buffer would be written to a file that is about to go.
        drop(out.into_parts());
        return Err(error);
    }
    out.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

/// Puts the names in `folder` on the disk. Where the system cannot do that, for some file system or at
/// all, it is no failure: the file stands there whole.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Gives `file` the permissions of what it will replace, and the owner where the system allows it.
fn keep_permissions(place: &Path, file: &File) -> io::Result<()> {
    let Ok(old) = fs::metadata(place) else { return Ok(()) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            // Only the superuser may; for others the file becomes theirs, as with any new file.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

fn write_sidecar(
    source: &dyn CellSource,
    path: &Path,
    format: &Format,
    dtype: Dtype,
    durability: Durability,
) -> Result<Beside> {
    let mut metadata = super::metadata(source, dtype);
    metadata.extra.insert("format".into(), format.name.into());
    // By this a reader knows a sidecar that was left from an earlier file.
    metadata.extra.insert("cells".into(), source.digest().cells.to_string());
    (format.annotate)(dtype, &mut metadata);
    let path = sidecar_path(path);
    match Place::of(&path)? {
        Place::File(file) => {
            let text = metadata.to_json(Style::Pretty);
            Beside::write(&path, &file, durability, |mut file| file.write_all(text.as_bytes()))
        }
        Place::Direct => Err(Error::output("is not a file, so no sidecar can be there").in_file(&path)),
    }
}

fn save_directly(
    source: &mut dyn CellSource,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Written> {
    let mut file = open_direct(path).map_err(|error| failure(error).in_file(path))?;
    let bytes = write_source_to(source, &mut file, format, options).map_err(|error| error.in_file(path))?;
    Ok(Written { path: path.to_path_buf(), format: format.name, bytes })
}

fn open_direct(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).open(path)?;
    // Standard output may be a file; devices do not mind.
    let is_file = file.metadata()?.is_file();
    if is_file { file.set_len(0).map(|()| file) } else { Ok(file) }
}

/// A stream that counts what it passes on.
struct CountedWriter<'a> {
    out: &'a mut dyn io::Write,
    bytes: u64,
}

impl io::Write for CountedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn copy(from: &mut dyn Read, to: &mut dyn io::Write, progress: &dyn Progress) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        cancelled(progress)?;
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            n => to.write_all(&buffer[..n])?,
        }
    }
}
