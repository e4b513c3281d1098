//! "Did you mean": the nearest of some names.

use std::path::Path;

use voxelize::Error;

use super::verb::{VERBS, Verb};

/// The name most like `word`, if one is like it at all: at most a third of its letters differ.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(distance, name)| *distance > 0 && 3 * distance <= name.chars().count())
        .min()
        .map(|(_, name)| name)
}

/// The error for a mesh that is not there, with what may have been meant as the hint.
pub fn not_found(path: &Path) -> Error {
    if let Some(verb) = verb(path) {
        let error = Error::input("not-found", "no such file").in_file(path);
        return error.with_hint(format!("did you mean 'voxelize {}'?", verb.name));
    }
    let error = no_such_file(path);
    if error.hint() == Some(CHECK) {
        error.with_hint(format!("{CHECK}; '-' reads standard input"))
    } else {
        error
    }
}

const CHECK: &str = "check the name";

/// The error for a file that is not there, with the name of one that is like it.
pub fn no_such_file(path: &Path) -> Error {
    let error = Error::input("not-found", "no such file").in_file(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return error };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean '{}'?", path.with_file_name(near).display())),
        None => error.with_hint(CHECK),
    }
}

/// The verb that `path` may have been meant as: a bare word like the name of one.
pub fn verb(path: &Path) -> Option<&'static Verb> {
    let word = path.to_str().filter(|word| !word.contains(['.', '/', std::path::MAIN_SEPARATOR]))?;
    // A verb that is spelled right gets here only behind `--`, where it is a mesh.
    let name = nearest(word, VERBS.iter().map(|verb| verb.name));
    VERBS.iter().find(|verb| verb.name == word || Some(verb.name) == name)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (the optimal
/// string alignment distance).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
