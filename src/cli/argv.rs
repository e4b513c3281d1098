//! The words of a command line, in addition to their parsing: the command among them, where `--json` goes if parsing
//! fails, the names that options were typed with, and the parser's errors in our words.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use voxelize::{Error, RULES, Result};

use super::COMMANDS;
use super::args::transform::TransformArgs;
use super::files::Destination;
use super::suggest;

/// A command line.
#[derive(Clone)]
pub struct Argv {
    /// All words but the name of the command; that of the program first.
    words: Vec<OsString>,
    /// The first of them that is neither an option nor the value of one.
    first: Option<PathBuf>,
    /// The command that was typed, and all that there are.
    command: Option<&'static str>,
    pub commands: Vec<&'static str>,
    parser: Command,
}

/// An option as it was typed.
struct Typed {
    long: String,
    /// `-r`, `--pitch`.
    name: String,
    value: String,
}

impl Argv {
    /// These words; the first that is not an option of `main` may be one of `commands`.
    pub fn new(
        words: impl IntoIterator<Item = impl Into<OsString>>,
        main: Command,
        commands: &[&'static str],
    ) -> Self {
        let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let first_word = |words: &[OsString]| scan(words, &main).1;
        // As many tools have it: `voxelize help view`.
        if let Some(help) =
            first_word(&words).filter(|at| words[*at] == "help" && !Path::new("help").exists())
        {
            words[help] = "--help".into();
        }
        let at = first_word(&words);
        let command = at.and_then(|at| commands.iter().copied().find(|name| words[at] == *name));
        let first = at.map(|at| if command.is_some() { words.remove(at) } else { words[at].clone() });
        Self { words, first: first.map(Into::into), command, commands: commands.to_vec(), parser: main }
    }

    /// These arguments, seen by the parser of the command that was typed.
    pub fn with_parser(self, parser: Command) -> Self {
        Self { parser, ..self }
    }

    /// The command: the first word that is not an option, if it is the name of one.
    pub fn command(&self) -> Option<&'static str> {
        self.command
    }

    /// Whether `--long` is among the words, whatever options there are.
    pub fn has_word(&self, long: &str) -> bool {
        let words = self.words.iter().skip(1).map(|word| word.to_string_lossy());
        let is_it =
            |word: &str| word.strip_prefix("--").map(|word| word.split('=').next()) == Some(Some(long));
        words.take_while(|word| word != "--").any(|word| is_it(&word))
    }

    pub fn parse(&self) -> std::result::Result<ArgMatches, clap::Error> {
        self.parser.clone().try_get_matches_from(&self.words)
    }

    /// Where `--json` sends the JSON, found without parsing: for when parsing failed.
    pub fn json(&self) -> Option<Destination> {
        let words = self.words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
        words.filter_map(|word| word.strip_prefix("--json")).find_map(|rest| match rest.strip_prefix('=') {
            None if rest.is_empty() => Some(Destination::Stdout),
            Some(file) if !file.is_empty() => Some(Destination::of(Path::new(file))),
            _ => None,
        })
    }

    /// The option called `long` by the name it was typed with: `-r`, `--pitch`.
    pub fn name(&self, long: &str) -> String {
        self.find(long).map_or_else(|| format!("--{long}"), |typed| typed.name)
    }

    /// The option with its value as typed, `-r 8192`; `None` if it was not.
    pub fn with_value(&self, long: &str) -> Option<String> {
        let typed = self.find(long)?;
        // A flag has no value.
        Some(if typed.value.is_empty() { typed.name } else { format!("{} {}", typed.name, typed.value) })
    }

    /// The likely meaning of `--max-memory 64`, where 64 bytes are too few: a letter is missing.
    pub fn memory_meant(&self) -> Option<String> {
        let typed = self.with_value("max-memory")?;
        let bytes: u64 = typed.split(' ').next_back()?.parse().ok()?;
        // The program itself takes most of 17 MiB.
        (17..1 << 16).contains(&bytes).then(|| format!("did you mean {typed}M?"))
    }

    fn find(&self, long: &str) -> Option<Typed> {
        scan(&self.words, &self.parser).0.into_iter().find(|typed| typed.long == long)
    }

