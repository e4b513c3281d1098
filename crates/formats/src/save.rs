//! Saving: afterwards the whole new file exists, or the old one is intact.
//!
//! A file is written under a temporary name in its folder, synced, and renamed; then its folder is synced. It gets
//! the permissions of the one it replaces. Links are followed to what they point to; devices, pipes and
//! `/dev/stdout` are written directly.
//!
//! Many outputs can wait for their names: the disk takes the bytes of several at once while others are made.
//!
//! A sidecar is renamed before the file it describes. If the process dies between the two, the older
//! file, if there was one, has a sidecar that is not its own: reading it reports this, as a sidecar
//! has the digest of its cells. There is no file without the sidecar it needs.
//!
//! The next process that writes to the folder removes temporary files of processes that died.

use std::io::{self, Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::SpooledTempFile;

use super::ahead::Ahead;
use super::open::{made_by_this_tool, sidecar_path};
use super::place::{
    Beside, Place, buffered, failure, lock_folder, open_direct, sync_name, temporary,
};
use super::several::{Companions, NewFolder, is_companion};
use super::{
    CHOICES, Carries, Choice, Dtype, Durability, Existing, Format, SaveOptions, Sidecar, Write,
    Written, shares, values,
};
use crate::steps;
use crate::{InMemory, Voxels};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::metadata::Style;
use voxelize_core::grid::{CellSource, Lattice};
use voxelize_core::par::Progress;

/// A file for formats that go back to fill in sizes.
pub(super) trait Sink: io::Write + Seek {}
impl<T: io::Write + Seek> Sink for T {}

/// Bytes of a format that goes back, on their way to a pipe, that stay in memory.
pub(super) const SPOOL: usize = 1 << 20;

/// Saves `voxels` to `path` atomically, with a sidecar where the format or the options want one.
///
/// # Errors
/// If the format cannot hold the grid, the run was cancelled, or the file cannot be written. What
/// was at `path` before is then still there, and nothing else.
pub fn save(
    voxels: &Voxels,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Vec<Written>> {
    save_source(&mut InMemory::new(voxels), path, format, options)
}

/// Saves a grid that comes in slabs: the bytes are those of the whole. Slabs have a multiple of
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
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    let is_segmentation = name.is_some_and(|name| name.ends_with(".seg.nrrd"));
    let options = &SaveOptions {
        is_segmentation,
        ..*options
    };
    let dtype = checked_dtype(source, format, options)?;
    let companions = Companions::new();
    let data = match format.write {
        Write::Folder(layout, write) => {
            let folder = NewFolder::create(path, layout.place(path)?, options.durability)?;
            write(source, &folder, dtype, options).map_err(|error| failure(error).in_file(path))?;
            UnnamedOutput::Folder(folder)
        }
        _ => match Place::of(path)? {
            Place::Direct => {
                return save_directly(source, path, format, options).map(|one| vec![one]);
            }
            Place::File(file) => UnnamedOutput::File(write_file(
                source,
                (path, &file),
                format,
                options,
                &companions,
            )?),
        },
    };
    let wanted = options.sidecar == Sidecar::Write || format.carries == Carries::Sidecar;
    let sidecar = wanted
        .then(|| write_sidecar(source, path, format, dtype, options))
        .transpose()?;
    // A sidecar of the file that is replaced would describe another.
    let stale =
        Some(sidecar_path(data.place())).filter(|stale| !wanted && made_by_this_tool(stale));
    let companions = companions.finish();
    let mut written = vec![data.written(format.name)];
    written.extend(
        companions
            .iter()
            .map(|companion| companion.written(format.name)),
    );
    written.extend(sidecar.iter().map(|sidecar| sidecar.written("json")));
    let SaveOptions {
        existing,
        durability,
        ..
    } = *options;
    let saved = SavedOutput {
        data,
        sidecar,
        companions,
        stale,
        existing,
        durability,
    };
    match options.later {
        Some(later) => later
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(saved),
        None => saved.name(options.progress)?,
    }
    Ok(written)
}

/// Outputs that are whole and have no names yet. Until they have, an older file of the name is there; if this is dropped,
/// nothing of them remains.
#[derive(Default)]
pub struct PendingNames(Mutex<Vec<SavedOutput>>);

impl PendingNames {
    /// Puts the outputs on the disk and gives them their names, as saving does otherwise.
    ///
    /// # Errors
    /// If the disk does not take one, or a file is there that stays. What was at its path before is then still there.
    pub fn give(self, progress: &dyn Progress) -> Result<()> {
        let saved = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        saved.into_iter().try_for_each(|saved| saved.name(progress))
    }
}

/// An output that is whole, under temporary names.
struct SavedOutput {
    data: UnnamedOutput,
    sidecar: Option<Beside>,
    companions: Vec<Beside>,
    /// A sidecar that goes.
    stale: Option<PathBuf>,
    existing: Existing,
    durability: Durability,
}

impl SavedOutput {
    /// Puts all of it on the disk, and gives it its names.
    fn name(self, progress: &dyn Progress) -> Result<()> {
        let Self {
            data,
            sidecar,
            companions,
            stale,
            existing,
            durability,
        } = self;
        data.sync(durability)?;
        companions
            .iter()
            .chain(&sidecar)
            .try_for_each(|file| file.sync(durability))?;
        let place = data.place().to_path_buf();
        let beside = sidecar
            .iter()
            .chain(&companions)
            .map(|file| &file.place)
            .next()
            .or(stale.as_ref());
        // Other processes that write the same files wait, so that no file gets the sidecar of another.
        let lock = beside
            .map(|beside| lock_folder(beside, progress))
            .transpose()?;
        data.check(existing)?;
        let may_go = Existing::ReplaceIf(is_companion);
        companions
            .iter()
            .try_for_each(|companion| companion.check(may_go))?;
        // The sidecar and the companions first: a data file never stands there without what it needs.
        sidecar.map_or(Ok(()), |sidecar| sidecar.persist(existing.of_sidecar()))?;
        companions
            .into_iter()
            .try_for_each(|one| one.persist(may_go))?;
        data.persist(existing)?;
        if let Some(stale) = stale {
            std::fs::remove_file(&stale).map_err(|error| failure(error).in_file(&stale))?;
        }
        drop(lock);
        // Once for all names: a file system with a journal keeps their order.
        sync_name(&place, durability);
        Ok(())
    }
}

/// A file or a folder that is whole, under its temporary name.
enum UnnamedOutput {
    File(Beside),
    Folder(NewFolder),
}

impl UnnamedOutput {
    fn written(&self, format: &'static str) -> Written {
        match self {
            Self::File(file) => file.written(format),
            Self::Folder(folder) => folder.written(format),
        }
    }

    /// Puts a file on the disk; a folder's are on their way.
    fn sync(&self, durability: Durability) -> Result<()> {
        match self {
            Self::File(file) => file.sync(durability),
            Self::Folder(_) => Ok(()),
        }
    }

    fn place(&self) -> &Path {
        match self {
            Self::File(file) => &file.place,
            Self::Folder(folder) => &folder.place,
        }
    }

    fn check(&self, existing: Existing) -> Result<()> {
        match self {
            Self::File(file) => file.check(existing),
            Self::Folder(folder) => folder.check(existing),
        }
    }

    fn persist(self, existing: Existing) -> Result<()> {
        match self {
            Self::File(file) => file.persist(existing),
            Self::Folder(folder) => folder.persist(existing),
        }
    }
}

/// Writes the file at `path`, which is at `place`, all links followed.
fn write_file(
    source: &mut dyn CellSource,
    (path, place): (&Path, &Path),
    format: &Format,
    options: &SaveOptions,
    companions: &Companions,
) -> Result<Beside> {
    let dtype = checked_dtype(source, format, options)?;
    let durability = options.durability;
    Beside::write(path, place, |file| {
        let mut out = Ahead::new(file.try_clone()?, durability);
        match format.write {
            Write::Forward(write) => write(source, &mut out, dtype, options)?,
            Write::Seeking(write) => write(source, &mut out, dtype, options)?,
            Write::Several(_, write) => {
                write(source, &mut out, dtype, options, (path, companions))?
            }
            Write::Folder(..) => return Err(io::ErrorKind::IsADirectory.into()),
        }
        out.finish()
    })
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

/// Writes a grid that comes in slabs, as [`save_source`] takes it.
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
        Write::Seeking(write) => spooled(&mut out, options, |spool| {
            write(source, spool, dtype, options)
        }),
        Write::Several(_, write) => spooled(&mut out, options, |spool| {
            write(
                source,
                spool,
                dtype,
                options,
                (Path::new("-"), &Companions::none()),
            )
        }),
        Write::Folder(..) => Err(io::Error::other(
            Error::usage(format!(
                "{} is a folder of files, and no stream holds one",
                format.name
            ))
            .with_hint("`-o FOLDER` names the folder"),
        )),
    };
    result.and_then(|()| out.flush()).map_err(failure)?;
    Ok(out.bytes)
}

