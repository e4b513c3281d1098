//! Finds the meshes of a batch in a list, files and folders, and names their outputs. An output is named
//! after the path of its mesh below the deepest folder that all meshes share.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use voxelize::format::Format;
use voxelize::mesh::read::INPUTS;
use voxelize::{Code, Error, Kind, Progress, Result, format};

use super::Item;
use crate::cli::command::Call;
use crate::cli::files::{self, MeshSource};
use crate::cli::names::{InputFile, Names};
use crate::cli::output::Output;
use crate::cli::pipes::PipeReader;
use crate::cli::progress::Bar;
use crate::cli::report::display::grouped;
use crate::cli::signals::Signals;

/// Returns the mesh names in the file `list`, or in standard input if `list` is `-`. `named` are the names on
/// the command line.
pub fn read_list(
    list: &Path,
    named: &[PathBuf],
    null: bool,
    signals: &Signals,
    names: &Names,
) -> Result<Vec<PathBuf>> {
    let is_stdin = list.as_os_str() == "-";
    if is_stdin && named.iter().any(|mesh| mesh.as_os_str() == "-") {
        return Err(
            Error::usage("-: standard input is the list of meshes, not a mesh")
                .with_hint("--files-from FILE reads the list from a file"),
        );
    }
    let bytes = match is_stdin {
        true => PipeReader::stdin(signals).and_then(all_of),
        false => from_file(&names.reads(list, "the list of meshes")?, signals),
    };
    let bytes = bytes.map_err(|e| e.in_file(list))?;
    let found = split(&bytes, null).map_err(|e| e.in_file(list))?;
    if found.is_empty() && named.is_empty() {
        return Err(Error::input(Code::NoMeshes, "names no mesh")
            .in_file(list)
            .with_hint("write one name per line"));
    }
    Ok(found)
}

fn from_file(list: &InputFile, signals: &Signals) -> Result<Vec<u8>> {
    let path = list.path();
    files::is_there(path)?;
    if files::is_pipe(path) {
        return PipeReader::open(path, signals).and_then(all_of);
    }
    File::open(path)
        .map_err(|e| unreadable(&e))
        .and_then(all_of)
}

/// Maximum length of a list in bytes, enough for a million long names.
const MAX_LIST: u64 = 64 << 20;

fn all_of(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_LIST + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| unreadable(&e))?;
    if bytes.len() as u64 > MAX_LIST {
        let error = Error::input(
            Code::BadList,
            "is not a list of names: it has more than 64 MiB",
        );
        return Err(error.with_hint("split it"));
    }
    Ok(bytes)
}

fn unreadable(error: &std::io::Error) -> Error {
    match error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>())
    {
        Some(own) => own.clone(),
        None => Error::input(Code::Unreadable, format!("cannot be read: {error}")),
    }
}

/// Returns the non-empty names in `bytes`. With `null` each name ends with a NUL byte, otherwise with a line
/// break.
fn split(bytes: &[u8], null: bool) -> Result<Vec<PathBuf>> {
    let end = if null { 0 } else { b'\n' };
    let names = bytes.split(|byte| *byte == end);
    let names = names.map(|name| {
        if null {
            name
        } else {
            name.strip_suffix(b"\r").unwrap_or(name)
        }
    });
    names.filter(|name| !name.is_empty()).map(path).collect()
}

