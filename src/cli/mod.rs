//! The command-line program. A call parses arguments into options, prepares the job, writes the outputs and
//! prints the report. The program uses only the public API of the library.

mod args;
mod argv;
mod batch;
mod check;
mod clearance;
mod command;
mod compared;
mod contents;
mod convert;
mod diff;
mod diff_fields;
mod explain;
mod files;
mod formats;
mod guard;
mod help;
mod info;
mod junit;
mod levels;
mod memory;
mod meshes;
mod names;
mod options;
mod output;
mod pages;
mod parse;
mod pipes;
mod progress;
mod regions;
mod report;
mod run;
mod scene;
mod schedule;
mod signals;
mod suggest;
mod verify;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use voxelize::Result;

use args::ReportArgs;
use args::values::ColourWhen;
use argv::Argv;
use command::{Call, Command};
use guard::guarded;
use parse::{Parsed, json_destination, parse, with_region};
use report::{Outcome, Printer, Report, ReportOptions, Verbosity, show};
use signals::Signals;

/// Commands in the order of the help page. The first one is the conversion, whose name is empty.
static COMMANDS: &[Command] = &[
    meshes::COMMAND,
    verify::COMMAND,
    check::COMMAND,
    diff::COMMAND,
    convert::COMMAND,
    clearance::COMMAND,
    info::COMMAND,
    view::COMMAND,
    formats::COMMAND,
    explain::COMMAND,
    regions::PLAN,
    regions::FINISH,
    pages::COMPLETIONS,
    pages::MAN,
];

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(start(std::env::args_os()))
}

/// Runs a command line and returns its exit code. The first of `words` is the name of the program.
pub fn start(words: impl IntoIterator<Item = OsString>) -> u8 {
    guard::install();
    signals::survive_limits();
    dispatch(words, &Signals::of_program(), Instant::now())
}

fn dispatch(words: impl IntoIterator<Item = OsString>, signals: &Signals, started: Instant) -> u8 {
    let words = with_region(words);
    let (command, result) = match parse(&words) {
        Parsed::Page(page) => return show(&page, signals),
        Parsed::Call(command, result) => (command, result),
    };
    let options = report_options(&result, &words);
    let printer = Printer::new(options, command.name, command.arguments, signals);
    let result = match result {
        Ok(argv) => guarded(|| (command.run)(&Call::new(&argv, &printer, signals, started))),
        Err(error) => Err(error),
    };
    let failed = |error| Report::new(&(command.empty)(started), Outcome::of(error));
    match result {
        Ok(reports) => reports.iter().for_each(|report| printer.print(report)),
        Err(error) => printer.print(&failed(error)),
    }
    printer.finish()
}

/// Returns the options of the report. If the command line cannot be parsed, only the destination of `--json`
/// is taken from it.
fn report_options(argv: &Result<Argv>, words: &[OsString]) -> ReportOptions {
    match argv.as_ref().map(Argv::args::<ReportArgs>) {
        Ok(Ok(args)) => args.options(),
        _ => ReportOptions {
            verbosity: Verbosity::Normal,
            json: json_destination(words),
            is_coloured: ColourWhen::Auto.is_on(),
        },
    }
}

/// Runs a command line inside another program, such as a fuzzer. Prints nothing and handles no signals.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    dispatch(words, &Signals::default(), Instant::now())
}

/// Result of parsing a command line, for fuzzing. It is found without access to files.
pub enum DryRun {
    /// Text of the help or of `--version`.
    Page(String),
    /// Name of a command other than the conversion.
    Command(&'static str),
    /// Report of the conversion: printed rows or printed error, and the line of JSON.
    Report {
        error: Option<voxelize::Error>,
        text: String,
        json: String,
        exit_code: u8,
    },
}

/// Returns the report of a dry run of `mesh` for this command line.
pub fn dry_run(
    words: impl IntoIterator<Item = impl Into<OsString>>,
    mesh: &voxelize::Mesh,
) -> DryRun {
    let (command, result) = match parse(&with_region(words)) {
        Parsed::Page(page) => return DryRun::Page(page),
        Parsed::Call(command, Ok(_)) if !command.name.is_empty() => {
            return DryRun::Command(command.name);
        }
        Parsed::Call(command, result) => (command, result),
    };
    let signals = Signals::default();
    let options = ReportOptions {
        verbosity: Verbosity::Verbose,
        json: None,
        is_coloured: false,
    };
    let printer = Printer::new(options, command.name, command.arguments, &signals);
    let started = Instant::now();
    let report = result
        .and_then(|argv| meshes::prepare(&Call::new(&argv, &printer, &signals, started), mesh))
        .unwrap_or_else(|error| Report::new(&(command.empty)(started), Outcome::of(error)));
    let exit_code = report.outcome.exit_code(None);
    let (error, text) = match &report.outcome {
        Outcome::Failed(error) => (Some(error.clone()), report::error_text("", error)),
        _ => (None, report.err.0.clone()),
    };
    DryRun::Report {
        error,
        text,
        json: printer.json_line(&report),
        exit_code,
    }
}

/// Returns the command of this name. Also finds `region`, which is not in the table.
fn command_of_name(name: &str) -> Option<&'static Command> {
    COMMANDS
        .iter()
        .chain([&regions::REGION])
        .find(|command| command.name == name)
}

/// Returns the parser of the whole command line: the conversion, with every named command as a subcommand.
fn command_line() -> clap::Command {
    tree(|_| true)
}

/// Returns a parser that is sufficient for this command line. Only commands whose name is in `words` get
/// their arguments, because adding the arguments of all commands takes a third of a millisecond.
fn command_line_of(words: &[OsString]) -> clap::Command {
    tree(|command| words.iter().any(|word| word == command.name))
}

/// Returns the parser of the command line. The conversion has its arguments, and so has each command for
/// which `is_complete` is true.
fn tree(is_complete: impl Fn(&Command) -> bool) -> clap::Command {
    let parser = |command: &Command| {
        if is_complete(command) {
            command.parser()
        } else {
            clap::Command::new(command.name)
        }
    };
    COMMANDS[0]
        .parser()
        .bin_name("voxelize")
        .subcommands(COMMANDS[1..].iter().map(parser))
        .subcommand(parser(&regions::REGION).hide(true))
}
