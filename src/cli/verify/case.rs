//! The options of a case: only options that decide its cells, as typed on the command line; and the
//! paths of a list, relative to it, with forward slashes, so that a checkout elsewhere finds the same files.

use std::path::{Component, Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use voxelize::{Error, Result};

use super::super::args::{GridArgs, RuleArgs};
use super::super::argv::Argv;
use super::super::files::located;
use super::super::meshes;
use super::super::parse::usage_error;

/// The options that decide the cells of a case.
#[derive(Debug, Parser)]
#[command(name = "voxelize", disable_help_flag = true, disable_version_flag = true)]
pub struct CaseArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub rule: RuleArgs,
}

impl CaseArgs {
    /// The options in `text`, and the words they are for messages.
    pub fn parse(text: &str) -> Result<(Self, Argv)> {
        let words = shlex::split(text).ok_or_else(|| {
            Error::usage("a quote is not closed").with_hint("close it, or write \\\" for a quote")
        })?;
        let mut command = Self::command().no_binary_name(true);
        let matches = command
            .try_get_matches_from_mut(words)
            .map_err(|error| refusal(&error).unwrap_or_else(|| usage_error(&error, &command)))?;
        let argv = Argv::new(matches, None);
        Ok((argv.args()?, argv))
    }
}

/// Why a word is not an option of a case, where the command itself has it.
fn refusal(error: &clap::Error) -> Option<Error> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    if !word.starts_with('-') {
        return Some(no_option(word));
    }
    let command = meshes::COMMAND.parser();
    let is_it = |arg: &&clap::Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short() == word.chars().nth(1),
    };
    let known = command.get_arguments().find(is_it)?;
    let (why, hint) = match known.get_help_heading() {
        Some("Output") => ("a case writes no file and prints nothing", "remove it"),
        Some("Run") => ("is not part of a case: it changes no cell", "give it to 'voxelize verify' itself"),
        _ => ("is not part of a case", "remove it"),
    };
    Some(Error::usage(format!("{word}: {why}")).with_hint(hint))
}

fn no_option(word: &str) -> Error {
    Error::usage(format!("{word}: is not an option; a case names its mesh under the key mesh"))
        .with_hint("remove it")
}

/// Words as one text, quoted where they need it.
pub fn joined(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<_> = words.into_iter().collect();
    // Words of a command line hold no NUL, which is all that cannot be quoted.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// CaseOptions options as a list in `folder` writes them: the file that --like names is relative to it.
///
/// # Errors
/// As those of [`relative`].
pub fn relocated(options: &str, folder: &Path) -> Result<String> {
    let mut words = shlex::split(options).unwrap_or_default();
    if let Some(at) = words.iter().position(|word| word == "--like") {
        words[at + 1] = relative(folder, Path::new(&words[at + 1]))?;
    }
    Ok(joined(words))
}

/// `text` with each option spelled as [`CaseOptions`] does; as it is, if it makes no sense.
pub fn spelled(text: &str) -> String {
    let spell = |words| {
        let matches = CaseArgs::command().no_binary_name(true).try_get_matches_from(words).ok()?;
        Some(CaseOptions::from_arg_matches(&matches).ok()?.text())
    };
    shlex::split(text).and_then(spell).unwrap_or_else(|| text.to_string())
}

/// The options of a case as they were given to the verb, in one spelling each.
pub struct CaseOptions(Option<String>);

impl CaseOptions {
    /// The text; empty if no option was given.
    pub fn text(self) -> String {
        self.0.unwrap_or_default()
    }

    /// The text, if an option was given.
    pub fn given(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromArgMatches for CaseOptions {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let command = CaseArgs::command();
        let mut found = vec![];
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            if matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
                continue;
            }
            found.push(format!("--{}", arg.get_long().unwrap_or(id)));
            for value in matches.get_raw(id).into_iter().flatten().filter(|_| arg.get_action().takes_values())
            {
                let text = value.to_str().ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8));
                found.push(text?.to_string());
            }
        }
        Ok(Self(Some(joined(found)).filter(|text| !text.is_empty())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path that a list in `folder` means by `written`.
pub fn resolve(folder: &Path, written: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(written) } else { folder.join(written) }
}

/// How a list in `folder` writes the path `file`; as it is, where the two have nothing in common.
///
/// # Errors
/// If the path is not UTF-8, as a list is.
pub fn relative(folder: &Path, file: &Path) -> Result<String> {
    let whole =
        |path: &Path| if path.is_dir() { path.canonicalize().unwrap_or_default() } else { located(path) };
    let from = whole(folder);
    let to = whole(file);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return slashed(file);
    }
    let up = from[common..].iter().map(|_| Component::ParentDir);
    slashed(&up.chain(to[common..].iter().copied()).collect::<PathBuf>())
}

