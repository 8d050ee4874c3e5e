//! A trace file of memwalk's own.

#![no_main]

use std::io::Write;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("a temporary file takes bytes");
    let _ = traces::store::check(file.path());
});
