//! The options of a case: those that decide its cells, as typed on the command line, and nothing else.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use voxelize::{Error, Result};

use super::super::args::{self, GridArgs, RuleArgs};
use super::super::errors;
use super::super::typed::Typed;
use super::paths;

/// What decides the cells of a case.
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
    ///
    /// # Errors
    /// If they are no options of a case.
    pub fn parse(text: &str) -> Result<(Self, Typed)> {
        let words = shlex::split(text).ok_or_else(|| {
            Error::usage("a quote is opened and not closed").with_hint("close it, or write \\\" for a quote")
        })?;
        let typed = Typed::new(std::iter::once("voxelize".to_string()).chain(words));
        if let Some(verb) = typed.verb() {
            return Err(no_option(verb.name));
        }
        let parsed = Self::command().try_get_matches_from(typed.words());
        let parsed = parsed.and_then(|mut matches| Self::from_arg_matches_mut(&mut matches));
        match parsed {
            Ok(options) => Ok((options, typed)),
            Err(e) => Err(refusal(&e).unwrap_or_else(|| errors::from_clap(&e, &typed))),
        }
    }
}

/// Why a word is no option of a case, where the command itself has it.
fn refusal(error: &clap::Error) -> Option<Error> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    if !word.starts_with('-') {
        return Some(no_option(word));
    }
    let command = args::command();
    let is_it = |arg: &&clap::Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short() == word.chars().nth(1),
    };
    let known = command.get_arguments().find(is_it)?;
    let (why, hint) = match known.get_help_heading() {
        Some("Output") => ("a case writes and says nothing", "remove it"),
        Some("Run") => ("is not part of a case: it changes no cell", "give it to 'voxelize verify' itself"),
        _ => ("is not part of a case", "remove it"),
    };
    Some(Error::usage(format!("{word}: {why}")).with_hint(hint))
}

fn no_option(word: &str) -> Error {
    Error::usage(format!("{word}: is no option; a case has one mesh, under its key mesh"))
        .with_hint("remove it")
}

/// Words as one text, quoted where they need it.
pub fn joined(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<_> = words.into_iter().collect();
    // Words of a command line hold no NUL, which is all that cannot be quoted.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// Spelled options as a list in `folder` writes them: the file that --like names is relative to it.
pub fn relocated(options: &str, folder: &Path) -> String {
    let mut words = shlex::split(options).unwrap_or_default();
    if let Some(at) = words.iter().position(|word| word == "--like") {
        words[at + 1] = paths::relative(folder, Path::new(&words[at + 1]));
    }
    joined(words)
}

/// `text` with each option spelled as [`Spelled`] does; as it is, if it makes no sense.
pub fn spelled(text: &str) -> String {
    let spell = |words| {
        let matches = CaseArgs::command().no_binary_name(true).try_get_matches_from(words).ok()?;
        Some(Spelled::from_arg_matches(&matches).ok()?.text())
    };
    shlex::split(text).and_then(spell).unwrap_or_else(|| text.to_string())
}

/// The options of a case as they were given to the verb, in one spelling each.
pub struct Spelled(Option<String>);

impl Spelled {
    /// The text; empty if no option was given.
    pub fn text(self) -> String {
        self.0.unwrap_or_default()
    }

    /// The text, if an option was given.
    pub fn given(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromArgMatches for Spelled {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let command = CaseArgs::command();
        let mut found = vec![];
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            if matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
                continue;
            }
            found.push(format!("--{}", arg.get_long().unwrap_or(id)));
            if arg.get_action().takes_values() {
                found.extend(
                    matches.get_raw(id).into_iter().flatten().map(|v| v.to_string_lossy().into_owned()),
                );
            }
        }
        Ok(Self(Some(joined(found)).filter(|text| !text.is_empty())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
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
        assert_eq!(typed.with_value("res").unwrap(), "-r 64");
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
            ("other.stl", "other.stl: is no option"),
            ("formats", "formats: is no option"),
            ("--rez 4", "--rez: no such option"),
            ("--res 0", "--res 0: must be at least 1"),
            ("--res 4 --dims 1,1,1", "exclude each other"),
            ("--res '4", "a quote is opened"),
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
}
