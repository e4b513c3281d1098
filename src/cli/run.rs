//! Carries out a plan: read, fit, admit, voxelize, digest, save.

use voxelize::format::{self, SaveOptions};
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::{Error, Kind, Lattice, Mesh, Progress, Result, Run, Voxels, par};

use super::bar::Bar;
use super::errors;
use super::estimate::Estimate;
use super::facts::{Ending, Facts, Source, timed};
use super::output::Place;
use super::plan::{Input, Limit, Mode, Plan};
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
        max_memory: plan.how.memory.bytes(),
    };
    run.admit(mesh.triangles().len(), lattice.dims()).map_err(|e| too_large(plan, &mesh, &lattice, &e))?;
    if plan.mode == Mode::DryRun {
        facts.estimate = Some(Estimate::new(&mesh, &lattice, &plan.output));
        return Ok(Ending::Planned);
    }
    let voxels = fill(plan, &mesh, &lattice, &run, facts)?;
    bar.check()?;
    drop(mesh);
    save(plan, &voxels, bar, signals, facts)?;
    Ok(Ending::Done)
}

fn read(plan: &Plan, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Mesh> {
    let listen = || signals.listen().map_err(|e| Error::output(format!("cannot listen for signals: {e}")));
    let options = ReadOptions { max_memory: plan.how.memory.bytes(), progress: bar };
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
    let Loaded { mesh, format, bytes } = loaded;
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

/// The refusal of a job above the limit: which option asked for it, and which forbids it.
fn too_large(plan: &Plan, mesh: &Mesh, lattice: &Lattice, error: &Error) -> Error {
    let Some(limit) = plan.how.memory.bytes() else { return errors::about(&plan.grid.asked, error) };
    let grid = Run::estimate(0, lattice.dims());
    let (what, need) = if grid > u128::from(limit) {
        ("the grid needs", grid)
    } else {
        ("mesh and grid need", Run::estimate(mesh.triangles().len(), lattice.dims()))
    };
    let allowed = voxelize::run::bytes(u128::from(limit));
    let (allowed, hint) = match &plan.how.memory {
        Limit::Asked(_, option) => {
            (format!("{option} allows {allowed}"), format!("make the cells larger, or raise {option}"))
        }
        _ => (
            format!("{allowed} are available"),
            "make the cells larger, or set --max-memory to use more than is available".to_string(),
        ),
    };
    let need = voxelize::run::bytes(need);
    Error::too_large(format!("{}: {what} {need}, {allowed}", plan.grid.asked)).with_hint(hint)
}

fn fill(plan: &Plan, mesh: &Mesh, lattice: &Lattice, run: &Run, facts: &mut Facts) -> Result<Voxels> {
    let (mut voxels, stats) =
        timed(&mut facts.times.voxelize, || voxelize::voxelize_with(mesh, lattice, plan.what, run))?;
    if let Input::File(path) = &plan.input {
        voxels.meta.input = path.file_name().map(|name| name.to_string_lossy().into_owned());
    }
    facts.snapped = Some(stats.snapped);
    let (count, digest) = timed(&mut facts.times.digest, || (voxels.count(), voxels.digest()));
    (facts.occupied, facts.digest) = (Some(count), Some(digest));
    if count == 0 {
        facts.warnings.push("no cell is occupied: the mesh is outside the grid, or lies on its walls".into());
    }
    Ok(voxels)
}

fn save(plan: &Plan, voxels: &Voxels, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<()> {
    let (options, format) = (save_options(plan, bar), plan.output.format);
    if plan.output.place.may_block() {
        signals.end_at_once();
    }
    let written = timed(&mut facts.times.write, || match &plan.output.place {
        Place::File(path) => format::save(voxels, path, format, &options),
        Place::Stdout => {
            let bytes = format::write_to(voxels, &mut std::io::stdout().lock(), format, &options)?;
            Ok(vec![format::Written { path: "-".into(), format: format.name, bytes }])
        }
    })?;
    facts.outputs = Some(written);
    Ok(())
}

fn save_options<'a>(plan: &Plan, bar: &'a Bar) -> SaveOptions<'a> {
    SaveOptions { dtype: plan.output.dtype, sidecar: plan.output.sidecar, progress: bar }
}
