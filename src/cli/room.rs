//! Which plan fits in memory: the whole grid at once, or slabs; and the refusal if none does.

use voxelize::format::FORMATS;
use voxelize::run::{Demand, Plan as MemoryPlan, bytes};
use voxelize::{Error, Lattice, Mesh, Result, Run};

use super::errors;
use super::job::{How, Job, Limit};
use super::numbers::counted;
use super::output::Place;
use super::plan::Plan;

/// Code, and buffers that are the same for every job, in bytes.
const PROGRAM: u64 = 10 << 20;

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
        let demand = Demand::new(mesh, lattice, run);
        let limit = u128::from(run.max_memory.unwrap_or(u64::MAX));
        let multiple = plan.output.format.slab_layers;
        let fits = |bricks: &MemoryPlan| plan.job.what.has_bricks() && demand.bytes(*bricks) <= limit;
        let found = match (demand.bricks(multiple).filter(fits), &plan.job.how.memory) {
            (Some(bricks), _) => bricks,
            (None, Limit::Asked(..)) => {
                demand.fit(limit, multiple).ok_or_else(|| none_fits(plan, lattice, &demand, limit))?
            }
            (None, _) => {
                let hint =
                    "make the cells larger, or set --max-memory, which makes the grid in slabs that fit";
                return Self::available(&plan.job, mesh, lattice, run, hint);
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
        let Limit::Asked(allowed, option) = &job.how.memory else {
            return Self::available(job, mesh, lattice, run, "make the cells larger");
        };
        let need = Demand::new(mesh, lattice, run).bytes(MemoryPlan::Dense);
        if need <= u128::from(run.max_memory.unwrap_or(u64::MAX)) {
            return Ok(Self { plan: MemoryPlan::Dense, slabs: 1, bytes: need, dense: need });
        }
        let (need, allowed) = (bytes(limit_for(need, &job.how)), bytes(u128::from(*allowed)));
        let asked = &job.grid.asked;
        let what = format!("{asked}: program, mesh and grid need {need}, {option} allows {allowed}");
        Err(Error::too_large(what).with_hint(format!("make the cells larger, or raise {option}")))
    }

    /// Room for the whole grid within what the system has; `hint` for when it is not there.
    fn available(job: &Job, mesh: &Mesh, lattice: &Lattice, run: &Run, hint: &str) -> Result<Self> {
        let (triangles, dims) = (mesh.triangles().len(), lattice.dims());
        run.admit(triangles, dims).map_err(|error| match job.how.memory.bytes() {
            Some(limit) => unavailable(job, mesh, lattice, limit).with_hint(hint),
            None => errors::about(&job.grid.asked, &error),
        })?;
        let bytes = Run::estimate(triangles, dims);
        Ok(Self { plan: MemoryPlan::Dense, slabs: 1, bytes, dense: bytes })
    }
}

/// What of the memory that was asked for is left for the job: the program itself gets what it takes,
/// or half, where that is less.
pub fn for_job(how: &How) -> Option<u64> {
    match &how.memory {
        Limit::Asked(bytes, _) => Some(bytes - program(how).min(bytes / 2)),
        limit => limit.bytes(),
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
fn unavailable(job: &Job, mesh: &Mesh, lattice: &Lattice, limit: u64) -> Error {
    let limit = u128::from(limit);
    let (what, need) = match Run::estimate(0, lattice.dims()) {
        grid if grid > limit => ("the grid needs", grid),
        _ => ("mesh and grid need", Run::estimate(mesh.triangles().len(), lattice.dims())),
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
