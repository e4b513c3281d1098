//! Carries out a plan: read, fit, find room, then voxelize, digest and save: one after the other, or
//! slab by slab.

use std::time::Instant;

use voxelize::format::{self, SaveOptions, Written};
use voxelize::grid::record::INSIDE;
use voxelize::grid::{Layers, Whole};
use voxelize::rule::doubt::Doubt;
use voxelize::rule::{self, Made, leak_path};
use voxelize::run::Plan as MemoryPlan;
use voxelize::{BitGrid, Lattice, Mesh, Part, Progress, Result, Run, Slabs, Voxels, par};

use super::bar::{Bar, Silent};
use super::estimate::Estimate;
use super::extra::Extra;
use super::facts::{Ending, Facts, Warning, timed};
use super::make;
use super::output::Output;
use super::place::Place;
use super::plan::{Mode, Plan};
use super::room::Room;
use super::signals::Signals;
use super::stream::Outlet;

/// Carries out `plan`, and notes in `facts` what it finds.
///
/// # Errors
/// Whatever went wrong; no output is left then.
pub fn run(plan: &Plan, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Ending> {
    if plan.output.kept().is_some() {
        return Ok(Ending::Skipped);
    }
    // One pool for all of it: reading, voxelizing, digests, writing.
    let result = par::with_threads(plan.job.how.threads, || steps(plan, bar, signals, facts));
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
    facts.warnings.extend(plan.output.warnings().map(|text| Warning::new("W003", text)));
    let limits = format::warnings(lattice.dims(), plan.output.format);
    facts.warnings.extend(limits.into_iter().map(|text| Warning::new("W004", text)));
    plan.extras().try_for_each(|extra| extra.check(&lattice))?;
    let run = make::run(job, bar);
    let room = Room::find(plan, &mesh, &lattice, &run)?;
    facts.room = Some(room);
    if plan.mode == Mode::DryRun {
        facts.estimate = Some(Estimate::new(&mesh, &lattice, &room, &plan.output));
        return Ok(Ending::Planned);
    }
    let start = Instant::now();
    let inside = job.rule.inside().unwrap_or_default();
    let doubted = match &plan.doubt {
        Some(asked) => Some((asked, rule::doubt::doubt(&mesh, &lattice, inside, &run)?)),
        None => None,
    };
    let path = match &plan.leak {
        Some(extra) => Some((extra, leak_path::leak_path(&mesh, &lattice, inside, &run)?)),
        None => None,
    };
    let asking = start.elapsed();
    make::look_over(job, &mesh, facts);
    match room.plan {
        MemoryPlan::Slabs(height) => {
            make::look_for_lost(job, &mesh, &lattice, &run, facts)?;
            let slabs = voxelize::voxelize_slabs(&mesh, &lattice, job.rule, height, &run)?;
            let slabs = if plan.has_parts() { slabs.in_parts() } else { slabs };
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Bricks(height) => {
            let slabs = voxelize::voxelize_bricks(&mesh, &lattice, job.rule, height, &run)?;
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Dense => {
            let (voxels, digest) = make::fill(job, &mesh, &lattice, &run, facts)?;
            let parts = tell_apart(plan, &mesh, &lattice, &voxels, &run, facts)?;
            bar.check()?;
            drop(mesh);
            let written = timed(&mut facts.times.write, || {
                let mut layers = Whole::with_digest(&voxels, digest).told_apart(&parts);
                save(plan, &mut layers, bar, signals)
            })?;
            facts.outputs = Some(written);
        }
    }
    if doubted.is_some() || path.is_some() {
        // The methods are asked anew, so this is more of the same work.
        facts.times.voxelize = facts.times.voxelize.map(|time| time + asking);
    }
    let options = SaveOptions { dtype: None, ..save_options(plan, bar) };
    let write = |extra: &Extra, cells: BitGrid, facts: &mut Facts| {
        let written = extra.write(cells, &lattice, make::input_name(job), &options)?;
        facts.outputs.get_or_insert_default().extend(written);
        Ok(())
    };
    let mut passes = true;
    if let Some((asked, Doubt { cells, inside, by })) = doubted {
        let found = asked.judge(cells.count(), inside, by);
        passes = found.passes();
        facts.doubt = Some(found);
        if let Some(extra) = &asked.file {
            write(extra, cells, facts)?;
        }
    }
    if let Some((extra, cells)) = path {
        facts.way_in = Some(cells.count());
        write(extra, cells, facts)?;
    }
    Ok(if passes { Ending::Done } else { Ending::Doubtful })
}

/// The parts of the cells, where the output tells them apart; else none.
fn tell_apart(
    plan: &Plan,
    mesh: &Mesh,
    lattice: &Lattice,
    voxels: &Voxels,
    run: &Run,
    facts: &mut Facts,
) -> Result<Vec<Part>> {
    if !plan.has_parts() {
        return Ok(Vec::new());
    }
    let start = Instant::now();
    let parts = rule::surface_and_interior(mesh, lattice, &voxels.bits, run)?;
    facts.parts = Some(parts.each_ref().map(|part| part.cells.count()));
    facts.times.voxelize = facts.times.voxelize.map(|time| time + start.elapsed());
    Ok(parts.into())
}

/// Fills slab after slab, each as the writer asks for it.
fn stream(plan: &Plan, mut slabs: Slabs, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<()> {
    slabs.record.input = make::input_name(&plan.job);
    let start = Instant::now();
    let written = save(plan, &mut slabs, &Silent(bar), signals)?;
    let Made { occupied, parts, stats, filling, hashing, .. } = slabs.made();
    facts.parts = parts;
    let times = &mut facts.times;
    times.voxelize = Some(times.voxelize.unwrap_or_default() + filling);
    times.digest = Some(hashing);
    times.write = Some(start.elapsed().saturating_sub(filling + hashing));
    facts.inside = slabs.record.field(INSIDE).map(str::to_string);
    make::note(&plan.job, facts, stats, occupied, slabs.digest());
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
    let mut out = match &plan.output.place {
        Place::Stdout => Outlet::stdout(signals),
        place @ Place::File(path) if place.may_block() => Outlet::open(path, signals),
        Place::File(path) => {
            if let Some(folders) = &plan.output.folders {
                folders.make_for(path)?;
            }
            return format::save_layers(layers, path, format, &options);
        }
    };
    let bytes = format::write_layers_to(layers, &mut out, format, &options).map_err(|error| {
        // Standard output has no name of its own.
        if let Place::File(path) = &plan.output.place { error.in_file(path) } else { error }
    })?;
    let path = if let Place::File(path) = &plan.output.place { path.clone() } else { "-".into() };
    Ok(vec![Written { path, format: format.name, bytes }])
}

fn save_options<'a>(plan: &Plan, progress: &'a dyn Progress) -> SaveOptions<'a> {
    let Output { dtype, sidecar, durability, .. } = plan.output;
    SaveOptions { dtype, sidecar, durability, progress }
}
