//! The tests under the usual harness, in one binary: a module for each subject.

#[path = "../support/mod.rs"]
mod support;

#[cfg(all(unix, feature = "cli"))]
mod transcripts;
