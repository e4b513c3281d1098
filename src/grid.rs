//! Where the cells are ([`Lattice`]), what they hold ([`Cells`]: bits, labels or a field), and how they were
//! made ([`Record`]).

#[doc(inline)]
pub use voxelize_core::grid::*;
#[doc(inline)]
pub use voxelize_formats::{InMemory, Voxels};
