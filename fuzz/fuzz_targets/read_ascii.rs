//! See `src/read_ascii.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_ascii::check(bytes));
