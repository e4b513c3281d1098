//! From arguments to options: resolved and validated together. Whatever can be refused without the mesh is
//! refused here, before it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxelize::format::Sidecar;
use voxelize::grid::{CellKind, Quantities, Record};
use voxelize::job::{
    JobLabels, Request, ResolvedRequest, Transform, UnitOfLength, UpAxis, check_unit_of_grid,
};
use voxelize::mesh::read::Tolerance;
use voxelize::{Bounds, Error, Fit, Inside, Lattice, Rational, Result, Rule, Snap};

use super::args::{
    ConvertArgs, DoubtArgs, LeakArgs, NearestArgs, OutputArgs, QuantityArgs, ReadArgs, prefixed,
};
use super::argv::exclusive;
use super::command::Call;
use super::files::{self, LatticeInFile, MeshSource};
use super::memory::Resources;
use super::names::{Names, OutputFile};
use super::output::Output;
use super::report::display::bytes;
use super::report::{ReportOptions, Verbosity};

/// All that decides the cells of a grid, and how they are made, but the mesh.
#[derive(Clone)]
pub struct JobOptions {
    pub request: Arc<Request>,
    /// Lattice of `--like`.
    pub like: Option<Arc<LatticeInFile>>,
    pub grid: GridOptions,
    pub rule: Rule,
    pub tolerance: Tolerance,
    pub resources: Resources,
    /// Whether findings about the mesh are reported, or decide the outcome. If not, none is searched.
    pub has_findings: bool,
    /// Whether the numbers of vertices are wanted.
    pub has_numbers: bool,
    /// Coordinates of a mesh that is far from the origin are read relative to a point near it.
    pub reads_near: bool,
    /// Error about a length with a unit if the file states no unit, either. `None` if no length waits for it.
    pub waiting: Option<Error>,
}

/// Options, and the mesh that they are for.
pub struct Job {
    pub source: MeshSource,
    pub options: JobOptions,
}

/// Where the cells will be, before the mesh is known.
#[derive(Clone)]
pub struct GridOptions {
    pub from: GridFrom,
    /// The fit that decides the padding; not known of a lattice that is taken over.
    pub padding: Option<Fit>,
    /// How coordinates are snapped.
    pub snap: Snap,
    /// The option that decides the size, as typed: `-r 512`.
    pub option: String,
    /// Lowest and highest corner of the box given, which may be grown to whole cells. The mesh may go on in the padding.
    pub bounds: Option<[[Rational; 3]; 2]>,
    /// The axes of an image whose lattice is taken over, if they are not x, y and z.
    pub image_axes: Option<String>,
    /// The map from coordinates of the file to coordinates of the grid.
    pub transform: Transform,
}

/// How the lattice is chosen.
#[derive(Clone)]
pub enum GridFrom {
    /// The mesh, by this request.
    Mesh(Box<Fit>),
    /// A voxel file, all of it.
    Like(Box<Lattice>),
    /// The bounds of many meshes, these.
    Shared(Box<Lattice>, Bounds),
}

impl JobOptions {
    pub fn new(
        request: Request,
        read: &ReadArgs,
        resources: Resources,
        names: &Names,
    ) -> Result<Self> {
        let (resolved, waiting) = match request.resolve(&[]) {
            Ok(resolved) => (resolved, None),
            // With any unit it shows whether the unit is all that is missing.
            Err(error) => {
                let stated = (Some(UnitOfLength::Millimetre), None);
                (request.resolve(&[stated])?, Some(error))
            }
        };
        let rule = resolved.rule;
        let labels = request.labels.unwrap_or_default();
        if labels.are_of_mesh() && rule.kind() == CellKind::Field {
            let error = Error::usage(format!("--labels: the rule {} makes a field", rule.name()));
            return Err(error.with_hint(match rule {
                Rule::Fraction { .. } | Rule::Area => {
                    "--solid and --filled make cells, which can have labels"
                }
                _ => "--iso makes cells, which can have labels",
            }));
        }
        let like = match &request.like {
            Some(path) => {
                let file = names.reads_first(path, "the grid of --like")?;
                Some(Arc::new(files::lattice(&file, resources.for_job())?))
            }
            None => None,
        };
        let mut grid = GridOptions::new(&request, resolved, like.as_deref())?;
        // Files may state another unit.
        grid.transform.unit = request.unit;
        let tolerance = read.tolerance();
        Ok(Self {
            request: Arc::new(request),
            like,
            grid,
            rule,
            tolerance,
            resources,
            has_findings: tolerance == Tolerance::Strict,
            has_numbers: false,
            reads_near: true,
            waiting,
        })
    }

