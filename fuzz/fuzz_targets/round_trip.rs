//! See `src/round_trip.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::round_trip::check(bytes));
