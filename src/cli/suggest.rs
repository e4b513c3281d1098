//! "Did you mean": the nearest of some names.

use std::path::{MAIN_SEPARATOR, Path};

use voxelize::{Code, Error};

/// The name most like `word`, if one is like it at all: at most a third of its letters differ.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.into_iter().map(|name| (strsim::osa_distance(word, name), name));
    let near = near.filter(|(distance, name)| *distance > 0 && 3 * distance <= name.chars().count());
    near.min().map(|(_, name)| name)
}

/// The option that `word` may have been meant as: one near to it, the last part of it, as of `output-format`, or one that
/// shares a stem: `resolution` and `res`, `size` and `voxel-size`.
pub fn option<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let shares_stem = |name: &&str| {
        let begins = |long: &str, short: &str| short.len() >= STEM && long.starts_with(short);
        begins(word, name) || begins(name, word) || name.split('-').any(|part| part == word)
    };
    let last = || names.iter().copied().find(|name| word.rsplit('-').next() == Some(*name));
    let stems = || names.iter().copied().filter(shares_stem).min_by_key(|name| name.len());
    nearest(word, names.iter().copied()).or_else(last).or_else(stems)
}

/// The fewest letters that make a stem.
const STEM: usize = 3;

/// Synonyms of a command, and the command.
const SYNONYMS: [(&[&str], &str); 5] = [
    (&["collide", "collision", "collisions", "intersect", "overlap"], "clearance"),
    (&["compare"], "diff"),
    (&["draw", "picture", "preview", "render", "show", "slice"], "view"),
    (&["repair", "validate"], "check"),
    (&["describe", "stat", "stats"], "info"),
];

/// How cells are taken off a part.
pub const INWARDS: &str = "--rule distance --signed --band all -o FILE.npz has the distances; in NumPy, voxels <= -R is the part \
                           less R";

/// Options of other tools, and what does the same here.
const ELSEWHERE: [(&[&str], &str); 5] = [
    (
        &["plate", "build-plate"],
        "'voxelize view MESH --slice z=all --size WxH -o DIR/' draws layers on a plate",
    ),
    (&["palette", "colours", "colors", "vertex-colors"], "--labels colour takes the colours of the mesh"),
    (&["sdf", "esdf"], "--rule distance --signed"),
    (
        &["dilate", "expand", "grow", "inflate", "thicken"],
        "--rule distance --signed --band all --iso R grows the part by R; --rule offset --radius R has both sides of the \
         surface, and is hollow",
    ),
    (&["deflate", "erode", "shrink"], INWARDS),
];

/// What does here what an option of another tool does.
pub fn elsewhere(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(words, _)| words.contains(&word)).map(|(_, here)| *here)
}

/// The command that `path` may have been meant as: a bare word similar to its name, or a synonym.
pub fn command(path: &Path, commands: &[&'static str]) -> Option<&'static str> {
    let word = path.to_str().filter(|word| !word.contains(['.', '/', MAIN_SEPARATOR]))?;
    let meant = SYNONYMS.iter().find(|(words, _)| words.contains(&word)).map(|(_, command)| *command);
    // A command that is spelled right gets here only behind `--`, where it is a mesh.
    let near = nearest(word, commands.iter().copied()).or(meant);
    commands.iter().copied().find(|name| *name == word || Some(*name) == near)
}

/// The error for a mesh that is not there, with what may have been meant as the hint.
pub fn not_found(path: &Path, commands: &[&'static str]) -> Error {
    if let Some(name) = command(path, commands) {
        let error = Error::usage(format!("{} is neither a command nor a mesh", path.display()));
        return error.with_hint(format!("did you mean 'voxelize {name}'?"));
    }
    let error = no_such_file(path);
    let moved = path.to_str().and_then(|path| path.rsplit_once('@'));
    if moved.is_some_and(|(file, _)| Path::new(file.split('@').next().unwrap_or(file)).exists()) {
        return error.with_hint(
            "transforms behind the name of a mesh belong to 'voxelize clearance'; --translate, --rotate and --scale are \
             those of this command",
        );
    }
    let is_folder = path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR]);
    match error.hint() {
        None if !is_folder => error.with_hint("check the name; '-' reads standard input"),
        _ => error,
    }
}

/// The error for a file that is not there, with the name of one that is like it.
pub fn no_such_file(path: &Path) -> Error {
    let is_folder = path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR]);
    let what = if is_folder { "no such folder" } else { "no such file" };
    let error = Error::input(Code::NotFound, what).in_file(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return error };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // A shared extension makes no names alike.
    let extension = path.extension().map_or(0, |extension| extension.len() + 1);
    let is_like = |near: &&str| {
        let letters = name.chars().count().saturating_sub(extension).max(1);
        strsim::osa_distance(name, near) * 3 <= letters.max(3)
    };
    match nearest(name, names.iter().map(String::as_str)).filter(is_like) {
        Some(near) => error.with_hint(format!("did you mean '{}'?", path.with_file_name(near).display())),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        for (word, found) in [
            ("fromats", Some("formats")),
            ("format", Some("formats")),
            ("part.slt", Some("part.stl")),
            ("verify", None),
            ("formats", None),
        ] {
            assert_eq!(nearest(word, ["formats", "part.stl"]), found, "{word}");
        }
    }

    #[test]
    fn options_share_a_stem_or_are_near() {
        let names = [
            "res",
            "voxel-size",
            "keep-thin",
            "sidecar",
            "quiet",
            "hollow",
            "max-memory",
            "output",
            "format",
        ];
        for (word, found) in [
            ("resolution", Some("res")),
            ("size", Some("voxel-size")),
            ("voxelsize", Some("voxel-size")),
            ("thin", Some("keep-thin")),
            ("memory", Some("max-memory")),
            ("hollo", Some("hollow")),
            ("output-format", Some("format")),
            ("output-file", Some("output")),
            ("color", None),
            ("colour", None),
            ("unit", None),
            ("r", None),
        ] {
            assert_eq!(option(word, names), found, "{word}");
        }
    }

    #[test]
    fn words_for_what_a_command_does_find_it() {
        let found = |word: &str| command(Path::new(word), &["clearance", "diff", "view"]);
        assert_eq!((found("collide"), found("compare")), (Some("clearance"), Some("diff")));
        assert_eq!((found("render"), found("repair"), found("collide.stl")), (Some("view"), None, None));
    }
}
