//! `voxelize finish`: whether all regions of a store are whole, its digest, and its metadata.

use std::path::PathBuf;

use serde_json::{Value, json};
use voxelize::format::Durability;
use voxelize::grid::Label;
use voxelize::job::regions::{RegionState, RegionStore, StoreReport};
use voxelize::tool::text::numbers_in_runs;
use voxelize::{Result, par};

use super::super::args::arguments;
use super::super::command::{Call, Command};
use super::super::report::display::{self, bytes, counted, duration, grouped, occupancy};
use super::super::report::{Outcome, Report, value};
use super::region::register;
use super::report::{add_findings, field_rows, rule_text, set_plan};

pub const COMMAND: Command = Command {
    name: "finish",
    about: "finish a store whose regions are made",
    examples: "\
voxelize finish huge.zarr             what is missing or damaged; else the digest
voxelize finish huge.zarr --json      the numbers of regions to make again, for scripts",
    notes: "\
All shards are read and compared with the hashes in the parts; cells are not looked at. If every region is whole, the \
metadata of the group are written: before that, readers of Zarr see no group, only arrays. Otherwise nothing is \
written, and regions that are missing, damaged or stale are named. It can be repeated.

Exit codes: 0 the store is whole; 1 regions are missing, damaged or stale; 2 usage error; 3 no plan, or a damaged one; \
6 the metadata cannot be written",
    keys: "path grid rule [fields] made_by snap transform regions counts field volume digest shards bytes warnings outputs \
           timings_ms",
    arguments: arguments::<FinishArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct FinishArgs {
    /// The store that 'voxelize plan' made
    #[arg(value_name = "STORE", help_heading = "Input")]
    store: PathBuf,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: FinishArgs = call.args()?;
    Ok(vec![Report::of(|report| {
        report.set("path", args.store.to_string_lossy());
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
        fill(&store, &found, call, report);
        add_findings(report, call, &found.findings);
        Ok(match found.digest {
            Some(_) => Outcome::Done,
            None => Outcome::CheckFailed(None),
        })
    })])
}

/// The numbers of the regions in a state, from 1 on.
fn numbers(found: &StoreReport, name: &str) -> Vec<usize> {
    let states = found.states.iter().enumerate();
    states.filter(|(_, state)| state.name() == name).map(|(n, _)| n + 1).collect()
}

fn regions(store: &RegionStore, found: &StoreReport) -> Value {
    let damaged = |(n, state): (usize, &RegionState)| {
        let RegionState::Damaged(faults) = state else { return None };
        let faults: Vec<_> =
            faults.iter().map(|fault| json!({"name": fault.name, "fault": fault.fault})).collect();
        Some(json!({"region": n + 1, "files": faults}))
    };
    let damaged: Vec<_> = found.states.iter().enumerate().filter_map(damaged).collect();
    json!({
        "count": store.plan.regions(),
        "layers": store.plan.store.region_layers,
        "shard_layers": store.plan.store.shard_layers,
        "whole": numbers(found, "whole").len(),
        "missing": numbers(found, "missing"),
        "stale": numbers(found, "stale"),
        "damaged": damaged,
    })
}

fn fill(store: &RegionStore, found: &StoreReport, call: &Call, report: &mut Report) {
    let plan = &store.plan.store;
    set_plan(report, store, None);
    report.set("regions", regions(store, found));
    report.set("shards", found.shards);
    report.set("bytes", found.bytes);
    let total = call.started.elapsed();
    report.set("timings_ms", json!({"regions": found.milliseconds, "total": value::ms(total)}));
    if let Some(lattice) = &plan.grid.lattice {
        report.row("grid", &display::grid_in(lattice, plan.grid.record.transform("unit")));
    }
    report.row("rule", &rule_text(&plan.grid.record));
    let whole = numbers(found, "whole").len();
    report.row("regions", &format!("{} of {} whole", grouped(whole as u64), grouped(plan.regions() as u64)));
    for state in ["missing", "stale", "damaged"] {
        let numbers = numbers(found, state);
        if !numbers.is_empty() {
            report.row(state, &numbers_in_runs(&numbers));
        }
    }
    let Some(digest) = &found.digest else { return };
    report.set("digest", value::digest(digest));
    match &found.field {
        Some(field) => field_rows(report, store, field),
        None => {
            let label = |(label, cells): &(Label, u64)| json!({"label": label.name, "value": label.value, "cells": cells});
            let labels: Vec<_> = found.labels.iter().map(label).collect();
            let counts =
                json!({"cells": value::cells(plan.dims()), "occupied": found.occupied, "labels": labels});
            report.set("counts", counts);
            let volume = plan.grid.lattice.as_ref().map(|lattice| value::volume(found.occupied, lattice));
            report.set("volume", volume);
            report.row("cells", &occupancy(found.occupied, plan.dims()));
        }
    }
    report.set("outputs", value::outputs([&store.written(found)]));
    let shards = counted(found.shards as u64, "shard", "shards");
    report.row("wrote", &format!("{}, {shards}, {}", store.root.display(), bytes(found.bytes)));
    report.row("digest", &display::digest(digest));
    let made = std::time::Duration::from_millis(found.milliseconds);
    report.row("time", &format!("{}; the regions took {}", duration(total), duration(made)));
}
