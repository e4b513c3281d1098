//! Shared support of the suites: the counting harness, blessed files, the command in its own folder, meshes,
//! and the oracle of exact decisions.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod bless;
pub mod check;
pub mod listed;
pub mod meshes;
pub mod oracle;
#[cfg(feature = "textures")]
pub mod picture;
#[cfg(feature = "cli")]
pub mod place;
pub mod random;
#[cfg(feature = "cli")]
pub mod rows;
pub mod rules;
pub mod solids;
pub mod stores;
pub mod suite;
pub mod tables;
pub mod wild;