fn path(name: &[u8]) -> Result<PathBuf> {
    if name.contains(&0) {
        let error = Error::input(Code::BadList, "a name contains a NUL byte");
        return Err(error.with_hint("use --null for names that end in NUL"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(name).into())
    }
    #[cfg(not(unix))]
    {
        let text = std::str::from_utf8(name);
        text.map(PathBuf::from)
            .map_err(|_| Error::input(Code::BadList, "a name is not UTF-8"))
    }
}

/// Mesh that the user named, or that was found in a folder that the user named.
pub struct FoundMesh {
    /// Name as given. For a mesh found in a folder, its path including the name of the folder as given.
    pub path: PathBuf,
    /// Absolute path. The path below the output folder is derived from it.
    pub whole: PathBuf,
    /// Absolute path of the folder that the user named, or of the folder of a named file.
    pub folder: PathBuf,
    /// Error if the named folder cannot be listed or has no mesh.
    pub problem: Option<Error>,
}

/// Returns the meshes for `names` in the given order, those of a folder sorted by name. Also returns a count
/// of the files in folders that are not meshes.
pub fn all(names: &[PathBuf], bar: &Bar) -> Result<(Vec<FoundMesh>, Skipped)> {
    let mut found = Vec::new();
    let mut skipped = Skipped::default();
    for name in names {
        if name.as_os_str() == "-" {
            let error = Error::usage("-: standard input has no name for an output file");
            return Err(error.with_hint("'voxelize - -o FILE' voxelizes it alone"));
        }
        if name.as_os_str().is_empty() {
            return Err(Error::usage("'' is not the name of a file").with_hint("check the name"));
        }
        let unposed = match files::posed(name)? {
            Some((file, _)) => file,
            None => name.clone(),
        };
        let whole = match files::named(&unposed) {
            _ if name.is_dir() => name.canonicalize().unwrap_or_else(|_| name.clone()),
            // The output is named after the name that the user gave.
            Some((given, file)) if !unposed.exists() => {
                files::located(Path::new(file)).with_file_name(format!("{given}.mesh"))
            }
            _ => files::located(&unposed),
        };
        if !name.is_dir() {
            let folder = whole.parent().unwrap_or(&whole).to_path_buf();
            found.push(FoundMesh {
                path: name.clone(),
                whole,
                folder,
                problem: None,
            });
            continue;
        }
        let seen = HashSet::new();
        let links = VecDeque::new();
        let skipped = &mut skipped;
        let walk = FolderWalk {
            bar,
            seen,
            links,
            meshes: vec![],
            skipped,
            problem: None,
        };
        let (meshes, problem) = walk.all(name)?;
        let problem = problem.or_else(|| meshes.is_empty().then(|| no_mesh(name)));
        let entry = |path: PathBuf, problem| {
            let below = path.strip_prefix(name).unwrap_or(Path::new(""));
            FoundMesh {
                whole: whole.join(below),
                folder: whole.clone(),
                path,
                problem,
            }
        };
        found.extend(meshes.into_iter().map(|path| entry(path, None)));
        found.extend(problem.map(|problem| entry(name.clone(), Some(problem))));
    }
    Ok((found, skipped))
}

/// Returns the meshes of these names. Folders are replaced by their meshes, see [`all`]. Every other name is
/// kept, even `-`.
pub fn in_folders(names: &[PathBuf], bar: &Bar) -> Result<Vec<(PathBuf, Option<Error>)>> {
    let mut meshes = vec![];
    for name in names {
        match name.is_dir() && format::sniff(name).is_none() {
            true => {
                let (found, _) = all(std::slice::from_ref(name), bar)?;
                meshes.extend(found.into_iter().map(|mesh| (mesh.path, mesh.problem)));
            }
            false => meshes.push((name.clone(), None)),
        }
    }
    Ok(meshes)
}

/// Number of files in folders for each extension that belongs to no mesh format. Voxel files and sidecars are
/// left out.
#[derive(Default)]
pub struct Skipped(BTreeMap<String, u64>);

impl Skipped {
    fn add(&mut self, path: &Path) {
        if format::by_path(path).is_none() && !files::has_extension(path, files::SIDECAR) {
            let extension = path
                .extension()
                .map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
            *self.0.entry(extension).or_default() += 1;
        }
    }

    /// Returns `3 files that are not named like meshes: 2 .txt, 1 .md`. `None` if there are no such files.
    pub fn text(&self) -> Option<String> {
        let all: u64 = self.0.values().sum();
        let are = if all == 1 {
            "file that is not named like a mesh"
        } else {
            "files that are not named like meshes"
        };
        let kind = |(extension, count): (&String, &u64)| match extension.as_str() {
            "" => format!("{} without an extension", grouped(*count)),
            extension => format!("{} .{extension}", grouped(*count)),
        };
        let kinds: Vec<_> = self.0.iter().map(kind).collect();
        (all > 0).then(|| format!("{} {are}: {}", grouped(all), kinds.join(", ")))
    }
}

/// Search through a folder and all folders below it. Each folder is searched once, no matter how many links
/// lead to it. Links are followed last, so that a folder is found by its own name rather than by the name of
/// a link, if possible.
struct FolderWalk<'a> {
    bar: &'a Bar,
    seen: HashSet<PathBuf>,
    links: VecDeque<PathBuf>,
    meshes: Vec<PathBuf>,
    skipped: &'a mut Skipped,
    /// Error of the first folder that cannot be listed.
    problem: Option<Error>,
}

