//! Shares of cells that are inside a mesh, exact but for rounding.
//!
//! Triangles are cut by the walls of the lattice: z, then y, then x (`clip`). Each piece adds two integrals to its
//! cell, in whole units of 2^-44, so that no order of triangles changes a sum (`sums`). Along a row of cells, from
//! the low side, the divergence theorem makes of them the share of each cell. docs/error-bounds.md bounds the error.

mod bricks;
mod clip;
mod place;
mod quantities;
mod sums;
mod units;

pub use place::{LAYERS, LayerBins};
pub use quantities::Quantity;
pub use sums::{LayerSums, OddCells};
