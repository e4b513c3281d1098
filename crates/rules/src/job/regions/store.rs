//! A store: a Zarr folder with a plan of regions. This file creates stores, checks their regions and
//! completes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::plan::RegionPlan;
use crate::rule;
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::grid::{
    CellSource, CellType, Digest, DigestBuilder, FieldSummary, Label, Lattice, Record, Slab,
};
use voxelize_core::par::{self, Progress};
use voxelize_core::text::numbers_in_runs;
use voxelize_formats::zarr::store::{self, NewBins, RegionState, ShardCheck, StorePart, StorePlan};
use voxelize_formats::{Durability, Written};

/// Zarr folder with a plan of regions.
#[derive(Debug, Clone)]
pub struct RegionStore {
    /// Folder of the store.
    pub root: PathBuf,
    /// Plan of the store.
    pub plan: RegionPlan,
}

/// State of the regions of a store, with counts and digests of its cells.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreReport {
    /// State of each region.
    pub states: Vec<RegionState>,
    /// Digest of the whole grid. `None` unless all regions are complete.
    pub digest: Option<Digest>,
    /// Number of occupied cells in the complete regions. If the cells are a field, number of cells whose
    /// value is not the background.
    pub occupied: u64,
    /// Number of cells with each label in the complete regions.
    pub labels: Vec<(Label, u64)>,
    /// Summary of the values of a field. `None` if the cells are not a field.
    pub field: Option<FieldSummary>,
    /// Number of triangle coordinates that snapping moved.
    pub snapped: u64,
    /// Findings about the cells, and findings about incomplete regions. Findings about cells with the same
    /// code are merged, and the text gives the number of regions.
    pub findings: Vec<Finding>,
    /// Number of shards in the complete regions.
    pub shards: usize,
    /// Total size of these shards in bytes.
    pub bytes: u64,
    /// Time that was spent on making the complete regions, in milliseconds.
    pub milliseconds: u64,
}

impl RegionStore {
    /// Checks that a new store at `root` would not replace a finished grid. A new store has no cells yet, so
    /// the old cells would be lost before new cells are made.
    ///
    /// # Errors
    /// Fails if there is a finished grid at `root`.
    pub fn check_new(root: &Path) -> Result<()> {
        if !store::is_finished(root) {
            return Ok(());
        }
        Err(Error::exists(
            "is a finished grid without a plan, which would be deleted before the new cells are made",
        )
        .in_file(root)
        .with_hint("remove the store, or name another one"))
    }

    /// Creates a store for a plan at `root`, or opens the existing store if it has the same plan. Replaces
    /// the folder of an unfinished grid that has no plan.
    ///
    /// # Errors
    /// Fails if the folder has another plan, a finished grid or other files, or if it cannot be written.
    pub fn create(root: &Path, plan: RegionPlan, durability: Durability) -> Result<Self> {
        Self::create_by(root, plan, None, durability)
    }

    /// Creates a store as [`create`](Self::create) does, and also writes `bins` if there are any.
    pub(super) fn create_by(
        root: &Path,
        plan: RegionPlan,
        bins: Option<&NewBins>,
        durability: Durability,
    ) -> Result<Self> {
        match store::read_plan(root)? {
            Some(there) if there == plan.store => {
                if let Some(bins) = bins {
                    store::add_bins(root, &plan.store, bins, durability)?;
                }
            }
            Some(_) => {
                return Err(Error::exists("is a store with another plan")
                    .in_file(root)
                    .with_hint("remove the store, or name another one"));
            }
            None => {
                Self::check_new(root)?;
                store::create(root, &plan.store, bins, durability)?;
            }
        }
        Ok(Self {
            root: root.to_path_buf(),
            plan,
        })
    }

    /// Opens the store at `root`. `None` if the folder has no plan.
    ///
    /// # Errors
    /// Fails if the plan cannot be read, is damaged or needs another version of this program.
    pub fn open_if_planned(root: &Path) -> Result<Option<Self>> {
        let Some(plan) = store::read_plan(root)? else {
            return Ok(None);
        };
        let plan = RegionPlan::new(plan).map_err(|fault| {
            Error::input(Code::V007, format!("the plan cannot be followed: {fault}"))
                .in_file(root)
                .with_hint("use the version of voxelize that made it")
        })?;
        Ok(Some(Self {
            root: root.to_path_buf(),
            plan,
        }))
    }

