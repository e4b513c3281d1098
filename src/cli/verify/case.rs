//! Options of a case, and file paths in a list of goldens. A case has only options that decide the cells.
//! Paths are relative to the list and have forward slashes, so that a copy of the folder in another place
//! refers to the same files.

use std::path::{Component, Path, PathBuf};

use clap::{CommandFactory, Parser};
use voxelize::compare::{Case, CaseOption, CaseOptions};
use voxelize::grid::record::DRAIN;
use voxelize::job::{OptionValues, Request, option_of_field};
use voxelize::tool::text::sanitize;
use voxelize::{Code, Error, Result};

use crate::cli::args::{GridArgs, RuleArgs, with_values};
use crate::cli::argv::Argv;
use crate::cli::files::located;
use crate::cli::parse::usage_error;
use crate::cli::suggest;

/// Options that decide the cells of a case.
#[derive(Debug, Parser)]
#[command(
    name = "voxelize",
    disable_help_flag = true,
    disable_version_flag = true
)]
struct CaseArgs {
    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    rule: RuleArgs,
}

/// Parses the options of a case.
pub fn request(options: &CaseOptions) -> Result<Request> {
    let mut command = with_values(CaseArgs::command()).no_binary_name(true);
    let matches = command.try_get_matches_from_mut(options.words()?);
    let matches = matches.map_err(|error| usage_error(&error, &command))?;
    Argv::new(matches, None).request()
}

/// Fails for a key that is neither one of the fixed keys of a case nor an option that decides the cells.
pub fn check_keys(options: &CaseOptions) -> Result<()> {
    let command = CaseArgs::command();
    let known = command
        .get_arguments()
        .flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
    let known: Vec<_> = known.collect();
    for option in &options.0 {
        let name = option.name.as_str();
        if option.is_text() || known.contains(&name) {
            continue;
        }
        let hint = match suggest::nearest(name, known.iter().copied().chain(Case::KEYS)) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "the keys of a case are {}, and options that change the cells, such as res",
                Case::KEYS.join(", ")
            ),
        };
        let name = sanitize(name);
        let error = Error::input(Code::G003, format!("'{name}' is an unknown key")).with_hint(hint);
        return Err(option
            .line
            .map_or(error.clone(), |line| error.at_line(line)));
    }
    Ok(())
}

/// Returns the options of a case, spelled as [`given`] spells them. Invalid options are returned unchanged.
pub fn spelled(options: &CaseOptions) -> CaseOptions {
    request(options).map_or_else(|_| options.clone(), |request| given(&request))
}

/// Returns the options of a request under their long names.
pub fn given(request: &Request) -> CaseOptions {
    let mut options: Vec<CaseOption> = vec![];
    // A list has each key once, so rotations of two options are written as one list of rotations.
    let is_mixed = request.is_given("rotate") && request.is_given("rpy");
    for (option, text) in request.given() {
        if is_mixed && ["rotate", "rpy"].contains(&option.name) {
            if !options.iter().any(|other| other.name == "rotate") {
                options.push(CaseOption {
                    name: "rotate".to_string(),
                    values: request.rotate.iter().map(ToString::to_string).collect(),
                    line: None,
                });
            }
            continue;
        }
        let values = match option.values {
            OptionValues::Flag => vec![],
            _ => vec![text.clone()],
        };
        match options.last_mut() {
            Some(last) if last.name == option.name => last.values.extend(values),
            _ => options.push(CaseOption {
                name: option.name.to_string(),
                values,
                line: None,
            }),
        }
    }
    CaseOptions(options)
}

/// Returns the options of a request for a list in `folder`. The path of `--like` becomes relative to this
/// folder.
///
/// # Errors
/// Fails if the path is not UTF-8.
pub fn relocated(request: &Request, folder: &Path) -> Result<CaseOptions> {
    let mut options = given(request);
    if let Some(like) = &request.like {
        for option in options.0.iter_mut().filter(|option| option.name == "like") {
            option.values = vec![relative(folder, like)?];
        }
    }
    Ok(options)
}

