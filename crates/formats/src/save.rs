//! Saving files. After a save, either the complete new file exists, or the old file is unchanged.
//!
//! A file is written under a temporary name in its folder, synced and renamed; then its folder is synced. It
//! gets the permissions of the file that it replaces. If the path is a link, the file it points to is
//! replaced. Devices, pipes and `/dev/stdout` are written directly.
//!
//! Several finished outputs can keep their temporary names for a while. This way the disk syncs several
//! outputs while others are made.
//!
//! A sidecar is renamed before the file that it describes. If the process ends between the two renames, the
//! old file has the new sidecar. A later read reports this, because the sidecar states the digest of the
//! cells. A file never lacks a sidecar that it needs.
//!
//! Temporary files of a process that has ended are removed by the next process that writes to the folder.

use std::io::{self, Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::SpooledTempFile;

use super::ahead::Ahead;
use super::open::{made_by_this_tool, sidecar_path};
use super::place::{
    FinishedFile, Place, buffered, failure, lock_folder, open_direct, sync_name, temporary,
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
use voxelize_core::grid::{CellSource, Lattice, ScanFrame};
use voxelize_core::par::Progress;

/// Output for formats that seek back to fill in sizes.
pub(super) trait Sink: io::Write + Seek {}
impl<T: io::Write + Seek> Sink for T {}

/// Number of bytes of a temporary file that are kept in memory. Such a file is needed if a format seeks and
/// its output goes to a pipe.
pub(super) const SPOOL: usize = 1 << 20;

/// Saves `voxels` to `path`, with a sidecar if the format or the options require one. The file appears only
/// when it is complete.
///
/// # Errors
/// Fails if the format cannot hold the grid, if the run was cancelled, or if the file cannot be written.
/// After an error an existing file at `path` is unchanged, and no other file is left behind.
pub fn save(
    voxels: &Voxels,
    path: &Path,
    format: &Format,
    options: &SaveOptions,
) -> Result<Vec<Written>> {
    save_source(&mut InMemory::new(voxels), path, format, options)
}

/// Saves a grid that is made in slabs. The slabs do not affect the bytes of the file. The number of layers of
/// each slab must be a multiple of [`Format::slab_layers`], except for the last slab.
///
/// # Errors
/// Fails like [`save`]. Also returns errors of `source`.
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
                return Ok(vec![save_directly(source, path, format, options)?]);
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
    let mut sidecar = None;
    let mut stale = None;
    if options.sidecar == Sidecar::Write || format.carries == Carries::Sidecar {
        sidecar = Some(write_sidecar(source, path, format, dtype, options)?);
    } else {
        // The old sidecar describes the file that is replaced, and would be wrong for the new one.
        let old = sidecar_path(data.place());
        if made_by_this_tool(&old) {
            stale = Some(old);
        }
    }
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

/// Complete outputs that still have temporary names. Until [`PendingNames::give`] is called, existing files
/// with the final names are unchanged. Dropping this value removes the outputs.
#[derive(Default)]
pub struct PendingNames(Mutex<Vec<SavedOutput>>);

impl PendingNames {
    /// Syncs the outputs and gives them their final names.
    ///
    /// # Errors
    /// Fails if an output cannot be synced, or if an existing file must be kept. The existing file at its
    /// path is then unchanged.
    pub fn give(self, progress: &dyn Progress) -> Result<()> {
        let saved = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        for saved in saved {
            saved.name(progress)?;
        }
        Ok(())
    }
}

/// Complete output with its sidecar and companions. All files still have temporary names.
struct SavedOutput {
    data: UnnamedOutput,
    sidecar: Option<FinishedFile>,
    companions: Vec<FinishedFile>,
    /// Sidecar of the replaced file, which will be removed.
    stale: Option<PathBuf>,
    existing: Existing,
    durability: Durability,
}

impl SavedOutput {
    /// Syncs all files and gives them their final names.
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
        for file in companions.iter().chain(&sidecar) {
            file.sync(durability)?;
        }
        let place = data.place().to_path_buf();
        let other = sidecar
            .iter()
            .chain(&companions)
            .map(|file| &file.place)
            .next()
            .or(stale.as_ref());
        // The lock makes other processes that write the same files wait, so that no file gets the sidecar of
        // another process.
        let lock = match other {
            Some(other) => lock_folder(other, progress)?,
            None => None,
        };
        data.check(existing)?;
        let may_go = Existing::ReplaceIf(is_companion);
        for companion in &companions {
            companion.check(may_go)?;
        }
        // The sidecar and the companions are renamed first, so that the data file never exists without them.
        if let Some(sidecar) = sidecar {
            sidecar.persist(existing.of_sidecar())?;
        }
        for companion in companions {
            companion.persist(may_go)?;
        }
        data.persist(existing)?;
        if let Some(stale) = stale {
            std::fs::remove_file(&stale).map_err(|error| failure(error).in_file(&stale))?;
        }
        drop(lock);
        // A single sync is enough for all names, because a file system with a journal keeps their order.
        sync_name(&place, durability);
        Ok(())
    }
}

/// Complete file or folder that still has a temporary name.
enum UnnamedOutput {
    File(FinishedFile),
    Folder(NewFolder),
}

impl UnnamedOutput {
    fn written(&self, format: &'static str) -> Written {
        match self {
            Self::File(file) => file.written(format),
            Self::Folder(folder) => folder.written(format),
        }
    }

    /// Syncs a file. Nothing is done for a folder, whose files are synced in the background.
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

/// Writes the file for `path`. `place` is `path` with all links followed.
fn write_file(
    source: &mut dyn CellSource,
    (path, place): (&Path, &Path),
    format: &Format,
    options: &SaveOptions,
    companions: &Companions,
) -> Result<FinishedFile> {
    let dtype = checked_dtype(source, format, options)?;
    let durability = options.durability;
    FinishedFile::write(path, place, |file| {
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

/// Writes `voxels` to a stream such as standard output. No sidecar is written. Returns the number of bytes.
///
/// # Errors
/// Fails if the format cannot hold the grid, if the run was cancelled, or if writing fails. If the reader has
/// closed a pipe, the error has the code `closed-pipe`.
pub fn write_to(
    voxels: &Voxels,
    out: &mut dyn io::Write,
    format: &Format,
    options: &SaveOptions,
) -> Result<u64> {
    write_source_to(&mut InMemory::new(voxels), out, format, options)
}

/// Writes a grid that is made in slabs to a stream. The slabs must be as for [`save_source`].
///
/// # Errors
/// Fails like [`write_to`]. Also returns errors of `source`.
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
                "{} is a folder of files, and a stream cannot contain a folder",
                format.name
            ))
            .with_hint("`-o FOLDER` names the folder"),
        )),
    };
    result.and_then(|()| out.flush()).map_err(failure)?;
    Ok(out.bytes)
}

