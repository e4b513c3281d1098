//! Resolves the arguments and validates their combination. Errors that do not depend on the mesh are reported
//! here, before the mesh is read.

use std::path::Path;
use std::sync::Arc;

use voxelize::format::Sidecar;
use voxelize::grid::{CellKind, Quantities, Quantity, Record};
use voxelize::job::{
    Drain, JobLabels, Request, ResolvedRequest, Transform, UnitOfLength, UpAxis, check_unit_of_grid,
};
use voxelize::mesh::read::Tolerance;
use voxelize::{Bounds, Error, Fit, Inside, Lattice, Mesh, Rational, Result, Rule, Snap};

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
use super::scene;

/// Options that decide which cells a grid has and how they are made. They do not depend on the mesh.
#[derive(Clone)]
pub struct JobOptions {
    pub request: Arc<Request>,
    /// Lattice of the file of `--like`.
    pub like: Option<Arc<LatticeInFile>>,
    pub grid: GridOptions,
    pub rule: Rule,
    /// Drain holes of a hollow part.
    pub drains: Vec<Drain>,
    pub tolerance: Tolerance,
    pub resources: Resources,
    /// Search the mesh for findings. `false` if findings are neither reported nor decide the outcome.
    pub has_findings: bool,
    /// Keep the vertex indices of the file.
    pub has_numbers: bool,
    /// Read the textures of the mesh, because its colours are drawn.
    pub draws_colours: bool,
    /// If a mesh is far from the origin, read its coordinates relative to a point near the mesh.
    pub reads_near: bool,
    /// Unit of the translations of poses, once the meshes are read. `None` if it is unknown.
    pub pose_unit: Option<UnitOfLength>,
    /// Error to report if the file states no unit. `None` if no length needs the unit of the file.
    pub waiting: Option<Error>,
    /// Facts of the mesh that was read. `None` until it is read.
    pub of_mesh: Option<StatedFacts>,
}

/// Facts of a mesh that options depend on.
#[derive(Clone)]
pub struct StatedFacts {
    /// Unit and up axis that each file states.
    stated: Vec<(Option<UnitOfLength>, Option<UpAxis>)>,
    /// Point that the coordinates of the mesh are relative to.
    near: [Rational; 3],
}

/// Mesh with the options for it.
pub struct Job {
    pub source: MeshSource,
    pub options: JobOptions,
}

/// Options of the grid that are known before the mesh is read.
#[derive(Clone)]
pub struct GridOptions {
    pub from: GridFrom,
    /// Fit that decides the padding. `None` if the lattice comes from a file.
    pub padding: Option<Fit>,
    /// Treatment of coordinates that lie almost on a wall or centre plane.
    pub snap: Snap,
    /// Option that decides the size of the grid, as typed: `-r 512`.
    pub option: String,
    /// Lowest and highest corner of the box that the user gave, before the box grows to whole cells. The mesh
    /// may continue beyond it, into the padding.
    pub bounds: Option<[[Rational; 3]; 2]>,
    /// The lattice is of an image that does not state its axes.
    pub unknown_axes: Option<String>,
    /// Map from coordinates of the file to coordinates of the grid.
    pub transform: Transform,
}

/// Where the lattice comes from.
#[derive(Clone)]
pub enum GridFrom {
    /// Fitted to the mesh.
    Mesh(Box<Fit>),
    /// Taken from a voxel file.
    Like(Box<Lattice>),
    /// Fitted to several meshes. The bounds are their common bounds.
    Shared(Box<Lattice>, Bounds),
}

impl JobOptions {
    /// Creates the options of a command whose grids have no field for each part.
    pub fn new(
        request: Request,
        read: &ReadArgs,
        resources: Resources,
        names: &Names,
    ) -> Result<Self> {
        let options = Self::of_conversion(request, read, resources, names)?;
        if options.has_label_fields() {
            let text = format!(
                "--labels: only a conversion makes a field of the rule {} for each part",
                options.rule.name()
            );
            return Err(Error::usage(text)
                .with_hint("leave it out; 'voxelize MESH… -o FILE.npz' stores these fields"));
        }
        Ok(options)
    }

