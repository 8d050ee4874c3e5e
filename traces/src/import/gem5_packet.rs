//! Packet traces of gem5, as its communication monitors and traffic generators write them.

use crate::event::Kind;
use crate::gem5::{MessageReader, Packet, PacketHeader, command, flag};
use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;
use std::io::BufReader;

pub(super) static ABOUT: About = About {
    name: "gem5-packet",
    title: "gem5: packet trace, also .gz",
    grammar: "the bytes `gem5`, a PacketHeader and Packets, each after its length",
    unit: Unit::Records,
    takes: &[Choice::Fetch],
    lost: &["instructions", "dependences", "branch outcomes", "time"],
};

/// Reads the header and all packets.
pub(super) fn decode(input: &mut Input, events: &mut Emitter<'_>) -> Result<(), ImportError> {
    let name = input.name().to_owned();
    let source = BufReader::new(input.take_rest());
    let mut messages = MessageReader::new(source, name.as_str())?;
    messages.read::<PacketHeader>()?;
    while let Some(packet) = messages.read::<Packet>()? {
        if let Err(fault) = emit(&packet, events) {
            let place = format!("{name}: message {}", messages.messages() - 1);
            let text = format!("{packet:?}");
            return Err(ImportError::malformed(
                place,
                text.as_bytes(),
                fault,
                &ABOUT,
            ));
        }
        events.flush_if_full()?;
    }
    input.recount(messages.messages().saturating_sub(1));
    Ok(())
}

/// Tells of one packet; those that are no request of a program for memory stand for nothing.
fn emit(packet: &Packet, events: &mut Emitter<'_>) -> Result<(), Fault> {
    let (address, size) = (packet.addr, u64::from(packet.size));
    let flags = packet.flags.unwrap_or_default();
    let is = |flag: u32| flags & flag != 0;
    let moves = matches!(packet.cmd, command::READ_REQ | command::WRITE_REQ);
    if size == 0 && moves {
        return Err(Fault::new("a request of 0 bytes"));
    }
    events.at(packet.pc);
    match packet.cmd {
        command::READ_REQ if is(flag::INST_FETCH) => events.fetch(address, size),
        command::READ_REQ if is(flag::PREFETCH | flag::PF_EXCLUSIVE) => {
            events.prefetch(Kind::Prefetch, address);
        }
        command::SOFT_PF_REQ => events.prefetch(Kind::Prefetch, address),
        command::READ_REQ => events.load(address, size),
        command::WRITE_REQ => events.store(address, size),
        _ => events.skip(),
    }
    Ok(())
}