/// Returns the options that produce these record fields. The field `variant` has an option as its value.
pub fn options_of(fields: impl IntoIterator<Item = (&'static str, String)>) -> Vec<CaseOption> {
    let mut options = vec![];
    for (field, value) in fields {
        let (name, text) = option_of_field(field, &value);
        let values = match field {
            "rotate" | DRAIN => text.split(';').map(str::to_string).collect(),
            "variant" if text.is_empty() => vec![],
            _ => vec![text.to_string()],
        };
        options.push(CaseOption {
            name,
            values,
            line: None,
        });
    }
    options
}

/// Returns the names by which `--only` knows a case: its title, and its mesh as a path, as a file name and without
/// its extension.
pub fn names(case: &Case) -> Vec<String> {
    let mesh = Path::new(&case.mesh);
    let mut names = vec![case.title(), case.mesh.clone()];
    for part in [mesh.file_name(), mesh.file_stem()] {
        names.extend(part.and_then(|name| name.to_str()).map(str::to_string));
    }
    names
}

/// Returns `true` if `--only NAME` names this case. The columns of a report may have several spaces between the mesh
/// and its options.
pub fn is_named(case: &Case, name: &str) -> bool {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let typed = words(name);
    names(case)
        .iter()
        .any(|known| known == name || words(known) == typed)
}

/// Returns the folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns the path of a file whose path in the list is `written`. The list is in `folder`.
pub fn resolve(folder: &Path, written: &str) -> PathBuf {
    if folder == Path::new(".") {
        PathBuf::from(written)
    } else {
        folder.join(written)
    }
}

/// Returns the path of `file` for a list in `folder`. If the two have no common folder, the path is not made
/// relative.
///
/// # Errors
/// Fails if the path is not UTF-8.
pub fn relative(folder: &Path, file: &Path) -> Result<String> {
    let [from, to] = [folder, file].map(|path| {
        if path.is_dir() {
            path.canonicalize().unwrap_or_default()
        } else {
            located(path)
        }
    });
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    if common == 0 {
        return slashed(file);
    }
    let mut path = PathBuf::new();
    for _ in from.components().skip(common) {
        path.push(Component::ParentDir);
    }
    path.extend(to.components().skip(common));
    slashed(&path)
}

fn slashed(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) => Ok(text.replace(std::path::MAIN_SEPARATOR, "/")),
        None => Err(
            Error::usage("the name is not UTF-8, but a list of goldens is UTF-8")
                .in_file(path)
                .with_hint("rename the file"),
        ),
    }
}

/// Returns `text` as a file name. Letters, digits and inner dots are kept, and everything between them
/// becomes a single dash.
pub fn slug(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric() && c != '.')
        .map(|word| word.trim_matches('.'));
    let slug = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    if slug.is_empty() {
        "case".to_string()
    } else {
        slug
    }
}

