//! The cells of a job, counted; and what of the mesh they lose.

use voxelize::grid::record::INSIDE;
use voxelize::rule::{InsideReport, lost};
use voxelize::{
    BitGrid, Code, Digest, Error, Field, Finding, Lattice, Mesh, Result, Rule, Run, Stats, ThinFeatures,
    Voxels,
};

use super::super::memory::{Limit, MemoryPlan, Needs};
use super::super::options::{Job, JobOptions};
use super::super::progress::Bar;
use super::super::report::display::bytes;
use super::super::signals::Signals;
use super::prepare::{fit, library_run, read};
use super::report::{RunReport, timed};

/// The finished grid of `job`, all of it in memory; nothing is written. To be called in the pool of
/// threads that is to do it.
pub fn voxels(job: &Job, bar: &Bar, signals: &Signals, report: &mut RunReport) -> Result<(Voxels, Digest)> {
    let mesh = read(job, bar, signals, report)?;
    let lattice = fit(job, &mesh, report)?;
    let run = library_run(&job.options, bar);
    let needs = whole_grid(&job.options, &mesh, &lattice, &run);
    report.memory = Some(MemoryPlan::new(&needs, &job.options.resources)?);
    check_closed(&job.options, &mesh, report);
    let made = fill(job, &mesh, &lattice, &run, report)?;
    bar.clear();
    Ok(made)
}

/// The needs of a grid that is made at once.
pub fn whole_grid<'a>(
    options: &'a JobOptions,
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    run: &'a Run,
) -> Needs<'a> {
    let (rule, option) = (options.rule, &options.grid.option);
    Needs {
        mesh,
        lattice,
        run,
        rule,
        option,
        output: None,
        labels: false,
        doubt: false,
        leak: false,
        nearest: false,
    }
}

/// Notes how far the mesh is closed, where the rule may mind.
pub fn check_closed(options: &JobOptions, mesh: &Mesh, report: &mut RunReport) {
    if options.rule.inside().is_some() && options.has_findings {
        let found = timed(&mut report.times.voxelize, || (mesh.seal(), mesh.unsound()));
        (report.seal, report.unsound) = (Some(found.0), found.1);
    }
}

/// Notes what of the mesh is lost, where the rule may lose some and memory allows to look for it.
pub fn find_lost_features(
    options: &JobOptions,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    report: &mut RunReport,
) -> Result<()> {
    if !loses_features(options) {
        return Ok(());
    }
    let (inside, need) =
        (options.rule.inside().unwrap_or_default(), lost_memory(options, mesh, lattice, run));
    if let Some(limit) = run.max_memory.map(u128::from).filter(|limit| need > *limit) {
        if let Limit::Share(_) = options.resources.memory {
            return Err(Error::too_large("needs more than its share of the memory"));
        }
        let (need, available) = (bytes(need), bytes(limit));
        let text = format!("skipped the search for lost features: needs {need}, {available} available");
        report.warnings.push(Finding::new(Code::W010, text));
        return Ok(());
    }
    report.inside_report.lost =
        Some(timed(&mut report.times.voxelize, || lost::find(mesh, lattice, inside, None, run))?);
    Ok(())
}

/// Whether the rule may lose something of the mesh, and that is reported.
fn loses_features(options: &JobOptions) -> bool {
    matches!(options.rule, Rule::Solid { thin: ThinFeatures::Lose, .. }) && options.has_findings
}

/// The memory that the search for lost features takes, with the mesh.
fn lost_memory(options: &JobOptions, mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let inside = options.rule.inside().unwrap_or_default();
    Run::estimate(mesh.triangles().len(), [0; 3]) + lost::extra_bytes(mesh, lattice, inside, run)
}

/// Whether that memory is available in addition to the whole grid: then the search is faster.
fn fits_with_grid(options: &JobOptions, mesh: &Mesh, lattice: &Lattice, run: &Run) -> bool {
    let need = || lost_memory(options, mesh, lattice, run) + BitGrid::bytes_for(lattice.dims());
    run.max_memory.is_none_or(|limit| need() <= u128::from(limit))
}

/// The cells, counted.
pub fn fill(
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    report: &mut RunReport,
) -> Result<(Voxels, Digest)> {
    let options = &job.options;
    let search_later = loses_features(options) && fits_with_grid(options, mesh, lattice, run);
    if !search_later {
        find_lost_features(options, mesh, lattice, run, report)?;
    }
    let voxelize::Voxelized { mut voxels, stats, .. } = timed(&mut report.times.voxelize, || {
        voxelize::Voxelizer::new(options.rule).with_run(*run).run(mesh, lattice)
    })?;
    if search_later {
        let (inside, solid) = (options.rule.inside().unwrap_or_default(), voxels.occupied()?);
        report.inside_report.lost =
            Some(timed(&mut report.times.voxelize, || lost::find(mesh, lattice, inside, Some(solid), run))?);
    }
    voxels.record.input = input_name(job);
    voxels.record.transform = options.grid.transform.entries();
    voxels.lattice = Some(options.grid.placed(lattice)?);
    let (count, digest) = timed(&mut report.times.digest, || (voxels.count(), voxels.digest()));
    report.field = voxels.field().map(Field::summary);
    report.inside = voxels.record.field(INSIDE).map(str::to_string);
    note(options, (mesh, lattice), report, stats, (count, digest));
    Ok((voxels, digest))
}

/// Records the contents of the cells of a mesh on a lattice.
pub fn note(
    options: &JobOptions,
    (mesh, lattice): (&Mesh, &Lattice),
    report: &mut RunReport,
    stats: Stats,
    (occupied, digest): (u64, Digest),
) {
    report.snapped = Some(stats.snapped);
    let unit = options.grid.transform.unit.map(|unit| unit.name);
    let lost = stats.inside.lost.or(report.inside_report.lost);
    report.inside_report = InsideReport { lost, ..stats.inside };
    report.warnings.extend(voxelize::rule::findings(
        &options.rule,
        mesh,
        lattice,
        &report.inside_report,
        unit,
    ));
    (report.occupied, report.digest) = (Some(occupied), Some(digest));
    if occupied == 0 && report.warnings.iter().all(|warning| warning.code() != Code::W002) {
        report.warnings.push(voxelize::rule::nothing_occupied(&options.rule, &report.warnings));
    }
}

/// The file of the mesh without its folder; `None` for a pipe.
pub fn input_name(job: &Job) -> Option<String> {
    job.source.path()?.file_name().map(|name| name.to_string_lossy().into_owned())
}
