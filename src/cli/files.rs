//! Input files and streams: meshes and voxel files. Also the errors for files that are missing or of another
//! kind.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Mutex;

use voxelize::format::{self, Carries, Format, IMAGE_AXES, UNKNOWN_AXES};
use voxelize::grid::ScanFrame;
use voxelize::job::regions::RegionStore;
use voxelize::job::{MeshPose, PosedName, UnitOfLength};
use voxelize::mesh::read::INPUTS;
use voxelize::tool::text::file_label;
use voxelize::{Code, Error, Kind, Lattice, Result, Voxels};

use super::names::{InputFile, Names};
pub use super::names::{SIDECAR, is_pipe, is_within, located, with_suffix};
use super::suggest;

/// Source of a mesh: a file, a stream, or several of them whose meshes are joined.
#[derive(Clone)]
pub struct MeshSource {
    /// Sources of the joined meshes, at least one.
    pub parts: Vec<PartSource>,
    /// File of `--scene` that names meshes.
    pub scene: Option<PathBuf>,
}

/// A file or a stream with a mesh.
#[derive(Clone)]
pub struct PartSource {
    /// `NAME` if the argument is `NAME=FILE`.
    pub given_name: Option<String>,
    /// `None` for standard input.
    pub file: Option<InputFile>,
    /// Pose after the name, or in a scene.
    pub pose: MeshPose,
}

/// Where `--json` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Stdout,
    File(PathBuf),
}

impl PartSource {
    /// Finds the source for an argument: a mesh file, which must exist, `FILE@rotate=z,90`, `NAME=FILE`, or `-`
    /// for standard input.
    pub fn find(path: &Path, names: &Names) -> Result<Self> {
        if path.as_os_str() == "-" {
            if std::io::stdin().is_terminal() {
                return Err(Error::usage("-: standard input is a terminal, not a mesh")
                    .with_hint("voxelize - -o part.vox < part.stl"));
            }
            return Ok(Self {
                given_name: None,
                file: None,
                pose: MeshPose::default(),
            });
        }
        match path.metadata() {
            // A folder is accepted here. The reader refuses it, and its error lists the meshes in the folder.
            Ok(_) => Ok(Self {
                given_name: None,
                file: Some(names.reads(path, "a mesh of this run")?),
                pose: MeshPose::default(),
            }),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                if let Some((file, pose)) = posed(path)? {
                    return Ok(Self {
                        pose,
                        ..Self::find(&file, names)?
                    });
                }
                match named(path) {
                    Some((name, file)) => Ok(Self {
                        given_name: Some(name.to_string()),
                        ..Self::find(Path::new(file), names)?
                    }),
                    None => Err(suggest::not_found(path)),
                }
            }
            Err(e) => Err(Error::input(Code::Unreadable, e.to_string()).in_file(path)),
        }
    }

    /// Path of the file. `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(InputFile::path)
    }

    /// Name for messages, with the pose.
    pub fn name(&self) -> String {
        self.with_pose(self.unposed_name())
    }

    /// Name of the file for messages.
    pub fn unposed_name(&self) -> String {
        match &self.file {
            Some(file) => file.path().display().to_string(),
            None => "standard input".to_string(),
        }
    }

    fn with_pose(&self, name: String) -> String {
        if self.pose.is_empty() {
            return name;
        }
        format!("{name}@{}", self.pose)
    }

    /// Name that the user gave, or the file name without its folders. `None` for standard input without a
    /// given name.
    fn file_name(&self) -> Option<String> {
        match &self.given_name {
            Some(name) => Some(name.clone()),
            None => Some(self.path()?.file_name()?.to_string_lossy().into_owned()),
        }
    }

    /// Name of the part: the given name, or the file name without its extension.
    pub fn label(&self) -> String {
        match (&self.given_name, self.file_name()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => file_label(&name).to_string(),
            (None, None) => self.name(),
        }
    }
}

impl MeshSource {
    /// Finds the source for a single argument.
    pub fn find(path: &Path, names: &Names) -> Result<Self> {
        Ok(Self {
            parts: vec![PartSource::find(path, names)?],
            scene: None,
        })
    }

