//! Foundation of all voxelize packages: [errors](error), [threads](par), [exact predicates](geom), and
//! [lattices and cells](grid).
//!
//! Programs should depend on the package `voxelize-mesh`, which re-exports the public API of this package.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod error;
pub mod geom;
pub mod grid;
pub mod par;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
pub mod text;

#[cfg(feature = "ndarray")]
pub use ::ndarray;
pub use error::{CODES, Code, Error, Finding, Hint, Kind, Result, Severity};
pub use geom::{Bounds, Rational, Ties};
pub use grid::record::TOOL;
pub use grid::{
    BitGrid, Cells, Digest, Field, Fit, Labels, Lattice, Length, LengthUnit, Record, Size, Snap,
};
pub use par::{CancelToken, Progress};
pub use voxelize_kernel::Level;
