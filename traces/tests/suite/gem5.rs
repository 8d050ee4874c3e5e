//! gem5's framing against bytes worked out by hand from the protobuf wire format, and against damage.

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::{Cursor, Write};
use traces::gem5::{
    Gem5Error, InstDepRecord, InstDepRecordHeader, MessageReader, MessageWriter, Packet,
    PacketHeader, RecordType, TICKS_PER_SECOND, command, flag,
};

/// A packet trace of one read: key = field number * 8 + wire type (0 varint, 2 bytes), varints of 7 bits, low ones first.
const ONE_READ: &[u8] = &[
    b'g', b'e', b'm', b'5', // magic
    0x0a, // header: 10 bytes
    0x0a, 0x01, b'm', // obj_id = "m"
    0x18, 0x80, 0xa0, 0x94, 0xa5, 0x8d, 0x1d, // tick_freq = 10^12
    0x0f, // packet: 15 bytes
    0x08, 0xe8, 0x07, // tick = 1000
    0x10, 0x01, // cmd = ReadReq
    0x18, 0x80, 0x80, 0x80, 0x80, 0x01, // addr = 2^28
    0x20, 0x08, // size = 8
    0x38, 0x2a, // pc = 42
];

fn header() -> PacketHeader {
    PacketHeader {
        obj_id: "m".to_owned(),
        tick_freq: TICKS_PER_SECOND,
        ..PacketHeader::default()
    }
}

fn one_read() -> Packet {
    Packet {
        tick: 1000,
        cmd: command::READ_REQ,
        addr: 1 << 28,
        size: 8,
        pc: Some(42),
        ..Packet::default()
    }
}

