//! Errors for people: one voice for the parser's errors and ours, and the exit codes.

use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use voxelize::codes::{self, Outcome};
use voxelize::{Error, Kind};

use super::typed::Typed;

/// The code for a run that did what was asked.
pub const OK: u8 = 0;

/// The code for a question that was answered with no.
pub const NO: u8 = 1;

/// The code for many of which some failed, for different reasons.
const MIXED: u8 = 7;

/// The exit code of many: that of those which failed, if it is the same.
pub fn common_code(codes: impl IntoIterator<Item = u8>) -> u8 {
    let mut failed = codes.into_iter().filter(|code| *code != OK);
    let first = failed.next().unwrap_or(OK);
    if failed.all(|code| code == first) { first } else { MIXED }
}

/// The exit code for an error; `signal` is the number of the signal that interrupted the run.
pub fn exit_code(error: &Error, signal: Option<u8>) -> u8 {
    /// What shells report for an interrupt from the keyboard, SIGINT.
    const SIGINT: u8 = 2;
    match error.kind() {
        Kind::Usage => 2,
        Kind::Input => 3,
        Kind::Unfit => 4,
        Kind::TooLarge => 5,
        Kind::Interrupted => 128 + signal.unwrap_or(SIGINT),
        // Output; and what is yet unknown is no fault of question or input.
        _ => 6,
    }
}

/// Whether the reader of our output went away, which is no error to speak of.
pub fn is_closed_pipe(error: &Error) -> bool {
    error.code() == "closed-pipe"
}

/// Says `error: …` and `hint: …` on stderr.
pub fn print(error: &Error) {
    // If stderr is gone there is nobody left to tell.
    let _ = std::io::stderr().write_all(text("", error).as_bytes());
}

/// `error: …` and `hint: …`, a line each; `about` stands before what is wrong.
pub fn text(about: &str, error: &Error) -> String {
    let hint = hint(error).map(|hint| harmless(&format!("hint: {hint}")) + "\n");
    harmless(&format!("error: {about}{error}")) + "\n" + &hint.unwrap_or_default()
}

/// One line without anything that a terminal would obey: names of files may hold that, and line ends.
pub fn harmless(line: &str) -> String {
    line.replace(char::is_control, "\u{fffd}")
}

const LENIENT: &str = "export it again, or copy it again whole; --lenient takes what is whole";

/// What to do about an error: its own hint, or what always helps.
pub fn hint(error: &Error) -> Option<&str> {
    let general = match error.kind() {
        Kind::Usage => Some("'voxelize -h' shows every option"),
        // Findings of the readers: the file itself is wrong.
        Kind::Input if error.code() == "S004" => Some("--lenient drops such triangles and counts them"),
        Kind::Input if ["V002", "V003", "V005", "V007", "V008", "V009"].contains(&error.code()) => {
            Some("the file is damaged: make it again, or copy it again whole")
        }
        Kind::Input if error.code() != "S002" => match codes::of(error.code()) {
            Some(row) if row.usual == Outcome::Noted => Some("without --strict it is read all the same"),
            Some(row) if row.lenient == Outcome::Warned => Some(LENIENT),
            Some(_) if error.code().starts_with('S') => {
                Some("the file is damaged: export it again, or copy it again whole")
            }
            _ => Some("'voxelize formats' lists what is read"),
        },
        Kind::Input => Some("'voxelize formats' lists what is read"),
        Kind::TooLarge => Some("make the cells larger, or raise --max-memory"),
        Kind::Output => Some("-o PATH writes elsewhere"),
        _ => None,
    };
    error.hint().or(general)
}

/// `error` with `hint`, unless it has one that says more.
pub fn or_hint(error: Error, hint: &str) -> Error {
    if error.hint().is_some() { error } else { error.with_hint(hint) }
}

/// `error` with `prefix: ` before its message: the option it is about.
pub fn about(prefix: &str, error: &Error) -> Error {
    behind(&format!("{prefix}: "), error)
}

