//! `voxelize STORE --region I/N` makes some of the planned regions of a store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use voxelize::format::Durability;
use voxelize::job::regions::{RegionBins, RegionMaker, RegionState, RegionStore, StorePart};
use voxelize::mesh::read::ReadOptions;
use voxelize::tool::text::numbers_in_runs;
use voxelize::{Error, Mesh, Progress, Result, Run, Voxelizer, par};

use super::report::warnings;
use crate::cli::args::values::{self, ProcessShare};
use crate::cli::args::{RunArgs, arguments};
use crate::cli::command::{Call, Command};
use crate::cli::memory::Resources;
use crate::cli::names::InputFile;
use crate::cli::progress::{Bar, Silent};
use crate::cli::report::display::{bytes, counted, duration, grouped};
use crate::cli::report::value::{self, Warning, lossy};
use crate::cli::report::{Object, Outcome, Report, ReportRows, empty};

pub const COMMAND: Command = Command {
    name: "region",
    about: "make regions of a plan",
    examples: "\
voxelize huge.zarr --region 3/64                      the third of 64 regions
voxelize huge.zarr --region $SLURM_ARRAY_TASK_ID/64   a task of a job array 1-64
seq 64 | parallel voxelize huge.zarr --region {}/64   all of them, some at a time
voxelize huge.zarr --region 1/1                       all of them here, one after the other",
    notes: "\
'voxelize plan' makes the store and decides grid, rule and mesh. I/N makes the regions I, I + N, I + 2 N, … of the plan: \
one region if N is the number of regions, none if I is beyond the last. Complete regions are kept; missing, damaged and \
stale regions are made. If the plan has bins, each region is made from its bin, and the mesh is not read. Files are \
renamed into place when they are complete, so a killed process leaves only regions that are made again.

Exit codes: 0 the regions are complete; 2 usage error; 3 the mesh or the plan cannot be read, the mesh differs from the mesh of \
the plan (R004), or a bin is damaged (R005); 5 not enough memory; 6 a file cannot be written; 130 interrupted",
    empty: empty::<MadeRegions>,
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

    /// The mesh, if it has moved since the plan, or to read it instead of the bins; repeat for several. It must be the same mesh
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    mesh: Vec<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

/// Result of the command.
#[derive(Default, Serialize)]
struct MadeRegions {
    path: Option<String>,
    regions: Option<Vec<MadeRegion>>,
    counts: Option<Occupied>,
    shards: Option<usize>,
    bytes: Option<u64>,
    warnings: Option<Vec<Warning>>,
    timings_ms: Option<Object>,
}

#[derive(Serialize)]
struct MadeRegion {
    number: usize,
    layers: [usize; 2],
    made: bool,
    occupied: u64,
    time_ms: u64,
}

#[derive(Serialize)]
struct Occupied {
    occupied: u64,
}

/// Part files of regions. The flag is `true` if this run made the region.
type RegionParts = Vec<(StorePart, bool)>;

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: RegionArgs = call.args()?;
    Ok(vec![Report::of(|report, result: &mut MadeRegions| {
        result.path = Some(lossy(&args.store));
        let store = RegionStore::open(&args.store)?;
        let meshes = if args.mesh.is_empty() {
            store.plan.meshes(&store.root)
        } else {
            args.mesh.clone()
        };
        let files = register(&store, &meshes, call)?;
        let regions: Vec<_> = args.region.of(store.plan.regions()).collect();
        call.check_files()?;
        call.signals.listen()?;
        let resources = call.resources(args.run.max_memory)?;
        let bar = call.bar();
        let mut findings = vec![];
        let mesh = || {
            let reading = ReadOptions::default()
                .memory(resources.for_job())
                .progress(&bar);
            let companions =
                |path: &Path| files.iter().try_for_each(|file| file.reads_companion(path));
            let reading = reading.companions(&companions);
            let (mesh, found) = store
                .plan
                .read_mesh(&meshes, &reading)
                .map_err(|error| interrupted(error, &bar))?;
            findings = found;
            Ok(mesh)
        };
        let bins = if args.mesh.is_empty() {
            store.bins()?
        } else {
            None
        };
        let work = || match &bins {
            Some(bins) => make_each(&store, &regions, bins, &resources, &bar),
            None => make(&store, &regions, mesh, &resources, Durability::Synced, &bar),
        };
        let parts = par::with_threads(resources.threads, work)?;
        bar.clear();
        result.set(&store, &parts?, call);
        result.add_rows(
            &mut report.err,
            store.plan.regions(),
            call.started.elapsed(),
        );
        result.warnings = warnings(&findings, &mut report.err, call.printer.options.verbosity);
        Ok(Outcome::Done)
    })])
}

