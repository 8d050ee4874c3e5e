//! gem5's packet trace, read back.

use super::events::{events, lines};
use super::files::{LINE, export};
use proptest::prelude::*;
use traces::export::Format;
use traces::gem5::{MessageReader, Packet, PacketHeader};
use traces::{Event, Kind};

fn bytes_in_line(event: &Event, first: u64) -> u32 {
    let end = u128::from(event.address) + u128::from(event.size.max(1));
    let line_end = u128::from(first / LINE) * u128::from(LINE) + u128::from(LINE);
    let bytes = end.min(line_end).min(1 << 64) - u128::from(first);
    u32::try_from(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_hold_every_line_touched_at_its_time(events in events()) {
        let case = export(Format::Gem5Packet, "t", &events).unwrap();
        let mut reader = MessageReader::open(&case.summary.files[0]).unwrap();
        let header: PacketHeader = reader.read().unwrap().unwrap();
        prop_assert_eq!(header.tick_freq, 1_000_000_000_000);
        let mut instructions = 0;
        for event in &events {
            instructions += u64::from(event.instructions);
            let (cmd, flags) = match event.kind {
                Kind::Load => (1, None),
                Kind::Store | Kind::StoreNta | Kind::Exchange => (4, None),
                Kind::Fetch => (1, Some(0x100)),
                _ => (11, Some(0x0100_0000)),
            };
            for first in lines(event) {
                let packet: Packet = reader.read().unwrap().unwrap();
                // 2 GHz: 500 ps a cycle.
                prop_assert_eq!(packet.tick, instructions * 500);
                prop_assert_eq!((packet.cmd, packet.flags), (cmd, flags));
                prop_assert_eq!((packet.addr, packet.size), (first, bytes_in_line(event, first)));
            }
            instructions += event.own_instructions();
        }
        prop_assert_eq!(reader.read::<Packet>().unwrap(), None);
    }
}
