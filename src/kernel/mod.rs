//! The inner loops: the fast inside of the rules, and the only folder that names SIMD.

#![expect(clippy::needless_range_loop, reason = "several arrays run by one index; iterators hide it")]

pub mod angles;
mod batch;
pub mod bricks;
pub mod cover;
pub mod crossings;
mod exact;
mod few;
pub mod frame;
mod gather;
mod lanes;
pub mod levels;
mod plane;
mod queue;
mod rows;
mod setup;
mod small;
mod span;
mod table;
pub mod target;
mod tiny;

pub use bricks::Full;
pub use cover::Coverer;
pub use frame::Frame;
pub use levels::Level;
pub use target::{Shape, Target};
