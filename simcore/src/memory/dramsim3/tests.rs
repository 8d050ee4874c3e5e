use super::*;
use crate::spec::DramFile;
use proptest::prelude::*;

const DDR4: &str = include_str!("../../../../configs/dram/ddr4-3200.ini");
const HBM2: &str = include_str!("../../../../configs/dram/hbm2-2000.ini");
const LINE_BYTES: u64 = 64;

/// An idle DRAM behind a core with a clock of its own.
fn memory(text: &str, clock_hz: u64) -> DramMemory {
    let spec = Dramsim3Spec {
        config: DramFile {
            path: "dram.ini".to_owned(),
            text: text.to_owned(),
        },
        path_latency_cycles: 0,
        write_backs: true,
    };
    DramMemory::new(&spec, clock_hz, LINE_BYTES).expect("a preset")
}

/// When each read is there, by what was asked for: time since the one before, address, whether to write.
fn completions(memory: &mut DramMemory, requests: &[(u64, u64, bool)]) -> Vec<u64> {
    let mut time = 0;
    let mut reads = Vec::new();
    for &(pause, address, write) in requests {
        time += pause;
        if write {
            memory.write(address, time, time);
        } else {
            let read = memory.read(address, time, time);
            reads.push(memory.wait(read));
            time = time.max(*reads.last().expect("just pushed"));
        }
    }
    memory.drain();
    reads
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn idle_time_left_out_changes_no_time(
        hbm2: bool,
        simultaneous: bool,
        pauses in prop::collection::vec((0_u64..200_000, 0_u64..1 << 14, any::<bool>()), 3..6),
    ) {
        let preset = if hbm2 { HBM2 } else { DDR4 };
        let policy = if simultaneous { "SIMULTANEOUS" } else { "STAGGERED" };
        let text = preset.replace("STAGGERED", policy);
        let requests: Vec<_> = pauses
            .iter()
            .map(|&(pause, line, write)| (pause, line * 4099 * LINE_BYTES, write))
            .collect();
        let mut quick = memory(&text, 1_600_000_000);
        let mut full = memory(&text, 1_600_000_000);
        full.geometry.idle_repeats = false;
        let expected = completions(&mut full, &requests);
        prop_assert_eq!(completions(&mut quick, &requests), expected);
        prop_assert!(quick.device.clock() <= full.device.clock());
    }
}

#[test]
fn a_long_pause_is_left_out() {
    let mut memory = memory(DDR4, 1_600_000_000);
    let second = 1_600_000_000;
    let unloaded = memory.geometry.unloaded_cycles;
    let hour = 3_600 * second;
    let after = completions(&mut memory, &[(1, 0, false), (hour, 0, false)]);
    // A refresh may be going on when the second comes.
    let latency = after[1] - after[0] - hour;
    assert!((unloaded..unloaded + 700).contains(&latency), "{latency}");
    assert!(memory.device.clock() < 1_000_000);
}

#[test]
fn a_late_read_takes_its_own_time_and_moves_the_clock() {
    // Two reads of different banks, the second found when the first had been waited for.
    let mut memory = memory(DDR4, 1_600_000_000);
    let unloaded = memory.geometry.unloaded_cycles;
    let first = memory.read(0, 100, 100);
    assert_eq!(memory.wait(first), 100 + unloaded);
    let second = memory.read(LINE_BYTES, 101, 100);
    assert_eq!(
        memory.wait(second),
        100 + unloaded + memory.geometry.burst_cycles,
        "its burst follows the first"
    );
    assert_eq!(memory.counts.late_reads, 1);
    assert_eq!(memory.counts.late_dram_cycles, unloaded);
    let third = memory.read(2 * LINE_BYTES, 1000, 1000);
    assert_eq!(memory.wait(third), 1000 + unloaded);
    assert_eq!(
        memory.counts.late_reads, 1,
        "the clock has gone with the second"
    );
}

#[test]
fn deferred_reads_become_known_when_the_clock_gets_there() {
    let mut memory = memory(DDR4, 1_600_000_000);
    let reads = [0, 1].map(|line| memory.read(line * LINE_BYTES, 10, 10));
    assert_eq!(reads.map(|read| memory.known(read)), [None; 2]);
    assert!(!memory.advance(20), "neither can be there that early");
    assert!(memory.advance(1000));
    assert!(memory.known(reads[0]).is_some() && memory.known(reads[1]).is_none());
    memory.drain();
    assert!(memory.known(reads[1]).is_some());
    memory.read(0, 5000, 5000);
    assert_eq!(
        memory.known(reads[0]),
        Some(0),
        "so long ago that nobody asks when"
    );
}

/// Reads of a hundred rows of one bank fill their channel's controller, and it has no room for most of them.
#[test]
fn a_full_controller_holds_up_no_other_channel() {
    let mut memory = memory(HBM2, 1_000_000_000);
    let (row, channel) = (1 << 20, LINE_BYTES);
    for number in 0..100 {
        memory.read(number * row, 10, 10);
    }
    let idle = memory.read(channel, 300, 300);
    assert_eq!(
        memory.wait(idle),
        300 + memory.geometry.unloaded_cycles,
        "nobody has asked this channel"
    );
}

/// A read of the other rank may follow a write at once, as with DRAMSim3's own DDR4-3200: nothing is waited for.
#[test]
fn a_read_whose_wait_for_a_write_is_negative_does_not_wait() {
    let took = |turn: &str| {
        let text = DDR4.replace("tRTRS = 2", turn);
        let mut memory = memory(&text, 1_600_000_000);
        let other_rank = 8 << 30;
        let requests = [(10, 0, true), (60, other_rank, false), (0, 0, false)];
        completions(&mut memory, &requests)
    };
    let (shorter, ours) = (took("tRTRS = 1"), took("tRTRS = 2"));
    assert!(
        shorter[0] <= ours[0] && shorter[1] <= ours[1],
        "{shorter:?} {ours:?}"
    );
}

#[test]
fn the_later_of_two_times_is_known_when_both_are() {
    let mut memory = memory(DDR4, 1_600_000_000);
    let reads = [0, 1, 2].map(|line| memory.read(line << 24, 0, 0));
    let both = memory.later([reads[0], reads[1]]);
    let all = memory.later([both, reads[2]]);
    let with_known = memory.later([5_000, reads[0]]);
    assert_eq!(memory.known(both), None);
    let ends = reads.map(|read| memory.wait(read));
    assert_eq!(memory.known(both), Some(ends[0].max(ends[1])));
    assert_eq!(memory.known(all), ends.into_iter().max());
    assert_eq!(memory.known(with_known), Some(5_000));
    assert_eq!(memory.later([reads[1], 3]), ends[1]);
}