    /// Opens the store at `root`.
    ///
    /// # Errors
    /// Fails if there is no store, or if its plan is damaged or needs another version of this program.
    pub fn open(root: &Path) -> Result<Self> {
        Self::open_if_planned(root)?.ok_or_else(|| {
            Error::input(Code::V006, "is not a store with a plan of regions")
                .in_file(root)
                .with_hint("'voxelize plan MESH -o NAME.zarr' makes one")
        })
    }

    /// Fails if the plan has no region of this number.
    pub(super) fn check_region(&self, region: usize) -> Result<()> {
        let all = self.plan.regions();
        if region < all {
            return Ok(());
        }
        let error = Error::usage(format!("region {}: the plan has {all}", region + 1));
        Err(error.with_hint("regions are numbered from 1"))
    }

    /// Returns the state of a region. Reads its shards and compares their hashes with the recorded ones.
    /// Regions are numbered from 0.
    ///
    /// # Errors
    /// Fails if there is no such region, or if the run was cancelled.
    pub fn state(&self, region: usize, progress: &dyn Progress) -> Result<RegionState> {
        self.state_by(region, ShardCheck::Bytes, progress)
    }

    fn state_by(
        &self,
        region: usize,
        check: ShardCheck,
        progress: &dyn Progress,
    ) -> Result<RegionState> {
        self.check_region(region)?;
        store::state(
            &self.root,
            &self.plan.store,
            self.plan.hash,
            region,
            check,
            progress,
        )
    }

    /// Checks all regions by reading their shards. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the run was cancelled.
    pub fn check(&self, progress: &dyn Progress) -> Result<StoreReport> {
        self.check_by(ShardCheck::Bytes, progress)
    }

    /// Checks all regions. `check` selects how their shards are checked.
    ///
    /// # Errors
    /// Fails if the run was cancelled.
    pub fn check_by(&self, check: ShardCheck, progress: &dyn Progress) -> Result<StoreReport> {
        let regions = self.plan.regions();
        progress.begin("check", regions as u64);
        let states = par::map_range(0..regions, |region| {
            let state = self.state_by(region, check, progress);
            progress.advance(1);
            state
        });
        Ok(self.report(states.into_iter().collect::<Result<_>>()?))
    }

    /// Checks all regions. If all regions are complete, completes the store by writing the metadata of its
    /// Zarr group.
    ///
    /// # Errors
    /// Fails if the run was cancelled, or if the metadata cannot be written.
    pub fn finish(&self, durability: Durability, progress: &dyn Progress) -> Result<StoreReport> {
        self.finish_by(ShardCheck::Bytes, durability, progress)
    }

    /// Completes the store as [`finish`](Self::finish) does. `check` selects how the shards are checked.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`finish`](Self::finish).
    pub fn finish_by(
        &self,
        check: ShardCheck,
        durability: Durability,
        progress: &dyn Progress,
    ) -> Result<StoreReport> {
        let report = self.check_by(check, progress)?;
        if let Some(digest) = report.digest {
            let source = PlannedCells {
                plan: &self.plan.store,
                digest,
            };
            store::finish(&self.root, &self.plan.store, &source, durability)?;
        }
        Ok(report)
    }

    /// Returns the description of the store as a written output.
    pub fn written(&self, report: &StoreReport) -> Written {
        Written {
            path: self.root.clone(),
            format: "zarr",
            bytes: report.bytes,
        }
    }

