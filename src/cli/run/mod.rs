//! The run of one conversion: read, prepare, then voxelize, digest and save, one after the other or slab by
//! slab; and its report.

mod field;
mod fill;
mod findings;
mod object;
mod prepare;
mod report;
mod summary;
mod verbose;

use std::time::Instant;

use voxelize::format::{self, SaveOptions, Written};
use voxelize::grid::{CellKind, CellSource, CellType, InMemory, Label, Slab};
use voxelize::job::{Made, OutFile};
use voxelize::rule::doubt::{self, Doubt};
use voxelize::rule::{self, leak_path};
use voxelize::run::Plan as Strategy;
use voxelize::{
    BitGrid, Code, Digest, Finding, Lattice, Mesh, Progress, Record, Result, Run, Slabs, Voxels, par,
};

pub use self::fill::{voxelizer, voxels, whole_grid};
pub use self::findings::option_text;
pub use self::object::{KEYS, fill_object};
pub use self::prepare::{fit, library_run, prepare, read};
pub use self::report::{MeshInput, RunReport, timed};
pub use self::summary::{mesh_format, mesh_line, summary, time_line, triangles, warning_lines};
pub use self::verbose::verbose;

use super::guard::guarded;
use super::options::{DoubtOptions, Mode, Options};
use super::output::AuxOutput;
use super::pipes::Outlet;
use super::progress::{Bar, Silent};
use super::report::Outcome;
use super::signals::Signals;
use fill::{check_closed, input_name};
use prepare::Prepared;
use report::DoubtReport;

/// Carries out `options`, and records the results in `report`. On an error no output remains.
pub fn convert(options: &Options, bar: &Bar, signals: &Signals, report: &mut RunReport) -> Outcome {
    if options.output.kept().is_some() {
        return Outcome::Skipped;
    }
    // One pool for all of it: reading, voxelizing, digests, writing.
    let threads = options.job.options.resources.threads;
    let result = guarded(|| par::with_threads(threads, || steps(options, bar, signals, report))?);
    bar.clear();
    let outcome = match result {
        // It appeared while its cells were made.
        Err(error) if error.code() == Code::Exists && options.output.skips_existing() => Outcome::Skipped,
        result => result.unwrap_or_else(Outcome::of),
    };
    if matches!(outcome, Outcome::PipeClosed) {
        report.warnings.push(Finding::new(Code::W005, "output pipe closed early"));
    }
    outcome
}

fn steps(options: &Options, bar: &Bar, signals: &Signals, report: &mut RunReport) -> Result<Outcome> {
    // In a folder of outputs, where that is known of each one alone.
    options.output.file.as_ref().map_or(Ok(()), OutFile::check)?;
    let mesh = read(&options.job, bar, signals, report)?;
    bar.check()?;
    let run = library_run(&options.job.options, bar);
    let prepared = prepare(options, &mesh, &run, report)?;
    if options.mode == Mode::DryRun {
        return Ok(Outcome::Planned);
    }
    let start = Instant::now();
    let aux = find_aux(options, &mesh, &prepared.lattice, &run)?;
    let searching = start.elapsed();
    check_closed(&options.job.options, &mesh, report);
    let job = Work { options, mesh: &mesh, prepared: &prepared, run: &run, bar, signals };
    match prepared.memory.strategy {
        Strategy::Dense if options.job.options.rule.kind() != CellKind::Field => job.at_once(report)?,
        strategy => job.in_slabs(strategy, report)?,
    }
    drop(mesh);
    if aux.doubt.is_some() || aux.leak.is_some() {
        // The methods run again, so this is more of the same work.
        report.times.voxelize = report.times.voxelize.map(|time| time + searching);
    }
    write_aux(options, aux, &prepared.lattice, bar, report)
}

/// All of a run that is prepared.
struct Work<'a> {
    options: &'a Options,
    mesh: &'a Mesh,
    prepared: &'a Prepared,
    run: &'a Run<'a>,
    bar: &'a Bar,
    signals: &'a Signals,
}

