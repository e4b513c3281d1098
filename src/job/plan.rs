//! The memory of a job: what each phase takes at most, and the plan that fits into the limit, or the refusal. A plan
//! that is not run is a dry run.

use std::path::Path;

use crate::error::{Error, Hint, Opt, Result, hint};
use crate::format::{FORMATS, Format};
use crate::grid::{BitGrid, CellKind, Lattice};
use crate::mesh::Mesh;
use crate::rule::{Inside, Rule, ThinFeatures, doubt, leak_path};
use crate::run::{Demand, Plan, Run};
use crate::text::{bytes, counted};

/// The most memory to use, in bytes, and where the limit comes from.
#[derive(Debug, Clone, Copy)]
pub enum MemoryLimit {
    /// The caller requests it: then the grid is made in slabs that fit.
    Requested(u64),
    /// The memory that the system has now.
    Available(u64),
    /// The share of one of several jobs at a time: a job that needs more is run again alone.
    Share(u64),
    /// The system does not say.
    Unknown,
}

impl MemoryLimit {
    /// The limit, if there is one.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Requested(bytes) | Self::Available(bytes) | Self::Share(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// The limit of one of `n` equal parts.
    #[must_use]
    pub fn divided(self, n: usize) -> Self {
        match self {
            Self::Requested(bytes) => Self::Requested(bytes / n as u64),
            Self::Available(bytes) => Self::Available(bytes / n as u64),
            Self::Share(bytes) => Self::Share(bytes / n as u64),
            Self::Unknown => Self::Unknown,
        }
    }

    /// `4 GiB are allowed`, or `available`.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Requested(most) => format!("{} are allowed", bytes(most)),
            Self::Available(most) | Self::Share(most) => format!("{} are available", bytes(most)),
            Self::Unknown => return None,
        })
    }
}

/// A limit of memory, and what the program itself takes of it.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBudget {
    /// The limit.
    pub limit: MemoryLimit,
    /// The memory of the program, without mesh and grid: a requested limit holds for both.
    pub program: u64,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { limit: MemoryLimit::Unknown, program: 0 }
    }
}

impl MemoryBudget {
    /// The memory that is left for mesh and grid.
    pub fn for_job(&self) -> Option<u64> {
        match self.limit {
            MemoryLimit::Requested(bytes) => Some(bytes.saturating_sub(self.program)),
            limit => limit.bytes(),
        }
    }

    /// The memory of a job and of the program.
    pub fn with_program(&self, job: u128) -> u128 {
        job + u128::from(self.program)
    }
}

/// The cells and numbers that a job makes beside its grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// The labels of cells.
    pub labels: JobLabels,
    /// The cells in doubt: methods that find the inside are compared, as [`doubt`](crate::rule::doubt::doubt) does it.
    pub doubt: bool,
    /// The path through which a flood leaks, as [`leak_path`](crate::rule::leak_path::leak_path) finds it.
    pub leak: bool,
    /// The numbers of the nearest triangles, where the rule makes a field.
    pub nearest: bool,
}

/// The labels of the cells of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobLabels {
    /// None.
    #[default]
    Off,
    /// Surface and interior, as [`surface_and_interior`](crate::rule::surface_and_interior) has them, where the rule
    /// [has labels](Rule::has_labels).
    SurfaceAndInterior,
    /// One for each of the [parts](Mesh::parts): the rule judges each part as a mesh of its own, and a cell that
    /// several occupy has the label of the first.
    Parts,
}

/// The file that the cells of a job go to, slab by slab.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its format.
    pub format: &'static Format,
    /// Its name, unless it is a stream.
    pub path: Option<&'a Path>,
}

/// The memory of one phase, without mesh, cells and the buffers of threads.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPhase {
    /// Its name.
    pub name: &'static str,
    /// Its bytes at most.
    pub bytes: u128,
}

/// How a grid is held, and the memory that it takes.
#[derive(Debug, Clone)]
pub struct MemoryPlan {
    /// How it is held.
    pub strategy: Plan,
    /// In how many slabs the grid is made.
    pub slabs: usize,
    /// Its memory in bytes at most, without the program itself.
    pub bytes: u128,
    /// The memory of the whole grid at once.
    pub dense: u128,
    /// Its parts: mesh, cells, and the largest phase.
    pub parts: Vec<MemoryPhase>,
}

/// The inputs and outputs of a job, as far as they take memory.
pub(super) struct Needs<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub run: &'a Run<'a>,
    pub rule: Rule,
    /// Where the cells go slab by slab, if they may.
    pub target: Option<Target<'a>>,
    pub extras: Extras,
}

