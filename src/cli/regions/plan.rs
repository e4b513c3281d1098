//! `voxelize plan` creates a store and plans its regions, which other processes make.

use std::path::{Path, PathBuf};

use serde::Serialize;
use voxelize::format::{self, Choice, Dtype, Durability, FileSize, SaveOptions};
use voxelize::grid::record::FIELDS;
use voxelize::job::regions::{RegionMesh, RegionPlan, RegionRequest, RegionStore};
use voxelize::job::{Extras, JobLabels, MemoryLimit, Target, findings};
use voxelize::{Error, Finding, Kind, Lattice, Mesh, Progress, Result, par};

use super::report::{PlannedRegions, rule_text, warnings};
use crate::cli::args::transform::UpArgs;
use crate::cli::args::{GridArgs, ReadArgs, RuleArgs, RunArgs, SceneArgs, arguments, values};
use crate::cli::command::{Call, Command};
use crate::cli::files::MeshSource;
use crate::cli::names::OutputFile;
use crate::cli::options::{Job, JobOptions};
use crate::cli::progress::Bar;
use crate::cli::report::display::{self, bytes, counted};
use crate::cli::report::value::{self, FieldsJson, Grid, OutputJson, Warning, lossy};
use crate::cli::report::{Object, Outcome, Report, ReportRows, empty};
use crate::cli::run::{self, InputInfo, MeshJson, RunReport};
use crate::cli::scene;

pub const COMMAND: Command = Command {
    name: "plan",
    about: "plan a grid that processes make in regions",
    examples: "\
voxelize plan huge.stl -r 16384 --filled -o huge.zarr       the plan, with memory and disk
voxelize plan huge.stl -r 8192 -o s.zarr --max-memory 4G    regions for workers of 4 GiB
voxelize plan huge.stl -r 16384 -o huge.zarr --bin          with a file of triangles per region
voxelize huge.zarr --region 1/64                            one of 64 processes, which make all
voxelize finish huge.zarr                                   what is missing, and the digest",
    notes: "\
A region is a range of layers of the grid. A process makes a region independently, on any machine that can read the mesh \
and write to the store. The paths of meshes in the plan are relative to the folder of the store; absolute paths stay. \
Complete regions are kept, so every command can be repeated. docs/how-to/clusters.md shows job arrays, Slurm and Dask.

With --bin the plan writes the triangles of each region to a file of the store, its bin. A process then reads the bin of \
its region instead of the mesh, which is no longer needed. --max-memory is the limit of such a process; planning itself \
holds the whole mesh in memory. The same command makes damaged or removed bins again. --inside vote, --inside robust and \
--band all need the whole mesh and are refused.

Rules whose cells depend on cells outside a region are refused: --inside flood, --keep-thin and --hollow N without a unit. There is no \
search for lost features.

Exit codes: 0 planned; 2 usage error; 3 the mesh cannot be read; 4 unsuitable mesh; 5 not even the lowest slab fits; \
6 the store cannot be written, or has a different plan",
    empty: empty::<PlannedStore>,
    arguments: arguments::<PlanArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct PlanArgs {
    /// The mesh; several meshes make one grid. NAME=FILE@rotate=z,90 names and poses it. Each region reads it again
    #[arg(
        value_name = "MESH",
        required_unless_present = "scene",
        help_heading = "Input"
    )]
    meshes: Vec<PathBuf>,

    #[command(flatten)]
    scene: SceneArgs,

    /// The store to create, a Zarr folder. A store with the same plan is kept; a store with a different plan is refused
    #[arg(
        short,
        long,
        value_name = "NAME.zarr",
        required = true,
        help_heading = "Output"
    )]
    output: PathBuf,

    /// Make at most N regions; a grid with few layers has fewer [default: 64]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Output")]
    regions: Option<usize>,

    /// Write the triangles of each region to a file of the store, which is then read instead of the mesh
    #[arg(long, help_heading = "Output")]
    bin: bool,

    /// Number type of cells and labels: u8 or bool [default: u8]
    #[arg(long, value_name = "TYPE", value_parser = values::dtype(), hide_possible_values = true, help_heading = "Output")]
    dtype: Option<Dtype>,

    /// Do not compress the cells
    #[arg(long, help_heading = "Output")]
    uncompressed: bool,

    /// Write the grid alone, without smaller levels
    #[arg(long, help_heading = "Output")]
    no_pyramid: bool,

    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    rule: RuleArgs,

    #[command(flatten)]
    up: UpArgs,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl PlanArgs {
    fn choices(&self) -> Vec<Choice> {
        let all = [
            (self.uncompressed, Choice::Uncompressed),
            (self.no_pyramid, Choice::NoPyramid),
        ];
        all.into_iter()
            .filter_map(|(is_chosen, choice)| is_chosen.then_some(choice))
            .collect()
    }
}

