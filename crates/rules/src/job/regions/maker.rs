//! Makes regions of a store from one mesh, one region after the other.

use std::time::Instant;

use super::plan::{RegionPlan, pending};
use super::store::RegionStore;
use crate::job::slabs::{Made, Slabs};
use crate::job::voxelizer::Voxelizer;
use crate::rule;
use crate::run::{Demand, Plan, Run};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Lattice;
use voxelize_core::par;
use voxelize_core::text::bytes;
use voxelize_formats::zarr::store::{self, ShardFile, StorePart};
use voxelize_formats::{self as format, Choice, Dtype, Durability, SaveOptions};
use voxelize_meshes::Mesh;

impl Voxelizer<'_> {
    /// Returns the memory that is needed to make slabs and write them to a store. `pending` has the dims of
    /// the layers of smaller resolution levels that stay in memory meanwhile.
    pub(super) fn region_demand(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        pending: &[[usize; 3]],
        dtype: Dtype,
        choices: &[Choice],
    ) -> Demand {
        let mut demand = self.demand(mesh, lattice);
        let pending: u128 = pending.iter().map(|dims| demand.cell_bytes(*dims)).sum();
        let writer = format::by_name("zarr").map_or(0, |zarr| {
            zarr.memory(lattice.dims(), dtype, self.run.thread_count(), choices)
        });
        demand.extra += pending + u128::from(writer);
        demand
    }
}

impl RegionPlan {
    /// Returns the number of layers that are made at a time, and the upper bound of the memory of the
    /// process. The memory is in bytes and excludes the program itself.
    fn slab_layers(&self, mesh: &Mesh, voxelizer: &Voxelizer) -> Result<(usize, u128)> {
        let Self {
            store: plan,
            lattice,
            ..
        } = self;
        let [nx, ny, nz] = lattice.dims();
        let region = lattice.region([0..nx, 0..ny, 0..plan.region_layers.min(nz)])?;
        let pending = pending(lattice.dims(), &plan.choices, plan.shard_layers);
        let demand = voxelizer.region_demand(mesh, &region, &pending, plan.dtype, &plan.choices);
        let limit = voxelizer.run.max_memory().map_or(u128::MAX, u128::from);
        let height = match demand.fit(limit, plan.shard_layers) {
            Some(Plan::Slabs(height)) => height,
            Some(_) => plan.region_layers,
            None => {
                let layers = plan.shard_layers;
                let least = bytes(demand.least(layers));
                let most = bytes(limit);
                let text = format!(
                    "a slab of {layers} layers, which the plan requires, needs {least}, but {most} are allowed"
                );
                return Err(Error::too_large(text).with_hint("raise `--max-memory`"));
            }
        };
        Ok((height, demand.bytes(Plan::Slabs(height))))
    }

    /// Returns an upper bound of the memory, in bytes, that is needed to make a region with the settings
    /// `run`. Excludes the program itself.
    ///
    /// # Errors
    /// Fails if not even the lowest slab fits in the memory limit.
    pub fn region_bytes(&self, mesh: &Mesh, run: &Run) -> Result<u128> {
        let like = Voxelizer::new(self.rule).with_run(*run);
        let (_, bytes) = self.slab_layers(mesh, &self.voxelizer(&like))?;
        Ok(bytes)
    }
}

/// Makes the regions of a store.
pub struct RegionMaker<'a> {
    store: &'a RegionStore,
    voxelizer: Voxelizer<'a>,
    slabs: Slabs<'a>,
    durability: Durability,
}

impl<'a> RegionMaker<'a> {
    /// Creates a maker for the regions of a store. `mesh` is the mesh of the store, or the mesh of a bin.
    /// `like` has the settings of the run.
    ///
    /// # Errors
    /// Fails if not even the lowest slab fits in memory.
    pub fn new(
        store: &'a RegionStore,
        mesh: &'a Mesh,
        like: &Voxelizer<'a>,
        durability: Durability,
    ) -> Result<Self> {
        let RegionPlan { lattice, .. } = &store.plan;
        let voxelizer = store.plan.voxelizer(like);
        let height = store.plan.slab_layers(mesh, &voxelizer)?.0;
        let slabs = Slabs::new(&voxelizer, mesh, lattice, Plan::Slabs(height))?;
        Ok(Self {
            store,
            voxelizer,
            slabs,
            durability,
        })
    }

    /// Makes a region and writes its files, even if they already exist. Regions are numbered from 0.
    ///
    /// # Errors
    /// Fails if the store has no such region, if the run was cancelled, or if a file cannot be written.
    /// Complete files of the region then stay, and the next attempt overwrites them.
    pub fn make(&mut self, region: usize) -> Result<StorePart> {
        self.store.check_region(region)?;
        let start = Instant::now();
        let RegionPlan {
            store: plan,
            hash,
            rule,
            lattice,
            ..
        } = &self.store.plan;
        let Self {
            voxelizer, slabs, ..
        } = self;
        slabs.begin(plan.layers(region));
        let options = SaveOptions {
            durability: self.durability,
            progress: &Quiet(voxelizer.run.progress),
            ..SaveOptions::default()
        };
        let part = |slabs: &Slabs, shards: Vec<ShardFile>| {
            let Made {
                occupied,
                labels,
                field,
                stats,
                ..
            } = slabs.made();
            let findings = rule::findings_of_cells(rule, lattice, &stats, &voxelizer.coordinates());
            let findings = findings
                .iter()
                .map(|one| (one.code().to_string(), one.first.message().to_string()));
            StorePart {
                plan: *hash,
                region,
                layers: slabs.layer_hashes().to_vec(),
                occupied,
                labels: labels
                    .iter()
                    .map(|(label, cells)| (label.value, *cells))
                    .collect(),
                field,
                snapped: stats.snapped,
                findings: findings.collect(),
                shards,
                milliseconds: start.elapsed().as_millis() as u64,
            }
        };
        let make = || store::make_region(&self.store.root, plan, region, slabs, &options, part);
        par::with_threads(voxelizer.run.thread_count(), make)?
    }
}

/// Progress listener that only passes on cancellation. The slabs report the progress themselves.
struct Quiet<'a>(&'a dyn par::Progress);

impl par::Progress for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
