//! From options to what will be done: the mesh is read, its lattice fitted, and a plan of memory found. A dry
//! run ends here.

use voxelize::format;
use voxelize::format::FileSize;
use voxelize::grid::CellKind;
use voxelize::job::{UpAxis, findings};
use voxelize::mesh::read::{self, Finding, Loaded, ReadOptions};
use voxelize::rule::usual;
use voxelize::{Code, Error, Kind, Lattice, Length, Mesh, Progress, Result, Run};

use super::super::args::prefixed;
use super::super::files::{self, MeshSource};
use super::super::guard;
use super::super::limits::free_space;
use super::super::options::{GridFrom, Job, JobOptions, Mode, Options};
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
    report.warnings.extend(output.warning().map(|text| Finding::new(Code::W003, text)));
    let [x, y, z] = lattice.dims();
    let stands = if job.options.grid.transform.up == UpAxis::Y { [x, z, y] } else { [x, y, z] };
    let limits = format::warnings(stands, output.format);
    report.warnings.extend(limits.into_iter().map(|text| Finding::new(Code::W004, text)));
    let size = output_size(options, mesh, &lattice);
    report.output_size = size.filter(|_| options.mode == Mode::DryRun);
    report.warnings.extend(size.into_iter().flat_map(|size| size_warnings(size, output)));
    options.aux_outputs().try_for_each(|aux| aux.check_lattice(CellKind::Bits, &lattice))?;
    Ok(lattice)
}

/// The size of an output to come, where its format allows a guess: of the cells of a surface about, of others at most.
fn output_size(options: &Options, mesh: &Mesh, lattice: &Lattice) -> Option<FileSize> {
    let rule = &options.job.options.rule;
    let output = &options.output;
    let dims = lattice.dims();
    let dtype = output.dtype()?;
    let size = |occupied: u64| output.format.size(dims, dtype, Some(occupied));
    // Every cell that the rule can reach may be occupied.
    let most = size(if rule.margin() == Length::ZERO { within_bounds(mesh, lattice) } else { cells(dims) })?;
    match options.mode {
        _ if size(0) == Some(most) => Some(most),
        Mode::DryRun if rule.is_hollow() => {
            size((usual::crossed(mesh, lattice, [1; 3]) as u64).min(cells(dims)))
        }
        // To estimate it takes longer than is worth it.
        Mode::Write if rule.is_hollow() => None,
        _ => Some(FileSize::AtMost(most.bytes())),
    }
}

/// The cells of a lattice that the bounds of a mesh touch.
fn within_bounds(mesh: &Mesh, lattice: &Lattice) -> u64 {
    let dims = lattice.dims();
    let bounds = mesh.bounds();
    let along = |axis: usize| {
        let place = |coordinate: f32| {
            (f64::from(coordinate) - lattice.origin()[axis].to_f64()) / lattice.spacing()[axis].to_f64()
        };
        // A cell more on either side, against rounding.
        let first = place(bounds.min[axis]).floor() - 1.0;
        let last = place(bounds.max[axis]).floor() + 1.0;
        (last.min(dims[axis] as f64 - 1.0) - first.max(0.0) + 1.0).max(0.0) as u64
    };
    along(0).saturating_mul(along(1)).saturating_mul(along(2))
}

/// The warnings that an output of this size may not fit: its format has a limit, or the disk is too full.
fn size_warnings(size: FileSize, output: &Output) -> Vec<Finding> {
    let bytes = size.bytes();
    let name = output.format.name;
    let limit = output.format.max_bytes.filter(|most| bytes > *most).map(|most| {
        let most = shown(most);
        let worst = shown(bytes);
        let text = format!(
            "a .{name} file holds at most {most}; this one may take {worst}, and its size is known only once it is \
             voxelized"
        );
        Finding::new(Code::W004, text)
    });
    let path = output.destination.path().filter(|_| matches!(size, FileSize::About(_)));
    let free = path.and_then(free_space).filter(|free| *free < bytes).map(|free| {
        let text =
            format!("the disk of {} has {} free; it takes {}", output.name(), shown(free), shown(bytes));
        Finding::new(Code::W012, text)
    });
    limit.into_iter().chain(free).collect()
}

fn shown(bytes: u64) -> String {
    super::super::report::display::bytes(bytes)
}
