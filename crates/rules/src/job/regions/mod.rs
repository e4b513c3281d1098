//! Regions of a grid that processes make alone, each restartable, and the digest of the whole from their parts.
//!
//! A plan decides all that decides cells, once. A region is some of its layers: a process reads the mesh, makes the cells of
//! these layers, and writes them as whole shards of a folder of Zarr, with a part that lists their hashes. The hashes of
//! layers of all parts give the digest that one process would have found.
//!
//! A plan may put the triangles of each region in a *bin*. Then a process reads those in place of the mesh.

mod bins;
mod hash;
mod maker;
mod mesh;
mod plan;
mod share;
mod store;

pub use self::bins::RegionBins;
pub use self::maker::RegionMaker;
pub use self::plan::{RegionPlan, RegionRequest};
pub use self::store::{RegionStore, StoreReport};
pub use voxelize_formats::zarr::store::{
    RegionState, ShardCheck, ShardFile, StoreBins, StoreFault, StorePart, StorePlan, StoreSource,
};
