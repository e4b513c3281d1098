//! Conversion of the options to a job of the library, and of the job's result to the report.

use voxelize::job::{Extras, JobResult, JobTimes, findings};
use voxelize::{Digest, Mesh, Result, Run, Voxelizer, Voxels};

use super::prepare::{fit, library_run, read};
use super::report::{RunReport, timed};
use crate::cli::args::prefixed;
use crate::cli::options::{Job, JobOptions};
use crate::cli::progress::Bar;
use crate::cli::signals::Signals;

/// Makes the complete grid of `job` in memory. Writes no file. Uses the thread pool of the caller.
pub fn voxels(
    job: &mut Job,
    bar: &Bar,
    signals: &Signals,
    report: &mut RunReport,
) -> Result<(Voxels, Digest)> {
    let mesh = read(job, bar, signals, report)?;
    let job = &*job;
    let lattice = fit(job, &mesh, report)?;
    let run = library_run(&job.options, bar);
    let input = input_name(job);
    let prepared = voxelizer(&job.options, &run)
        .input(input.as_deref())
        .prepare(&mesh, &lattice, None);
    let prepared = job.sized(prepared)?;
    check_closed(&job.options, &mesh, report);
    let (voxels, result) = prepared.voxels()?;
    bar.clear();
    let digest = result.digest;
    report.take(result);
    Ok((voxels, digest))
}

/// Records whether the mesh is closed, if the rule depends on it.
pub fn check_closed(options: &JobOptions, mesh: &Mesh, report: &mut RunReport) {
    if options.rule.inside().is_some() && options.has_findings {
        let found = timed(&mut report.times.voxelize, || {
            (mesh.closedness(), mesh.closedness_defect())
        });
        (report.closedness, report.defect) = (Some(found.0), found.1);
    }
}

/// Creates the library's voxelizer for these options.
pub fn voxelizer<'a>(options: &'a JobOptions, run: &Run<'a>) -> Voxelizer<'a> {
    let voxelizer = Voxelizer::new(options.rule)
        .with_run(*run)
        .budget(options.resources.budget());
    let extras = Extras {
        labels: options.labels(),
        ..Extras::default()
    };
    let voxelizer = voxelizer
        .transform(&options.grid.transform)
        .extras(extras)
        .priority(&options.request.priority)
        .drains(&options.drains);
    if options.has_findings {
        voxelizer
    } else {
        voxelizer.without_findings()
    }
}

impl Job {
    /// Returns the result of preparing a job. If it is an error, the option that decides the size of the grid
    /// is named before its message.
    pub fn sized<T>(&self, prepared: Result<T>) -> Result<T> {
        prepared.map_err(|error| prefixed(&format!("{}: ", self.options.grid.option), &error))
    }
}

impl RunReport {
    /// Copies the counts, findings and times of a finished job into the report.
    pub fn take(&mut self, result: JobResult) {
        let JobTimes {
            voxelize,
            digest,
            write,
        } = result.times;
        self.times.voxelize = Some(self.times.voxelize.unwrap_or_default() + voxelize);
        self.times.digest = Some(digest);
        self.times.write = Some(write);
        self.snapped = Some(result.stats.snapped);
        self.inside = result.inside;
        self.inside_report = result.stats.inside;
        self.lost = result.stats.lost;
        self.kept = result.stats.kept;
        self.occupied = Some(result.occupied);
        self.digest = Some(result.digest);
        self.field = result.field;
        self.shares = result.shares;
        self.arrays = result.arrays;
        self.label_fields = result.label_fields;
        self.shared_shares = result.shared_shares;
        self.labels = result.labels;
        self.taken = result.taken;
        self.shared = result.shared;
        self.walls = result.walls;
        self.drains = result.drains;
        findings::add(&mut self.warnings, result.findings);
    }
}

/// Returns the file names of the meshes without their folders. `None` for standard input.
pub fn input_name(job: &Job) -> Option<String> {
    job.source.file_name()
}
