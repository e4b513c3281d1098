//! The meshes that names stand for: files as they are, folders for what is in them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use voxelize::mesh::read::INPUTS;
use voxelize::{Error, Result};

use super::super::files;

/// A mesh that was named, or found in a folder that was.
pub struct Found {
    /// As it was named, or the folder's name and what follows.
    pub path: PathBuf,
    /// Where it is from the root, without links followed: its name below the folder of outputs is made of
    /// this.
    pub whole: PathBuf,
    /// The folder that was named, or the one that the file is in, from the root.
    pub folder: PathBuf,
    /// Why there is nothing to read: a folder that cannot be looked into, or has no mesh.
    pub problem: Option<Error>,
}

/// Everything that `names` stand for: in their order, folders sorted by name.
///
/// # Errors
/// If a name cannot be that of a file.
pub fn all(names: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for name in names {
        if name.as_os_str() == "-" {
            let error = Error::usage("-: standard input has no name to call an output by");
            return Err(error.with_hint("'voxelize - -o FILE' reads it as the only mesh"));
        }
        let whole = whole(name)?;
        if !name.is_dir() {
            let folder = whole.parent().unwrap_or(&whole).to_path_buf();
            found.push(Found { path: name.clone(), whole, folder, problem: None });
            continue;
        }
        let mut meshes = Vec::new();
        let walked = walk(name, &mut Vec::new(), &mut meshes);
        let problem = walked.err().or_else(|| meshes.is_empty().then(|| no_mesh(name)));
        let entry = |path: PathBuf, problem| {
            let below = path.strip_prefix(name).unwrap_or(Path::new(""));
            Found { whole: whole.join(below), folder: whole.clone(), path, problem }
        };
        found.extend(meshes.into_iter().map(|path| entry(path, None)));
        found.extend(problem.map(|problem| entry(name.clone(), Some(problem))));
    }
    Ok(found)
}

/// Adds the meshes in `folder` and below. `above` are the folders it is in, links followed: a link to one
/// of these is a circle, and not followed.
fn walk(folder: &Path, above: &mut Vec<PathBuf>, meshes: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |e: std::io::Error| {
        Error::input("unreadable", format!("cannot be looked into: {e}"))
            .in_file(folder)
            .with_hint("all that could be found elsewhere is done")
    };
    let real = folder.canonicalize().map_err(unreadable)?;
    if above.contains(&real) {
        return Ok(());
    }
    above.push(real);
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.map_err(unreadable);
    let mut paths: Vec<_> =
        entries.iter().flatten().map(fs::DirEntry::path).filter(|p| !is_hidden(p)).collect();
    paths.sort();
    let mut result = entries.map(drop);
    for path in paths {
        if path.is_dir() {
            let below = walk(&path, above, meshes);
            result = result.and(below);
        } else if files::is_mesh_name(&path) {
            meshes.push(path);
        }
    }
    above.pop();
    result
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn no_mesh(folder: &Path) -> Error {
    let mut extensions: Vec<_> = INPUTS.iter().flat_map(|input| input.extensions).collect();
    extensions.dedup();
    let extensions: Vec<_> = extensions.iter().map(|extension| format!(".{extension}")).collect();
    Error::input("S010", format!("no mesh ({}) in this folder", extensions.join(", ")))
        .in_file(folder)
        .with_hint("hidden files and folders are left out; a file that is named is read whatever its name")
}

/// The path from the root, `..` taken away with the folder before it, links not followed.
fn whole(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(|e| {
        let error = Error::usage(format!("'{}' is no name of a file: {e}", path.display()));
        error.with_hint("check the name")
    })?;
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_walked_in_order_and_not_in_circles() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in ["b", "a/deep", ".git", "empty"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["b/2.stl", "b/10.STL", "a/deep/x.stl", "z.stl", "n.txt", ".git/h.stl", "._z.stl"] {
            fs::write(root.join(file), "").unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root, root.join("a/deep/up")).unwrap();
            std::os::unix::fs::symlink("x.stl", root.join("a/deep/y.stl")).unwrap();
        }
        let found = all(&[root.to_path_buf()]).unwrap();
        let names: Vec<_> =
            found.iter().map(|f| f.path.strip_prefix(root).unwrap().display().to_string()).collect();
        let linked: &[&str] = if cfg!(unix) { &["a/deep/y.stl"] } else { &[] };
        assert_eq!(names, [&["a/deep/x.stl"], linked, &["b/10.STL", "b/2.stl", "z.stl"]].concat());
        assert!(found.iter().all(|found| found.problem.is_none() && found.folder == root));
        let none = all(&[root.join("empty")]).unwrap();
        assert!(none.len() == 1 && none[0].problem.as_ref().unwrap().to_string().contains("no mesh"));
    }

    #[test]
    fn paths_are_whole_without_looking_at_the_disk() {
        let is = |path: &str, expected: &str| {
            let here = std::env::current_dir().unwrap();
            assert_eq!(whole(Path::new(path)).unwrap(), here.join(expected), "{path}");
        };
        is("a/../b/./c.stl", "b/c.stl");
        is("a//b", "a/b");
        assert!(whole(Path::new("")).is_err());
    }
}
