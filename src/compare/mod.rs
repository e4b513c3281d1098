//! Grids beside each other: where their cells are ([`lattices`]), and which of them differ
//! ([`Difference`]).

pub mod diff;
pub mod lattice;

pub use diff::{Difference, parts};
pub use lattice::{Mismatch, lattices};
