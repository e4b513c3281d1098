//! The command line of the suite: its own options, and what `cargo test` passes.

use std::time::SystemTime;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Every case once.
    Gate,
    /// New cases for so many minutes.
    Soak(f64),
    /// Print the names.
    List,
    /// Only ignored tests were asked for, and there are none.
    Nothing,
}

/// The arguments, taken apart.
pub struct Args {
    /// What to do.
    pub mode: Mode,
    /// Where random numbers begin.
    pub seed: u64,
    /// Words that select families; none for all.
    words: Vec<String>,
    /// Words that leave families out.
    skipped: Vec<String>,
    /// Whether a word has to be the whole name.
    exact: bool,
}

/// Options of the standard harness that take a value, which means nothing here.
const WITH_VALUE: [&str; 6] = ["--test-threads", "--color", "--format", "--logfile", "-Z", "--shuffle-seed"];

impl Args {
    /// Takes arguments apart; what means nothing here is let pass.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Self {
        let mut this = Self { mode: Mode::Gate, seed: 1, words: vec![], skipped: vec![], exact: false };
        let mut seed = None;
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--soak" => this.mode = Mode::Soak(number(args.next(), "--soak")),
                "--seed" => seed = Some(number(args.next(), "--seed")),
                "--list" => this.mode = Mode::List,
                "--ignored" => this.mode = Mode::Nothing,
                "--exact" => this.exact = true,
                "--skip" => this.skipped.extend(args.next()),
                option if WITH_VALUE.contains(&option) => drop(args.next()),
                option if option.starts_with('-') => {}
                word => this.words.push(word.to_string()),
            }
        }
        let now =
            || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |time| time.as_secs());
        this.seed = seed.unwrap_or_else(|| if matches!(this.mode, Mode::Soak(_)) { now() } else { 1 });
        this
    }

    /// Whether a family takes part.
    pub fn selects(&self, name: &str) -> bool {
        let is = |word: &String| if self.exact { name == word } else { name.contains(word.as_str()) };
        (self.words.is_empty() || self.words.iter().any(is)) && !self.skipped.iter().any(is)
    }
}

/// The value of an option.
fn number<T: std::str::FromStr>(text: Option<String>, option: &str) -> T {
    let value = text.and_then(|text| text.parse().ok());
    value.unwrap_or_else(|| panic!("{option} needs a number"))
}
