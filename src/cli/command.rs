//! One command: its row in the table of all, and a call of it.

use std::time::Instant;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use voxelize::Result;
use voxelize::job::Names;

use super::args::PowerArgs;
use super::argv::{self, Argv};
use super::memory::Resources;
use super::progress::Bar;
use super::report::{Printer, Report, Schema};
use super::signals::Signals;

/// A command; the conversion is the one without a name.
pub struct Command {
    pub name: &'static str,
    /// The words after its name in the line of usage.
    pub usage: &'static str,
    /// One line about it for help: a phrase in lower case.
    pub about: &'static str,
    /// Examples for its page, a line each.
    pub examples: &'static str,
    /// Further text for its page, after the options.
    pub notes: &'static str,
    /// The keys of its JSON, in order, after the keys of every object.
    pub keys: &'static str,
    /// Its arguments; `ReportArgs`, `PowerArgs` and `PageArgs` must be among them.
    pub arguments: fn() -> clap::Command,
    /// Does it. What can be printed earlier is; the rest is returned.
    pub run: fn(&Call) -> Result<Vec<Report>>,
}

impl Command {
    pub fn schema(&self) -> Schema {
        Schema {
            command: (!self.name.is_empty()).then_some(self.name),
            keys: self.keys,
            options: self.arguments,
        }
    }
}

/// One call of a command.
pub struct Call<'a> {
    /// The words as they were typed, for messages.
    pub argv: &'a Argv,
    pub signals: &'a Signals,
    pub printer: &'a Printer,
    pub started: Instant,
    /// Every file of the call; the file of `--json` is among them from the first.
    pub names: Names,
    matches: ArgMatches,
}

impl<'a> Call<'a> {
    pub fn new(
        argv: &'a Argv,
        matches: ArgMatches,
        printer: &'a Printer,
        signals: &'a Signals,
        started: Instant,
    ) -> Self {
        Self { argv, signals, printer, started, names: printer.names(), matches }
    }

    /// The arguments of the command.
    pub fn args<A: FromArgMatches>(&self) -> Result<A> {
        argv::from_matches(&self.matches, self.argv)
    }

    /// Whether the option of this id was typed.
    pub fn given(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// The resources of the work.
    pub fn resources(&self, power: &PowerArgs, max_memory: Option<u64>) -> Result<Resources> {
        Resources::new(power, max_memory, self.argv)
    }

    /// A progress bar for work that may take a while.
    pub fn bar(&self) -> Bar {
        Bar::new(self.printer.options.verbosity, self.signals.clone())
    }

    /// Makes sure that every output so far can be written, the file of `--json` included. This makes files for a moment,
    /// which a signal must not leave.
    pub fn check_files(&self) -> Result<()> {
        self.signals.listen()?;
        self.names.check()?;
        self.printer.files_are_checked();
        Ok(())
    }
}