    /// An error of the parser in our words.
    pub fn error(&self, error: &clap::Error) -> Error {
        let strings = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(list)) => list.clone(),
            _ => Vec::new(),
        };
        let first = |kind| strings(kind).into_iter().next();
        let option = first(ContextKind::InvalidArg).unwrap_or_default();
        let value = first(ContextKind::InvalidValue).unwrap_or_default();
        let name = self.as_typed(&option);
        match error.kind() {
            ErrorKind::UnknownArgument => self.unknown(&option),
            ErrorKind::MissingRequiredArgument => {
                Error::usage(format!("{}: not given", strings(ContextKind::InvalidArg).join(" and ")))
            }
            ErrorKind::InvalidValue if value.is_empty() && !name.starts_with('-') => {
                Error::usage("'' is not the name of a file").with_hint("a shell variable may be empty")
            }
            ErrorKind::InvalidValue if value.is_empty() => {
                self.with_help(Error::usage(format!("{name} needs a value")), &option)
            }
            ErrorKind::InvalidValue => {
                let known = strings(ContextKind::ValidValue).join(", ");
                Error::usage(format!("{name} {value}: no such value"))
                    .with_hint(format!("use one of {known}"))
            }
            ErrorKind::ValueValidation => {
                let reason = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
                let error = Error::usage(format!("{name} {value}: {reason}"));
                match self.with_commas(&option, &name) {
                    Some(meant) => error.with_hint(format!("did you mean {meant}?")),
                    None => self.with_help(error, &option),
                }
            }
            ErrorKind::ArgumentConflict => {
                match first(ContextKind::PriorArg).map(|prior| self.as_typed(&prior)) {
                    Some(second) if second != name => {
                        let pair = [name.as_str(), second.as_str()];
                        let same =
                            |(options, _): &&([&str; 2], _)| options.iter().all(|one| pair.contains(one));
                        let error = exclusive(&name, &second);
                        let meant = TOGETHER.iter().find(same).map(|(_, hint)| *hint);
                        let grows = pair.contains(&"--rule")
                            && self.with_value("rule").is_some_and(|rule| rule.ends_with("offset"));
                        let meant = if grows { suggest::elsewhere("grow") } else { meant };
                        meant.map_or(error.clone(), |hint| error.with_hint(hint))
                    }
                    Some(_) => Error::usage(format!("{name} is given twice")).with_hint("give it once"),
                    None => Error::usage(format!("{name} cannot be used here")),
                }
            }
            _ => Error::usage(first_line(error)),
        }
    }

    /// An option whose numbers stand in words of their own, with commas between them: `--bounds 0,0,0,1,1,1`; of three
    /// numbers of cells for an option that takes one, `--dims`.
    fn with_commas(&self, long: &str, name: &str) -> Option<String> {
        let numbers = self.numbers_of(name);
        if numbers.len() < 2 {
            return None;
        }
        Some(match (long.trim_start_matches("--").starts_with("res "), numbers.len()) {
            (true, 3) => format!("--dims {}", numbers.join(",")),
            (true, _) => format!("{name} {}", numbers[0]),
            (false, _) => format!("{name} {}", numbers.join(",")),
        })
    }

    /// The words behind an option, as typed, that are numbers.
    fn numbers_of(&self, name: &str) -> Vec<&str> {
        let words = self.words.iter().filter_map(|word| word.to_str());
        let values = words.skip_while(|word| *word != name).skip(1);
        let numbers = values.flat_map(str::split_whitespace).map(|word| word.trim_end_matches(','));
        numbers.take_while(|word| word.parse::<f64>().is_ok()).collect()
    }

    /// The error for numbers that were taken for meshes: `-r 64 64 64`, `--voxel-size 1 1 2`.
    pub fn loose_numbers(&self) -> Option<Error> {
        ["res", "voxel-size"].into_iter().find_map(|long| {
            let name = self.name(long);
            let meant = self.with_commas(&format!("{long} "), &name)?;
            let numbers = self.numbers_of(&name);
            let error = Error::usage(format!("{name} {}: one word is expected", numbers.join(" ")));
            Some(error.with_hint(format!("did you mean {meant}?")))
        })
    }

    /// The error for a word that no option has, or where no more words are expected.
    fn unknown(&self, word: &str) -> Error {
        // `verfy --update`: not the option is wrong, but the word.
        let slip = |first: &&PathBuf| {
            self.command.is_none() && !first.exists() && suggest::command(first, &self.commands).is_some()
        };
        if let Some(first) = self.first.as_ref().filter(slip) {
            return suggest::not_found(first, &self.commands);
        }
        let Some(long) = word.strip_prefix('-') else {
            return Error::usage(format!("unexpected argument '{word}'"));
        };
        let options = self
            .parser
            .get_arguments()
            .flat_map(|arg| arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default()));
        let long = long.trim_start_matches('-');
        let error = Error::usage(format!("{word}: no such option"));
        if let Some(meant) = self.before(word).and_then(|name| self.with_commas("", name)) {
            return error.with_hint(format!("did you mean {meant}?"));
        }
        if self.command == Some("convert") && matches!(long, "o" | "output") {
            return error.with_hint("the output is the second file: 'voxelize convert IN OUT'");
        }
        if self.command == Some("clearance") && TransformArgs::NAMES.contains(&long) {
            return error.with_hint(format!("transforms stand behind a mesh: FILE@{long}=VALUE"));
        }
        if let Some(here) = suggest::elsewhere(long) {
            return error.with_hint(here);
        }
        let has_rules = self.parser.get_arguments().any(|arg| arg.get_long() == Some("rule"));
        let rules = RULES.iter().filter(|_| has_rules);
        let rule = rules.filter(|rule| rule.name == long).map(|rule| format!("--rule {}", rule.name)).next();
        let near = suggest::option(long, options).map(|near| format!("--{near}"));
        let meant: Vec<_> = rule.into_iter().chain(near).collect();
        let meant = (!meant.is_empty()).then(|| format!("did you mean {}?", meant.join(", or ")));
        let other = self.elsewhere(long).map(|command| format!("'voxelize {command}' has --{long}"));
        match meant.into_iter().chain(other).collect::<Vec<_>>().as_slice() {
            [] => error,
            hints => error.with_hint(hints.join(" ")),
        }
    }

    /// The option that stands before a number below zero, and whose value it is.
    fn before(&self, word: &str) -> Option<&str> {
        word.parse::<f64>().ok()?;
        let words = self.words.iter().filter_map(|word| word.to_str());
        let is_option = |word: &&str| word.starts_with('-') && word.parse::<f64>().is_err();
        words.take_while(|other| *other != word).filter(is_option).last()
    }

    /// Another command that has this option; that without a name is shown as it is used.
    fn elsewhere(&self, long: &str) -> Option<&'static str> {
        let is_it = |arg: &Arg| arg.get_long() == Some(long) && !arg.is_hide_set();
        let found = COMMANDS.iter().find(|command| (command.arguments)().get_arguments().any(is_it))?;
        Some(if found.name.is_empty() { "MESH" } else { found.name })
    }

    /// `--voxel-size <S>` of the parser as it was typed: `--pitch`.
    fn as_typed(&self, option: &str) -> String {
        let word =
            option.trim_start_matches(['[', '<']).split([' ', '=', '[', ']', '>']).next().unwrap_or(option);
        word.strip_prefix("--").map_or_else(|| word.to_string(), |long| self.name(long))
    }

    /// `error` with the option's own line of help as the hint.
    fn with_help(&self, error: Error, option: &str) -> Error {
        let long = option.split([' ', '=', '[']).next().and_then(|word| word.strip_prefix("--"));
        let arg = self.parser.get_arguments().find(|arg| long.is_some() && arg.get_long() == long);
        match arg.and_then(|arg| Some((arg, arg.get_help()?))) {
            Some((arg, help)) => error.with_hint(format!("{}: {help}", spelled(arg))),
            None => error,
        }
    }
}

