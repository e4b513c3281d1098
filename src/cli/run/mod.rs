//! Run of one conversion, and its report. The steps are reading, preparing, voxelizing, computing digests and
//! saving. The last three run one after the other, or together for each slab.

mod fill;
mod inside;
mod levels;
mod object;
mod prepare;
mod report;
mod summary;
mod verbose;

use std::borrow::Borrow;

use voxelize::format::{SaveOptions, Written};
use voxelize::grid::{CellKind, CellSource, CountedPieces};
use voxelize::job::{Extras, JobResult, Prepared};
use voxelize::rule::doubt::Doubt;
use voxelize::run::Plan as Strategy;
use voxelize::{
    BitGrid, Cells, Code, Error, Finding, Lattice, Mesh, Progress, Record, Result, Run, par, tool,
};

pub use self::fill::{voxelizer, voxels};
pub use self::inside::record_text;
pub use self::levels::{level_rows, shared_rows};
pub use self::object::{InputInfo, MeshJson, RunResult, empty};
pub use self::prepare::{fit, fit_for, library_run, read, without_triangles};
pub use self::report::{MeshInput, RunReport, left_out, timed};
pub use self::summary::{
    extent, mesh_format, mesh_line, padding, summary, time_line, transform_text, triangles,
};
pub use self::verbose::verbose;

use super::guard::guarded;
use super::names::OutputFile;
use super::options::{Mode, Options};
use super::progress::{Bar, Silent};
use super::report::Outcome;
use super::signals::Signals;
use fill::{check_closed, input_name};
use report::DoubtReport;

/// Converts a mesh and records the results in `report`. After an error the output does not exist.
pub fn convert(
    options: &mut Options,
    bar: &Bar,
    signals: &Signals,
    report: &mut RunReport,
) -> Outcome {
    if options.output.kept().is_some() {
        return Outcome::Skipped;
    }
    // All steps share one thread pool.
    let threads = options.job.options.resources.threads;
    let result = guarded(|| par::with_threads(threads, || steps(options, bar, signals, report))?);
    bar.clear();
    let outcome = result.unwrap_or_else(|error| failed(error, options));
    if matches!(outcome, Outcome::PipeClosed) {
        report
            .warnings
            .push(Finding::new(Code::W005, "output pipe closed early"));
    }
    outcome
}

/// Returns the outcome of a run that stopped with `error`.
pub fn failed(error: Error, options: &Options) -> Outcome {
    match error.code() {
        // Another process created the file in the meantime.
        Code::Exists if options.output.skips_existing() => Outcome::Skipped,
        _ => Outcome::of(error),
    }
}

fn steps(
    options: &mut Options,
    bar: &Bar,
    signals: &Signals,
    report: &mut RunReport,
) -> Result<Outcome> {
    // The outputs of a folder are not checked before the run, so an existing file is found only here.
    options.output.file.check()?;
    let mesh = read(&mut options.job, bar, signals, report)?;
    fill_grid(options, mesh, bar, report)
}

/// Voxelizes a mesh that was read, and writes the outputs.
pub fn fill_grid(
    options: &Options,
    mesh: impl Borrow<Mesh>,
    bar: &Bar,
    report: &mut RunReport,
) -> Result<Outcome> {
    bar.check()?;
    let lattice = prepare::fit_for(options, mesh.borrow(), report)?;
    let run = library_run(&options.job.options, bar);
    let input = input_name(&options.job);
    let prepared = plan(
        options,
        mesh.borrow(),
        &lattice,
        &run,
        input.as_deref(),
        report,
    )?;
    if options.mode == Mode::DryRun {
        return Ok(Outcome::Planned);
    }
    check_closed(&options.job.options, mesh.borrow(), report);
    let (written, mut result) = Writer { options, bar }.run(&prepared)?;
    drop(mesh);
    let aux = AuxCells {
        doubt: result.doubt.take(),
        leak: result.leak.take(),
    };
    report.take(result);
    report.outputs = Some(written);
    write_aux(options, aux, &lattice, bar, report)
}

