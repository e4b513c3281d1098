//! The cells of a job, counted; and what of the mesh they lose.

use voxelize::grid::record::INSIDE;
use voxelize::job::findings;
use voxelize::{
    Code, Digest, Error, Field, Finding, Lattice, Mesh, Record, Result, Run, Stats, Voxelized, Voxelizer,
    Voxels,
};

use super::super::memory::{Limit, MemoryPlan, Needs};
use super::super::options::{Job, JobOptions};
use super::super::progress::Bar;
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
    let rule = options.rule;
    let option = &options.grid.option;
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

/// The voxelizer of a job.
pub fn voxelizer<'a>(options: &'a JobOptions, run: &Run<'a>) -> Voxelizer<'a> {
    let voxelizer = Voxelizer::new(options.rule).with_run(*run).transform(&options.grid.transform);
    if options.has_findings { voxelizer } else { voxelizer.without_findings() }
}

/// The cells, counted.
pub fn fill(
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    run: &Run,
    report: &mut RunReport,
) -> Result<(Voxels, Digest)> {
    let voxelizer = voxelizer(&job.options, run);
    let Voxelized { mut voxels, stats, findings, .. } =
        timed(&mut report.times.voxelize, || voxelizer.fill(mesh, lattice))?;
    refuse_share(&job.options, &findings)?;
    voxels.record.input = input_name(job);
    let (count, digest) = timed(&mut report.times.digest, || (voxels.count(), voxels.digest()));
    report.field = voxels.field().map(Field::summary);
    note(report, &voxels.record, stats, findings);
    (report.occupied, report.digest) = (Some(count), Some(digest));
    Ok((voxels, digest))
}

/// Refuses cells whose lost features were not looked for, as one of several jobs at a time has too little memory for
/// that: it is run again alone.
pub fn refuse_share(options: &JobOptions, findings: &[Finding]) -> Result<()> {
    let is_share = matches!(options.resources.memory, Limit::Share(_));
    match is_share && findings.iter().any(|finding| finding.code() == Code::W010) {
        true => Err(Error::too_large("needs more than its share of the memory")),
        false => Ok(()),
    }
}

/// Notes how the inside was decided, and what was found.
pub fn note(report: &mut RunReport, record: &Record, stats: Stats, found: Vec<Finding>) {
    report.snapped = Some(stats.snapped);
    report.inside = record.field(INSIDE).map(str::to_string);
    report.inside_report = stats.inside;
    findings::add(&mut report.warnings, found);
}

/// The file of the mesh without its folder; `None` for a pipe.
pub fn input_name(job: &Job) -> Option<String> {
    job.source.path()?.file_name().map(|name| name.to_string_lossy().into_owned())
}
