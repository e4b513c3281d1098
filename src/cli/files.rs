//! Files and streams that are read: meshes, voxel files, and the errors for files that are missing or of another kind.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Mutex;

use voxelize::format::{self, Carries, Format, IMAGE_AXES};
pub use voxelize::job::names::{SIDECAR, is_pipe, is_within, located, with_suffix};
use voxelize::job::regions::RegionStore;
use voxelize::job::{InFile, Names, UnitOfLength};
use voxelize::mesh::read::INPUTS;
use voxelize::tool::text::file_label;
use voxelize::{Code, Error, Kind, Lattice, Result, Voxels};

use super::suggest;

/// Where a mesh comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeshSource {
    Stdin,
    File(InFile),
    /// A mesh whose part is called so: `NAME=FILE`.
    Named(String, Box<MeshSource>),
    /// Of these, one mesh.
    Several(Vec<MeshSource>),
}

/// Where an output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Stdout,
    File(PathBuf),
}

impl MeshSource {
    /// The mesh of this name, which must exist, or of `NAME=FILE`.
    pub fn find(path: &Path, names: &Names) -> Result<Self> {
        if path.as_os_str() == "-" {
            if std::io::stdin().is_terminal() {
                return Err(Error::usage("-: standard input is a terminal, not a mesh")
                    .with_hint("voxelize - -o part.vox < part.stl"));
            }
            return Ok(Self::Stdin);
        }
        match path.metadata() {
            // A folder is refused by the reader, which knows its meshes.
            Ok(_) => names.reads(path, "a mesh of this run").map(Self::File),
            Err(e) if e.kind() == ErrorKind::NotFound => match named(path) {
                Some((name, file)) => {
                    Ok(Self::Named(name.to_string(), Box::new(Self::find(Path::new(file), names)?)))
                }
                None => Err(suggest::not_found(path)),
            },
            Err(e) => Err(Error::input(Code::Unreadable, e.to_string()).in_file(path)),
        }
    }

    /// One mesh of those of these names.
    pub fn find_all(paths: &[PathBuf], names: &Names) -> Result<Self> {
        let mut all = paths.iter().map(|path| Self::find(path, names)).collect::<Result<Vec<_>>>()?;
        if all.iter().filter(|source| source.is_stdin()).count() > 1 {
            return Err(Error::usage("-: standard input is named twice").with_hint("it can be read once"));
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Self::Several(all) })
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        match self {
            Self::Stdin => true,
            Self::Named(_, source) => source.is_stdin(),
            _ => false,
        }
    }

    /// The name that `NAME=FILE` gives it.
    pub fn given_name(&self) -> Option<&str> {
        match self {
            Self::Named(name, _) => Some(name),
            _ => None,
        }
    }

    /// The name of its part: that given, or that of the file without its extension.
    pub fn label(&self) -> String {
        let name = self.file_name().unwrap_or_else(|| self.name());
        match self.given_name() {
            Some(name) => name.to_string(),
            None => file_label(&name).to_string(),
        }
    }

    /// The sources of which one mesh is made.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// The file; `None` for a pipe and for several.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file.path()),
            Self::Named(_, source) => source.path(),
            _ => None,
        }
    }

    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_string(),
            Self::File(file) => file.path().display().to_string(),
            Self::Named(_, source) => source.name(),
            Self::Several(all) => {
                let rest = if all.len() > 3 { format!(" and {} more", all.len() - 3) } else { String::new() };
                all.iter().take(3).map(Self::name).collect::<Vec<_>>().join(", ") + &rest
            }
        }
    }

    /// The name without folders, or that given, which records have; none for a pipe.
    pub fn file_name(&self) -> Option<String> {
        let mut names = vec![];
        for one in self.each() {
            match (one.given_name(), one.path().and_then(Path::file_name)) {
                (Some(name), _) => names.push(name.into()),
                (None, Some(name)) => names.push(name.to_string_lossy()),
                (None, None) => {}
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The name without its extension, which outputs are called by.
    pub fn stem(&self) -> Result<OsString> {
        if let Some(name) = self.given_name() {
            return Ok(name.into());
        }
        self.path().map(stem).ok_or_else(|| {
            Error::usage("-: standard input has no name to call the output by")
                .with_hint("-o FILE names it, -o - is standard output")
        })
    }
}

/// The name and the file of `NAME=FILE`, where the name has no folder.
pub fn named(path: &Path) -> Option<(&str, &str)> {
    let (name, file) = path.to_str()?.split_once('=')?;
    let is_name = !name.trim().is_empty() && !file.is_empty() && !name.contains(is_separator);
    is_name.then_some((name, file))
}

impl Destination {
    /// The one of this name: `-` is standard output.
    pub fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdout } else { Self::File(path.to_path_buf()) }
    }

    /// The file; `None` for a pipe.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    pub fn name(&self) -> String {
        self.path().map_or_else(|| "standard output".to_string(), |path| path.display().to_string())
    }

    /// Whether it is a named pipe, where a write may block for ever.
    pub fn may_block(&self) -> bool {
        #[cfg(unix)]
        let is_fifo = |path: &Path| {
            use std::os::unix::fs::FileTypeExt;
            path.metadata().is_ok_and(|found| found.file_type().is_fifo())
        };
        #[cfg(not(unix))]
        let is_fifo = |_: &Path| false;
        self.path().is_some_and(is_fifo)
    }
}

