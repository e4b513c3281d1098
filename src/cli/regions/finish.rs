//! `voxelize finish` checks that all regions of a store are complete, computes its digest and writes its
//! metadata.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use voxelize::format::Durability;
use voxelize::grid::Label;
use voxelize::grid::record::FIELDS;
use voxelize::job::regions::{RegionState, RegionStore, StoreReport};
use voxelize::tool::text::numbers_in_runs;
use voxelize::{Result, par};

use super::region::register;
use super::report::{PlannedRegions, rule_text, warnings};
use crate::cli::args::arguments;
use crate::cli::command::{Call, Command};
use crate::cli::contents;
use crate::cli::report::display::{self, bytes, counted, duration, grouped, occupancy};
use crate::cli::report::value::{
    self, Counts, Digests, FieldValues, FieldsJson, Grid, LabelCount, OutputJson, Warning, lossy,
};
use crate::cli::report::{Object, Outcome, Report, ReportRows, empty};

pub const COMMAND: Command = Command {
    name: "finish",
    about: "finish a store whose regions are made",
    examples: "\
voxelize finish huge.zarr             missing or damaged regions; otherwise the digest
voxelize finish huge.zarr --json      the numbers of regions to make again, for scripts",
    notes: "\
All shards are read and compared with the hashes recorded for their regions. If every region is complete, the metadata of \
the group are written; before that, readers of Zarr see only arrays and no group. Otherwise nothing is written, and the \
regions that are missing, damaged or stale are listed. The command can be repeated.

Exit codes: 0 the store is complete; 1 regions are missing, damaged or stale; 2 usage error; 3 no plan, or a damaged one; \
6 the metadata cannot be written",
    empty: empty::<FinishedStore>,
    arguments: arguments::<FinishArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct FinishArgs {
    /// The store that 'voxelize plan' made
    #[arg(value_name = "STORE", help_heading = "Input")]
    store: PathBuf,
}

/// Result of the command.
#[derive(Default, Serialize)]
struct FinishedStore {
    path: Option<String>,
    grid: Option<Grid>,
    rule: Option<String>,
    #[serde(flatten)]
    fields: FieldsJson,
    made_by: Option<String>,
    snap: Option<String>,
    transform: Option<Object>,
    regions: Option<FoundRegions>,
    counts: Option<Counts>,
    field: Option<FieldValues>,
    volume: Option<f64>,
    digest: Option<Digests>,
    shards: Option<usize>,
    bytes: Option<u64>,
    warnings: Option<Vec<Warning>>,
    outputs: Option<Vec<OutputJson>>,
    timings_ms: Option<Timings>,
}

/// State of the regions. Regions are numbered from 1.
#[derive(Serialize)]
struct FoundRegions {
    #[serde(flatten)]
    planned: PlannedRegions,
    whole: usize,
    missing: Vec<usize>,
    stale: Vec<usize>,
    damaged: Vec<DamagedRegion>,
}

#[derive(Serialize)]
struct DamagedRegion {
    region: usize,
    files: Vec<DamagedFile>,
}

#[derive(Serialize)]
struct DamagedFile {
    name: String,
    fault: String,
}

#[derive(Serialize)]
struct Timings {
    regions: u64,
    total: f64,
}

impl FoundRegions {
    fn new(store: &RegionStore, found: &StoreReport) -> Self {
        let planned = PlannedRegions::new(store);
        let mut regions = Self {
            planned,
            whole: 0,
            missing: vec![],
            stale: vec![],
            damaged: vec![],
        };
        for (n, state) in found.states.iter().enumerate() {
            match state {
                RegionState::Whole(_) => regions.whole += 1,
                RegionState::Missing => regions.missing.push(n + 1),
                RegionState::Stale => regions.stale.push(n + 1),
                RegionState::Damaged(faults) => {
                    let files = faults.iter().map(|fault| DamagedFile {
                        name: fault.name.clone(),
                        fault: fault.fault.to_string(),
                    });
                    regions.damaged.push(DamagedRegion {
                        region: n + 1,
                        files: files.collect(),
                    });
                }
            }
        }
        regions
    }
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: FinishArgs = call.args()?;
    Ok(vec![Report::of(|report, result: &mut FinishedStore| {
        result.path = Some(lossy(&args.store));
        let store = RegionStore::open(&args.store)?;
        register(&store, &store.plan.meshes(&store.root), call)?;
        call.check_files()?;
        call.signals.listen()?;
        let resources = call.resources(None)?;
        let bar = call.bar();
        let finish = || store.finish(Durability::Synced, &bar);
        let found = par::with_threads(resources.threads, finish)?;
        bar.clear();
        let found = found?;
        result.set(&store, &found, call.started.elapsed());
        add_rows(
            &mut report.out,
            &store,
            &found,
            call.started.elapsed(),
            result,
        );
        result.warnings = warnings(
            &found.findings,
            &mut report.err,
            call.printer.options.verbosity,
        );
        Ok(match found.digest {
            Some(_) => Outcome::Done,
            None => Outcome::CheckFailed(None),
        })
    })])
}

impl FinishedStore {
    fn set(&mut self, store: &RegionStore, found: &StoreReport, total: Duration) {
        let plan = &store.plan.store;
        let record = &plan.grid.record;
        self.grid = plan.grid.lattice.as_ref().map(Grid::from);
        self.rule = record.rule_name.clone();
        self.fields = FieldsJson::new(&FIELDS, &record.fields);
        self.made_by = record.tool.clone();
        self.snap = record.snap.clone();
        self.transform = Some(value::transform(record));
        self.regions = Some(FoundRegions::new(store, found));
        self.shards = Some(found.shards);
        self.bytes = Some(found.bytes);
        self.timings_ms = Some(Timings {
            regions: found.milliseconds,
            total: value::ms(total),
        });
        let Some(digest) = &found.digest else { return };
        self.digest = Some(Digests::from(digest));
        self.outputs = Some(value::outputs(&[store.written(found)]));
        let mut counts = Counts {
            cells: value::cells(plan.dims()),
            ..Counts::default()
        };
        if let Some(field) = &found.field {
            self.field = Some(FieldValues::new(
                plan.grid.background.unwrap_or_default(),
                Some(field),
            ));
        } else {
            counts.occupied = Some(found.occupied);
            let label = |(label, cells): &(Label, u64)| LabelCount {
                label: label.name.to_string(),
                value: Some(label.value),
                cells: *cells,
                ..LabelCount::default()
            };
            counts.labels = Some(found.labels.iter().map(label).collect());
            let lattice = plan.grid.lattice.as_ref();
            self.volume = lattice.map(|lattice| value::volume(found.occupied, lattice));
        }
        self.counts = Some(counts);
    }
}

fn add_rows(
    rows: &mut ReportRows,
    store: &RegionStore,
    found: &StoreReport,
    total: Duration,
    result: &FinishedStore,
) {
    let plan = &store.plan.store;
    if let Some(lattice) = &plan.grid.lattice {
        rows.row(
            "grid",
            display::grid_in(lattice, plan.grid.record.transform("unit")),
        );
    }
    rows.row("rule", rule_text(store));
    if let Some(regions) = &result.regions {
        let all = grouped(plan.regions() as u64);
        rows.row(
            "regions",
            format!("{} of {all} complete", grouped(regions.whole as u64)),
        );
        let damaged: Vec<_> = regions
            .damaged
            .iter()
            .map(|damaged| damaged.region)
            .collect();
        for (state, numbers) in [
            ("missing", &regions.missing),
            ("stale", &regions.stale),
            ("damaged", &damaged),
        ] {
            if !numbers.is_empty() {
                rows.row(state, numbers_in_runs(numbers));
            }
        }
    }
    let Some(digest) = &found.digest else { return };
    match &found.field {
        Some(field) => rows.row("field", contents::range(field)),
        None => rows.row("cells", occupancy(found.occupied, plan.dims())),
    }
    let shards = counted(found.shards as u64, "shard", "shards");
    rows.row(
        "wrote",
        format!("{}, {shards}, {}", store.root.display(), bytes(found.bytes)),
    );
    rows.row("digest", display::digest(digest));
    let made = duration(Duration::from_millis(found.milliseconds));
    rows.row(
        "time",
        format!("{}; the regions took {made}", duration(total)),
    );
}
