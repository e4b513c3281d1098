//! Where files are written. If the path is a link, the file it points to is replaced. A file has a temporary
//! name until it is complete. Several processes can write to the same folder at the same time.
//!
//! Devices, pipes and redirected standard output (`/dev/stdout`) cannot be replaced by renaming a file. They
//! are written directly and never truncated.

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

/// Converts the error of a failed write. If it wraps an error of this crate, that error is returned.
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

/// Follows the links at `path` and returns the path that the last one points to. No file needs to exist
/// there.
pub fn link_target(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    // Linux follows at most 40 links.
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

/// Returns `true` if `place` refers to an open file of a process, as `/dev/stdout` does. Such a file has no
/// name that could be replaced, even if it is a regular file.
fn has_no_name(place: &Path) -> bool {
    place.starts_with("/proc") || place.starts_with("/dev/fd")
}

/// Where the output for a path is written.
pub(super) enum Place {
    /// Regular file, with all links followed. A new file replaces it.
    File(PathBuf),
    /// Device or pipe, which is written directly.
    Direct,
}

impl Place {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let place = link_target(path);
        if has_no_name(&place) {
            return Ok(Self::Direct);
        }
        match fs::metadata(&place) {
            Ok(found) if found.is_dir() => Err(Error::output("is a folder").in_file(path)),
            Ok(found) if !found.is_file() => Ok(Self::Direct),
            Ok(_) => Ok(Self::File(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if folder_of(&place).is_dir() {
                    return Ok(Self::File(place));
                }
                let hint = format!("create the folder {}/ first", folder_of(&place).display());
                let error = Error::output(format!("cannot be written: {error}"));
                Err(error.in_file(path).with_hint(hint))
            }
            Err(error) => Err(Error::output(format!("cannot be written: {error}")).in_file(path)),
        }
    }
}

/// Returns the folder of `file`.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Start of temporary names. They have the form `.voxelize-PID-….tmp`.
const PREFIX: &str = ".voxelize-";

/// End of temporary names.
const SUFFIX: &str = ".tmp";

/// Creates a temporary file in the folder of `file`. It is removed unless it gets a final name.
pub(super) fn temporary(file: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(file);
    let made = by_builder(folder, 0o666, |builder| builder.tempfile_in(folder))?;
    // The lock tells other processes that this process is still running. On systems without locks, the
    // process number in the name does so.
    let _ = made.as_file().try_lock();
    Ok(made)
}

/// Creates a temporary folder next to `place`. It is removed with its contents unless it is renamed.
pub(super) fn temporary_folder(place: &Path) -> io::Result<TempDir> {
    let folder = folder_of(place);
    by_builder(folder, 0o777, |builder| builder.tempdir_in(folder))
}

/// Creates a temporary file in `folder` whose name begins with `prefix`. It is removed unless it gets a final
/// name. Other processes that write to the folder never remove it. They may run on other machines, where they
/// cannot find out whether this process is still running.
pub(super) fn unswept(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(prefix);
    with_usual_permissions(&mut builder, 0o666);
    builder.tempfile_in(folder).map_err(without_name)
}

/// Calls `make` to create a file or folder in `folder`. Its name identifies this process. It gets the
/// permissions of a newly created file: `mode` without the bits of the umask.
fn by_builder<T>(
    folder: &Path,
    mode: u32,
    make: impl FnOnce(&Builder) -> io::Result<T>,
) -> io::Result<T> {
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if folders.insert(folder.to_path_buf()) {
        // A folder is searched for leftover files only once per process, because it may have many entries.
        sweep(folder);
    }
    let prefix = own_prefix();
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    with_usual_permissions(&mut builder, mode);
    make(&builder).map_err(without_name)
}

/// Sets the permissions that the system gives to new files.
fn with_usual_permissions(builder: &mut Builder, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// Removes the temporary name from a system error.
fn without_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_string()),
        None => error,
    }
}

/// Folders in which this process has created temporary files or folders. The lock is held while one of them
/// is created.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn own_prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the temporary files and folders of this process and then calls `work`. No new ones are created
/// until `work` returns. Used to end the process at once.
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

/// Removes temporary files and folders in `folder` whose processes have ended.
fn sweep(folder: &Path) {
    for (path, kind) in temporaries(folder, is_left) {
        // A process in another container may have the same number as one that has ended here. It then holds
        // the lock.
        let lock = File::open(&path).map(|file| file.try_lock().is_ok());
        if lock.is_ok_and(|is_free| is_free) {
            remove(&path, kind);
        }
    }
}

/// Returns the files and folders in `folder` whose names satisfy `is_wanted`.
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
    // If removing fails, a later process removes the file.
    let _ = if kind.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

