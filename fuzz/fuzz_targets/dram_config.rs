//! An ini file that describes a DRAM.

#![no_main]

use simcore::spec::{DramFile, Dramsim3Spec};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dram = Dramsim3Spec {
        config: DramFile {
            path: "fuzz.ini".to_owned(),
            text: String::from_utf8_lossy(bytes).into_owned(),
        },
        path_latency_cycles: 0,
        write_backs: true,
    };
    let _ = dram.facts();
});
