//! The memory of a job: the estimate of each phase, and the strategy that fits into the limit, or the refusal.
//! Dry runs, refusals, JSON and -v all read this one plan.

use voxelize::format::{FORMATS, Format};
use voxelize::grid::CellKind;
use voxelize::rule::usual::Usual;
use voxelize::rule::{doubt, leak_path};
use voxelize::run::{Demand, Plan as Strategy};
use voxelize::{BitGrid, Error, Inside, Lattice, Level, Mesh, Result, Rule, Run, ThinFeatures, par};

use super::args::values::Simd;
use super::args::{PowerArgs, prefixed};
use super::argv::Argv;
use super::files::Destination;
use super::limits::{affordable_threads, available_memory};
use super::report::display::{bytes, counted};

/// Code, and buffers that are the same for every job, in bytes: 10 to 13 MiB, and 4 MiB on their way to a file.
const PROGRAM: u64 = 16 << 20;

/// Of these, what is there as a rule.
const USUAL_PROGRAM: u64 = 19 << 19;

/// The memory of a thread, for its stack and in the allocator: 64 threads took 3 MiB.
const THREAD: u64 = 64 << 10;

/// So many threads are started at most, where the system does not offer more: others only wait for each
/// other, and to start a thousand takes most of a second.
const MAX_THREADS: usize = 64;

/// The resources of the work; they never change a result.
#[derive(Clone)]
pub struct Resources {
    pub threads: usize,
    pub level: Level,
    pub memory: Limit,
    /// The memory in addition to mesh and grid, in bytes.
    pub extra_bytes: u64,
}

/// The most memory to use, and who says so, in bytes.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// `--max-memory`.
    Requested(u64),
    /// The memory that the system has now.
    Available(u64),
    /// The share of one of several jobs at a time: a job that needs more is run again alone.
    Share(u64),
    Unknown,
}

impl Limit {
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Requested(bytes) | Self::Available(bytes) | Self::Share(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// The limit of one of `n` equal parts.
    pub fn divided(self, n: usize) -> Self {
        match self {
            Self::Requested(bytes) => Self::Requested(bytes / n as u64),
            Self::Available(bytes) => Self::Available(bytes / n as u64),
            Self::Share(bytes) => Self::Share(bytes / n as u64),
            Self::Unknown => Self::Unknown,
        }
    }

    /// `--max-memory allows 4 GiB`.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Requested(most) => format!("--max-memory allows {}", bytes(most)),
            Self::Available(most) | Self::Share(most) => format!("{} are available", bytes(most)),
            Self::Unknown => return None,
        })
    }
}

impl Resources {
    /// The requested threads and instruction set, and the available memory.
    pub fn new(args: &PowerArgs, max_memory: Option<u64>, argv: &Argv) -> Result<Self> {
        let level = match args.simd {
            Some(Simd::Level(level)) => Some(level),
            Some(Simd::Auto) | None => None,
        };
        let run = Run::default().threads(args.threads.unwrap_or(0)).level(level);
        let level = run
            .supported_level()
            .map_err(|e| prefixed(&format!("{}: ", argv.with_value("simd").unwrap_or_default()), &e))?;
        let most = par::available_threads().max(MAX_THREADS);
        let threads = run.thread_count().min(most).min(affordable_threads().unwrap_or(most));
        let memory = match (max_memory, available_memory(threads)) {
            (Some(bytes), _) => Limit::Requested(bytes),
            (None, Some(bytes)) => Limit::Available(bytes),
            (None, None) => Limit::Unknown,
        };
        let resources = Self { threads, level, memory, extra_bytes: 0 };
        match max_memory.filter(|most| *most < resources.program()) {
            Some(_) => Err(resources.too_little(argv)),
            None => Ok(resources),
        }
    }

    /// The refusal of a limit that the program itself does not keep.
    fn too_little(&self, argv: &Argv) -> Error {
        let least = bytes(self.program().div_ceil(1 << 20) << 20);
        let error = Error::too_large(format!(
            "{}: the program itself takes up to {least}",
            argv.with_value("max-memory").unwrap_or_default()
        ));
        error.with_hint(format!("raise --max-memory above {least}"))
    }

    /// The share of one of `jobs` at a time; the program itself is there once.
    pub fn share(&self, jobs: usize) -> Self {
        let memory = self.for_job().map_or(Limit::Unknown, |bytes| Limit::Share(bytes / jobs as u64));
        Self { threads: self.threads / jobs, memory, ..self.clone() }
    }

    /// The memory that a limit leaves for the job, beside the program.
    pub fn for_job(&self) -> Option<u64> {
        match self.memory {
            Limit::Requested(bytes) => Some(bytes.saturating_sub(self.program())),
            limit => limit.bytes(),
        }
    }

    /// The memory of a job and of the program.
    pub fn with_program(&self, job: u128) -> u128 {
        job + u128::from(self.program())
    }

