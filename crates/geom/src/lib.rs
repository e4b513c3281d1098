//! Exact numbers of [voxelize](https://crates.io/crates/voxelize-mesh) and the geometric decisions that its
//! kernels fall back on: rationals and wide integers, the lattice along an axis, distances, and triangles
//! against boxes, lines and spheres.
//!
//! This package is an internal part of voxelize without a stable interface. Use it through the crate
//! `voxelize`, which follows semantic versioning. Decisions that no kernel needs are in the module `geom` of
//! that crate, so that a change of them does not recompile the kernels.
//!
//! Nothing here knows of files, grids, threads or lanes. Coordinates are `[x, y, z]`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod axis;
pub mod bounds;
pub mod crossing;
pub mod degenerate;
pub mod distance;
pub mod feature;
pub mod morton;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
pub mod rational;
pub mod text;
pub mod tri_box;
pub mod tri_sphere;
pub mod vector;
pub mod wide;

pub use bounds::Bounds;
pub use rational::Rational;
pub use tri_box::Ties;

/// Point or vector, `[x, y, z]`.
pub type Point = [f32; 3];

/// Three vertices in the order of the file.
pub type Triangle = [Point; 3];
