//! `voxelize STORE --region I/N`: some regions of a plan.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use voxelize::format::Durability;
use voxelize::job::InFile;
use voxelize::job::regions::{RegionBins, RegionMaker, RegionState, RegionStore, StorePart};
use voxelize::mesh::read::ReadOptions;
use voxelize::tool::text::numbers_in_runs;
use voxelize::{Error, Mesh, Progress, Result, Run, Voxelizer, par};

use super::super::args::values::{self, ProcessShare};
use super::super::args::{RunArgs, arguments};
use super::super::command::{Call, Command};
use super::super::memory::Resources;
use super::super::progress::{Bar, Silent};
use super::super::report::display::{bytes, counted, duration, grouped};
use super::super::report::{Outcome, Report, row, value};
use super::report::add_findings;

pub const COMMAND: Command = Command {
    name: "region",
    about: "make regions of a plan",
    examples: "\
voxelize huge.zarr --region 3/64                      the third of 64 regions
voxelize huge.zarr --region $SLURM_ARRAY_TASK_ID/64   a task of a job array 1-64
seq 64 | parallel voxelize huge.zarr --region {}/64   all of them, some at a time
voxelize huge.zarr --region 1/1                       all of them here, one after the other",
    notes: "\
'voxelize plan' makes the store, and decides grid, rule and mesh. I/N makes the regions I, I + N, I + 2 N, … of the plan: \
one, if N is the number of regions, and none beyond the last. A region that is whole is left as it is; one that is missing, \
damaged or of another plan is made. If the plan has bins, each region is made of its own, and the mesh is not read. Files get their names when they are whole, the part of the region last: what is killed \
is made again.

Exit codes: 0 the regions are whole; 2 usage error; 3 the mesh or the plan cannot be read, or the mesh is another one \
(R004), or a bin is damaged (R005); 5 the memory does not suffice; 6 a file cannot be written; 130 interrupted",
    keys: "path regions counts shards bytes warnings timings_ms",
    arguments: arguments::<RegionArgs>,
    run,
};

#[derive(Debug, clap::Args)]
#[command(override_usage = "voxelize <STORE> --region I/N [OPTIONS]")]
struct RegionArgs {
    /// The store that 'voxelize plan' made
    #[arg(value_name = "STORE", help_heading = "Input")]
    store: PathBuf,

    /// The regions to make: I, I + N, I + 2 N, …, counted from 1
    #[arg(long, value_name = "I/N", required = true, value_parser = values::share_of, allow_hyphen_values = true, help_heading = "Input")]
    region: ProcessShare,

    /// The mesh, where it does not lie as the plan has it, or in place of bins; once for each of several. It must be the same
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    mesh: Vec<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

/// The parts of regions, each with whether it was made now.
type RegionParts = Vec<(StorePart, bool)>;

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: RegionArgs = call.args()?;
    Ok(vec![Report::of(|report| {
        report.set("path", args.store.to_string_lossy());
        let store = RegionStore::open(&args.store)?;
        let meshes = if args.mesh.is_empty() { store.plan.meshes(&store.root) } else { args.mesh.clone() };
        let files = register(&store, &meshes, call)?;
        let regions: Vec<_> = args.region.of(store.plan.regions()).collect();
        call.check_files()?;
        call.signals.listen()?;
        let resources = call.resources(args.run.max_memory)?;
        let bar = call.bar();
        let mut findings = vec![];
        let mesh = || {
            let reading = ReadOptions::default().memory(resources.for_job()).progress(&bar);
            let companions = |path: &Path| files.iter().try_for_each(|file| file.reads_companion(path));
            let reading = reading.companions(&companions);
            let (mesh, found) =
                store.plan.read_mesh(&meshes, &reading).map_err(|error| interrupted(error, &bar))?;
            findings = found;
            Ok(mesh)
        };
        let bins = if args.mesh.is_empty() { store.bins()? } else { None };
        let work = || match &bins {
            Some(bins) => make_each(&store, &regions, bins, &resources, &bar),
            None => make(&store, &regions, mesh, &resources, Durability::Synced, &bar),
        };
        let parts = par::with_threads(resources.threads, work)?;
        bar.clear();
        fill(&store, &parts?, call, report);
        add_findings(report, call, &findings);
        Ok(Outcome::Done)
    })])
}

/// Registers the files of a store, and the meshes that its plan names: no report is written onto them.
pub fn register(store: &RegionStore, meshes: &[PathBuf], call: &Call) -> Result<Vec<InFile>> {
    call.names.reads_folder(&store.root, "a folder of the store")?;
    meshes.iter().map(|file| call.names.reads(file, "the mesh of the store")).collect()
}

/// The error of an interrupt, if there was one.
fn interrupted(error: Error, bar: &Bar) -> Error {
    if bar.cancelled() { Error::interrupted() } else { error }
}