    /// Finds the source for several arguments, whose meshes are joined.
    pub fn find_all(paths: &[PathBuf], names: &Names) -> Result<Self> {
        let mut parts = vec![];
        for path in paths {
            parts.push(PartSource::find(path, names)?);
        }
        if parts.iter().filter(|part| part.file.is_none()).count() > 1 {
            return Err(Error::usage("-: standard input is named twice")
                .with_hint("standard input can be read only once"));
        }
        Ok(Self { parts, scene: None })
    }

    /// Paths of the files, `-` for standard input.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.parts
            .iter()
            .map(|part| part.path().unwrap_or(Path::new("-")))
    }

    /// Path of the only file. `None` for standard input and for several meshes.
    pub fn path(&self) -> Option<&Path> {
        match self.parts.as_slice() {
            [part] => part.path(),
            _ => None,
        }
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        let mut names: Vec<_> = self.parts.iter().take(3).map(PartSource::name).collect();
        if self.parts.len() > 3 {
            let last = names.len() - 1;
            names[last] += &format!(" and {} more", self.parts.len() - 3);
        }
        names.join(", ")
    }

    /// Names for records of the output, without folders. `None` for standard input.
    pub fn file_name(&self) -> Option<String> {
        let mut names = vec![];
        for part in &self.parts {
            names.extend(part.file_name().map(|name| part.with_pose(name)));
        }
        if names.is_empty() {
            None
        } else {
            Some(names.join(", "))
        }
    }

    /// Name for outputs, without an extension.
    pub fn stem(&self) -> Result<OsString> {
        if let Some(scene) = &self.scene {
            return Ok(stem(scene));
        }
        match (self.parts.as_slice(), self.path()) {
            (
                [
                    PartSource {
                        given_name: Some(name),
                        ..
                    },
                ],
                _,
            ) => Ok(name.into()),
            (_, Some(path)) => Ok(stem(path)),
            _ => Err(
                Error::usage("-: standard input has no name for the output file")
                    .with_hint("-o FILE names the output; -o - writes to standard output"),
            ),
        }
    }
}

/// Splits the name of a mesh and the steps of its pose, `part.stl@rotate=z,90`. `None` for a name without a
/// pose and for an existing file of the whole name.
fn split_pose(path: &Path) -> Option<PosedName<'_>> {
    let found = PosedName::new(path.to_str()?)?;
    // A name before `=` may contain any character.
    let is_pose = found.has_known_step() || Path::new(found.file).exists();
    (is_pose && !path.exists()).then_some(found)
}

/// Returns the file and the pose of `part.stl@rotate=z,90`. `None` for a name without a pose.
pub fn posed(path: &Path) -> Result<Option<(PathBuf, MeshPose)>> {
    let Some(found) = split_pose(path) else {
        return Ok(None);
    };
    let pose = MeshPose::new(&found.steps).map_err(|error| {
        let error = error.about(found.file);
        or_hint(error, "for example: part.stl@rotate=z,90@translate=0,0,5")
    })?;
    Ok(Some((PathBuf::from(found.file), pose)))
}

/// Refuses a pose after the name of a voxel file.
pub fn refuse_pose(path: &Path) -> Result<()> {
    match posed(path)? {
        Some((file, pose)) => Err(Error::usage(format!("@{pose}: voxels have no pose"))
            .in_file(file)
            .with_hint("a pose belongs to a mesh")),
        None => Ok(()),
    }
}

/// Returns the file of a name of a mesh, `part.stl` for `NAME=part.stl@rotate=z,90`.
pub fn file_of(path: &Path) -> PathBuf {
    let unposed = split_pose(path).map_or(path, |found| Path::new(found.file));
    match named(unposed) {
        Some((_, file)) if !unposed.exists() => PathBuf::from(file),
        _ => unposed.to_path_buf(),
    }
}

/// Splits `NAME=FILE` into the name and the file. `None` if the argument does not have this form. The name
/// must not contain a path separator.
pub fn named(path: &Path) -> Option<(&str, &str)> {
    let (name, file) = path.to_str()?.split_once('=')?;
    let is_name = !name.trim().is_empty() && !file.is_empty() && !name.contains(is_separator);
    is_name.then_some((name, file))
}

