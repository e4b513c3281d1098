//! What outputs are called: the paths of meshes below the folder they have in common. No two may be one,
//! and none may be an input.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use voxelize::{Error, Result};

use super::super::files;
use super::super::job::Input;
use super::super::output::Output;
use super::super::place::Place;
use super::super::tell;
use super::super::typed::JsonTarget;
use super::{Found, Grids, Item};

/// Each mesh with its output; a mesh that is missing has the reason.
pub fn items(found: Vec<Found>, output: &Output) -> Vec<Item> {
    let common = common(found.iter().map(|found| found.folder.as_path()));
    let item = |Found { path, whole, problem, .. }: Found| {
        let ready = match problem {
            Some(problem) => Err(problem),
            None => Input::find(Some(path.clone())).map(|input| (input, output.of(&below(&common, &whole)))),
        };
        Item { path, ready }
    };
    found.into_iter().map(item).collect()
}

/// The deepest folder that all of these are, or are in.
fn common<'a>(mut folders: impl Iterator<Item = &'a Path>) -> PathBuf {
    let first = folders.next().unwrap_or(Path::new("")).to_path_buf();
    folders.fold(first, |common, folder| {
        let same = common.components().zip(folder.components()).take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    })
}

/// The path of a mesh below the folder, without its extension.
fn below(common: &Path, whole: &Path) -> PathBuf {
    // Other drives have nothing in common: what is left must not lead out of the folder of outputs.
    let plain = |part: &Component| matches!(part, Component::Normal(_));
    let path: PathBuf = whole.strip_prefix(common).unwrap_or(whole).components().filter(plain).collect();
    path.with_file_name(path.file_stem().unwrap_or_default())
}

/// Refuses names that stand for more than one file of this run, before anything is done.
///
/// # Errors
/// If two meshes make one file, or a file that is read would be written.
pub fn check(items: &[Item], list: Option<&Path>, json: Option<&JsonTarget>) -> Result<()> {
    let mut written: HashMap<PathBuf, &Path> = HashMap::new();
    let mut read: HashMap<PathBuf, String> = HashMap::new();
    for item in items {
        read.extend(item.path.canonicalize().map(|real| (real, "a mesh of this run".to_string())));
    }
    let list = list.and_then(|list| list.canonicalize().ok());
    read.extend(list.map(|real| (real, "the list of meshes".to_string())));
    for (item, output) in items.iter().filter_map(|item| Some((item, &item.ready.as_ref().ok()?.1))) {
        let Place::File(path) = &output.place else { continue };
        if let Some(other) = written.insert(path.clone(), &item.path) {
            return Err(twice(other, &item.path, path));
        }
        for path in [Some(path.clone()), output.sidecar_path()].into_iter().flatten() {
            if let Some(what) = path.canonicalize().ok().and_then(|real| read.get(&real)) {
                let error = Error::usage(format!("is {what}, and would be overwritten"));
                return Err(error.in_file(path).with_hint("-o DIR/ names another folder"));
            }
        }
    }
    let Some(JsonTarget::File(path)) = json else { return Ok(()) };
    let outputs = items.iter().filter_map(|item| item.ready.as_ref().ok()).map(|(_, output)| output);
    let sidecars: HashSet<PathBuf> = outputs.filter_map(Output::sidecar_path).collect();
    if let Some(what) = path.canonicalize().ok().and_then(|real| read.get(&real)) {
        let error = Error::usage(format!("is {what}, and would be overwritten"));
        return Err(error.in_file(path).with_hint("--json=FILE names another file"));
    }
    let mut others: Vec<(&Path, &str)> = written.keys().map(|path| (path.as_path(), "an output")).collect();
    others.extend(sidecars.iter().map(|path| (path.as_path(), "the sidecar of an output")));
    tell::check_json_file(path, &others)
}

fn twice(first: &Path, second: &Path, output: &Path) -> Error {
    let (one, two, output) = (first.display(), second.display(), output.display());
    if first == second {
        return Error::usage(format!("{one}: is there twice")).with_hint("name it once; folders are walked");
    }
    Error::usage(format!("{one} and {two} would both be written to {output}"))
        .with_hint("rename one of them, or run voxelize once for each")
}

/// Refuses pipes where a mesh is read twice.
///
/// # Errors
/// If there is one.
pub fn refuse_pipes_read_twice(found: &[Found], grids: Grids) -> Result<()> {
    match found.iter().find(|found| grids == Grids::Same && files::is_pipe(&found.path)) {
        Some(pipe) => Err(Error::usage("--same-grid: a pipe cannot be read twice")
            .in_file(&pipe.path)
            .with_hint("write it to a file first, or give the grid by --bounds and --voxel-size")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_common_folder_are_kept() {
        let of = |folders: &[&str]| common(folders.iter().map(Path::new)).display().to_string();
        assert_eq!(of(&["/a/b", "/a/b/c"]), "/a/b");
        assert_eq!(of(&["/a/bc", "/a/b"]), "/a");
        assert_eq!((of(&["/a/b"]), of(&["/x", "/y"])), ("/a/b".to_string(), "/".to_string()));
        let name =
            |common: &str, whole: &str| below(Path::new(common), Path::new(whole)).display().to_string();
        assert_eq!(name("/a", "/a/b/c.d.stl"), "b/c.d");
        assert_eq!(name("/a", "/a/plain"), "plain");
        assert_eq!(name("/other", "/a/b.stl"), "a/b", "never out of the folder of outputs");
    }
}
