//! The leak path: what `--leak` asks for, and what is told of it.

use voxelize::{Error, Inside, Result, Rule};

use super::args::LeakArgs;
use super::extra::Extra;
use super::numbers::counted;
use super::typed::Typed;

/// The file of the path, if these arguments ask for it.
///
/// # Errors
/// If inside is not told by a flood, or no format has the file's extension.
pub fn asked(args: &LeakArgs, rule: &Rule, typed: &Typed) -> Result<Option<Extra>> {
    let Some(path) = &args.leak else { return Ok(None) };
    if !rule.inside().is_some_and(Inside::is_flood) {
        return Err(without_flood(&typed.name("leak"), rule));
    }
    Extra::new(path, "--leak", "the way in").map(Some)
}

/// The refusal of an option that is for a flood, where there is none.
fn without_flood(option: &str, rule: &Rule) -> Error {
    let why = match rule.inside() {
        Some(inside) => format!("inside is told by {}", inside.name()),
        None => format!("the rule {} leaves the inside empty", rule.name()),
    };
    let error = Error::usage(format!("{option}: is for a flood, and {why}"));
    error.with_hint("it goes with --filled or --solid, and --inside flood")
}

/// `12 cells from outside to inside`.
pub fn line(cells: u64) -> String {
    match cells {
        0 => "no way in".to_string(),
        _ => format!("{} from outside to inside", counted(cells, "cell", "cells")),
    }
}