    fn report(&self, states: Vec<RegionState>) -> StoreReport {
        let plan = &self.plan.store;
        let whole: Vec<_> = states.iter().filter_map(RegionState::part).collect();
        let mut digest = DigestBuilder::new(plan.dims(), plan.cell_type());
        for part in &whole {
            digest.put_layers(plan.layers(part.region).start, part.layers.clone());
        }
        let is_whole = whole.len() == states.len();
        let digest = is_whole.then(|| digest.finish(plan.grid.lattice.as_ref()));
        let mut labels = vec![];
        for label in plan.grid.legend.iter().flat_map(|legend| legend.labels()) {
            let mut cells = 0;
            for (value, count) in whole.iter().flat_map(|part| &part.labels) {
                if *value == label.value {
                    cells += count;
                }
            }
            labels.push((label.clone(), cells));
        }
        let field = whole
            .iter()
            .filter_map(|part| part.field)
            .reduce(FieldSummary::and);
        let occupied = whole.iter().map(|part| part.occupied).sum();
        let mut findings = self.findings_of_regions(&states);
        findings.extend(findings_of_cells(&whole));
        if is_whole && occupied == 0 {
            findings.push(rule::nothing_occupied(&self.plan.rule, &findings));
        }
        StoreReport {
            digest,
            occupied,
            labels,
            field,
            snapped: whole.iter().map(|part| part.snapped).sum(),
            findings,
            shards: whole.iter().map(|part| part.shards.len()).sum(),
            bytes: whole
                .iter()
                .flat_map(|part| &part.shards)
                .map(|shard| shard.bytes)
                .sum(),
            milliseconds: whole.iter().map(|part| part.milliseconds).sum(),
            states,
        }
    }

    /// Returns the findings about incomplete regions. One finding lists all missing regions, and one lists
    /// all stale regions. Each damaged region has its own finding, which names its first damaged file.
    fn findings_of_regions(&self, states: &[RegionState]) -> Vec<Finding> {
        let all = states.len();
        let mut missing = vec![];
        let mut stale = vec![];
        let mut damaged = vec![];
        for (number, state) in (1..).zip(states) {
            match state {
                RegionState::Missing => missing.push(number),
                RegionState::Stale => stale.push(number),
                RegionState::Damaged(faults) => {
                    let first = match faults.first() {
                        Some(fault) => format!("{} {}", fault.name, fault.fault),
                        None => String::new(),
                    };
                    let fault = match faults.len() {
                        0 | 1 => format!("damaged: {first}"),
                        all => format!("damaged: {all} files differ, the first: {first}"),
                    };
                    damaged.push(finding_of_regions(Code::R002, &[number], all, &fault));
                }
                _ => {}
            }
        }
        let mut findings = vec![];
        if !missing.is_empty() {
            findings.push(finding_of_regions(Code::R001, &missing, all, "missing"));
        }
        findings.extend(damaged);
        if !stale.is_empty() {
            let fault = "stale: made from another plan or another mesh";
            findings.push(finding_of_regions(Code::R003, &stale, all, fault));
        }
        findings
    }
}

/// Returns the finding that the regions `numbers` must be made again because of `fault`.
fn finding_of_regions(code: Code, numbers: &[usize], all: usize, fault: &str) -> Finding {
    let text = format!("{} {fault}", regions_text(numbers, all));
    let again = if code == Code::R001 { "" } else { " again" };
    let hint = match numbers {
        [only] => format!("make it{again}: `voxelize STORE --region {only}/{all}`"),
        _ => format!("make them{again}: `voxelize STORE --region I/{all}`, for each number I"),
    };
    Finding::new(code, text).with_hint(hint)
}

/// Describes regions, as in `region 3 of 16 is` or `regions 1–3, 7 of 16 are`.
fn regions_text(numbers: &[usize], all: usize) -> String {
    match numbers {
        [only] => format!("region {only} of {all} is"),
        _ => format!("regions {} of {all} are", numbers_in_runs(numbers)),
    }
}

/// Returns the findings about the cells of regions. Findings with the same code are merged, and the text
/// gives the number of regions.
fn findings_of_cells(parts: &[&StorePart]) -> Vec<Finding> {
    let mut found: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for (code, message) in parts.iter().flat_map(|part| &part.findings) {
        found.entry(code).or_insert((message, 0)).1 += 1;
    }
    let mut findings = vec![];
    for (code, (message, regions)) in found {
        let text = match regions {
            1 => message.to_string(),
            _ => format!("{message}; and others in {} more regions", regions - 1),
        };
        if let Some(code) = Code::from_name(code) {
            findings.push(Finding::new(code, text));
        }
    }
    findings
}

/// Source without cells that provides the properties of a store's grid for its metadata.
struct PlannedCells<'a> {
    plan: &'a StorePlan,
    digest: Digest,
}

impl CellSource for PlannedCells<'_> {
    fn dims(&self) -> [usize; 3] {
        self.plan.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.plan.grid.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.plan.grid.record
    }

    fn cell_type(&self) -> CellType<'_> {
        self.plan.cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        Ok(None)
    }

    fn digest(&self) -> Digest {
        self.digest
    }
}
