//! gem5's packet trace: timed memory requests ([`crate::gem5::Packet`]).
//!
//! The tick of a packet is the time of its instruction at the machine's clock, one instruction per cycle. Every line of
//! an access is a packet of the bytes in it, because gem5's caches refuse packets that cross a line.

use super::code::instruction_address;
use super::output::Output;
use super::parts::accesses;
use super::{Encoder, Failure, Timing};
use crate::event::{Event, Kind};
use crate::gem5::{MessageWriter, Packet, PacketHeader, TICKS_PER_SECOND, command, flag};
use std::io;

/// What gem5 shows as the trace's source.
pub(super) const OBJECT: &str = "memwalk";

/// Starts a packet trace: magic number and header.
pub(super) fn packets(output: Output) -> io::Result<MessageWriter<Output>> {
    let mut writer = MessageWriter::new(output)?;
    writer.write(&PacketHeader {
        obj_id: OBJECT.to_owned(),
        tick_freq: TICKS_PER_SECOND,
        ..PacketHeader::default()
    })?;
    Ok(writer)
}

pub(super) struct Gem5Packet {
    writer: MessageWriter<Output>,
    line_bytes: u64,
    clock_hz: u64,
    instructions: u64,
}

impl Gem5Packet {
    pub(super) fn new(output: Output, line_bytes: u64, timing: &Timing) -> io::Result<Self> {
        Ok(Self {
            writer: packets(output)?,
            line_bytes,
            clock_hz: timing.clock_hz,
            instructions: 0,
        })
    }

    /// When the next instruction runs.
    fn tick(&self) -> u64 {
        let ticks = u128::from(self.instructions) * u128::from(TICKS_PER_SECOND)
            / u128::from(self.clock_hz);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

impl Encoder for Gem5Packet {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        self.instructions += u64::from(event.instructions);
        let (cmd, flags) = match event.kind {
            kind if kind.is_store() => (command::WRITE_REQ, None),
            Kind::Fetch => (command::READ_REQ, Some(flag::INST_FETCH)),
            Kind::Prefetch | Kind::PrefetchNta => (command::SOFT_PF_REQ, Some(flag::PREFETCH)),
            _ => (command::READ_REQ, None),
        };
        let mut records = 0;
        for part in accesses(event, self.line_bytes) {
            self.writer.write(&Packet {
                tick: self.tick(),
                cmd,
                addr: part.address,
                size: part.size,
                flags,
                pkt_id: None,
                pc: Some(instruction_address(event.site)),
            })?;
            records += 1;
        }
        self.instructions += event.own_instructions();
        Ok(records)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.writer.into_inner()], 0))
    }
}