impl Needs<'_> {
    /// The phases, one after the other; cells of doubt and leak stay while the output is made.
    fn phases(&self) -> Vec<MemoryPhase> {
        let grids = |n: u128| n * BitGrid::bytes_for(self.lattice.dims());
        let [labels, doubt, leak] = [self.is_labelled(), self.extras.doubt, self.extras.leak].map(u128::from);
        let kept = if self.is_whole() { labels + doubt + leak } else { 0 };
        let extra = self.rule.extra_bytes(self.mesh, self.lattice, self.run);
        let mut phases = vec![MemoryPhase { name: "rule", bytes: extra + grids(kept) }];
        if self.extras.doubt {
            let bytes = doubt::extra_bytes(self.mesh, self.lattice, self.run);
            phases.push(MemoryPhase { name: "doubt", bytes });
        }
        if self.extras.leak {
            let bytes = leak_path::extra_bytes(self.mesh, self.lattice, self.run) + grids(doubt);
            phases.push(MemoryPhase { name: "leak", bytes });
        }
        phases
    }

    /// Whether the grid is made at once.
    fn is_whole(&self) -> bool {
        self.target.is_none() || self.extras.doubt || self.extras.leak
    }

    /// What keeps the whole grid in memory, even if it is written in slabs.
    fn keeps_whole_grid(&self) -> Option<&'static str> {
        match self.rule {
            Rule::Solid { thin: ThinFeatures::Keep, .. } => Some("keeping thin features"),
            Rule::Filled { shell: Some(_), .. } => Some("a shell"),
            _ if self.extras.doubt => Some("the search for cells in doubt"),
            _ if self.extras.leak => Some("the search for leaks"),
            rule if rule.inside().is_some_and(Inside::is_flood) => Some("a flood"),
            _ => None,
        }
    }

    /// Whether cells are surface and interior.
    fn is_labelled(&self) -> bool {
        self.extras.labels == JobLabels::SurfaceAndInterior && self.rule.has_labels()
    }

    /// Grids of the labels of parts: their occupancy, planes or bytes, and a grid for each part.
    fn label_grids(&self) -> u128 {
        let parts = self.mesh.parts().map_or(1, |parts| parts.names().len());
        let values = if parts > 4 { 8 } else { 2 };
        1 + values + parts.min(255) as u128
    }

    fn layers(&self) -> usize {
        self.target.map_or(1, |target| target.format.slab_layers)
    }

    fn demand(&self, phases: &[MemoryPhase]) -> Demand {
        let peak = phases.iter().map(|phase| phase.bytes).max().unwrap_or(0);
        let demand = Demand::new(self.mesh, self.lattice, self.run).with(peak);
        match self.rule.kind() {
            CellKind::Field => demand.field(self.extras.nearest),
            _ if self.extras.labels == JobLabels::Parts => demand.grids(self.label_grids()),
            _ if self.is_labelled() && !self.is_whole() => demand.labelled(),
            _ => demand,
        }
    }

    /// The plan that fits; the refusal if none does.
    pub(super) fn plan(&self, budget: &MemoryBudget) -> Result<MemoryPlan> {
        let limit = u128::from(self.run.max_memory.unwrap_or(u64::MAX));
        let phases = self.phases();
        let demand = self.demand(&phases);
        let fits = |strategy: &Plan| demand.bytes(*strategy) <= limit;
        let bricks = demand.bricks(self.layers());
        let bricks = bricks.filter(|bricks| {
            !self.is_whole()
                && self.extras.labels != JobLabels::Parts
                && self.rule.has_bricks()
                && fits(bricks)
        });
        let in_slabs = || demand.fit(limit, self.layers());
        let is_field = self.rule.kind() == CellKind::Field;
        let field_slabs = Some(demand.field_slabs(self.layers())).filter(fits);
        let found = match budget.limit {
            _ if bricks.is_some() => bricks,
            // Slabs of a field are as fast as all of it.
            _ if is_field && !self.is_whole() => field_slabs.or_else(in_slabs),
            MemoryLimit::Requested(_) if !self.is_whole() => in_slabs(),
            _ => Some(Plan::Dense).filter(fits),
        };
        let strategy = found.ok_or_else(|| self.refusal(budget, &demand))?;
        let slabs = match strategy {
            Plan::Dense => 1,
            Plan::Slabs(height) | Plan::Bricks(height) => self.lattice.dims()[2].div_ceil(height),
        };
        let bytes = demand.bytes(strategy);
        let dense = demand.bytes(Plan::Dense);
        let mesh = Run::estimate(self.mesh.triangles().len(), [0; 3]);
        let largest = phases.into_iter().max_by_key(|phase| phase.bytes).filter(|phase| phase.bytes > 0);
        let rest = bytes - mesh - largest.map_or(0, |phase| phase.bytes);
        let parts = [MemoryPhase { name: "mesh", bytes: mesh }, MemoryPhase { name: "cells", bytes: rest }];
        let parts = parts.into_iter().chain(largest).collect();
        Ok(MemoryPlan { strategy, slabs, bytes, dense, parts })
    }

    /// The refusal of a job that does not fit.
    fn refusal(&self, budget: &MemoryBudget, demand: &Demand) -> Error {
        let says = match budget.limit {
            MemoryLimit::Share(_) | MemoryLimit::Unknown => return share_exceeded(),
            limit => limit.text().unwrap_or_default(),
        };
        let is_requested = matches!(budget.limit, MemoryLimit::Requested(_));
        // The limit that leaves so much for the job.
        let limit_for = |job: u128| if is_requested { budget.with_program(job) } else { job };
        let smaller = hint!["make the cells larger" | "raise {}" MaxMemory];
        let dense = bytes(limit_for(demand.bytes(Plan::Dense)));
        let whole = self.keeps_whole_grid().filter(|_| is_requested);
        let message = |what: &str, need: &str| format!("{what} {need}, {says}");
        let grid = self.grid_bytes();
        let too_much = match grid {
            grid if grid > u128::from(budget.limit.bytes().unwrap_or(u64::MAX)) => {
                message("the grid needs", &bytes(grid))
            }
            _ if is_requested => message("program, mesh and grid need", &dense),
            _ => message("mesh and grid need", &dense),
        };
        match (self.target.filter(|_| !self.is_whole()), whole) {
            (None, Some(what)) => {
                Error::too_large(message(&format!("{what} needs the whole grid in memory:"), &dense))
                    .with_hint(smaller)
            }
            (None, None) if is_requested => Error::too_large(too_much).with_hint(smaller),
            (None, None) => Error::too_large(too_much).with_hint("make the cells larger"),
            (Some(_), _) if !is_requested => Error::too_large(too_much).with_hint(
                hint!["make the cells larger" | "set {}, which makes the grid in slabs that fit" MaxMemory],
            ),
            (Some(target), Some(what)) => {
                let need = bytes(limit_for(demand.least(target.format.slab_layers)));
                Error::too_large(message(&format!("{what} needs the whole grid in memory:"), &need))
                    .with_hint(smaller)
            }
            (Some(target), None) => {
                let layers = target.format.slab_layers.min(self.lattice.dims()[2]);
                let layers = counted(layers as u64, "layer", "layers");
                let least = bytes(limit_for(demand.least(target.format.slab_layers)));
                let name = target.format.name;
                let text = format!("{too_much}; slabs of {layers}, the least for {name}, need {least}");
                Error::too_large(text).with_hint(self.streams(target, demand).unwrap_or(smaller.into()))
            }
        }
    }

    fn grid_bytes(&self) -> u128 {
        let cells: u128 = self.lattice.dims().iter().map(|&n| n as u128).product();
        match self.rule.kind() {
            CellKind::Field => cells * size_of::<f32>() as u128,
            _ => Run::estimate(0, self.lattice.dims()),
        }
    }

    /// The formats that would fit in slabs; `None` if there are none.
    fn streams(&self, target: Target, demand: &Demand) -> Option<Hint> {
        let limit = u128::from(self.run.max_memory.unwrap_or(u64::MAX));
        let streamed: Vec<_> =
            FORMATS.iter().filter(|other| demand.fit(limit, other.slab_layers).is_some()).collect();
        let last = streamed.last()?;
        let (option, value) = match target.path {
            None => (Opt::OutputFormat, last.name.to_string()),
            Some(path) => (Opt::Output, path.with_extension(last.extensions[0]).display().to_string()),
        };
        let names = streamed.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        let hint =
            Hint::default().with_step(format!("{{}} streams it in slabs ({names} can)"), option, value);
        Some(hint.with_step("{} shows the plans", Opt::DryRun, ""))
    }
}

/// The error of a job that needs more than its share: it is run again alone.
pub(super) fn share_exceeded() -> Error {
    Error::too_large("needs more than its share of the memory")
}
