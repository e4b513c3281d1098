//! Preparation of a run: reading the mesh, fitting the lattice and planning the memory. A dry run ends after
//! these steps.

use std::path::Path;

use voxelize::format::Choice;
use voxelize::job::{UnitOfLength, UpAxis, findings, one_unit, one_up, other_unit};
use voxelize::mesh::read::{self, Loaded, Packing, ReadNear, ReadOptions};
use voxelize::mesh::{MeshParts, PartKind};
use voxelize::{Code, Error, Finding, Kind, Lattice, Mesh, Progress, Result, Rule, Run, Severity};

use super::report::{MeshFile, MeshInput, MeshLook, RunReport, timed};
use crate::cli::args::prefixed;
use crate::cli::files::{self, PartSource};
use crate::cli::guard;
use crate::cli::options::{GridFrom, Job, JobOptions, Mode, Options};
use crate::cli::pipes::PipeReader;
use crate::cli::progress::Bar;
use crate::cli::signals::Signals;

/// Returns the settings with which the library runs a job.
pub fn library_run<'a>(options: &JobOptions, bar: &'a Bar) -> Run<'a> {
    let resources = &options.resources;
    Run::default()
        .threads(resources.threads)
        .level(resources.level)
        .progress(bar)
        .memory(resources.for_job())
}

/// Reads the mesh, or reads and joins several meshes. Then applies the unit and the up axis that the files
/// state to the options.
pub fn read(job: &mut Job, bar: &Bar, signals: &Signals, report: &mut RunReport) -> Result<Mesh> {
    signals.listen()?;
    let sources = job.source.parts.as_slice();
    let read = || read_all(sources, &job.options, bar, signals);
    let mut all: Vec<(String, Loaded)> = timed(&mut report.times.read, read)?;
    for (source, (_, loaded)) in sources.iter().zip(&mut all) {
        let other = other_unit(loaded.unit, &job.options.grid.transform);
        // A scale converts the coordinates.
        let other = other.filter(|_| !source.pose.scales());
        let findings = std::mem::take(&mut loaded.findings)
            .into_iter()
            .chain(other);
        report
            .warnings
            .extend(findings.map(|finding| match sources {
                [_] => finding,
                _ => finding.about(&source.name()),
            }));
    }
    bar.clear();
    let stated = stated(sources, &all);
    let pose_unit = apply_poses(sources, &mut all, &stated, &job.options)?;
    let near = all[0].1.near.clone();
    let files = sources
        .iter()
        .zip(&all)
        .map(|(source, (_, loaded))| MeshFile::new(source, loaded))
        .collect();
    let dropped = all.iter().map(|(_, loaded)| loaded.dropped).sum();
    let has_pictures = all
        .iter()
        .any(|(_, loaded)| !loaded.unread_pictures.is_empty());
    let mesh = joined(all, &job.options)?;
    if job.options.labels().are_colours() && mesh.colours().is_none() {
        // If colours are missing, the finding about them explains why.
        if let Some(why) = report
            .warnings
            .iter()
            .find(|finding| finding.code() == Code::S110)
        {
            let error = Error::unfit(format!("the mesh has no colours; {}", why.first.message()));
            let error = match why.first.hint() {
                Some(hint) => error.with_hint(hint),
                None => error.with_hint("put the file next to the mesh"),
            };
            return Err(error.in_file(job.source.name()));
        }
    }
    report.look = MeshLook::of(&mesh, has_pictures);
    job.options.take_stated(&stated, near)?;
    job.options.pose_unit = pose_unit;
    let mesh = job
        .options
        .request
        .choose(mesh)
        .map_err(|error| error.in_file(job.source.name()))?;
    let mesh = turned(job, mesh)?;
    report.mesh = Some(MeshInput::of_files(&mesh, files, dropped));
    Ok(mesh)
}

/// Unit and up axis that a file states.
type Stated = (Option<UnitOfLength>, Option<UpAxis>);

/// Returns the unit and the up axis that each file states, after its pose. A mesh whose pose scales it has the
/// unit of the other meshes. If poses turn meshes to different up axes, the meshes that are not turned decide.
fn stated(sources: &[PartSource], all: &[(String, Loaded)]) -> Vec<Stated> {
    let both = || sources.iter().zip(all.iter().map(|(_, loaded)| loaded));
    let unscaled = both().find(|(source, _)| !source.pose.scales());
    let unit = unscaled.and_then(|(_, loaded)| loaded.unit);
    let mut stated: Vec<Stated> = vec![];
    for (source, loaded) in both() {
        let unit = if source.pose.scales() {
            unit
        } else {
            loaded.unit
        };
        stated.push((unit, loaded.up.map(|up| source.pose.up(up))));
    }
    if one_up(stated.iter().map(|(_, up)| *up)).is_ok() {
        return stated;
    }
    let unturned = both()
        .zip(&stated)
        .find(|((source, _), _)| !source.pose.turns());
    let up = unturned.and_then(|(_, (_, up))| *up);
    for (source, (_, turned)) in sources.iter().zip(&mut stated) {
        if source.pose.turns() {
            *turned = up;
        }
    }
    stated
}

