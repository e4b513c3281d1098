//! See `src/read_3mf.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_3mf::check(bytes));
