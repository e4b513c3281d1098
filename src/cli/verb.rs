//! The verbs: words that are not meshes. One file each, with its arguments and what it does; here is
//! their table, by which help, messages and the command itself know them.

use clap::Command;
use voxelize::Result;

use super::call::Call;
use super::{diff, formats, info, verify, view};

/// One verb.
pub struct Verb {
    /// The word.
    pub name: &'static str,
    /// What follows it, for the line of usage.
    pub usage: &'static str,
    /// One line about it for help: a phrase in lower case.
    pub about: &'static str,
    /// Examples for its page, a line each.
    pub examples: &'static str,
    /// What else its page says, behind the options.
    pub notes: &'static str,
    /// The keys of its JSON, in their order, after those that every object has.
    pub keys: &'static [&'static str],
    /// Its arguments; `TellArgs`, `PowerArgs` and `PageArgs` must be among them.
    pub arguments: fn() -> Command,
    /// Does it, and tells what it finds through the call.
    pub run: fn(&mut Call) -> Result<()>,
}

/// Every verb, in the order of the help.
pub static VERBS: &[Verb] = &[verify::VERB, diff::VERB, info::VERB, view::VERB, formats::VERB];

impl Verb {
    /// Its arguments, with a page of help.
    pub fn command(&self) -> Command {
        let Self { name, usage, about, examples, notes, .. } = self;
        let examples: String = examples.lines().map(|line| format!("\n  {line}")).collect();
        let (first, rest) = about.split_at(1);
        let about = first.to_uppercase() + rest;
        let head = format!("{about}.\n\nUsage: voxelize {name} {usage}\n{examples}");
        (self.arguments)()
            .name("voxelize")
            .help_template("{before-help}{all-args}{after-help}")
            .before_help(head)
            .after_help(*notes)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .max_term_width(100)
    }
}
