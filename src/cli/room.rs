//! Which plan fits in memory: the whole grid at once, or slabs; and the refusal if none does.

use voxelize::format::FORMATS;
use voxelize::rule::{doubt, leak_path};
use voxelize::run::{Demand, Plan as MemoryPlan, bytes};
use voxelize::{BitGrid, Error, Lattice, Mesh, Result, Run};

use super::errors;
use super::job::{How, Job, Limit};
use super::numbers::counted;
use super::place::Place;
use super::plan::Plan;

/// Code, and buffers that are the same for every job, in bytes.
const PROGRAM: u64 = 14 << 20;

/// What a thread takes of its stack and of the allocator: 64 threads were seen to take 3 MiB.
const THREAD: u64 = 64 << 10;

/// The plan of memory for a run.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// How the grid is held.
    pub plan: MemoryPlan,
    /// In how many slabs it is made.
    pub slabs: usize,
    /// What that takes, in bytes, beside the program itself.
    pub bytes: u128,
    /// What the whole grid at once would take.
    pub dense: u128,
}

impl Room {
    /// The plan that fits.
    ///
    /// # Errors
    /// If none does.
    pub fn find(plan: &Plan, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        if plan.doubt.is_some() || plan.leak.is_some() {
            return Self::with_more(plan, mesh, lattice, run);
        }
        let demand = demand(&plan.job, mesh, lattice, run);
        let demand = if plan.has_parts() { demand.in_parts() } else { demand };
        let limit = u128::from(run.max_memory.unwrap_or(u64::MAX));
        let multiple = plan.output.format.slab_layers;
        let fits = |bricks: &MemoryPlan| plan.job.rule.has_bricks() && demand.bytes(*bricks) <= limit;
        let found = match (demand.bricks(multiple).filter(fits), &plan.job.how.memory) {
            (Some(bricks), _) => bricks,
            (None, Limit::Asked(..)) => {
                demand.fit(limit, multiple).ok_or_else(|| none_fits(plan, lattice, &demand, limit))?
            }
            (None, Limit::Part(_)) => return Self::part(&plan.job, &demand, run),
            (None, _) => {
                let hint =
                    "make the cells larger, or set --max-memory, which makes the grid in slabs that fit";
                return Self::available(&plan.job, mesh, lattice, run, more_grids(plan), hint);
            }
        };
        let slabs = match found {
            MemoryPlan::Dense => 1,
            MemoryPlan::Slabs(height) | MemoryPlan::Bricks(height) => lattice.dims()[2].div_ceil(height),
        };
        let (bytes, dense) = (demand.bytes(found), demand.bytes(MemoryPlan::Dense));
        Ok(Self { plan: found, slabs, bytes, dense })
    }

    /// Room for the whole grid at once, where slabs are of no use.
    ///
    /// # Errors
    /// If there is none.
    pub fn whole(job: &Job, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        Self::at_once(job, &demand(job, mesh, lattice, run), mesh, lattice, run, 0)
    }

    /// Room for the whole grid and all that doubt and the way in of a flood take, one after the other: their
    /// cells stay while those of the output are made.
    fn with_more(plan: &Plan, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        let grids = |n: u128| n * BitGrid::bytes_for(lattice.dims());
        let [doubt, leak] = [plan.doubt.is_some(), plan.leak.is_some()].map(u128::from);
        let parts = if plan.has_parts() { 2 } else { 0 };
        let after = plan.job.rule.extra_bytes(mesh, lattice, run) + grids(parts + doubt + leak);
        let doubting = doubt * doubt::extra_bytes(mesh, lattice, run);
        let leaking = leak * (leak_path::extra_bytes(mesh, lattice, run) + grids(doubt));
        let demand = Demand::new(mesh, lattice, run).with(after.max(doubting).max(leaking));
        Self::at_once(&plan.job, &demand, mesh, lattice, run, more_grids(plan))
    }

    /// Room for what takes so much in one piece, with `more` grids than the one of the cells.
    fn at_once(
        job: &Job,
        demand: &Demand,
        mesh: &Mesh,
        lattice: &Lattice,
        run: &Run,
        more: u128,
    ) -> Result<Self> {
        let (allowed, option) = match &job.how.memory {
            Limit::Asked(allowed, option) => (allowed, option),
            Limit::Part(_) => return Self::part(job, demand, run),
            _ => return Self::available(job, mesh, lattice, run, more, "make the cells larger"),
        };
        let need = demand.bytes(MemoryPlan::Dense);
        if need <= u128::from(run.max_memory.unwrap_or(u64::MAX)) {
            return Ok(Self { plan: MemoryPlan::Dense, slabs: 1, bytes: need, dense: need });
        }
        let (need, allowed) = (bytes(limit_for(need, &job.how)), bytes(u128::from(*allowed)));
        let asked = &job.grid.asked;
        let what = format!("{asked}: program, mesh and grid need {need}, {option} allows {allowed}");
        Err(Error::too_large(what).with_hint(format!("make the cells larger, or raise {option}")))
    }

    /// Room for the whole grid within a part of the memory.
    fn part(job: &Job, demand: &Demand, run: &Run) -> Result<Self> {
        let need = demand.bytes(MemoryPlan::Dense);
        if need > u128::from(run.max_memory.unwrap_or(u64::MAX)) {
            refuse_part(job)?;
        }
        Ok(Self { plan: MemoryPlan::Dense, slabs: 1, bytes: need, dense: need })
    }

