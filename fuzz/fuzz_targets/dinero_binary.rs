//! A trace said to be of the format `dinero-binary`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("dinero-binary", None, bytes));
