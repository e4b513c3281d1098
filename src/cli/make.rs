//! The work of a job: read the mesh, fit the lattice, fill its cells. What is found on the way is
//! noted in `Facts`.

use voxelize::grid::lattice::AXES;
use voxelize::grid::record::INSIDE;
use voxelize::mesh::read::{self, Finding, Loaded, ReadOptions, Tolerance};
use voxelize::rule::{InsideReport, lost};
use voxelize::run::bytes;
use voxelize::{
    BitGrid, Digest, Error, Inside, Kind, Lattice, Mesh, Progress, Result, Rule, Run, Stats, ThinFeatures,
    Voxels,
};

use super::bar::Bar;
use super::errors;
use super::facts::{Facts, Source, Warning, timed};
use super::files;
use super::job::{GridFrom, Input, Job};
use super::room::{self, Room};
use super::signals::Signals;
use super::stream::Inlet;
use super::told;

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
    look_over(job, &mesh, facts);
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
    signals.listen()?;
    let options = ReadOptions { tolerance: job.tolerance, max_memory: job.how.memory.bytes(), progress: bar };
    let stream = |mut stream: Inlet| read::read_stream(&mut stream, &job.input.name(), &options);
    let loaded = timed(&mut facts.times.read, || match &job.input {
        Input::Stdin => stream(Inlet::stdin(signals)),
        Input::File(path) if files::is_pipe(path) => stream(Inlet::open(path, signals)),
        Input::File(path) => read::read_file(path, &options),
    })
    .map_err(|e| if bar.cancelled() { Error::interrupted() } else { e })
    .map_err(|e| match (e.kind(), e.hint()) {
        // A folder.
        (Kind::Usage, None) => e.with_hint("'voxelize FOLDER -o DIR/' makes a file of each mesh"),
        (Kind::Input, _) => job.input.path().and_then(files::holds_voxels).unwrap_or(e),
        _ => e,
    })?;
    bar.clear();
    let Loaded { mesh, format, bytes, packing, dropped, findings } = loaded;
    facts.warnings.extend(findings.into_iter().map(|finding| Warning::of(finding, job.tolerance)));
    facts.source = Some(Source {
        format,
        bytes,
        triangles: mesh.triangles().len(),
        degenerate: mesh.degenerate(),
        dropped,
        packing,
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
        let beyond = beyond(&lattice, mesh, &job.grid.asked);
        facts.warnings.extend(beyond.map(|text| Warning::new("W001", text)));
    }
    match lattice.far_from_origin(mesh.bounds()) {
        Some(far) if job.tolerance == Tolerance::Strict => return Err(far.in_file(job.input.name())),
        Some(far) => facts.warnings.push(Warning::of(Finding { first: far, count: 1 }, job.tolerance)),
        None => (),
    }
    facts.lattice = Some(lattice.clone());
    Ok(lattice)
}

/// What to be warned of when a lattice that was not fitted to the mesh leaves out some of it.
fn beyond(lattice: &Lattice, mesh: &Mesh, asked: &str) -> Option<String> {
    let axes: Vec<_> = (0..3)
        .filter(|&axis| lattice.is_passed(axis, mesh.bounds()).contains(&true))
        .map(|axis| AXES[axis].to_string())
        .collect();
    let axes = if axes.is_empty() { return None } else { axes.join(", ") };
    Some(format!("the mesh goes beyond the grid of {asked} along {axes}; what is there is left out"))
}

/// Notes whether the mesh is closed, where the rule may mind.
pub fn look_over(job: &Job, mesh: &Mesh, facts: &mut Facts) {
    if job.rule.inside().is_some() {
        facts.seal = Some(timed(&mut facts.times.voxelize, || mesh.seal()));
    }
}

