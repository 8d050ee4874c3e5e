//! A gem5 trace read message by message: first as packets, then as the records of an elastic trace.

#![no_main]

use prost::Message;
use std::io::Cursor;
use traces::gem5::{InstDepRecord, InstDepRecordHeader, MessageReader, Packet, PacketHeader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read_all::<PacketHeader, Packet>(bytes);
    read_all::<InstDepRecordHeader, InstDepRecord>(bytes);
});

/// A header, and messages up to the end or the first mistake.
fn read_all<H: Message + Default, M: Message + Default>(bytes: &[u8]) {
    let Ok(mut reader) = MessageReader::new(Cursor::new(bytes.to_vec()), "fuzz") else {
        return;
    };
    if reader.read::<H>().is_ok() {
        while let Ok(Some(_)) = reader.read::<M>() {}
    }
}
