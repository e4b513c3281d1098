//! Meshes of the benchmarks: from the folder in VOXELIZE_MESHES, or else the fixtures.

use std::path::{Path, PathBuf};

use super::args::refuse;

/// Returns the folder of meshes.
pub fn folder() -> PathBuf {
    std::env::var_os("VOXELIZE_MESHES").map_or_else(|| fixture(""), PathBuf::from)
}

/// Returns the path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

/// Returns the meshes named by `words`: paths, or names of STL files in the folder.
pub fn named(words: &[String]) -> Vec<PathBuf> {
    let find = |word: &String| {
        let places = [
            PathBuf::from(word),
            folder().join(word).with_extension("stl"),
        ];
        let found = places.into_iter().find(|place| place.is_file());
        found.unwrap_or_else(|| {
            refuse(&format!(
                "{word} is no file, and no mesh in {}",
                folder().display()
            ))
        })
    };
    words.iter().map(find).collect()
}

/// Returns every STL file in the folder, sorted by name.
pub fn all() -> Vec<PathBuf> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| refuse(&format!("VOXELIZE_MESHES: {}: {error}", folder.display())));
    let mut meshes: Vec<_> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .collect();
    meshes.retain(|path| path.extension().is_some_and(|extension| extension == "stl"));
    meshes.sort();
    if meshes.is_empty() {
        refuse(&format!("no .stl in {}", folder.display()));
    }
    meshes
}

/// Returns the meshes of these names in the folder, or all meshes for an empty list.
pub fn usual(names: &[&str]) -> Vec<PathBuf> {
    let mut meshes: Vec<_> = names
        .iter()
        .map(|name| folder().join(name).with_extension("stl"))
        .collect();
    meshes.retain(|path| path.is_file());
    if meshes.is_empty() { all() } else { meshes }
}

/// Returns the meshes named by `words`, or without words the [`usual`] ones of these names.
pub fn meant(words: &[String], names: &[&str]) -> Vec<PathBuf> {
    if words.is_empty() {
        usual(names)
    } else {
        named(words)
    }
}

/// Returns the name of a mesh in tables.
pub fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
