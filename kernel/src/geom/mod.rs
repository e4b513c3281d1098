//! Numbers only: exact rationals, wide integers, and the decisions about triangles and boxes.
//!
//! Nothing here knows of files, grids or threads. Coordinates are `[x, y, z]`.

pub mod axis;
pub mod beyond;
pub mod bounds;
pub mod closest;
pub mod crossing;
pub mod degenerate;
pub mod distance;
pub mod feature;
pub mod fractions;
pub mod orientation;
pub mod rational;
pub mod segment_box;
pub mod separation;
pub mod tri_box;
pub mod tri_sphere;
pub mod tri_tri;
pub(crate) mod vector;
pub mod wide;

pub use bounds::Bounds;
pub use rational::Rational;
pub use tri_box::Ties;

/// One point or vector, `[x, y, z]`.
pub type Point = [f32; 3];

/// Three vertices in the order of the file.
pub type Triangle = [Point; 3];
