//! The words as they were typed, so that messages can say `-r 8192` to whoever typed that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};

use super::args;
use super::verb::{VERBS, Verb};

/// The command line, unparsed.
pub struct Typed {
    /// All words but the verb.
    words: Vec<OsString>,
    /// The first of them that is neither an option nor the value of one.
    first: Option<PathBuf>,
    verb: Option<&'static Verb>,
}

/// Where the JSON goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonTarget {
    /// To standard output, in place of the summary.
    Stdout,
    /// To a file, beside the summary.
    File(PathBuf),
}

impl JsonTarget {
    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        *self == Self::Stdout
    }

    /// What the value of `--json` stands for: `-` if it has none.
    pub fn of(value: PathBuf) -> Self {
        if value.as_os_str() == "-" { Self::Stdout } else { Self::File(value) }
    }
}

impl Typed {
    /// What this process was started with.
    pub fn from_env() -> Self {
        Self::new(std::env::args_os())
    }

    /// These words, the name of the program first.
    pub fn new(words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        // As many tools have it: `voxelize help view`.
        if let Some(help) =
            first_word(&words).filter(|at| words[*at] == "help" && !Path::new("help").exists())
        {
            words[help] = "--help".into();
        }
        let at = first_word(&words);
        let verb = at.and_then(|at| VERBS.iter().find(|verb| words[at] == verb.name));
        let first = match (at, verb) {
            (Some(at), Some(_)) => Some(words.remove(at).into()),
            (Some(at), None) => Some(words[at].clone().into()),
            (None, _) => None,
        };
        Self { words, first, verb }
    }

    /// The verb: the first word that is not an option, if it is the name of one.
    pub fn verb(&self) -> Option<&'static Verb> {
        self.verb
    }

    /// The first word that is neither an option nor the value of one.
    pub fn first(&self) -> Option<&Path> {
        self.first.as_deref()
    }

    /// The command that the words are for.
    pub fn command(&self) -> Command {
        self.verb.map_or_else(args::command, Verb::command)
    }

    /// All words but the verb, the name of the program first.
    pub fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Where `--json` sends the JSON, found without parsing: for when parsing failed.
    pub fn json(&self) -> Option<JsonTarget> {
        self.options().find_map(|word| match word.strip_prefix("--json")? {
            "" => Some(JsonTarget::Stdout),
            rest => {
                let file = rest.strip_prefix('=').filter(|file| !file.is_empty())?;
                Some(JsonTarget::of(file.into()))
            }
        })
    }

    /// The option called `long` by the name it was typed with: `-r`, `--pitch`.
    pub fn name(&self, long: &str) -> String {
        self.find(long).map_or_else(|| format!("--{long}"), |(name, _)| name)
    }

    /// The option with its value as typed, `-r 8192`; `None` if it was not.
    pub fn with_value(&self, long: &str) -> Option<String> {
        self.find(long).map(|(name, value)| format!("{name} {value}"))
    }

    /// The words before `--` that are text, without the program's name and the verb.
    fn options(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map_while(|w| (w != "--").then_some(w)).filter_map(|w| w.to_str())
    }

    /// The name and value that the option called `long` was typed with.
    fn find(&self, long: &str) -> Option<(String, String)> {
        let command = self.command();
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long))?;
        let words: Vec<_> = self.options().collect();
        words.iter().enumerate().find_map(|(n, word)| {
            let (name, glued) = long_form(arg, word).or_else(|| short_form(arg, word, &command))?;
            let value = glued.or(words.get(n + 1).copied()).unwrap_or_default();
            Some((name, value.to_string()))
        })
    }
}