/// Applies the poses of the meshes, and returns the unit of their translations. Meanwhile a mesh is in memory
/// twice.
fn apply_poses(
    sources: &[PartSource],
    all: &mut [(String, Loaded)],
    stated: &[Stated],
    options: &JobOptions,
) -> Result<Option<UnitOfLength>> {
    if sources.iter().all(|source| source.pose.is_empty()) {
        return Ok(None);
    }
    let unit = if options.request.scale.is_some() {
        // Poses are applied before the scale, in the unit of the files.
        one_unit(stated.iter().map(|(unit, _)| *unit))?
    } else {
        options.request.transform(stated)?.unit
    };
    let held = held(all);
    for (source, (_, loaded)) in sources.iter().zip(all) {
        if source.pose.is_empty() {
            continue;
        }
        let copy = size_of_val(loaded.mesh.triangles()) as u64;
        options.admit(held + copy, "the meshes and one of them posed")?;
        source
            .pose
            .apply(loaded, unit)
            .map_err(|error| error.in_file(source.name()))?;
    }
    Ok(unit)
}

/// Reads all files. If the mesh is far from the origin and all files can be read twice, the coordinates are
/// relative to a point near the first file. If a mesh has a pose, only meshes whose pose moves them are
/// relative to a point, each to its own.
fn read_all(
    sources: &[PartSource],
    options: &JobOptions,
    bar: &Bar,
    signals: &Signals,
) -> Result<Vec<(String, Loaded)>> {
    if sources.iter().any(|source| !source.pose.is_empty()) {
        let mut all: Vec<(String, Loaded)> = vec![];
        for source in sources {
            let near = if source.pose.translates() {
                ReadNear::Mesh
            } else {
                ReadNear::Origin
            };
            let held = held(&all);
            let loaded = read_one(source, options, near, held, bar, signals)?;
            all.push((source.label(), loaded));
        }
        return Ok(all);
    }
    let is_file = |source: &PartSource| source.path().is_some_and(|path| !files::is_pipe(path));
    let is_repeatable = sources.len() == 1 || sources.iter().all(is_file);
    let wants_near = options.reads_near && options.grid.may_be_near() && is_repeatable;
    let near = if wants_near {
        ReadNear::Mesh
    } else {
        ReadNear::Origin
    };
    let mut all: Vec<(String, Loaded)> = vec![];
    let (first, others) = sources.split_first().expect("a job has a mesh");
    all.push((
        first.label(),
        read_one(first, options, near, 0, bar, signals)?,
    ));
    let point = all[0].1.near.clone();
    let near = ReadNear::Point(&point);
    for source in others {
        let loaded = read_one(source, options, near, held(&all), bar, signals)?;
        if loaded.near != point {
            let options = JobOptions {
                reads_near: false,
                ..options.clone()
            };
            drop(all);
            return read_all(sources, &options, bar, signals);
        }
        all.push((source.label(), loaded));
    }
    Ok(all)
}

/// Returns the memory of meshes in bytes.
fn held(all: &[(String, Loaded)]) -> u64 {
    all.iter()
        .map(|(_, loaded)| size_of_val(loaded.mesh.triangles()) as u64)
        .sum()
}

/// Reads one file. The meshes that were read before take `held` bytes of memory.
fn read_one(
    source: &PartSource,
    options: &JobOptions,
    near: ReadNear,
    held: u64,
    bar: &Bar,
    signals: &Signals,
) -> Result<Loaded> {
    let name = source.name();
    guard::provoked(&name);
    let max_memory = options
        .resources
        .for_job()
        .map(|most| most.saturating_sub(held));
    let reading = ReadOptions::default()
        .tolerance(options.tolerance)
        .memory(max_memory)
        .progress(bar);
    let paints = options.needs_colours();
    let reading = reading
        .textures(paints)
        .vertex_numbers(options.has_numbers)
        .near(near);
    let loaded = match &source.file {
        Some(file) if files::is_pipe(file.path()) => read::read_stream(
            &mut PipeReader::open(file.path(), signals)?,
            &name,
            &reading,
        ),
        Some(file) => {
            let companions = |path: &Path| file.reads_companion(path);
            read::read_file(file.path(), &reading.companions(&companions))
        }
        None => read::read_stream(&mut PipeReader::stdin(signals)?, &name, &reading),
    };
    let loaded = loaded.map_err(|e| {
        if bar.cancelled() {
            Error::interrupted()
        } else {
            e
        }
    });
    let loaded = loaded.map(|mut loaded| {
        // If colours were requested, missing colours are a warning instead of a note.
        let unknown = loaded
            .findings
            .iter_mut()
            .filter(|finding| paints && finding.first.code() == Code::S110);
        unknown.for_each(|finding| finding.severity = Severity::Warning);
        loaded
    });
    loaded.map_err(|e| match (e.kind(), e.hint()) {
        // A usage error here means that the name is a folder.
        (Kind::Usage, None) => {
            let folder = name.trim_end_matches('/');
            e.with_hint(format!(
                "name its meshes: {folder}/*.stl; 'voxelize {folder} -o DIR/' voxelizes all of them"
            ))
        }
        (Kind::Input, _) => source.path().and_then(files::holds_voxels).unwrap_or(e),
        _ => e,
    })
}

