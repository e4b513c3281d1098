//! Harness that prints its counts, which passing tests cannot do under the standard harness.
//!
//! It accepts the arguments that `cargo test` and `cargo nextest` pass: words select checks by their names,
//! `SUITE::CHECK`, and the name of a suite selects that suite alone. A check fails by panicking, and also if
//! any of its counts is zero, because a loop without cases proves nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Counts in the order of printing.
pub type Counts = Vec<(&'static str, u64)>;

/// Check: a name for selecting it, and its function.
pub type Check = (&'static str, fn() -> Counts);

/// Checks under a common name.
pub struct Suite {
    pub name: &'static str,
    pub checks: Checks,
}

/// Execution of the checks of a suite.
pub enum Checks {
    /// By this harness, as many at a time as there are threads.
    Each(&'static [Check]),
    /// By the suite itself, for the selected names. Returns whether all checks pass.
    Own {
        names: fn() -> Vec<&'static str>,
        run: fn(&[&'static str], &Args) -> bool,
    },
}

impl Suite {
    /// Creates a suite whose checks this harness runs.
    pub const fn of(name: &'static str, checks: &'static [Check]) -> Self {
        Self {
            name,
            checks: Checks::Each(checks),
        }
    }

    fn names(&self) -> Vec<&'static str> {
        match &self.checks {
            Checks::Each(checks) => checks.iter().map(|(name, _)| *name).collect(),
            Checks::Own { names, .. } => names(),
        }
    }

    /// Returns the checks that the arguments select.
    fn chosen(&self, args: &Args, suites: &[Self]) -> Vec<&'static str> {
        self.names()
            .into_iter()
            .filter(|check| args.selects(self.name, check, suites))
            .collect()
    }

    /// Runs the checks of these names and prints their counts. Reports whether all pass.
    fn run(&self, chosen: &[&'static str], args: &Args) -> bool {
        println!(
            "\nrunning {} of {} checks of {}",
            chosen.len(),
            self.names().len(),
            self.name
        );
        let checks = match &self.checks {
            Checks::Each(checks) => checks,
            Checks::Own { run, .. } => return run(chosen, args),
        };
        let wanted: Vec<_> = checks
            .iter()
            .filter(|check| chosen.contains(&check.0))
            .collect();
        let failed = failures(&wanted);
        println!(
            "\n{}: {} passed, {failed} failed",
            self.name,
            wanted.len() - failed
        );
        failed == 0
    }
}

/// Runs checks, as many at a time as there are threads. Returns the number of failures.
fn failures(checks: &[&Check]) -> usize {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(checks.len()) {
            scope.spawn(|| {
                while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    failed.fetch_add(usize::from(!passes(check)), Ordering::Relaxed);
                }
            });
        }
    });
    failed.into_inner()
}

/// Parsed arguments.
#[derive(Default)]
pub struct Args {
    /// Draw new cases for this number of minutes, in suites that support it.
    pub soak: Option<f64>,
    /// Seed of random numbers, in suites that draw.
    pub seed: Option<u64>,
    list: bool,
    exact: bool,
    ignored: bool,
    terse: bool,
    words: Vec<String>,
    skip: Vec<String>,
}

impl Args {
    fn parse(args: impl Iterator<Item = String>) -> Self {
        let mut this = Self::default();
        let mut args = args;
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) if arg.starts_with("--") => {
                    (name.to_string(), Some(value.to_string()))
                }
                _ => (arg, None),
            };
            match name.as_str() {
                "--soak" => this.soak = Some(number(value.or_else(|| args.next()), "--soak")),
                "--seed" => this.seed = Some(number(value.or_else(|| args.next()), "--seed")),
                "--list" => this.list = true,
                "--exact" => this.exact = true,
                "--ignored" => this.ignored = true,
                "--skip" => this.skip.extend(value.or_else(|| args.next())),
                "--format" => {
                    this.terse = value.or_else(|| args.next()).as_deref() == Some("terse")
                }
                "--test-threads" | "--color" | "--logfile" | "--shuffle-seed" | "-Z" => {
                    drop(value.or_else(|| args.next()));
                }
                flag if flag.starts_with('-') => {}
                word => this.words.push(word.to_string()),
            }
        }
        this
    }

    fn selects(&self, suite: &str, check: &str, suites: &[Suite]) -> bool {
        let name = format!("{suite}::{check}");
        let fits = |word: &String| {
            let is_suite = suites.iter().any(|suite| suite.name == word);
            if is_suite {
                suite == word
            } else if self.exact {
                name == *word
            } else {
                name.contains(word.as_str())
            }
        };
        !self.ignored
            && (self.words.is_empty() || self.words.iter().any(fits))
            && !self.skip.iter().any(fits)
    }
}

/// Parses the value of an option.
fn number<T: std::str::FromStr>(text: Option<String>, option: &str) -> T {
    let value = text.and_then(|text| text.parse().ok());
    value.unwrap_or_else(|| panic!("{option} needs a number"))
}

/// Runs the checks that the arguments select, and prints their counts.
pub fn main(suites: &[Suite]) -> ExitCode {
    assert!(
        suites.iter().all(|suite| !suite.names().is_empty()),
        "a suite without checks"
    );
    let args = Args::parse(std::env::args().skip(1));
    let chosen = suites
        .iter()
        .map(|suite| (suite, suite.chosen(&args, suites)));
    let chosen: Vec<_> = chosen.filter(|(_, checks)| !checks.is_empty()).collect();
    let count: usize = chosen.iter().map(|(_, checks)| checks.len()).sum();
    if args.list {
        for (suite, checks) in chosen {
            checks
                .iter()
                .for_each(|check| println!("{}::{check}: test", suite.name));
        }
        if !args.terse {
            println!("\n{count} tests, 0 benchmarks");
        }
        return ExitCode::SUCCESS;
    }
    let failed: Vec<_> = chosen
        .iter()
        .filter(|(suite, checks)| !suite.run(checks, &args))
        .map(|(suite, _)| suite.name)
        .collect();
    println!(
        "\nran {count} checks; suites that failed: {}\n",
        failed.len()
    );
    failed.iter().for_each(|suite| println!("{suite} FAILED"));
    // The exit status of the standard harness.
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(101)
    }
}

/// Runs one check and prints its line.
fn passes((name, run): &Check) -> bool {
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(run));
    let seconds = started.elapsed().as_secs_f64();
    let Ok(counts) = result else {
        println!("check {name} ... FAILED");
        return false;
    };
    let shown: Vec<_> = counts
        .iter()
        .map(|(what, n)| format!("{n} {what}"))
        .collect();
    let empty = counts.is_empty() || counts.iter().any(|&(_, n)| n == 0);
    let verdict = if empty { "FAILED, it saw none" } else { "ok" };
    println!(
        "check {name} ... {verdict}: {} ({seconds:.1} s)",
        shown.join(", ")
    );
    !empty
}
