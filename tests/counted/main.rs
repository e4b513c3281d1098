//! Suites that print their counts, in one binary with their own harness. Zero counts fail.
//!
//! `cargo test --test counted SUITE` runs one of them, `cargo test --test counted SUITE::CHECK` one check.

#[path = "../support/mod.rs"]
mod support;

mod crosses;
mod distance;
mod exact;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod faults;
mod fraction;
mod golden;
#[cfg(feature = "cli")]
mod invariance;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod memory;
mod offset;
mod segments;
mod separation;
mod solid;
mod stores;
mod tri_tri;
mod worlds;

use std::process::ExitCode;

use support::suite::{self, Suite};

const SUITES: &[Suite] = &[
    exact::SUITE,
    worlds::SUITE,
    solid::SUITE,
    #[cfg(feature = "cli")]
    invariance::SUITE,
    golden::SUITE,
    separation::SUITE,
    crosses::SUITE,
    offset::SUITE,
    distance::SUITE,
    fraction::SUITE,
    segments::SUITE,
    stores::SUITE,
    tri_tri::SUITE,
    #[cfg(all(target_os = "linux", feature = "cli"))]
    faults::SUITE,
    #[cfg(all(target_os = "linux", feature = "cli"))]
    memory::SUITE,
];

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", feature = "cli"))]
    if let Some(code) = memory::measured_here() {
        return code;
    }
    suite::main(SUITES)
}
