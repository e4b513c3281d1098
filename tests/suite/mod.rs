//! A harness that prints what it counted, as passing tests under the usual one cannot.
//!
//! It takes the arguments that `cargo test` and `cargo nextest` pass: words select checks by name.
//! A check fails by panicking, and also if anything it counted is zero: a loop that saw no case
//! proves nothing.

#![allow(dead_code, reason = "each suite uses a part")]

pub mod meshes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// What was counted, in the order it is printed.
pub type Counts = Vec<(&'static str, u64)>;

/// One check: a name to select it by, and what it does.
pub struct Check {
    pub name: &'static str,
    pub run: fn() -> Counts,
}

/// What the arguments ask for.
#[derive(Default)]
struct Asked {
    list: bool,
    exact: bool,
    ignored: bool,
    terse: bool,
    words: Vec<String>,
    skip: Vec<String>,
}

impl Asked {
    fn from_args(args: impl Iterator<Item = String>) -> Self {
        let (mut asked, mut args) = (Self::default(), args);
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) if arg.starts_with("--") => (name.to_string(), Some(value.to_string())),
                _ => (arg, None),
            };
            match name.as_str() {
                "--list" => asked.list = true,
                "--exact" => asked.exact = true,
                "--ignored" => asked.ignored = true,
                "--skip" => asked.skip.extend(value.or_else(|| args.next())),
                "--format" => asked.terse = value.or_else(|| args.next()).as_deref() == Some("terse"),
                "--test-threads" | "--color" | "--logfile" | "--shuffle-seed" | "-Z" => {
                    drop(value.or_else(|| args.next()));
                }
                flag if flag.starts_with('-') => {}
                word => asked.words.push(word.to_string()),
            }
        }
        asked
    }

    fn wants(&self, name: &str) -> bool {
        let fits = |word: &String| if self.exact { name == word } else { name.contains(word.as_str()) };
        !self.ignored && (self.words.is_empty() || self.words.iter().any(fits)) && !self.skip.iter().any(fits)
    }
}

/// Runs the checks that the arguments ask for, and says what each counted.
pub fn main(suite: &str, checks: &[Check]) -> ExitCode {
    assert!(!checks.is_empty(), "{suite} has no checks");
    let asked = Asked::from_args(std::env::args().skip(1));
    if asked.list {
        checks.iter().filter(|check| asked.wants(check.name)).for_each(|c| println!("{}: test", c.name));
        if !asked.terse {
            println!("\n{} tests, 0 benchmarks", checks.len());
        }
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<_> = checks.iter().filter(|check| asked.wants(check.name)).collect();
    println!("\nrunning {} of {} checks of {suite}", wanted.len(), checks.len());
    let failed = wanted.iter().filter(|check| !passes(check)).count();
    println!("\n{suite}: {} passed, {failed} failed\n", wanted.len() - failed);
    // The status the usual harness has.
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// Runs one check and prints its line.
fn passes(check: &Check) -> bool {
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(check.run));
    let seconds = started.elapsed().as_secs_f64();
    let name = check.name;
    let Ok(counts) = result else {
        println!("check {name} ... FAILED");
        return false;
    };
    let said: Vec<_> = counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
    let empty = counts.is_empty() || counts.iter().any(|&(_, n)| n == 0);
    let verdict = if empty { "FAILED, it saw none" } else { "ok" };
    println!("check {name} ... {verdict}: {} ({seconds:.1} s)", said.join(", "));
    !empty
}
