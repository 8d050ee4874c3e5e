//! The protobuf messages of gem5's traces, by the field numbers of its `.proto` files (proto2).
//!
//! A required field is always written; one that is missing when read is 0 or empty.

use prost::{Enumeration, Message};

/// First message of a packet trace.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct PacketHeader {
    /// Name of the simulated object whose packets these are.
    #[prost(string, required, tag = "1")]
    pub obj_id: String,
    /// Version of the format; 0 if absent.
    #[prost(uint32, optional, tag = "2")]
    pub ver: Option<u32>,
    /// Ticks per second.
    #[prost(uint64, required, tag = "3")]
    pub tick_freq: u64,
    /// Names of the requestors.
    #[prost(message, repeated, tag = "4")]
    pub id_strings: Vec<IdString>,
}

/// Name of one requestor.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IdString {
    /// The requestor's number.
    #[prost(uint32, optional, tag = "1")]
    pub key: Option<u32>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// One memory request.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Packet {
    /// Time of the request, in ticks.
    #[prost(uint64, required, tag = "1")]
    pub tick: u64,
    /// What is requested: one of [`command`].
    #[prost(uint32, required, tag = "2")]
    pub cmd: u32,
    /// First byte.
    #[prost(uint64, required, tag = "3")]
    pub addr: u64,
    /// Bytes.
    #[prost(uint32, required, tag = "4")]
    pub size: u32,
    /// Sum of [`flag`]s.
    #[prost(uint32, optional, tag = "5")]
    pub flags: Option<u32>,
    /// Number of the packet or of who sent it.
    #[prost(uint64, optional, tag = "6")]
    pub pkt_id: Option<u64>,
    /// Address of the instruction that asks.
    #[prost(uint64, optional, tag = "7")]
    pub pc: Option<u64>,
}

/// First message of an elastic trace.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct InstDepRecordHeader {
    /// Name of the simulated core.
    #[prost(string, required, tag = "1")]
    pub obj_id: String,
    /// Version of the format; 0 if absent.
    #[prost(uint32, optional, tag = "2")]
    pub ver: Option<u32>,
    /// Ticks per second.
    #[prost(uint64, required, tag = "3")]
    pub tick_freq: u64,
    /// How many records a player reads at a time.
    #[prost(uint32, required, tag = "4")]
    pub window_size: u32,
}

/// What an [`InstDepRecord`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum RecordType {
    /// No record has this type.
    Invalid = 0,
    /// Reads memory.
    Load = 1,
    /// Writes memory.
    Store = 2,
    /// Computes only.
    Comp = 3,
}

/// One instruction and what it waits for.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct InstDepRecord {
    /// Sequence number, ascending; dependences name it.
    #[prost(uint64, required, tag = "1")]
    pub seq_num: u64,
    /// What the instruction does.
    #[prost(enumeration = "RecordType", required, tag = "2")]
    pub r#type: i32,
    /// Physical address of a load or store.
    #[prost(uint64, optional, tag = "3")]
    pub p_addr: Option<u64>,
    /// Bytes of a load or store.
    #[prost(uint32, optional, tag = "4")]
    pub size: Option<u32>,
    /// Sum of [`flag`]s.
    #[prost(uint32, optional, tag = "5")]
    pub flags: Option<u32>,
    /// Instructions that must have been issued (for a store: completed) before.
    #[prost(uint64, repeated, packed = "false", tag = "6")]
    pub rob_dep: Vec<u64>,
    /// Ticks between the end of the last dependence and this instruction.
    #[prost(uint64, required, tag = "7")]
    pub comp_delay: u64,
    /// Instructions whose results this one reads.
    #[prost(uint64, repeated, packed = "false", tag = "8")]
    pub reg_dep: Vec<u64>,
    /// Instructions left out before this one; they take part in the reorder buffer's occupancy only.
    #[prost(uint32, optional, tag = "9")]
    pub weight: Option<u32>,
    /// Address of the instruction.
    #[prost(uint64, optional, tag = "10")]
    pub pc: Option<u64>,
    /// Virtual address of a load or store.
    #[prost(uint64, optional, tag = "11")]
    pub v_addr: Option<u64>,
    /// Number of the address space.
    #[prost(uint32, optional, tag = "12")]
    pub asid: Option<u32>,
}

/// Numbers of the commands in [`Packet::cmd`] (`MemCmd::Command` in gem5's `src/mem/packet.hh`).
pub mod command {
    /// A read.
    pub const READ_REQ: u32 = 1;
    /// A write.
    pub const WRITE_REQ: u32 = 4;
    /// A software prefetch.
    pub const SOFT_PF_REQ: u32 = 11;
}

/// Bits of the request flags (`Request::FlagsType` in gem5's `src/mem/request.hh`).
pub mod flag {
    /// The request fetches instructions.
    pub const INST_FETCH: u32 = 0x100;
    /// The request is a prefetch.
    pub const PREFETCH: u32 = 0x0100_0000;
    /// The request is a prefetch that wants to write.
    pub const PF_EXCLUSIVE: u32 = 0x0200_0000;
}
