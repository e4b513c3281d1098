//! From arguments to options: resolved and validated together. Whatever can be refused without the mesh is
//! refused here, before it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxelize::format::Sidecar;
use voxelize::grid::{CellKind, Quantities, Record};
use voxelize::job::{
    DEFAULT_RES, FitOptions, JobLabels, Measure, PartChoice, Transform, UnitOfLength, UpAxis,
    check_unit_of_grid,
};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::Tolerance;
use voxelize::{Bounds, Error, Fit, Inside, Lattice, Mesh, Rational, Result, Rule, Snap};

use super::args::transform::UpArgs;
use super::args::values::BoxCorners;
use super::args::{
    ConvertArgs, DoubtArgs, GridArgs, LeakArgs, NearestArgs, OutputArgs, PartArgs, QuantityArgs,
    ReadArgs, RuleArgs, prefixed,
};
use super::argv::{Argv, exclusive};
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
    pub grid: GridOptions,
    pub rule: Rule,
    pub parts: PartOptions,
    pub tolerance: Tolerance,
    pub resources: Resources,
    /// Whether findings about the mesh are reported, or decide the outcome. If not, none is searched.
    pub has_findings: bool,
    /// Whether the numbers of vertices are wanted.
    pub has_numbers: bool,
    /// Coordinates of a mesh that is far from the origin are read relative to a point near it.
    pub reads_near: bool,
    /// What has to wait for the unit that a file states, if anything has.
    pub waiting: Option<Arc<WaitingLengths>>,
    /// The axis that points up in the file, if an option says it.
    pub up: Option<UpAxis>,
}

/// Lengths with units, while nothing has said the unit of the coordinates.
pub struct WaitingLengths {
    grid: GridArgs,
    rule: RuleArgs,
    argv: Argv,
    /// The error if the file states no unit, either.
    error: Error,
}

/// The parts of a mesh: which are taken, and how their cells are told apart.
#[derive(Clone, Default)]
pub struct PartOptions {
    /// What labels stand for, if the cells have some of the mesh.
    pub labels: JobLabels,
    /// The names of those that come first where several share cells.
    pub priority: Vec<String>,
    pub choice: PartChoice,
}

impl PartOptions {
    pub fn new(args: &PartArgs) -> Self {
        let PartArgs {
            labels,
            priority,
            only,
            skip,
        } = args.clone();
        Self {
            labels: labels.unwrap_or_default(),
            priority,
            choice: PartChoice { only, skip },
        }
    }

