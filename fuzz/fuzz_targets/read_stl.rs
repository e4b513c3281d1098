//! See `src/read_stl.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_stl::check(bytes));
