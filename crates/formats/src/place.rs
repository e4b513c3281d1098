//! Where a file is put: at the end of all links, under a temporary name until it is whole, beside other processes that
//! write there.
//!
//! Devices, pipes and what a shell has redirected (`/dev/stdout`) have no name that could be replaced: they are written
//! directly, and never cut.

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{Builder, NamedTempFile, TempDir};

use super::open::describes_cells;
use super::{Durability, Existing, Written};
use voxelize_core::error::{Error, Result};
use voxelize_core::par::Progress;

/// The error of this crate for a failed write: its own, if one was passed through, or the system's.
pub(super) fn failure(error: io::Error) -> Error {
    if let Some(own) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>())
    {
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

/// Whether `place` is an open file of a process, as `/dev/stdout` points to: it has no name that could be replaced, even
/// if it is a file.
fn has_no_name(place: &Path) -> bool {
    place.starts_with("/proc") || place.starts_with("/dev/fd")
}

/// Where output for a path goes.
pub(super) enum Place {
    /// A file at the end of all links, to be replaced.
    File(PathBuf),
    /// A device or pipe.
    Direct,
}

impl Place {
    pub(super) fn of(path: &Path) -> Result<Self> {
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
                if folder_of(&place).is_dir() {
                    return Ok(Self::File(place));
                }
                let hint = format!("make the folder {} first", folder_of(&place).display());
                Err(fail(format!("cannot be written: {error}")).with_hint(hint))
            }
            Err(error) => Err(fail(format!("cannot be written: {error}"))),
        }
    }
}

/// The folder that `file` is in.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The name of what is written: `.voxelize-PID-….tmp`.
const PREFIX: &str = ".voxelize-";
const SUFFIX: &str = ".tmp";

/// A new file in the folder of `file`, removed unless persisted.
pub(super) fn temporary(file: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(file);
    let made = by_builder(folder, 0o666, |builder| builder.tempfile_in(folder))?;
    // By this others know that its process lives; where the system has no locks, its number says so.
    let _ = made.as_file().try_lock();
    Ok(made)
}

/// A new folder beside `place`, removed with all it holds unless renamed.
pub(super) fn temporary_folder(place: &Path) -> io::Result<TempDir> {
    let folder = folder_of(place);
    by_builder(folder, 0o777, |builder| builder.tempdir_in(folder))
}

/// A new file in `folder` whose name begins with `prefix`, removed unless persisted. Another process that writes there
/// leaves it, even if it does not see that this one lives: it may run on another machine.
pub(super) fn unswept(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(prefix);
    with_usual_permissions(&mut builder, 0o666);
    builder.tempfile_in(folder).map_err(without_name)
}

/// What `make` makes in `folder`, under a name by which others know its process, with the permissions that anything new
/// gets: the system takes the umask off.
fn by_builder<T>(
    folder: &Path,
    mode: u32,
    make: impl FnOnce(&Builder) -> io::Result<T>,
) -> io::Result<T> {
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if folders.insert(folder.to_path_buf()) {
        // Once in a process, as it may be a long list.
        sweep(folder);
    }
    let prefix = own_prefix();
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    with_usual_permissions(&mut builder, mode);
    make(&builder).map_err(without_name)
}

/// The permissions that anything new gets.
fn with_usual_permissions(builder: &mut Builder, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// The system's error without the name of the temporary file.
fn without_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_string()),
        None => error,
    }
}

/// Folders in which this process has made temporary files and folders. The lock is held while one is made.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn own_prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the temporary files and folders of this process, then does `work`. No new ones are made meanwhile: for a
/// process that ends at once.
pub fn without_temporaries<T>(work: impl FnOnce() -> T) -> T {
    let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = own_prefix();
    for folder in folders.iter() {
        for (path, kind) in temporaries(folder, |name| name.starts_with(&own)) {
            remove(&path, kind);
        }
    }
    work()
}

/// Removes what processes that died left in `folder`.
fn sweep(folder: &Path) {
    for (path, kind) in temporaries(folder, is_left) {
        // Another container may have a process of that number, which holds the lock.
        let lock = File::open(&path).map(|file| file.try_lock().is_ok());
        if lock.is_ok_and(|is_free| is_free) {
            remove(&path, kind);
        }
    }
}

/// The files and folders in `folder` with names of a certain form.
fn temporaries(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileType)> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if (kind.is_file() || kind.is_dir()) && entry.file_name().to_str().is_some_and(&is_wanted) {
            found.push((entry.path(), kind));
        }
    }
    found
}

