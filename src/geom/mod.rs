//! Numbers only: exact rationals, wide integers, the decisions about triangles and boxes, and winding numbers.
//!
//! Nothing here knows of files or grids. Coordinates are `[x, y, z]`.

pub mod solid_angle;
pub(crate) mod winding;

pub use voxelize_kernel::geom::{
    Bounds, Point, Rational, Ties, Triangle, closest, distance, fractions, orientation, segment_box,
    separation, tri_box, tri_sphere, tri_tri,
};
pub(crate) use voxelize_kernel::geom::{axis, beyond, degenerate, rational};
pub use winding::Winding;