/// Result of the command.
#[derive(Default, Serialize)]
struct PlannedStore {
    path: Option<String>,
    input: Option<InputInfo>,
    mesh: Option<MeshJson>,
    transform: Option<Object>,
    grid: Option<Grid>,
    rule: Option<String>,
    #[serde(flatten)]
    fields: FieldsJson,
    made_by: Option<String>,
    snap: Option<String>,
    regions: Option<RequestedRegions>,
    bins: Option<Bins>,
    memory: Option<PlanMemoryJson>,
    size_bytes: Option<u64>,
    warnings: Option<Vec<Warning>>,
    outputs: Option<Vec<OutputJson>>,
}

#[derive(Serialize)]
struct RequestedRegions {
    #[serde(flatten)]
    planned: PlannedRegions,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<usize>,
}

#[derive(Serialize)]
struct Bins {
    bytes: u64,
    largest: u64,
}

#[derive(Serialize)]
struct PlanMemoryJson {
    region_bytes: u64,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: PlanArgs = call.args()?;
    Ok(vec![Report::of(|report, result: &mut PlannedStore| {
        result.path = Some(lossy(&args.output));
        let mut job = job(&args, call)?;
        let threads = job.options.resources.threads;
        par::with_threads(threads, || plan(&args, &mut job, call, report, result))?
    })])
}

/// Creates the job from the arguments: the mesh and its options. Looks at files but changes none.
fn job(args: &PlanArgs, call: &Call) -> Result<Job> {
    let names = &call.names;
    let resources = call.resources(args.run.max_memory)?;
    let options = JobOptions::new(call.argv.request()?, &args.read, resources, names)?
        .reported(&call.printer.options);
    let source = scene::joined(&args.meshes, args.scene.scene.as_deref(), names)?;
    check_source(&source)?;
    let options = options.for_meshes(source.paths())?;
    let zarr = format::by_path(&args.output).filter(|format| format.name == "zarr");
    let Some(zarr) = zarr else {
        let error = Error::usage("regions are made in a folder of Zarr").in_file(&args.output);
        return Err(error.with_hint("-o NAME.zarr"));
    };
    if let Some(dtype) = args.dtype.filter(|dtype| !zarr.dtypes.contains(dtype)) {
        let error = Error::usage(format!(
            "--dtype {}: zarr cannot store this type",
            dtype.name()
        ));
        return Err(error.with_hint("zarr has u8, bool"));
    }
    match RegionStore::open_if_planned(&args.output)? {
        Some(store) => names.reads_folder(&store.root, "a folder of the store")?,
        None => {
            RegionStore::check_new(&args.output)?;
            let store = OutputFile::new(&args.output, "the store")
                .of_cells(zarr, options.kind())
                .output_of_run();
            store.register(names)?;
        }
    }
    call.check_files()?;
    Ok(Job { source, options })
}

/// Fails for a pipe, which the regions cannot read again.
pub fn check_source(source: &MeshSource) -> Result<()> {
    if source.parts.iter().any(|part| part.file.is_none()) {
        let error = Error::usage("-: regions read the mesh again, which a pipe does not allow");
        return Err(error.with_hint("save the mesh to a file"));
    }
    Ok(())
}

