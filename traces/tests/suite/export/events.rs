//! Events to export: a small sample that has everything, and random ones.

use super::files::LINE;
use proptest::prelude::*;
use traces::{Event, Kind};

/// A search step, an access over two lines, a copy, arithmetic, markers and the last byte below 2^63.
pub fn sample() -> Vec<Event> {
    let event = Event::new;
    vec![
        event(Kind::Mark, 0),
        Event {
            size: 64,
            ..event(Kind::Prefetch, 0x1_0000_0040)
        },
        Event {
            instructions: 3,
            site: 1,
            ..event(Kind::Load, 0x1_0000_0000)
        },
        Event {
            dep: 1,
            chain: 1,
            instructions: 1,
            site: 2,
            ..event(Kind::Branch, 1)
        },
        Event {
            dep: 2,
            chain: 2,
            size: 8,
            site: 3,
            ..event(Kind::Load, 0x1_0000_007c)
        },
        Event {
            dep: 1,
            site: 4,
            ..event(Kind::Branch, 0)
        },
        Event {
            dep: 2,
            size: 1,
            ..event(Kind::Op, 0)
        },
        Event {
            dep: 1,
            size: 16,
            words: 4,
            instructions: 70,
            ..event(Kind::Store, 0x2_0000_0038)
        },
        event(Kind::PageRead, 7),
        event(Kind::Flush, 0),
        event(Kind::PrefetchNta, 0x40),
        event(Kind::Branch, 1),
        Event {
            size: 1,
            ..event(Kind::Load, (1 << 63) - 1)
        },
    ]
}

/// The first byte of every line that an access touches, found byte by byte.
pub fn lines(event: &Event) -> Vec<u64> {
    let size = match event.kind {
        Kind::Load | Kind::Store | Kind::StoreNta | Kind::Exchange | Kind::Fetch => {
            u128::from(event.size.max(1))
        }
        Kind::Prefetch | Kind::PrefetchNta => 1,
        _ => 0,
    };
    let bytes = (0..size).map(|offset| u128::from(event.address) + offset);
    let mut lines: Vec<u64> = Vec::new();
    for byte in bytes.filter_map(|byte| u64::try_from(byte).ok()) {
        if lines.last().is_none_or(|last| last / LINE != byte / LINE) {
            lines.push(byte);
        }
    }
    lines
}

fn event() -> impl Strategy<Value = Event> {
    let address = prop_oneof![
        any::<u64>(),
        0..4096_u64,
        (0..300_u64).prop_map(|below| u64::MAX - below),
        (0..300_u64).prop_map(|above| (1 << 63) - 150 + above),
    ];
    let kind = prop_oneof![
        4 => Just(Kind::Load),
        2 => Just(Kind::Store),
        3 => proptest::sample::select(&Kind::ALL[..]),
    ];
    let size = prop_oneof![4 => 0..300_u16, 1 => any::<u16>()];
    let words = prop_oneof![3 => Just(1_u16), 1 => 1..40_u16];
    let counts = (prop_oneof![0..5_u16, 0..200_u16], any::<u8>(), 0..20_u16);
    (kind, address, size, words, any::<u32>(), counts).prop_map(
        |(kind, address, size, words, dep, (instructions, chain, site))| Event {
            address: match kind {
                Kind::Branch => address % 2,
                Kind::Mark => 0,
                _ => address,
            },
            size: match kind {
                Kind::Op => size % 2,
                _ => size,
            },
            dep,
            words,
            instructions,
            site,
            kind,
            chain,
        },
    )
}

/// Random events that a trace may hold.
pub fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 0..60).prop_map(|mut events| {
        for (index, event) in events.iter_mut().enumerate() {
            event.dep %= index as u32 + 1;
        }
        events
    })
}