impl Destination {
    /// Returns the destination for the argument of `--json`. `-` stands for standard output.
    pub fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::File(path.to_path_buf())
        }
    }
}

/// Returns the name of a file without its extension, or without both extensions of `.stl.gz`.
pub fn stem(path: &Path) -> OsString {
    let is_packed = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed {
        path.with_extension("")
    } else {
        path.to_path_buf()
    };
    unpacked.file_stem().unwrap_or_default().to_os_string()
}

/// Returns `true` if `path` has this extension. Upper and lower case do not matter.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Returns `true` if the file name has the extension of a mesh format, also before `.gz`.
pub fn is_mesh_name(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let unpacked = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = unpacked
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension);
    INPUTS
        .iter()
        .any(|input| input.extensions.contains(&extension))
}

/// Returns `true` if the file name has the extension of a voxel format that is not also a mesh format.
pub fn is_voxel_name(path: &Path) -> bool {
    format::by_path(path).is_some() && !is_mesh_name(path)
}

/// Returns `true` if the format of the file can state the unit of its coordinates. Also `true` if the
/// extension is unknown, and for pipes.
pub fn may_state_unit(path: &Path) -> bool {
    let known = INPUTS.iter().find(|input| {
        input
            .extensions
            .iter()
            .any(|known| has_extension(path, known))
    });
    known.is_none_or(|input| input.states_unit)
}

/// Checks that the file exists. The error suggests a similar name.
pub fn is_there(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() && format::sniff(path).is_none() => Err(is_folder(path)),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(suggest::no_such_file(path)),
        _ => Ok(()),
    }
}

/// Returns the error for a folder where a file is expected. Its hint names a file in the folder, if there is
/// one.
fn is_folder(path: &Path) -> Error {
    let error = Error::input(Code::Folder, "is a folder; a file is expected").in_file(path);
    if let Some(hint) = unfinished_store(path) {
        return error.with_hint(hint);
    }
    let is_known =
        |path: &PathBuf| path.is_file() && (is_mesh_name(path) || format::by_path(path).is_some());
    let entries = path.read_dir().into_iter().flatten().flatten();
    match entries.map(|entry| entry.path()).filter(is_known).min() {
        Some(file) => error.with_hint(format!("name a file in it, such as {}", file.display())),
        None if format::by_path(path).is_some_and(|format| format.name == "slices") => {
            error.with_hint("pictures of layers cannot be read: write the cells in another format as well, such as .npz")
        }
        None => error.with_hint("the folder has no mesh and no voxel file"),
    }
}

/// Reads the voxels of a file. Fails if they need more than `max_memory` bytes.
pub fn open_within(file: &InputFile, max_memory: Option<u64>) -> Result<Voxels> {
    format::open_within(file.path(), max_memory).map_err(|error| match error.kind() {
        Kind::TooLarge if error.hint().is_none() => error.with_hint("raise --max-memory"),
        _ => error,
    })
}

/// Lattice of a voxel file.
pub struct LatticeInFile {
    pub lattice: Lattice,
    /// Value of [`IMAGE_AXES`] if the file is an image that does not state its axes.
    pub unknown_axes: Option<String>,
    /// Order and directions of the axes of the scan. `None` if they are x, y and z.
    pub frame: Option<ScanFrame>,
    /// Unit of the coordinates. `None` if the file does not state it.
    pub unit: Option<UnitOfLength>,
}

/// Reads the lattice of a voxel file. The cells are read only if the lattice is in a sidecar, to check that
/// the sidecar describes them.
pub fn lattice(file: &InputFile, max_memory: Option<u64>) -> Result<LatticeInFile> {
    let path = file.path();
    is_there(path)?;
    let mut description = format::describe(path).map_err(|error| if_mesh(error, path))?;
    let unknown_axes = description
        .metadata
        .extra
        .remove(IMAGE_AXES)
        .filter(|axes| axes == UNKNOWN_AXES);
    let frame = ScanFrame::of(&description.metadata.record);
    let unit = description
        .metadata
        .record
        .transform("unit")
        .and_then(UnitOfLength::from_name);
    let lattice = match description.format.carries {
        Carries::InFile | Carries::Rounded => description.metadata.lattice,
        _ => open_within(file, max_memory)?.lattice,
    };
    lattice.map(|lattice| LatticeInFile { lattice, unknown_axes, frame, unit }).ok_or_else(|| {
        let error = Error::usage("does not contain the position of its cells").in_file(path);
        error.with_hint(match description.format.carries {
            Carries::InFile | Carries::Rounded => "use a file of voxelize, or one with the same metadata",
            _ => ".vox, .npz, .nrrd and .nii contain it; for other formats --sidecar writes it to a .json",
        })
    })
}

