//! See `src/read_goldens.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_goldens::check(bytes));