/// The regions of these that are whole, and the numbers of those that are not.
fn looked_at(store: &RegionStore, regions: &[usize], bar: &Bar) -> Result<(RegionParts, Vec<usize>)> {
    bar.begin("check", regions.len() as u64);
    let mut parts = vec![];
    let mut wanted = vec![];
    for region in regions {
        match store.state(*region, bar)? {
            RegionState::Whole(part) => parts.push((part, false)),
            _ => wanted.push(*region),
        }
        bar.advance(1);
    }
    Ok((parts, wanted))
}

/// The parts of these regions, in their order: those that are not whole are made, each of its bin.
fn make_each(
    store: &RegionStore,
    regions: &[usize],
    bins: &RegionBins,
    resources: &Resources,
    bar: &Bar,
) -> Result<RegionParts> {
    let (mut parts, wanted) = looked_at(store, regions, bar)?;
    for region in &wanted {
        let mesh = bins.mesh(*region, resources.for_job(), bar).map_err(|error| interrupted(error, bar))?;
        parts.extend(make_wanted(store, &[*region], &mesh, resources, Durability::Synced, bar)?);
    }
    parts.sort_by_key(|(part, _)| part.region);
    Ok(parts)
}

/// The parts of these regions, in their order: those that are not whole are made, of the mesh that `mesh` reads if there are any.
pub fn make(
    store: &RegionStore,
    regions: &[usize],
    mesh: impl FnOnce() -> Result<Mesh>,
    resources: &Resources,
    durability: Durability,
    bar: &Bar,
) -> Result<RegionParts> {
    let (mut parts, wanted) = looked_at(store, regions, bar)?;
    if wanted.is_empty() {
        return Ok(parts);
    }
    parts.extend(make_wanted(store, &wanted, &mesh()?, resources, durability, bar)?);
    parts.sort_by_key(|(part, _)| part.region);
    Ok(parts)
}

/// Makes regions of a mesh.
fn make_wanted(
    store: &RegionStore,
    wanted: &[usize],
    mesh: &Mesh,
    resources: &Resources,
    durability: Durability,
    bar: &Bar,
) -> Result<RegionParts> {
    // Several are counted; one shows its slabs.
    let silent = Silent(bar);
    let progress: &dyn Progress = if wanted.len() > 1 { &silent } else { bar };
    let run = Run::default().threads(resources.threads).level(resources.level).progress(progress);
    let run = run.memory(resources.for_job());
    let like = Voxelizer::new(store.plan.rule).with_run(run).budget(resources.budget());
    let mut maker = RegionMaker::new(store, mesh, &like, durability)?;
    let mut parts = vec![];
    for (n, region) in wanted.iter().enumerate() {
        if wanted.len() > 1 {
            bar.begin(&format!("region {}/{}", n + 1, wanted.len()), 1);
        }
        let made = maker.make(*region).map_err(|error| match bar.cancelled() {
            true => Error::interrupted_after(n, wanted.len(), "regions"),
            false => error,
        });
        parts.push((made?, true));
    }
    Ok(parts)
}

fn fill(store: &RegionStore, parts: &RegionParts, call: &Call, report: &mut Report) {
    let plan = &store.plan.store;
    let shards: usize = parts.iter().map(|(part, _)| part.shards.len()).sum();
    let size: u64 = parts.iter().flat_map(|(part, _)| &part.shards).map(|shard| shard.bytes).sum();
    let occupied: u64 = parts.iter().map(|(part, _)| part.occupied).sum();
    let region = |(part, is_new): &(StorePart, bool)| {
        let layers = plan.layers(part.region);
        json!({
            "number": part.region + 1,
            "layers": [layers.start, layers.end],
            "made": is_new,
            "occupied": part.occupied,
            "time_ms": part.milliseconds,
        })
    };
    let total = call.started.elapsed();
    report.set("regions", parts.iter().map(region).collect::<Value>());
    report.set("counts", json!({"occupied": occupied}));
    report.set("shards", shards);
    report.set("bytes", size);
    report.set("timings_ms", json!({"total": value::ms(total)}));
    let mut row = |label: &str, text: &str| row(&mut report.err, label, text);
    let numbers: Vec<_> = parts.iter().map(|(part, _)| part.region + 1).collect();
    let made = parts.iter().filter(|(_, is_new)| *is_new).count();
    let text = match (parts.len(), made) {
        (0, _) => format!("none: the plan has {}", plan.regions()),
        (_, 0) => format!("{} of {}, whole already", numbers_in_runs(&numbers), plan.regions()),
        (all, made) if all == made => format!("{} of {}", numbers_in_runs(&numbers), plan.regions()),
        (all, made) => {
            format!("{} of {}, {} whole already", numbers_in_runs(&numbers), plan.regions(), all - made)
        }
    };
    row(if parts.len() > 1 { "regions" } else { "region" }, &text);
    if !parts.is_empty() {
        row("cells", &grouped(occupied));
        row("wrote", &format!("{}, {}", counted(shards as u64, "shard", "shards"), bytes(size)));
    }
    row("time", &duration(total));
}
