//! Where the cells are ([`Lattice`]), what they hold ([`Cells`]: bits, labels or a field), and how they were
//! made ([`Record`]).

pub(crate) mod arrays;
pub(crate) mod bits;
pub(crate) mod cells;
pub(crate) mod components;
pub(crate) mod digest;
pub(crate) mod erode;
pub(crate) mod field;
mod find;
pub(crate) mod fit;
pub(crate) mod flood;
pub(crate) mod labels;
pub(crate) mod lattice;
pub(crate) mod legend;
mod length;
pub mod metadata;
#[cfg(feature = "ndarray")]
mod ndarray;
mod pieces;
pub(crate) mod prefix;
pub mod record;
pub(crate) mod source;
pub(crate) mod spread;
pub(crate) mod voxels;

pub use crate::geom::axis::Snap;
pub(crate) use crate::geom::axis::{self};
pub use arrays::{CellArray, Quantities, Quantity};
pub use bits::BitGrid;
pub use cells::{CellKind, CellType, Cells, CellsMut, CellsRef};
pub use digest::{BytesHasher, Digest, DigestBuilder, Hash, LayerHash, layer_hashes};
pub use field::{Field, FieldSummary};
pub use fit::{Fit, Size};
pub use labels::Labels;
pub use lattice::{AXES, Lattice, MAX_DIM};
pub use legend::{Label, LabelDigest, Legend};
pub use length::{Length, LengthUnit};
pub use pieces::{CountedPieces, PieceCounts};
pub use record::Record;
pub use source::{CellSource, InMemory, Slab};
pub use voxels::Voxels;
