//! Reports of commands. Each command fills in one struct that derives `Serialize`. The struct becomes the
//! JSON, [`ReportRows`] holds the text, and the outcome decides the exit code. Only this module prints.

pub mod display;
mod hints;
pub mod value;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};
use voxelize::format::Written;
use voxelize::{Code, Error, Finding, Kind, Result, Severity};

use super::files::{Destination, is_pipe};
use super::guard::guarded;
use super::names::{Names, OutputFile, stdout_failure};
use super::signals::Signals;
use display::{bytes, coloured, sanitized, sanitized_json, sanitized_lines};
pub use hints::{fitting, hint, hint_text};

/// How much text is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only errors.
    Quiet,
    /// Errors, warnings and the summary.
    Normal,
    /// Errors, warnings, the summary, and the reasons for each choice.
    Verbose,
}

impl Verbosity {
    /// Returns `true` if a finding is printed. Notes are printed only in verbose runs, and quiet runs print
    /// no findings.
    pub fn prints(self, finding: &Finding) -> bool {
        match self {
            Self::Quiet => false,
            Self::Normal => finding.severity != Severity::Note,
            Self::Verbose => true,
        }
    }
}

/// Verbosity, destination of the JSON, and whether messages are coloured.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    pub verbosity: Verbosity,
    pub json: Option<Destination>,
    /// Messages on standard error are coloured.
    pub is_coloured: bool,
}

/// Outcome of a run.
#[derive(Debug, Clone, Default)]
pub enum Outcome {
    #[default]
    Done,
    /// A dry run found no error.
    Planned,
    /// The output exists already and is kept.
    Skipped,
    /// The program that reads the output closed the pipe.
    PipeClosed,
    /// The work is done, but a check failed. Contains the message. `None` if the rows contain the message.
    CheckFailed(Option<String>),
    Failed(Error),
}

impl Outcome {
    /// Returns the outcome of a run that stopped with `error`.
    pub fn of(error: Error) -> Self {
        if error.code() == Code::ClosedPipe {
            Self::PipeClosed
        } else {
            Self::Failed(error)
        }
    }

    /// Returns the status for the JSON.
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
/// Exit code if several inputs failed for different reasons.
const MIXED: u8 = 7;
/// Exit code for a bug. The number is `EX_SOFTWARE` of sysexits.
const INTERNAL: u8 = 70;

/// Returns the exit code for an error. `signal` is the signal that interrupted the run, if one did.
pub fn exit_code(error: &Error, signal: Option<u8>) -> u8 {
    /// Number of the signal that Ctrl-C sends.
    const SIGINT: u8 = 2;
    match error.kind() {
        Kind::Usage => 2,
        Kind::Input => 3,
        Kind::Unfit => 4,
        Kind::TooLarge => 5,
        Kind::Interrupted => 128 + signal.unwrap_or(SIGINT),
        Kind::Internal => INTERNAL,
        // Output errors, and any kind of error that was added later.
        _ => 6,
    }
}

/// Returns the exit code of several reports: the code that all failures share, otherwise the code of an
/// interrupt, otherwise [`MIXED`].
fn worst(codes: &[u8]) -> u8 {
    let failed: Vec<u8> = codes.iter().copied().filter(|code| *code != OK).collect();
    match failed.as_slice() {
        [] => OK,
        [first, rest @ ..] if rest.iter().all(|code| code == first) => *first,
        _ => failed.into_iter().find(|code| *code > 128).unwrap_or(MIXED),
    }
}

/// JSON object whose keys are ordered.
pub type Object = Map<String, Value>;

/// Result of a command for one file, case or mesh, as text and as JSON.
#[derive(Default)]
pub struct Report {
    /// Rows that the user requested. They go to standard output.
    pub out: ReportRows,
    /// Summary and warnings. They go to standard error.
    pub err: ReportRows,
    /// Text of the error. `None` for the default text.
    pub error_text: Option<String>,
    /// Result as JSON. `None` for a report that is only text, such as a total.
    object: Option<Object>,
    pub outcome: Outcome,
}

impl Report {
    /// Runs `work`, which fills in the result of its command step by step. If it fails, its rows are dropped.
    pub fn of<R: Default + Serialize>(
        work: impl FnOnce(&mut Self, &mut R) -> Result<Outcome>,
    ) -> Self {
        let mut report = Self::default();
        let mut result = R::default();
        match guarded(|| work(&mut report, &mut result)) {
            Ok(outcome) => report.outcome = outcome,
            Err(error) => {
                report = Self {
                    outcome: Outcome::of(error),
                    ..Self::default()
                }
            }
        }
        report.object = Some(object(&result));
        report
    }

