//! `voxelize plan`: a store whose regions other processes make.

use std::path::{Path, PathBuf};

use serde_json::json;
use voxelize::format::{self, Choice, Dtype, Durability, FileSize, SaveOptions};
use voxelize::job::regions::{RegionBins, RegionPlan, RegionRequest, RegionStore};
use voxelize::job::{Extras, JobLabels, MemoryLimit, NewFile, Target, UnitOfLength};
use voxelize::{Error, Finding, Kind, Lattice, Mesh, Progress, Result, par};

use super::super::args::transform::UpArgs;
use super::super::args::{GridArgs, ReadArgs, RuleArgs, RunArgs, arguments, values};
use super::super::command::{Call, Command};
use super::super::files::MeshSource;
use super::super::options::{Job, JobOptions};
use super::super::progress::Bar;
use super::super::report::display::{self, bytes, counted};
use super::super::report::{Outcome, Report, row};
use super::super::run::{self, RunReport};
use super::report::{add_findings, rule_text, set_plan};

pub const COMMAND: Command = Command {
    name: "plan",
    about: "plan a grid that processes make in regions",
    examples: "\
voxelize plan huge.stl -r 16384 --filled -o huge.zarr       the plan, and what it takes
voxelize plan huge.stl -r 8192 -o s.zarr --max-memory 4G    regions for workers of 4 GiB
voxelize plan huge.stl -r 16384 -o huge.zarr --bin          each reads its part of the mesh alone
voxelize huge.zarr --region 1/64                            a share; 64 processes make all
voxelize finish huge.zarr                                   what is missing, and the digest",
    notes: "\
A region is some layers of the grid: a process makes it alone, on any machine that reads the mesh and writes to the store. \
The names of meshes in the plan are relative to the folder that the store is in; absolute names stay. A region that is \
whole is left as it is, so every command can be repeated. docs/scale.md shows job arrays, Slurm and Dask.

With --bin the plan writes the triangles of each region to a file of the store: a process reads its own, not the mesh, which need not be there any more. --max-memory is that of such a process; the plan itself holds the whole mesh. Bins that were damaged or removed are made again by the same words. --inside vote and robust, which look at all of a mesh, and --band all are refused.

Rules whose cells depend on cells beside a region are refused: --inside flood, --keep-thin and --hollow. Lost features \
are not searched.

Exit codes: 0 planned; 2 usage error; 3 the mesh cannot be read; 4 unsuitable mesh; 5 not even the lowest slab fits; \
6 the store cannot be written, or has another plan",
    keys: "path input mesh transform grid rule [fields] made_by snap regions bins memory size_bytes warnings outputs",
    arguments: arguments::<PlanArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct PlanArgs {
    /// The mesh; several make one grid. Regions read it again
    #[arg(value_name = "MESH", required = true, help_heading = "Input")]
    meshes: Vec<PathBuf>,

    /// The store, a folder of Zarr. One with the same plan stays as it is, one with another plan is refused
    #[arg(short, long, value_name = "NAME.zarr", required = true, help_heading = "Output")]
    output: PathBuf,

    /// At most N regions; layers decide whether there can be so many [default: 64]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Output")]
    regions: Option<usize>,

    /// Write the triangles of each region to a file of the store, which its process reads in place of the mesh
    #[arg(long, help_heading = "Output")]
    bin: bool,

    /// u8 or bool, type of the numbers of bits and labels [default: u8]
    #[arg(long, value_name = "TYPE", value_parser = values::dtype(), hide_possible_values = true, help_heading = "Output")]
    dtype: Option<Dtype>,

    /// Do not pack the cells
    #[arg(long, help_heading = "Output")]
    uncompressed: bool,

    /// The grid alone, without smaller levels
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
        let all = [(self.uncompressed, Choice::Uncompressed), (self.no_pyramid, Choice::NoPyramid)];
        all.into_iter().filter_map(|(is_chosen, choice)| is_chosen.then_some(choice)).collect()
    }
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: PlanArgs = call.args()?;
    Ok(vec![Report::of(|report| {
        report.set("path", args.output.to_string_lossy());
        let mut job = job(&args, call)?;
        let threads = job.options.resources.threads;
        par::with_threads(threads, || plan(&args, &mut job, call, report))?
    })])
}

