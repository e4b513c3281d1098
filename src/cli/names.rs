//! The files of a run: every file that it reads or writes, known by identity and not by spelling.
//!
//! A command reads an [`InputFile`] and writes an [`OutputFile`], and registers both with the one [`Names`] of its call.
//! An output is never another file of the run, and a file that no option names is replaced only if this tool made it.

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
use voxelize::grid::{CellKind, CellSource, InMemory, Labels};
use voxelize::{Cells, Code, Error, Lattice, Record, Result, TOOL, Voxels, tool};

use super::pipes::PipeWriter;
use super::signals::Signals;

/// Extension of sidecars, after the whole name of the file.
pub const SIDECAR: &str = "json";

/// Advice about a file of the user that has the name of a sidecar.
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
    /// All files, by place. The contents of a folder follow it.
    places: BTreeMap<PathBuf, Arc<KnownFile>>,
    /// Outputs that are folders, and folders that are read: no other file of the run lies in one.
    folders: HashMap<PathBuf, Arc<KnownFile>>,
    /// Outputs that [`Names::check`] has not seen yet.
    unchecked: Vec<OutputFile>,
}

struct KnownFile {
    path: PathBuf,
    role: String,
    access: Access,
    is_folder: bool,
    /// Advice if the file is written and is also another file of the run.
    hint: Option<String>,
    state: Arc<OutputState>,
}

/// State of an output, shared with the files next to it.
#[derive(Default)]
struct OutputState {
    /// The run uses the same file in another way.
    is_disputed: AtomicBool,
    /// The files next to it are registered.
    has_companions: AtomicBool,
}

/// Use of a file in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// Read before anything is written, so that the output of the run may replace the file.
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
    /// Creates an empty set. The signals end the process while it waits for a pipe.
    pub fn new(signals: &Signals) -> Self {
        Self {
            signals: signals.clone(),
            ..Self::default()
        }
    }

    /// Registers a file that is read, and the sidecar that a voxel file may have.
    pub fn reads(&self, path: &Path, role: &str) -> Result<InputFile> {
        self.reads_as(path, role, Access::Read)
    }

    /// Registers a file that is read before anything is written: the output may replace it.
    pub fn reads_first(&self, path: &Path, role: &str) -> Result<InputFile> {
        self.reads_as(path, role, Access::ReadFirst)
    }

    /// Registers a folder whose files are read: the run writes nothing else into it.
    pub fn reads_folder(&self, path: &Path, role: &str) -> Result<()> {
        self.lock()
            .add(KnownFile::read(path, role.to_string(), Access::Read))
    }

    fn reads_as(&self, path: &Path, role: &str, access: Access) -> Result<InputFile> {
        let mut known = self.lock();
        known.add(KnownFile::read(path, role.to_string(), access))?;
        // A file with the name of a write-only format is a mesh.
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

    /// Checks that every output registered so far can be written, and that no file is in the way that stays. Outputs in
    /// folders that are made later are not checked. Nothing is left behind.
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
    /// Adds a file, unless the run uses the same file in another way.
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
        // A file that is read first may have a later, stricter use.
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

    /// Refuses another use of the same file, unless both read it, or the output replaces it after it was read.
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
    /// Name as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Registers a file that this one names, such as materials or a picture.
    pub fn reads_companion(&self, path: &Path) -> Result<()> {
        let role = format!("a file that {} names", self.path.display());
        self.names
            .lock()
            .add(KnownFile::read(path, role, Access::Read))
    }
}

/// A file that the run writes. It is written under a temporary name in its folder, and renamed once it is whole.
/// Standard output and pipes are written directly.
#[derive(Clone)]
pub struct OutputFile {
    path: PathBuf,
    is_stdout: bool,
    /// Content in words.
    role: String,
    /// Format and kind of the cells. `None` for a picture, a list or a report.
    cells: Option<(&'static Format, CellKind)>,
    /// Option that requests cells in addition to the output.
    option: &'static str,
    access: Access,
    existing: Existing,
    /// The folder is made when it is needed.
    in_made_folder: bool,
    /// Advice if the file cannot be written.
    hint: Option<String>,
    /// Advice if an older file stays.
    stays_hint: Option<String>,
    state: Arc<OutputState>,
    names: Names,
}

impl OutputFile {
    /// Creates a file that an option names, and that replaces an older one. It is not registered yet.
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

    /// Registers the file of an option for cells in addition to the output, and its sidecar. The extension names the
    /// format.
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

    /// Makes it a file of cells, or a folder if the format has folders.
    #[must_use]
    pub fn of_cells(self, format: &'static Format, kind: CellKind) -> Self {
        Self {
            cells: Some((format, kind)),
            ..self
        }
    }

    /// Makes it standard output if its name is `-`.
    #[must_use]
    pub fn or_stdout(self) -> Self {
        Self {
            is_stdout: self.path.as_os_str() == "-",
            ..self
        }
    }

    /// Makes it the output of the run, which may replace a file that is read first.
    #[must_use]
    pub fn output_of_run(self) -> Self {
        Self {
            access: Access::Output,
            ..self
        }
    }

