//! gem5's trace files: a magic number and length-prefixed protobuf messages, usually compressed with gzip.
//!
//! A file is the four bytes `gem5`, then messages, each after its length as a protobuf varint. The first message is a
//! header ([`PacketHeader`] or [`InstDepRecordHeader`]), all others are of the one kind that belongs to it ([`Packet`]
//! or [`InstDepRecord`]). Source: `src/proto/protoio.cc`, `packet.proto` and `inst_dep_record.proto` of gem5 24.0.

mod error;
mod messages;
mod reader;
mod writer;

pub use error::Gem5Error;
pub use messages::{
    IdString, InstDepRecord, InstDepRecordHeader, Packet, PacketHeader, RecordType, command, flag,
};
pub use reader::{MESSAGE_BYTES_MAX, MessageReader};
pub use writer::MessageWriter;

/// The first bytes of every gem5 trace, after decompression.
pub const MAGIC: [u8; 4] = *b"gem5";

/// gem5's default tick: a picosecond. A player refuses a trace of another frequency than its own.
pub const TICKS_PER_SECOND: u64 = 1_000_000_000_000;
