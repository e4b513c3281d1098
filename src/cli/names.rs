//! The files that a run reads or writes. Two files are the same if they have the same identity, even if their
//! names are spelled differently.
//!
//! A command reads an [`InputFile`] and writes an [`OutputFile`], and registers both in the [`Names`] of its
//! call. An output is never also another file of the run. A file that no option names is replaced only if
//! this tool wrote it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use voxelize::format::{
    self, Carries, Existing, FORMATS, Format, OutputShape, SaveOptions, Sidecar, Written,
};
use voxelize::grid::{CellKind, CellSource, InMemory, Labels, ScanFrame};
use voxelize::{Cells, Code, Error, Lattice, Record, Result, TOOL, Voxels, tool};

use super::pipes::PipeWriter;
use super::signals::Signals;

/// Extension of sidecars. It is added to the complete file name.
pub const SIDECAR: &str = "json";

/// Advice if a file of the user has the name that a sidecar would get.
const SIDECAR_STAYS: &str = "move it away, or give the output another name";

/// All files of a run.
#[derive(Clone, Default)]
pub struct Names {
    known: Arc<Mutex<KnownFiles>>,
    signals: Signals,
}

#[derive(Default)]
struct KnownFiles {
    /// Files that exist, by device and inode.
    nodes: HashMap<(u64, u64), Arc<KnownFile>>,
    /// All files, sorted by resolved path, so that files in a folder come directly after the folder.
    places: BTreeMap<PathBuf, Arc<KnownFile>>,
    /// Folders that the run writes or reads. No other file of the run may be inside one of these folders.
    folders: HashMap<PathBuf, Arc<KnownFile>>,
    /// Outputs that [`Names::check`] has not checked yet.
    unchecked: Vec<OutputFile>,
}

struct KnownFile {
    path: PathBuf,
    role: String,
    access: Access,
    is_folder: bool,
    /// Advice if this file is written although it is also another file of the run.
    hint: Option<String>,
    state: Arc<OutputState>,
}

/// State of an output. The files that are written next to the output share it.
#[derive(Default)]
struct OutputState {
    /// The run also uses this file in a conflicting way.
    is_disputed: AtomicBool,
    /// The files that are written next to this one are registered.
    has_companions: AtomicBool,
}

/// The way a run uses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// Read before anything is written. The output of the run may therefore replace the file.
    ReadFirst,
    /// Output of the run, or its sidecar.
    Output,
    Write,
}

impl Access {
    fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ReadFirst)
    }
}

impl Names {
    /// Creates an empty set of files. If a pipe blocks the process, these signals end it.
    pub fn new(signals: &Signals) -> Self {
        Self {
            signals: signals.clone(),
            ..Self::default()
        }
    }

    /// Registers a file that is read. For a voxel file, also registers the sidecar that it may have.
    pub fn reads(&self, path: &Path, role: &str) -> Result<InputFile> {
        self.reads_as(path, role, Access::Read)
    }

    /// Registers a file that is read before anything is written. The output may replace it.
    pub fn reads_first(&self, path: &Path, role: &str) -> Result<InputFile> {
        self.reads_as(path, role, Access::ReadFirst)
    }

    /// Registers a folder whose files are read. The run must not write into this folder.
    pub fn reads_folder(&self, path: &Path, role: &str) -> Result<()> {
        self.lock()
            .add(KnownFile::read(path, role.to_string(), Access::Read))
    }

    fn reads_as(&self, path: &Path, role: &str, access: Access) -> Result<InputFile> {
        let mut known = self.lock();
        known.add(KnownFile::read(path, role.to_string(), access))?;
        // A write-only format cannot be read, so a file with its extension must be a mesh, which has no
        // sidecar.
        let named = || format::by_path(path).filter(|format| format.is_readable());
        if !is_pipe(path) && format::sniff(path).or_else(named).is_some() {
            let role = format!("the sidecar of {role}");
            known.add(KnownFile::read(&with_suffix(path, SIDECAR), role, access))?;
        }
        Ok(InputFile {
            path: path.to_path_buf(),
            names: self.clone(),
        })
    }

