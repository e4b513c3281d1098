//! Suggestions for words that clap does not know: the option or command that was probably meant, equivalents
//! for options of other tools, and files with a similar name.

use std::path::{MAIN_SEPARATOR, Path};

use voxelize::format::FORMATS;
use voxelize::job::UnitOfLength;
use voxelize::{Code, Error, RULES};

use super::COMMANDS;

/// Returns the name that is most similar to `word`. `None` if more than a third of the letters differ in
/// every name, or if `word` is itself one of the names.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = names
        .into_iter()
        .map(|name| (strsim::osa_distance(word, name), name));
    let near =
        near.filter(|(distance, name)| *distance > 0 && 3 * distance <= name.chars().count());
    near.min().map(|(_, name)| name)
}

/// Synonyms of commands, each with the command.
const SYNONYMS: [(&[&str], &str); 5] = [
    (
        &["collide", "collision", "collisions", "intersect", "overlap"],
        "clearance",
    ),
    (&["compare"], "diff"),
    (
        &["draw", "picture", "preview", "render", "show", "slice"],
        "view",
    ),
    (&["repair", "validate"], "check"),
    (&["describe", "stat", "stats"], "info"),
];

/// Options that a command does not have because something else does the same. Each entry has the command
/// (empty for all commands), the options and the advice.
const ELSEWHERE: [(&str, &[&str], &str); 16] = [
    ("", &["--output-format"], "did you mean --format?"),
    (
        "convert",
        &["-o", "--output"],
        "the output is the second file: 'voxelize convert IN OUT'",
    ),
    (
        "clearance",
        &["--axes", "--matrix", "--rotate", "--scale", "--translate"],
        "transforms follow the name of a mesh: FILE@rotate=z,90",
    ),
    (
        "",
        &["--cut", "--clip", "--section", "--cutaway"],
        "'voxelize view MESH --bounds X0,Y0,Z0,X1,Y1,Z1' draws the cells of a box: a part cut open; --slice draws one layer",
    ),
    (
        "",
        &["--plate", "--build-plate"],
        "'voxelize view MESH --slice z=all --size WxH -o DIR/' draws layers on a plate",
    ),
    (
        "",
        &["--palette", "--colours", "--colors", "--vertex-colors"],
        "--labels colour takes the colours of the mesh",
    ),
    ("", &["--sdf", "--esdf"], "--rule distance --signed"),
    (
        "",
        &["--dilate", "--expand", "--grow", "--inflate", "--thicken"],
        "--rule distance --signed --band all --iso R grows the part by R; --rule offset --radius R marks both sides of the surface and leaves the inside empty",
    ),
    (
        "",
        &["--deflate", "--erode", "--shrink"],
        "--rule distance --signed --iso -R shrinks the part by R",
    ),
    (
        "",
        &["--force", "--overwrite", "--clobber"],
        "no option is needed: an existing file that -o names is replaced",
    ),
    (
        "",
        &["-i", "--in", "--input"],
        "input files are named without an option: 'voxelize MESH -o FILE'",
    ),
    (
        "",
        &["--grid", "--grid-size"],
        "-r N sets the number of cells along the longest axis, --dims X,Y,Z that of each axis; --like FILE uses the grid of a file",
    ),
    (
        "",
        &["--cuda", "--device", "--gpu"],
        "leave it out: voxelize runs on the CPU",
    ),
    ("", &["--interior", "--inner"], "--filled fills the inside"),
    (
        "",
        &["--watertight"],
        "'voxelize check MESH' tests whether a mesh is closed; --filled fills the inside",
    ),
    (
        "",
        &["--marching-cubes", "--to-mesh"],
        "-o FILE.stl or FILE.ply writes the faces of the cells",
    ),
];

/// Names that other tools use for a format, each with the name of the format.
const FORMAT_SYNONYMS: [(&str, &str); 4] = [
    ("gltf", "glb"),
    ("nifti", "nii"),
    ("numpy", "npy"),
    ("schematic", "schem"),
];

/// Returns the name of the format that `word` probably means: a name with a dot, a similar name or a synonym.
/// `None` if no format is similar.
pub fn format(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('.').to_ascii_lowercase();
    if let Some((_, name)) = FORMAT_SYNONYMS.iter().find(|(other, _)| *other == word) {
        return Some(name);
    }
    let names = || FORMATS.iter().map(|format| format.name);
    names()
        .find(|name| *name == word)
        .or_else(|| nearest(&word, names()))
}

/// Returns the option that `option` probably means. `near` is the proposal of clap, which may be far from the
/// word.
pub fn option(option: &str, near: Option<&str>, command: &clap::Command) -> Option<String> {
    let word = option.strip_prefix("--")?;
    if let Some(name) = near.and_then(|near| near.strip_prefix("--"))
        && is_like(word, name)
    {
        return Some(format!("--{name}"));
    }
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let names: Vec<_> = shown.filter_map(|arg| arg.get_long()).collect();
    nearest(word, names).map(|name| format!("--{name}"))
}

/// Returns `true` if one name contains the other, or if at most a third of the letters differ.
fn is_like(word: &str, name: &str) -> bool {
    let longest = word.chars().count().max(name.chars().count());
    word.contains(name) || name.contains(word) || 3 * strsim::osa_distance(word, name) <= longest
}

