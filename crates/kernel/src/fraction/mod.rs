//! Shares of cells that are inside a mesh, exact up to rounding.
//!
//! Triangles are cut in lanes by the walls of the lattice along z, then y (`bands`), and then x (`pieces`).
//! Lists between these steps keep the lanes full (`lists`). Each piece adds two integrals to its cell
//! (`cut_cells`), in whole units of 2^-44, so that the order of triangles does not change a sum. Along a row
//! of cells, from the low side, the divergence theorem turns the sums into the share of each cell (`rows`).
//! docs/internals/error-bounds.md bounds the error. Cells in which parts of the mesh overlap are found and computed one
//! by one (`unite`, `union`). Quantities besides the shares come from pieces that are cut one by one
//! (`cutter`, `clip`, `quantities`).

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
