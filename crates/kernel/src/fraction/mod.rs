//! Shares of cells that are inside a mesh, exact but for rounding.
//!
//! Triangles are cut by the walls of the lattice, z, then y (`bands`), and then x (`pieces`), in lanes; lists are between
//! these steps, so that lanes are full (`lists`). Each piece adds two integrals to its cell (`cut_cells`), in whole units
//! of 2^-44, so that no order of triangles changes a sum. Along a row of cells, from the low side, the divergence theorem
//! makes of them the share of each cell (`rows`). docs/error-bounds.md bounds the error. Cells in which
//! parts of the mesh overlap are found and computed one by one (`unite`, `union`). Numbers beside the shares come
//! from pieces that are cut one by one (`cutter`, `clip`, `quantities`).

mod bands;
mod bricks;
mod clip;
mod cut_cells;
mod cutter;
mod enter;
mod lists;
mod pieces;
mod place;
mod quantities;
mod rows;
mod sums;
mod union;
mod unite;
mod units;

pub use place::{LAYERS, LayerBins};
pub use quantities::Quantity;
pub use rows::OddCells;
pub use sums::LayerSums;
pub use union::may_overlap_itself;
pub use unite::{NO_PART, OVERLAPS_ITSELF, UnitedCells, crossing_along_x};
