//! Runs whose requests DRAMSim3 has also served alone: `tests/oracles/dramsim3_standalone.py` made the reference.

use crate::common::*;
use simcore::spec::{DramFile, Dramsim3Spec, MemorySpec};

const REFERENCE: &str = include_str!("../../../tests/oracles/dramsim3_standalone.csv");
const REQUESTS: u64 = 1000;
const PATH: u32 = 20;

fn preset(name: &str) -> (&'static str, u64) {
    match name {
        "ddr4-3200" => (
            include_str!("../../../configs/dram/ddr4-3200.ini"),
            1_600_000_000,
        ),
        _ => (
            include_str!("../../../configs/dram/hbm2-2000.ini"),
            1_000_000_000,
        ),
    }
}

/// Prefetches from a core that issues one instruction per cycle of the DRAM and has a miss handler for each.
#[test]
fn requests_take_as_long_as_in_dramsim3_alone() {
    for reference in REFERENCE.lines().skip(1) {
        let columns: Vec<&str> = reference.split(',').collect();
        let number = |column: usize| columns[column].parse::<u64>().expect("a number");
        let (text, clock_hz) = preset(columns[0]);
        let (step, longest_gap) = (number(1), number(2));
        let mut spec = in_order();
        spec.clock_hz = clock_hz;
        spec.core.issue_width = 1;
        spec.core.integer_units = 1;
        spec.caches[0].mshrs = Some(REQUESTS as u32);
        spec.dtlb.walk_latency_cycles = 0;
        spec.memory = MemorySpec::Dramsim3(Dramsim3Spec {
            config: DramFile {
                path: columns[0].to_owned(),
                text: text.to_owned(),
            },
            path_latency_cycles: PATH,
            write_backs: true,
        })
        .into();
        let events: Vec<_> = (0..REQUESTS)
            .map(|request| {
                let address = request * step % (1 << 24) * LINE;
                plain(
                    (request * request % longest_gap + 1) as u16,
                    prefetch(address),
                )
            })
            .collect();
        let counts = run(&spec, &events).dram.expect("a DRAM inside");
        let device_cycles = counts.read_latency_cycles - counts.reads * u64::from(PATH);
        let ours = [
            counts.reads,
            counts.read_commands,
            counts.read_row_hits,
            counts.activates,
            device_cycles,
        ];
        assert_eq!(ours, [3, 4, 5, 6, 7].map(number), "{reference}");
        assert_eq!(counts.late_reads, 0);
    }
}
