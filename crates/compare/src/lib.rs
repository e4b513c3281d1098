//! Comparisons. Grids: positions of cells ([`lattices`]) and differences of cells ([`Difference`],
//! [`FieldDifference`]). Lists of golden results ([`Goldens`]) and the outcome of a case ([`CaseResult`]).
//! Meshes: defects ([`check`]), and distances and collisions ([`clearance`]).
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod check;
mod check_cells;
pub mod clearance;
pub(crate) mod depth;
pub mod diff;
pub(crate) mod field;
#[cfg(feature = "goldens")]
pub(crate) mod goldens;
pub(crate) mod lattice;
#[cfg(feature = "goldens")]
pub mod outcome;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;

pub use depth::{Deepest, DepthFrom, DifferenceDepth};
pub use diff::Difference;
pub use field::{FieldDifference, LargestDifference};
#[cfg(feature = "goldens")]
pub use goldens::{Case, CaseOption, CaseOptions, Gate, Golden, Goldens};
pub use lattice::{
    BoxSize, Mismatch, confused_factor, differ_by_factor, differ_by_rounding, grids, lattices,
};
#[cfg(feature = "goldens")]
pub use outcome::CaseResult;

/// Re-exports for the doc examples of this package, under the paths that `voxelize-mesh` has.
#[doc(hidden)]
pub mod voxelize {
    pub use crate as compare;
    pub use voxelize_rules::*;
}