fn plan(
    args: &PlanArgs,
    job: &mut Job,
    call: &Call,
    report: &mut Report,
    result: &mut PlannedStore,
) -> Result<Outcome> {
    let bar = call.bar();
    let mut found = RunReport::new(call.started);
    let mesh = read(args, job, &bar, call, &mut found)?;
    let job = &*job;
    let lattice = run::fit(job, &mesh, &mut found)?;
    let options = &job.options;
    let placed = options.grid.placed(&lattice)?;
    let zarr = format::by_name("zarr").expect("zarr is a format");
    format::check(options.kind(), &placed, zarr, &SaveOptions::default())
        .map_err(|error| error.in_file(&args.output))?;
    let frame = options.grid.transform.frame.as_ref();
    zarr.check_frame(frame)
        .map_err(|error| error.in_file(&args.output))?;
    found
        .warnings
        .extend(findings::other_axes(frame, Some(zarr)));
    let choices = args.choices();
    let labels = match options.labels() {
        JobLabels::Off if args.dtype.unwrap_or(Dtype::U8) == Dtype::U8 => {
            JobLabels::SurfaceAndInterior
        }
        labels => labels,
    };
    let chosen = StoreChoice {
        root: &args.output,
        dtype: args.dtype,
        choices: &choices,
        regions: args.regions,
        labels,
        bins: args.bin,
    };
    let (plan, findings) = planned(&chosen, job, &mesh, &lattice, &bar)?;
    found.warnings.extend(findings);
    let target = Target {
        format: zarr,
        path: Some(&args.output),
        dtype: Some(plan.store.dtype),
        choices: &choices,
    };
    let size = target.size(&options.rule, &mesh, &lattice, true);
    found.warnings.extend(target.findings(
        &options.grid.placed(&lattice)?,
        &options.grid.transform,
        size,
    ));
    let largest = if args.bin {
        Some(plan.largest_bin(&mesh)?)
    } else {
        None
    };
    let of_one = largest.as_ref().unwrap_or(&mesh);
    let need = plan.region_bytes(of_one, &run::library_run(options, &bar))?;
    let need = options.resources.budget().with_program(need);
    drop(largest);
    let store = match args.bin {
        true => RegionStore::create_with_bins(&args.output, plan, &mesh, Durability::Synced, &bar),
        false => RegionStore::create(&args.output, plan, Durability::Synced),
    };
    let store = store.map_err(|error| {
        if bar.cancelled() {
            Error::interrupted()
        } else {
            error
        }
    })?;
    let bins = store.bins()?;
    bar.clear();

    let coordinates = options.grid.transform.coordinates();
    let record = &store.plan.store.grid.record;
    let first = args.meshes.first().or(args.scene.scene.as_ref());
    result.input = first.map(|path| InputInfo::new(path, &found));
    result.mesh = MeshJson::new(&found, &coordinates);
    result.transform = Some(value::transform(record));
    result.grid = store.plan.store.grid.lattice.as_ref().map(Grid::from);
    result.rule = record.rule_name.clone();
    result.fields = FieldsJson::new(&FIELDS, &record.fields);
    result.made_by = record.tool.clone();
    result.snap = record.snap.clone();
    let planned = PlannedRegions::new(&store);
    result.regions = Some(RequestedRegions {
        planned,
        requested: args.regions,
    });
    result.bins = bins.map(|bins| Bins {
        bytes: bins.bytes(),
        largest: bins.largest(),
    });
    result.memory = Some(PlanMemoryJson {
        region_bytes: u64::try_from(need).unwrap_or(u64::MAX),
    });
    result.size_bytes = size.map(FileSize::bytes);
    result.outputs = Some(vec![OutputJson {
        path: lossy(&args.output),
        format: "zarr",
        bytes: None,
    }]);

    let rows = &mut report.err;
    if let Some(input) = &found.mesh {
        rows.row("mesh", run::mesh_line(&job.source.name(), input));
    }
    rows.row("grid", display::planned_grid(&placed, coordinates.unit));
    result.add_rows(rows, &store, size);
    result.warnings = warnings(&found.warnings, rows, call.printer.options.verbosity);
    Ok(Outcome::Done)
}

