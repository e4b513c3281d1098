//! The inner loops: the fast inside of the rules, and the only folder that names SIMD.

#![expect(clippy::needless_range_loop, reason = "several arrays run by one index; iterators hide it")]

mod batch;
pub mod cover;
mod exact;
mod few;
pub mod frame;
mod lanes;
pub mod levels;
mod plane;
mod setup;
pub mod slab;
mod span;
mod table;

pub use cover::{Coverer, Take};
pub use frame::Frame;
pub use levels::Level;
pub use slab::Slab;
