//! Any file whose format is to be recognized.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("auto", None, bytes));
