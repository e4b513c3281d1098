//! The names of a run: every file that it reads or writes, known by identity and not by spelling.
//!
//! A front end reads an [`InFile`] and writes an [`OutFile`], and gets these from the one [`Names`] of its run. So no
//! file can be left out: an output is never another file of the run, and a file that no option names is replaced only
//! if this tool made it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use voxelize_core::error::{Code, Error, Hint, Result};
use voxelize_core::grid::CellSource;
use voxelize_core::par::Progress;
use voxelize_formats::place::link_target;
use voxelize_formats::several::is_companion;
use voxelize_formats::{
    self as format, Existing, Format, OutputShape, PendingNames, SaveOptions, Written, npy, save,
};

/// The extension of sidecars, behind all of a name.
pub const SIDECAR: &str = "json";

/// The files of a run.
#[derive(Default)]
pub struct Names(Arc<Mutex<KnownFiles>>);

#[derive(Default)]
struct KnownFiles {
    files: HashMap<FileId, Arc<KnownFile>>,
    /// The places of all files.
    places: BTreeSet<PathBuf>,
    /// The places of those that are folders of an output: nothing else of the run is in one.
    folders: HashSet<PathBuf>,
    /// Outputs that [`Names::check`] has not seen yet.
    unchecked: Vec<(OutFile, FolderState)>,
}

/// A file that a run reads.
#[derive(Clone)]
pub struct InFile {
    path: PathBuf,
    /// The names of the run, for the files that this one names.
    known: Arc<Mutex<KnownFiles>>,
}

/// A file that a run writes.
#[derive(Clone)]
pub struct OutFile {
    path: PathBuf,
    existing: Existing,
    hint: Option<Hint>,
    /// Advice where an older file stays.
    stays_hint: Option<Hint>,
    /// Whether the run asked for the same file in another way.
    disputed: Arc<AtomicBool>,
    format: Option<&'static Format>,
    /// The names of the run, for the files beside this one.
    known: Arc<Mutex<KnownFiles>>,
    /// Whether they have the files beside this one.
    has_companions: Arc<AtomicBool>,
}

/// A file that a run asks to write.
pub struct NewFile<'a> {
    path: &'a Path,
    format: Option<&'static Format>,
    role: &'a str,
    access: Access,
    existing: Existing,
    folder: FolderState,
    hint: Option<Hint>,
    stays_hint: Option<Hint>,
}

/// The use of a file in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// It is read before anything is written, so that the output may replace it.
    ReadFirst,
    /// It is the output of the run, or its sidecar.
    Output,
    Write,
}

/// Whether the folder of a file is there before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderState {
    Expected,
    /// It is made when it is needed.
    Made,
}

struct KnownFile {
    path: PathBuf,
    role: String,
    access: Access,
    /// Advice where it is written and another file, too.
    hint: Option<Hint>,
    disputed: Arc<AtomicBool>,
    is_folder: bool,
}

/// The identity of a file, independent of its name.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileId {
    /// Its device and its number there.
    Node(u64, u64),
    /// Its real folder, as far as there is one, and its name.
    Place(PathBuf),
}

impl FileId {
    /// The identities that a file at `path` has or will have: by its place, and by itself if it exists.
    fn all(path: &Path) -> Vec<Self> {
        // A link may lead to a file that is not there yet.
        let place = real(&link_target(path));
        // File systems there do not tell upper from lower case.
        let ignores_case = cfg!(any(windows, target_os = "macos"));
        let place = if ignores_case { place.to_string_lossy().to_lowercase().into() } else { place };
        let mut ids = vec![Self::Place(place)];
        #[cfg(unix)]
        if let Ok(found) = path.metadata() {
            use std::os::unix::fs::MetadataExt;
            ids.push(Self::Node(found.dev(), found.ino()));
        }
        ids
    }

    fn place(&self) -> Option<&PathBuf> {
        match self {
            Self::Place(place) => Some(place),
            Self::Node(..) => None,
        }
    }
}

impl Names {
    /// Registers a file that is read, and the sidecar that a voxel file may have.
    ///
    /// # Errors
    /// If the run writes it.
    pub fn reads(&self, path: &Path, role: &str) -> Result<InFile> {
        self.reads_as(path, role, Access::Read)
    }

    /// Registers a file that is read before anything is written: the output may replace it.
    ///
    /// # Errors
    /// If the run writes it in another way.
    pub fn reads_first(&self, path: &Path, role: &str) -> Result<InFile> {
        self.reads_as(path, role, Access::ReadFirst)
    }