/// Where the first word is that is neither an option nor the value of one; none behind `--`.
fn first_word(words: &[OsString]) -> Option<usize> {
    let command = args::command();
    let mut at = 1;
    while at < words.len() && words[at] != "--" {
        // A word that is no text is a file.
        let Some(word) = words[at].to_str().filter(|word| word.len() > 1 && word.starts_with('-')) else {
            return Some(at);
        };
        let valued = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
        let apart = command.get_arguments().filter(valued).any(|arg| {
            let found = long_form(arg, word).or_else(|| short_form(arg, word, &command));
            found.is_some_and(|(_, value)| value.is_none())
        });
        at += if apart { 2 } else { 1 };
    }
    None
}

/// `--pitch` or `--pitch=0.5`: the name and the value in the same word, if `word` is this option.
fn long_form<'a>(arg: &Arg, word: &'a str) -> Option<(String, Option<&'a str>)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let typed = name.strip_prefix("--")?;
    let mut spellings = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
    spellings.any(|spelling| spelling == typed).then(|| (name.to_string(), value))
}

/// `-r`, `-r8` or `-nr8`: the same for short options, which share words.
fn short_form<'a>(arg: &Arg, word: &'a str, command: &Command) -> Option<(String, Option<&'a str>)> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    for (at, letter) in letters.char_indices() {
        if arg.get_short() == Some(letter) {
            let rest = &letters[at + letter.len_utf8()..];
            let value = rest.strip_prefix('=').unwrap_or(rest);
            return Some((format!("-{letter}"), (!value.is_empty()).then_some(value)));
        }
        let other = command.get_arguments().find(|other| other.get_short() == Some(letter))?;
        if other.get_action().takes_values() {
            // What follows is its value.
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_as_typed() {
        let typed = Typed::new(["voxelize", "a.stl", "-r8", "--pitch=0.5", "-o", "x.vox"]);
        assert_eq!(typed.with_value("res").unwrap(), "-r 8");
        assert_eq!(typed.with_value("voxel-size").unwrap(), "--pitch 0.5");
        assert_eq!(typed.with_value("output").unwrap(), "-o x.vox");
        assert_eq!((typed.name("dims"), typed.with_value("dims")), ("--dims".to_string(), None));
        let typed = Typed::new(["voxelize", "--res", "8", "--", "--pad", "1"]);
        assert_eq!((typed.with_value("res").unwrap().as_str(), typed.with_value("pad")), ("--res 8", None));
        let typed = Typed::new(["voxelize", "-or.vox", "-qvnr8"]);
        assert_eq!(typed.with_value("res").unwrap(), "-r 8");
        assert_eq!((typed.name("quiet"), typed.name("verbose")), ("-q".to_string(), "-v".to_string()));
    }

    #[test]
    fn the_verb_is_the_first_word_that_is_no_option() {
        for (words, verb) in [
            ("formats", Some("formats")),
            ("-q -v formats", Some("formats")),
            ("-j 4 --simd=scalar formats", Some("formats")),
            ("-qj4 --json formats", Some("formats")),
            ("-qj 4 --json=a.json formats", Some("formats")),
            ("--json formats", Some("formats")),
            ("./formats", None),
            ("-- formats", None),
            ("part.stl formats", None),
            ("-o formats part.stl", None),
            ("-r 8 part.stl formats", None),
            ("- formats", None),
            ("", None),
        ] {
            let typed = Typed::new(["voxelize"].into_iter().chain(words.split_whitespace()));
            assert_eq!(typed.verb().map(|verb| verb.name), verb, "{words}");
            let left = typed.words().len();
            assert_eq!(left, 1 + words.split_whitespace().count() - usize::from(verb.is_some()), "{words}");
        }
    }

    #[test]
    fn json_is_found_without_parsing() {
        let json = |words: &[&str]| Typed::new(words.iter().copied()).json();
        assert_eq!(json(&["voxelize", "--json", "--nonsense"]), Some(JsonTarget::Stdout));
        assert_eq!(json(&["voxelize", "--json=a.json"]), Some(JsonTarget::File("a.json".into())));
        assert_eq!(json(&["voxelize", "--json="]), None);
        assert_eq!(json(&["voxelize", "--jsonx", "--", "--json"]), None);
    }
}