impl FolderWalk<'_> {
    /// Returns the meshes in `folder` and in the folders below it, sorted by name, and the error of the first
    /// folder that cannot be listed.
    fn all(mut self, folder: &Path) -> Result<(Vec<PathBuf>, Option<Error>)> {
        self.links.push_back(folder.to_path_buf());
        while let Some(folder) = self.links.pop_front() {
            let mut folders = vec![folder];
            while let Some(folder) = folders.pop() {
                self.bar.check()?;
                match self.entries(&folder) {
                    Ok(below) => folders.extend(below.into_iter().rev()),
                    Err(error) => self.problem = self.problem.or(Some(unlisted(&folder, &error))),
                }
            }
        }
        self.meshes.sort();
        Ok((self.meshes, self.problem))
    }

    /// Adds the meshes and links in a folder to the search and returns the folders in it.
    fn entries(&mut self, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        let mut folders = vec![];
        if !self.seen.insert(folder.canonicalize()?) {
            return Ok(folders);
        }
        let entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
        let mut paths: Vec<_> = entries
            .iter()
            .map(fs::DirEntry::path)
            .filter(|p| !is_hidden(p))
            .collect();
        paths.sort();
        for path in paths {
            match (path.is_dir(), path.is_symlink()) {
                // A voxel format that is a folder may hold thousands of files, so it is not searched.
                (true, _) if format::by_path(&path).is_some_and(Format::is_folder) => {}
                (true, true) => self.links.push_back(path),
                (true, false) => folders.push(path),
                _ if files::is_mesh_name(&path) => self.meshes.push(path),
                _ => self.skipped.add(&path),
            }
        }
        Ok(folders)
    }
}

