//! From options to what will be done: the mesh is read, its lattice fitted, and a plan of memory found. A dry
//! run ends here.

use voxelize::format;
use voxelize::grid::CellKind;
use voxelize::job::findings;
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::{Error, Kind, Lattice, Mesh, Progress, Result, Run};

use super::super::args::prefixed;
use super::super::files::{self, MeshSource};
use super::super::guard;
use super::super::options::{GridFrom, Job, JobOptions, Mode, Options};
use super::super::pipes::Inlet;
use super::super::progress::Bar;
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
    let max_memory = job.options.resources.for_job();
    let options = ReadOptions::default().tolerance(tolerance).memory(max_memory).progress(bar);
    let stream = |mut stream: Inlet| read::read_stream(&mut stream, &job.source.name(), &options);
    let loaded = timed(&mut report.times.read, || match &job.source {
        MeshSource::Stdin => stream(Inlet::stdin(signals)),
        MeshSource::File(file) if files::is_pipe(file.path()) => stream(Inlet::open(file, signals)),
        MeshSource::File(file) => read::read_file(file.path(), &options),
    })
    .map_err(|e| if bar.cancelled() { Error::interrupted() } else { e })
    .map_err(|e| match (e.kind(), e.hint()) {
        // A folder.
        (Kind::Usage, None) => {
            let name = job.source.name();
            let folder = name.trim_end_matches('/');
            e.with_hint(format!(
                "name its meshes: {folder}/*.stl; 'voxelize {folder} -o DIR/' voxelizes all of them"
            ))
        }
        (Kind::Input, _) => job.source.path().and_then(files::holds_voxels).unwrap_or(e),
        _ => e,
    })?;
    bar.clear();
    let Loaded { mesh, format, bytes, packing, dropped, findings, .. } = loaded;
    let mesh = job.options.parts.choose(mesh).map_err(|error| error.in_file(job.source.name()))?;
    let mesh = turned(job, mesh)?;
    report.warnings.extend(findings);
    report.mesh = Some(MeshInput::new(&mesh, format, bytes, packing, dropped));
    Ok(mesh)
}

/// The mesh in the axes of the grid; both are in memory for a while.
fn turned(job: &Job, mesh: Mesh) -> Result<Mesh> {
    let transform = &job.options.grid.transform;
    let resources = &job.options.resources;
    let need = 2 * size_of_val(mesh.triangles()) as u64;
    match resources.for_job().filter(|most| transform.turns() && need > *most) {
        Some(_) => {
            let limit = resources.memory.text().unwrap_or_default();
            Err(Error::too_large(format!("--axes: two copies of the mesh need {}, {limit}", shown(need))))
        }
        None => transform.apply(mesh),
    }
}

impl MeshInput {
    pub fn new(mesh: &Mesh, format: &'static str, bytes: u64, packing: read::Packing, dropped: u64) -> Self {
        let triangles = mesh.triangles().len();
        let degenerate = mesh.degenerate();
        let bounds = *mesh.bounds();
        Self { format, bytes, triangles, degenerate, dropped, packing, bounds }
    }
}

/// Where the cells of a mesh will be.
pub fn fit(job: &Job, mesh: &Mesh, report: &mut RunReport) -> Result<Lattice> {
    let grid = &job.options.grid;
    let name = job.source.name();
    if mesh.triangles().is_empty() {
        return Err(Error::unfit("has no triangles").with_hint("export the mesh again").in_file(name));
    }
    let lattice = grid.lattice(mesh.bounds()).map_err(|e| match e.kind() {
        Kind::Unfit => e.in_file(&name),
        _ => prefixed(&format!("{}: ", grid.option), &e),
    })?;
    if let GridFrom::Like(_) = grid.from {
        report.warnings.extend(findings::beyond(mesh, &lattice, &grid.option));
    }
    let options = &job.options;
    let found = findings::of_lattice(mesh, &lattice, &options.rule, options.tolerance);
    report.warnings.extend(found.map_err(|error| error.in_file(name))?);
    report.lattice = Some(grid.placed(&lattice)?);
    Ok(lattice)
}

/// Fits the lattice for an output; refuses what its format cannot hold, and notes what it may not.
pub fn fit_for(options: &Options, mesh: &Mesh, report: &mut RunReport) -> Result<Lattice> {
    let job = &options.job;
    let output = &options.output;
    let lattice = fit(job, mesh, report)?;
    format::check(job.options.kind(), &lattice, output.format, &output.save_options(&()))
        .map_err(|e| e.in_file(output.name()))?;
    job.options.rule.check_on(&lattice).map_err(|e| prefixed("--", &e))?;
    let target = output.target();
    let is_dry = options.mode == Mode::DryRun;
    let size = target.size(&job.options.rule, mesh, &lattice, is_dry);
    report.output_size = size.filter(|_| is_dry);
    report.warnings.extend(target.findings(lattice.dims(), job.options.grid.transform.up, size));
    options.aux_outputs().try_for_each(|aux| aux.check_lattice(CellKind::Bits, &lattice))?;
    Ok(lattice)
}

fn shown(bytes: u64) -> String {
    super::super::report::display::bytes(bytes)
}