/// Writes to a temporary file, which is then passed on.
pub(super) fn spooled(
    out: &mut dyn io::Write,
    options: &SaveOptions,
    write: impl FnOnce(&mut SpooledTempFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut spool = SpooledTempFile::new(SPOOL);
    write(&mut spool)
        .and_then(|()| spool.rewind())
        .map_err(not_spooled)
        .and_then(|()| copy(&mut spool, out, options.progress))
}

/// The type of number of the cells, in a format that holds them on their lattice.
pub(super) fn checked_dtype(
    source: &dyn CellSource,
    format: &Format,
    options: &SaveOptions,
) -> Result<Dtype> {
    let dims = source.dims();
    let lattice = source.lattice();
    if let Some(other) = lattice.map(Lattice::dims).filter(|other| *other != dims) {
        return Err(Error::usage(format!(
            "there are {dims:?} cells, and the lattice has {other:?}"
        )));
    }
    format.check_choices(options)?;
    (format.limits)(lattice, options.choices)?;
    let dtype = format.dtype(source.cell_type().kind(), options)?;
    values::check_labels(source.cell_type(), dtype, options)?;
    format.check_arrays(
        source.arrays().iter().map(|array| array.quantity),
        options.choices,
    )?;
    if shares::are_bytes(source.cell_type(), dtype) {
        shares::check_rule(source.record())?;
    }
    Ok(dtype)
}

/// The error for what is written here first, as its sizes are filled in at the end: it names the place.
pub(super) fn not_spooled(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    match error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        true => error,
        false => io::Error::other(
            Error::output(format!(
                "cannot be written here before it is passed on: {error}"
            ))
            .in_file(folder)
            .with_hint([
                "TMPDIR names another folder",
                "`-o FILE` and `-f raw` need none",
            ]),
        ),
    }
}

