//! The options that the user typed, and their names in messages.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, FromArgMatches};
use voxelize::job::{OPTIONS, Request};
use voxelize::{Error, Result};

/// Options that rotate the mesh. They are applied in the order in which they were typed.
const ROTATIONS: [&str; 2] = ["rotate", "rpy"];

/// The options that the user typed.
#[derive(Clone)]
pub struct Argv {
    matches: ArgMatches,
    /// Name of the command. `None` for the conversion, which has no name.
    command: Option<&'static str>,
}

impl Argv {
    pub fn new(matches: ArgMatches, command: Option<&'static str>) -> Self {
        Self { matches, command }
    }

    /// Returns the name of the command. `None` for the conversion, which has no name.
    pub fn command(&self) -> Option<&'static str> {
        self.command
    }

    /// Returns the arguments of the group `A`.
    pub fn args<A: FromArgMatches>(&self) -> Result<A> {
        A::from_arg_matches(&self.matches).map_err(|error| Error::usage(error.to_string()))
    }

    /// Returns `true` if the user typed the option with this clap id.
    pub fn is_given(&self, id: &str) -> bool {
        self.matches.try_contains_id(id).unwrap_or(false)
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Returns the request that the typed job options make.
    pub fn request(&self) -> Result<Request> {
        let mut request = Request::new(|name| format!("--{name}"));
        for option in OPTIONS {
            let id = option.name.replace('-', "_");
            if option.name == ROTATIONS[0] {
                for (name, text) in self.in_typed_order(&ROTATIONS) {
                    request.set(name, text)?;
                }
            }
            if !self.is_given(&id) || ROTATIONS.contains(&option.name) {
                continue;
            }
            // An option of a command may have the same name as a job option but another type.
            if let Ok(texts) = self.matches.try_get_many::<String>(&id) {
                for text in texts.into_iter().flatten() {
                    request.set(option.name, text)?;
                }
            } else if self.matches.try_get_one::<bool>(&id).is_ok() {
                request.set(option.name, "")?;
            } else if let Ok(Some(path)) = self.matches.try_get_one::<PathBuf>(&id) {
                request.set(option.name, &path.to_string_lossy())?;
                request.like = Some(path.clone());
            }
        }
        Ok(request)
    }

    /// Returns these options and their values in the order in which they were typed.
    fn in_typed_order(&self, names: &[&'static str]) -> Vec<(&'static str, &str)> {
        let mut typed = vec![];
        for name in names.iter().filter(|name| self.is_given(name)) {
            let places = self.matches.indices_of(name).into_iter().flatten();
            let texts = self.matches.get_many::<String>(name).into_iter().flatten();
            typed.extend(
                places
                    .zip(texts)
                    .map(|(place, text)| (place, (*name, text.as_str()))),
            );
        }
        typed.sort_by_key(|(place, _)| *place);
        typed.into_iter().map(|(_, option)| option).collect()
    }

    /// Returns the option with its value as typed, such as `--res 8192`. `None` if the option was not typed.
    pub fn with_value(&self, long: &str) -> Option<String> {
        let field = long.replace('-', "_");
        // The ids of most options have underscores, but the ids of format choices have hyphens.
        let id = if self.is_given(&field) { &field } else { long };
        if !self.is_given(id) {
            return None;
        }
        if self.matches.try_get_one::<bool>(id).is_ok() {
            return Some(format!("--{long}"));
        }
        let value = self.matches.get_raw(id)?.next()?;
        Some(format!("--{long} {}", value.to_string_lossy()))
    }
}

/// Returns an argument as help pages write it: `--res N`, `--json[=FILE]`, `MESH...`.
pub fn spelled(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string);
    match (arg.get_long(), value) {
        (None, value) => format!("{}...", value.unwrap_or_default()),
        (Some(long), Some(value)) if arg.is_require_equals_set() => format!("--{long}[={value}]"),
        (Some(long), Some(value)) if arg.get_action().takes_values() => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
    }
}

/// Returns the error for two options that exclude each other, worded like the errors of clap.
pub fn exclusive(first: &str, second: &str) -> Error {
    Error::usage(format!(
        "the argument '{first}' cannot be used with '{second}'"
    ))
    .with_hint("use only one of them")
}
