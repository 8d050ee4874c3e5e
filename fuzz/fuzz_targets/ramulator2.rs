//! A trace said to be of the format `ramulator2`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("ramulator2", None, bytes));
