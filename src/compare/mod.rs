//! Comparing: lists of golden results, and their reports.

pub mod goldens;
pub mod junit;