/// The name of a file without its extension, or both of a `.stl.gz`.
pub fn stem(path: &Path) -> OsString {
    let is_packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed { path.with_extension("") } else { path.to_path_buf() };
    unpacked.file_stem().unwrap_or_default().to_os_string()
}

/// Whether `path` has this extension, upper or lower case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Whether a file is called as meshes are.
pub fn is_mesh_name(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let unpacked = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = unpacked.rsplit_once('.').map_or("", |(_, extension)| extension);
    INPUTS.iter().any(|input| input.extensions.contains(&extension))
}

/// Whether a file is called as voxel files are, and not as meshes are.
pub fn is_voxel_name(path: &Path) -> bool {
    format::by_path(path).is_some() && !is_mesh_name(path)
}

/// Whether the format that a file is called by states the unit of coordinates; not known of other names, and of pipes.
pub fn may_state_unit(path: &Path) -> bool {
    let known = INPUTS.iter().find(|input| input.extensions.iter().any(|known| has_extension(path, known)));
    known.is_none_or(|input| input.states_unit)
}

/// Makes sure that there is a file; if not, the error says what may have been meant.
pub fn is_there(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() && format::sniff(path).is_none() => Err(is_folder(path)),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(suggest::no_such_file(path)),
        _ => Ok(()),
    }
}

/// The error for a folder where a file is wanted, with the name of a file in it.
fn is_folder(path: &Path) -> Error {
    let error = Error::input(Code::Folder, "is a folder; a file is expected").in_file(path);
    if let Some(hint) = unfinished_store(path) {
        return error.with_hint(hint);
    }
    let is_known = |path: &PathBuf| path.is_file() && (is_mesh_name(path) || format::by_path(path).is_some());
    let entries = path.read_dir().into_iter().flatten().flatten();
    match entries.map(|entry| entry.path()).filter(is_known).min() {
        Some(file) => error.with_hint(format!("name a file in it, such as {}", file.display())),
        None if format::by_path(path).is_some_and(|format| format.name == "slices") => {
            error.with_hint("pictures of layers are written and not read: write the cells to another format as well, such as .npz")
        }
        None => error.with_hint("the folder has no mesh and no voxel file"),
    }
}

/// The voxels in a file that is compared with `other`; a mesh is an error that says how it becomes voxels.
pub fn open_voxels(file: &InFile, other: &Path, max_memory: Option<u64>) -> Result<Voxels> {
    let path = file.path();
    is_there(path)?;
    open_within(file, max_memory).map_err(|error| match if_mesh(error, path) {
        mesh if mesh.hint().is_none() && mesh.code() == Code::V001 => {
            let like =
                if is_mesh_name(other) { String::new() } else { format!(" --like {}", other.display()) };
            mesh.with_hint(format!("voxelize {}{like} -o NAME.npz makes voxels of it", path.display()))
        }
        error => error,
    })
}

/// The voxels in a file, if they take at most so many bytes.
pub fn open_within(file: &InFile, max_memory: Option<u64>) -> Result<Voxels> {
    format::open_within(file.path(), max_memory).map_err(|error| match error.kind() {
        Kind::TooLarge if error.hint().is_none() => error.with_hint("raise --max-memory"),
        _ => error,
    })
}

