//! Numbers only: exact rationals, wide integers, the decisions about triangles and boxes, and winding numbers.
//!
//! The package `voxelize-geom` has the numbers and the decisions that kernels come back to, this module those that no
//! kernel needs. Nothing here knows of files or grids. Coordinates are `[x, y, z]`.

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
