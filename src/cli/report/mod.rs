//! The report of a command: rows for people, an object for programs, and how it ended. Reports are printed
//! here, and turned into an exit code here.

pub mod display;
mod hints;
pub mod value;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use serde_json::{Map, Value, json};
use voxelize::grid::record::{FIELDS, INSIDE};
use voxelize::job::{Names, NewFile, OutFile};
use voxelize::{Code, Error, Finding, Kind, Result, Severity};

use super::files::{Destination, is_pipe};
use super::guard::guarded;
use super::is_fuzzing;
use super::signals::Signals;
use display::{coloured, sanitized, sanitized_json, sanitized_lines};
pub use hints::{fitting, hint, spelled};

/// How much is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors.
    Quiet,
    /// Errors, warnings and the summary.
    Normal,
    /// The choices made and their reasons, too.
    Verbose,
}

impl Verbosity {
    /// Whether a finding is printed: notes only where every detail is wanted.
    pub fn prints(self, finding: &Finding) -> bool {
        match self {
            Self::Quiet => false,
            Self::Normal => finding.severity != Severity::Note,
            Self::Verbose => true,
        }
    }
}

/// The verbosity, the destination of the JSON, and colour.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    pub verbosity: Verbosity,
    pub json: Option<Destination>,
    /// Whether messages are coloured.
    pub is_coloured: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Default)]
pub enum Outcome {
    #[default]
    Done,
    /// A dry run: all could be done.
    Planned,
    /// The output exists, and stays.
    Skipped,
    /// The reader of the output wants no more of it.
    PipeClosed,
    /// All is done, and a check failed; the sentence about it, unless the rows have it.
    CheckFailed(Option<String>),
    Failed(Error),
}

impl Outcome {
    /// How a run ends that stopped with `error`.
    pub fn of(error: Error) -> Self {
        if error.code() == Code::ClosedPipe { Self::PipeClosed } else { Self::Failed(error) }
    }

    /// The word for it in JSON.
    fn status(&self) -> &'static str {
        match self {
            Self::Done | Self::PipeClosed => "ok",
            Self::Planned => "planned",
            Self::Skipped => "skipped",
            Self::CheckFailed(_) => "failed",
            Self::Failed(_) => "error",
        }
    }

    pub fn exit_code(&self, signal: Option<u8>) -> u8 {
        match self {
            Self::CheckFailed(_) => CHECK_FAILED,
            Self::Failed(error) => exit_code(error, signal),
            Self::Done | Self::Planned | Self::Skipped | Self::PipeClosed => OK,
        }
    }
}

const OK: u8 = 0;
const CHECK_FAILED: u8 = 1;
/// Some of many failed, for different reasons.
const MIXED: u8 = 7;
/// A bug; the number is that of EX_SOFTWARE of sysexits.
const INTERNAL: u8 = 70;

/// The exit code for an error; `signal` is the number of the signal that interrupted the run.
pub fn exit_code(error: &Error, signal: Option<u8>) -> u8 {
    /// The number of the signal of an interrupt from the keyboard, as shells report it.
    const SIGINT: u8 = 2;
    match error.kind() {
        Kind::Usage => 2,
        Kind::Input => 3,
        Kind::Unfit => 4,
        Kind::TooLarge => 5,
        Kind::Interrupted => 128 + signal.unwrap_or(SIGINT),
        Kind::Internal => INTERNAL,
        // Output; an unknown kind is not a fault of command line or input.
        _ => 6,
    }
}

/// The exit code of a batch: an interrupt, else the code of the failures, if they have one in common.
fn worst(codes: &[u8]) -> u8 {
    let failed: Vec<u8> = codes.iter().copied().filter(|code| *code != OK).collect();
    match failed.as_slice() {
        [] => OK,
        [first, rest @ ..] if rest.iter().all(|code| code == first) => *first,
        _ => failed.into_iter().find(|code| *code > 128).unwrap_or(MIXED),
    }
}