    /// Decides whether an older file is replaced. `hint` is the advice if it stays.
    #[must_use]
    pub fn existing(self, existing: Existing, hint: &str) -> Self {
        Self {
            existing,
            stays_hint: Some(hint.to_string()),
            ..self
        }
    }

    /// Puts the file in a folder that is made when it is needed.
    #[must_use]
    pub fn in_made_folder(self) -> Self {
        Self {
            in_made_folder: true,
            ..self
        }
    }

    /// Adds advice for a file that cannot be written.
    #[must_use]
    pub fn hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_string()),
            ..self
        }
    }

    /// Registers the file, unless it is another file of the run. Standard output is not a file.
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

    /// Registers the sidecar of the file, if there will be one. It replaces only a sidecar of this tool.
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

    /// Name as it was given; `-` for standard output.
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

    /// Content in words.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Format of the cells. `None` for a picture, a list or a report.
    pub fn format(&self) -> Option<&'static Format> {
        self.cells.map(|(format, _)| format)
    }

    /// The file that this one replaces, to be read before.
    pub fn before(&self) -> InputFile {
        InputFile {
            path: self.path.clone(),
            names: self.names.clone(),
        }
    }

    /// Path of the sidecar, if there will be one.
    pub fn sidecar_path(&self, requested: Sidecar) -> Option<PathBuf> {
        let is_wanted = requested == Sidecar::Write || self.format()?.carries == Carries::Sidecar;
        if is_wanted && !self.is_stdout {
            Some(with_suffix(&self.path, SIDECAR))
        } else {
            None
        }
    }

    /// The run uses the same file in another way, so the file is not written.
    pub fn is_disputed(&self) -> bool {
        self.state.is_disputed.load(Relaxed)
    }

    fn is_folder(&self) -> bool {
        self.format().is_some_and(Format::is_folder)
    }

    /// Kind of the cells in the file: bits if the format does not hold all of the requested kind.
    fn kind(&self) -> CellKind {
        match self.cells {
            Some((format, kind)) if !format.dtypes_of(kind).is_empty() => kind,
            _ => CellKind::Bits,
        }
    }

    /// Refuses an older file that stays, with the code [`Code::Exists`].
    pub fn check(&self) -> Result<()> {
        self.check_undisputed()?;
        self.existing
            .check(&self.path)
            .map_err(|error| self.hinted(error.in_file(&self.path)))
    }

    /// Refuses a format that does not hold cells of the requested kind.
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

    /// Registers the files that a format writes next to this one, once their number is known.
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

    /// Saves the cells of an option. Their record names the option instead of a rule.
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

    /// Labels as the file holds them.
    pub fn labels(&self, labels: Labels) -> Cells {
        if self.kind() == CellKind::Labels {
            labels.into()
        } else {
            labels.into_occupied().into()
        }
    }

    /// Saves bytes. `format` is their name in reports. A signal ends the process if it stalls in a pipe.
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

    /// Does `save`, which writes this file. An error gets the advice of the file.
    pub fn written_by<T>(&self, save: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_undisputed()?;
        save().map_err(|error| self.hinted(error))
    }

    /// Adds the advice of this file, unless the error has its own.
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

/// Error for standard output that cannot be written.
pub fn stdout_failure(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::closed_pipe(),
        _ => Error::output(format!("standard output cannot be written: {error}"))
            .with_hint("redirect it to a file that can be written"),
    }
}

/// Advice with the extensions of formats: `--doubt takes .npy, .npz`.
fn takes(option: &str, is_taken: impl Fn(&Format) -> bool) -> String {
    let known: Vec<_> = FORMATS
        .iter()
        .filter(|format| is_taken(format))
        .map(|f| f.extensions[0])
        .collect();
    format!("{option} takes .{}", known.join(", ."))
}

/// Identity of a file by its place: its real folder, as far as that exists, and its name.
fn place(path: &Path) -> PathBuf {
    // A link may lead to a file that does not exist yet.
    let place = real(&tool::link_target(path));
    // File systems there ignore case.
    if cfg!(any(windows, target_os = "macos")) {
        place.to_string_lossy().to_lowercase().into()
    } else {
        place
    }
}

/// Identity of a file that exists: its device and inode.
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

/// Returns `true` if `path`, with all links followed, lies in `folder` or below.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    real(&tool::link_target(path)).starts_with(real(folder))
}

/// Returns the absolute path, with all links followed. A file that does not exist is named by its real
/// folder.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| located(path))
}

/// Returns the absolute path, with links of folders followed and the name kept.
pub fn located(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => {
            real(Path::new(".")).join(name)
        }
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
    }
}

/// Adds `.extension` to the whole name.
pub fn with_suffix(path: impl Into<OsString>, extension: &str) -> PathBuf {
    let mut name = path.into();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Returns `true` for a named pipe, where a write may block forever.
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

/// Returns `true` for a pipe or a device, where a read may block forever.
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