/// `--res N`, `--json[=FILE]`, `MESH...`.
pub fn spelled(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match (arg.get_long(), value) {
        (None, value) => format!("{}...", value.unwrap_or_default()),
        (Some(long), Some(value)) if arg.is_require_equals_set() => format!("--{long}[={value}]"),
        (Some(long), Some(value)) if arg.get_action().takes_values() => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
    }
}

/// The parser's own sentence.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}

/// What may have been meant by two options that exclude each other.
const TOGETHER: [([&str; 2], &str); 2] = [
    (
        ["--origin", "--dims"],
        "--bounds X0,Y0,Z0,X1,Y1,Z1 --voxel-size S is the grid of a corner, a cell size and counts: the high corner is the \
         low one + counts x size",
    ),
    (
        ["--like", "--voxel-size"],
        "'voxelize info FILE' says where its cells are: the same --bounds with another --voxel-size is the same place",
    ),
];

/// The error for two options, as typed, that exclude each other.
pub fn exclusive(first: &str, second: &str) -> Error {
    Error::usage(format!("{first} and {second} exclude each other")).with_hint("use only one of them")
}

/// The options among these words as `parser` takes them, and where the first other word is; none behind `--`.
fn scan(words: &[OsString], parser: &Command) -> (Vec<Typed>, Option<usize>) {
    let mut found = Vec::new();
    let mut first = None;
    let mut at = 1;
    while at < words.len() && words[at] != "--" {
        // A word that is not UTF-8 is a file name.
        let word = words[at].to_str().filter(|word| word.len() > 1 && word.starts_with('-'));
        let Some(word) = word else {
            first = first.or(Some(at));
            at += 1;
            continue;
        };
        for (arg, name, glued) in options_in(word, parser) {
            let takes_word = arg.get_action().takes_values() && !arg.is_require_equals_set();
            if glued.is_none() && takes_word {
                at += 1;
            }
            let next =
                || words.get(at).filter(|_| takes_word).map(|word| word.to_string_lossy().into_owned());
            let value = glued.map(str::to_string).or_else(next).unwrap_or_default();
            found.push(Typed { long: arg.get_long().unwrap_or_default().to_string(), name, value });
        }
        at += 1;
    }
    (found, first)
}

