//! A trace said to be of the format `gem5-packet`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import("gem5-packet", None, bytes));
