//! Kernels of [voxelize](https://crates.io/crates/voxelize-mesh), which make its exact decisions fast. They
//! find the cells that triangles touch, the crossings of rows through cell centres, distances, and sums of
//! solid angles.
//!
//! The kernels are a separate package because they are compiled once for every instruction set. Changes of
//! rules, formats or the command line do not recompile them. This package is an internal part of voxelize
//! without a stable interface. Use the crate `voxelize` instead, which follows semantic versioning.
//!
//! The package `voxelize-geom` defines the decisions in numbers of any size: which cells a triangle touches,
//! and where edges cross walls. The modules here make the same decisions for several triangles or cells at a
//! time, in the lanes of vectors. A result is *sure* or *unsure*, according to error bounds derived in
//! docs/internals/error-bounds.md. Unsure cases are decided with exact numbers.
//!
//! Nothing in this package depends on files, mesh data structures, threads or progress.
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