/// Returns advice for a value that is not one of `known`, the possible values of an option.
pub fn value(option: &str, value: &str, known: &[String]) -> Option<String> {
    let name = option.split([' ', '=']).next().unwrap_or_default();
    if name == "--rule" && ["esdf", "sdf"].contains(&value) {
        return Some("--rule distance --signed".to_string());
    }
    let near = match name {
        "--format" => format(value),
        _ => nearest(value, known.iter().map(String::as_str)),
    };
    let near = near.filter(|near| known.iter().any(|name| name == near))?;
    Some(format!("did you mean {near}?"))
}

/// Returns `true` if `path` is the name of a unit of length and of no file.
pub fn is_unit(path: &Path) -> bool {
    let names = || UnitOfLength::ALL.iter().map(|unit| unit.name());
    names().any(|name| path.as_os_str() == name) && !path.exists()
}

/// Returns advice for an option that `command` does not have. `None` if there is no advice.
pub fn for_option(option: &str, command: &clap::Command) -> Option<String> {
    let name = command.get_name();
    for (only, options, advice) in ELSEWHERE {
        if (only.is_empty() || only == name) && options.contains(&option) {
            return Some(advice.to_string());
        }
    }
    let long = option.strip_prefix("--")?;
    if has_option(command, "rule") && RULES.iter().any(|rule| rule.name == long) {
        return Some(format!("did you mean --rule {long}?"));
    }
    for other in COMMANDS {
        if has_option(&other.parser(), long) {
            let other = if other.name.is_empty() {
                "MESH"
            } else {
                other.name
            };
            return Some(format!("'voxelize {other}' has {option}"));
        }
    }
    None
}

fn has_option(command: &clap::Command, long: &str) -> bool {
    command
        .get_arguments()
        .any(|arg| arg.get_long() == Some(long) && !arg.is_hide_set())
}

/// Pairs of exclusive options that users combine when they want something else, with the advice for them.
const TOGETHER: [(&str, &str, &str); 2] = [
    (
        "--origin",
        "--dims",
        "for a grid with a given corner, use --bounds X0,Y0,Z0,X1,Y1,Z1 --voxel-size S: the high corner is the low corner + \
         number of cells x S",
    ),
    (
        "--like",
        "--voxel-size",
        "to cover the same box with cells of another size, use --voxel-size, and --bounds with the corners that 'voxelize info \
         FILE' prints",
    ),
];

/// Returns advice for two options that exclude each other. Each argument is an option with the name of its
/// value.
pub fn for_pair(one: &str, other: &str) -> Option<&'static str> {
    for (a, b, advice) in TOGETHER {
        if one.starts_with(a) && other.starts_with(b) || one.starts_with(b) && other.starts_with(a)
        {
            return Some(advice);
        }
    }
    None
}

/// Returns the command that was probably meant if `path` is similar to the name of a command or is a synonym.
/// `None` for other words.
pub fn command(path: &Path) -> Option<&'static str> {
    let word = path
        .to_str()
        .filter(|word| !word.is_empty() && !word.contains(['.', '/', MAIN_SEPARATOR]))?;
    let synonym = SYNONYMS.iter().find(|(words, _)| words.contains(&word));
    let commands = || COMMANDS.iter().map(|command| command.name);
    // A correctly spelled command can only get here after `--`, where clap takes it for a mesh.
    commands()
        .find(|name| *name == word)
        .or_else(|| nearest(word, commands()))
        .or(synonym.map(|(_, command)| *command))
}

/// Returns the error for a mesh that does not exist. Its hint suggests what may have been meant.
pub fn not_found(path: &Path) -> Error {
    if let Some(name) = command(path) {
        let error = Error::usage(format!(
            "{} is neither a command nor a mesh",
            path.display()
        ));
        return error.with_hint(format!("did you mean 'voxelize {name}'?"));
    }
    if is_unit(path) {
        let error = Error::usage(format!("{} is not a mesh", path.display()));
        return error.with_hint(format!(
            "write a number and its unit without a blank, as in --voxel-size 0.5{}",
            path.display()
        ));
    }
    let error = no_such_file(path);
    let is_folder = path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR]);
    match error.hint() {
        None if !is_folder => error.with_hint("check the name; '-' reads standard input"),
        _ => error,
    }
}

/// Returns the error for a file that does not exist. Its hint suggests a file with a similar name.
pub fn no_such_file(path: &Path) -> Error {
    let is_folder = path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR]);
    let what = if is_folder {
        "no such folder"
    } else {
        "no such file"
    };
    let error = Error::input(Code::NotFound, what).in_file(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return error;
    };
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    // The extension is not counted, because an equal extension does not make two names similar.
    let extension = path.extension().map_or(0, |extension| extension.len() + 1);
    let is_like = |near: &&str| {
        let letters = name.chars().count().saturating_sub(extension).max(1);
        strsim::osa_distance(name, near) * 3 <= letters.max(3)
    };
    match nearest(name, names.iter().map(String::as_str)).filter(is_like) {
        Some(near) => error.with_hint(format!(
            "did you mean '{}'?",
            path.with_file_name(near).display()
        )),
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
    fn formats_are_found_by_similar_names() {
        for (word, found) in [
            ("npzz", Some("npz")),
            (".npz", Some("npz")),
            ("gltf", Some("glb")),
            ("nifti", Some("nii")),
            ("fbx", None),
            ("json", None),
        ] {
            assert_eq!(format(word), found, "{word}");
        }
    }

    #[test]
    fn words_for_what_a_command_does_find_it() {
        let found = |word: &str| command(Path::new(word));
        assert_eq!(
            (found("collide"), found("compare")),
            (Some("clearance"), Some("diff"))
        );
        assert_eq!(
            (found("render"), found("fromats"), found("collide.stl")),
            (Some("view"), Some("formats"), None)
        );
    }
}
