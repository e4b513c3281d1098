//! Integration tests with the standard harness, in one binary with a module per subject.
//!
//! `cargo test --test it SUBJECT::` runs one of them.

#[path = "../support/mod.rs"]
mod support;

mod clearance;
mod definition;
mod exact_properties;
mod findings;
mod fixtures;
mod formats;
mod layers;
mod reading;
mod regions;
mod regressions;
mod repair;
mod stores;

#[cfg(feature = "cli")]
mod amounts;
#[cfg(feature = "cli")]
mod check;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod colours;
#[cfg(feature = "cli")]
mod contents;
#[cfg(feature = "cli")]
mod convert;
#[cfg(feature = "cli")]
mod diff;
#[cfg(feature = "cli")]
mod doubt;
#[cfg(feature = "cli")]
mod fields;
#[cfg(feature = "cli")]
mod frames;
#[cfg(feature = "cli")]
mod fuzzing;
#[cfg(feature = "cli")]
mod holes;
#[cfg(feature = "cli")]
mod info;
#[cfg(feature = "cli")]
mod label_fields;
#[cfg(feature = "cli")]
mod labels;
#[cfg(feature = "cli")]
mod levels;
#[cfg(feature = "cli")]
mod library;
#[cfg(feature = "cli")]
mod like;
#[cfg(feature = "cli")]
mod many;
#[cfg(all(unix, feature = "cli"))]
mod names;
#[cfg(feature = "cli")]
mod numbers;
#[cfg(feature = "cli")]
mod odd_meshes;
#[cfg(feature = "cli")]
mod part_colours;
#[cfg(feature = "cli")]
mod poses;
#[cfg(feature = "cli")]
mod readme;
#[cfg(feature = "cli")]
mod region_commands;
#[cfg(feature = "cli")]
mod safe;
#[cfg(feature = "cli")]
mod sides;
#[cfg(all(feature = "cli", feature = "3mf"))]
mod slicers;
#[cfg(feature = "cli")]
mod textures;
#[cfg(feature = "cli")]
mod thin;
#[cfg(all(unix, feature = "cli"))]
mod transcripts;
#[cfg(feature = "cli")]
mod transform;
#[cfg(feature = "cli")]
mod verify;
#[cfg(feature = "cli")]
mod view;
#[cfg(feature = "cli")]
mod walls;