/// The mesh and its options; looks at files but changes none.
fn job(args: &PlanArgs, call: &Call) -> Result<Job> {
    let names = &call.names;
    let options = JobOptions::new(
        args.grid.clone(),
        &args.rule,
        &args.read,
        call.resources(args.run.max_memory)?,
        call.argv,
        names,
    )?
    .with_up(&args.up)
    .reported(&call.printer.options);
    let source = MeshSource::find_all(&args.meshes, names)?;
    check_source(&source)?;
    let options = options.for_meshes(args.meshes.iter().map(PathBuf::as_path))?;
    let zarr = format::by_path(&args.output).filter(|format| format.name == "zarr");
    let Some(zarr) = zarr else {
        let error = Error::usage("regions are made in a folder of Zarr").in_file(&args.output);
        return Err(error.with_hint("-o NAME.zarr"));
    };
    if let Some(dtype) = args.dtype.filter(|dtype| !zarr.dtypes.contains(dtype)) {
        let error = Error::usage(format!("--dtype {}: zarr cannot store this type", dtype.name()));
        return Err(error.with_hint("zarr has u8, bool"));
    }
    match RegionStore::open_if_planned(&args.output)? {
        Some(store) => names.reads_folder(&store.root, "a folder of the store")?,
        None => {
            RegionStore::check_new(&args.output)?;
            let store = NewFile::named(&args.output, "the store").of_format(zarr).as_output();
            names.writes(store).map(drop)?;
        }
    }
    call.check_files()?;
    Ok(Job { source, options })
}

/// Refuses a mesh from a pipe.
pub fn check_source(source: &MeshSource) -> Result<()> {
    if let Some(name) = source.each().iter().find_map(MeshSource::given_name) {
        let error = Error::usage(format!("{name}=FILE: the parts of regions are called by their files"));
        return Err(error.with_hint("give the file that name"));
    }
    if source.each().iter().any(MeshSource::is_stdin) {
        let error = Error::usage("-: regions read the mesh again, which a pipe does not allow");
        return Err(error.with_hint("save the mesh to a file"));
    }
    Ok(())
}

fn plan(args: &PlanArgs, job: &mut Job, call: &Call, report: &mut Report) -> Result<Outcome> {
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
    let choices = args.choices();
    let labels = match options.parts.labels {
        JobLabels::Off if args.dtype.unwrap_or(Dtype::U8) == Dtype::U8 => JobLabels::SurfaceAndInterior,
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
    let target =
        Target { format: zarr, path: Some(&args.output), dtype: Some(plan.store.dtype), choices: &choices };
    let size = target.size(&options.rule, &mesh, &lattice, true);
    found.warnings.extend(target.findings(&options.grid.placed(&lattice)?, &options.grid.transform, size));
    let largest = if args.bin { Some(plan.largest_bin(&mesh)?) } else { None };
    let of_one = largest.as_ref().unwrap_or(&mesh);
    let need = plan.region_bytes(of_one, &run::library_run(options, &bar))?;
    let need = options.resources.budget().with_program(need);
    drop(largest);
    let store = match args.bin {
        true => RegionStore::create_with_bins(&args.output, plan, &mesh, Durability::Synced, &bar),
        false => RegionStore::create(&args.output, plan, Durability::Synced),
    };
    let store = store.map_err(|error| if bar.cancelled() { Error::interrupted() } else { error })?;
    let bins = store.bins()?;
    bar.clear();

    run::set_input(report, args.meshes.first().map(PathBuf::as_path), Some(options), &found);
    set_plan(report, &store, args.regions);
    let sizes = |bins: &RegionBins| json!({"bytes": bins.bytes(), "largest": bins.largest()});
    report.set("bins", bins.as_ref().map(sizes));
    report.set("memory", json!({"region_bytes": u64::try_from(need).unwrap_or(u64::MAX)}));
    report.set("size_bytes", size.map(FileSize::bytes));
    report.set("outputs", json!([{"path": args.output.to_string_lossy(), "format": "zarr", "bytes": null}]));
    if let Some(input) = &found.mesh {
        row(&mut report.err, "mesh", &run::mesh_line(&job.source.name(), input));
    }
    let unit = options.grid.transform.unit.map(UnitOfLength::name);
    row(&mut report.err, "grid", &display::planned_grid(&placed, unit));
    report.err += &rows(&store, args.regions, bins.as_ref(), size, need);
    add_findings(report, call, &found.warnings);
    Ok(Outcome::Done)
}

/// Reads the mesh; the limit of memory is that of processes which do not, if they have bins.
fn read(args: &PlanArgs, job: &mut Job, bar: &Bar, call: &Call, found: &mut RunReport) -> Result<Mesh> {
    let limit = job.options.resources.memory;
    if args.bin {
        job.options.resources.memory = MemoryLimit::Unknown;
    }
    let mesh = run::read(job, bar, call.signals, found);
    job.options.resources.memory = limit;
    mesh
}

/// What is chosen of a store.
pub struct StoreChoice<'a> {
    pub root: &'a Path,
    pub dtype: Option<Dtype>,
    pub choices: &'a [Choice],
    pub regions: Option<usize>,
    pub labels: JobLabels,
    pub bins: bool,
}

