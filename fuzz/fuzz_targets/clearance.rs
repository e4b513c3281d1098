//! See `src/clearance.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::clearance::check(bytes));
