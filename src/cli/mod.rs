//! The command line: argv → options → prepared → outputs → report. It uses only what the library offers
//! everyone.

mod args;
mod argv;
mod batch;
mod check;
mod clearance;
mod command;
mod contents;
mod convert;
mod diff;
mod diff_fields;
mod files;
mod formats;
mod guard;
mod help;
mod info;
mod memory;
mod meshes;
mod options;
mod output;
mod pages;
mod pipes;
mod progress;
mod regions;
mod report;
mod run;
mod schedule;
mod signals;
mod suggest;
mod verify;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};

use args::ReportArgs;
use args::values::ColourWhen;
use argv::Argv;
use command::{Call, Command};
use guard::guarded;
use report::{Printer, Report, ReportOptions, Verbosity, show};
use run::RunReport;
use signals::Signals;

/// Every command, in the order of the help; the first is the one without a name.
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
    regions::PLAN,
    regions::FINISH,
    pages::COMPLETIONS,
    pages::MAN,
];

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(start(std::env::args_os()))
}

/// Runs the command line of these words, the first of which is the name of the program, and returns its exit code.
pub fn start(words: impl IntoIterator<Item = OsString>) -> u8 {
    guard::install();
    signals::survive_limits();
    dispatch(words, &Signals::default(), Instant::now())
}

fn dispatch(words: impl IntoIterator<Item = OsString>, signals: &Signals, started: Instant) -> u8 {
    let (argv, command) = parse_command(words);
    let report_options =
        |matches: &ArgMatches| ReportArgs::from_arg_matches(matches).map(|args| args.options());
    let parsed = argv.parse().and_then(|matches| Ok((report_options(&matches)?, matches)));
    let (options, result) = match parsed {
        Ok((options, matches)) => (options, Ok(matches)),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => return show(&help::version()),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => {
            return show(&format!("{}\n", e.render().to_string().trim()));
        }
        Err(e) => {
            let is_coloured = ColourWhen::Auto.is_on();
            let options = ReportOptions { verbosity: Verbosity::Normal, json: argv.json(), is_coloured };
            (options, Err(argv.error(&e)))
        }
    };
    let printer = Printer::new(options, command.schema(), signals).with_memory_meant(argv.memory_meant());
    let call = |matches| Call::new(&argv, matches, &printer, signals, started);
    match result.and_then(|matches| guarded(|| (command.run)(&call(matches)))) {
        Ok(reports) => reports.iter().for_each(|report| printer.print(report)),
        Err(error) => printer.print(&Report::of(|report| {
            if command.name.is_empty() {
                run::fill_object(report, None, None, &RunReport::new(started));
            }
            Err(error)
        })),
    }
    printer.finish()
}

/// Whether this process calls one command after the other and looks for panics: nothing is printed, signals are not
/// caught, and panics go on.
static IS_FUZZING: AtomicBool = AtomicBool::new(false);

fn is_fuzzing() -> bool {
    IS_FUZZING.load(Ordering::Relaxed)
}

/// Does what words ask for, once or a thousand times in one process: for fuzzing. From then on nothing is printed.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    IS_FUZZING.store(true, Ordering::Relaxed);
    dispatch(words, &Signals::default(), Instant::now())
}

/// The words, and the command among them.
fn parse_command<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> (Argv, &'static Command) {
    let names: Vec<_> = COMMANDS.iter().map(|command| command.name).filter(|name| !name.is_empty()).collect();
    let argv = Argv::new(words, args::command(), &names);
    let command = match argv.command() {
        None if argv.has_word("region") => &regions::REGION,
        name => COMMANDS.iter().find(|one| one.name == name.unwrap_or_default()).unwrap_or(&meshes::COMMAND),
    };
    (argv.with_parser(help::parser(command, COMMANDS)), command)
}

/// The meaning of a command line without a look at any file: for fuzzing.
pub enum DryRun {
    /// Help, version.
    Page(String),
    /// Another command would be called.
    Command(&'static str),
    /// Rows for people, or the error as it is printed; and the line of JSON.
    Report { error: Option<voxelize::Error>, text: String, json: String, exit_code: u8 },
}

/// The report of a dry run of `mesh` for these words.
pub fn dry_run(words: impl IntoIterator<Item = impl Into<OsString>>, mesh: &voxelize::Mesh) -> DryRun {
    IS_FUZZING.store(true, Ordering::Relaxed);
    let (argv, command) = parse_command(words);
    let matches = match argv.parse() {
        Err(e) if e.kind() == ErrorKind::DisplayHelp => return DryRun::Page(e.render().to_string()),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => return DryRun::Page(help::version()),
        Ok(_) if !command.name.is_empty() => return DryRun::Command(command.name),
        parsed => parsed.map_err(|e| argv.error(&e)),
    };
    let signals = Signals::default();
    let options = ReportOptions { verbosity: Verbosity::Verbose, json: None, is_coloured: false };
    let printer = Printer::new(options, command.schema(), &signals);
    let report = Report::of(|report| {
        let call = Call::new(&argv, matches?, &printer, &signals, Instant::now());
        meshes::prepare(&call, mesh, report)
    });
    let exit_code = report.outcome.exit_code(None);
    let (error, text) = match &report.outcome {
        report::Outcome::Failed(error) => (Some(error.clone()), report::error_text("", error)),
        _ => (None, report.err.clone()),
    };
    DryRun::Report { error, text, json: printer.json_line(&report), exit_code }
}
