//! Where the cells are ([`Lattice`]), what they hold ([`Cells`]: bits, labels or a field), and how they were
//! made ([`Record`]).

pub mod bits;
pub mod cells;
pub mod digest;
pub mod erode;
mod far;
pub mod field;
pub mod fit;
pub mod flood;
pub mod labels;
pub mod lattice;
pub mod legend;
pub mod metadata;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod prefix;
pub mod record;
pub mod source;
pub(crate) mod spread;
pub mod voxels;

pub use crate::geom::axis::{self, AxisMap, Snap};
pub use bits::BitGrid;
pub use cells::{CellKind, CellType, Cells, CellsRef};
pub use digest::{Digest, DigestBuilder, Hash};
pub use field::{Field, FieldSummary};
pub use fit::{Fit, Size};
pub use labels::Labels;
pub use lattice::Lattice;
pub use legend::{Label, LabelDigest, Legend};
pub use record::Record;
pub use source::{CellSource, InMemory, Slab};
pub use voxels::Voxels;