    /// Room for the whole grid, and `more` of its size, within what the system has; `hint` for when it is
    /// not there.
    fn available(
        job: &Job,
        mesh: &Mesh,
        lattice: &Lattice,
        run: &Run,
        more: u128,
        hint: &str,
    ) -> Result<Self> {
        let (triangles, dims) = (mesh.triangles().len(), lattice.dims());
        let more = more * BitGrid::bytes_for(dims) + job.rule.extra_bytes(mesh, lattice, run);
        let bytes = Run::estimate(triangles, dims) + more;
        let refused = |limit: u64| unavailable(job, mesh, lattice, limit, more).with_hint(hint);
        match job.how.memory.bytes() {
            Some(limit) if bytes > u128::from(limit) => return Err(refused(limit)),
            _ => run.admit(triangles, dims, more).map_err(|error| errors::about(&job.grid.asked, &error))?,
        }
        Ok(Self { plan: MemoryPlan::Dense, slabs: 1, bytes, dense: bytes })
    }
}

/// How many grids there are at a time, in the end or while doubt or a way in is found, beside that of the
/// cells.
fn more_grids(plan: &Plan) -> u128 {
    let [doubt, leak] = [plan.doubt.is_some(), plan.leak.is_some()].map(u128::from);
    let parts = if plan.has_parts() { 2 } else { 0 };
    (parts + doubt + leak).max(doubt * doubt::GRIDS).max(leak * (leak_path::GRIDS + doubt))
}

/// What a job takes.
fn demand(job: &Job, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Demand {
    Demand::new(mesh, lattice, run).with(job.rule.extra_bytes(mesh, lattice, run))
}

/// What of the memory that was asked for is left for the job: the program itself gets what it takes,
/// or half, where that is less.
pub fn for_job(how: &How) -> Option<u64> {
    match &how.memory {
        Limit::Asked(bytes, _) => Some(bytes - program(how).min(bytes / 2)),
        limit => limit.bytes(),
    }
}

/// The part of the memory that one of so many jobs at a time may take; the program itself is there once.
pub fn part(how: &How, jobs: usize) -> Limit {
    match (for_job(how), &how.memory) {
        (Some(bytes), _) => Limit::Part(bytes / jobs as u64),
        (None, limit) => limit.clone(),
    }
}

/// Refuses a job that has a part of the memory only, of which it needs more: it waits for its turn alone, and
/// nobody hears why.
pub fn refuse_part(job: &Job) -> Result<()> {
    match job.how.memory {
        Limit::Part(_) => Err(Error::too_large("needs more than a part of the memory")),
        _ => Ok(()),
    }
}

/// The limit that leaves so much for the job.
fn limit_for(job: u128, how: &How) -> u128 {
    job + job.min(u128::from(program(how)))
}

/// What the program itself takes, and what it holds beside mesh and grid.
fn program(how: &How) -> u64 {
    PROGRAM + THREAD * how.threads as u64 + how.beside
}

/// The refusal of a grid above what is available.
fn unavailable(job: &Job, mesh: &Mesh, lattice: &Lattice, limit: u64, more: u128) -> Error {
    let limit = u128::from(limit);
    let (what, need) = match Run::estimate(0, lattice.dims()) {
        grid if grid > limit => ("the grid needs", grid),
        _ => ("mesh and grid need", Run::estimate(mesh.triangles().len(), lattice.dims()) + more),
    };
    let (asked, need, limit) = (&job.grid.asked, bytes(need), bytes(limit));
    Error::too_large(format!("{asked}: {what} {need}, {limit} are available"))
}

/// The refusal of a job whose lowest slabs are above the limit that was asked for.
fn none_fits(plan: &Plan, lattice: &Lattice, demand: &Demand, limit: u128) -> Error {
    let Limit::Asked(allowed, option) = &plan.job.how.memory else { unreachable!("nobody asked for less") };
    let (what, need) = match Run::estimate(0, lattice.dims()) {
        grid if grid > u128::from(*allowed) => ("the grid needs", grid),
        _ => ("program, mesh and grid need", limit_for(demand.bytes(MemoryPlan::Dense), &plan.job.how)),
    };
    let format = plan.output.format;
    let layers = counted(format.slab_layers.min(lattice.dims()[2]) as u64, "layer", "layers");
    let (asked, need, allowed) = (&plan.job.grid.asked, bytes(need), bytes(u128::from(*allowed)));
    let least = bytes(limit_for(demand.least(format.slab_layers), &plan.job.how));
    let streamed = FORMATS.iter().filter(|other| demand.fit(limit, other.slab_layers).is_some());
    let streamed: Vec<_> = streamed.collect();
    let hint = match (streamed.last(), &plan.output.place) {
        (None, _) => format!("make the cells larger, or raise {option}"),
        (Some(last), place) => {
            let such_as = match place {
                Place::Stdout => format!("-f {}", last.name),
                Place::File(path) => format!("-o {}", path.with_extension(last.extensions[0]).display()),
            };
            let names: Vec<_> = streamed.iter().map(|format| format.name).collect();
            format!("{such_as} streams it in slabs ({} can); --dry-run shows the plans", names.join(", "))
        }
    };
    let what = format!("{asked}: {what} {need}, {option} allows {allowed}");
    Error::too_large(format!("{what}; slabs of {layers}, the least for {}, need {least}", format.name))
        .with_hint(hint)
}
