//! Grids beside each other: where their cells are ([`lattices`]), and which of them differ
//! ([`Difference`]); lists of golden results ([`goldens`]) and reports ([`junit`]).

pub mod diff;
pub mod goldens;
pub mod junit;
pub mod lattice;

pub use diff::{Difference, parts};
pub use goldens::{Case, Gate, Golden, Goldens};
pub use lattice::{Mismatch, lattices};
