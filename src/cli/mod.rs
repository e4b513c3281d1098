//! The command line: what was typed becomes arguments, a plan, a run, and what is said about it.
//! It uses only what the library offers everyone.

mod args;
mod bar;
mod boxes;
mod call;
mod diff;
mod doubt;
mod errors;
mod estimate;
mod extra;
mod facts;
mod files;
mod folders;
mod formats;
mod help;
mod info;
mod job;
mod jobs;
mod json;
mod leak;
mod make;
mod many;
mod numbers;
mod output;
mod place;
mod plan;
mod room;
mod run;
mod signals;
mod similar;
mod stream;
mod summary;
mod system;
mod tell;
mod told;
mod typed;
mod values;
mod verb;
mod verify;
mod view;
mod why;
// Compiled into the fuzz target `plan`, where only this is used.
#[cfg(all(unix, any(test, fuzzing)))]
pub mod words;

use std::process::ExitCode;
use std::time::Instant;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use voxelize::{Error, Result};

use args::Args;
use bar::Bar;
use facts::{Ending, Facts};
use plan::{Plan, Telling};
use signals::Signals;
use typed::Typed;

/// What was asked for.
enum Request {
    /// A text: help, version.
    Show(String),
    /// A grid.
    Voxelize(Box<Args>),
}

/// Does what the command line asks, and gives its exit code.
pub fn main() -> ExitCode {
    let started = Instant::now();
    let (typed, signals) = (Typed::from_env(), Signals::default());
    ExitCode::from(match typed.verb() {
        Some(verb) => call::call(verb, &typed, &signals),
        None => voxelize(&typed, &signals, started),
    })
}

/// The command without a verb.
fn voxelize(typed: &Typed, signals: &Signals, started: Instant) -> u8 {
    match parse(typed) {
        Ok(Request::Show(text)) => tell::show(&text),
        Ok(Request::Voxelize(args)) if many::is_asked(&args) => {
            many::voxelize(*args, typed, signals, started)
        }
        Ok(Request::Voxelize(args)) => one(*args, typed, signals, started),
        Err(error) => refuse(&Telling::guess(typed), &error, signals, started),
    }
}

/// One mesh, one grid.
fn one(args: Args, typed: &Typed, signals: &Signals, started: Instant) -> u8 {
    let mut facts = Facts::new(started);
    let telling = Telling::new(&args.tell, args.input.meshes.first().cloned());
    let plan = match Plan::resolve(args, telling.json.as_ref(), typed) {
        Ok(plan) => plan,
        Err(error) => return refuse(&telling, &error, signals, started),
    };
    let bar = Bar::new(telling.voice, signals.clone());
    let ending = run::run(&plan, &bar, signals, &mut facts);
    let ending = ending.unwrap_or_else(|error| Ending::of(error, signals, &mut facts));
    tell::tell(&telling, Some(&plan), &facts, &ending)
}

/// Says why nothing is done at all.
fn refuse(telling: &Telling, error: &Error, signals: &Signals, started: Instant) -> u8 {
    let code = errors::exit_code(error, signals.caught());
    tell::tell(telling, None, &Facts::new(started), &Ending::Failed(error.clone(), code))
}

fn parse(typed: &Typed) -> Result<Request> {
    let parsed = typed
        .command()
        .try_get_matches_from(typed.words())
        .and_then(|mut matches| Args::from_arg_matches_mut(&mut matches));
    match parsed {
        Ok(args) => many::check(&args.input, typed).map(|()| Request::Voxelize(Box::new(args))),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => Ok(Request::Show(help::version() + "\n")),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => {
            Ok(Request::Show(format!("{}\n", e.render().to_string().trim())))
        }
        Err(e) => match typed.first().filter(|first| !first.exists() && similar::verb(first).is_some()) {
            // `verfy --update`: that option is no option of ours, but the word is to blame.
            Some(first) => Err(similar::not_found(first)),
            None => Err(errors::from_clap(&e, typed)),
        },
    }
}