/// Joins the meshes. The separate meshes and the joined mesh are in memory at the same time.
fn joined(mut all: Vec<(String, Loaded)>, options: &JobOptions) -> Result<Mesh> {
    if all.len() == 1 {
        let (name, Loaded { mesh, .. }) = all.remove(0);
        if options.labels().part_kind() != Some(PartKind::File) {
            return Ok(mesh);
        }
        let parts = MeshParts::new([name], std::iter::repeat_n(0, mesh.triangles().len()))?;
        return mesh.with_parts(PartKind::File, parts);
    }
    options.admit(2 * held(&all), "the meshes and one of all")?;
    Mesh::join(
        all.iter()
            .map(|(name, loaded)| (name.as_str(), &loaded.mesh)),
    )
}

/// Transforms the mesh to the axes of the grid. Both meshes are in memory at the same time.
fn turned(job: &Job, mesh: Mesh) -> Result<Mesh> {
    let transform = &job.options.grid.transform;
    if transform.turns() {
        job.options.admit(
            2 * size_of_val(mesh.triangles()) as u64,
            "the mesh and the mesh turned",
        )?;
    }
    transform.apply(mesh)
}

impl MeshInput {
    pub fn new(
        mesh: &Mesh,
        format: &'static str,
        bytes: u64,
        packing: Packing,
        dropped: u64,
    ) -> Self {
        let triangles = mesh.triangles().len();
        let degenerate = mesh.degenerate();
        let bounds = *mesh.bounds();
        let packing = packing.name();
        Self {
            format,
            bytes,
            packing,
            files: vec![],
            triangles,
            degenerate,
            dropped,
            bounds,
        }
    }

    /// Creates the description of a mesh that was read from these files.
    fn of_files(mesh: &Mesh, files: Vec<MeshFile>, dropped: u64) -> Self {
        let MeshFile {
            format, packing, ..
        } = files[0];
        let bytes = files.iter().map(|file| file.bytes).sum();
        let files = if files.len() > 1 { files } else { vec![] };
        Self {
            files,
            packing,
            ..Self::new(mesh, format, bytes, Packing::None, dropped)
        }
    }
}

impl MeshFile {
    fn new(source: &PartSource, loaded: &Loaded) -> Self {
        let Loaded {
            format,
            bytes,
            packing,
            ..
        } = *loaded;
        Self {
            path: source.unposed_name(),
            pose: (!source.pose.is_empty()).then(|| source.pose.to_string()),
            format,
            bytes,
            packing: packing.name(),
        }
    }
}

/// Returns the error for a mesh without triangles. If a finding explains which content of the file was left
/// out, the error includes it.
pub fn without_triangles(findings: &[Finding]) -> Error {
    const LEFT_OUT: [Code; 3] = [Code::S120, Code::S121, Code::S107];
    let why = findings
        .iter()
        .find(|finding| LEFT_OUT.contains(&finding.code()));
    let Some(why) = why else {
        return Error::unfit("has no triangles").with_hint("export the mesh again");
    };
    let error = Error::unfit(format!("has no triangles: {}", why.first.message()));
    match why.first.hint() {
        Some(hint) => error.with_hint(hint),
        None => error.with_hint("export triangles"),
    }
}