/// Returns `true` for the name of a temporary file whose process has ended.
fn is_left(name: &str) -> bool {
    let Some(name) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let Some((id, _)) = name.split_once('-') else {
        return false;
    };
    let Ok(id) = id.parse::<u32>() else {
        return false;
    };
    let processes = Path::new("/proc");
    name.ends_with(SUFFIX)
        && processes.join("self").exists()
        && !processes.join(id.to_string()).exists()
}

/// Maximum wait for other processes that write to the same folder. With many processes on a busy machine, the
/// wait can be long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Locks the folder of `file`, so that files that belong together are written together. The lock is held
/// until the returned value is dropped. Returns `None` if the system does not support such locks.
///
/// # Errors
/// Fails if other processes hold the lock for a minute, or if the wait is cancelled.
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
                    .with_hint("wait for these processes, or end them"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Complete file that still has a temporary name.
pub(super) struct FinishedFile {
    file: NamedTempFile,
    pub(super) place: PathBuf,
    /// Path as the caller gave it, for messages.
    path: PathBuf,
    bytes: u64,
}

impl FinishedFile {
    pub(super) fn write(
        path: &Path,
        place: &Path,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Self> {
        Self::try_write(path, place, write).map_err(|error| failure(error).in_file(path))
    }

    fn try_write(
        path: &Path,
        place: &Path,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let file = temporary(place)?;
        write(file.as_file())?;
        Self::finish(path, place, file)
    }

    /// Completes a written file. It gets the permissions of the file that it will replace.
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

    /// Fails if a file exists that must be kept.
    pub(super) fn check(&self, existing: Existing) -> Result<()> {
        existing
            .check(&self.place)
            .map_err(|error| error.in_file(&self.path))
    }

    /// Syncs the file if it must be on the disk before it gets its final name.
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

    /// Returns the description of the file for the caller.
    pub(super) fn written(&self, format: &'static str) -> Written {
        Written {
            path: self.path.clone(),
            format,
            bytes: self.bytes,
        }
    }

    /// Gives the file its final name. The name itself is not synced. Fails if a file has appeared there in
    /// the meantime that must be kept.
    pub(super) fn persist(self, existing: Existing) -> Result<()> {
        let Self {
            file, place, path, ..
        } = self;
        if let Existing::Replace = existing {
            file.persist(&place)
                .map_err(|e| failure(e.error).in_file(&path))?;
        } else if let Err(e) = file.persist_noclobber(&place) {
            existing
                .check(&place)
                .map_err(|error| error.in_file(&path))?;
            e.file
                .persist(&place)
                .map_err(|e| failure(e.error).in_file(&path))?;
        }
        Ok(())
    }
}

impl Existing {
    /// Returns the treatment of an existing file at the path of a sidecar. The user did not name this path,
    /// so the file is replaced only if it is a sidecar.
    pub(crate) fn of_sidecar(self) -> Self {
        match self {
            Self::Replace => Self::ReplaceIf(describes_cells),
            other => other,
        }
    }

    /// Fails if a file at `place` must be kept. A device is no obstacle, because writing to it destroys
    /// nothing.
    pub fn check(self, place: &Path) -> Result<()> {
        let is_kept = fs::metadata(place).is_ok_and(|found| found.is_file() || found.is_dir());
        match self {
            Self::ReplaceIf(may_go) if is_kept && !may_go(place) => Err(Error::exists(
                "already exists, and nothing in it shows that voxelize wrote it, so it is kept",
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
        // Dropping the buffer would write its bytes to a file that will be removed.
        drop(out.into_parts());
        return Err(error);
    }
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .map(drop)
}

/// Syncs the name of a file if `durability` requires it.
pub(super) fn sync_name(place: &Path, durability: Durability) {
    if durability == Durability::Synced {
        sync_folder(folder_of(place));
    }
}

/// Syncs the names in `folder`. If the system or the file system cannot do this, it is not an error, because
/// the file is complete.
pub(super) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Gives `file` the permissions of the file that it will replace. Also gives it the owner, if the system
/// allows it.
pub(super) fn keep_permissions(place: &Path, file: &File) -> io::Result<()> {
    let Ok(old) = fs::metadata(place) else {
        return Ok(());
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            // Only the superuser may change the owner. Otherwise the owner is the current user, as for any
            // new file.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

/// Opens a device, a pipe, or an open file of this process for direct writing. Bytes are appended, because
/// the shell that opened the file has either truncated it already or wants to append to it.
pub(super) fn open_direct(path: &Path) -> io::Result<Box<dyn io::Write>> {
    let standard = ["/proc/self/fd/1", "/dev/fd/1"];
    if standard
        .iter()
        .any(|name| link_target(path) == Path::new(name))
    {
        // The process's own standard output is used, so that later output of other writers follows these
        // bytes. A file that is opened separately would not ensure this.
        return Ok(Box::new(BufWriter::with_capacity(64 << 10, io::stdout())));
    }
    Ok(Box::new(OpenOptions::new().append(true).open(path)?))
}
