//! A store: its plan, what is there of its regions, and its end.

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

/// A folder of Zarr with a plan of regions.
#[derive(Debug, Clone)]
pub struct RegionStore {
    /// Its folder.
    pub root: PathBuf,
    /// Its plan.
    pub plan: RegionPlan,
}

/// What is there of a store, and the numbers of the whole if all of it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreReport {
    /// What is there of each region.
    pub states: Vec<RegionState>,
    /// The digests of the whole; `None` if a region is not.
    pub digest: Option<Digest>,
    /// Occupied cells of the regions that are whole; of a field, those with a value.
    pub occupied: u64,
    /// How many cells have each label.
    pub labels: Vec<(Label, u64)>,
    /// The values of a field.
    pub field: Option<FieldSummary>,
    /// Coordinates that were snapped.
    pub snapped: u64,
    /// The findings about cells, each code once with the number of regions; and about regions that are not whole.
    pub findings: Vec<Finding>,
    /// The shards of the regions that are whole.
    pub shards: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The time that these regions took, in milliseconds.
    pub milliseconds: u64,
}

impl RegionStore {
    /// Makes sure that a new store at `root` replaces no finished one. A plan has no cells: the older ones would be lost
    /// before the new ones are made.
    ///
    /// # Errors
    /// If there is a finished store.
    pub fn check_new(root: &Path) -> Result<()> {
        if !store::is_finished(root) {
            return Ok(());
        }
        Err(Error::exists(
            "is a finished grid without a plan, and would be lost before the new cells are made",
        )
        .in_file(root)
        .with_hint("remove it, or name another one"))
    }

    /// Makes a store for a plan at `root`, or takes the one that is there if it has the same plan. A folder of an
    /// unfinished grid without a plan is replaced.
    ///
    /// # Errors
    /// If the folder has another plan, a finished grid or other files, or cannot be written.
    pub fn create(root: &Path, plan: RegionPlan, durability: Durability) -> Result<Self> {
        Self::create_by(root, plan, None, durability)
    }