    /// The mesh of the parts that are taken.
    pub fn choose(&self, mesh: Mesh) -> Result<Mesh> {
        let kind = if let JobLabels::Parts(kind) = self.labels {
            kind
        } else {
            PartKind::Object
        };
        self.choice.apply(mesh, kind)
    }
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
    /// The box given, which may be grown to whole cells.
    pub grown_from: Option<BoxCorners>,
    /// The axes of an image whose lattice is taken over, if they are not x, y and z.
    pub image_axes: Option<String>,
    /// The unit that the file of a lattice that is taken over states.
    pub unit_of_like: Option<UnitOfLength>,
    /// Whether a box was given: the mesh may go on in the padding then.
    pub is_bounded: bool,
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
        grid: GridArgs,
        rule: &RuleArgs,
        read: &ReadArgs,
        resources: Resources,
        argv: &Argv,
        names: &Names,
    ) -> Result<Self> {
        let parts = PartOptions::new(&rule.parts);
        let choose = |grid: GridArgs| {
            let rule = rule.chosen(&grid.transform.transform()?, grid.voxel_size.as_ref())?;
            Ok::<_, Error>((
                GridOptions::new(grid, &rule, argv, names, resources.for_job())?,
                rule,
            ))
        };
        let (chosen, waiting) = match (choose(grid.clone()), grid.transform.unit) {
            (Err(error), None) => {
                // With any unit it shows whether the unit is all that is missing.
                let chosen = choose(grid.in_unit(UnitOfLength::Millimetre))?;
                let waiting = WaitingLengths {
                    grid,
                    rule: rule.clone(),
                    argv: argv.clone(),
                    error,
                };
                (chosen, Some(Arc::new(waiting)))
            }
            (chosen, _) => (chosen?, None),
        };
        let (mut grid, rule) = chosen;
        if waiting.is_some() {
            grid.transform.unit = None;
        }
        check_unit_of_grid(grid.unit_of_like, &grid.transform, &grid.option)?;
        if parts.labels.are_of_mesh() && rule.kind() == CellKind::Field {
            let error = Error::usage(format!("--labels: the rule {} makes a field", rule.name()));
            return Err(error.with_hint(match rule {
                Rule::Fraction { .. } | Rule::Area => {
                    "--solid and --filled make bits, which can have labels"
                }
                _ => "--iso makes bits, which can have labels",
            }));
        }
        let tolerance = read.tolerance();
        let has_findings = tolerance == Tolerance::Strict;
        Ok(Self {
            grid,
            rule,
            parts,
            tolerance,
            resources,
            has_findings,
            has_numbers: false,
            reads_near: true,
            waiting,
            up: None,
        })
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
        if self.parts.labels.are_of_mesh() {
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

    /// These options for a file in which this axis points up.
    #[must_use]
    pub fn with_up(mut self, up: &UpArgs) -> Self {
        self.up = up.up;
        // Of a file that states none, z of the grid is up, however the mesh is turned.
        if let Some(up) = up.up {
            self.grid.transform = self.grid.transform.with_up(up);
        }
        self
    }

    /// These options for meshes of these names: a length with a unit is refused now if none of their formats states one.
    pub fn for_meshes<'p>(self, mut meshes: impl Iterator<Item = &'p Path>) -> Result<Self> {
        match &self.waiting {
            Some(waiting) if !meshes.any(files::may_state_unit) => Err(waiting.error.clone()),
            _ => Ok(self),
        }
    }

    /// Takes the unit and the up axis that the file states, where no option says another. The unit is that of coordinates
    /// that are not scaled.
    pub fn take_stated(&mut self, unit: Option<UnitOfLength>, up: Option<UpAxis>) -> Result<()> {
        if let Some(up) = up.filter(|_| self.up.is_none()) {
            self.grid.transform = self.grid.transform.clone().with_up(up);
        }
        let transform = &mut self.grid.transform;
        let is_taken = transform.unit.is_none() && !transform.is_scaled();
        match (unit.filter(|_| is_taken), self.waiting.take()) {
            (None, Some(waiting)) => return Err(waiting.error.clone()),
            (None, None) => {}
            (Some(unit), None) => transform.unit = Some(unit),
            (Some(unit), Some(waiting)) => {
                let args = waiting.grid.in_unit(unit);
                let up = transform.up;
                self.rule = waiting
                    .rule
                    .chosen(&args.transform.transform()?, args.voxel_size.as_ref())?;
                if let GridFrom::Mesh(_) = self.grid.from {
                    self.grid = GridOptions::of_lengths(args, &self.rule, &waiting.argv)?;
                }
                self.grid.transform.unit = Some(unit);
                self.grid.transform.up = up;
            }
        }
        // What is on the grid of a scan is in its unit.
        self.grid.transform.unit = self.grid.transform.unit.or(self.grid.unit_of_like);
        check_unit_of_grid(
            self.grid.unit_of_like,
            &self.grid.transform,
            &self.grid.option,
        )
    }
}

impl GridOptions {
    pub fn new(
        args: GridArgs,
        rule: &Rule,
        argv: &Argv,
        names: &Names,
        max_memory: Option<u64>,
    ) -> Result<Self> {
        let transform = args.transform.transform()?;
        if let Some(path) = &args.like {
            let file = names.reads_first(path, "the grid of --like")?;
            return Self::like(
                files::lattice(&file, max_memory)?,
                args.snap,
                transform,
                argv,
            );
        }
        Self::of_lengths(args, rule, argv)
    }

    /// Those of a lattice that is fitted to the mesh.
    fn of_lengths(args: GridArgs, rule: &Rule, argv: &Argv) -> Result<Self> {
        let transform = args.transform.transform()?;
        if args.stretch && args.dims.is_none() {
            return Err(Error::usage("--stretch needs --dims")
                .with_hint("such as --dims 32,32,64 --stretch"));
        }
        if args.origin.is_some() && args.voxel_size.is_none() {
            return Err(Error::usage("--origin needs --voxel-size").with_hint(
                "--origin fixes where walls are, so the cell size must be given: add --voxel-size S",
            ));
        }
        let Lengths {
            voxel_size,
            origin,
            corners,
        } = Lengths::new(&args, &transform, argv)?;
        let option = match (args.dims, &voxel_size) {
            (Some(_), _) => "dims",
            (_, Some(_)) => "voxel-size",
            _ => "res",
        };
        let option = argv
            .with_value(option)
            .unwrap_or_else(|| format!("--res {DEFAULT_RES} (the default)"));
        let snap = args.snap.unwrap_or_default();
        let fit = FitOptions {
            res: args.res,
            dims: args.dims,
            is_stretched: args.stretch,
            voxel_size,
            origin,
            bounds: corners.clone().map(|BoxCorners { min, max }| [min, max]),
            is_cube: args.cube,
            pad: args.pad,
            snap,
        };
        let fit = fit.fit(rule, &transform);
        let is_bounded = corners.is_some();
        let padding = Some(fit.clone());
        let from = GridFrom::Mesh(Box::new(fit));
        let (grown_from, image_axes, unit_of_like) = (corners, None, None);
        Ok(Self {
            padding,
            from,
            snap,
            option,
            grown_from,
            image_axes,
            unit_of_like,
            is_bounded,
            transform,
        })
    }