/// Fits the lattice to the mesh, and reports findings about the mesh in it.
pub fn fit(job: &Job, mesh: &Mesh, report: &mut RunReport) -> Result<Lattice> {
    let grid = &job.options.grid;
    let name = job.source.name();
    if mesh.triangles().is_empty() {
        return Err(without_triangles(&report.warnings).in_file(name));
    }
    let lattice = grid.lattice(mesh.bounds()).map_err(|e| match e.kind() {
        Kind::Unfit => e.in_file(&name),
        _ => prefixed(&format!("{}: ", grid.option), &e),
    })?;
    match &grid.from {
        GridFrom::Like(_) => {
            report
                .warnings
                .extend(findings::beyond(mesh, &lattice, &grid.option));
            report
                .warnings
                .extend(grid.unknown_axes.as_deref().map(findings::image_axes));
        }
        GridFrom::Mesh(fit) => {
            report
                .warnings
                .extend(findings::rounded(mesh.bounds(), fit, &grid.transform))
        }
        GridFrom::Shared(_, all) => {
            let found = grid
                .padding
                .iter()
                .filter_map(|fit| findings::rounded(all, fit, &grid.transform));
            report.warnings.extend(found);
        }
    }
    if let Rule::Filled { .. } = job.options.rule {
        let fit = match &grid.from {
            GridFrom::Mesh(fit) => Some(fit.as_ref()),
            GridFrom::Like(_) | GridFrom::Shared(..) => None,
        };
        let found = findings::past_walls(mesh, &lattice, fit, &grid.transform);
        report.warnings.extend(found);
    }
    report.cut = findings::passed(mesh, &lattice).filter(|_| grid.bounds.is_some());
    let options = &job.options;
    let coordinates = grid.transform.coordinates();
    let found = findings::of_lattice(
        mesh,
        &lattice,
        &options.rule,
        options.tolerance,
        &coordinates,
    );
    let found = found.map_err(|error| error.in_file(name))?;
    // W002 reports that the mesh lies outside the grid. The grid then does not cut it.
    report
        .cut
        .take_if(|_| found.iter().any(|finding| finding.code() == Code::W002));
    report.warnings.extend(found);
    report.lattice = Some(grid.placed(&lattice)?);
    Ok(lattice)
}

/// Fits the lattice for an output. Fails if the format cannot hold the grid. Adds a warning if programs may
/// not be able to read the output.
pub fn fit_for(options: &Options, mesh: &Mesh, report: &mut RunReport) -> Result<Lattice> {
    let job = &options.job;
    let output = &options.output;
    if options.density.is_some() && job.options.grid.transform.unit.is_none() {
        let error = Error::usage("--density: the unit of the mesh is unknown");
        return Err(error
            .in_file(job.source.name())
            .with_hint("state it: `--unit mm`"));
    }
    let frame = job.options.grid.transform.frame.as_ref();
    output
        .format
        .check_frame(frame)
        .map_err(|error| error.in_file(output.name()))?;
    options
        .aux_outputs()
        .try_for_each(|aux| aux.check_frame(frame))?;
    let lattice = fit(job, mesh, report)?;
    report
        .warnings
        .extend(findings::other_axes(frame, Some(output.format)));
    // The lattice in the coordinates that output files use.
    let placed = job.options.grid.placed(&lattice)?;
    output.check_lattice(job.options.kind(), &placed, job.options.grid.transform.up)?;
    job.options
        .rule
        .check_on(&lattice)
        .map_err(|e| prefixed("--", &e))?;
    let target = output.target();
    let is_dry = options.mode == Mode::DryRun;
    let numbers = options.quantities.numbers() + job.options.label_field_count(mesh);
    let arrays = 4 * lattice.cells() * numbers as u128;
    let arrays = u64::try_from(arrays).unwrap_or(u64::MAX);
    let size = target
        .size(&job.options.rule, mesh, &lattice, is_dry)
        .map(|size| size.and_at_most(arrays.saturating_add(output.plate_bytes(lattice.dims()))));
    report.output_size = size.filter(|_| is_dry);
    report
        .warnings
        .extend(target.findings(&placed, &job.options.grid.transform, size));
    report
        .warnings
        .extend(free_inside(&job.options.rule, target.choices));
    let is_default = job.options.request.rule.is_none() && job.options.request.ties.is_none();
    if is_default && output.format.is_map {
        report.warnings.extend(findings::on_walls(mesh, &lattice));
    }
    options
        .aux_outputs()
        .try_for_each(|aux| aux.check_lattice(&placed))?;
    Ok(lattice)
}

/// Returns the finding that the rule leaves the inside of a part empty, and that these cells are marked as
/// free. `None` if this is not so.
fn free_inside(rule: &Rule, choices: &[Choice]) -> Option<Finding> {
    let is_hollow = match rule {
        Rule::Offset { .. }
        | Rule::Distance { sign: None, .. }
        | Rule::Filled { shell: Some(_), .. } => true,
        rule => rule.is_hollow() || rule.wall().is_some(),
    };
    let text = format!(
        "the rule {} leaves the inside of a part empty, so the inside is marked as free",
        rule.name()
    );
    let hint = "--filled fills it; --rule distance --signed --band all --iso R grows it by R";
    (is_hollow && choices.contains(&Choice::MarkFree))
        .then(|| Finding::new(Code::W004, text).with_hint(hint))
}