    /// Creates the options of a conversion.
    pub fn of_conversion(
        request: Request,
        read: &ReadArgs,
        resources: Resources,
        names: &Names,
    ) -> Result<Self> {
        let (resolved, waiting) = match request.resolve(&[]) {
            Ok(resolved) => (resolved, None),
            // The second attempt assumes some unit, to find out whether a missing unit is the only error.
            Err(error) => {
                let stated = (Some(UnitOfLength::Millimetre), None);
                (request.resolve(&[stated])?, Some(error))
            }
        };
        let rule = resolved.rule;
        let drains = resolved.drains.clone();
        refuse_labels(request.labels.unwrap_or_default(), &rule, &request.priority)?;
        let like = match &request.like {
            Some(path) => {
                let file = names.reads_first(path, "the grid of --like")?;
                Some(Arc::new(files::lattice(&file, resources.for_job())?))
            }
            None => None,
        };
        let mut grid = GridOptions::new(&request, resolved, like.as_deref())?;
        // The unit of the request, not the assumed unit: the files may state another one.
        grid.transform.unit = request.unit;
        let tolerance = read.tolerance();
        Ok(Self {
            request: Arc::new(request),
            like,
            grid,
            rule,
            drains,
            tolerance,
            resources,
            has_findings: tolerance == Tolerance::Strict,
            has_numbers: false,
            draws_colours: false,
            reads_near: true,
            pose_unit: None,
            waiting,
            of_mesh: None,
        })
    }

    /// Returns what the labels of the cells stand for. `Off` if the cells have no labels of the mesh.
    pub fn labels(&self) -> JobLabels {
        self.request.labels.unwrap_or_default()
    }

    /// Returns `true` if the colours of the mesh are used, so that its textures are read.
    pub fn needs_colours(&self) -> bool {
        self.draws_colours || self.labels().are_colours()
    }

    /// Fails if `what` needs more memory than the limit allows.
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

    /// Returns the kind of the cells that are made.
    pub fn kind(&self) -> CellKind {
        if self.labels().are_of_mesh() && self.rule.kind() != CellKind::Field {
            CellKind::Labels
        } else {
            self.rule.kind()
        }
    }

    /// Returns `true` if each part has a field of its own, in addition to the field of all parts together.
    pub fn has_label_fields(&self) -> bool {
        self.labels().are_of_mesh() && self.rule.has_label_fields()
    }

    /// Returns the number of fields of single parts of this mesh.
    pub fn label_field_count(&self, mesh: &Mesh) -> usize {
        match self.labels() {
            JobLabels::Parts(kind) if self.has_label_fields() => {
                mesh.parts(kind).map_or(1, |parts| parts.names().len())
            }
            _ => 0,
        }
    }

    /// Returns these options, adjusted to the options of the report.
    pub fn reported(self, report: &ReportOptions) -> Self {
        let is_reported = report.verbosity != Verbosity::Quiet || report.json.is_some();
        Self {
            has_findings: self.has_findings || is_reported,
            ..self
        }
    }

    /// Checks these options against the names of the meshes. If a length needs the unit of a file and no mesh
    /// has a format that can state a unit, this is an error.
    pub fn for_meshes<'p>(self, mut meshes: impl Iterator<Item = &'p Path>) -> Result<Self> {
        match &self.waiting {
            Some(error) if !meshes.any(files::may_state_unit) => Err(error.clone()),
            _ => Ok(self),
        }
    }

    /// Applies the unit and the up axis that the files state, unless an option overrides them. Also applies
    /// `near`, the point that the coordinates of the mesh are relative to.
    pub fn take_stated(
        &mut self,
        stated: &[(Option<UnitOfLength>, Option<UpAxis>)],
        near: [Rational; 3],
    ) -> Result<()> {
        self.of_mesh = Some(StatedFacts {
            stated: stated.to_vec(),
            near: near.clone(),
        });
        let resolved = self.request.resolve(stated)?.relative_to(near);
        self.rule = resolved.rule;
        self.drains = resolved.drains.clone();
        let grid = GridOptions::new(&self.request, resolved, self.like.as_deref())?;
        match self.grid.from {
            // A shared grid is fixed already. Only the transform depends on the file.
            GridFrom::Shared(..) => self.grid.transform = grid.transform,
            _ => self.grid = grid,
        }
        Ok(())
    }

    /// Applies the facts of a mesh that was read for other options.
    pub fn take_mesh_of(&mut self, other: &Self) -> Result<()> {
        match &other.of_mesh {
            Some(facts) => self.take_stated(&facts.stated, facts.near.clone()),
            None => Ok(()),
        }
    }
}

