//! Exact rationals, wide integers, predicates on triangles and boxes, and winding numbers.
//!
//! The package `voxelize-geom` contains the numbers and predicates that kernels use. This module re-exports
//! them and adds the others. It does not depend on files or grids. Coordinates are `[x, y, z]`.

pub mod beyond;
pub mod closest;
pub mod degrees;
pub mod forest;
pub mod fractions;
pub mod orientation;
pub mod segment_box;
pub mod separation;
pub mod solid_angle;
pub mod tri_tri;
pub mod winding;

pub use voxelize_geom::{Bounds, Point, Rational, Ties, Triangle, distance, tri_box, tri_sphere};
pub use voxelize_geom::{axis, degenerate, morton, rational, vector, wide};
pub use winding::Winding;