/// Returns `name` if it is unused, otherwise `name` with the lowest number that makes it unused: `name-2`.
pub fn unused(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut unused = name.to_string();
    let mut number = 1;
    while is_taken(&unused) {
        number += 1;
        unused = format!("{name}-{number}");
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options as a single text, which is how earlier versions wrote them.
    fn text(text: &str) -> CaseOptions {
        let values = vec![text.to_string()];
        CaseOptions(vec![CaseOption {
            name: "options".to_string(),
            values,
            line: None,
        }])
    }

    fn option(name: &str, value: &str) -> CaseOptions {
        let values = if value.is_empty() {
            vec![]
        } else {
            vec![value.to_string()]
        };
        CaseOptions(vec![CaseOption {
            name: name.to_string(),
            values,
            line: Some(7),
        }])
    }

    #[test]
    fn options_are_read_as_typed() {
        let typed = request(&text("-r 64 --pad=1 --ties both")).unwrap();
        assert_eq!((typed.res, typed.pad), (Some(64), Some([[1; 3]; 2])));
        assert_eq!(typed.written("res"), "--res 64");
        let typed = request(&option("res", "64")).unwrap();
        assert_eq!(typed.res, Some(64));
        assert_eq!(typed.written("res"), "--res 64");
        for options in [
            text(""),
            text("--bounds '-1, 0, 0, 1, 1, 1'"),
            option("translate", "-1,0,0"),
        ] {
            assert!(request(&options).is_ok(), "{options}");
        }
    }

    #[test]
    fn options_that_are_not_part_of_a_case_are_refused() {
        for (options, expected) in [
            (text("-o a.npz"), "unexpected argument '-o' found"),
            (
                text("--max-memory 1G"),
                "unexpected argument '--max-memory' found",
            ),
            (text("other.stl"), "unexpected argument 'other.stl'"),
            (text("formats"), "unexpected argument 'formats'"),
            (text("--rez 4"), "unexpected argument '--rez' found"),
            (
                text("--res 0"),
                "invalid value '0' for '--res <N>': must be at least 1",
            ),
            (text("--res 4 --dims 1,1,1"), "cannot be used with"),
            (text("--res '4"), "a quote is not closed"),
            (
                option("res", "0"),
                "invalid value '0' for '--res <N>': must be at least 1",
            ),
            (option("res", ""), "a value is required for '--res <N>'"),
        ] {
            let message = request(&options).map(drop).unwrap_err().to_string();
            assert!(message.contains(expected), "{options}: {message}");
            assert!(check_keys(&options).is_ok());
        }
        for (name, hint) in [
            ("rez", "did you mean res?"),
            ("mehs", "did you mean mesh?"),
            ("json", "keys of a case"),
        ] {
            let error = check_keys(&option(name, "1")).unwrap_err();
            assert_eq!(
                (error.code(), error.line()),
                (Code::G003, Some(7)),
                "{name}"
            );
            assert!(error.hint().unwrap().to_string().contains(hint), "{name}");
        }
        for name in ["", "=", "res=8", "res 8"] {
            assert!(check_keys(&option(name, "")).is_err(), "{name}");
        }
    }

    #[test]
    fn one_spelling_for_the_same_options() {
        let spelled = |words: &str| spelled(&text(words)).to_string();
        for text in ["-r 64 --pad 1", "--pad=1 --res=64", "-r64 --pad 1"] {
            assert_eq!(spelled(text), "--res 64 --pad 1");
        }
        assert_eq!(
            spelled("--bounds '-1, 0,0,1,1,1' --cube"),
            "--bounds '-1, 0,0,1,1,1' --cube"
        );
        assert_eq!(spelled("--pitch 0.5"), "--voxel-size 0.5");
        assert_eq!(
            spelled("--only a --only 'b c' --skip=-d"),
            "--only a --only 'b c' --skip -d"
        );
        assert_eq!(spelled(""), "");
    }

    #[test]
    fn records_become_options() {
        let fields = [
            ("variant", "hollow 2"),
            ("close_holes", "3"),
            ("variant", "keep-thin"),
        ];
        let options = options_of(fields.map(|(name, value)| (name, value.to_string())));
        assert_eq!(
            CaseOptions(options).to_string(),
            "--hollow 2 --close-holes 3 --keep-thin"
        );
    }

    #[test]
    fn paths_are_relative_to_the_list() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            std::fs::create_dir_all(place.path().join(name)).unwrap();
            place.path().join(name)
        };
        let lists = made("tests/lists");
        let meshes = made("meshes");
        let relative = |folder: &Path, file: &Path| relative(folder, file).unwrap();
        assert_eq!(
            relative(&lists, &meshes.join("a.stl")),
            "../../meshes/a.stl"
        );
        assert_eq!(relative(&lists, &lists.join("a.stl")), "a.stl");
        assert_eq!(
            relative(place.path(), &meshes.join("../meshes/a.stl")),
            "meshes/a.stl"
        );
        assert_eq!(
            relative(&lists, &lists.join("new/er/a.npz")),
            "new/er/a.npz"
        );
        let written = relative(&lists, &meshes.join("a.stl"));
        assert_eq!(resolve(&lists, &written), lists.join("../../meshes/a.stl"));
        assert_eq!(
            resolve(folder_of(Path::new("goldens.toml")), "a.stl"),
            Path::new("a.stl")
        );
    }

    #[test]
    fn names_are_plain_and_used_once() {
        assert_eq!(
            slug("meshes/part.stl --res 64 --pad 1"),
            "meshes-part.stl-res-64-pad-1"
        );
        assert_eq!(
            [slug("--"), slug("../x/.y"), slug("größe 0.5")],
            ["case", "x-y", "größe-0.5"]
        );
        let taken = ["a", "a-2"];
        assert_eq!(unused("a", |name| taken.contains(&name)), "a-3");
        assert_eq!(unused("b", |name| taken.contains(&name)), "b");
    }
}
