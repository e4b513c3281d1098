//! From options to what will be done: the mesh is read, its lattice fitted, and a plan of memory found. A dry
//! run ends here.

use voxelize::format;
use voxelize::format::FileSize;
use voxelize::grid::{AXES, CellKind};
use voxelize::mesh::read::{self, Finding, Loaded, ReadOptions, Tolerance};
use voxelize::{Code, Error, Kind, Lattice, Mesh, Progress, Result, Run};

use super::super::args::prefixed;
use super::super::files::{self, MeshSource};
use super::super::guard;
use super::super::memory::{MemoryPlan, Needs};
use super::super::options::{GridFrom, Job, JobOptions, Options};
use super::super::output::Output;
use super::super::pipes::Inlet;
use super::super::progress::Bar;
use super::super::report::value::cells;
use super::super::signals::Signals;
use super::report::{MeshInput, RunReport, timed};

/// How the library is to do a job.
pub fn library_run<'a>(options: &JobOptions, bar: &'a Bar) -> Run<'a> {
    let resources = &options.resources;
    Run::default().threads(resources.threads).level(resources.level).progress(bar).memory(resources.for_job())
}

/// The mesh.
pub fn read(job: &Job, bar: &Bar, signals: &Signals, report: &mut RunReport) -> Result<Mesh> {
    signals.listen()?;
    guard::provoked(&job.source.name());
    let tolerance = job.options.tolerance;
    let max_memory = job.options.resources.memory.bytes();
    let options = ReadOptions { tolerance, max_memory, progress: bar };
    let stream = |mut stream: Inlet| read::read_stream(&mut stream, &job.source.name(), &options);
    let loaded = timed(&mut report.times.read, || match &job.source {
        MeshSource::Stdin => stream(Inlet::stdin(signals)),
        MeshSource::File(path) if files::is_pipe(path) => stream(Inlet::open(path, signals)),
        MeshSource::File(path) => read::read_file(path, &options),
    })
    .map_err(|e| if bar.cancelled() { Error::interrupted() } else { e })
    .map_err(|e| match (e.kind(), e.hint()) {
        // A folder.
        (Kind::Usage, None) => e.with_hint("'voxelize FOLDER -o DIR/' makes a file of each mesh"),
        (Kind::Input, _) => job.source.path().and_then(files::holds_voxels).unwrap_or(e),
        _ => e,
    })?;
    bar.clear();
    let Loaded { mesh, format, bytes, packing, dropped, findings } = loaded;
    report.warnings.extend(findings);
    report.mesh = Some(MeshInput::new(&mesh, format, bytes, packing, dropped));
    Ok(mesh)
}

impl MeshInput {
    pub fn new(mesh: &Mesh, format: &'static str, bytes: u64, packing: read::Packing, dropped: u64) -> Self {
        let (triangles, degenerate, bounds) = (mesh.triangles().len(), mesh.degenerate(), *mesh.bounds());
        Self { format, bytes, triangles, degenerate, dropped, packing, bounds }
    }
}

/// Where the cells of a mesh will be.
pub fn fit(job: &Job, mesh: &Mesh, report: &mut RunReport) -> Result<Lattice> {
    let (grid, name) = (&job.options.grid, job.source.name());
    if mesh.triangles().is_empty() {
        return Err(Error::unfit("has no triangles")
            .with_hint("export it again: there is nothing in it to voxelize")
            .in_file(name));
    }
    let lattice = grid.lattice(mesh.bounds()).map_err(|e| match e.kind() {
        Kind::Unfit => e.in_file(&name),
        _ => prefixed(&format!("{}: ", grid.asked), &e),
    })?;
    if let GridFrom::Like(_) = grid.from {
        let beyond = beyond(&lattice, mesh, &grid.asked);
        report.warnings.extend(beyond.map(|text| Finding::new(Code::W001, text)));
    }
    let tolerance = job.options.tolerance;
    match lattice.far_from_origin(mesh.bounds()) {
        Some(far) if tolerance == Tolerance::Strict => return Err(far.in_file(name)),
        Some(far) => {
            report.warnings.push(Finding { severity: tolerance.severity(far.code()), first: far, count: 1 })
        }
        None => (),
    }
    report.lattice = Some(lattice.clone());
    Ok(lattice)
}

/// The warning that a lattice that was not fitted to the mesh leaves out some of it.
fn beyond(lattice: &Lattice, mesh: &Mesh, asked: &str) -> Option<String> {
    let axes: Vec<_> = (0..3)
        .filter(|&axis| lattice.is_passed(axis, mesh.bounds()).contains(&true))
        .map(|axis| AXES[axis].to_string())
        .collect();
    let axes = if axes.is_empty() { return None } else { axes.join(", ") };
    Some(format!("the mesh goes beyond the grid of {asked} along {axes}; the part beyond it is left out"))
}

/// All that is decided before the first cell.
pub struct Prepared {
    pub lattice: Lattice,
    pub memory: MemoryPlan,
}

/// Fits the lattice and finds the plan of memory; refuses what the format or the memory cannot hold.
pub fn prepare(options: &Options, mesh: &Mesh, run: &Run, report: &mut RunReport) -> Result<Prepared> {
    let (job, output) = (&options.job, &options.output);
    let lattice = fit(job, mesh, report)?;
    format::check(job.options.rule.kind(), &lattice, output.format, &output.save_options(&()))
        .map_err(|e| e.in_file(output.name()))?;
    job.options.rule.check_on(&lattice).map_err(|e| prefixed("--", &e))?;
    report.warnings.extend(output.warning().map(|text| Finding::new(Code::W003, text)));
    let limits = format::warnings(lattice.dims(), output.format);
    report.warnings.extend(limits.into_iter().map(|text| Finding::new(Code::W004, text)));
    options.aux_outputs().try_for_each(|aux| aux.check_lattice(CellKind::Bits, &lattice))?;
    let needs = Needs {
        mesh,
        lattice: &lattice,
        run,
        rule: job.options.rule,
        asked: &job.options.grid.asked,
        output: Some((output.format, &output.destination)),
        labels: options.has_labels(),
        doubt: options.doubt.is_some(),
        leak: options.leak.is_some(),
        nearest: options.nearest.is_some(),
    };
    let memory = MemoryPlan::new(&needs, &job.options.resources)?;
    report.memory = Some(memory.clone());
    Ok(Prepared { lattice, memory })
}

/// The size of an output to come, where its format allows a guess.
pub fn output_size(mesh: &Mesh, lattice: &Lattice, output: &Output) -> Option<FileSize> {
    let occupied = touched(mesh, lattice).min(cells(lattice.dims()));
    output.format.size(lattice.dims(), output.dtype()?, Some(occupied))
}

/// About how many cells a mesh touches. A large facet crosses one cell for each cell it covers when
/// seen along each of the axes, so its three projections, counted in cell faces, add up.
fn touched(mesh: &Mesh, lattice: &Lattice) -> u64 {
    let size = [0, 1, 2].map(|axis| lattice.spacing()[axis].to_f64());
    let mut faces = 0.0;
    for [a, b, c] in mesh.triangles() {
        let edge = |to: &[f32; 3]| [0, 1, 2].map(|axis| f64::from(to[axis]) - f64::from(a[axis]));
        let (u, v) = (edge(b), edge(c));
        for axis in 0..3 {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            faces += (u[p] * v[q] - u[q] * v[p]).abs() / 2.0 / (size[p] * size[q]);
        }
    }
    faces as u64
}