/// The report of one file, case or mesh.
#[derive(Default)]
pub struct Report {
    /// Requested rows, to standard output.
    pub out: String,
    /// Summary and warnings, to stderr.
    pub err: String,
    /// How its error is printed, if not as errors are.
    pub error_text: Option<String>,
    /// The keys for JSON; `None` for rows such as a total.
    value: Option<Map<String, Value>>,
    pub outcome: Outcome,
}

impl Report {
    /// The report of `work`, which fills it in as far as it comes.
    pub fn of(work: impl FnOnce(&mut Self) -> Result<Outcome>) -> Self {
        let mut report = Self { value: Some(Map::new()), ..Self::default() };
        report.outcome = guarded(|| work(&mut report)).unwrap_or_else(Outcome::of);
        report
    }

    /// Rows about others, such as a total.
    pub fn rows(out: String) -> Self {
        Self { out, ..Self::default() }
    }

    /// Notes a key of the JSON.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.value.get_or_insert_default().insert(key.to_string(), value.into());
    }

    /// Adds a row with its label to what goes to standard output.
    pub fn row(&mut self, label: &str, text: &str) {
        row(&mut self.out, label, text);
    }
}

/// Adds a row with its label.
pub fn row(rows: &mut String, label: &str, text: &str) {
    *rows += &format!("{}\n", sanitized(&format!("{label:<8}{text}")));
}

/// The name and the keys of the objects of a command.
#[derive(Clone, Copy)]
pub struct Schema {
    /// The value of `command`; none for the conversion.
    pub command: Option<&'static str>,
    /// The keys after the keys of every object, in order. `[fields]` stands for the options of rules,
    /// `[options]` for the options before `inside`.
    pub keys: &'static str,
    /// Adds its options to a parser.
    pub options: fn(clap::Command) -> clap::Command,
}

impl Schema {
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        let options = FIELDS.into_iter().take_while(|name| *name != INSIDE);
        self.keys.split_whitespace().flat_map(move |key| match key {
            "[fields]" => FIELDS.to_vec(),
            "[options]" => options.clone().collect(),
            key => vec![key],
        })
    }
}

/// Prints reports, and gives the exit code in the end.
pub struct Printer {
    pub options: ReportOptions,
    schema: Schema,
    signals: Signals,
    state: Mutex<PrinterState>,
}

#[derive(Default)]
struct PrinterState {
    /// The lines of JSON so far, for a file.
    lines: String,
    json_file: Option<OutFile>,
    codes: Vec<u8>,
    /// Whether it is known that the file for JSON is none of the others.
    files_checked: bool,
    /// The first error.
    error: Option<Error>,
    /// Standard output failed, and is left alone.
    is_broken: bool,
}

impl Printer {
    pub fn new(options: ReportOptions, schema: Schema, signals: &Signals) -> Self {
        Self { options, schema, signals: signals.clone(), state: Mutex::default() }
    }

    /// Whether rows for people are wanted.
    pub fn prints_rows(&self) -> bool {
        match self.options.verbosity {
            Verbosity::Quiet => false,
            Verbosity::Normal => self.options.json != Some(Destination::Stdout),
            Verbosity::Verbose => true,
        }
    }

    pub fn is_verbose(&self) -> bool {
        self.options.verbosity == Verbosity::Verbose
    }

    /// The names of a call; the file of `--json` is the first.
    pub fn names(&self) -> Names {
        let names = Names::default();
        if let Some(Destination::File(path)) = &self.options.json {
            let file = NewFile::named(path, "the file of --json").hint("--json=FILE names another file");
            self.state().json_file = names.writes(file).ok();
        }
        names
    }

    /// From now on it is known that the file for JSON is none of the others.
    pub fn files_are_checked(&self) {
        self.state().files_checked = true;
    }

