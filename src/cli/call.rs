//! One call of a verb: what it was given, and what it says: text for people on standard output, an
//! object of JSON for each answer, errors on stderr, and the exit code in the end.

use std::path::Path;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use serde_json::{Map, Value};
use voxelize::{Error, Kind, Result, par};

use super::args::{PowerArgs, TellArgs};
use super::bar::Bar;
use super::job::How;
use super::plan::{Telling, Voice};
use super::signals::Signals;
use super::tell;
use super::typed::{JsonTarget, Typed};
use super::verb::Verb;
use super::{errors, json};

/// One call of a verb.
pub struct Call<'a> {
    /// The words as they were typed, for messages.
    pub typed: &'a Typed,
    /// Whether to stop.
    pub signals: &'a Signals,
    /// How fast to work; the call already runs in its pool of threads.
    pub how: How,
    /// How much to say, and where to.
    pub telling: Telling,
    verb: &'static Verb,
    matches: ArgMatches,
    /// What is known for the answer to come.
    known: Map<String, Value>,
    /// The lines of JSON so far, for a file.
    lines: String,
    /// The exit code of each answer.
    codes: Vec<u8>,
    /// Whether it is known that the file for JSON is none of the others.
    kept: bool,
}

/// How an answer ends.
pub enum End {
    /// It was answered.
    Yes,
    /// It was answered, and the answer is one that ends with exit code 1.
    No,
    /// It failed, with this exit code.
    Failed(Error, u8),
}

/// Calls `verb` with what was typed, and gives the exit code.
pub fn call(verb: &'static Verb, typed: &Typed, signals: &Signals) -> u8 {
    let parsed = verb.command().try_get_matches_from(typed.words());
    let asked_for_help = |e: &clap::Error| e.kind() == ErrorKind::DisplayHelp;
    let call = match parsed {
        Err(e) if asked_for_help(&e) => return tell::show(&format!("{}\n", e.render().to_string().trim())),
        Err(e) => Err(errors::from_clap(&e, typed)),
        Ok(matches) => Call::new(verb, typed, signals, matches),
    };
    match call {
        Ok(call) => call.run(),
        Err(error) => refuse(verb, typed, &error),
    }
}

/// Says that the call makes no sense.
fn refuse(verb: &'static Verb, typed: &Typed, error: &Error) -> u8 {
    let error = with_page(verb, error.clone());
    let code = errors::exit_code(&error, None);
    errors::print(&error);
    let line = || json::verb_line(verb, &Map::new(), &End::Failed(error.clone(), code)) + "\n";
    match typed.json() {
        Some(JsonTarget::File(path)) if !tell::may_replace(&path, &error) => code,
        Some(target) => tell::write_json_after(&target, &line(), code),
        None => code,
    }
}

/// A wrong question, with the page that helps.
fn with_page(verb: &Verb, error: Error) -> Error {
    match (error.kind(), error.hint()) {
        (Kind::Usage, None) => {
            error.with_hint(format!("'voxelize {} --help' shows examples and every option", verb.name))
        }
        _ => error,
    }
}

impl<'a> Call<'a> {
    fn new(verb: &'static Verb, typed: &'a Typed, signals: &'a Signals, matches: ArgMatches) -> Result<Self> {
        let wrong = |e: clap::Error| errors::from_clap(&e, typed);
        let telling = Telling::new(&TellArgs::from_arg_matches(&matches).map_err(wrong)?, None);
        let how = How::new(&PowerArgs::from_arg_matches(&matches).map_err(wrong)?, None, typed)?;
        let (known, lines, codes, kept) = (Map::new(), String::new(), Vec::new(), false);
        Ok(Self { typed, signals, how, telling, verb, matches, known, lines, codes, kept })
    }

    fn run(mut self) -> u8 {
        let threads = self.how.threads;
        let result = par::with_threads(threads, || (self.verb.run)(&mut self)).and_then(|result| result);
        let refused = |error: &Error| match &self.telling.json {
            Some(JsonTarget::File(path)) => !self.kept && !tell::may_replace(path, error),
            _ => false,
        };
        let to_file = !result.as_ref().is_err_and(refused);
        if let Err(error) = result {
            self.fail(error);
        }
        let code = errors::common_code(self.codes.iter().copied());
        match &self.telling.json {
            Some(target @ JsonTarget::File(_)) if to_file => {
                tell::write_json_after(target, &self.lines, code)
            }
            _ => code,
        }
    }

    /// The arguments of the verb.
    ///
    /// # Errors
    /// If a value makes no sense, in the parser's words.
    pub fn args<A: FromArgMatches>(&self) -> Result<A> {
        A::from_arg_matches(&self.matches).map_err(|e| errors::from_clap(&e, self.typed))
    }

    /// Whether the option of this id was typed.
    pub fn given(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// A progress bar for work that may take a while.
    pub fn bar(&self) -> Bar {
        Bar::new(self.telling.voice, self.signals.clone())
    }

    /// From now on an interrupt ends the work cleanly: to be called before anything is written.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(&self) -> Result<()> {
        self.signals.listen().map_err(|e| Error::output(format!("cannot listen for signals: {e}")))
    }

    /// Makes sure that the JSON does not replace a file of this call.
    ///
    /// # Errors
    /// If it would, or cannot be written.
    pub fn keep(&mut self, files: &[(&Path, &str)]) -> Result<()> {
        if let Some(JsonTarget::File(path)) = &self.telling.json {
            tell::check_json_file(path, files)?;
        }
        self.kept = true;
        Ok(())
    }

    /// Whether text for people is wanted on standard output.
    pub fn prints(&self) -> bool {
        self.telling.json != Some(JsonTarget::Stdout) && self.telling.voice != Voice::Quiet
    }

    /// Notes a key of the answer to come.
    pub fn know(&mut self, key: &'static str, value: impl Into<Value>) {
        self.known.insert(key.to_string(), value.into());
    }

    /// Ends an answer: `text` for people, what is known for JSON.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn answer(&mut self, text: &str, end: &End) -> Result<()> {
        if self.prints() {
            tell::to_stdout(text)?;
        }
        self.close(end)
    }

    /// Ends an answer with an error, and goes on: for one of many.
    pub fn fail(&mut self, error: Error) {
        if errors::is_closed_pipe(&error) {
            return;
        }
        let error = with_page(self.verb, error);
        let code = errors::exit_code(&error, self.signals.caught());
        errors::print(&error);
        // The first failure is the one to report.
        let _ = self.close(&End::Failed(error, code));
    }

    fn close(&mut self, end: &End) -> Result<()> {
        self.codes.push(match end {
            End::Yes => errors::OK,
            End::No => errors::NO,
            End::Failed(_, code) => *code,
        });
        let known = std::mem::take(&mut self.known);
        let line = || json::verb_line(self.verb, &known, end) + "\n";
        match &self.telling.json {
            Some(JsonTarget::Stdout) => tell::to_stdout(&line())?,
            Some(JsonTarget::File(_)) => self.lines += &line(),
            None => {}
        }
        Ok(())
    }
}