    /// Checks that every output registered since the last check can be written, and that it would not replace
    /// a file that must be kept. Outputs in folders that do not exist yet are not checked. Leaves no files
    /// behind.
    pub fn check(&self) -> Result<()> {
        let outputs = std::mem::take(&mut self.lock().unchecked);
        let mut probed = HashSet::new();
        for output in outputs {
            output.check()?;
            if output.is_folder() || probed.insert(output.path.parent().map(Path::to_path_buf)) {
                tool::probe_output(&output.path, output.format())
                    .map_err(|error| output.hinted(error))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, KnownFiles> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownFiles {
    /// Adds a file. Fails if the run uses the same file in a conflicting way.
    fn add(&mut self, new: KnownFile) -> Result<()> {
        let place = place(&new.path);
        let node = node(&new.path);
        let mut others = vec![];
        others.extend(self.places.get(&place));
        others.extend(node.and_then(|node| self.nodes.get(&node)));
        others.extend(
            place
                .ancestors()
                .skip(1)
                .find_map(|folder| self.folders.get(folder)),
        );
        if new.is_folder {
            let next = self
                .places
                .range::<Path, _>((Excluded(&*place), Unbounded))
                .next();
            others.extend(
                next.filter(|(other, _)| other.starts_with(&place))
                    .map(|(_, known)| known),
            );
        }
        for other in others {
            other.check(&new)?;
        }
        let new = Arc::new(new);
        if new.is_folder {
            self.folders.insert(place.clone(), Arc::clone(&new));
        }
        // A file that is read first may be registered again with another use, which then replaces the first
        // one.
        let take = |known: &mut Arc<KnownFile>| {
            if known.access == Access::ReadFirst {
                *known = Arc::clone(&new);
            }
        };
        self.places
            .entry(place)
            .and_modify(take)
            .or_insert_with(|| Arc::clone(&new));
        if let Some(node) = node {
            self.nodes.entry(node).and_modify(take).or_insert(new);
        }
        Ok(())
    }
}

impl KnownFile {
    fn read(path: &Path, role: String, access: Access) -> Self {
        let path = path.to_path_buf();
        Self {
            is_folder: path.is_dir(),
            path,
            role,
            access,
            hint: None,
            state: Arc::default(),
        }
    }

    /// Fails if two uses of the same file conflict. They do not conflict if both read the file, or if the
    /// file is read first and then replaced by the output.
    fn check(&self, other: &Self) -> Result<()> {
        let is_read = self.access.is_read() && other.access.is_read();
        let is_replaced = matches!(
            (self.access, other.access),
            (Access::ReadFirst, Access::Output) | (Access::Output, Access::ReadFirst)
        );
        if is_read || is_replaced {
            return Ok(());
        }
        self.state.is_disputed.store(true, Relaxed);
        other.state.is_disputed.store(true, Relaxed);
        let (written, message) = if other.access.is_read() {
            (self, format!("is {}, and would be overwritten", other.role))
        } else if self.access.is_read() {
            (other, format!("is {}, and would be overwritten", self.role))
        } else if self.role == other.role {
            (self, format!("would be written twice, as {}", self.role))
        } else {
            (
                self,
                format!(
                    "would be written twice: as {} and as {}",
                    self.role, other.role
                ),
            )
        };
        let hint = written.hint.as_deref().unwrap_or("name another file");
        Err(Error::usage(message).in_file(&written.path).with_hint(hint))
    }
}

/// A file that the run reads.
#[derive(Clone)]
pub struct InputFile {
    path: PathBuf,
    names: Names,
}

impl InputFile {
    /// Path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Registers a file that this file refers to, such as its materials or a texture.
    pub fn reads_companion(&self, path: &Path) -> Result<()> {
        let role = format!("a file that {} names", self.path.display());
        self.names
            .lock()
            .add(KnownFile::read(path, role, Access::Read))
    }
}

/// A file that the run writes. It is written under a temporary name in the same folder, and renamed once it
/// is complete. Standard output and pipes are written directly.
#[derive(Clone)]
pub struct OutputFile {
    path: PathBuf,
    is_stdout: bool,
    /// Content of the file in words, for messages.
    role: String,
    /// Format and kind of the cells. `None` for a picture, a list or a report.
    cells: Option<(&'static Format, CellKind)>,
    /// Option that requests this file, if the file is written in addition to the output. Otherwise empty.
    option: &'static str,
    access: Access,
    existing: Existing,
    /// The folder of the file is created when the file is written.
    in_made_folder: bool,
    /// Advice if the file cannot be written.
    hint: Option<String>,
    /// Advice if the file exists already and must be kept.
    stays_hint: Option<String>,
    state: Arc<OutputState>,
    names: Names,
}

impl OutputFile {
    /// Creates an output that an option names. It replaces an existing file. It is not registered yet.
    pub fn new(path: &Path, role: &str) -> Self {
        Self {
            path: path.to_path_buf(),
            is_stdout: false,
            role: role.to_string(),
            cells: None,
            option: "",
            access: Access::Write,
            existing: Existing::Replace,
            in_made_folder: false,
            hint: None,
            stays_hint: None,
            state: Arc::default(),
            names: Names::default(),
        }
    }

    /// Registers the file of an option that requests cells in addition to the output, and the sidecar of the
    /// file. The extension of the file decides its format.
    pub fn of_option(
        path: &Path,
        kind: CellKind,
        (option, role): (&'static str, &str),
        sidecar: Sidecar,
        names: &Names,
    ) -> Result<Self> {
        let format =
            format::named_by(path).map_err(|error| error.with_hint(takes(option, |_| true)))?;
        let hint = format!("{option} FILE names another file");
        let file = Self {
            option,
            ..Self::new(path, role).of_cells(format, kind).hint(&hint)
        };
        let file = file.register(names)?;
        file.register_sidecar(sidecar)?;
        Ok(file)
    }

    /// Sets the format and the kind of cells. The output is a folder if the format is a folder.
    #[must_use]
    pub fn of_cells(self, format: &'static Format, kind: CellKind) -> Self {
        Self {
            cells: Some((format, kind)),
            ..self
        }
    }

    /// Writes to standard output if the name is `-`.
    #[must_use]
    pub fn or_stdout(self) -> Self {
        Self {
            is_stdout: self.path.as_os_str() == "-",
            ..self
        }
    }

    /// Marks the file as the output of the run, which may replace a file that is read first.
    #[must_use]
    pub fn output_of_run(self) -> Self {
        Self {
            access: Access::Output,
            ..self
        }
    }

    /// Sets whether an existing file is replaced. `hint` is the advice if it must be kept.
    #[must_use]
    pub fn existing(self, existing: Existing, hint: &str) -> Self {
        Self {
            existing,
            stays_hint: Some(hint.to_string()),
            ..self
        }
    }

    /// Creates the folder of the file when the file is written.
    #[must_use]
    pub fn in_made_folder(self) -> Self {
        Self {
            in_made_folder: true,
            ..self
        }
    }

    /// Sets the advice for errors of a file that cannot be written.
    #[must_use]
    pub fn hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_string()),
            ..self
        }
    }

    /// Registers the file. Fails if it is also another file of the run. Standard output is not registered,
    /// because it is not a file.
    pub fn register(mut self, names: &Names) -> Result<Self> {
        self.names = names.clone();
        if self.is_stdout {
            return Ok(self);
        }
        let mut known = names.lock();
        known.add(self.known(&self.path, &self.role))?;
        if !self.in_made_folder {
            known.unchecked.push(self.clone());
        }
        drop(known);
        Ok(self)
    }

    /// Registers the sidecar of the file, if one will be written. The sidecar may replace only a sidecar that
    /// this tool wrote.
    pub fn register_sidecar(&self, sidecar: Sidecar) -> Result<()> {
        let Some(path) = self.sidecar_path(sidecar) else {
            return Ok(());
        };
        let role = format!("the sidecar of {}", self.role);
        let file = Self {
            path,
            role,
            cells: None,
            state: Arc::default(),
            ..self.clone()
        };
        let file = file.existing(Existing::ReplaceIf(tool::made_by_this_tool), SIDECAR_STAYS);
        file.register(&self.names).map(drop)
    }

    fn known(&self, path: &Path, role: &str) -> KnownFile {
        KnownFile {
            path: path.to_path_buf(),
            role: role.to_string(),
            access: self.access,
            is_folder: path == self.path && self.is_folder(),
            hint: self.hint.clone(),
            state: Arc::clone(&self.state),
        }
    }

    /// Path as the user gave it. `-` for standard output.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_stdout(&self) -> bool {
        self.is_stdout
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        if self.is_stdout {
            "standard output".to_string()
        } else {
            self.path.display().to_string()
        }
    }

    /// Content of the file in words, for messages.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Format of the cells. `None` for a picture, a list or a report.
    pub fn format(&self) -> Option<&'static Format> {
        self.cells.map(|(format, _)| format)
    }

    /// Returns the existing file that this output replaces, so that it can be read before.
    pub fn before(&self) -> InputFile {
        InputFile {
            path: self.path.clone(),
            names: self.names.clone(),
        }
    }

    /// Returns the path of the sidecar. `None` if no sidecar will be written.
    pub fn sidecar_path(&self, requested: Sidecar) -> Option<PathBuf> {
        let is_wanted = requested == Sidecar::Write || self.format()?.carries == Carries::Sidecar;
        if is_wanted && !self.is_stdout {
            Some(with_suffix(&self.path, SIDECAR))
        } else {
            None
        }
    }

    /// Returns `true` if the run also uses the file in a conflicting way. It is then not written.
    pub fn is_disputed(&self) -> bool {
        self.state.is_disputed.load(Relaxed)
    }

    fn is_folder(&self) -> bool {
        self.format().is_some_and(Format::is_folder)
    }

    /// Kind of the cells in the file. Bits if the format cannot hold cells of the requested kind.
    fn kind(&self) -> CellKind {
        match self.cells {
            Some((format, kind)) if !format.dtypes_of(kind).is_empty() => kind,
            _ => CellKind::Bits,
        }
    }

    /// Fails with the code [`Code::Exists`] if an existing file must be kept.
    pub fn check(&self) -> Result<()> {
        self.check_undisputed()?;
        self.existing
            .check(&self.path)
            .map_err(|error| self.hinted(error.in_file(&self.path)))
    }

    /// Fails if the format cannot hold cells of the requested kind.
    pub fn check_kind(&self) -> Result<()> {
        let Some((format, kind)) = self.cells else {
            return Ok(());
        };
        format.check_kind(kind).map_err(|error| {
            error
                .in_file(&self.path)
                .with_hint(takes(self.option, |format| format.holds(kind)))
        })
    }

    /// Checks that the file can hold cells on `lattice`.
    pub fn check_lattice(&self, lattice: &Lattice) -> Result<()> {
        let Some((format, _)) = self.cells else {
            return Ok(());
        };
        let kind = self.kind();
        format::check(kind, lattice, format, &SaveOptions::default())
            .map_err(|error| error.in_file(&self.path))?;
        self.check_companions(
            format,
            &OutputShape {
                kind,
                dims: lattice.dims(),
                is_y_up: false,
                choices: &[],
            },
        )
    }

    /// Checks that the file can hold cells in the frame of a scan.
    pub fn check_frame(&self, frame: Option<&ScanFrame>) -> Result<()> {
        let Some((format, _)) = self.cells else {
            return Ok(());
        };
        format
            .check_frame(frame)
            .map_err(|error| error.in_file(&self.path))
    }

    /// Registers the files that the format writes next to this one. Their number is known from `shape`. Does
    /// nothing when called again.
    pub fn check_companions(&self, format: &Format, shape: &OutputShape) -> Result<()> {
        if self.is_stdout || self.state.has_companions.swap(true, Relaxed) {
            return Ok(());
        }
        let role = format!("a file next to {}", self.path.display());
        for path in format.companions(&self.path, shape) {
            Existing::ReplaceIf(tool::is_companion)
                .check(&path)
                .map_err(|error| {
                    error
                        .in_file(&path)
                        .with_hint("move it away, or give the output another name")
                })?;
            self.names.lock().add(KnownFile {
                access: Access::Write,
                ..self.known(&path, &role)
            })?;
        }
        Ok(())
    }

    fn check_undisputed(&self) -> Result<()> {
        if self.is_disputed() {
            return Err(Error::usage("is named twice in this run").in_file(&self.path));
        }
        Ok(())
    }

    /// Saves cells, as [`format::save_source`] does.
    pub fn save_source(
        &self,
        source: &mut dyn CellSource,
        format: &Format,
        options: &SaveOptions,
    ) -> Result<Vec<Written>> {
        if self.is_stdout {
            let mut out = PipeWriter::stdout(&self.names.signals)?;
            let bytes = format::write_source_to(source, &mut out, format, options)?;
            return Ok(vec![Written {
                path: self.path.clone(),
                format: format.name,
                bytes,
            }]);
        }
        if is_fifo(&self.path) {
            let mut out = PipeWriter::open(&self.path, &self.names.signals)?;
            let bytes = format::write_source_to(source, &mut out, format, options)
                .map_err(|error| error.in_file(&self.path))?;
            return Ok(vec![Written {
                path: self.path.clone(),
                format: format.name,
                bytes,
            }]);
        }
        let kind = source.cell_type().kind();
        let is_y_up = source.record().transform("up") == Some("y");
        let shape = OutputShape {
            kind,
            dims: source.dims(),
            is_y_up,
            choices: options.choices,
        };
        self.check_companions(format, &shape)?;
        let options = SaveOptions {
            existing: self.existing,
            ..*options
        };
        self.written_by(|| format::save_source(source, &self.path, format, &options))
    }

    /// Saves cells that an option requested. The record `about` names the option in place of a rule.
    pub fn save_cells(
        &self,
        cells: impl Into<Cells>,
        lattice: &Lattice,
        about: Record,
        options: &SaveOptions,
    ) -> Result<Vec<Written>> {
        let Some((format, _)) = self.cells else {
            return Ok(vec![]);
        };
        let rule_name = Some(self.option.trim_start_matches('-').to_string());
        let snap = Some(lattice.snap().name().to_string());
        let record = Record {
            tool: Some(TOOL.to_string()),
            rule_name,
            snap,
            ..about
        };
        let voxels = Voxels {
            cells: cells.into(),
            lattice: Some(lattice.clone()),
            record,
        };
        self.save_source(&mut InMemory::new(&voxels), format, options)
    }

    /// Converts labels to the kind of cells that the file holds: labels or bits.
    pub fn labels(&self, labels: Labels) -> Cells {
        if self.kind() == CellKind::Labels {
            labels.into()
        } else {
            labels.into_occupied().into()
        }
    }

    /// Saves bytes. `format` is the name of their format in reports. If a pipe blocks the process, a signal
    /// ends it.
    pub fn save_bytes(&self, format: &'static str, bytes: &[u8]) -> Result<Written> {
        let is_pipe = self.is_stdout || is_pipe(&self.path);
        let _may_stall = if is_pipe {
            Some(self.names.signals.may_stall())
        } else {
            None
        };
        if self.is_stdout {
            let mut out = io::stdout().lock();
            out.write_all(bytes)
                .and_then(|()| out.flush())
                .map_err(stdout_failure)?;
            return Ok(Written {
                path: self.path.clone(),
                format,
                bytes: bytes.len() as u64,
            });
        }
        self.written_by(|| {
            tool::save_bytes(&self.path, self.existing, format, |out| {
                out.write_all(bytes)
            })
        })
    }

    /// Runs `save`, which writes this file. If it fails, adds the advice of this file to the error.
    pub fn written_by<T>(&self, save: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_undisputed()?;
        save().map_err(|error| self.hinted(error))
    }

    /// Adds the advice of this file to an error that has no hint.
    fn hinted(&self, error: Error) -> Error {
        let hint = if error.code() == Code::Exists {
            &self.stays_hint
        } else {
            &self.hint
        };
        match hint {
            Some(hint) if error.hint().is_none() => error.with_hint(hint),
            _ => error,
        }
    }
}

/// Returns the error for a failed write to standard output.
pub fn stdout_failure(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::closed_pipe(),
        _ => Error::output(format!("standard output cannot be written: {error}"))
            .with_hint("redirect it to a file that can be written"),
    }
}