    /// Registers a folder of which files are read: the run writes nothing else into it.
    ///
    /// # Errors
    /// If the run does.
    pub fn reads_folder(&self, path: &Path, role: &str) -> Result<()> {
        self.known().add(KnownFile::read(path, role.to_string(), Access::Read))
    }

    fn reads_as(&self, path: &Path, role: &str, access: Access) -> Result<InFile> {
        let mut known = self.known();
        known.add(KnownFile::read(path, role.to_string(), access))?;
        // What is only written by such a name is read as a mesh.
        let named = || format::by_path(path).filter(|format| format.is_readable());
        if !is_pipe(path) && format::sniff(path).or_else(named).is_some() {
            let role = format!("the sidecar of {role}");
            known.add(KnownFile::read(&with_suffix(path, SIDECAR), role, access))?;
        }
        Ok(InFile { path: path.to_path_buf(), known: Arc::clone(&self.0) })
    }

    /// Registers a file that is written.
    ///
    /// # Errors
    /// If the run reads it, or writes it already.
    pub fn writes(&self, new: NewFile) -> Result<OutFile> {
        let NewFile { path, format, role, access, existing, folder, hint, stays_hint } = new;
        let path = path.to_path_buf();
        let out = OutFile {
            path,
            existing,
            hint,
            stays_hint,
            disputed: Arc::default(),
            format,
            known: Arc::clone(&self.0),
            has_companions: Arc::default(),
        };
        let mut known = self.known();
        known.add(out.known_as(out.path.clone(), role, access))?;
        known.unchecked.push((out.clone(), folder));
        Ok(out)
    }

    /// Makes sure that every output registered so far can be written, and replaces no file that it must not; save in
    /// folders that are made when they are needed.
    ///
    /// # Errors
    /// If not, with the system's reason. Nothing is left behind.
    pub fn check(&self) -> Result<()> {
        let mut known = self.known();
        let mut probed = HashSet::new();
        for (out, _) in known.unchecked.drain(..).filter(|(_, folder)| *folder == FolderState::Expected) {
            out.check()?;
            if out.is_folder() || probed.insert(out.path.parent().map(Path::to_path_buf)) {
                out.probe()?;
            }
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, KnownFiles> {
        lock(&self.0)
    }
}

fn lock(known: &Mutex<KnownFiles>) -> MutexGuard<'_, KnownFiles> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KnownFiles {
    fn add(&mut self, new: KnownFile) -> Result<()> {
        let new = Arc::new(new);
        let ids = FileId::all(&new.path);
        ids.iter().filter_map(|id| self.files.get(id)).try_for_each(|known| known.check(&new))?;
        for place in ids.iter().filter_map(FileId::place) {
            let known = |place: &PathBuf| self.files.get(&FileId::Place(place.clone()));
            let around = place.ancestors().skip(1).find_map(|folder| self.folders.get(folder));
            let inside = self.places.range(place.clone()..).find(|other| *other != place);
            let inside = inside.filter(|other| new.is_folder && other.starts_with(place));
            around.into_iter().chain(inside).filter_map(known).try_for_each(|known| known.check(&new))?;
            self.places.insert(place.clone());
            if new.is_folder {
                self.folders.insert(place.clone());
            }
        }
        for id in ids {
            let known = self.files.entry(id).or_insert_with(|| Arc::clone(&new));
            if known.access == Access::ReadFirst {
                *known = Arc::clone(&new);
            }
        }
        Ok(())
    }
}

impl KnownFile {
    fn read(path: &Path, role: String, access: Access) -> Self {
        let is_folder = path.is_dir();
        Self { path: path.to_path_buf(), role, access, hint: None, disputed: Arc::default(), is_folder }
    }

    /// Refuses another use of the same file, unless both read it, or the output replaces it after it was read.
    fn check(&self, other: &Self) -> Result<()> {
        let is_read = |file: &Self| matches!(file.access, Access::Read | Access::ReadFirst);
        let is_replaced = |a: &Self, b: &Self| (a.access, b.access) == (Access::ReadFirst, Access::Output);
        if is_read(self) && is_read(other) || is_replaced(self, other) || is_replaced(other, self) {
            return Ok(());
        }
        for file in [self, other] {
            file.disputed.store(true, Relaxed);
        }
        let (written, message) = if is_read(other) {
            (self, format!("is {}, and would be overwritten", other.role))
        } else if is_read(self) {
            (other, format!("is {}, and would be overwritten", self.role))
        } else if self.role == other.role {
            (self, format!("would be written twice, as {}", self.role))
        } else {
            (self, format!("would be written twice: as {} and as {}", self.role, other.role))
        };
        let hint = written.hint.clone().unwrap_or_else(|| "name another file".into());
        Err(Error::usage(message).in_file(&written.path).with_hint(hint))
    }
}

impl<'a> NewFile<'a> {
    /// A file that an option names: an older one is replaced.
    pub fn named(path: &'a Path, role: &'a str) -> Self {
        let access = Access::Write;
        let existing = Existing::Replace;
        let folder = FolderState::Expected;
        Self { path, format: None, role, access, existing, folder, hint: None, stays_hint: None }
    }

