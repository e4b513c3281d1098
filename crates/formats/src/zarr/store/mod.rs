//! A Zarr folder that is made in independent regions. A plan is written first. Then, for each region, its
//! shards and a part file that lists them are written. The node of the group is written last.
//!
//! | file | content |
//! |---|---|
//! | `plan.json` | the grid, the rule and the mesh of its cells, and the distribution of layers; with its hash |
//! | `L/zarr.json` | the array of level L, written first, so that an incomplete level can be viewed |
//! | `L/c/Z/0/0` | a shard as in [`super`]; if a region has fewer layers of a level than a shard, only its layers |
//! | `parts/I.json` | for region I, from 1 on: the hash of the plan, the hashes of its layers and of its shards, counts, findings; with its hash |
//! | `bins/I.bin` | on request: the triangles that region I can meet, in the order of the mesh and the axes of the grid; each nine `f32`, little endian. If labels stand for parts, then follows a `u32` for each triangle, the number of its part |
//! | `bins/index.json` | the hash of the plan, facts about the whole mesh, the hashes of the bins; with its hash |
//! | `zarr.json` | the group, written last: it completes the store |
//!
//! The number of layers in a region is a multiple of 2^(levels − 1) and of the number of layers in a shard.
//! So a region makes whole shards of every level, and no two processes write the same file. Each file gets
//! its final name when it is complete, and a part file gets it after its shards.

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

/// Name of the file with the plan.
pub const PLAN: &str = "plan.json";

/// Name of the folder of the part files.
const PARTS: &str = "parts";

/// Name of the file with the list of bins.
const BINS: &str = "bins/index.json";

/// Returns the name of a region's bin. The first region has the number 0.
fn bin_name(region: usize) -> String {
    format!("bins/{}.bin", region + 1)
}

/// Returns the name of a region's part file. The first region has the number 0.
fn part_name(region: usize) -> String {
    format!("{PARTS}/{}.json", region + 1)
}
