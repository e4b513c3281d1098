//! Parts that the reports of `plan`, `region` and `finish` have in common.

use serde::Serialize;
use voxelize::Finding;
use voxelize::job::regions::RegionStore;

use crate::cli::report::value::{self, Warning};
use crate::cli::report::{ReportRows, Verbosity};
use crate::cli::run::record_text;

/// Number of planned regions and their sizes in layers.
#[derive(Serialize)]
pub struct PlannedRegions {
    count: usize,
    layers: usize,
    shard_layers: usize,
}

impl PlannedRegions {
    pub fn new(store: &RegionStore) -> Self {
        let plan = &store.plan.store;
        Self {
            count: plan.regions(),
            layers: plan.region_layers,
            shard_layers: plan.shard_layers,
        }
    }
}

/// Returns the rule of the store with its options: `filled; ties: none; inside: nonzero`.
pub fn rule_text(store: &RegionStore) -> String {
    record_text(&store.plan.store.grid.record).unwrap_or_default()
}

/// Returns all findings for the JSON. Adds those that are printed at this verbosity to the rows.
pub fn warnings(
    findings: &[Finding],
    rows: &mut ReportRows,
    verbosity: Verbosity,
) -> Option<Vec<Warning>> {
    for finding in findings.iter().filter(|finding| verbosity.prints(finding)) {
        rows.finding("", finding);
    }
    Some(value::warnings(findings))
}
