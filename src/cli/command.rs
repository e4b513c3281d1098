//! One command: its row in the table of all, and a call of it.

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

/// A command; the conversion is the one without a name.
pub struct Command {
    pub name: &'static str,
    /// One line about it for help: a phrase in lower case.
    pub about: &'static str,
    /// Examples for its page, a line each.
    pub examples: &'static str,
    /// Further text for its page, after the options.
    pub notes: &'static str,
    /// Keys of its JSON, after the keys of every object, for a call that fails before its work.
    pub empty: fn(Instant) -> Object,
    /// Adds its arguments to a parser; [`super::args::arguments`] adds those that every command has.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Does it. What can be printed earlier is; the rest is returned.
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
        // The comment of the struct of arguments is no description of the command.
        with_values((self.arguments)(parser))
            .about(self.about)
            .long_about(None)
    }
}

/// One call of a command.
pub struct Call<'a> {
    /// The options as they were typed, for messages.
    pub argv: &'a Argv,
    pub signals: &'a Signals,
    pub printer: &'a Printer,
    pub started: Instant,
    /// Every file of the call; the file of `--json` is among them from the first.
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

    /// The option of this id was typed.
    pub fn given(&self, option: &str) -> bool {
        self.argv.is_given(option)
    }

    /// Returns the resources of the work.
    pub fn resources(&self, max_memory: Option<u64>) -> Result<Resources> {
        Resources::new(&self.args::<PowerArgs>()?, max_memory)
    }

    /// Returns a progress bar for work that may take a while.
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