    /// Creates a report without rows.
    pub fn new(result: &impl Serialize, outcome: Outcome) -> Self {
        Self {
            object: Some(object(result)),
            outcome,
            ..Self::default()
        }
    }

    /// Creates a report of rows only, such as a total over other reports.
    pub fn rows(out: String) -> Self {
        Self {
            out: ReportRows(out),
            ..Self::default()
        }
    }
}

/// Result of a command that has no keys of its own.
#[derive(Default, Serialize)]
pub struct NoResult {}

/// Returns a result as a JSON object.
pub fn object(result: &impl Serialize) -> Object {
    match serde_json::to_value(result) {
        Ok(Value::Object(object)) => object,
        other => unreachable!("a result is an object: {other:?}"),
    }
}

/// Returns the JSON object of a command whose work did not begin.
pub fn empty<R: Default + Serialize>(_started: Instant) -> Object {
    object(&R::default())
}

/// Lines of text. Most begin with a label of up to eight characters.
#[derive(Default)]
pub struct ReportRows(pub String);

impl ReportRows {
    pub fn row(&mut self, label: &str, text: impl Display) {
        self.line(format_args!("{label:<8}{text}"));
    }

    pub fn line(&mut self, text: impl Display) {
        self.0 += &sanitized(&text.to_string());
        self.0 += "\n";
    }

    /// Adds a row for each file written.
    pub fn wrote(&mut self, written: &[Written]) {
        for one in written {
            self.row(
                "wrote",
                format!("{}, {}", one.path.display(), bytes(one.bytes)),
            );
        }
    }

    /// Adds a warning or a note. `about` comes before its message.
    pub fn finding(&mut self, about: &str, finding: &Finding) {
        self.0 += &finding_line(about, finding);
    }

    /// Adds the findings that are printed at this verbosity. `about` comes before their messages.
    pub fn findings(&mut self, about: &str, findings: &[Finding], verbosity: Verbosity) {
        for finding in findings.iter().filter(|finding| verbosity.prints(finding)) {
            self.finding(about, finding);
        }
    }
}

/// Prints reports and decides the exit code.
pub struct Printer {
    pub options: ReportOptions,
    /// Name of the command. Empty for the conversion.
    command: &'static str,
    /// Adds the arguments of the command to a parser.
    arguments: fn(clap::Command) -> clap::Command,
    signals: Signals,
    state: Mutex<PrinterState>,
}

#[derive(Default)]
struct PrinterState {
    /// Lines of JSON so far, if they go to a file.
    lines: String,
    json_file: Option<OutputFile>,
    codes: Vec<u8>,
    /// The JSON file is known to differ from every other output.
    files_checked: bool,
    /// The first error of the call.
    error: Option<Error>,
    /// Nothing is written to standard output any more, either because a write failed or because the call runs
    /// inside another program.
    is_silent: bool,
}

impl Printer {
    pub fn new(
        options: ReportOptions,
        command: &'static str,
        arguments: fn(clap::Command) -> clap::Command,
        signals: &Signals,
    ) -> Self {
        let state = Mutex::new(PrinterState::new(signals));
        Self {
            options,
            command,
            arguments,
            signals: signals.clone(),
            state,
        }
    }

    /// Returns `true` if rows are printed.
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

    /// Creates the set of files of a call. The file of `--json` is registered first.
    pub fn names(&self) -> Names {
        let names = Names::new(&self.signals);
        if let Some(Destination::File(path)) = &self.options.json {
            let file =
                OutputFile::new(path, "the file of --json").hint("--json=FILE names another file");
            self.state().json_file = file.register(&names).ok();
        }
        names
    }

