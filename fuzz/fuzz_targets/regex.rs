//! A pattern in the first line and the text for it in the others.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let pattern = parts.next().map(String::from_utf8_lossy);
    let text = parts.next().unwrap_or_default();
    memwalk_fuzz::import("regex", pattern.as_deref(), text);
});
