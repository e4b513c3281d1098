//! "Did you mean": the nearest of some names.

use std::path::{MAIN_SEPARATOR, Path};

use voxelize::{Code, Error};

/// The name most like `word`, if one is like it at all: at most a third of its letters differ.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.into_iter().map(|name| (strsim::osa_distance(word, name), name));
    let near = near.filter(|(distance, name)| *distance > 0 && 3 * distance <= name.chars().count());
    near.min().map(|(_, name)| name)
}

/// The command that `path` may have been meant as: a bare word like the name of one.
pub fn command(path: &Path, commands: &[&'static str]) -> Option<&'static str> {
    let word = path.to_str().filter(|word| !word.contains(['.', '/', MAIN_SEPARATOR]))?;
    // A command that is spelled right gets here only behind `--`, where it is a mesh.
    let near = nearest(word, commands.iter().copied());
    commands.iter().copied().find(|name| *name == word || Some(*name) == near)
}

/// The error for a mesh that is not there, with what may have been meant as the hint.
pub fn not_found(path: &Path, commands: &[&'static str]) -> Error {
    if let Some(name) = command(path, commands) {
        let error = Error::input(Code::NotFound, "no such file").in_file(path);
        return error.with_hint(format!("did you mean 'voxelize {name}'?"));
    }
    let error = no_such_file(path);
    if error.hint().is_some() { error } else { error.with_hint("check the name; '-' reads standard input") }
}

/// The error for a file that is not there, with the name of one that is like it.
pub fn no_such_file(path: &Path) -> Error {
    let error = Error::input(Code::NotFound, "no such file").in_file(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return error };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match nearest(name, names.iter().map(String::as_str)) {
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
}
