//! Parsing of the command line to a call, a help page or a usage error. clap does the parsing. This file
//! converts clap's errors, and finds the command and the destination of the JSON if parsing fails.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use voxelize::{Error, Result};

use super::argv::{Argv, spelled};
use super::files::Destination;
use super::{COMMANDS, command, help, meshes, regions, suggest};

/// Result of parsing a command line.
pub enum Parsed {
    /// A help page, or the text of `--version`.
    Page(String),
    /// A call of a command, or a usage error of that command.
    Call(&'static command::Command, Result<Argv>),
}

/// Inserts the command name `region` into `STORE --region I/N`. Other command lines are returned unchanged.
pub fn with_region(words: impl IntoIterator<Item = impl Into<OsString>>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let has_region = words
        .iter()
        .any(|word| word.to_string_lossy().split('=').next() == Some("--region"));
    let has_command = words
        .iter()
        .any(|word| COMMANDS.iter().any(|command| word == command.name));
    if has_region && !has_command {
        words.insert(1, regions::REGION.name.into());
    }
    words
}

/// Parses a command line. The first of `words` is the name of the program.
pub fn parse(words: &[OsString]) -> Parsed {
    let mut tree = crate::cli::command_line_of(words);
    match tree.try_get_matches_from_mut(words) {
        Ok(matches) => call(&tree, matches),
        Err(error) => match error.kind() {
            ErrorKind::DisplayVersion => Parsed::Page(help::version()),
            ErrorKind::DisplayHelp => Parsed::Page(page(words)),
            _ => failed(words, &tree, &error),
        },
    }
}

/// Returns the call of the command that clap found. Options of the conversion must not precede the name of
/// another command.
fn call(tree: &Command, mut matches: ArgMatches) -> Parsed {
    let misplaced = tree.get_arguments().find(|arg| {
        let source = matches.value_source(arg.get_id().as_str());
        !arg.is_global_set() && source == Some(ValueSource::CommandLine)
    });
    let Some((name, matches)) = matches.remove_subcommand() else {
        return Parsed::Call(&meshes::COMMAND, Ok(Argv::new(matches, None)));
    };
    let command = crate::cli::command_of_name(&name).unwrap_or(&meshes::COMMAND);
    let argv = match misplaced {
        Some(arg) => Err(
            Error::usage(format!("{} is before the command {name}", spelled(arg))).with_hint(
                format!(
                    "options of a command follow its name: 'voxelize {name} --help' lists them"
                ),
            ),
        ),
        None => Ok(Argv::new(matches, Some(command.name))),
    };
    Parsed::Call(command, argv)
}

/// Returns the help page that the command line requests.
fn page(words: &[OsString]) -> String {
    match help::with_pages(crate::cli::command_line()).try_get_matches_from(words) {
        Ok(_) => String::new(),
        Err(page) => format!("{}\n", page.render().to_string().trim()),
    }
}

/// Returns the usage error for a command line that cannot be parsed, with the command that it probably calls.
fn failed(words: &[OsString], tree: &Command, error: &clap::Error) -> Parsed {
    let found = crate::cli::command_line_of(words)
        .ignore_errors(true)
        .try_get_matches_from(words);
    let name = match &found {
        Ok(matches) => matches.subcommand_name().unwrap_or_default(),
        Err(_) => "",
    };
    let first = words
        .iter()
        .skip(1)
        .find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    if let Some(first) = first.map(Path::new)
        && error.kind() == ErrorKind::UnknownArgument
        && name.is_empty()
        && !first.exists()
        && suggest::command(first).is_some()
    {
        return Parsed::Call(&meshes::COMMAND, Err(suggest::not_found(first)));
    }
    let command = crate::cli::command_of_name(name).unwrap_or(&meshes::COMMAND);
    let parser = tree.find_subcommand(name).unwrap_or(tree);
    Parsed::Call(command, Err(usage_error(error, parser)))
}

/// Returns the destination of `--json` for a command line that cannot be parsed.
pub fn json_destination(words: &[OsString]) -> Option<Destination> {
    for word in words.iter().filter_map(|word| word.to_str()) {
        match word.strip_prefix("--json=") {
            Some("") => return None,
            Some(file) => return Some(Destination::of(Path::new(file))),
            None if word == "--json" => return Some(Destination::Stdout),
            None if word == "--" => return None,
            None => {}
        }
    }
    None
}

/// Converts a clap error about the arguments of `command` to an error of this tool. Its hint is the advice on
/// how to correct the arguments.
pub fn usage_error(error: &clap::Error, command: &Command) -> Error {
    let usage = Error::usage(first_sentence(error));
    match advice(error, command) {
        Some(advice) => usage.with_hint(advice),
        None => usage,
    }
}

/// Returns the message of a clap error on one line, without the list of possible values.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<_> = paragraph
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("[possible values:"))
        .collect();
    lines.join(" ").trim_start_matches("error: ").to_string()
}

fn advice(error: &clap::Error, command: &Command) -> Option<String> {
    let option = context(error, ContextKind::InvalidArg).join(" ");
    match error.kind() {
        ErrorKind::UnknownArgument => {
            if let Some(advice) = suggest::for_option(&option, command) {
                return Some(advice);
            }
            let near = context(error, ContextKind::SuggestedArg);
            let near = suggest::option(&option, near.first().map(String::as_str), command)?;
            Some(format!("did you mean {near}?"))
        }
        ErrorKind::InvalidValue if !context(error, ContextKind::ValidValue).is_empty() => {
            let mut values = context(error, ContextKind::ValidValue);
            // The American spelling is accepted, but listing both spellings would not help.
            values.retain(|value| !value.ends_with("color"));
            if option.starts_with("--color ") {
                return Some(format!(
                    "use one of {}: the colour of messages; cells have the colours of the mesh with --labels colour",
                    values.join(", ")
                ));
            }
            let given = context(error, ContextKind::InvalidValue).join(" ");
            if let Some(advice) = suggest::value(&option, &given, &values) {
                return Some(advice);
            }
            Some(format!("use one of {}", values.join(", ")))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let arg = command
                .get_arguments()
                .find(|arg| arg.to_string() == option)?;
            match arg.get_long() {
                None => Some("the argument is an empty string; if it came from a shell variable, check that the variable is set".to_string()),
                Some(_) => Some(format!("{}: {}", spelled(arg), arg.get_help()?)),
            }
        }
        ErrorKind::ArgumentConflict => {
            let others = context(error, ContextKind::PriorArg);
            if others.iter().all(|other| *other == option) {
                return Some("give it once".to_string());
            }
            let advice = others
                .iter()
                .find_map(|other| suggest::for_pair(&option, other));
            Some(advice.unwrap_or("use only one of them").to_string())
        }
        _ => None,
    }
}

/// Returns the values of this kind that a clap error lists.
fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_without_parsing() {
        for (line, destination) in [
            ("--json --nonsense", Some(Destination::Stdout)),
            (
                "--nonsense --json=a.json",
                Some(Destination::File("a.json".into())),
            ),
            ("--json=", None),
            ("--jsonx -- --json", None),
        ] {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            assert_eq!(json_destination(&words), destination, "{line}");
        }
    }
}
