//! Making the grids of several meshes, each as the command makes one, beside each other.

use std::time::Instant;

use voxelize::{Bounds, Error, Kind, Progress, Result};

use super::super::bar::Bar;
use super::super::errors;
use super::super::facts::{Ending, Facts};
use super::super::job::{Grid, GridFrom, How, Recipe};
use super::super::jobs::{self, Turn};
use super::super::make;
use super::super::plan::{Plan, Voice};
use super::super::run;
use super::super::signals::Signals;
use super::said::{Ended, Teller};
use super::{Grids, Item, Many};

/// What became of a mesh, as far as it came.
pub struct Done {
    pub plan: Option<Plan>,
    pub facts: Facts,
    pub ending: Ending,
}

/// Makes the grids of all, says what became of each and of all, and gives the exit code.
///
/// # Errors
/// If none can be made: threads cannot be started, or no grid can be fitted to all meshes.
pub fn all(many: &Many, signals: &Signals, started: Instant) -> Result<u8> {
    let bar = Bar::new(many.telling.voice, signals.clone());
    let (recipe, unreadable) = match many.grids {
        Grids::Own => (many.recipe.clone(), many.items.iter().map(|_| None).collect()),
        Grids::Same => same_grid(many, &bar, signals)?,
    };
    let numbered: Vec<_> = many.items.iter().zip(&unreadable).enumerate().collect();
    let teller = Teller::new(many, &bar);
    bar.begin("meshes", many.items.len() as u64);
    jobs::each(&numbered, &recipe.how, size_of_file, |(n, (item, unreadable)), how, turn| {
        let facts = Facts::new(Instant::now());
        let known = match (unreadable, &item.ready) {
            // It was told to stop: nothing else is begun.
            _ if bar.cancelled() => Some(Error::interrupted()),
            (Some(error), _) | (_, Err(error)) => Some(error.clone()),
            _ => None,
        };
        let done = match known {
            Some(error) => failed(error, None, facts, signals),
            None => one(many, item, &recipe, how, turn, signals, facts)?,
        };
        teller.take(*n, Ended::new(many, item, &done));
        bar.advance(1);
        Some(())
    })?;
    bar.clear();
    Ok(teller.end(signals, started))
}

type Numbered<'a> = (usize, (&'a Item, &'a Option<Error>));

fn size_of_file((_, (item, _)): &Numbered) -> u64 {
    item.size()
}

/// One mesh in its turn; `None` if that has too little memory.
fn one(
    many: &Many,
    item: &Item,
    recipe: &Recipe,
    how: &How,
    turn: Turn,
    signals: &Signals,
    mut facts: Facts,
) -> Option<Done> {
    let (input, output) = item.ready.as_ref().ok()?;
    let job = Recipe { how: how.clone(), ..recipe.clone() }.job(input.clone());
    let plan = Plan { job, output: output.clone(), doubt: many.doubt.clone(), leak: None, mode: many.mode };
    // Many would share one line of the terminal: the bar counts meshes.
    let bar = Bar::new(Voice::Quiet, signals.clone());
    match run::run(&plan, &bar, signals, &mut facts) {
        Ok(ending) => Some(Done { plan: Some(plan), facts, ending }),
        Err(error) if error.kind() == Kind::TooLarge && turn == Turn::Shared => None,
        Err(error) => Some(failed(error, Some(plan), facts, signals)),
    }
}

fn failed(error: Error, plan: Option<Plan>, mut facts: Facts, signals: &Signals) -> Done {
    let ending = Ending::of(error, signals, &mut facts);
    Done { plan, facts, ending }
}

/// The recipe with one grid for all meshes, and why some of these cannot be read: those have no say.
fn same_grid(many: &Many, bar: &Bar, signals: &Signals) -> Result<(Recipe, Vec<Option<Error>>)> {
    bar.begin("bounds", many.items.len() as u64);
    let found = jobs::each(&many.items, &many.recipe.how, Item::size, |item, how, turn| {
        let bounds = bounds(many, item, how, signals);
        if matches!(&bounds, Err(e) if e.kind() == Kind::TooLarge && turn == Turn::Shared) {
            return None;
        }
        bar.advance(1);
        Some(bounds)
    })?;
    bar.clear();
    bar.check()?;
    let all = found.iter().flatten().fold(Bounds::EMPTY, |all, bounds| all.union(bounds));
    let mut recipe = many.recipe.clone();
    if !all.is_empty() {
        let lattice = recipe.grid.lattice(&all).map_err(|e| match e.kind() {
            Kind::Unfit => {
                e.with_hint("all meshes together have no size; --voxel-size S gives that of a cell")
            }
            _ => errors::about(&recipe.grid.asked, &e),
        })?;
        recipe.grid = Grid { from: GridFrom::Shared(Box::new(lattice)), ..recipe.grid };
    }
    Ok((recipe, found.into_iter().map(Result::err).collect()))
}

fn bounds(many: &Many, item: &Item, how: &How, signals: &Signals) -> Result<Bounds> {
    let (input, _) = item.ready.as_ref().map_err(Error::clone)?;
    let job = Recipe { how: how.clone(), ..many.recipe.clone() }.job(input.clone());
    let (bar, mut facts) = (Bar::new(Voice::Quiet, signals.clone()), Facts::new(Instant::now()));
    let mesh = make::read(&job, &bar, signals, &mut facts)?;
    Ok(*mesh.bounds())
}

impl Item {
    /// The bytes of the mesh; none if that cannot be said.
    fn size(&self) -> u64 {
        self.path.metadata().map_or(0, |found| found.len())
    }
}
