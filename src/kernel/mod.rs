//! The inner loops: the fast inside of the rules, and the only folder that names SIMD.

pub mod frame;
pub mod levels;

pub use levels::Level;