    /// The memory that the program takes as a rule.
    pub fn usual_program(&self) -> u128 {
        u128::from(USUAL_PROGRAM + THREAD * self.threads as u64 + self.extra_bytes)
    }

    /// The memory of the program itself, without mesh and grid.
    fn program(&self) -> u64 {
        PROGRAM + THREAD * self.threads as u64 + self.extra_bytes
    }
}

/// The inputs and outputs of a job.
pub struct Needs<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub run: &'a Run<'a>,
    pub rule: Rule,
    /// The option that decides the size of the grid, for the refusal.
    pub option: &'a str,
    /// Where the cells go slab by slab, if they may.
    pub output: Option<(&'static Format, &'a Destination)>,
    pub labels: bool,
    pub doubt: bool,
    pub leak: bool,
    /// Whether the nearest triangles are written, too.
    pub nearest: bool,
}

/// The memory of one phase, without mesh, cells and the buffers of threads.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPhase {
    pub name: &'static str,
    pub bytes: u128,
}

/// How a grid is held, and what that takes.
#[derive(Debug, Clone)]
pub struct MemoryPlan {
    pub strategy: Strategy,
    /// In how many slabs the grid is made.
    pub slabs: usize,
    /// Its memory in bytes at most, without the program itself.
    pub bytes: u128,
    /// The peak that is expected, with the program; known of a dry run.
    pub peak: Option<u128>,
    /// The memory of the whole grid at once.
    pub dense: u128,
    /// Its parts: mesh, cells, and the largest phase.
    pub parts: Vec<MemoryPhase>,
}

impl Needs<'_> {
    /// The phases, one after the other; cells of doubt and leak stay while the output is made.
    fn phases(&self) -> Vec<MemoryPhase> {
        let grids = |n: u128| n * BitGrid::bytes_for(self.lattice.dims());
        let [labels, doubt, leak] = [self.labels, self.doubt, self.leak].map(u128::from);
        let kept = if self.is_whole() { labels + doubt + leak } else { 0 };
        let extra = self.rule.extra_bytes(self.mesh, self.lattice, self.run);
        let mut phases = vec![MemoryPhase { name: "rule", bytes: extra + grids(kept) }];
        if self.doubt {
            phases.push(MemoryPhase {
                name: "doubt",
                bytes: doubt::extra_bytes(self.mesh, self.lattice, self.run),
            });
        }
        if self.leak {
            let bytes = leak_path::extra_bytes(self.mesh, self.lattice, self.run) + grids(doubt);
            phases.push(MemoryPhase { name: "leak", bytes });
        }
        phases
    }

    /// Whether the grid is made at once.
    fn is_whole(&self) -> bool {
        self.output.is_none() || self.doubt || self.leak
    }

    /// The option that keeps the whole grid in memory, even if it is written in slabs.
    fn keeps_whole_grid(&self) -> Option<&'static str> {
        match self.rule {
            Rule::Solid { thin: ThinFeatures::Keep, .. } => Some("--keep-thin"),
            Rule::Filled { shell: Some(_), .. } => Some("--hollow"),
            _ if self.doubt => Some("--doubt"),
            _ if self.leak => Some("--leak"),
            rule if rule.inside().is_some_and(Inside::is_flood) => Some("--inside flood"),
            _ => None,
        }
    }

    /// The bytes that the job takes as a rule.
    pub fn usual(&self, plan: Strategy) -> u128 {
        let Self { mesh, lattice, run, rule, labels, doubt, leak, nearest, .. } = *self;
        Usual { mesh, lattice, rule, run, plan, labels, doubt, leak, nearest }.bytes()
    }

    fn layers(&self) -> usize {
        self.output.map_or(1, |(format, _)| format.slab_layers)
    }

    fn demand(&self, phases: &[MemoryPhase]) -> Demand {
        let peak = phases.iter().map(|phase| phase.bytes).max().unwrap_or(0);
        let demand = Demand::new(self.mesh, self.lattice, self.run).with(peak);
        match self.rule.kind() {
            CellKind::Field => demand.field(self.nearest),
            _ if self.labels && !self.is_whole() => demand.labelled(),
            _ => demand,
        }
    }
}

