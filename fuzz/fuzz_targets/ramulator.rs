//! A trace said to be of the format `ramulator`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("ramulator", None, bytes));