/// The options in one word, each with its name as typed and the value in the same word: `--pitch=0.5`, `-nr8`.
fn options_in<'a>(word: &'a str, parser: &'a Command) -> Vec<(&'a Arg, String, Option<&'a str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let is_it = |arg: &&Arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long().into_iter().chain(aliases).any(|spelling| spelling == name)
        };
        return parser.get_arguments().filter(is_it).map(|arg| (arg, format!("--{name}"), value)).collect();
    }
    let mut found = Vec::new();
    for (n, letter) in word.char_indices().skip(1) {
        let Some(arg) = parser.get_arguments().find(|arg| arg.get_short() == Some(letter)) else { break };
        let rest = &word[n + letter.len_utf8()..];
        let value = Some(rest.strip_prefix('=').unwrap_or(rest)).filter(|value| !value.is_empty());
        let takes_rest = arg.get_action().takes_values();
        found.push((arg, format!("-{letter}"), value.filter(|_| takes_rest)));
        if takes_rest {
            break;
        }
    }
    found
}

/// The arguments of a command, as its parser found them.
pub fn from_matches<A: clap::FromArgMatches>(matches: &ArgMatches, argv: &Argv) -> Result<A> {
    A::from_arg_matches(matches).map_err(|e| argv.error(&e))
}

#[cfg(test)]
mod tests {
    use super::super::args;
    use super::*;

    fn argv(words: &str) -> Argv {
        let words = std::iter::once("voxelize").chain(words.split_whitespace());
        Argv::new(words, args::command(), &["formats"])
    }

    #[test]
    fn options_are_named_as_typed() {
        let typed = argv("a.stl -r8 --pitch=0.5 -o x.vox");
        assert_eq!(typed.with_value("res").unwrap(), "-r 8");
        assert_eq!(typed.with_value("voxel-size").unwrap(), "--pitch 0.5");
        assert_eq!(typed.with_value("output").unwrap(), "-o x.vox");
        assert_eq!((typed.name("dims"), typed.with_value("dims")), ("--dims".to_string(), None));
        let typed = argv("--res 8 -- --pad 1");
        assert_eq!((typed.with_value("res").unwrap().as_str(), typed.with_value("pad")), ("--res 8", None));
        let typed = argv("-or.vox -qvnr8");
        assert_eq!(typed.with_value("res").unwrap(), "-r 8");
        assert_eq!((typed.name("quiet"), typed.name("verbose")), ("-q".to_string(), "-v".to_string()));
    }

    #[test]
    fn the_command_is_the_first_word_that_is_no_option() {
        for (words, command) in [
            ("formats", Some("formats")),
            ("-q -v formats", Some("formats")),
            ("-j 4 --simd=scalar formats", Some("formats")),
            ("-qj4 --json formats", Some("formats")),
            ("-qj 4 --json=a.json formats", Some("formats")),
            ("./formats", None),
            ("-- formats", None),
            ("part.stl formats", None),
            ("-o formats part.stl", None),
            ("-r 8 part.stl formats", None),
            ("- formats", None),
            ("", None),
        ] {
            let typed = argv(words);
            assert_eq!(typed.command(), command, "{words}");
            let left = 1 + words.split_whitespace().count() - usize::from(command.is_some());
            assert_eq!(typed.words.len(), left, "{words}");
        }
    }

    #[test]
    fn json_is_found_without_parsing() {
        assert_eq!(argv("--json --nonsense").json(), Some(Destination::Stdout));
        assert_eq!(argv("--json=a.json").json(), Some(Destination::File("a.json".into())));
        assert_eq!(argv("--json=").json(), None);
        assert_eq!(argv("--jsonx -- --json").json(), None);
    }
}