/// Returns advice that lists the extensions of formats: `--doubt takes .npy, .npz`.
fn takes(option: &str, is_taken: impl Fn(&Format) -> bool) -> String {
    let known: Vec<_> = FORMATS
        .iter()
        .filter(|format| is_taken(format))
        .map(|f| f.extensions[0])
        .collect();
    format!("{option} takes .{}", known.join(", ."))
}

/// Returns the resolved path of a file, by which it is identified: the folder, with links followed as far as
/// it exists, and the file name.
fn place(path: &Path) -> PathBuf {
    // A link may point to a file that does not exist yet.
    let place = real(&tool::link_target(path));
    // File systems of Windows and macOS usually ignore case.
    if cfg!(any(windows, target_os = "macos")) {
        place.to_string_lossy().to_lowercase().into()
    } else {
        place
    }
}

/// Returns the device and inode of a file. `None` if the file does not exist.
#[cfg(unix)]
fn node(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = path.metadata().ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn node(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Returns `true` if `path` is `folder` or lies inside it. Links are followed.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    real(&tool::link_target(path)).starts_with(real(folder))
}

/// Returns the absolute path with all links followed. If the file does not exist, only the links of its
/// folder are followed.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| located(path))
}

/// Returns the absolute path. The links of the folder are followed, but a link that is the file itself is
/// not.
pub fn located(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => {
            real(Path::new(".")).join(name)
        }
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
    }
}