    /// The lattice of a voxel file; the option decides how coordinates snap, or else the file.
    fn like(
        found: LatticeInFile,
        snap: Option<Snap>,
        transform: Transform,
        argv: &Argv,
    ) -> Result<Self> {
        let LatticeInFile {
            lattice,
            axes: image_axes,
            unit: unit_of_like,
        } = found;
        let lattice = transform.unplace(&lattice)?;
        let snap = snap.unwrap_or(lattice.snap());
        let option = argv.with_value("like").unwrap_or_default();
        let from = GridFrom::Like(Box::new(lattice.with_snap(snap)));
        let (padding, grown_from, is_bounded) = (None, None, false);
        Ok(Self {
            padding,
            from,
            snap,
            option,
            grown_from,
            image_axes,
            unit_of_like,
            is_bounded,
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

    /// Takes the point of the file that the coordinates of the mesh are relative to: the box, the origin and the lattice
    /// that are given move.
    pub fn take_near(&mut self, near: [Rational; 3]) -> Result<()> {
        let before = self.transform.offset();
        self.transform.near = near;
        let after = self.transform.offset();
        if before == after {
            return Ok(());
        }
        let by: [Rational; 3] = std::array::from_fn(|axis| &before[axis] - &after[axis]);
        self.padding = self.padding.take().map(|fit| fit.moved(&by));
        self.from = match self.from.clone() {
            GridFrom::Mesh(fit) => GridFrom::Mesh(Box::new(fit.moved(&by))),
            GridFrom::Like(lattice) => GridFrom::Like(Box::new(lattice.moved(&by)?)),
            shared @ GridFrom::Shared(..) => shared,
        };
        Ok(())
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

/// The lengths of a grid, in its coordinates.
struct Lengths {
    voxel_size: Option<[Rational; 3]>,
    origin: Option<[Rational; 3]>,
    corners: Option<BoxCorners>,
}

impl Lengths {
    fn new(args: &GridArgs, transform: &Transform, argv: &Argv) -> Result<Self> {
        let named = |option: &str, error: Error| {
            prefixed(
                &format!("{}: ", argv.with_value(option).unwrap_or_default()),
                &error,
            )
        };
        let all = |option: &str, typed: &Option<[Measure; 3]>| {
            let Some(typed) = typed else { return Ok(None) };
            let one = |one: &Measure| {
                one.in_units_of(transform.unit)
                    .map_err(|error| named(option, error))
            };
            let [x, y, z] = typed.each_ref().map(one);
            Ok::<_, Error>(Some([x?, y?, z?]))
        };
        let corners = args
            .bounds
            .as_ref()
            .map(|typed| typed.resolve(transform.unit))
            .transpose();
        Ok(Self {
            voxel_size: all("voxel-size", &args.voxel_size)?,
            origin: all("origin", &args.origin)?,
            corners: corners.map_err(|error| named("bounds", error))?,
        })
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
            Rule::Distance { .. } => {
                exclusive("--nearest", "--iso").with_hint("--iso makes bits, not distances")
            }
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
            "--with {name}: the rule {rule} has nothing beside its cells"
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
    pub fn new(args: ConvertArgs, call: &Call) -> Result<Self> {
        let options = Self::unchecked(args, call, Output::new)?;
        call.check_files()?;
        Ok(options)
    }

    /// The options for these arguments, with the output that `output` makes; whether files can be written is not checked.
    pub fn unchecked(
        args: ConvertArgs,
        call: &Call,
        output: fn(&OutputArgs, CellKind, &MeshSource, &Call) -> Result<Output>,
    ) -> Result<Self> {
        let argv = call.argv;
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
        let options = JobOptions::new(
            args.grid,
            &args.rule,
            &args.read,
            call.resources(args.run.max_memory)?,
            argv,
            names,
        )?
        .with_up(&args.up)
        .reported(&call.printer.options);
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
        match self.job.options.parts.labels {
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
