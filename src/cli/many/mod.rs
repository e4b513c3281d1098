//! Several meshes in one run, a file each: which there are, what becomes of each, and what is said.

mod found;
mod list;
mod names;
mod said;
mod work;

use std::path::PathBuf;
use std::time::Instant;

use voxelize::{Error, Result, format};

use super::args::{Args, InputArgs, OutputArgs};
use super::doubt::Asked;
use super::job::{Input, Recipe};
use super::leak;
use super::output::Output;
use super::place;
use super::plan::{Mode, Telling};
use super::signals::Signals;
use super::similar;
use super::typed::Typed;
use found::Found;

/// All of a run of several meshes, decided.
struct Many {
    recipe: Recipe,
    /// What was named or found, in that order.
    items: Vec<Item>,
    /// What all outputs have in common.
    output: Output,
    doubt: Option<Asked>,
    grids: Grids,
    telling: Telling,
    mode: Mode,
}

/// One of several meshes.
struct Item {
    /// As it was named.
    path: PathBuf,
    /// What is read and written; or why it cannot be.
    ready: Result<(Input, Output)>,
}

/// What decides where the cells of each are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grids {
    /// The mesh itself.
    Own,
    /// The bounds of all meshes.
    Same,
}

/// Whether there may be more than one mesh.
pub fn is_asked(args: &Args) -> bool {
    let InputArgs { meshes, files_from, .. } = &args.input;
    files_from.is_some() || meshes.len() > 1 || meshes.iter().any(|mesh| mesh.is_dir())
}

/// Refuses what makes no sense, however many meshes there are.
///
/// # Errors
/// If an option about lists is given without one.
pub fn check(input: &InputArgs, typed: &Typed) -> Result<()> {
    if input.null && input.files_from.is_none() {
        let error = Error::usage(format!("{} needs --files-from", typed.name("null")));
        return Err(
            error.with_hint("such as find . -name '*.stl' -print0 | voxelize -0 --files-from - -o DIR/")
        );
    }
    Ok(())
}

/// Voxelizes all that is asked for, and gives the exit code.
pub fn voxelize(args: Args, typed: &Typed, signals: &Signals, started: Instant) -> u8 {
    let telling = Telling::new(&args.tell, None);
    // Before a list is waited for: a folder may have been made by then.
    let result = signals
        .listen()
        .and_then(|()| Many::resolve(args, telling.clone(), typed, signals))
        .and_then(|many| work::all(&many, signals, started));
    result.unwrap_or_else(|error| super::refuse(&telling, &error, signals, started))
}

impl Many {
    /// The plan for these arguments; looks at files but changes none.
    ///
    /// # Errors
    /// If options contradict each other, two meshes would make one file, or none could be written.
    fn resolve(args: Args, telling: Telling, typed: &Typed, signals: &Signals) -> Result<Self> {
        let folder = folder(&args.input, &args.output, typed)?;
        let (mode, grids) = (Mode::of(&args), if args.input.same_grid { Grids::Same } else { Grids::Own });
        let recipe = Recipe::new(args.grid, &args.rule, &args.read, &args.run, typed)?;
        let doubt = Asked::new(&args.doubt, &recipe.rule, typed)?;
        let leak = leak::asked(&args.leak, &recipe.rule, typed)?;
        let doubtful = doubt.as_ref().is_some_and(|asked| asked.file.is_some());
        if doubtful || leak.is_some() {
            let option = typed.with_value(if doubtful { "doubt" } else { "leak" }).unwrap_or_default();
            let error = Error::usage(format!("{option}: several meshes would all write this file"));
            return Err(error.with_hint(if doubtful {
                "--max-doubt asks about each of them; --doubt takes one mesh"
            } else {
                "a warning names the longest hole of each; --leak takes one mesh"
            }));
        }
        let output = Output::in_folder(&folder, &args.output, typed)?;
        let mut named = args.input.meshes;
        if let Some(file) = &args.input.files_from {
            named.extend(list::read(file, &named, args.input.null, signals)?);
        }
        let found = found::all(&named)?;
        names::refuse_pipes_read_twice(&found, grids)?;
        let items = names::items(found, &output);
        names::check(&items, args.input.files_from.as_deref(), telling.json.as_ref())?;
        Ok(Self { recipe, items, output, doubt, grids, telling, mode })
    }
}

/// The folder that `-o` names.
fn folder(input: &InputArgs, args: &OutputArgs, typed: &Typed) -> Result<PathBuf> {
    let what = match input.meshes.as_slice() {
        [first, _, ..] if !first.exists() && similar::verb(first).is_some() => {
            return Err(similar::not_found(first));
        }
        _ if input.files_from.is_some() => "a list of meshes makes".to_string(),
        [one] => format!("{} is a folder; its meshes make", one.display()),
        meshes => format!("{} meshes make", meshes.len()),
    };
    match &args.output {
        Some(path) if place::is_folder(path) => Ok(path.clone()),
        None => {
            let last = input.meshes.last().filter(|last| format::by_path(last).is_some() && !last.exists());
            Err(Error::usage(format!("{what} a file each, in a folder that is not named")).with_hint(
                match last {
                    Some(last) => format!("-o DIR/ names it; -o {} writes one mesh there", last.display()),
                    None => "-o DIR/ names it".to_string(),
                },
            ))
        }
        Some(path) => {
            let option = typed.with_value("output").unwrap_or_default();
            let error = Error::usage(format!("{option}: {what} a file each, and this is no folder"));
            let folder = match path.as_os_str().to_str() {
                Some("-") => "DIR".to_string(),
                _ => path.with_extension("").display().to_string(),
            };
            Err(error.with_hint(format!("-o {folder}/ is one; a grid of all together is not made")))
        }
    }
}
