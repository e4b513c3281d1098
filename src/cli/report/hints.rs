//! Hints in the words of the command line: options as they are typed, calls in quotes.

use voxelize::error::Setting;
use voxelize::{Error, Hint, Kind, Opt};

/// The advice about an error: its own hint, or the advice of its code.
pub fn hint(error: &Error) -> Option<String> {
    let advice = || Hint::from(error.code().info().advice);
    let hint = error.hint().cloned().unwrap_or_else(advice);
    Some(hint.spelled(|set| Some(spelled(set)))).filter(|hint| !hint.is_empty())
}

/// The error with a hint that names only options of its command.
pub fn fitting(error: Error, options: fn(clap::Command) -> clap::Command) -> Error {
    let own = error.hint().cloned().filter(|hint| !hint.steps.is_empty());
    let Some(hint) =
        own.or_else(|| (error.kind() != Kind::Usage).then(|| error.code().info().advice.into()))
    else {
        return error;
    };
    let options = options(clap::Command::default());
    let has = |option: Opt| {
        options
            .get_arguments()
            .any(|arg| arg.get_long() == Some(option.name()))
    };
    let fitted = hint.spelled(|set| (is_call(set.option) || has(set.option)).then(|| spelled(set)));
    error.with_hint(fitted)
}

/// Whether it is a call of the tool, not an option of a command.
fn is_call(option: Opt) -> bool {
    use Opt::{Bin, Formats, Help, Info, Region, Update, Verify};
    matches!(
        option,
        Bin | Formats | Help | Info | Region | Update | Verify
    )
}

/// The option with its value, or the call in quotes, as a user writes it.
pub fn spelled(Setting { option, value }: &Setting) -> String {
    let words = match option {
        Opt::Bin => "'voxelize plan",
        Opt::Formats => "'voxelize formats",
        Opt::Help => "'voxelize --help",
        Opt::Info => "'voxelize info",
        Opt::Region => "'voxelize STORE --region",
        Opt::Update => "'voxelize verify --update",
        Opt::Verify => "'voxelize verify --help",
        Opt::NulNames => "-0",
        Opt::Output => "-o",
        Opt::OutputFormat => "-f",
        Opt::Threads => "-j",
        option => &format!("--{}", option.name()),
    };
    let space = if value.is_empty() { "" } else { " " };
    let end = if is_call(*option) { "'" } else { "" };
    format!("{words}{space}{value}{end}")
}
