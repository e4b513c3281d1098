//! Entry of the table of commands, and the call of a command.

use std::time::Instant;

use clap::FromArgMatches;
use voxelize::Result;

use super::args::{PowerArgs, with_values};
use super::argv::Argv;
use super::memory::Resources;
use super::names::Names;
use super::progress::Bar;
use super::report::{Object, Printer, Report};
use super::signals::Signals;

/// Entry of the table of commands. The conversion has an empty name.
pub struct Command {
    pub name: &'static str,
    /// One line for the help page: a phrase in lower case.
    pub about: &'static str,
    /// Examples for the help page, one per line.
    pub examples: &'static str,
    /// Text of the help page after the options.
    pub notes: &'static str,
    /// Returns the JSON object for a call that fails before its work begins. It has all keys of the command.
    pub empty: fn(Instant) -> Object,
    /// Adds the arguments of the command to a parser. [`super::args::arguments`] adds the common options.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Runs the command. Returns the reports that it did not print itself.
    pub run: fn(&Call) -> Result<Vec<Report>>,
}

impl Command {
    /// Returns the parser of the command's arguments.
    pub fn parser(&self) -> clap::Command {
        let name = if self.name.is_empty() {
            "voxelize"
        } else {
            self.name
        };
        let parser = clap::Command::new(name)
            .disable_help_flag(true)
            .disable_version_flag(true);
        // Without this, clap would use the doc comment of the argument struct as the description.
        with_values((self.arguments)(parser))
            .about(self.about)
            .long_about(None)
    }
}

/// A call of a command by the user.
pub struct Call<'a> {
    /// Options as typed, for messages.
    pub argv: &'a Argv,
    pub signals: &'a Signals,
    pub printer: &'a Printer,
    pub started: Instant,
    /// Files that the call reads or writes, including the file of `--json`.
    pub names: Names,
}

impl<'a> Call<'a> {
    pub fn new(
        argv: &'a Argv,
        printer: &'a Printer,
        signals: &'a Signals,
        started: Instant,
    ) -> Self {
        Self {
            argv,
            signals,
            printer,
            started,
            names: printer.names(),
        }
    }

    /// Returns the arguments of the group `A`.
    pub fn args<A: FromArgMatches>(&self) -> Result<A> {
        self.argv.args()
    }

    /// Returns `true` if the user typed the option with this clap id.
    pub fn given(&self, option: &str) -> bool {
        self.argv.is_given(option)
    }

    /// Returns the threads, instruction set and memory that the work may use.
    pub fn resources(&self, max_memory: Option<u64>) -> Result<Resources> {
        Resources::new(&self.args::<PowerArgs>()?, max_memory)
    }

    /// Creates the progress bar for work that may take a while.
    pub fn bar(&self) -> Bar {
        Bar::new(self.printer.options.verbosity, self.signals.clone())
    }

    /// Checks that every output registered so far can be written, including the file of `--json`. The check
    /// creates files for a moment. Signals are handled from then on, so that an interrupt leaves none of them
    /// behind.
    pub fn check_files(&self) -> Result<()> {
        self.signals.listen()?;
        self.names.check()?;
        self.printer.files_are_checked();
        Ok(())
    }
}
