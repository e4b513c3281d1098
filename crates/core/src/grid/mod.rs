//! Grids: the position of cells in space ([`Lattice`]), their contents ([`Cells`]: bits, labels or a field),
//! and the record of how they were made ([`Record`]).

pub(crate) mod arrays;
pub mod bits;
pub(crate) mod cells;
pub mod components;
pub(crate) mod digest;
pub mod erode;
pub mod field;
mod find;
pub(crate) mod fit;
pub mod flood;
pub mod frame;
pub mod labels;
pub mod lattice;
pub(crate) mod legend;
mod length;
pub mod metadata;
#[cfg(feature = "ndarray")]
mod ndarray;
mod pieces;
pub mod prefix;
pub mod record;
pub(crate) mod source;
pub mod spread;

pub use crate::geom::axis::{self, Snap};
pub use arrays::{ArrayContent, CellArray, Quantities, Quantity};
pub use bits::BitGrid;
pub use cells::{CellKind, CellType, Cells, CellsMut, CellsRef};
pub use digest::{BytesHasher, Digest, DigestBuilder, Hash, LayerHash, layer_hashes};
pub use field::{Field, FieldSummary};
pub use fit::{Fit, Size};
pub use frame::ScanFrame;
pub use labels::Labels;
pub use lattice::{AXES, Lattice, MAX_DIM};
pub use legend::{Label, LabelDigest, Legend};
pub use length::{Length, LengthUnit};
pub use pieces::{CountedPieces, PieceCounts};
pub use record::Record;
pub use source::{CellSource, Slab};