    fn state(&self) -> MutexGuard<'_, PrinterState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn to_stderr(&self, text: &str) {
        to_stderr(text, self.options.is_coloured);
    }

    /// Prints a report.
    pub fn print(&self, report: &Report) {
        let _may_stall = self.signals.may_stall();
        let mut state = self.state();
        let prints_rows = self.prints_rows();
        let to_stdout = self.options.json == Some(Destination::Stdout);
        let code = report.outcome.exit_code(self.signals.caught());
        state.codes.push(code);
        if prints_rows {
            // With JSON on standard output nothing else goes there.
            let (out, err) = if to_stdout {
                ("", [&*report.out, &*report.err].concat())
            } else {
                (&*report.out, report.err.clone())
            };
            state.print(&sanitized_lines(out));
            self.to_stderr(&err);
        }
        let error = match &report.outcome {
            Outcome::Failed(error) => Some(self.with_page(error.clone())),
            _ => None,
        };
        match (&report.outcome, &error) {
            // The rows have it.
            (Outcome::Failed(_), Some(_)) if prints_rows && !report.out.is_empty() => {}
            (Outcome::Failed(_), Some(error)) => {
                self.to_stderr(&report.error_text.clone().unwrap_or_else(|| error_text("", error)));
            }
            (Outcome::CheckFailed(Some(why)), _) => self.to_stderr(&format!("{}\n", sanitized(why))),
            _ => {}
        }
        let line = || self.json_line(report) + "\n";
        match &self.options.json {
            Some(Destination::Stdout) if report.value.is_some() => state.print(&line()),
            Some(Destination::File(_)) if report.value.is_some() => state.lines += &line(),
            _ => {}
        }
        state.error = state.error.take().or(error);
    }

    /// The object of a report, on one line.
    pub fn json_line(&self, report: &Report) -> String {
        let error = match &report.outcome {
            Outcome::Failed(error) => Some(self.with_page(error.clone())),
            _ => None,
        };
        let code = report.outcome.exit_code(self.signals.caught());
        let known = report.value.as_ref().into_iter().flatten();
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| drop(map.insert(key.to_string(), value));
        put("schema", json!(1));
        put("tool", json!({"name": "voxelize", "version": env!("CARGO_PKG_VERSION")}));
        if let Some(name) = self.schema.command {
            put("command", json!(name));
        }
        put("status", json!(report.outcome.status()));
        put("exit_code", json!(code));
        if let Some(error) = &error {
            put("error", value::error(error));
        }
        // The keys of the schema in their order, null if not known.
        self.schema.keys().for_each(|key| put(key, Value::Null));
        known.for_each(|(key, value)| put(key, value.clone()));
        let mut object = Value::Object(map);
        clear_signs_of_zeros(&mut object);
        sanitized_json(&object.to_string())
    }

    /// A usage error without a hint names the page of its command; other hints name only options that it has.
    fn with_page(&self, error: Error) -> Error {
        let error = fitting(error, self.schema.options);
        match (error.kind(), error.hint(), self.schema.command) {
            (Kind::Usage, None, Some(name)) => {
                error.with_hint(format!("'voxelize {name} --help' shows examples and every option"))
            }
            _ => error,
        }
    }

    /// Writes the file of `--json`, and gives the exit code.
    pub fn finish(&self) -> u8 {
        let is_safe = {
            let state = self.state();
            state.files_checked && state.json_file.as_ref().is_some_and(|file| !file.is_disputed())
        };
        if !is_safe {
            // Names of its own, where a call has none, or not all of them.
            self.names();
        }
        let state = self.state();
        let code = worst(&state.codes);
        let Some(file) = &state.json_file else { return code };
        if !is_safe && !may_replace(file.path(), state.error.as_ref()) {
            return code;
        }
        let _may_stall = self.signals.may_stall();
        match file.save_bytes("json", |out| out.write_all(state.lines.as_bytes())) {
            // The first failure is the one to report.
            Err(error) if code == OK => {
                self.to_stderr(&error_text("", &error));
                exit_code(&error, None)
            }
            _ => code,
        }
    }
}

