//! Makes regions of a store, one after the other, of one mesh.

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
    /// The memory of slabs that are written to a store, whose smaller levels hold these layers meanwhile.
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
    /// The layers that are made at a time, and the bytes of the process at most, without the program.
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
                let (layers, least, most) = (
                    plan.shard_layers,
                    bytes(demand.least(plan.shard_layers)),
                    bytes(limit),
                );
                let text = format!(
                    "a slab of {layers} layers, as the plan has them, needs {least}, {most} are allowed"
                );
                return Err(Error::too_large(text).with_hint("raise `--max-memory`"));
            }
        };
        Ok((height, demand.bytes(Plan::Slabs(height))))
    }

    /// The memory that making a region takes at most, in bytes, without the program, in a process that runs so.
    ///
    /// # Errors
    /// If not even the lowest slab fits into the limit.
    pub fn region_bytes(&self, mesh: &Mesh, run: &Run) -> Result<u128> {
        let like = Voxelizer::new(self.rule).with_run(*run);
        self.slab_layers(mesh, &self.voxelizer(&like))
            .map(|(_, bytes)| bytes)
    }
}

/// Makes regions of a store.
pub struct RegionMaker<'a> {
    store: &'a RegionStore,
    voxelizer: Voxelizer<'a>,
    slabs: Slabs<'a>,
    durability: Durability,
}

impl<'a> RegionMaker<'a> {
    /// A maker of the regions of a store whose mesh this is; `like` says how it runs.
    ///
    /// # Errors
    /// If not even the lowest slab fits in memory.
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

    /// Makes a region, the first of which is 0, whatever is there of it.
    ///
    /// # Errors
    /// If the store has no such region, it was cancelled, or a file cannot be written. What is whole of it stays, and is
    /// written over by the next process.
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

/// Progress that only cancels: slabs report their own.
struct Quiet<'a>(&'a dyn par::Progress);

impl par::Progress for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
