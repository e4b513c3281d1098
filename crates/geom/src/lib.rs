//! Exact numbers and geometric predicates of [voxelize](https://crates.io/crates/voxelize-mesh), which its
//! kernels call where rounded numbers cannot decide. The package has rationals and wide integers, the axes of
//! a lattice, distances, and tests of triangles with boxes, lines and spheres.
//!
//! This package is an internal part of voxelize and has no stable interface. Use it through the crate
//! `voxelize`, which follows semantic versioning. Predicates that no kernel needs are in the module `geom` of
//! that crate, so that changing them does not recompile the kernels.
//!
//! This package does not depend on files, grids, threads or SIMD. Coordinates are `[x, y, z]`.
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

/// Triangle, given by its three vertices in the order of the file.
pub type Triangle = [Point; 3];
