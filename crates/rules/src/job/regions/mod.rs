//! A grid can be divided into regions that separate processes make. Each region can be restarted, and the
//! digest of the whole grid is computed from the hashes of its regions.
//!
//! A plan specifies everything that affects the cells. A region is a range of layers. A process reads the
//! mesh, makes the cells of these layers, and writes them as whole shards of a Zarr folder. It also writes a
//! *part*, a file that lists the hashes of the shards and layers. The hashes in all parts give the same
//! digest that a single process would compute.
//!
//! A plan may store the triangles of each region in a *bin*. A process then reads the bin instead
//! of the mesh.

mod bins;
mod hash;
mod maker;
mod mesh;
mod plan;
mod share;
mod source;
mod store;

pub use self::bins::RegionBins;
pub use self::maker::RegionMaker;
pub use self::plan::{RegionPlan, RegionRequest};
pub use self::source::RegionMesh;
pub use self::store::{RegionStore, StoreReport};
pub use voxelize_formats::zarr::store::{
    RegionState, ShardCheck, ShardFile, StoreBins, StoreFault, StorePart, StorePlan, StoreSource,
};
