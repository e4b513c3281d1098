//! The work of a job: read the mesh, fit the lattice, fill its cells. What is found on the way is
//! noted in `Facts`.

use voxelize::grid::lattice::AXES;
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::{Digest, Error, Kind, Lattice, Mesh, Rational, Result, Run, Stats, Voxels};

use super::bar::Bar;
use super::errors;
use super::facts::{Facts, Source, timed};
use super::files;
use super::job::{GridFrom, Input, Job};
use super::room::{self, Room};
use super::signals::Signals;

/// The finished grid of `job`, all of it in memory; nothing is written. To be called in the pool of
/// threads that is to do it.
///
/// # Errors
/// Whatever went wrong.
pub fn voxels(job: &Job, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<(Voxels, Digest)> {
    let mesh = read(job, bar, signals, facts)?;
    let lattice = fit(job, &mesh, facts)?;
    let run = run(job, bar);
    facts.room = Some(Room::whole(job, &mesh, &lattice, &run)?);
    let made = fill(job, &mesh, &lattice, &run, facts)?;
    bar.clear();
    Ok(made)
}

/// How the library is to do it.
pub fn run<'a>(job: &Job, bar: &'a Bar) -> Run<'a> {
    Run {
        threads: job.how.threads,
        level: Some(job.how.level),
        progress: bar,
        max_memory: room::for_job(&job.how),
    }
}

/// The mesh.
pub fn read(job: &Job, bar: &Bar, signals: &Signals, facts: &mut Facts) -> Result<Mesh> {
    let listen = || signals.listen().map_err(|e| Error::output(format!("cannot listen for signals: {e}")));
    let options = ReadOptions { max_memory: job.how.memory.bytes(), progress: bar };
    let loaded = timed(&mut facts.times.read, || match &job.input {
        Input::File(path) => listen().and_then(|()| read::read_file(path, &options)),
        // A pipe may stay silent for ever, and nobody would see the flag. As nothing is written
        // yet, a signal may end the process as it always does.
        Input::Stdin => {
            let loaded = read::read_stream(&mut std::io::stdin().lock(), &job.input.name(), &options);
            loaded.and_then(|loaded| listen().map(|()| loaded))
        }
    })
    .map_err(|e| match (e.kind(), e.hint()) {
        // A folder.
        (Kind::Usage, None) => e.with_hint("one mesh makes one file: run voxelize once for each mesh"),
        (Kind::Input, _) => job.input.path().and_then(files::holds_voxels).unwrap_or(e),
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

/// Where its cells will be.
pub fn fit(job: &Job, mesh: &Mesh, facts: &mut Facts) -> Result<Lattice> {
    if mesh.triangles().is_empty() {
        return Err(Error::unfit("has no triangles")
            .with_hint("export it again: there is nothing in it to voxelize")
            .in_file(job.input.name()));
    }
    let lattice = job.grid.lattice(mesh.bounds()).map_err(|e| match e.kind() {
        Kind::Unfit => e.in_file(job.input.name()),
        _ => errors::about(&job.grid.asked, &e),
    })?;
    if let GridFrom::Like(_) = job.grid.from {
        facts.warnings.extend(beyond(&lattice, mesh, &job.grid.asked));
    }
    facts.lattice = Some(lattice.clone());
    Ok(lattice)
}

/// What to be warned of when a lattice that was not fitted to the mesh leaves out some of it.
fn beyond(lattice: &Lattice, mesh: &Mesh, asked: &str) -> Option<String> {
    let axes: Vec<_> = (0..3)
        .filter(|&axis| {
            let (map, bounds) = (lattice.axis(axis), mesh.bounds());
            let end = Rational::from(lattice.dims()[axis] as i64);
            map.index(bounds.min[axis]) < Rational::ZERO || map.index(bounds.max[axis]) > end
        })
        .map(|axis| AXES[axis].to_string())
        .collect();
    let axes = if axes.is_empty() { return None } else { axes.join(", ") };
    Some(format!("the mesh goes beyond the grid of {asked} along {axes}; what is there is left out"))
}

/// The cells, counted.
pub fn fill(
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    facts: &mut Facts,
) -> Result<(Voxels, Digest)> {
    let (mut voxels, stats) =
        timed(&mut facts.times.voxelize, || voxelize::voxelize_with(mesh, lattice, job.what, run))?;
    voxels.meta.input = input_name(job);
    let (count, digest) = timed(&mut facts.times.digest, || (voxels.count(), voxels.digest()));
    note(facts, stats, count, digest);
    Ok((voxels, digest))
}

/// Notes what is in the cells.
pub fn note(facts: &mut Facts, stats: Stats, occupied: u64, digest: Digest) {
    facts.snapped = Some(stats.snapped);
    (facts.occupied, facts.digest) = (Some(occupied), Some(digest));
    if occupied == 0 {
        facts.warnings.push("no cell is occupied: the mesh is outside the grid, or lies on its walls".into());
    }
}

/// The file of the mesh without its folder; `None` for a pipe.
pub fn input_name(job: &Job) -> Option<String> {
    job.input.path()?.file_name().map(|name| name.to_string_lossy().into_owned())
}