    /// What labels stand for, if the cells have some of the mesh.
    pub fn labels(&self) -> JobLabels {
        self.request.labels.unwrap_or_default()
    }

    /// Refuses what needs so many bytes beyond the limit of memory.
    pub fn admit(&self, need: u64, what: &str) -> Result<()> {
        if self.resources.for_job().is_none_or(|most| need <= most) {
            return Ok(());
        }
        let limit = self.resources.memory.text().unwrap_or_default();
        Err(Error::too_large(format!(
            "{what} need {}, {limit}",
            bytes(need)
        )))
    }

    /// The kind of the cells.
    pub fn kind(&self) -> CellKind {
        if self.labels().are_of_mesh() {
            CellKind::Labels
        } else {
            self.rule.kind()
        }
    }

    /// These options for a call whose reports have these options.
    pub fn reported(self, report: &ReportOptions) -> Self {
        let is_reported = report.verbosity != Verbosity::Quiet || report.json.is_some();
        Self {
            has_findings: self.has_findings || is_reported,
            ..self
        }
    }

    /// These options for meshes of these names: a length with a unit is refused now if none of their formats states one.
    pub fn for_meshes<'p>(self, mut meshes: impl Iterator<Item = &'p Path>) -> Result<Self> {
        match &self.waiting {
            Some(error) if !meshes.any(files::may_state_unit) => Err(error.clone()),
            _ => Ok(self),
        }
    }

    /// Takes the unit and the up axis that the files state, where no option says another, and the point of the file that
    /// the coordinates of the mesh are relative to.
    pub fn take_stated(
        &mut self,
        stated: &[(Option<UnitOfLength>, Option<UpAxis>)],
        near: [Rational; 3],
    ) -> Result<()> {
        let resolved = self.request.resolve(stated)?.relative_to(near);
        self.rule = resolved.rule;
        let grid = GridOptions::new(&self.request, resolved, self.like.as_deref())?;
        match self.grid.from {
            // Of many meshes, only the transform is that of the file.
            GridFrom::Shared(..) => self.grid.transform = grid.transform,
            _ => self.grid = grid,
        }
        Ok(())
    }
}

impl GridOptions {
    fn new(
        request: &Request,
        resolved: ResolvedRequest,
        like: Option<&LatticeInFile>,
    ) -> Result<Self> {
        let ResolvedRequest {
            mut transform,
            fit,
            bounds,
            ..
        } = resolved;
        let option = request.size_option();
        let Some(found) = like else {
            return Ok(Self {
                padding: Some(fit.clone()),
                from: GridFrom::Mesh(Box::new(fit)),
                snap: request.snap.unwrap_or_default(),
                option,
                bounds,
                image_axes: None,
                transform,
            });
        };
        // What is on the grid of a scan is in its unit.
        transform.unit = transform.unit.or(found.unit);
        check_unit_of_grid(found.unit, &transform, &option)?;
        let lattice = transform.unplace(&found.lattice)?;
        // The option decides how coordinates snap, or else the file.
        let snap = request.snap.unwrap_or(lattice.snap());
        Ok(Self {
            padding: None,
            from: GridFrom::Like(Box::new(lattice.with_snap(snap))),
            snap,
            option,
            bounds: None,
            image_axes: found.axes.clone(),
            transform,
        })
    }

    /// Cells added on every side along each axis of a lattice as files have it; not known of one that is taken over.
    pub fn padding(&self, lattice: &Lattice) -> Option<[usize; 3]> {
        let spacing = lattice
            .spacing()
            .each_ref()
            .map(|side| side / &self.transform.scale);
        self.padding.as_ref().map(|fit| fit.padding(&spacing))
    }

