//! What the suites share.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod bless;
pub mod solids;
pub mod wild;
