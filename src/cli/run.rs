//! Carries out a plan: read, fit, find room, then voxelize, digest and save: one after the other, or
//! slab by slab.

use std::time::Instant;

use voxelize::format::{self, SaveOptions, Written};
use voxelize::grid::{Layers, Whole};
use voxelize::rule::Made;
use voxelize::run::Plan as MemoryPlan;
use voxelize::{Progress, Result, Slabs, par};

use super::bar::{Bar, Silent};
use super::estimate::Estimate;
use super::facts::{Ending, Facts, timed};
use super::make;
use super::output::Place;
use super::plan::{Mode, Plan};
use super::room::Room;
use super::signals::Signals;

/// Carries out `plan`, and notes in `facts` what it finds.
///
/// # Errors
/// Whatever went wrong; no output is left then.
pub fn run(plan: &Plan, signals: &Signals, facts: &mut Facts) -> Result<Ending> {
    let bar = Bar::new(plan.telling.voice, signals.clone());
    // One pool for all of it: reading, voxelizing, digests, writing.
    let result = par::with_threads(plan.job.how.threads, || steps(plan, &bar, signals, facts));
    bar.clear();
    result?
}

fn steps(plan: &Plan, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Ending> {
    let job = &plan.job;
    let mesh = make::read(job, bar, signals, facts)?;
    bar.check()?;
    let lattice = make::fit(job, &mesh, facts)?;
    format::check(&lattice, plan.output.format, &save_options(plan, bar))
        .map_err(|e| e.in_file(plan.output.name()))?;
    facts.warnings.extend(plan.output.warnings());
    facts.warnings.extend(format::warnings(lattice.dims(), plan.output.format));
    let run = make::run(job, bar);
    let room = Room::find(plan, &mesh, &lattice, &run)?;
    facts.room = Some(room);
    if plan.mode == Mode::DryRun {
        facts.estimate = Some(Estimate::new(&mesh, &lattice, &room, &plan.output));
        return Ok(Ending::Planned);
    }
    match room.plan {
        MemoryPlan::Slabs(height) => {
            let slabs = voxelize::voxelize_slabs(&mesh, &lattice, job.what, height, &run)?;
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Bricks(height) => {
            let slabs = voxelize::voxelize_bricks(&mesh, &lattice, job.what, height, &run)?;
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Dense => {
            let (voxels, digest) = make::fill(job, &mesh, &lattice, &run, facts)?;
            bar.check()?;
            drop(mesh);
            let written = timed(&mut facts.times.write, || {
                save(plan, &mut Whole::with_digest(&voxels, digest), bar, signals)
            })?;
            facts.outputs = Some(written);
        }
    }
    Ok(Ending::Done)
}

/// Fills slab after slab, each as the writer asks for it.
fn stream(plan: &Plan, mut slabs: Slabs, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<()> {
    slabs.meta.input = make::input_name(&plan.job);
    let start = Instant::now();
    let written = save(plan, &mut slabs, &Silent(bar), signals)?;
    let Made { occupied, stats, filling, hashing, .. } = slabs.made();
    let times = &mut facts.times;
    (times.voxelize, times.digest) = (Some(filling), Some(hashing));
    times.write = Some(start.elapsed().saturating_sub(filling + hashing));
    make::note(facts, stats, occupied, slabs.digest());
    facts.outputs = Some(written);
    Ok(())
}

fn save(
    plan: &Plan,
    layers: &mut dyn Layers,
    progress: &dyn Progress,
    signals: &Signals,
) -> Result<Vec<Written>> {
    let (options, format) = (save_options(plan, progress), plan.output.format);
    if plan.output.place.may_block() {
        signals.end_at_once();
    }
    match &plan.output.place {
        Place::File(path) => format::save_layers(layers, path, format, &options),
        Place::Stdout => {
            let bytes = format::write_layers_to(layers, &mut std::io::stdout().lock(), format, &options)?;
            Ok(vec![Written { path: "-".into(), format: format.name, bytes }])
        }
    }
}

fn save_options<'a>(plan: &Plan, progress: &'a dyn Progress) -> SaveOptions<'a> {
    SaveOptions { dtype: plan.output.dtype, sidecar: plan.output.sidecar, progress }
}