fn unlisted(folder: &Path, error: &std::io::Error) -> Error {
    Error::input(Code::Unreadable, format!("cannot be listed: {error}"))
        .in_file(folder)
        .with_hint("all other meshes are still processed")
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn no_mesh(folder: &Path) -> Error {
    let mut extensions: Vec<_> = INPUTS.iter().flat_map(|input| input.extensions).collect();
    extensions.dedup();
    let extensions: Vec<_> = extensions
        .iter()
        .map(|extension| format!(".{extension}"))
        .collect();
    Error::input(
        Code::S010,
        format!("no mesh ({}) in this folder", extensions.join(", ")),
    )
    .in_file(folder)
    .with_hint("hidden files and folders are skipped; a file that is named is always read")
}

/// Returns each mesh with its output, or each level of detail of each mesh. A missing mesh has its error instead.
///
/// # Errors
/// Fails if two meshes would be written to one file, or if an output would overwrite an input.
pub(super) fn items(
    found: Vec<FoundMesh>,
    output: &Output,
    levels: &[usize],
    call: &Call,
) -> Result<Vec<Item>> {
    let common = common(found.iter().map(|found| found.folder.as_path()));
    let source = |mesh: &FoundMesh| match &mesh.problem {
        Some(problem) => Err(problem.clone()),
        None => MeshSource::find(&mesh.path, &call.names),
    };
    // All inputs are registered before the first output, so that no output overwrites an input.
    let mut sources: Vec<_> = found.iter().map(source).collect();
    // A mesh may have the name of the file of `--json`. That file will be written, so it cannot be read as a
    // mesh.
    if let Some(Err(error)) = sources
        .iter()
        .find(|source| matches!(source, Err(e) if e.kind() == Kind::Usage))
    {
        return Err(error.clone());
    }
    let mut written: HashMap<PathBuf, &Path> = HashMap::new();
    let mut items = vec![];
    let numbers: Vec<_> = match levels {
        [] => vec![None],
        levels => levels.iter().copied().map(Some).collect(),
    };
    for (n, (mesh, source)) in found.iter().zip(sources.drain(..)).enumerate() {
        for (level, longest) in numbers.iter().enumerate() {
            let source = source.clone();
            items.push(Item {
                path: mesh.path.clone(),
                level,
                longest: *longest,
                ready: match source {
                    Ok(source) => {
                        let mut ready = output_of(n, mesh, output, &common);
                        if let Some(longest) = longest {
                            ready = ready.at_level(*longest);
                        }
                        let path = match &ready.stack {
                            Some(_) => mesh.whole.clone(),
                            None => ready.file.path().to_path_buf(),
                        };
                        if let Some(other) = written.insert(path.clone(), &mesh.path) {
                            return Err(twice(other, &mesh.path, &path));
                        }
                        if ready.stack.is_none() {
                            ready = ready.registered(&call.names)?;
                        }
                        Ok((source, ready))
                    }
                    Err(error) => Err(error),
                },
            });
        }
    }
    Ok(items)
}

/// Returns the output of mesh `n`: its place in the array of all meshes, or its file below the output folder.
fn output_of(n: usize, mesh: &FoundMesh, output: &Output, common: &Path) -> Output {
    match &output.stack {
        Some(_) => output.stacked_at(n, mesh.path.display().to_string()),
        None => output.named(&below(common, &mesh.whole)),
    }
}

/// Returns the deepest folder that contains or equals each of these folders.
fn common<'a>(mut folders: impl Iterator<Item = &'a Path>) -> PathBuf {
    let first = folders.next().unwrap_or(Path::new("")).to_path_buf();
    folders.fold(first, |common, folder| {
        let same = common
            .components()
            .zip(folder.components())
            .take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    })
}

/// Returns the path `whole` of a mesh relative to the folder `common`, without its extension.
fn below(common: &Path, whole: &Path) -> PathBuf {
    // Paths on different drives have no common folder. Only plain components are kept, so that the result
    // cannot leave the output folder.
    let plain = |part: &Component| matches!(part, Component::Normal(_));
    let path: PathBuf = whole
        .strip_prefix(common)
        .unwrap_or(whole)
        .components()
        .filter(plain)
        .collect();
    path.with_file_name(files::stem(&path))
}

fn twice(first: &Path, second: &Path, output: &Path) -> Error {
    let one = first.display();
    let two = second.display();
    let output = output.display();
    if first == second {
        return Error::usage(format!("{one}: is named twice"))
            .with_hint("name it once; folders are searched, too");
    }
    let error = Error::usage(format!("{one} and {two} would both be written to {output}"));
    if files::file_of(first) == files::file_of(second) {
        return error.with_hint("name one of them: NAME=FILE");
    }
    error.with_hint("rename one of them, or run voxelize once for each")
}

