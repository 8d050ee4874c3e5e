//! A trace said to be of the format `recording`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("recording", None, bytes));