impl MemoryPlan {
    /// The plan that fits; the refusal if none does.
    pub fn new(needs: &Needs, resources: &Resources) -> Result<Self> {
        let limit = u128::from(needs.run.max_memory.unwrap_or(u64::MAX));
        let phases = needs.phases();
        let demand = needs.demand(&phases);
        let fits = |strategy: &Strategy| demand.bytes(*strategy) <= limit;
        let bricks = demand.bricks(needs.layers());
        let bricks = bricks.filter(|bricks| !needs.is_whole() && needs.rule.has_bricks() && fits(bricks));
        let in_slabs = || demand.fit(limit, needs.layers());
        let is_field = needs.rule.kind() == CellKind::Field;
        let field_slabs = Some(demand.field_slabs(needs.layers())).filter(fits);
        let found = match resources.memory {
            _ if bricks.is_some() => bricks,
            // Slabs of a field are as fast as all of it.
            _ if is_field && !needs.is_whole() => field_slabs.or_else(in_slabs),
            Limit::Requested(_) if !needs.is_whole() => in_slabs(),
            _ => Some(Strategy::Dense).filter(fits),
        };
        let strategy = found.ok_or_else(|| refusal(needs, resources, &demand))?;
        let slabs = match strategy {
            Strategy::Dense => 1,
            Strategy::Slabs(height) | Strategy::Bricks(height) => needs.lattice.dims()[2].div_ceil(height),
        };
        let bytes = demand.bytes(strategy);
        let dense = demand.bytes(Strategy::Dense);
        let mesh = Run::estimate(needs.mesh.triangles().len(), [0; 3]);
        let largest = phases.into_iter().max_by_key(|phase| phase.bytes).filter(|phase| phase.bytes > 0);
        let rest = bytes - mesh - largest.map_or(0, |phase| phase.bytes);
        let parts = [MemoryPhase { name: "mesh", bytes: mesh }, MemoryPhase { name: "cells", bytes: rest }];
        let parts = parts.into_iter().chain(largest).collect();
        Ok(Self { strategy, slabs, bytes, peak: None, dense, parts })
    }
}

/// The refusal of a job that does not fit.
fn refusal(needs: &Needs, resources: &Resources, demand: &Demand) -> Error {
    let Some(says) = resources.memory.text().filter(|_| !matches!(resources.memory, Limit::Share(_))) else {
        // The scheduler retries it with the whole budget; this message is not shown.
        return Error::too_large("needs more than its share of the memory");
    };
    let is_requested = matches!(resources.memory, Limit::Requested(_));
    // The limit that leaves so much for the job.
    let limit_for = |job: u128| match is_requested {
        true => resources.with_program(job),
        false => job,
    };
    let allowed = u128::from(resources.memory.bytes().unwrap_or(u64::MAX));
    let cells: u128 = needs.lattice.dims().iter().map(|&n| n as u128).product();
    let grid = match needs.rule.kind() {
        CellKind::Field => cells * size_of::<f32>() as u128,
        _ => Run::estimate(0, needs.lattice.dims()),
    };
    let (what, need) = match grid {
        grid if grid > allowed => ("the grid needs", grid),
        _ if is_requested => ("program, mesh and grid need", limit_for(demand.bytes(Strategy::Dense))),
        _ => ("mesh and grid need", demand.bytes(Strategy::Dense)),
    };
    let message = format!("{}: {what} {}, {says}", needs.option, bytes(need));
    let Some((format, destination)) = needs.output.filter(|_| !needs.is_whole()) else {
        let raise = if is_requested { ", or raise --max-memory" } else { "" };
        let message = match needs.keeps_whole_grid() {
            Some(option) if is_requested => {
                let need = bytes(limit_for(demand.bytes(Strategy::Dense)));
                format!("{option} needs the whole grid in memory: {need}, {says}")
            }
            _ => message,
        };
        return Error::too_large(message).with_hint(format!("make the cells larger{raise}"));
    };
    if !is_requested {
        return Error::too_large(message)
            .with_hint("make the cells larger, or set --max-memory, which makes the grid in slabs that fit");
    }
    if let Some(option) = needs.keeps_whole_grid() {
        let need = bytes(limit_for(demand.least(format.slab_layers)));
        let message = format!("{option} needs the whole grid in memory: {need}, {says}");
        return Error::too_large(message).with_hint("make the cells larger, or raise --max-memory");
    }
    let layers = counted(format.slab_layers.min(needs.lattice.dims()[2]) as u64, "layer", "layers");
    let least = bytes(limit_for(demand.least(format.slab_layers)));
    Error::too_large(format!("{message}; slabs of {layers}, the least for {}, need {least}", format.name))
        .with_hint(streaming_hint(needs, demand, destination))
}

/// The formats that would fit in slabs.
fn streaming_hint(needs: &Needs, demand: &Demand, destination: &Destination) -> String {
    let limit = u128::from(needs.run.max_memory.unwrap_or(u64::MAX));
    let streamed = FORMATS.iter().filter(|other| demand.fit(limit, other.slab_layers).is_some());
    let streamed: Vec<_> = streamed.collect();
    let Some(last) = streamed.last() else {
        return "make the cells larger, or raise --max-memory".to_string();
    };
    let such_as = match destination {
        Destination::Stdout => format!("-f {}", last.name),
        Destination::File(path) => format!("-o {}", path.with_extension(last.extensions[0]).display()),
    };
    let names: Vec<_> = streamed.iter().map(|format| format.name).collect();
    format!("{such_as} streams it in slabs ({} can); --dry-run shows the plans", names.join(", "))
}