/// Notes what of the mesh is lost, where the rule may lose some and memory allows to look for it.
pub fn look_for_lost(job: &Job, mesh: &Mesh, lattice: &Lattice, run: &Run, facts: &mut Facts) -> Result<()> {
    if !loses(job) {
        return Ok(());
    }
    let need = room_for_lost(mesh, lattice, run);
    if let Some(limit) = run.max_memory.map(u128::from).filter(|limit| need > *limit) {
        room::refuse_part(job)?;
        let left = bytes(limit);
        let says =
            format!("what solid loses was not looked for: that takes {}, and {left} are left", bytes(need));
        facts.warnings.push(Warning::new("W010", says));
        return Ok(());
    }
    facts.told.lost = Some(timed(&mut facts.times.voxelize, || lost::find(mesh, lattice, None, run))?);
    Ok(())
}

/// The same where the cells are there already and memory is, too, which saves time.
fn look_beside(mesh: &Mesh, lattice: &Lattice, made: &Voxels, run: &Run, facts: &mut Facts) -> Result<()> {
    let is_nonzero = made.record.field(INSIDE) == Some(Inside::Nonzero.name());
    let solid = is_nonzero.then_some(&made.bits);
    facts.told.lost = Some(timed(&mut facts.times.voxelize, || lost::find(mesh, lattice, solid, run))?);
    Ok(())
}

/// Whether the rule may lose something of the mesh without a word of its own.
fn loses(job: &Job) -> bool {
    matches!(job.rule, Rule::Solid { thin: ThinFeatures::Lose, .. })
}

/// The memory that it takes to look for what is lost, with the mesh.
fn room_for_lost(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    Run::estimate(mesh.triangles().len(), [0; 3]) + lost::extra_bytes(mesh, lattice, run)
}

/// Whether there is as much beside the whole grid.
fn has_room_beside(mesh: &Mesh, lattice: &Lattice, run: &Run) -> bool {
    // Bricks of the surface are less than another grid.
    let need = room_for_lost(mesh, lattice, run) + 2 * BitGrid::bytes_for(lattice.dims());
    run.max_memory.is_none_or(|limit| need <= u128::from(limit))
}

/// The cells, counted.
pub fn fill(
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    facts: &mut Facts,
) -> Result<(Voxels, Digest)> {
    let is_later = loses(job) && has_room_beside(mesh, lattice, run);
    if !is_later {
        look_for_lost(job, mesh, lattice, run, facts)?;
    }
    let (mut voxels, stats) =
        timed(&mut facts.times.voxelize, || voxelize::voxelize_with(mesh, lattice, job.rule, run))?;
    if is_later {
        look_beside(mesh, lattice, &voxels, run, facts)?;
    }
    voxels.record.input = input_name(job);
    let (count, digest) = timed(&mut facts.times.digest, || (voxels.count(), voxels.digest()));
    facts.inside = voxels.record.field(INSIDE).map(str::to_string);
    note(job, facts, stats, count, digest);
    Ok((voxels, digest))
}

/// Notes what is in the cells.
pub fn note(job: &Job, facts: &mut Facts, stats: Stats, occupied: u64, digest: Digest) {
    facts.snapped = Some(stats.snapped);
    let lost = stats.inside.lost.or(facts.told.lost);
    facts.told = InsideReport { lost, ..stats.inside };
    facts.warnings.extend(told::warnings(&job.rule, facts));
    (facts.occupied, facts.digest) = (Some(occupied), Some(digest));
    if occupied == 0 {
        let says = match job.rule.inside() {
            None => "no cell is occupied: the mesh is outside the grid, or lies on its walls",
            Some(_) if matches!(job.rule, Rule::Solid { .. }) => {
                "no cell is occupied: no centre of a cell is inside the mesh, or all of it is outside the grid"
            }
            Some(_) => "no cell is occupied: nothing is inside the mesh, or all of it is outside the grid",
        };
        facts.warnings.push(Warning::new("W002", says));
    }
}

/// The file of the mesh without its folder; `None` for a pipe.
pub fn input_name(job: &Job) -> Option<String> {
    job.input.path()?.file_name().map(|name| name.to_string_lossy().into_owned())
}
