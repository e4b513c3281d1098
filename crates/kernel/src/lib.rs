//! Kernels of [voxelize](https://crates.io/crates/voxelize-mesh), which make its exact decisions fast:
//! triangles into bricks of cells, rows through cell centres, distances, and solid angles in batches.
//!
//! The kernels are a package of their own because they are compiled for every instruction set. Changes of
//! rules, formats or the command line do not recompile them. This package is an internal part of voxelize
//! without a stable interface. Use it through the crate `voxelize`, which follows semantic versioning.
//!
//! The package `voxelize-geom` has the definitions in numbers of any size: which cells a triangle touches,
//! and where edges cross walls. The modules here answer the same questions in lanes, either *sure* or
//! *unsure*, within error bounds derived in docs/internals/error-bounds.md. Unsure cases go to exact numbers.
//!
//! Nothing here knows of files, meshes, threads or progress.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![expect(
    clippy::needless_range_loop,
    reason = "several arrays run by one index; iterators hide it"
)]

pub mod angles;
pub mod apart;
mod batch;
mod bits;
pub mod bricks;
mod cover;
mod crosses;
pub mod crossings;
pub mod distance;
pub mod edge_sums;
mod exact;
pub mod fans;
mod few;
mod flat;
pub mod fraction;
mod gather;
mod lanes;
mod lattice;
mod levels;
mod marks;
pub mod memory;
pub mod offset;
mod plane;
mod queue;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
mod rows;
pub mod seen;
mod setup;
pub mod sink;
mod small;
mod span;
mod table;
mod tiny;
mod wall;

pub use bits::bits_of;
pub use cover::Coverer;
pub use crosses::CrossCoverer;
pub use lattice::{KernelLattice, across};
pub use levels::Level;
pub use sink::{BrickSink, Shape, ThreadBricks};
pub use wall::cells_beside_wall;

pub(crate) use voxelize_geom as geom;