/// Writes to a temporary file and then copies that file to `out`.
pub(super) fn spooled(
    out: &mut dyn io::Write,
    options: &SaveOptions,
    write: impl FnOnce(&mut SpooledTempFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut spool = SpooledTempFile::new(SPOOL);
    write(&mut spool).map_err(not_spooled)?;
    spool.rewind().map_err(not_spooled)?;
    copy(&mut spool, out, options.progress)
}

/// Returns the number type for the cells. Fails if the format cannot hold the cells or their lattice.
pub(super) fn checked_dtype(
    source: &dyn CellSource,
    format: &Format,
    options: &SaveOptions,
) -> Result<Dtype> {
    let dims = source.dims();
    let lattice = source.lattice();
    if let Some(other) = lattice.map(Lattice::dims).filter(|other| *other != dims) {
        return Err(Error::usage(format!(
            "there are {dims:?} cells, but the lattice has {other:?}"
        )));
    }
    format.check_choices(options)?;
    format.check_plate(dims, options)?;
    format.check_frame(ScanFrame::of(source.record()).as_ref())?;
    (format.limits)(lattice, options.choices)?;
    let dtype = format.dtype(source.cell_type().kind(), options)?;
    values::check_labels(source.cell_type(), dtype, options)?;
    format.check_arrays(
        source.arrays().iter().map(|array| array.content.name()),
        options.choices,
    )?;
    if shares::are_bytes(source.cell_type(), dtype) {
        format.check_shares(source.record())?;
    }
    Ok(dtype)
}

/// Converts an error of writing to a temporary file. The new error names the folder of temporary files.
/// Errors of this crate are returned unchanged.
pub(super) fn not_spooled(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    if error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        return error;
    }
    io::Error::other(
        Error::output(format!(
            "cannot be written to a temporary file before it is passed on: {error}"
        ))
        .in_file(folder)
        .with_hint([
            "TMPDIR names another folder",
            "`-o FILE` and `-f raw` need no temporary file",
        ]),
    )
}