/// Fails if the rule makes a field that cannot have these labels.
fn refuse_labels(labels: JobLabels, rule: &Rule, priority: &[String]) -> Result<()> {
    if !labels.are_of_mesh() || rule.kind() != CellKind::Field {
        return Ok(());
    }
    let name = rule.name();
    if !rule.has_label_fields() {
        let error = Error::usage(format!("--labels: the rule {name} makes a field"));
        return Err(error.with_hint("--iso makes cells, which can have labels"));
    }
    if labels == JobLabels::Colours {
        let error = Error::usage(format!(
            "--labels colour: the rule {name} makes a field for each part, not for each colour"
        ));
        return Err(error.with_hint("use --labels file, object or material"));
    }
    if !priority.is_empty() {
        let error = Error::usage(format!(
            "--priority: each part has its own field of the rule {name}, so none comes first"
        ));
        return Err(error.with_hint("leave it out"));
    }
    Ok(())
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
                unknown_axes: None,
                transform,
            });
        };
        // The grid of a scan has the unit of the scan, and so have coordinates on this grid.
        transform.unit = transform.unit.or(found.unit);
        check_unit_of_grid(found.unit, &transform, &option)?;
        transform.frame = found.frame.clone();
        let lattice = transform.unplace(&found.lattice)?;
        // The option `--snap` overrides the snapping that the file states.
        let snap = request.snap.unwrap_or(lattice.snap());
        Ok(Self {
            padding: None,
            from: GridFrom::Like(Box::new(lattice.with_snap(snap))),
            snap,
            option,
            bounds: None,
            unknown_axes: found.unknown_axes.clone(),
            transform,
        })
    }

    /// Returns the numbers of cells added on the low side and on the high side of each axis. `None` if the
    /// lattice comes from a file.
    pub fn padding(&self, lattice: &Lattice) -> Option<[[usize; 3]; 2]> {
        let spacing = lattice
            .spacing()
            .each_ref()
            .map(|side| side / &self.transform.scale);
        self.padding.as_ref().map(|fit| fit.padding(&spacing))
    }

    /// Returns `true` if the coordinates may be read relative to a point near the mesh. Meshes that share a
    /// grid must keep the coordinates of their files.
    pub fn may_be_near(&self) -> bool {
        !matches!(self.from, GridFrom::Shared(..))
    }

    /// Converts a lattice from the coordinates of the mesh file to scaled coordinates, which output files and
    /// digests use.
    pub fn placed(&self, lattice: &Lattice) -> Result<Lattice> {
        self.transform.place(lattice)
    }

    /// Returns the lattice for a mesh with these bounds, in the coordinates of the mesh file.
    pub fn lattice(&self, mesh: &Bounds) -> Result<Lattice> {
        match &self.from {
            GridFrom::Mesh(fit) => fit.to(mesh),
            GridFrom::Like(lattice) | GridFrom::Shared(lattice, _) => Ok(lattice.as_ref().clone()),
        }
    }
}

/// Options of the cells in doubt.
#[derive(Clone)]
pub struct DoubtOptions {
    /// Output file of the cells in doubt. `None` if only their share is checked.
    pub file: Option<OutputFile>,
    /// Maximum number of cells in doubt, as a share of the cells that any compared method counts as inside.
    /// `None` for no maximum.
    pub most: Option<Rational>,
}

impl DoubtOptions {
    /// Returns the options. `None` if no option about doubt was given.
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

/// Returns the record of the cells that a rule makes. It has only the facts that are known before the cells
/// are made.
pub fn record_of(rule: &Rule) -> Record {
    Record {
        rule_name: Some(rule.name().to_string()),
        ..Record::default()
    }
}

/// Returns the output file of the leak path. `None` if it was not requested.
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
            Some(inside) => format!("the method is {}", inside.name()),
            None => format!("the rule {} leaves the inside empty", rule.name()),
        };
        let error = Error::usage(format!(
            "--leak: works only with the method flood, but {why}"
        ));
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

/// Returns the output file of the nearest triangles. `None` if it was not requested.
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
            .with_hint("for example: --nearest nearest.npy"));
    }
    let about = ("--nearest", "the nearest triangles");
    OutputFile::of_option(path, CellKind::Bits, about, Sidecar::Auto, &call.names).map(Some)
}

