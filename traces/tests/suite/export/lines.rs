//! The text formats, read back line by line.

use super::events::{events, lines};
use super::files::{export, read};
use proptest::prelude::*;
use traces::export::Format;
use traces::{Event, Kind};

/// One record: the word that stands for the kind, the address, and the cycle where there is one.
type Record = (String, u64, Option<u64>);

/// Reads a number in hexadecimal, with or without 0x.
fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn decode(format: Format, text: &str) -> Vec<Record> {
    let record = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match (format, words.as_slice()) {
            (Format::Din | Format::Ramulator, [word, address]) => {
                ((*word).to_owned(), hexadecimal(address), None)
            }
            (Format::Ramulator1, [address, word]) => {
                ((*word).to_owned(), hexadecimal(address), None)
            }
            (Format::Dramsim3, [address, word, cycle]) => (
                (*word).to_owned(),
                hexadecimal(address),
                Some(cycle.parse().unwrap()),
            ),
            _ => panic!("{line}"),
        }
    };
    text.lines().map(record).collect()
}

fn expected(format: Format, events: &[Event]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut instructions = 0;
    for event in events {
        instructions += u64::from(event.instructions);
        let [read, write, fetch, prefetch] = match format {
            Format::Din => ["0", "1", "2", "3"],
            Format::Ramulator => ["LD", "ST", "LD", "LD"],
            Format::Ramulator1 => ["R", "W", "R", "R"],
            _ => ["READ", "WRITE", "READ", "READ"],
        };
        let word = match event.kind {
            Kind::Load => read,
            Kind::Store | Kind::StoreNta | Kind::Exchange => write,
            Kind::Fetch => fetch,
            _ => prefetch,
        };
        let cycle = (format == Format::Dramsim3).then_some(instructions);
        let touched = lines(event).into_iter();
        records.extend(touched.map(|address| (word.to_owned(), address, cycle)));
        instructions += event.own_instructions();
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_formats_hold_every_line_touched(events in events()) {
        for format in [Format::Din, Format::Dramsim3, Format::Ramulator1, Format::Ramulator] {
            let expected = expected(format, &events);
            let exported = export(format, "t", &events);
            if format == Format::Ramulator && expected.iter().any(|record| record.1 > i64::MAX as u64) {
                prop_assert!(exported.unwrap_err().contains("ramulator1 takes it"));
                continue;
            }
            let case = exported.unwrap();
            prop_assert_eq!(case.summary.records, expected.len() as u64);
            let text = String::from_utf8(read(&case)).unwrap();
            prop_assert_eq!(text.ends_with('\n'), format != Format::Dramsim3 && !expected.is_empty());
            prop_assert_eq!(decode(format, &text), expected);
        }
    }
}
