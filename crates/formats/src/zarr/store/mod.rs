//! A folder of Zarr that is made in regions, each alone: a plan, then the shards of each region with a part that lists
//! them, then the node of the group.
//!
//! | file | content |
//! |---|---|
//! | `plan.json` | the grid, how its cells are made and of which mesh, and how layers are shared out; with the hash of this |
//! | `L/zarr.json` | the array of level L, from the first: a level can be looked at before all of it is there |
//! | `L/c/Z/0/0` | a shard, as [`super`] has it; of a level that a region has fewer layers of than a shard, its layers alone |
//! | `parts/I.json` | of region I, from 1 on: the hash of the plan, the hashes of its layers and of its shards, counts, findings; with the hash of this |
//! | `bins/I.bin` | if they are wanted: the triangles that region I can meet, in the order of the mesh and the axes of the grid; each nine `f32`, little endian. Behind them a `u32` for each, the number of its part, if labels stand for parts |
//! | `bins/index.json` | the hash of the plan, facts about the whole mesh, the hashes of the bins; with the hash of this |
//! | `zarr.json` | the group, written last: with it the store is whole |
//!
//! A region has a multiple of 2^(levels − 1) layers and of those of a shard, so that it makes whole shards of every level,
//! and no two processes write one file. Every file gets its name once it is whole, the part after its shards.

mod bins;
mod files;
mod part;
mod plan;
mod text;

pub use self::bins::StoreBins;
pub use self::files::{
    NewBins, add_bins, create, finish, is_finished, make_region, read_bin, read_bins, read_plan,
    state,
};
pub use self::files::{RegionState, ShardCheck, StoreFault};
pub use self::part::{ShardFile, StorePart};
pub use self::plan::{StorePlan, StoreSource};

/// The file of the plan, and the folder of the parts.
pub const PLAN: &str = "plan.json";
const PARTS: &str = "parts";
/// The list of the bins.
const BINS: &str = "bins/index.json";

/// The name of the bin of a region, the first of which is 0.
fn bin_name(region: usize) -> String {
    format!("bins/{}.bin", region + 1)
}

/// The name of the part of a region, the first of which is 0.
fn part_name(region: usize) -> String {
    format!("{PARTS}/{}.json", region + 1)
}