/// Returns the quantities requested with `--with`, which are stored as arrays in addition to the field.
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
    let choices = output.target().choices;
    let names = wanted.iter().map(Quantity::name);
    let checked = output.format.check_arrays(names, choices);
    checked.map_err(|error| prefixed("--with: ", &error))?;
    if job.has_label_fields() {
        let field = match job.rule {
            Rule::Area => "the area of each part",
            _ => "the fraction of each part",
        };
        let checked = output.format.check_arrays([field], choices);
        checked.map_err(|error| {
            let error = prefixed("--labels: ", &error);
            match error.hint() {
                Some(hint) => {
                    let with = match job.grid.from {
                        GridFrom::Mesh(_) => " with --same-grid",
                        _ => "",
                    };
                    let hint = format!("{hint}; -o DIR/{with} writes a file for each mesh");
                    error.clone().with_hint(hint)
                }
                None => error,
            }
        })?;
    }
    Ok(wanted)
}

/// Returns the density of the material. `None` if it was not given.
pub fn density(density: Option<Rational>, rule: &Rule) -> Result<Option<Rational>> {
    if density.is_none() || has_volume(rule) {
        return Ok(density);
    }
    let error = Error::usage(format!("--density: the rule {} has no volume", rule.name()));
    Err(error.with_hint("--solid, --filled and --rule fraction have one"))
}

/// Returns `true` if the cells of a rule have the volume of a part, and not that of a shell around its surface.
pub fn has_volume(rule: &Rule) -> bool {
    match rule {
        Rule::Fraction { .. } => true,
        _ => rule.kind() == CellKind::Bits && !rule.is_hollow(),
    }
}

/// Whether the run writes its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Write,
    /// The run prepares the job and reports the plan, but writes nothing.
    DryRun,
}

/// Validated options of the conversion of one mesh.
pub struct Options {
    pub job: Job,
    pub output: Output,
    pub doubt: Option<DoubtOptions>,
    /// Output file of the leak path.
    pub leak: Option<OutputFile>,
    /// Output file of the nearest triangles.
    pub nearest: Option<OutputFile>,
    /// Quantities that are stored as arrays in addition to the field.
    pub quantities: Quantities,
    /// Density of the material in g/cm³. `None` if it was not given.
    pub density: Option<Rational>,
    pub mode: Mode,
}

impl Options {
    /// Creates the options from the arguments. Looks at files but changes none.
    pub fn new(args: ConvertArgs, request: Request, call: &Call) -> Result<Self> {
        let options = Self::unchecked(args, request, call, Output::new)?;
        call.check_files()?;
        Ok(options)
    }

    /// Creates the options from the arguments. The function `output` creates their output. Does not check
    /// that the files can be written.
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
        let scene_file = args.input.scene.scene.as_deref();
        if meshes.is_empty() && scene_file.is_none() {
            return Err(Error::usage("no mesh is given")
                .with_hint("'voxelize part.stl' is enough; 'voxelize -h' shows more"));
        }
        let names = &call.names;
        let resources = call.resources(args.run.max_memory)?;
        let options = JobOptions::of_conversion(request, &args.read, resources, names)?
            .reported(&call.printer.options);
        let source = scene::joined(&meshes, scene_file, names)?;
        let options = options.for_meshes(source.paths())?;
        let job = Job { source, options };
        let rule = &job.options.rule;
        let output = output(&args.output, job.options.kind(), &job.source, call)?;
        output.check_rounding(&record_of(rule))?;
        let doubt = DoubtOptions::new(&args.doubt, rule, output.sidecar, call)?;
        let leak = leak(&args.leak, rule, output.sidecar, call)?;
        let nearest = nearest(&args.nearest, rule, call)?;
        let quantities = quantities(&args.quantities, &job.options, &output)?;
        let density = density(args.density, rule)?;
        Ok(Self {
            job,
            output,
            doubt,
            leak,
            nearest,
            quantities,
            density,
            mode,
        })
    }

    /// Returns what the labels in the output stand for.
    pub fn labels(&self) -> JobLabels {
        match self.job.options.labels() {
            JobLabels::Off if self.output.keeps_labels() => JobLabels::SurfaceAndInterior,
            labels => labels,
        }
    }

    /// Returns the output files that are written in addition to the main output.
    pub fn aux_outputs(&self) -> impl Iterator<Item = &OutputFile> {
        let doubt = self.doubt.iter().filter_map(|doubt| doubt.file.as_ref());
        doubt.chain(&self.leak).chain(&self.nearest)
    }
}