    /// Does as [`create`](Self::create), and writes bins if they are wanted.
    pub(super) fn create_by(
        root: &Path,
        plan: RegionPlan,
        bins: Option<&NewBins>,
        durability: Durability,
    ) -> Result<Self> {
        match store::read_plan(root)? {
            Some(there) if there == plan.store => {
                bins.map_or(Ok(()), |bins| {
                    store::add_bins(root, &plan.store, bins, durability)
                })?;
            }
            Some(_) => {
                return Err(Error::exists("is a store with another plan")
                    .in_file(root)
                    .with_hint("remove it, or name another one"));
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

    /// Opens a store; `None` if `root` has no plan.
    ///
    /// # Errors
    /// If the plan cannot be read, is damaged or of another version.
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

    /// Opens a store.
    ///
    /// # Errors
    /// If there is none, or its plan is damaged or of another version.
    pub fn open(root: &Path) -> Result<Self> {
        Self::open_if_planned(root)?.ok_or_else(|| {
            Error::input(Code::V006, "is no store with a plan of regions")
                .in_file(root)
                .with_hint("'voxelize plan MESH -o NAME.zarr' makes one")
        })
    }

    /// Refuses a region that the plan has not.
    pub(super) fn check_region(&self, region: usize) -> Result<()> {
        match self.plan.regions() {
            all if region < all => Ok(()),
            all => Err(
                Error::usage(format!("region {}: the plan has {all}", region + 1))
                    .with_hint("regions count from 1"),
            ),
        }
    }

    /// What is there of a region, the first of which is 0. Its shards are read, and their hashes compared.
    ///
    /// # Errors
    /// If there is no such region, or it was cancelled.
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

    /// Looks at all regions, in the threads this is called in.
    ///
    /// # Errors
    /// If it was cancelled.
    pub fn check(&self, progress: &dyn Progress) -> Result<StoreReport> {
        self.check_by(ShardCheck::Bytes, progress)
    }

    /// Looks at all regions, and at their shards in this way.
    ///
    /// # Errors
    /// If it was cancelled.
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

    /// Looks at all regions, and writes the node of the group if all are whole: then the store is.
    ///
    /// # Errors
    /// If it was cancelled, or the node cannot be written.
    pub fn finish(&self, durability: Durability, progress: &dyn Progress) -> Result<StoreReport> {
        self.finish_by(ShardCheck::Bytes, durability, progress)
    }

    /// Does as [`finish`](Self::finish), with shards looked at in this way.
    ///
    /// # Errors
    /// As those of [`finish`](Self::finish).
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

    /// The store as an output.
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
        let labels = plan.grid.legend.iter().flat_map(|legend| legend.labels());
        let cells = |value: u8| {
            let of = |part: &&StorePart| {
                part.labels
                    .iter()
                    .find(|(one, _)| *one == value)
                    .map(|(_, cells)| *cells)
            };
            whole.iter().filter_map(of).sum::<u64>()
        };
        let labels = labels
            .map(|label| (label.clone(), cells(label.value)))
            .collect();
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

    /// The findings about regions that are not whole: those that are missing or stale together, each damaged one with the
    /// first of its files.
    fn findings_of_regions(&self, states: &[RegionState]) -> Vec<Finding> {
        let all = states.len();
        let again = |numbers: &[usize], finding: Finding| {
            let number = if let [only] = numbers {
                only.to_string()
            } else {
                "I".to_string()
            };
            finding.with_hint(format!(
                "make it again: `voxelize STORE --region {number}/{all}`"
            ))
        };
        let together = |wanted: RegionState, code: Code, are: &str| {
            let states = states.iter().enumerate();
            let numbers: Vec<_> = states
                .filter(|(_, one)| **one == wanted)
                .map(|(n, _)| n + 1)
                .collect();
            let text = format!("{} {are}", regions_text(&numbers, all));
            (!numbers.is_empty()).then(|| again(&numbers, Finding::new(code, text)))
        };
        let damaged = |(n, state): (usize, &RegionState)| {
            let RegionState::Damaged(faults) = state else {
                return None;
            };
            let first = faults
                .first()
                .map_or_else(String::new, |one| format!("{} {}", one.name, one.fault));
            let more = match faults.len() {
                0 | 1 => String::new(),
                2 => " (and 1 more file)".to_string(),
                more => format!(" (and {} more files)", more - 1),
            };
            let text = format!("{} damaged: {first}{more}", regions_text(&[n + 1], all));
            Some(again(&[n + 1], Finding::new(Code::R002, text)))
        };
        let missing = together(RegionState::Missing, Code::R001, "missing");
        let stale = together(
            RegionState::Stale,
            Code::R003,
            "made by another plan or of another mesh",
        );
        missing
            .into_iter()
            .chain(states.iter().enumerate().filter_map(damaged))
            .chain(stale)
            .collect()
    }
}

/// `region 3 of 16 is`, `regions 1–3, 7 of 16 are`.
fn regions_text(numbers: &[usize], all: usize) -> String {
    match numbers {
        [only] => format!("region {only} of {all} is"),
        _ => format!("regions {} of {all} are", numbers_in_runs(numbers)),
    }
}

/// The findings about the cells of regions: each code once, with how many regions have it.
fn findings_of_cells(parts: &[&StorePart]) -> Vec<Finding> {
    let mut found: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for (code, message) in parts.iter().flat_map(|part| &part.findings) {
        found.entry(code).or_insert((message, 0)).1 += 1;
    }
    let finding = |(code, (message, regions)): (&str, (&str, u64))| {
        let text = match regions {
            1 => message.to_string(),
            _ => format!("{message}; and others in {} more regions", regions - 1),
        };
        Some(Finding::new(Code::from_name(code)?, text))
    };
    found.into_iter().filter_map(finding).collect()
}

/// The cells of a store, as far as its metadata need them.
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