/// Where the cells of a voxel file are.
pub struct LatticeInFile {
    pub lattice: Lattice,
    /// The axes of an image that has others than x, y and z.
    pub axes: Option<String>,
    /// The unit of its coordinates, if the file states it.
    pub unit: Option<UnitOfLength>,
}

/// Where the cells of a voxel file are. A file that says it itself is not read for more than that; a
/// sidecar is used only if it describes the cells of the file.
pub fn lattice(file: &InFile, max_memory: Option<u64>) -> Result<LatticeInFile> {
    let path = file.path();
    is_there(path)?;
    let mut description = format::describe(path).map_err(|error| if_mesh(error, path))?;
    let axes = description.metadata.extra.remove(IMAGE_AXES);
    let unit = description.metadata.record.transform("unit").and_then(UnitOfLength::from_name);
    let lattice = match description.format.carries {
        Carries::InFile | Carries::Rounded => description.metadata.lattice,
        _ => open_within(file, max_memory)?.lattice,
    };
    lattice.map(|lattice| LatticeInFile { lattice, axes, unit }).ok_or_else(|| {
        let error = Error::usage("does not contain the position of its cells").in_file(path);
        error.with_hint(match description.format.carries {
            Carries::InFile | Carries::Rounded => "use a file of voxelize, or one with the same metadata",
            _ => ".vox, .npz, .nrrd and .nii contain it; a conversion with --sidecar writes it to a .json",
        })
    })
}

/// The error for a mesh where voxels are wanted.
pub fn if_mesh(error: Error, path: &Path) -> Error {
    if error.code() != Code::V001 || !is_mesh_name(path) {
        return error;
    }
    Error::input(Code::V001, "is a mesh, not voxels").in_file(path)
}

/// The format of a voxel file. A zip archive of anything else, such as a .3mf, is none.
pub fn voxel_format(path: &Path) -> Option<&'static Format> {
    let named = format::by_path(path);
    let is_voxels = |format: &&'static Format| {
        named.is_some_and(|named| named.name == format.name) || format::describe(path).is_ok()
    };
    format::sniff(path).filter(is_voxels)
}

/// The advice about a folder that is a store whose regions are still to be made, or to be finished.
pub fn unfinished_store(path: &Path) -> Option<String> {
    let is_store = format::sniff(path).is_none() && matches!(RegionStore::open_if_planned(path), Ok(Some(_)));
    let name = path.display();
    is_store.then(|| {
        format!("it is an unfinished store: 'voxelize {name} --region 1/1' makes its regions, then 'voxelize finish {name}'")
    })
}

/// The error for a file that holds voxels where a mesh is expected.
pub fn holds_voxels(path: &Path) -> Option<Error> {
    let format = voxel_format(path)?;
    let error = Error::input(Code::V004, format!("holds voxels ({}), not a mesh", format.name)).in_file(path);
    let path = path.display();
    Some(error.with_hint(format!(
        "'voxelize info {path}' describes it, 'voxelize convert {path} OUT' saves it as another"
    )))
}

/// `error` with `hint`, unless it has one that says more.
pub fn or_hint(error: Error, hint: &str) -> Error {
    if error.hint().is_some() { error } else { error.with_hint(hint) }
}

/// Folders created for outputs that may never be written; dropping it removes empty ones.
#[derive(Default)]
pub struct MadeFolders(Mutex<Vec<PathBuf>>);

impl MadeFolders {
    /// Makes `folder`, and those it is in, unless they are there.
    pub fn make(&self, folder: &Path) -> Result<()> {
        let missing: Vec<_> =
            folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.is_dir()).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.0.lock().unwrap_or_else(|e| e.into_inner()).push(folder.to_path_buf()),
                // Another job was quicker.
                Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(e) => {
                    return Err(
                        Error::output(format!("is not a folder, and cannot be created: {e}")).in_file(folder)
                    );
                }
            }
        }
        Ok(())
    }

    /// Makes the folder of a file.
    pub fn make_for(&self, file: &Path) -> Result<()> {
        file.parent().map_or(Ok(()), |folder| self.make(folder))
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        let made = self.0.get_mut().unwrap_or_else(|e| e.into_inner());
        // Inner folders were made after outer ones.
        for folder in made.iter().rev() {
            // The system removes only empty folders.
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
        let left = ["a", "a/b", "a/c", "a/c/d", "there", "there/e"].map(|folder| path(folder).exists());
        assert_eq!(left, [true, true, false, false, true, false]);
    }
}