/// If the file is a mesh, replaces the error of the voxel reader by one that states this.
pub fn if_mesh(error: Error, path: &Path) -> Error {
    if error.code() != Code::V001 || !is_mesh_name(path) {
        return error;
    }
    Error::input(Code::V001, "is a mesh, not voxels").in_file(path)
}

/// Returns the format of a voxel file. `None` for other files, including zip archives such as a .3mf.
pub fn voxel_format(path: &Path) -> Option<&'static Format> {
    let named = format::by_path(path);
    let is_voxels = |format: &&'static Format| {
        named.is_some_and(|named| named.name == format.name) || format::describe(path).is_ok()
    };
    format::sniff(path).filter(is_voxels)
}

/// Returns advice for a folder that is an unfinished store of regions. `None` for other folders.
pub fn unfinished_store(path: &Path) -> Option<String> {
    let is_store =
        format::sniff(path).is_none() && matches!(RegionStore::open_if_planned(path), Ok(Some(_)));
    let name = path.display();
    is_store.then(|| {
        format!("it is an unfinished store: 'voxelize {name} --region 1/1' makes its regions, then 'voxelize finish {name}'")
    })
}

/// Returns the error for a voxel file where a mesh is expected. `None` if the file has no voxels.
pub fn holds_voxels(path: &Path) -> Option<Error> {
    let format = voxel_format(path)?;
    let error = Error::input(
        Code::V004,
        format!("holds voxels ({}), not a mesh", format.name),
    )
    .in_file(path);
    let path = path.display();
    Some(error.with_hint(format!(
        "'voxelize info {path}' describes it; 'voxelize convert {path} OUT' saves it in another format"
    )))
}

/// Adds a hint to an error that has none.
pub fn or_hint(error: Error, hint: &str) -> Error {
    if error.hint().is_some() {
        error
    } else {
        error.with_hint(hint)
    }
}

/// Folders that were created for outputs. An output may fail, so the folders that are still empty are removed
/// on drop.
#[derive(Default)]
pub struct MadeFolders(Mutex<Vec<PathBuf>>);

impl MadeFolders {
    /// Creates `folder` and its parents, unless they exist.
    pub fn make(&self, folder: &Path) -> Result<()> {
        let missing: Vec<_> = folder
            .ancestors()
            .take_while(|f| !f.as_os_str().is_empty() && !f.is_dir())
            .collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self
                    .0
                    .lock()
                    .unwrap_or_else(|e| e.into_inner())
                    .push(folder.to_path_buf()),
                // Another thread or process created it in the meantime.
                Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(e) => {
                    return Err(Error::output(format!(
                        "is not a folder, and cannot be created: {e}"
                    ))
                    .in_file(folder));
                }
            }
        }
        Ok(())
    }

    /// Creates the folder of a file, unless it exists.
    pub fn make_for(&self, file: &Path) -> Result<()> {
        file.parent().map_or(Ok(()), |folder| self.make(folder))
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        let made = self.0.get_mut().unwrap_or_else(|e| e.into_inner());
        // Inner folders were created after outer ones, so they are removed first.
        for folder in made.iter().rev() {
            // The system refuses to remove a folder that is not empty.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_stay_empty_go_again() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("there")).unwrap();
        let made = MadeFolders::default();
        for folder in ["a/b", "a/c/d", "there", "there/e"] {
            made.make(&path(folder)).unwrap();
            assert!(path(folder).is_dir());
        }
        fs::write(path("a/b/file"), "").unwrap();
        assert!(made.make_for(&path("a/b/file/c/d")).is_err());
        drop(made);
        let left =
            ["a", "a/b", "a/c", "a/c/d", "there", "there/e"].map(|folder| path(folder).exists());
        assert_eq!(left, [true, true, false, false, true, false]);
    }
}
