//! See `src/read_indexed.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_indexed::check(bytes));
