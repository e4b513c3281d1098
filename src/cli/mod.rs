//! The command line: what was typed becomes arguments, a plan, a run, and what is said about it.
//! It uses only what the library offers everyone.

mod args;
mod bar;
mod errors;
mod estimate;
mod facts;
mod formats;
mod help;
mod json;
mod numbers;
mod output;
mod plan;
mod room;
mod run;
mod signals;
mod similar;
mod summary;
mod system;
mod tell;
mod typed;
mod values;
mod why;
// Compiled into the fuzz target `plan`, where only this is used.
#[cfg(all(unix, any(test, fuzzing)))]
pub mod words;

use std::process::ExitCode;
use std::time::Instant;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use voxelize::{Error, Result};

use args::{Args, Verb};
use facts::{Ending, Facts};
use plan::{Plan, Telling};
use signals::Signals;
use typed::Typed;

/// What was asked for.
enum Request {
    /// A text: help, version, a list.
    Show(String),
    /// A grid.
    Voxelize(Box<Args>),
}

/// Does what the command line asks, and gives its exit code.
pub fn main() -> ExitCode {
    let mut facts = Facts::new(Instant::now());
    let (typed, signals) = (Typed::from_env(), Signals::default());
    let plan = match parse(&typed) {
        Ok(Request::Show(text)) => return show(&text),
        Ok(Request::Voxelize(args)) => {
            let telling = Telling::new(&args);
            Plan::resolve(*args, &typed).map_err(|error| (telling, error))
        }
        Err(error) => Err((Telling::guess(&typed), error)),
    };
    let failed = |error: Error| {
        let code = errors::exit_code(&error, signals.caught());
        Ending::Failed(error, code)
    };
    let code = match plan {
        Ok(plan) => {
            let ending = run::run(&plan, &signals, &mut facts).unwrap_or_else(failed);
            tell::tell(&plan.telling, Some(&plan), &facts, &ending)
        }
        Err((telling, error)) => tell::tell(&telling, None, &facts, &failed(error)),
    };
    ExitCode::from(code)
}

fn parse(typed: &Typed) -> Result<Request> {
    let parsed = args::command()
        .try_get_matches_from(typed.words())
        .and_then(|mut matches| Args::from_arg_matches_mut(&mut matches));
    match parsed {
        Ok(Args { verb: Some(Verb::Formats), .. }) => Ok(Request::Show(formats::list())),
        Ok(args) => Ok(Request::Voxelize(Box::new(args))),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => Ok(Request::Show(help::version() + "\n")),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => {
            Ok(Request::Show(format!("{}\n", e.render().to_string().trim())))
        }
        Err(e) => Err(errors::from_clap(&e, typed)),
    }
}

fn show(text: &str) -> ExitCode {
    match tell::to_stdout(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            errors::print(&error);
            ExitCode::from(errors::exit_code(&error, None))
        }
    }
}