    /// Records that the JSON file differs from every other file of the call.
    pub fn files_are_checked(&self) {
        self.state().files_checked = true;
    }

    fn state(&self) -> MutexGuard<'_, PrinterState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn to_stderr(&self, text: &str) {
        if self.signals.is_program() {
            to_stderr(text, self.options.is_coloured);
        }
    }

    /// Prints a report.
    pub fn print(&self, report: &Report) {
        let _may_stall = self.signals.may_stall();
        let mut state = self.state();
        state
            .codes
            .push(report.outcome.exit_code(self.signals.caught()));
        let prints_rows = self.prints_rows();
        if prints_rows {
            // If the JSON goes to standard output, rows go to standard error.
            if self.options.json == Some(Destination::Stdout) {
                self.to_stderr(&report.out.0);
            } else {
                state.print(&sanitized_lines(&report.out.0));
            }
            self.to_stderr(&report.err.0);
        }
        match &report.outcome {
            Outcome::Failed(error) => {
                let error = self.with_page(error.clone());
                // If rows are printed, they already contain the error.
                if !prints_rows || report.out.0.is_empty() {
                    let text = report.error_text.clone();
                    self.to_stderr(&text.unwrap_or_else(|| error_text("", &error)));
                }
                state.error.get_or_insert(error);
            }
            Outcome::CheckFailed(Some(why)) => self.to_stderr(&format!("{}\n", sanitized(why))),
            _ => {}
        }
        if report.object.is_some() {
            match &self.options.json {
                Some(Destination::Stdout) => state.print(&(self.json_line(report) + "\n")),
                Some(Destination::File(_)) => state.lines += &(self.json_line(report) + "\n"),
                None => {}
            }
        }
    }

    /// Returns the JSON of a report as one line.
    pub fn json_line(&self, report: &Report) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            schema: u32,
            tool: Tool,
            #[serde(skip_serializing_if = "str::is_empty")]
            command: &'static str,
            status: &'static str,
            exit_code: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<value::Failure>,
            #[serde(flatten)]
            result: &'a Option<Object>,
        }
        #[derive(Serialize)]
        struct Tool {
            name: &'static str,
            version: &'static str,
        }
        let error = match &report.outcome {
            Outcome::Failed(error) => Some(value::Failure::from(&self.with_page(error.clone()))),
            _ => None,
        };
        let mut object = Value::Object(object(&Line {
            schema: 1,
            tool: Tool {
                name: "voxelize",
                version: env!("CARGO_PKG_VERSION"),
            },
            command: self.command,
            status: report.outcome.status(),
            exit_code: report.outcome.exit_code(self.signals.caught()),
            error,
            result: &report.object,
        }));
        clear_signs_of_zeros(&mut object);
        sanitized_json(&object.to_string())
    }

    /// Adds a hint that names the help page to a usage error without a hint. From the hint of any other
    /// error, removes steps whose options the command does not have.
    fn with_page(&self, error: Error) -> Error {
        let error = fitting(error, self.arguments);
        match (error.kind(), error.hint()) {
            (Kind::Usage, None) if !self.command.is_empty() => error.with_hint(format!(
                "'voxelize {} --help' shows examples and every option",
                self.command
            )),
            _ => error,
        }
    }

    /// Writes the file of `--json` and returns the exit code of the call.
    pub fn finish(&self) -> u8 {
        let is_safe = {
            let state = self.state();
            state.files_checked
                && state
                    .json_file
                    .as_ref()
                    .is_some_and(|file| !file.is_disputed())
        };
        if !is_safe {
            // The call ended before it registered its files, so the JSON file has not been compared with
            // them.
            self.names();
        }
        let state = self.state();
        let code = worst(&state.codes);
        let Some(file) = &state.json_file else {
            return code;
        };
        if !is_safe && !may_replace(file.path(), state.error.as_ref()) {
            return code;
        }
        match file.save_bytes("json", state.lines.as_bytes()) {
            // An error of the JSON file is printed only if nothing else failed.
            Err(error) if code == OK => {
                self.to_stderr(&error_text("", &error));
                exit_code(&error, None)
            }
            _ => code,
        }
    }
}