/// The plan, and the findings about mesh and rule.
pub fn planned(
    store: &StoreChoice,
    job: &Job,
    mesh: &Mesh,
    lattice: &Lattice,
    bar: &Bar,
) -> Result<(RegionPlan, Vec<Finding>)> {
    let name = |source: &MeshSource| {
        let path = source.path().unwrap_or(Path::new("-"));
        RegionPlan::mesh_name(store.root, path)
    };
    let options = &job.options;
    let request = RegionRequest {
        dtype: store.dtype,
        choices: store.choices,
        regions: store.regions,
        meshes: job.source.each().iter().map(name).collect::<Result<_>>()?,
        tolerance: options.tolerance,
        parts: &options.parts.choice,
        bins: store.bins,
    };
    let how = run::library_run(options, bar);
    let input = job.source.file_name();
    let voxelizer = run::voxelizer(options, &how).input(input.as_deref());
    let extras = Extras { labels: store.labels, ..Extras::default() };
    let planned = voxelizer.extras(extras).plan_regions(mesh, lattice, &request);
    if matches!(&planned, Err(error) if error.kind() == Kind::Usage) { planned } else { job.sized(planned) }
}

/// The rows about the plan.
fn rows(
    store: &RegionStore,
    requested: Option<usize>,
    bins: Option<&RegionBins>,
    size: Option<FileSize>,
    need: u128,
) -> String {
    let mut rows = String::new();
    let mut row = |label: &str, text: &str| row(&mut rows, label, text);
    let plan = &store.plan.store;
    let regions = counted(plan.regions() as u64, "region", "regions");
    let layers = counted(plan.region_layers.min(plan.dims()[2]) as u64, "layer", "layers");
    let shards = counted(plan.shard_layers as u64, "layer", "layers");
    row("rule", &rule_text(&plan.grid.record));
    let fewer = match requested.filter(|requested| *requested > plan.regions()) {
        Some(requested) => format!("; whole shards allow no {requested} regions"),
        None => String::new(),
    };
    row("plan", &format!("{regions} of {layers}, shards of {shards}{fewer}"));
    if let Some(bins) = bins {
        row("bins", &format!("{}, the largest {}", bytes(bins.bytes()), bytes(bins.largest())));
    }
    row("memory", &format!("at most {} for a process", bytes(need)));
    match size {
        Some(FileSize::About(size)) => row("disk", &format!("about {}", bytes(size))),
        Some(FileSize::AtMost(size)) => row("disk", &format!("at most {}", bytes(size))),
        None => {}
    }
    let name = store.root.display();
    row("wrote", &format!("{name}, the plan"));
    let last = if plan.regions() > 1 { format!(" … {0}/{0}", plan.regions()) } else { String::new() };
    row("next", &format!("voxelize {name} --region 1/{}{last}, then voxelize finish {name}", plan.regions()));
    rows
}