/// Adds `.extension` to the complete file name.
pub fn with_suffix(path: impl Into<OsString>, extension: &str) -> PathBuf {
    let mut name = path.into();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Returns `true` for a named pipe. Writing to it may block forever.
#[cfg(unix)]
fn is_fifo(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata()
        .is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &Path) -> bool {
    false
}

/// Returns `true` for a pipe or a device. Reading from it may block forever.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| !found.is_file() && !found.is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(names: &Names, path: &Path, role: &str) -> Result<OutputFile> {
        OutputFile::new(path, role).register(names)
    }

    #[test]
    fn a_file_is_known_by_every_name_and_in_any_order() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.stl"), "").unwrap();
        fs::create_dir(place.path().join("b")).unwrap();
        let mesh = place.path().join("a.stl");
        let spelled = place.path().join("b/../a.stl");
        let names = Names::default();
        names.reads(&mesh, "the mesh").unwrap();
        let error = write(&names, &spelled, "the output").err().unwrap();
        let names = Names::default();
        let output = write(&names, &spelled, "the output").unwrap();
        names.check().unwrap();
        assert_eq!(names.reads(&mesh, "the mesh").err().unwrap(), error);
        assert!(output.save_bytes("txt", b"lost").is_err() && output.is_disputed());
        assert_eq!(fs::read(&mesh).unwrap(), b"", "a late name is heard");
        assert!(error.message().contains("is the mesh"), "{error}");
        write(&names, &place.path().join("b/new.vox"), "the output").unwrap();
        assert!(write(&names, &place.path().join("b/../b/new.vox"), "the report").is_err());
    }

    #[test]
    fn the_output_alone_replaces_a_file_that_is_read_first() {
        let grid = Path::new("grid.npz");
        let other = Path::new("other.npz");
        let names = Names::default();
        names.reads_first(grid, "the grid").unwrap();
        names.reads_first(other, "the grid").unwrap();
        OutputFile::new(grid, "the output")
            .output_of_run()
            .register(&names)
            .unwrap();
        assert!(write(&names, grid, "the report").is_err());
        assert!(write(&names, other, "the report").is_err());
        let names = Names::default();
        OutputFile::new(grid, "the output")
            .output_of_run()
            .register(&names)
            .unwrap();
        names.reads_first(grid, "the grid").unwrap();
        assert!(names.reads(grid, "the mesh").is_err(), "not first");
    }

    #[test]
    fn a_file_that_a_mesh_names_is_a_file_of_the_run() {
        let place = tempfile::tempdir().unwrap();
        let [mesh, materials] = ["m.obj", "m.mtl"].map(|name| place.path().join(name));
        fs::write(&materials, "newmtl a").unwrap();
        let names = Names::default();
        let mesh = names.reads(&mesh, "the mesh").unwrap();
        let report = write(&names, &materials, "the report").unwrap();
        let error = mesh
            .reads_companion(&place.path().join("./m.mtl"))
            .err()
            .unwrap();
        assert!(
            error
                .message()
                .contains("m.obj names, and would be overwritten"),
            "{error}"
        );
        assert!(report.is_disputed() && mesh.reads_companion(&place.path().join("n.mtl")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_known_by_links_and_dangling_ones() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::write(path("a.stl"), "").unwrap();
        fs::hard_link(path("a.stl"), path("hard.stl")).unwrap();
        symlink("b.vox", path("l.vox")).unwrap();
        symlink("l.vox", path("m.vox")).unwrap();
        let names = Names::default();
        names.reads(&path("a.stl"), "the mesh").unwrap();
        write(&names, &path("b.vox"), "the output").unwrap();
        for name in ["hard.stl", "l.vox", "m.vox"] {
            assert!(write(&names, &path(name), "the report").is_err(), "{name}");
        }
        fs::write(path("b.vox"), "").unwrap();
        assert!(
            write(&names, &path("l.vox"), "a picture").is_err(),
            "the output was made in the meantime"
        );
        names.reads(&path("grid.npz"), "the grid").unwrap();
        let error = write(&names, &path("grid.npz.json"), "the report")
            .err()
            .unwrap();
        assert!(
            error.message().contains("the sidecar of the grid"),
            "{error}"
        );
    }
}
