//! ChampSim's records, read back as ChampSim understands them.

use super::events::{events, lines, sample};
use super::files::{LINE, export, read};
use proptest::prelude::*;
use std::collections::HashMap;
use traces::export::{CODE_BASE, Format};
use traces::{Event, Kind};

/// One decoded instruction.
#[derive(Debug)]
struct Instruction {
    address: u64,
    branch: Option<bool>,
    writes: Vec<u8>,
    reads: Vec<u8>,
    stores: Vec<u64>,
    loads: Vec<u64>,
}

impl Instruction {
    fn decode(record: &[u8]) -> Self {
        let word = |place: usize| u64::from_le_bytes(record[place..place + 8].try_into().unwrap());
        let words = |place: usize, count: usize| {
            let words = (0..count).map(|index| word(place + 8 * index));
            words.filter(|operand| *operand != 0).collect()
        };
        let registers = |place: usize, count: usize| {
            let registers = record[place..place + count].iter().copied();
            registers.filter(|register| *register != 0).collect()
        };
        assert!(record[8] <= 1 && record[9] <= record[8]);
        Self {
            address: word(0),
            branch: (record[8] == 1).then_some(record[9] == 1),
            writes: registers(10, 2),
            reads: registers(12, 4),
            stores: words(16, 2),
            loads: words(32, 4),
        }
    }

    /// ChampSim's rule: reads and writes the instruction pointer and reads flags, but no stack pointer.
    fn is_conditional(&self) -> bool {
        self.writes == [26] && self.reads.contains(&26) && self.reads.contains(&25)
    }
}

fn decode(bytes: &[u8]) -> Vec<Instruction> {
    assert_eq!(bytes.len() % 64, 0);
    bytes.chunks(64).map(Instruction::decode).collect()
}

#[test]
fn a_branch_and_its_operand_are_worked_out_by_hand() {
    let bytes = read(&export(Format::Champsim, "t", &sample()).unwrap());
    let all = decode(&bytes);
    // Prefetch, three plain instructions, and the load of site 1 as event 2: register 32 + 2.
    assert_eq!(all[0].loads, [0x1_0000_0040]);
    assert_eq!(all[1].address, CODE_BASE + 256);
    assert_eq!(all[4].address, CODE_BASE + 256 + 252);
    assert_eq!(
        (all[4].loads.as_slice(), all[4].writes.as_slice()),
        (&[0x1_0000_0000][..], &[34][..])
    );
    // The compare, and the branch taken.
    assert_eq!(
        (all[5].reads.as_slice(), all[5].writes.as_slice()),
        (&[34][..], &[25][..])
    );
    assert_eq!(all[6].branch, Some(true));
    assert!(all[6].is_conditional());
    // A load over two lines.
    assert_eq!(all[7].loads, [0x1_0000_007c, 0x1_0000_0080]);
    assert_eq!(all[7].reads, [34]);
}

#[test]
fn fetches_give_instructions_their_addresses() {
    let load = Event {
        instructions: 1,
        ..Event::new(Kind::Load, 0x1000)
    };
    let events = [
        Event::new(Kind::Fetch, 0xaa00),
        Event::new(Kind::Fetch, 0xaa04),
        load,
        load,
    ];
    let all = decode(&read(&export(Format::Champsim, "t", &events).unwrap()));
    let addresses: Vec<u64> = all.iter().map(|instruction| instruction.address).collect();
    assert_eq!(addresses, [0xaa00, 0xaa04, CODE_BASE, CODE_BASE + 252]);
}

/// How many lines each word of an access touches: the bytes are dealt out as evenly as whole bytes go.
fn words(event: &Event) -> impl Iterator<Item = usize> {
    let (size, words) = (u64::from(event.size), u64::from(event.words));
    (0..words).map(move |word| {
        let (start, end) = (size * word / words, size * (word + 1) / words);
        let part = Event {
            address: event.address.saturating_add(start),
            size: (end - start) as u16,
            ..*event
        };
        lines(&part).len()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_instruction_operand_outcome_and_dependence_is_there(events in events()) {
        let all = decode(&read(&export(Format::Champsim, "t", &events).unwrap()));
        let mut all = all.into_iter();
        // Which event wrote a register last.
        let mut writers: HashMap<u8, usize> = HashMap::new();
        for (index, event) in events.iter().enumerate() {
            let producer = index.checked_sub(event.dep as usize);
            let producer = producer.filter(|producer| {
                event.dep != 0 && matches!(events[*producer].kind, Kind::Load | Kind::Exchange | Kind::Op)
            });
            let mut compared = false;
            for _ in 0..event.instructions {
                let plain = all.next().unwrap();
                prop_assert!(plain.branch.is_none() && plain.loads.is_empty() && plain.stores.is_empty());
                if let [register] = plain.reads[..] {
                    prop_assert_eq!(writers.get(&register), producer.as_ref());
                    compared = true;
                }
            }
            if event.kind == Kind::Branch {
                prop_assert_eq!(compared, producer.is_some() && event.instructions > 0);
            }
            let is_load = matches!(event.kind, Kind::Load | Kind::Prefetch | Kind::PrefetchNta);
            let is_access = is_load || event.kind.is_store();
            let mut touched = Vec::new();
            let own = match event.kind {
                Kind::Load => words(event).map(|word| word.div_ceil(4)).sum(),
                kind if kind.is_store() => words(event).map(|word| word.div_ceil(2)).sum(),
                _ => event.own_instructions() as usize,
            };
            for _ in 0..own {
                let next = all.next().unwrap();
                let operands = if is_load { &next.loads } else { &next.stores };
                if event.kind == Kind::Exchange {
                    prop_assert_eq!(&next.loads, &next.stores);
                } else {
                    prop_assert_eq!(operands.len(), next.loads.len() + next.stores.len());
                }
                // Words of one line repeat it.
                for operand in operands {
                    if touched.last().is_none_or(|last: &u64| last / LINE != operand / LINE) {
                        touched.push(*operand);
                    }
                }
                if event.kind == Kind::Branch {
                    prop_assert!(next.is_conditional());
                    prop_assert_eq!(next.branch, Some(event.address == 1));
                } else {
                    prop_assert_eq!(next.branch, None);
                    match next.reads[..] {
                        [] => prop_assert!(producer.is_none()),
                        [register] => prop_assert_eq!(writers.get(&register), producer.as_ref()),
                        _ => prop_assert!(false),
                    }
                }
                for register in next.writes {
                    writers.insert(register, index);
                }
            }
            if is_access {
                // The operand at address 0 is lost, and with it perhaps the line.
                let of = |addresses: &[u64]| -> Vec<u64> {
                    addresses.iter().map(|address| address / LINE).filter(|line| *line != 0).collect()
                };
                prop_assert_eq!(of(&touched), of(&lines(event)));
            }
        }
        prop_assert!(all.next().is_none());
    }
}
