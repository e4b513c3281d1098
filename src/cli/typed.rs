//! The words as they were typed, so that messages can say `-r 8192` to whoever typed that.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Command};

use super::args;

/// The command line, unparsed.
pub struct Typed {
    words: Vec<OsString>,
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
        Self { words: words.into_iter().map(Into::into).collect() }
    }

    /// All words, the name of the program first.
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

    /// The words before `--` that are text, without the program's name.
    fn options(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map_while(|w| (w != "--").then_some(w)).filter_map(|w| w.to_str())
    }

    /// The name and value that the option called `long` was typed with.
    fn find(&self, long: &str) -> Option<(String, String)> {
        let command = args::command();
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long))?;
        let words: Vec<_> = self.options().collect();
        words.iter().enumerate().find_map(|(n, word)| {
            let (name, glued) = long_form(arg, word).or_else(|| short_form(arg, word, &command))?;
            let value = glued.or(words.get(n + 1).copied()).unwrap_or_default();
            Some((name, value.to_string()))
        })
    }
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
    fn json_is_found_without_parsing() {
        let json = |words: &[&str]| Typed::new(words.iter().copied()).json();
        assert_eq!(json(&["voxelize", "--json", "--nonsense"]), Some(JsonTarget::Stdout));
        assert_eq!(json(&["voxelize", "--json=a.json"]), Some(JsonTarget::File("a.json".into())));
        assert_eq!(json(&["voxelize", "--json="]), None);
        assert_eq!(json(&["voxelize", "--jsonx", "--", "--json"]), None);
    }
}
