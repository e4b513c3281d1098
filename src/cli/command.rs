//! A command in the table of commands, and a call of a command.

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

/// Command. The conversion has no name.
pub struct Command {
    pub name: &'static str,
    /// Line for help: a phrase in lower case.
    pub about: &'static str,
    /// Examples for the help page, one per line.
    pub examples: &'static str,
    /// Text of the help page after the options.
    pub notes: &'static str,
    /// Returns the keys of the JSON of a call that fails before its work.
    pub empty: fn(Instant) -> Object,
    /// Adds the arguments to a parser. [`super::args::arguments`] adds the common options.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Runs the command. Returns the reports that were not printed earlier.
    pub run: fn(&Call) -> Result<Vec<Report>>,
}

impl Command {
    /// Returns the parser of its arguments.
    pub fn parser(&self) -> clap::Command {
        let name = if self.name.is_empty() {
            "voxelize"
        } else {
            self.name
        };
        let parser = clap::Command::new(name)
            .disable_help_flag(true)
            .disable_version_flag(true);
        // Keeps clap from using the comment of the struct as the description.
        with_values((self.arguments)(parser))
            .about(self.about)
            .long_about(None)
    }
}

/// Call of a command.
pub struct Call<'a> {
    /// Options as typed, for messages.
    pub argv: &'a Argv,
    pub signals: &'a Signals,
    pub printer: &'a Printer,
    pub started: Instant,
    /// Files of the call, including the file of `--json`.
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

    /// Returns a group of arguments of the command.
    pub fn args<A: FromArgMatches>(&self) -> Result<A> {
        self.argv.args()
    }

    /// Returns `true` if the option of this id was typed.
    pub fn given(&self, option: &str) -> bool {
        self.argv.is_given(option)
    }

    /// Returns the resources of the work.
    pub fn resources(&self, max_memory: Option<u64>) -> Result<Resources> {
        Resources::new(&self.args::<PowerArgs>()?, max_memory)
    }

    /// Creates a progress bar for work that may take a while.
    pub fn bar(&self) -> Bar {
        Bar::new(self.printer.options.verbosity, self.signals.clone())
    }

    /// Checks that every output registered so far can be written, including the file of `--json`.
    /// Creates files for a moment, which a signal must not leave behind.
    pub fn check_files(&self) -> Result<()> {
        self.signals.listen()?;
        self.names.check()?;
        self.printer.files_are_checked();
        Ok(())
    }
}