/// Registers the folder of the store and the meshes of its plan, so that no report overwrites them.
pub fn register(store: &RegionStore, meshes: &[PathBuf], call: &Call) -> Result<Vec<InputFile>> {
    call.names
        .reads_folder(&store.root, "a folder of the store")?;
    meshes
        .iter()
        .map(|file| call.names.reads(file, "the mesh of the store"))
        .collect()
}

/// Returns the error of an interrupt if a signal arrived, otherwise `error`.
fn interrupted(error: Error, bar: &Bar) -> Error {
    if bar.cancelled() {
        Error::interrupted()
    } else {
        error
    }
}

/// Checks these regions. Returns the part files of the complete regions, and the numbers of the incomplete
/// ones.
fn looked_at(
    store: &RegionStore,
    regions: &[usize],
    bar: &Bar,
) -> Result<(RegionParts, Vec<usize>)> {
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

/// Returns the part files of these regions, in order. Incomplete regions are made from their bins.
fn make_each(
    store: &RegionStore,
    regions: &[usize],
    bins: &RegionBins,
    resources: &Resources,
    bar: &Bar,
) -> Result<RegionParts> {
    let (mut parts, wanted) = looked_at(store, regions, bar)?;
    for region in &wanted {
        let mesh = bins
            .mesh(*region, resources.for_job(), bar)
            .map_err(|error| interrupted(error, bar))?;
        parts.extend(make_wanted(
            store,
            &[*region],
            &mesh,
            resources,
            Durability::Synced,
            bar,
        )?);
    }
    parts.sort_by_key(|(part, _)| part.region);
    Ok(parts)
}

/// Returns the part files of these regions, in order. Incomplete regions are made from the mesh. `mesh` reads
/// it and is called only if a region is incomplete.
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
    parts.extend(make_wanted(
        store,
        &wanted,
        &mesh()?,
        resources,
        durability,
        bar,
    )?);
    parts.sort_by_key(|(part, _)| part.region);
    Ok(parts)
}

/// Makes the regions `wanted` from the mesh.
fn make_wanted(
    store: &RegionStore,
    wanted: &[usize],
    mesh: &Mesh,
    resources: &Resources,
    durability: Durability,
    bar: &Bar,
) -> Result<RegionParts> {
    // With several regions, the bar counts regions. With a single one, it shows the slabs.
    let silent = Silent(bar);
    let progress: &dyn Progress = if wanted.len() > 1 { &silent } else { bar };
    let run = Run::default()
        .threads(resources.threads)
        .level(resources.level)
        .progress(progress);
    let run = run.memory(resources.for_job());
    let like = Voxelizer::new(store.plan.rule)
        .with_run(run)
        .budget(resources.budget());
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

impl MadeRegions {
    fn set(&mut self, store: &RegionStore, parts: &RegionParts, call: &Call) {
        let mut regions = vec![];
        let (mut shards, mut bytes, mut occupied) = (0, 0, 0);
        for (part, is_new) in parts {
            let layers = store.plan.store.layers(part.region);
            shards += part.shards.len();
            bytes += part.shards.iter().map(|shard| shard.bytes).sum::<u64>();
            occupied += part.occupied;
            regions.push(MadeRegion {
                number: part.region + 1,
                layers: [layers.start, layers.end],
                made: *is_new,
                occupied: part.occupied,
                time_ms: part.milliseconds,
            });
        }
        self.regions = Some(regions);
        self.counts = Some(Occupied { occupied });
        self.shards = Some(shards);
        self.bytes = Some(bytes);
        self.timings_ms = Some(value::timings(&[], call.started.elapsed()));
    }

    fn add_rows(&self, rows: &mut ReportRows, planned: usize, total: Duration) {
        let regions = self.regions.as_deref().unwrap_or_default();
        let numbers: Vec<_> = regions.iter().map(|region| region.number).collect();
        let numbers = numbers_in_runs(&numbers);
        let there = regions.iter().filter(|region| !region.made).count();
        let text = match regions.len() {
            0 => format!("none: the plan has only {planned} regions"),
            all if there == all => {
                format!("{numbers} (of {planned}), already complete; no file was written")
            }
            _ if there == 0 => format!("{numbers} (of {planned})"),
            _ => format!("{numbers} (of {planned}), {there} of them already complete"),
        };
        rows.row(
            if regions.len() > 1 {
                "regions"
            } else {
                "region"
            },
            text,
        );
        if let (Some(counts), Some(shards), Some(size), false) =
            (&self.counts, self.shards, self.bytes, regions.is_empty())
        {
            rows.row("cells", grouped(counts.occupied));
            let label = if there == regions.len() {
                "store"
            } else {
                "wrote"
            };
            rows.row(
                label,
                format!(
                    "{}, {}",
                    counted(shards as u64, "shard", "shards"),
                    bytes(size)
                ),
            );
        }
        rows.row("time", duration(total));
    }
}
