//! See `src/kernels.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::kernels::check(bytes));
