//! Numbers only: exact rationals, wide integers, the decisions about triangles and boxes, and winding numbers.
//!
//! Nothing here knows of files or grids. Coordinates are `[x, y, z]`.

pub mod solid_angle;
pub mod winding;

pub use voxelize_kernel::geom::{
    Bounds, Point, Rational, Ties, Triangle, axis, bounds, crossing, degenerate, rational, segment_box,
    tri_box, wide,
};
pub use winding::Winding;
