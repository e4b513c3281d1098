//! Carries out a plan: read, fit, find room, then voxelize, digest and save: one after the other, or
//! slab by slab.

use std::time::Instant;

use voxelize::format::{self, SaveOptions, Written};
use voxelize::grid::{Layers, Whole};
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::rule::Made;
use voxelize::run::Plan as MemoryPlan;
use voxelize::{Digest, Error, Kind, Lattice, Mesh, Progress, Result, Run, Slabs, Stats, Voxels, par};

use super::bar::{Bar, Silent};
use super::errors;
use super::estimate::Estimate;
use super::facts::{Ending, Facts, Source, timed};
use super::output::Place;
use super::plan::{Input, Mode, Plan};
use super::room::{self, Room};
use super::signals::Signals;

/// Carries out `plan`, and notes in `facts` what it finds.
///
/// # Errors
/// Whatever went wrong; no output is left then.
pub fn run(plan: &Plan, signals: &Signals, facts: &mut Facts) -> Result<Ending> {
    let bar = Bar::new(plan.telling.voice, signals.clone());
    // One pool for all of it: reading, voxelizing, digests, writing.
    let result = par::with_threads(plan.how.threads, || steps(plan, &bar, signals, facts));
    bar.clear();
    result?
}

fn steps(plan: &Plan, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Ending> {
    let mesh = read(plan, bar, signals, facts)?;
    bar.check()?;
    let lattice = fit(plan, &mesh, facts)?;
    format::check(&lattice, plan.output.format, &save_options(plan, bar))
        .map_err(|e| e.in_file(plan.output.name()))?;
    facts.warnings.extend(plan.output.warnings());
    facts.warnings.extend(format::warnings(lattice.dims(), plan.output.format));
    let run = Run {
        threads: plan.how.threads,
        level: Some(plan.how.level),
        progress: bar,
        max_memory: room::for_job(&plan.how),
    };
    let room = Room::find(plan, &mesh, &lattice, &run)?;
    facts.room = Some(room);
    if plan.mode == Mode::DryRun {
        facts.estimate = Some(Estimate::new(&mesh, &lattice, &room, &plan.output));
        return Ok(Ending::Planned);
    }
    match room.plan {
        MemoryPlan::Slabs(height) => {
            let slabs = voxelize::voxelize_slabs(&mesh, &lattice, plan.what, height, &run)?;
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Bricks(height) => {
            let slabs = voxelize::voxelize_bricks(&mesh, &lattice, plan.what, height, &run)?;
            stream(plan, slabs, bar, signals, facts)?;
        }
        MemoryPlan::Dense => {
            let (voxels, digest) = fill(plan, &mesh, &lattice, &run, facts)?;
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

fn read(plan: &Plan, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Mesh> {
    let listen = || signals.listen().map_err(|e| Error::output(format!("cannot listen for signals: {e}")));
    let options =
        ReadOptions { max_memory: plan.how.memory.bytes(), progress: bar, ..ReadOptions::default() };
    let loaded = timed(&mut facts.times.read, || match &plan.input {
        Input::File(path) => listen().and_then(|()| read::read_file(path, &options)),
        // A pipe may stay silent for ever, and nobody would see the flag. As nothing is written
        // yet, a signal may end the process as it always does.
        Input::Stdin => {
            let loaded = read::read_stream(&mut std::io::stdin().lock(), &plan.input.name(), &options);
            loaded.and_then(|loaded| listen().map(|()| loaded))
        }
    })
    .map_err(|e| match (e.kind(), e.hint()) {
        // A folder.
        (Kind::Usage, None) => e.with_hint("one mesh makes one file: run voxelize once for each mesh"),
        _ => e,
    })?;
    bar.clear();
    let Loaded { mesh, format, bytes, .. } = loaded;
    facts.source = Some(Source {
        format,
        bytes,
        triangles: mesh.triangles().len(),
        degenerate: mesh.degenerate(),
        bounds: *mesh.bounds(),
    });
    Ok(mesh)
}

fn fit(plan: &Plan, mesh: &Mesh, facts: &mut Facts) -> Result<Lattice> {
    if mesh.triangles().is_empty() {
        return Err(Error::unfit("has no triangles")
            .with_hint("export it again: there is nothing in it to voxelize")
            .in_file(plan.input.name()));
    }
    let lattice = plan.grid.fit.to(mesh.bounds()).map_err(|e| match e.kind() {
        Kind::Unfit => e.in_file(plan.input.name()),
        _ => errors::about(&plan.grid.asked, &e),
    })?;
    facts.lattice = Some(lattice.clone());
    Ok(lattice)
}

fn fill(
    plan: &Plan,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    facts: &mut Facts,
) -> Result<(Voxels, Digest)> {
    let (mut voxels, stats) =
        timed(&mut facts.times.voxelize, || voxelize::voxelize_with(mesh, lattice, plan.what, run))?;
    voxels.meta.input = input_name(plan);
    let (count, digest) = timed(&mut facts.times.digest, || (voxels.count(), voxels.digest()));
    note(facts, stats, count, digest);
    Ok((voxels, digest))
}

/// Fills slab after slab, each as the writer asks for it.
fn stream(plan: &Plan, mut slabs: Slabs, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<()> {
    slabs.meta.input = input_name(plan);
    let start = Instant::now();
    let written = save(plan, &mut slabs, &Silent(bar), signals)?;
    let Made { occupied, stats, filling, hashing, .. } = slabs.made();
    let times = &mut facts.times;
    (times.voxelize, times.digest) = (Some(filling), Some(hashing));
    times.write = Some(start.elapsed().saturating_sub(filling + hashing));
    note(facts, stats, occupied, slabs.digest());
    facts.outputs = Some(written);
    Ok(())
}

fn note(facts: &mut Facts, stats: Stats, occupied: u64, digest: Digest) {
    facts.snapped = Some(stats.snapped);
    (facts.occupied, facts.digest) = (Some(occupied), Some(digest));
    if occupied == 0 {
        facts.warnings.push("no cell is occupied: the mesh is outside the grid, or lies on its walls".into());
    }
}

/// The file of the mesh without its folder; `None` for a pipe.
fn input_name(plan: &Plan) -> Option<String> {
    let Input::File(path) = &plan.input else { return None };
    path.file_name().map(|name| name.to_string_lossy().into_owned())
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