    /// This file as one of a voxel format, which may be a folder.
    #[must_use]
    pub fn of_format(self, format: &'static Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// This file as the output of the run: it may replace a file that is read first.
    #[must_use]
    pub fn as_output(self) -> Self {
        Self { access: Access::Output, ..self }
    }

    /// This file with another fate of an older one, and advice where that stays.
    #[must_use]
    pub fn existing(self, existing: Existing, hint: impl Into<Hint>) -> Self {
        Self { existing, stays_hint: Some(hint.into()), ..self }
    }

    /// This file in a folder that is made when it is needed.
    #[must_use]
    pub fn in_made_folder(self) -> Self {
        Self { folder: FolderState::Made, ..self }
    }

    /// This file with advice where it cannot be written.
    #[must_use]
    pub fn hint(self, hint: impl Into<Hint>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl std::fmt::Debug for OutFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OutFile({})", self.path.display())
    }
}

impl std::fmt::Debug for InFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InFile({})", self.path.display())
    }
}

impl PartialEq for InFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for InFile {}

impl InFile {
    /// The name as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Registers a file that this one names, such as materials or a picture.
    ///
    /// # Errors
    /// If the run writes it.
    pub fn reads_companion(&self, path: &Path) -> Result<()> {
        let role = format!("a file that {} names", self.path.display());
        lock(&self.known).add(KnownFile::read(path, role, Access::Read))
    }
}

impl OutFile {
    /// The name as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that it replaces, to be read before it is written.
    pub fn before(&self) -> InFile {
        InFile { path: self.path.clone(), known: Arc::clone(&self.known) }
    }

    /// Whether the run asked for the same file in another way, so that it is not written.
    pub fn is_disputed(&self) -> bool {
        self.disputed.load(Relaxed)
    }

    /// Makes sure that no file is in the way that stays.
    ///
    /// # Errors
    /// If there is one, with the code [`Code::Exists`].
    pub fn check(&self) -> Result<()> {
        self.check_undisputed()?;
        self.existing.check(&self.path).map_err(|error| self.hinted(error.in_file(&self.path)))
    }

    /// Registers the files that a format writes beside this one, once it is known what it holds.
    ///
    /// # Errors
    /// If the run uses one of them, or one is there that this tool did not make.
    pub fn check_companions(&self, format: &Format, shape: &OutputShape) -> Result<()> {
        if self.has_companions.swap(true, Relaxed) {
            return Ok(());
        }
        let may_go = Existing::ReplaceIf(is_companion);
        format.companions(&self.path, shape).into_iter().try_for_each(|path| {
            may_go.check(&path).map_err(|error| {
                error.in_file(&path).with_hint("move it away, or give the output another name")
            })?;
            let role = format!("a file beside {}", self.path.display());
            lock(&self.known).add(self.known_as(path, &role, Access::Write))
        })
    }

    fn known_as(&self, path: PathBuf, role: &str, access: Access) -> KnownFile {
        let hint = self.hint.clone();
        let disputed = Arc::clone(&self.disputed);
        let is_folder = path == self.path && self.is_folder();
        KnownFile { path, role: role.to_string(), access, hint, disputed, is_folder }
    }

    fn is_folder(&self) -> bool {
        self.format.is_some_and(Format::is_folder)
    }

    /// Makes sure that it can be written.
    fn probe(&self) -> Result<()> {
        let probed = match self.format {
            Some(format) => save::probe_output_of(&self.path, format),
            None => save::probe_output(&self.path),
        };
        probed.map_err(|error| self.hinted(error))
    }

    fn check_undisputed(&self) -> Result<()> {
        match self.is_disputed() {
            true => Err(Error::usage("is named twice in this run").in_file(&self.path)),
            false => Ok(()),
        }
    }

    /// Saves cells, as [`format::save_source`] does.
    ///
    /// # Errors
    /// As those of [`format::save_source`].
    pub fn save_source(
        &self,
        source: &mut dyn CellSource,
        format: &Format,
        options: &SaveOptions,
    ) -> Result<Vec<Written>> {
        self.check_undisputed()?;
        let kind = source.cell_type().kind();
        let is_y_up = source.record().transform("up") == Some("y");
        let shape = OutputShape { kind, dims: source.dims(), is_y_up, choices: options.choices };
        self.check_companions(format, &shape)?;
        let options = SaveOptions { existing: self.existing, ..*options };
        format::save_source(source, &self.path, format, &options).map_err(|error| self.hinted(error))
    }