fn slashed(path: &Path) -> Result<String> {
    let text = path.to_str().ok_or_else(|| {
        let error = Error::usage("the name is not UTF-8, and a list of goldens holds nothing else");
        error.in_file(path).with_hint("rename the file")
    });
    Ok(text?.replace(std::path::MAIN_SEPARATOR, "/"))
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

    fn message(text: &str) -> String {
        CaseArgs::parse(text).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn options_are_read_as_typed() {
        let (options, typed) = CaseArgs::parse("-r 64 --pad=1 --ties both").unwrap();
        assert_eq!((options.grid.res, options.grid.pad), (Some(64), Some(1)));
        assert_eq!(typed.with_value("res").unwrap(), "--res 64");
        assert!(CaseArgs::parse("").is_ok() && CaseArgs::parse("--bounds '-1, 0, 0, 1, 1, 1'").is_ok());
    }

    #[test]
    fn what_is_no_part_of_a_case_is_refused_with_the_reason() {
        for (text, expected) in [
            ("-o a.npz", "-o: a case writes"),
            ("--json", "--json: a case writes"),
            ("-q", "-q: a case writes"),
            ("-j 4", "-j: is not part of a case: it changes no cell"),
            ("--max-memory 1G", "--max-memory: is not part of a case: it changes no cell"),
            ("--dry-run", "--dry-run: is not part of a case"),
            ("other.stl", "other.stl: is not an option"),
            ("formats", "formats: is not an option"),
            ("--rez 4", "unexpected argument '--rez' found"),
            ("--res 0", "invalid value '0' for '--res <N>': must be at least 1"),
            ("--res 4 --dims 1,1,1", "cannot be used with"),
            ("--res '4", "a quote is not closed"),
        ] {
            assert!(message(text).contains(expected), "{text}: {}", message(text));
        }
    }

    #[test]
    fn one_spelling_for_the_same_options() {
        for text in ["-r 64 --pad 1", "--pad=1 --res=64", "-r64 --pad 1"] {
            assert_eq!(spelled(text), "--res 64 --pad 1");
        }
        assert_eq!(spelled("--bounds '-1, 0,0,1,1,1' --cube"), "--bounds '-1, 0,0,1,1,1' --cube");
        assert_eq!(spelled("--pitch 0.5"), "--voxel-size 0.5");
        assert_eq!(spelled(""), "");
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
        assert_eq!(relative(&lists, &meshes.join("a.stl")), "../../meshes/a.stl");
        assert_eq!(relative(&lists, &lists.join("a.stl")), "a.stl");
        assert_eq!(relative(place.path(), &meshes.join("../meshes/a.stl")), "meshes/a.stl");
        assert_eq!(relative(&lists, &lists.join("new/er/a.npz")), "new/er/a.npz");
        let written = relative(&lists, &meshes.join("a.stl"));
        assert_eq!(resolve(&lists, &written), lists.join("../../meshes/a.stl"));
        assert_eq!(resolve(folder_of(Path::new("goldens.toml")), "a.stl"), Path::new("a.stl"));
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