fn remove(path: &Path, kind: FileType) {
    // A failure leaves a file that the next process removes.
    let _ = if kind.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

/// Whether this is the name of what a process wrote that is no more.
fn is_left(name: &str) -> bool {
    let number = name
        .strip_prefix(PREFIX)
        .filter(|name| name.ends_with(SUFFIX));
    let process = number
        .and_then(|name| name.split_once('-'))
        .and_then(|(id, _)| id.parse::<u32>().ok());
    let processes = Path::new("/proc");
    process.is_some_and(|id| {
        processes.join("self").exists() && !processes.join(id.to_string()).exists()
    })
}

/// How long to wait for other processes that write to the same folder: many of them on a loaded machine take a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lock on the folder of `file`, as long as it lives: for files that belong together. Nothing where the system
/// has no such locks.
///
/// # Errors
/// If others have it for a minute, or the wait is cancelled.
pub fn lock_folder(file: &Path, progress: &dyn Progress) -> Result<Option<File>> {
    let Ok(locked) = File::open(folder_of(file)) else {
        return Ok(None);
    };
    let start = Instant::now();
    loop {
        progress.check()?;
        match locked.try_lock() {
            Ok(()) => return Ok(Some(locked)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                let error =
                    Error::output("other processes have been writing to this folder for a minute");
                return Err(error
                    .in_file(folder_of(file))
                    .with_hint("wait for it, or end it"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A finished file under its temporary name.
pub(super) struct Beside {
    file: NamedTempFile,
    pub(super) place: PathBuf,
    /// The requested name, for messages.
    path: PathBuf,
    bytes: u64,
}

impl Beside {
    pub(super) fn write(
        path: &Path,
        place: &Path,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Self> {
        let make = || {
            let file = temporary(place)?;
            write(file.as_file())?;
            Self::finish(path, place, file)
        };
        make().map_err(|error| failure(error).in_file(path))
    }

    /// A file that is written, with the permissions of the one that it will replace.
    pub(crate) fn finish(path: &Path, place: &Path, file: NamedTempFile) -> io::Result<Self> {
        keep_permissions(place, file.as_file())?;
        let bytes = file.as_file().metadata()?.len();
        Ok(Self {
            file,
            place: place.to_path_buf(),
            path: path.to_path_buf(),
            bytes,
        })
    }

    /// Refuses a file that is there and stays.
    pub(super) fn check(&self, existing: Existing) -> Result<()> {
        existing
            .check(&self.place)
            .map_err(|error| error.in_file(&self.path))
    }

    /// Puts the file on the disk, if it is to be there before it has its name.
    pub(super) fn sync(&self, durability: Durability) -> Result<()> {
        match durability {
            Durability::Synced => self
                .file
                .as_file()
                .sync_all()
                .map_err(|e| failure(e).in_file(&self.path)),
            Durability::Unsynced => Ok(()),
        }
    }

    /// What will be written.
    pub(super) fn written(&self, format: &'static str) -> Written {
        Written {
            path: self.path.clone(),
            format,
            bytes: self.bytes,
        }
    }

    /// Gives the file its name, which is not on the disk yet. A file that appeared there in the meantime and is not to be
    /// replaced stays.
    pub(super) fn persist(self, existing: Existing) -> Result<()> {
        let Self {
            file, place, path, ..
        } = self;
        let fail = |error: io::Error| failure(error).in_file(&path);
        if let Existing::Replace = existing {
            file.persist(&place).map_err(|e| fail(e.error))?;
        } else if let Err(e) = file.persist_noclobber(&place) {
            existing
                .check(&place)
                .map_err(|error| error.in_file(&path))?;
            e.file.persist(&place).map_err(|e| fail(e.error))?;
        }
        Ok(())
    }
}

impl Existing {
    /// What is at the path of a sidecar goes only if it is one: nobody has named it.
    pub(crate) fn of_sidecar(self) -> Self {
        match self {
            Self::Replace => Self::ReplaceIf(describes_cells),
            other => other,
        }
    }

    /// Refuses a file that is at `place` and stays. A device is written to, and nothing of it is lost.
    pub fn check(self, place: &Path) -> Result<()> {
        let is_kept = fs::metadata(place).is_ok_and(|found| found.is_file() || found.is_dir());
        match self {
            Self::ReplaceIf(may_go) if is_kept && !may_go(place) => Err(Error::exists(
                "exists, and has no record that this tool made it",
            )),
            _ => Ok(()),
        }
    }
}

/// Writes to a file through a buffer.
pub(super) fn buffered(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, file);
    if let Err(error) = write(&mut out) {
        // Without this, the buffer would be written to a file that is about to go.
        drop(out.into_parts());
        return Err(error);
    }
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .map(drop)
}

/// Puts the name of a file on the disk, if it is to be there.
pub(super) fn sync_name(place: &Path, durability: Durability) {
    if durability == Durability::Synced {
        sync_folder(folder_of(place));
    }
}

/// Puts the names in `folder` on the disk. Where the system cannot do that, for some file system or at
/// all, it is no failure: the file stands there whole.
pub(super) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Gives `file` the permissions of what it will replace, and the owner where the system allows it.
fn keep_permissions(place: &Path, file: &File) -> io::Result<()> {
    let Ok(old) = fs::metadata(place) else {
        return Ok(());
    };
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

/// A device, a pipe, or an open file of this process, to be written to directly: behind what an open file holds, as the
/// shell that opened it has cut it, or means it to grow.
pub(super) fn open_direct(path: &Path) -> io::Result<Box<dyn io::Write>> {
    let standard = ["/proc/self/fd/1", "/dev/fd/1"];
    if standard
        .iter()
        .any(|name| link_target(path) == Path::new(name))
    {
        // What others write to it next goes behind these bytes, which a file of its own would not ensure.
        return Ok(Box::new(BufWriter::with_capacity(64 << 10, io::stdout())));
    }
    Ok(Box::new(OpenOptions::new().append(true).open(path)?))
}
