//! gem5's elastic trace, read back and checked as `TraceCPU` reads it.

use super::events::{events, lines, sample};
use super::files::{Case, export};
use proptest::prelude::*;
use std::collections::HashSet;
use traces::export::{CODE_BASE, Format};
use traces::gem5::{
    InstDepRecord, InstDepRecordHeader, MessageReader, Packet, PacketHeader, RecordType,
};
use traces::{Event, Kind};

const LOAD: i32 = RecordType::Load as i32;
const STORE: i32 = RecordType::Store as i32;
const COMP: i32 = RecordType::Comp as i32;

fn records(case: &Case) -> (u32, Vec<InstDepRecord>) {
    let mut reader = MessageReader::open(&case.summary.files[1]).unwrap();
    let header: InstDepRecordHeader = reader.read().unwrap().unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        records.push(record);
    }
    (header.window_size, records)
}

fn fetches(case: &Case) -> Vec<Packet> {
    let mut reader = MessageReader::open(&case.summary.files[0]).unwrap();
    reader.read::<PacketHeader>().unwrap().unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.read().unwrap() {
        packets.push(packet);
    }
    packets
}

#[test]
fn a_search_step_is_worked_out_by_hand() {
    let case = export(Format::Gem5Elastic, "t", &sample()).unwrap();
    let (_, all) = records(&case);
    let shown: Vec<_> = all[..8]
        .iter()
        .map(|r| {
            let deps = (r.rob_dep.as_slice(), r.reg_dep.as_slice());
            (r.seq_num, r.r#type, r.p_addr, r.comp_delay, deps, r.weight)
        })
        .collect();
    let none: &[u64] = &[];
    let expected = [
        // The prefetch, for which nobody waits.
        (1, LOAD, Some(0x1_0000_0040), 0, (none, none), None),
        // Three plain instructions on two units after 1/4 cycle: 1.75 cycles, so one whole one of 500 ps.
        (2, COMP, None, 500, (none, none), Some(2)),
        (3, LOAD, Some(0x1_0000_0000), 0, (&[2][..], none), None),
        // One more plain instruction, half a cycle after those: 2.25 cycles. The load was dispatched beside them.
        (4, COMP, None, 500, (&[2][..], none), None),
        // The branch: one cycle of chain, one of its own.
        (5, COMP, None, 1000, (&[4][..], &[3][..]), None),
        // The load of 8 bytes over two lines, two cycles after the first load.
        (
            6,
            LOAD,
            Some(0x1_0000_007c),
            1000,
            (&[4][..], &[3][..]),
            None,
        ),
        (
            7,
            LOAD,
            Some(0x1_0000_0080),
            1000,
            (&[4][..], &[3][..]),
            None,
        ),
        // Its branch waits for both.
        (8, COMP, None, 500, (&[4][..], &[6, 7][..]), None),
    ];
    assert_eq!(shown, expected);
    // Division: 20 cycles.
    assert_eq!(
        (all[8].comp_delay, all[8].reg_dep.as_slice()),
        (20 * 500, &[6, 7][..])
    );
    // The copy of four words over two lines waits for the division, and for the load before it in order.
    let plain: Vec<_> = all[9..14]
        .iter()
        .map(|r| (r.weight, &r.rob_dep[..]))
        .collect();
    let sixteen = Some(15);
    let fronts: [&[u64]; 5] = [&[4], &[10], &[11], &[12], &[13]];
    let weights = [sixteen, sixteen, sixteen, sixteen, Some(5)];
    assert_eq!(plain, weights.into_iter().zip(fronts).collect::<Vec<_>>());
    assert_eq!(all[14].rob_dep, [14, 6, 7]);
    assert_eq!(all[14].reg_dep, [9]);
    assert_eq!((all[14].weight, all[15].weight), (Some(2), None));
    // One word each.
    assert_eq!((all[14].size, all[15].size), (Some(4), Some(4)));
}

#[test]
fn no_record_of_a_store_of_words_fills_a_line() {
    let line = Event {
        size: 64,
        words: 8,
        ..Event::new(Kind::Store, 0x1000)
    };
    let whole = Event { words: 1, ..line };
    let (_, all) = records(&export(Format::Gem5Elastic, "t", &[line, whole]).unwrap());
    let sizes: Vec<_> = all.iter().map(|r| (r.size, r.weight)).collect();
    assert_eq!(sizes, [(Some(8), Some(7)), (Some(64), None)]);
}

/// Two plain instructions take the two units a cycle, in which the front end also dispatches the load between.
#[test]
fn plain_instructions_execute_while_others_are_dispatched() {
    let load = Event {
        instructions: 2,
        ..Event::new(Kind::Load, 0x1000)
    };
    let (_, all) = records(&export(Format::Gem5Elastic, "t", &[load; 8]).unwrap());
    let front = all.iter().filter(|r| r.r#type == COMP);
    assert_eq!(front.map(|r| r.comp_delay).sum::<u64>(), 8 * 500);
}

/// 100 loads of which each needs the one before, and then a plain instruction: half a cycle after a full reorder buffer, 32
/// instructions at four per cycle.
#[test]
fn what_has_left_the_reorder_buffer_does_not_delay_the_front_end() {
    let load = Event {
        dep: 1,
        ..Event::new(Kind::Load, 0x1000)
    };
    let last = Event {
        instructions: 1,
        ..load
    };
    let mut events = vec![load; 101];
    events[0].dep = 0;
    events[100] = last;
    let (_, all) = records(&export(Format::Gem5Elastic, "t", &events).unwrap());
    assert_eq!((all[100].r#type, all[100].comp_delay), (COMP, 8 * 500));
}

#[test]
fn without_fetches_the_paired_trace_is_a_tiny_loop() {
    let packets = fetches(&export(Format::Gem5Elastic, "t", &sample()).unwrap());
    assert_eq!(packets.len(), 16);
    let lines: HashSet<u64> = packets.iter().map(|packet| packet.addr).collect();
    assert_eq!(lines, HashSet::from([CODE_BASE, CODE_BASE + 64]));
    assert!(
        packets
            .iter()
            .all(|packet| (packet.cmd, packet.flags, packet.size) == (1, Some(0x100), 64))
    );
}

#[test]
fn fetches_go_to_the_paired_trace() {
    let events = [
        Event::new(Kind::Load, 0x1000),
        Event::new(Kind::Fetch, 0xaa3e),
        Event::new(Kind::Load, 0x2000),
    ];
    let case = export(Format::Gem5Elastic, "t", &events).unwrap();
    let found: Vec<_> = fetches(&case)
        .iter()
        .map(|p| (p.tick, p.addr, p.size))
        .collect();
    assert_eq!(found, [(500, 0xaa3e, 2), (500, 0xaa40, 2)]);
    assert_eq!(case.summary.records, 4);
}

#[test]
fn a_long_trace_has_whole_windows_of_1024() {
    let load = Event::new(Kind::Load, 0x1000);
    for (length, window) in [(2, 1), (5, 2), (2047, 1023), (2048, 1024), (5000, 1024)] {
        let case = export(Format::Gem5Elastic, "t", &vec![load; length]).unwrap();
        let (found, all) = records(&case);
        assert_eq!((found, all.len()), (window, length));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_access_and_dependence_is_there(events in events()) {
        let instructions: u64 = events.iter().map(|e| u64::from(e.instructions) + e.own_instructions()).sum();
        let exported = export(Format::Gem5Elastic, "t", &events);
        let Ok(case) = exported else {
            prop_assert!(exported.unwrap_err().contains("too short"));
            return Ok(());
        };
        let (window, all) = records(&case);
        prop_assert!(2 * window as usize <= all.len());
        // TraceCPU erases a dependence once for each time it was named.
        for (index, record) in all.iter().enumerate() {
            prop_assert_eq!(record.seq_num, index as u64 + 1);
            let named: Vec<u64> = record.rob_dep.iter().chain(&record.reg_dep).copied().collect();
            let distinct: HashSet<u64> = named.iter().copied().collect();
            prop_assert_eq!(named.len(), distinct.len());
            prop_assert!(named.iter().all(|dependence| *dependence < record.seq_num));
        }
        // The reorder buffer fills as with the instructions, but a word over several lines counts once for each.
        let filled: u64 = all.iter().map(|record| 1 + u64::from(record.weight.unwrap_or(0))).sum();
        let extra: u64 = events.iter().filter(|e| e.own_instructions() > 0).map(|e| {
            (lines(e).len() as u64).saturating_sub(e.own_instructions())
        }).sum();
        prop_assert_eq!(filled, instructions + extra);

        let mut rest = all.into_iter();
        let mut results: Vec<Vec<u64>> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for _ in 0..event.instructions.div_ceil(16) {
                prop_assert_eq!(rest.next().unwrap().r#type, COMP);
            }
            let wanted = match event.dep as usize {
                0 => Vec::new(),
                back => results[index - back].clone(),
            };
            let (kind, places) = match event.kind {
                Kind::Fetch => (COMP, Vec::new()),
                Kind::Store | Kind::StoreNta => (STORE, lines(event).into_iter().map(Some).collect()),
                _ if !lines(event).is_empty() => (LOAD, lines(event).into_iter().map(Some).collect()),
                _ if event.own_instructions() > 0 => (COMP, vec![None]),
                _ => (COMP, Vec::new()),
            };
            let mut own = Vec::new();
            for place in places {
                let record = rest.next().unwrap();
                prop_assert_eq!((record.r#type, record.p_addr), (kind, place));
                prop_assert_eq!(&record.reg_dep, &wanted);
                own.push(record.seq_num);
            }
            let bears_result = event.kind.moves_words() || event.kind == Kind::Op;
            results.push(if bears_result { own } else { Vec::new() });
        }
        prop_assert!(rest.next().is_none());
    }
}