/// `error` with `prefix` before its message.
pub fn behind(prefix: &str, error: &Error) -> Error {
    let message = format!("{prefix}{}", error.message());
    let new = match error.kind() {
        Kind::Usage => Error::usage(message),
        Kind::Unfit => Error::unfit(message),
        Kind::TooLarge => Error::too_large(message),
        Kind::Output => Error::output(message),
        _ => return error.clone(),
    };
    match error.hint() {
        Some(hint) => new.with_hint(hint),
        None => new,
    }
}

/// An error of the parser in our words.
pub fn from_clap(error: &clap::Error, typed: &Typed) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(list)) => list.first().cloned(),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(&option, text(ContextKind::SuggestedArg), typed),
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.join(" and "),
                _ => option,
            };
            Error::usage(format!("{missing}: not given"))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            let error = Error::usage(format!("{} needs a value", spelled(&option, typed)));
            with_example(error, &option)
        }
        ErrorKind::InvalidValue => {
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.join(", "),
                _ => String::new(),
            };
            Error::usage(format!("{} {value}: no such value", spelled(&option, typed)))
                .with_hint(format!("it is one of {known}"))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
            let error = Error::usage(format!("{} {value}: {why}", spelled(&option, typed)));
            with_example(error, &option)
        }
        ErrorKind::ArgumentConflict => conflict(&option, &text(ContextKind::PriorArg), typed),
        _ => Error::usage(first_line(error)),
    }
}

/// The error for a word that no option has.
fn unknown(word: &str, similar: Option<String>, typed: &Typed) -> Error {
    if !word.starts_with('-') {
        return too_many(word, typed);
    }
    if word == "--labels" {
        let error = Error::usage("--labels: meshes are not told apart within one grid");
        return error.with_hint("-o DIR/ makes a grid of each, --same-grid on the same cells");
    }
    let error = Error::usage(format!("{word}: no such option"));
    match similar {
        Some(similar) => error.with_hint(format!("did you mean {similar}?")),
        None => error,
    }
}

/// The error for a word where no more are expected; only verbs take so few.
fn too_many(word: &str, typed: &Typed) -> Error {
    let verb = typed.verb().map_or("voxelize", |verb| verb.name);
    Error::usage(format!("{word}: one word too many for {verb}"))
}

/// The error for two options that exclude each other, or one that was given twice.
fn conflict(option: &str, prior: &Option<String>, typed: &Typed) -> Error {
    let first = spelled(option, typed);
    match prior.as_deref().map(|prior| spelled(prior, typed)) {
        Some(second) if second != first => exclusive(&first, &second),
        Some(_) => Error::usage(format!("{first} is given twice")).with_hint("give it once"),
        None => Error::usage(format!("{first} cannot be used here")),
    }
}

/// The error for two options, as typed, that exclude each other.
pub fn exclusive(first: &str, second: &str) -> Error {
    Error::usage(format!("{first} and {second} exclude each other")).with_hint("give one of them")
}

/// `--voxel-size <S>` of the parser as it was typed: `--pitch`.
fn spelled(option: &str, typed: &Typed) -> String {
    let word = option.split([' ', '=', '[']).next().unwrap_or(option);
    word.strip_prefix("--").map_or_else(|| word.to_string(), |long| typed.name(long))
}

/// What a good value looks like, for options where that is not plain.
fn with_example(error: Error, option: &str) -> Error {
    const EXAMPLES: [&str; 13] = [
        "--res 256",
        "--voxel-size 0.5 or --voxel-size 0.5,0.5,1",
        "--dims 32,32,32",
        "--origin -0.5,0,0",
        "--bounds -1,0,0,1,1,1",
        "--pad 1",
        "--threads 4",
        "--max-memory 4G",
        "--output part.npz",
        "--files-from list.txt",
        "--format npz",
        "--allow 10",
        "--iou-min 0.999",
    ];
    let name = option.split(' ').next().unwrap_or(option);
    match EXAMPLES.iter().find(|example| example.split(' ').next() == Some(name)) {
        Some(example) => error.with_hint(format!("such as {example}")),
        None => error,
    }
}

/// The parser's own sentence, for what has no case above.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}
