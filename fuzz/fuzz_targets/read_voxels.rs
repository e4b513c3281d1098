//! See `src/read_voxels.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_voxels::check(bytes));
