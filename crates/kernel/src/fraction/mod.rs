//! Shares of cells that are inside a mesh. They are exact up to rounding.
//!
//! Triangles are cut by the walls of the lattice along z, then y (`bands`), and then x (`pieces`), several
//! triangles at a time. Between these steps parts wait in lists, which keep the lanes of vectors full
//! (`lists`). Each piece adds two integrals to its cell (`cut_cells`). They are whole multiples of 2^-44, so
//! that the order of triangles does not change a sum. By the divergence theorem, the share of each cell
//! follows from the sums of the cells before it in its row (`rows`). The error is bounded in
//! docs/internals/error-bounds.md. Cells in which parts of the mesh overlap are computed individually
//! (`unite`, `union`). Other quantities than shares are computed from pieces that are cut one by one
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