fn reader(bytes: &[u8]) -> Result<MessageReader, Gem5Error> {
    MessageReader::new(Cursor::new(bytes.to_vec()), "t.gem5")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn one_read_is_written_as_worked_out_by_hand() {
    let mut writer = MessageWriter::new(Vec::new()).unwrap();
    writer.write(&header()).unwrap();
    writer.write(&one_read()).unwrap();
    assert_eq!(writer.into_inner(), ONE_READ);
}

#[test]
fn one_read_is_read_back_plain_and_compressed() {
    for bytes in [ONE_READ.to_vec(), gzip(ONE_READ)] {
        let mut reader = reader(&bytes).unwrap();
        assert_eq!(reader.read::<PacketHeader>().unwrap(), Some(header()));
        assert_eq!(reader.read::<Packet>().unwrap(), Some(one_read()));
        assert_eq!(reader.read::<Packet>().unwrap(), None);
        assert_eq!(reader.messages(), 2);
    }
}

#[test]
fn repeated_dependences_are_not_packed() {
    let record = InstDepRecord {
        seq_num: 3,
        r#type: RecordType::Load.into(),
        rob_dep: vec![1],
        reg_dep: vec![1, 2],
        flags: Some(flag::PREFETCH),
        ..InstDepRecord::default()
    };
    let mut writer = MessageWriter::new(Vec::new()).unwrap();
    writer.write(&record).unwrap();
    let expected = [
        &b"gem5"[..],
        &[17, 0x08, 3, 0x10, 1],
        &[0x28, 0x80, 0x80, 0x80, 0x08],
        &[0x30, 1, 0x38, 0, 0x40, 1, 0x40, 2],
    ]
    .concat();
    assert_eq!(writer.into_inner(), expected);
}

#[test]
fn every_cut_is_noticed() {
    for end in 0..ONE_READ.len() {
        let outcome = reader(&ONE_READ[..end]).and_then(|mut reader| {
            reader.read::<PacketHeader>()?;
            reader.read::<Packet>()
        });
        match outcome {
            Err(Gem5Error::NotGem5 { .. }) => assert!(end < 4),
            Err(Gem5Error::Truncated { .. }) => assert!(end > 4 && end != 15),
            // At the end of a message the file may end.
            Ok(None) => assert!(end == 4 || end == 15),
            other => panic!("cut at {end}: {other:?}"),
        }
    }
}

#[test]
fn a_cut_gzip_file_is_noticed() {
    let whole = gzip(ONE_READ);
    for end in 2..whole.len() {
        let outcome = reader(&whole[..end]).and_then(|mut reader| {
            reader.read::<PacketHeader>()?;
            while reader.read::<Packet>()?.is_some() {}
            Ok(())
        });
        assert!(
            matches!(outcome, Err(Gem5Error::Truncated { .. })),
            "cut at {end}: {outcome:?}"
        );
    }
}

#[test]
fn errors_name_file_message_and_place() {
    let text = |bytes: &[u8]| {
        let outcome = reader(bytes).and_then(|mut reader| reader.read::<Packet>());
        outcome.unwrap_err().to_string()
    };
    assert_eq!(
        text(b"PAR1rest"),
        "t.gem5: not a gem5 trace: it begins with 50 41 52 31, not with `gem5` (67 65 6d 35)"
    );
    assert_eq!(
        text(b""),
        "t.gem5: not a gem5 trace: it begins with nothing, not with `gem5` (67 65 6d 35)"
    );
    assert_eq!(
        text(b"gem5\xff\xff\xff\xff\xff"),
        "t.gem5: message 0 (byte 4): bad length ff ff ff ff ff; it is a varint of at most 1048576 bytes of message"
    );
    assert_eq!(
        text(b"gem5\xff\xff\xff\x7f"),
        "t.gem5: message 0 (byte 4): bad length 268435455; it is a varint of at most 1048576 bytes of message"
    );
    assert_eq!(
        text(b"gem5\x05\x08"),
        "t.gem5: cut short inside message 0; copy the file again or write it again"
    );
    assert!(text(b"gem5\x02\x0a\x00").starts_with("t.gem5: message 0 (byte 4): not a Packet: "));
    assert!(
        MessageReader::open("/no/such/file")
            .unwrap_err()
            .to_string()
            .starts_with("/no/such/file: No such file")
    );
}

fn record() -> impl Strategy<Value = InstDepRecord> {
    let numbers = prop::collection::vec(any::<u64>(), 0..3);
    let places = (any::<Option<u64>>(), any::<Option<u64>>());
    let rest = (any::<Option<u32>>(), any::<Option<u32>>(), 1..4_i32);
    (any::<[u64; 2]>(), numbers.clone(), numbers, places, rest).prop_map(
        |([seq_num, comp_delay], rob_dep, reg_dep, (p_addr, pc), (size, weight, r#type))| {
            InstDepRecord {
                seq_num,
                comp_delay,
                rob_dep,
                reg_dep,
                p_addr,
                pc,
                size,
                weight,
                r#type,
                ..InstDepRecord::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn elastic_records_come_back(records in prop::collection::vec(record(), 0..20), window_size: u32) {
        let header = InstDepRecordHeader {
            obj_id: "cpu".to_owned(),
            tick_freq: TICKS_PER_SECOND,
            window_size,
            ..InstDepRecordHeader::default()
        };
        let mut writer = MessageWriter::new(Vec::new()).unwrap();
        writer.write(&header).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        let mut reader = reader(&writer.into_inner()).unwrap();
        prop_assert_eq!(reader.read::<InstDepRecordHeader>().unwrap(), Some(header));
        for record in records {
            prop_assert_eq!(reader.read::<InstDepRecord>().unwrap(), Some(record));
        }
        prop_assert_eq!(reader.read::<InstDepRecord>().unwrap(), None);
    }

    #[test]
    fn any_bytes_give_messages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for start in [&b"gem5"[..], &b"\x1f\x8b"[..], &b""[..]] {
            if let Ok(mut reader) = reader(&[start, &bytes].concat()) {
                while let Ok(Some(_)) = reader.read::<InstDepRecord>() {}
            }
        }
    }
}
