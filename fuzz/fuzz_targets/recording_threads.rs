//! Recordings of three threads of one program.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memwalk_fuzz::import_threads("recording", b"memwalk recording 1\n\0\0\0\0", bytes));