    /// Whether coordinates may be relative to a point near the mesh: not where several meshes share a grid.
    pub fn may_be_near(&self) -> bool {
        !matches!(self.from, GridFrom::Shared(..))
    }

    /// The lattice of scaled coordinates, as in files and digests, for a lattice of coordinates in the mesh file.
    pub fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        self.transform.place(lattice)
    }

    /// The lattice for a mesh of these bounds, in the coordinates of its file.
    pub fn lattice(&self, mesh: &Bounds) -> Result<Lattice> {
        match &self.from {
            GridFrom::Mesh(fit) => fit.to(mesh),
            GridFrom::Like(lattice) | GridFrom::Shared(lattice, _) => Ok(lattice.as_ref().clone()),
        }
    }
}

/// The options of cells in doubt.
#[derive(Clone)]
pub struct DoubtOptions {
    /// Where the cells go.
    pub file: Option<OutputFile>,
    /// The allowed share of the cells that any compared method calls inside.
    pub most: Option<Rational>,
}

impl DoubtOptions {
    /// The options of these arguments; `None` if they are not given.
    pub fn new(
        args: &DoubtArgs,
        rule: &Rule,
        sidecar: Sidecar,
        call: &Call,
    ) -> Result<Option<Self>> {
        let option = match args {
            DoubtArgs { doubt: Some(_), .. } => "--doubt",
            DoubtArgs {
                max_doubt: Some(_), ..
            } => "--max-doubt",
            _ => return Ok(None),
        };
        if let Rule::Distance { .. } | Rule::Fraction { .. } | Rule::Area = rule {
            let error = Error::usage(format!("{option} needs --solid or --filled"));
            let rule = rule.name();
            return Err(error.with_hint(format!("--rule {rule} measures cells, and fills none")));
        }
        if rule.inside().is_none() {
            let rule = rule.name();
            let error = Error::usage(format!("{option} needs --solid or --filled"));
            return Err(error.with_hint(format!("--rule {rule} leaves the inside empty")));
        }
        let file = args.doubt.as_ref().map(|path| {
            let about = ("--doubt", "the cells in doubt");
            OutputFile::of_option(path, CellKind::Labels, about, sidecar, &call.names)
        });
        Ok(Some(Self {
            file: file.transpose()?,
            most: args.max_doubt.clone(),
        }))
    }
}

/// The record of cells that a rule makes, as far as it is known before them.
pub fn record_of(rule: &Rule) -> Record {
    Record {
        rule_name: Some(rule.name().to_string()),
        ..Record::default()
    }
}

/// The file of the leak path, if these arguments ask for it.
pub fn leak(
    args: &LeakArgs,
    rule: &Rule,
    sidecar: Sidecar,
    call: &Call,
) -> Result<Option<OutputFile>> {
    let Some(path) = &args.leak else {
        return Ok(None);
    };
    let is_filled = !matches!(
        rule,
        Rule::Distance { .. } | Rule::Fraction { .. } | Rule::Area
    );
    if !is_filled || !rule.inside().is_some_and(Inside::is_flood) {
        let why = match rule.inside() {
            _ if !is_filled => format!("the rule {} fills no cells", rule.name()),
            Some(inside) => format!("--inside is {}", inside.name()),
            None => format!("the rule {} leaves the inside empty", rule.name()),
        };
        let error = Error::usage(format!("--leak: needs a flood, but {why}"));
        return Err(error.with_hint("add --inside flood, with --filled or --solid"));
    }
    OutputFile::of_option(
        path,
        CellKind::Bits,
        ("--leak", "the leak path"),
        sidecar,
        &call.names,
    )
    .map(Some)
}

/// The file of the nearest triangles, if these arguments ask for it.
pub fn nearest(args: &NearestArgs, rule: &Rule, call: &Call) -> Result<Option<OutputFile>> {
    let Some(path) = &args.nearest else {
        return Ok(None);
    };
    if !matches!(rule, Rule::Distance { iso: None, .. }) {
        let error = match rule {
            Rule::Distance { .. } => exclusive("--nearest", "--iso")
                .with_hint("--iso writes cells, not distances; leave out one of them"),
            _ => Error::usage(format!(
                "--nearest: the rule {} computes no distances",
                rule.name()
            ))
            .with_hint("use it with --rule distance"),
        };
        return Err(error);
    }
    if !files::has_extension(path, "npy") {
        return Err(Error::usage("the nearest triangles are written as .npy")
            .in_file(path)
            .with_hint("such as --nearest nearest.npy"));
    }
    let about = ("--nearest", "the nearest triangles");
    OutputFile::of_option(path, CellKind::Bits, about, Sidecar::Auto, &call.names).map(Some)
}

