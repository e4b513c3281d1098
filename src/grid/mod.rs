//! Where the cells are ([`Lattice`]), what is in them ([`BitGrid`]), and what is said about them.

pub mod bits;
pub mod digest;
pub mod erode;
mod far;
pub mod fit;
pub mod flood;
pub mod lattice;
pub mod layers;
pub mod metadata;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod parts;
pub mod prefix;
pub mod record;
pub mod voxels;

pub use crate::geom::axis::{self, AxisMap, Snap};
pub use bits::BitGrid;
pub use digest::{Digest, Digester, Hash};
pub use fit::{Fit, Size};
pub use lattice::Lattice;
pub use layers::{Layers, Whole, Window};
pub use parts::{Part, Sort};
pub use record::Record;
pub use voxels::Voxels;