/// Refuses named pipes, because the meshes are read twice.
pub fn refuse_pipes(found: &[FoundMesh]) -> Result<()> {
    match found
        .iter()
        .find(|found| files::is_pipe(&files::file_of(&found.path)))
    {
        Some(pipe) => Err(Error::usage("--same-grid: a pipe cannot be read twice")
            .in_file(&pipe.path)
            .with_hint("write it to a file first, or give the grid by --bounds and --voxel-size")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::report::Verbosity;

    #[test]
    fn folders_are_walked_in_order_and_not_in_circles() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in ["b", "a/deep", ".git", "empty"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "b/2.stl",
            "b/10.STL",
            "a/deep/x.stl",
            "z.stl",
            "n.txt",
            ".git/h.stl",
            "._z.stl",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root, root.join("a/deep/up")).unwrap();
            std::os::unix::fs::symlink("x.stl", root.join("a/deep/y.stl")).unwrap();
        }
        let bar = Bar::new(Verbosity::Quiet, Signals::default());
        let (found, skipped) = all(&[root.to_path_buf()], &bar).unwrap();
        assert_eq!(
            skipped.text().unwrap(),
            "1 file that is not named like a mesh: 1 .txt"
        );
        let names: Vec<_> = found
            .iter()
            .map(|f| f.path.strip_prefix(root).unwrap().display().to_string())
            .collect();
        let linked: &[&str] = if cfg!(unix) { &["a/deep/y.stl"] } else { &[] };
        assert_eq!(
            names,
            [&["a/deep/x.stl"], linked, &["b/10.STL", "b/2.stl", "z.stl"]].concat()
        );
        assert!(
            found
                .iter()
                .all(|found| found.problem.is_none() && found.folder == root)
        );
        let (none, skipped) = all(&[root.join("empty")], &bar).unwrap();
        assert_eq!(skipped.text(), None);
        assert!(
            none.len() == 1
                && none[0]
                    .problem
                    .as_ref()
                    .unwrap()
                    .to_string()
                    .contains("no mesh")
        );
    }

    /// Regression test: eight folders with links to each other were once searched in every order, so that one
    /// mesh was reached by 13,700 paths.
    #[cfg(unix)]
    #[test]
    fn folders_that_link_to_each_other_are_walked_once() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for n in 0..12 {
            fs::create_dir(root.join(format!("d{n}"))).unwrap();
            for m in (0..12).filter(|m| *m != n) {
                let link = root.join(format!("d{n}/l{m}"));
                std::os::unix::fs::symlink(format!("../d{m}"), link).unwrap();
            }
        }
        fs::write(root.join("d7/x.stl"), "").unwrap();
        let bar = Bar::new(Verbosity::Quiet, Signals::default());
        let (found, _) = all(&[root.to_path_buf()], &bar).unwrap();
        assert_eq!(
            found.iter().map(|f| f.path.clone()).collect::<Vec<_>>(),
            [root.join("d7/x.stl")]
        );
        // A folder that is reached only through a link has the name of the link.
        let (found, _) = all(&[root.join("d0")], &bar).unwrap();
        assert_eq!(
            found.iter().map(|f| f.path.clone()).collect::<Vec<_>>(),
            [root.join("d0/l7/x.stl")]
        );
    }

    #[test]
    fn names_are_lines_or_end_in_nul() {
        let names = |bytes: &[u8], null| {
            let names = split(bytes, null).unwrap();
            names
                .iter()
                .map(|name| name.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(b"a.stl\n\nb c.stl\r\n d.stl", false),
            ["a.stl", "b c.stl", " d.stl"]
        );
        assert_eq!(names(b"a\nb.stl\0c.stl\0", true), ["a\nb.stl", "c.stl"]);
        assert!(names(b"\n\n", false).is_empty() && names(b"", true).is_empty());
        assert!(
            split(b"a.stl\0b.stl\n", false)
                .unwrap_err()
                .hint()
                .unwrap()
                .to_string()
                .contains("--null")
        );
    }

    #[test]
    fn paths_below_the_common_folder_are_kept() {
        let of = |folders: &[&str]| common(folders.iter().map(Path::new)).display().to_string();
        assert_eq!(of(&["/a/b", "/a/b/c"]), "/a/b");
        assert_eq!(of(&["/a/bc", "/a/b"]), "/a");
        assert_eq!(
            (of(&["/a/b"]), of(&["/x", "/y"])),
            ("/a/b".to_string(), "/".to_string())
        );
        let name = |common: &str, whole: &str| {
            below(Path::new(common), Path::new(whole))
                .display()
                .to_string()
        };
        assert_eq!(name("/a", "/a/b/c.d.stl"), "b/c.d");
        assert_eq!(name("/a", "/a/plain"), "plain");
        assert_eq!(
            name("/other", "/a/b.stl"),
            "a/b",
            "never out of the folder of outputs"
        );
    }
}