/// The arrays beside the field, if these arguments ask for some.
pub fn quantities(args: &QuantityArgs, job: &JobOptions, output: &Output) -> Result<Quantities> {
    let wanted: Quantities = args.with.iter().copied().collect();
    if let Some(other) = wanted
        .iter()
        .find(|one| !job.rule.quantities().contains(one))
    {
        let (rule, name) = (job.rule.name(), other.name());
        let error = Error::usage(format!(
            "--with {name}: the rule {rule} computes no such array"
        ));
        return Err(error.with_hint("use it with --rule fraction"));
    }
    let checked = output
        .format
        .check_arrays(wanted.iter(), output.target().choices);
    checked.map_err(|error| prefixed("--with: ", &error))?;
    Ok(wanted)
}

/// Whether anything is done at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Write,
    /// Only prepare, and report that.
    DryRun,
}

/// All of the conversion of one mesh, decided.
pub struct Options {
    pub job: Job,
    pub output: Output,
    pub doubt: Option<DoubtOptions>,
    /// Where the leak path of a flood goes.
    pub leak: Option<OutputFile>,
    /// Where the nearest triangles go.
    pub nearest: Option<OutputFile>,
    /// The arrays beside the field.
    pub quantities: Quantities,
    pub mode: Mode,
}

impl Options {
    /// The options for these arguments; looks at files but changes none.
    pub fn new(args: ConvertArgs, request: Request, call: &Call) -> Result<Self> {
        let options = Self::unchecked(args, request, call, Output::new)?;
        call.check_files()?;
        Ok(options)
    }

    /// The options for these arguments, with the output that `output` makes; whether files can be written is not checked.
    pub fn unchecked(
        args: ConvertArgs,
        request: Request,
        call: &Call,
        output: fn(&OutputArgs, CellKind, &MeshSource, &Call) -> Result<Output>,
    ) -> Result<Self> {
        let mode = if args.dry_run {
            Mode::DryRun
        } else {
            Mode::Write
        };
        let meshes = args.input.meshes;
        if meshes.is_empty() {
            return Err(Error::usage("no mesh is given")
                .with_hint("'voxelize part.stl' is enough; 'voxelize -h' shows more"));
        }
        let names = &call.names;
        let resources = call.resources(args.run.max_memory)?;
        let options =
            JobOptions::new(request, &args.read, resources, names)?.reported(&call.printer.options);
        let source = MeshSource::find_all(&meshes, names)?;
        let job = Job {
            source,
            options: options.for_meshes(meshes.iter().map(PathBuf::as_path))?,
        };
        let rule = &job.options.rule;
        let output = output(&args.output, job.options.kind(), &job.source, call)?;
        output.check_rounding(&record_of(rule))?;
        let doubt = DoubtOptions::new(&args.doubt, rule, output.sidecar, call)?;
        let leak = leak(&args.leak, rule, output.sidecar, call)?;
        let nearest = nearest(&args.nearest, rule, call)?;
        let quantities = quantities(&args.quantities, &job.options, &output)?;
        Ok(Self {
            job,
            output,
            doubt,
            leak,
            nearest,
            quantities,
            mode,
        })
    }

    /// The labels of the output.
    pub fn labels(&self) -> JobLabels {
        match self.job.options.labels() {
            JobLabels::Off if self.output.keeps_labels() => JobLabels::SurfaceAndInterior,
            labels => labels,
        }
    }

    /// The files of cells in addition to the output.
    pub fn aux_outputs(&self) -> impl Iterator<Item = &OutputFile> {
        let doubt = self.doubt.iter().filter_map(|doubt| doubt.file.as_ref());
        doubt.chain(&self.leak).chain(&self.nearest)
    }
}