impl PrinterState {
    fn new(signals: &Signals) -> Self {
        Self {
            is_silent: !signals.is_program(),
            ..Self::default()
        }
    }

    fn print(&mut self, text: &str) {
        // If there is no text, standard output is not locked, because another thread may hold the lock while
        // its write is blocked.
        if self.is_silent || text.is_empty() {
            return;
        }
        if let Err(error) = to_stdout(text) {
            self.is_silent = true;
            to_stderr(&error_text("", &error), false);
            self.codes.push(exit_code(&error, None));
        }
    }
}

/// Clears the sign of every zero. In rounded sums and products the sign has no meaning.
fn clear_signs_of_zeros(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => {
            *value = 0.0.into()
        }
        Value::Array(values) => values.iter_mut().for_each(clear_signs_of_zeros),
        Value::Object(map) => map.values_mut().for_each(clear_signs_of_zeros),
        _ => {}
    }
}

/// Returns `true` if the JSON may be written to `path` although it was not compared with the other files. The
/// path must be free, a pipe or a device, or hold JSON of this tool. The error must not be about this path.
fn may_replace(path: &Path, error: Option<&Error>) -> bool {
    const OURS: &[u8] = br#"{"schema":"#;
    let is_ours = || {
        let mut start = Vec::new();
        let file = File::open(path).map(|file| file.take(OURS.len() as u64));
        file.and_then(|mut file| file.read_to_end(&mut start))
            .is_ok_and(|_| start == OURS)
    };
    let is_named = error.is_some_and(|error| error.file() == Some(&path.display().to_string()));
    // A pipe or a device has no content that could be lost, and reading it may block.
    let is_file = || path.metadata().is_ok_and(|found| found.is_file());
    !is_named && (!path.exists() || is_pipe(path) || is_file() && is_ours())
}

/// Returns the line of a finding, `warning[W006]: …`. `about` comes before the message.
pub fn finding_line(about: &str, finding: &Finding) -> String {
    let head = format!("{}[{}]", finding.severity.name(), finding.code());
    let hint = finding
        .first
        .hint()
        .map(|hint| format!("; {}", hint_text(hint)));
    sanitized(&format!(
        "{head}: {about}{}{}",
        finding.text(),
        hint.unwrap_or_default()
    )) + "\n"
}

/// Returns the code of an error, `[S004]`. Empty for a code in lower case, which is a word that would only repeat the
/// message.
pub fn code_text(error: &Error) -> String {
    let code = error.code().name();
    if code.starts_with(|c: char| c.is_ascii_uppercase()) {
        format!("[{code}]")
    } else {
        String::new()
    }
}

/// Returns the lines of an error, `error[S004]: …` and `hint: …`. `about` comes before the message.
pub fn error_text(about: &str, error: &Error) -> String {
    let hint = hint(error).map(|hint| sanitized(&format!("hint: {hint}")) + "\n");
    let code = code_text(error);
    sanitized(&format!("error{code}: {about}{error}")) + "\n" + &hint.unwrap_or_default()
}

/// Prints a page that the user requested, and returns the exit code.
pub fn show(text: &str, signals: &Signals) -> u8 {
    let mut state = PrinterState::new(signals);
    state.print(text);
    worst(&state.codes)
}

fn to_stderr(text: &str, is_coloured: bool) {
    let text = sanitized_lines(text);
    let text = if is_coloured { coloured(&text) } else { text };
    // If writing to standard error fails, there is nowhere to report it.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes to standard output. A closed pipe does not count as an error.
pub fn to_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(stdout_failure)
    {
        Err(error) if error.code() != Code::ClosedPipe => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zeros_have_no_sign() {
        let mut value = json!({"length": -0.0, "at": [-0.0, 1.5, -2.0, {"x": -0.0}], "count": 0, "name": "-0.0"});
        clear_signs_of_zeros(&mut value);
        assert_eq!(
            value.to_string(),
            json!({"length": 0.0, "at": [0.0, 1.5, -2.0, {"x": 0.0}], "count": 0, "name": "-0.0"})
                .to_string()
        );
    }
}