    /// Gives what was saved its names, as [`PendingNames::give`] does.
    ///
    /// # Errors
    /// As those of [`PendingNames::give`].
    pub fn give_names(&self, saved: PendingNames, progress: &dyn Progress) -> Result<()> {
        saved.give(progress).map_err(|error| self.hinted(error))
    }

    /// Saves what `write` writes, as [`save_bytes`](save::save_bytes) does.
    ///
    /// # Errors
    /// As those of [`save_bytes`](save::save_bytes).
    pub fn save_bytes(
        &self,
        format: &'static str,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<Written> {
        self.check_undisputed()?;
        save::save_bytes(&self.path, self.existing, format, write).map_err(|error| self.hinted(error))
    }

    /// Saves a number for each cell, as [`save_numbers`](npy::save_numbers) does.
    ///
    /// # Errors
    /// As those of [`save_numbers`](npy::save_numbers).
    pub fn save_numbers(
        &self,
        dims: [usize; 3],
        work: impl FnOnce(&mut dyn FnMut(&[i32]) -> Result<()>) -> Result<()>,
    ) -> Result<Written> {
        self.check_undisputed()?;
        npy::save_numbers(&self.path, dims, work).map_err(|error| self.hinted(error))
    }

    fn hinted(&self, error: Error) -> Error {
        let hint = if error.code() == Code::Exists { &self.stays_hint } else { &self.hint };
        match hint {
            Some(hint) if error.hint().is_none() => error.with_hint(hint.clone()),
            _ => error,
        }
    }
}

/// Whether `path`, all links followed, is in `folder` or below.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    real(&link_target(path)).starts_with(real(folder))
}

/// The file that a name stands for, links followed: one that does not exist is known by its folder and name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| located(path))
}

/// The path from the root with the name itself as it is: only links of its folders are followed, as far as
/// these exist.
pub fn located(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            real(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).join(name)
        }
        _ => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
    }
}

/// `path` with `.extension` behind all of its name.
pub fn with_suffix(path: impl Into<std::ffi::OsString>, extension: &str) -> PathBuf {
    let mut name = path.into();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Whether `path` is a pipe or a device, which may stay silent for ever.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn named<'a>(path: &'a Path, role: &'a str) -> NewFile<'a> {
        NewFile::named(path, role)
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
        let error = names.writes(named(&spelled, "the output")).unwrap_err();
        let names = Names::default();
        let output = names.writes(named(&spelled, "the output")).unwrap();
        names.check().unwrap();
        assert_eq!(names.reads(&mesh, "the mesh").unwrap_err(), error);
        assert!(output.save_bytes("txt", |out| out.write_all(b"lost")).is_err() && output.is_disputed());
        assert_eq!(fs::read(&mesh).unwrap(), b"", "a late name is heard");
        assert!(error.message().contains("is the mesh"), "{error}");
        names.writes(named(&place.path().join("b/new.vox"), "the output")).unwrap();
        assert!(names.writes(named(&place.path().join("b/../b/new.vox"), "the report")).is_err());
    }

    #[test]
    fn the_output_alone_replaces_a_file_that_is_read_first() {
        let grid = Path::new("grid.npz");
        let other = Path::new("other.npz");
        let names = Names::default();
        names.reads_first(grid, "the grid").unwrap();
        names.reads_first(other, "the grid").unwrap();
        names.writes(named(grid, "the output").as_output()).unwrap();
        assert!(names.writes(named(grid, "the report")).is_err());
        assert!(names.writes(named(other, "the report")).is_err());
        let names = Names::default();
        names.writes(named(grid, "the output").as_output()).unwrap();
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
        let report = names.writes(named(&materials, "the report")).unwrap();
        let error = mesh.reads_companion(&place.path().join("./m.mtl")).unwrap_err();
        assert!(error.message().contains("m.obj names, and would be overwritten"), "{error}");
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
        names.writes(named(&path("b.vox"), "the output")).unwrap();
        for name in ["hard.stl", "l.vox", "m.vox"] {
            assert!(names.writes(named(&path(name), "the report")).is_err(), "{name}");
        }
        fs::write(path("b.vox"), "").unwrap();
        assert!(
            names.writes(named(&path("l.vox"), "a picture")).is_err(),
            "the output was made in the meantime"
        );
        names.reads(&path("grid.npz"), "the grid").unwrap();
        let error = names.writes(named(&path("grid.npz.json"), "the report")).unwrap_err();
        assert!(error.message().contains("the sidecar of the grid"), "{error}");
    }
}