impl Work<'_> {
    fn at_once(&self, report: &mut RunReport) -> Result<()> {
        let lattice = &self.prepared.lattice;
        let (voxels, digest) = fill::fill(&self.options.job, self.mesh, lattice, self.run, report)?;
        let voxels = self.labelled(voxels, report)?;
        self.bar.check()?;
        let written = timed(&mut report.times.write, || {
            self.write(&mut InMemory::with_digest(&voxels, digest), self.bar)
        })?;
        report.outputs = Some(written);
        Ok(())
    }

    /// The cells, labelled where the output has labels.
    fn labelled(&self, voxels: Voxels, report: &mut RunReport) -> Result<Voxels> {
        if !self.options.has_labels() {
            return Ok(voxels);
        }
        let Voxels { cells, lattice, record } = voxels;
        let labels = timed(&mut report.times.voxelize, || {
            let cells = cells.into_occupied()?;
            rule::surface_and_interior(self.mesh, &self.prepared.lattice, cells, self.run)
        })?;
        report.labels = Some([Label::SURFACE, Label::INTERIOR].map(|label| labels.count(label.value)));
        Ok(Voxels { cells: labels.into(), lattice, record })
    }

    /// Fills slab after slab, each as the writer asks for it.
    fn in_slabs(&self, strategy: Strategy, report: &mut RunReport) -> Result<()> {
        let options = &self.options.job.options;
        let lattice = &self.prepared.lattice;
        let start = Instant::now();
        let voxelizer = fill::voxelizer(options, self.run);
        let voxelizer = if self.options.has_labels() { voxelizer.labelled() } else { voxelizer };
        let mut slabs = voxelizer.slabs(self.mesh, lattice, strategy)?;
        slabs.record.input = input_name(&self.options.job);
        let written = match &self.options.nearest {
            None => self.write(&mut slabs, &Silent(self.bar))?,
            Some(nearest) => {
                slabs = slabs.with_nearest();
                let mut written = vec![];
                let numbers = nearest.file.save_numbers(lattice.dims(), |put| {
                    let mut both = WithNearest { slabs: &mut slabs, put };
                    written = self.write(&mut both, &Silent(self.bar))?;
                    Ok(())
                })?;
                written.push(numbers);
                written
            }
        };
        self.note_slabs(&slabs, start, report);
        report.outputs = Some(written);
        Ok(())
    }

    fn note_slabs(&self, slabs: &Slabs, start: Instant, report: &mut RunReport) {
        let found = slabs.findings();
        let Made { occupied, surface_and_interior, field, stats, filling, hashing, .. } = slabs.made();
        (report.labels, report.field) = (surface_and_interior, field);
        let times = &mut report.times;
        times.voxelize = Some(times.voxelize.unwrap_or_default() + filling);
        times.digest = Some(hashing);
        times.write = Some(start.elapsed().saturating_sub(filling + hashing));
        fill::note(report, &slabs.record, stats, found);
        (report.occupied, report.digest) = (Some(occupied), Some(slabs.digest()));
    }

    fn write(&self, source: &mut dyn CellSource, progress: &dyn Progress) -> Result<Vec<Written>> {
        let output = &self.options.output;
        let options = output.save_options(progress);
        let format = output.format;
        let path = output.destination.path();
        let mut out = match &output.file {
            None => Outlet::stdout(self.signals),
            Some(file) if output.destination.may_block() => Outlet::open(file, self.signals),
            Some(file) => {
                if let Some(folder) = &output.folder {
                    folder.made.make_for(file.path())?;
                }
                return file.save_source(source, format, &options);
            }
        };
        let bytes =
            format::write_source_to(source, &mut out, format, &options).map_err(|error| match path {
                Some(path) => error.in_file(path),
                // Standard output has no name of its own.
                None => error,
            })?;
        let path = path.map_or_else(|| "-".into(), |path| path.to_path_buf());
        Ok(vec![Written { path, format: format.name, bytes }])
    }
}

/// Slabs whose nearest triangles are written as the cells are.
struct WithNearest<'a, 'b> {
    slabs: &'a mut Slabs<'b>,
    put: &'a mut dyn FnMut(&[i32]) -> Result<()>,
}

impl CellSource for WithNearest<'_, '_> {
    fn dims(&self) -> [usize; 3] {
        self.slabs.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.slabs.lattice()
    }

    fn record(&self) -> &Record {
        CellSource::record(self.slabs)
    }

    fn cell_type(&self) -> CellType<'_> {
        self.slabs.cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        if self.slabs.advance()? {
            (self.put)(self.slabs.nearest())?;
        } else {
            return Ok(None);
        }
        Ok(self.slabs.slab())
    }

    fn digest(&self) -> Digest {
        self.slabs.digest()
    }
}

/// The cells of `--doubt` and `--leak`.
struct AuxCells<'a> {
    doubt: Option<(&'a DoubtOptions, Doubt)>,
    leak: Option<(&'a AuxOutput, BitGrid)>,
}

fn find_aux<'a>(options: &'a Options, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<AuxCells<'a>> {
    let inside = options.job.options.rule.inside().unwrap_or_default();
    let doubt = match &options.doubt {
        Some(options) => Some((options, doubt::doubt(mesh, lattice, inside, run)?)),
        None => None,
    };
    let leak = match &options.leak {
        Some(aux) => Some((aux, leak_path::leak_path(mesh, lattice, inside, run)?)),
        None => None,
    };
    Ok(AuxCells { doubt, leak })
}

/// Writes them, and checks `--max-doubt`.
fn write_aux(
    options: &Options,
    AuxCells { doubt, leak }: AuxCells,
    lattice: &Lattice,
    bar: &Bar,
    report: &mut RunReport,
) -> Result<Outcome> {
    let save_options = SaveOptions { dtype: None, ..options.output.save_options(bar) };
    let grid = &options.job.options.grid;
    let placed = grid.placed(lattice)?;
    let transform = grid.transform.entries();
    let write = |aux: &AuxOutput, cells: BitGrid, report: &mut RunReport| {
        let about =
            Record { input: input_name(&options.job), transform: transform.clone(), ..Record::default() };
        let written = aux.write(cells, &placed, about, &save_options)?;
        report.outputs.get_or_insert_default().extend(written);
        Ok(())
    };
    let mut outcome = Outcome::Done;
    if let Some((options, Doubt { cells, inside, by, leaked })) = doubt {
        let found = DoubtReport { cells: cells.count(), inside, by, leaked, most: options.most.clone() };
        if !found.passes() {
            outcome = Outcome::CheckFailed(Some(found.refusal()));
        }
        report.doubt = Some(found);
        if let Some(aux) = &options.file {
            write(aux, cells, report)?;
        }
    }
    if let Some((aux, cells)) = leak {
        report.leak_path = Some(cells.count());
        write(aux, cells, report)?;
    }
    Ok(outcome)
}
