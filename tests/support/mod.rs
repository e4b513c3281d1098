//! What the suites share: the harness that counts, files that are blessed, the command in a folder of its own,
//! meshes, and the oracle of exact decisions.

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
pub mod rules;
pub mod solids;
pub mod stores;
pub mod suite;
pub mod wild;