/// Reads the mesh. If bins are written, the memory limit does not apply to this process but to the processes
/// that make the regions.
fn read(
    args: &PlanArgs,
    job: &mut Job,
    bar: &Bar,
    call: &Call,
    found: &mut RunReport,
) -> Result<Mesh> {
    let limit = job.options.resources.memory;
    if args.bin {
        job.options.resources.memory = MemoryLimit::Unknown;
    }
    let mesh = run::read(job, bar, call.signals, found);
    job.options.resources.memory = limit;
    mesh
}

/// Options that decide the layout of a store.
pub struct StoreChoice<'a> {
    pub root: &'a Path,
    pub dtype: Option<Dtype>,
    pub choices: &'a [Choice],
    pub regions: Option<usize>,
    pub labels: JobLabels,
    pub bins: bool,
}

/// Returns the plan of the regions, and the findings about the mesh and the rule.
pub fn planned(
    store: &StoreChoice,
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    bar: &Bar,
) -> Result<(RegionPlan, Vec<Finding>)> {
    let options = &job.options;
    let mut meshes = vec![];
    for part in &job.source.parts {
        let path = part.path().unwrap_or(Path::new("-"));
        meshes.push(RegionMesh {
            file: RegionPlan::mesh_name(store.root, path)?,
            name: part.given_name.clone(),
            pose: part.pose.in_units_of(options.pose_unit)?,
        });
    }
    let request = RegionRequest {
        dtype: store.dtype,
        choices: store.choices,
        regions: store.regions,
        meshes,
        tolerance: options.tolerance,
        parts: &options.request.parts,
        bins: store.bins,
    };
    let how = run::library_run(options, bar);
    let input = job.source.file_name();
    let voxelizer = run::voxelizer(options, &how).input(input.as_deref());
    let extras = Extras {
        labels: store.labels,
        ..Extras::default()
    };
    let planned = voxelizer
        .extras(extras)
        .plan_regions(mesh, lattice, &request);
    if matches!(&planned, Err(error) if error.kind() == Kind::Usage) {
        planned
    } else {
        job.sized(planned)
    }
}

impl PlannedStore {
    fn add_rows(&self, rows: &mut ReportRows, store: &RegionStore, size: Option<FileSize>) {
        let plan = &store.plan.store;
        let all = plan.regions();
        rows.row("rule", rule_text(store));
        let regions = counted(all as u64, "region", "regions");
        let layers = counted(
            plan.region_layers.min(plan.dims()[2]) as u64,
            "layer",
            "layers",
        );
        let shards = counted(plan.shard_layers as u64, "layer", "layers");
        let mut text = format!("{regions} of {layers}, shards of {shards}");
        if let Some(RequestedRegions {
            requested: Some(requested),
            ..
        }) = self.regions
            && requested > all
        {
            text += &format!("; whole shards do not allow {requested} regions");
        }
        rows.row("plan", text);
        if let Some(bins) = &self.bins {
            rows.row(
                "bins",
                format!("{}, the largest {}", bytes(bins.bytes), bytes(bins.largest)),
            );
        }
        if let Some(memory) = &self.memory {
            rows.row(
                "memory",
                format!("at most {} for a process", bytes(memory.region_bytes)),
            );
        }
        match size {
            Some(FileSize::About(size)) => rows.row("disk", format!("about {}", bytes(size))),
            Some(FileSize::AtMost(size)) => rows.row("disk", format!("at most {}", bytes(size))),
            None => {}
        }
        let name = store.root.display();
        rows.row("wrote", format!("{name}, the plan"));
        let last = if all > 1 {
            format!(" … {all}/{all}")
        } else {
            String::new()
        };
        rows.row(
            "next",
            format!("voxelize {name} --region 1/{all}{last}, then voxelize finish {name}"),
        );
    }
}
