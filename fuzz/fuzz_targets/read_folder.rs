//! See `src/read_folder.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_folder::check(bytes));
