//! Options that choose among the variants of a format. Formats whose choice has the same name share one
//! option.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use voxelize::format::{Choice, FORMATS};

/// Choices that the call requests.
#[derive(Debug, Default)]
pub struct ChoiceArgs(pub Vec<Choice>);

/// Returns the names of the formats that offer this choice, separated by commas.
pub fn givers(choice: Choice) -> String {
    let names: Vec<_> = FORMATS
        .iter()
        .filter(|f| f.choices.contains(&choice))
        .map(|f| f.name)
        .collect();
    names.join(", ")
}

fn arg(all: &[Choice]) -> Option<Arg> {
    let first = *all.first()?;
    let arg = Arg::new(first.option())
        .long(first.option())
        .help_heading("Output")
        .hide_short_help(true);
    let about = |choice: &Choice| format!("{} ({})", choice.about(), givers(*choice));
    let Some(_) = first.value() else {
        let mut text = about(&first);
        text[..1].make_ascii_uppercase();
        return Some(arg.action(ArgAction::SetTrue).help(text));
    };
    let values = |choice: &Choice| {
        choice
            .value()
            .map(|value| PossibleValue::new(value).help(about(choice)))
    };
    let text: Vec<_> = all
        .iter()
        .filter_map(|c| Some(format!("{}: {}", c.value()?, about(c))))
        .collect();
    Some(
        arg.value_name("WHICH")
            .value_parser(PossibleValuesParser::new(all.iter().filter_map(values)))
            .hide_possible_values(true)
            .help(format!("{} [default: none]", text.join("; "))),
    )
}

impl Args for ChoiceArgs {
    fn augment_args(command: Command) -> Command {
        Choice::ALL
            .chunk_by(|a, b| a.option() == b.option())
            .filter_map(arg)
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChoiceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_chosen = |choice: &&Choice| match choice.value() {
            Some(value) => matches
                .get_one::<String>(choice.option())
                .is_some_and(|word| word == value),
            None => matches.get_flag(choice.option()),
        };
        Ok(Self(
            Choice::ALL.iter().filter(is_chosen).copied().collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