/// Saves the bytes that `write` writes at `path`, either completely or not at all. `format` is the name of
/// their format in [`Written`].
///
/// # Errors
/// Fails if the file cannot be written, or if an existing file must be kept. The existing file at `path` is
/// then unchanged.
pub fn save_bytes(
    path: &Path,
    existing: Existing,
    format: &'static str,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<Written> {
    match Place::of(path)? {
        Place::File(file) => {
            let saved = FinishedFile::write(path, &file, |file| buffered(file, |out| write(out)))?;
            let written = saved.written(format);
            let durability = Durability::default();
            saved.sync(durability)?;
            saved.persist(existing)?;
            sync_name(&file, durability);
            Ok(written)
        }
        Place::Direct => {
            let bytes =
                write_directly(path, write).map_err(|error| failure(error).in_file(path))?;
            Ok(Written {
                path: path.to_path_buf(),
                format,
                bytes,
            })
        }
    }
}

fn write_directly(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<u64> {
    let mut file = open_direct(path)?;
    let mut out = CountedWriter {
        out: &mut *file,
        bytes: 0,
    };
    write(&mut out)?;
    out.flush()?;
    Ok(out.bytes)
}

/// Checks in advance that `path` can be written: its folder exists and accepts new files. `format` is needed
/// because in some formats the output is a folder.
///
/// # Errors
/// Fails with the system's reason if the path cannot be written. No file is left behind.
pub fn probe_output(path: &Path, format: Option<&Format>) -> Result<()> {
    let place = match format.and_then(Format::folder) {
        Some(layout) => Place::File(layout.place(path)?),
        None => Place::of(path)?,
    };
    probe(place).map_err(|error| failure(error).in_file(path))
}

fn probe(place: Place) -> io::Result<()> {
    match place {
        // A pipe is not opened. Opening and closing it would make its reader see the end of the data.
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
) -> Result<FinishedFile> {
    let mut metadata = super::metadata(source, dtype);
    if !options.choices.is_empty() {
        metadata
            .extra
            .insert(CHOICES.into(), Choice::list(options.choices));
    }
    metadata.extra.insert("format".into(), format.name.into());
    values::annotate(options, &mut metadata);
    // With the digest, a reader detects a sidecar that belongs to an earlier file.
    if values::keep_digest(source.cell_type(), dtype, options) {
        super::put_digest(source.digest(), &mut metadata);
    }
    if !values::keep_labels(dtype, options) {
        metadata.legend = None;
    }
    (format.annotate)(dtype, &mut metadata);
    let path = sidecar_path(path);
    match Place::of(&path)? {
        Place::File(file) => {
            let text = metadata.to_json(Style::Pretty);
            FinishedFile::write(&path, &file, |mut file| file.write_all(text.as_bytes()))
        }
        Place::Direct => {
            Err(Error::output("is not a file, so it cannot have a sidecar").in_file(&path))
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

/// Writer that counts the bytes passed through it.
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