/// Prepares the job and reports the memory that it is expected to need.
pub fn plan<'a>(
    options: &'a Options,
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    run: &Run<'a>,
    input: Option<&'a str>,
    report: &mut RunReport,
) -> Result<Prepared<'a>> {
    let extras = Extras {
        labels: options.labels(),
        doubt: options.doubt.is_some(),
        leak: options.leak.is_some(),
        nearest: options.nearest.is_some(),
        walls: true,
        quantities: options.quantities,
    };
    let voxelizer = voxelizer(&options.job.options, run)
        .input(input)
        .extras(extras);
    let prepared =
        options
            .job
            .sized(voxelizer.prepare(mesh, lattice, Some(options.output.target())))?;
    report.memory = Some(prepared.memory.clone());
    if options.mode == Mode::DryRun {
        report.peak =
            Some(prepared.expected_bytes() + options.job.options.resources.expected_program());
    }
    Ok(prepared)
}

/// Writes the output of a run.
struct Writer<'a> {
    options: &'a Options,
    bar: &'a Bar,
}

impl Writer<'_> {
    /// Runs the job and writes its output files.
    fn run(&self, prepared: &Prepared) -> Result<(Vec<Written>, JobResult)> {
        // A job in slabs moves the bar itself.
        let silent = Silent(self.bar);
        let is_at_once = prepared.memory.strategy == Strategy::Dense
            && self.options.job.options.rule.kind() != CellKind::Field;
        let progress: &dyn Progress = if is_at_once { self.bar } else { &silent };
        let output = &self.options.output;
        let mut pieces = None;
        let write = |source: &mut dyn CellSource| {
            if !output.target().format.has_elements() {
                return output.write(source, progress);
            }
            let mut counted = CountedPieces::new(source);
            let written = output.write(&mut counted, progress);
            pieces = Some(counted.finish());
            written
        };
        let Some(nearest) = &self.options.nearest else {
            let (written, mut result) = prepared.run(write, None)?;
            result
                .findings
                .extend(pieces.as_ref().and_then(inside::of_pieces));
            return Ok((written, result));
        };
        let mut made = None;
        let numbers = nearest.written_by(|| {
            tool::save_numbers(nearest.path(), prepared.dims(), |put| {
                made = Some(prepared.run(write, Some(put))?);
                Ok(())
            })
        })?;
        let (mut written, result) = made.expect("numbers are saved with the cells");
        written.push(numbers);
        Ok((written, result))
    }
}

/// Cells for the files of `--doubt` and `--leak`.
struct AuxCells {
    doubt: Option<Doubt>,
    leak: Option<BitGrid>,
}

/// Writes the cells in doubt and the leak path, and checks `--max-doubt`.
fn write_aux(
    options: &Options,
    AuxCells { doubt, leak }: AuxCells,
    lattice: &Lattice,
    bar: &Bar,
    report: &mut RunReport,
) -> Result<Outcome> {
    let save_options = SaveOptions {
        dtype: None,
        choices: &[],
        values: &[],
        ..options.output.save_options(bar)
    };
    let grid = &options.job.options.grid;
    let placed = grid.placed(lattice)?;
    let transform = grid.transform.entries();
    let write = |aux: &OutputFile, cells: Cells, report: &mut RunReport| {
        let about = Record {
            input: input_name(&options.job),
            transform: transform.clone(),
            ..Record::default()
        };
        let written = aux.save_cells(cells, &placed, about, &save_options)?;
        report.outputs.get_or_insert_default().extend(written);
        Ok(())
    };
    let mut outcome = Outcome::Done;
    if let (Some(options), Some(doubt)) = (&options.doubt, doubt) {
        let found = DoubtReport::new(&doubt, options.most.clone());
        if !found.passes() {
            outcome = Outcome::CheckFailed(Some(found.refusal()));
        }
        report.doubt = Some(found);
        if let Some(aux) = &options.file {
            write(aux, aux.labels(doubt.cells), report)?;
        }
    }
    if let Some((aux, cells)) = options.leak.as_ref().zip(leak) {
        report.leak_path = Some(cells.count());
        write(aux, cells.into(), report)?;
    }
    Ok(outcome)
}
