//! Paths of a list: written relative to it, with forward slashes, so that a checkout elsewhere finds
//! the same files.

use std::path::{Component, Path, PathBuf};

/// The folder of a file.
pub fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path that a list in `folder` means by `written`.
pub fn resolve(folder: &Path, written: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(written) } else { folder.join(written) }
}

/// How a list in `folder` writes the path `file`; as it is, where the two have nothing in common.
pub fn relative(folder: &Path, file: &Path) -> String {
    let (Some(from), Some(to)) = (whole(folder), whole(file)) else { return slashed(file) };
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return slashed(file);
    }
    let up = from[common..].iter().map(|_| Component::ParentDir);
    slashed(&up.chain(to[common..].iter().copied()).collect::<PathBuf>())
}

/// The path from the root, links followed as far as its folders exist: the name itself stays.
fn whole(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return path.canonicalize().ok();
    }
    let parent = path.parent()?;
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Some(whole(parent)?.join(path.file_name()?))
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// A name for a file that stands for `text`: letters, digits and dots, all else as single dashes.
pub fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { ' ' };
    let words: String = text.chars().map(plain).collect();
    let words = words.split_whitespace().map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() { "case".to_string() } else { slug }
}

/// `name`, or with a number behind it the first that is not `taken`.
pub fn unused(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_list() {
        let place = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            std::fs::create_dir_all(place.path().join(name)).unwrap();
            place.path().join(name)
        };
        let (lists, meshes) = (folder("tests/lists"), folder("meshes"));
        assert_eq!(relative(&lists, &meshes.join("a.stl")), "../../meshes/a.stl");
        assert_eq!(relative(&lists, &lists.join("a.stl")), "a.stl");
        assert_eq!(relative(place.path(), &meshes.join("../meshes/a.stl")), "meshes/a.stl");
        assert_eq!(relative(&lists, &lists.join("new/er/a.npz")), "new/er/a.npz");
        let written = relative(&lists, &meshes.join("a.stl"));
        assert_eq!(resolve(&lists, &written), lists.join("../../meshes/a.stl"));
        assert_eq!(resolve(super::folder(Path::new("goldens.toml")), "a.stl"), Path::new("a.stl"));
    }

    #[test]
    fn names_are_plain_and_used_once() {
        assert_eq!(slug("meshes/part.stl --res 64 --pad 1"), "meshes-part.stl-res-64-pad-1");
        assert_eq!([slug("--"), slug("../x/.y"), slug("größe 0.5")], ["case", "x-y", "größe-0.5"]);
        let taken = ["a", "a-2"];
        assert_eq!(unused("a", |name| taken.contains(&name)), "a-3");
        assert_eq!(unused("b", |name| taken.contains(&name)), "b");
    }
}