/// Saves whatever `write` writes at `path`, as grids are: whole or not at all. `format` is the word
/// for it in [`Written`].
///
/// # Errors
/// If it cannot be written, or a file is there that stays. What was at `path` before is then still there.
pub fn save_bytes(
    path: &Path,
    existing: Existing,
    format: &'static str,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<Written> {
    match Place::of(path)? {
        Place::File(file) => {
            let saved = Beside::write(path, &file, |file| buffered(file, |out| write(out)))?;
            let (written, durability) = (saved.written(format), Durability::default());
            saved.sync(durability)?;
            saved.persist(existing)?;
            sync_name(&file, durability);
            Ok(written)
        }
        Place::Direct => {
            let bytes = open_direct(path)
                .and_then(|mut file| {
                    let mut out = CountedWriter {
                        out: &mut *file,
                        bytes: 0,
                    };
                    write(&mut out)
                        .and_then(|()| out.flush())
                        .map(|()| out.bytes)
                })
                .map_err(|error| failure(error).in_file(path))?;
            Ok(Written {
                path: path.to_path_buf(),
                format,
                bytes,
            })
        }
    }
}

/// Checks early that `path` can be written to: its folder exists and accepts new files. A format may make it a folder.
///
/// # Errors
/// If not, with the system's reason. Nothing is left behind.
pub fn probe_output(path: &Path, format: Option<&Format>) -> Result<()> {
    let place = match format.and_then(Format::folder) {
        Some(layout) => Place::File(layout.place(path)?),
        None => Place::of(path)?,
    };
    probe(place).map_err(|error| failure(error).in_file(path))
}

fn probe(place: Place) -> io::Result<()> {
    match place {
        // To open a pipe is to begin to write: its reader would see the end.
        Place::Direct => Ok(()),
        Place::File(file) => temporary(&file).map(drop),
    }
}

fn write_sidecar(
    source: &dyn CellSource,
    path: &Path,
    format: &Format,
    dtype: Dtype,
    options: &SaveOptions,
) -> Result<Beside> {
    let mut metadata = super::metadata(source, dtype);
    if !options.choices.is_empty() {
        metadata
            .extra
            .insert(CHOICES.into(), Choice::list(options.choices));
    }
    metadata.extra.insert("format".into(), format.name.into());
    values::annotate(options, &mut metadata);
    // By this a reader knows a sidecar that was left from an earlier file.
    if values::keep_digest(source.cell_type(), dtype, options) {
        super::put_digest(source.digest(), &mut metadata);
    }
    metadata.legend = metadata
        .legend
        .filter(|_| values::keep_labels(dtype, options));
    (format.annotate)(dtype, &mut metadata);
    let path = sidecar_path(path);
    match Place::of(&path)? {
        Place::File(file) => {
            let text = metadata.to_json(Style::Pretty);
            Beside::write(&path, &file, |mut file| file.write_all(text.as_bytes()))
        }
        Place::Direct => {
            Err(Error::output("is not a file, so no sidecar can be there").in_file(&path))
        }
    }
}

fn save_directly(
    source: &mut dyn CellSource,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Written> {
    let mut file = open_direct(path).map_err(|error| failure(error).in_file(path))?;
    let bytes = write_source_to(source, &mut *file, format, options)
        .map_err(|error| error.in_file(path))?;
    Ok(Written {
        path: path.to_path_buf(),
        format: format.name,
        bytes,
    })
}

/// A stream that counts what it passes on.
pub(super) struct CountedWriter<'a> {
    pub out: &'a mut dyn io::Write,
    pub bytes: u64,
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
        steps::cancelled(progress)?;
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            n => to.write_all(&buffer[..n])?,
        }
    }
}
