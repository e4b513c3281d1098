//! See `src/read_gltf.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::read_gltf::check(bytes));
