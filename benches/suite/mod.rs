//! Shared parts of the benchmarks.

#![allow(dead_code, reason = "each benchmark uses a part")]

pub mod args;
pub mod kernel;
pub mod meshes;
pub mod process;
pub mod table;
pub mod timing;
#[cfg(feature = "cli")]
pub mod tool;
