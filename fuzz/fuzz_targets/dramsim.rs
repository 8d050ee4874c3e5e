//! A trace said to be of the format `dramsim`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("dramsim", None, bytes));