impl PrinterState {
    fn print(&mut self, text: &str) {
        // Standard output may be held by a write to a pipe that nobody reads.
        if self.is_broken || text.is_empty() || is_fuzzing() {
            return;
        }
        if let Err(error) = to_stdout(text) {
            self.is_broken = true;
            to_stderr(&error_text("", &error), false);
            self.codes.push(exit_code(&error, None));
        }
    }
}

/// Clears the sign of every zero. Sums and products of rounding have signs that mean nothing.
fn clear_signs_of_zeros(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => *value = json!(0.0),
        Value::Array(values) => values.iter_mut().for_each(clear_signs_of_zeros),
        Value::Object(map) => map.values_mut().for_each(clear_signs_of_zeros),
        _ => {}
    }
}

/// Whether the JSON may go to `path` if `path` was not checked against the inputs: only if there is no
/// such file, or it is JSON of this kind, and not the very file that the error is about.
fn may_replace(path: &Path, error: Option<&Error>) -> bool {
    const OURS: &[u8] = br#"{"schema":"#;
    let is_ours = || {
        let mut start = Vec::new();
        let file = File::open(path).map(|file| file.take(OURS.len() as u64));
        file.and_then(|mut file| file.read_to_end(&mut start)).is_ok_and(|_| start == OURS)
    };
    let is_named = error.is_some_and(|error| error.file() == Some(&path.display().to_string()));
    // A pipe or a device holds nothing that could be lost, and may give its first byte never or for ever.
    let is_file = || path.metadata().is_ok_and(|found| found.is_file());
    !is_named && (!path.exists() || is_pipe(path) || is_file() && is_ours())
}

/// `warning[W006]: …`; `about` stands before the message.
pub fn finding_line(about: &str, finding: &Finding) -> String {
    let head = format!("{}[{}]", finding.severity.name(), finding.code());
    let hint = finding.first.hint().map(|hint| format!("; {}", hint.spelled(|set| Some(spelled(set)))));
    sanitized(&format!("{head}: {about}{}{}", finding.text(), hint.unwrap_or_default())) + "\n"
}

/// `error[S004]: …` and `hint: …`, a line each; `about` stands before the message.
pub fn error_text(about: &str, error: &Error) -> String {
    let hint = hint(error).map(|hint| sanitized(&format!("hint: {hint}")) + "\n");
    // Names that are words say no more than the message.
    let code = error.code().name();
    let code =
        if code.starts_with(|c: char| c.is_ascii_uppercase()) { format!("[{code}]") } else { String::new() };
    sanitized(&format!("error{code}: {about}{error}")) + "\n" + &hint.unwrap_or_default()
}

/// Prints a requested text, and returns the exit code.
pub fn show(text: &str) -> u8 {
    let mut state = PrinterState::default();
    state.print(text);
    worst(&state.codes)
}

fn to_stderr(text: &str, is_coloured: bool) {
    if is_fuzzing() {
        return;
    }
    let text = sanitized_lines(text);
    let text = if is_coloured { coloured(&text) } else { text };
    // If stderr is gone nobody is left to read it.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes to standard output, where a closed pipe is not an error.
pub fn to_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(stdout_failure) {
        Err(error) if error.code() != Code::ClosedPipe => Err(error),
        _ => Ok(()),
    }
}

/// The error for standard output that cannot be written.
pub fn stdout_failure(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::closed_pipe(),
        _ => Error::output(format!("standard output cannot be written: {error}"))
            .with_hint("redirect it to a place that can"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_no_sign() {
        let mut value =
            json!({"length": -0.0, "at": [-0.0, 1.5, -2.0, {"x": -0.0}], "count": 0, "name": "-0.0"});
        clear_signs_of_zeros(&mut value);
        assert_eq!(
            value.to_string(),
            json!({"length": 0.0, "at": [0.0, 1.5, -2.0, {"x": 0.0}], "count": 0, "name": "-0.0"})
                .to_string()
        );
    }
}
