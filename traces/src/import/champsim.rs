//! Traces of ChampSim's tracer: one record of 64 bytes per instruction.
//!
//! Layout: u64 instruction address, u8 is-branch, u8 taken, u8 destination registers[2], u8 source registers[4],
//! u64 destination memory[2], u64 source memory[4]. A register or address of 0 is an empty slot.

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::records::{RecordFormat, number};

pub(super) static ABOUT: About = About {
    name: "champsim",
    title: "ChampSim, also .xz and .gz",
    grammar: "records of 64 bytes per instruction, whose bytes 8 (is a branch) and 9 (was taken) are 0 or 1",
    unit: Unit::Records,
    takes: &[Choice::Fetch],
    lost: &["sizes (each access is one byte)", "dependences", "time"],
};

pub(super) const BYTES: usize = 64;

/// Registers by ChampSim's numbers.
const INSTRUCTION_POINTER: u8 = 26;
const STACK_POINTER: u8 = 6;
/// The format has no instruction lengths; one byte is fetched, so that no line is touched that may not have been.
const FETCHED: u64 = 1;

pub(super) struct ChampSim;

impl RecordFormat<BYTES> for ChampSim {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn record(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let [branch, taken] = [record[8], record[9]];
        if branch > 1 || taken > 1 {
            return Err(Fault::new(format!("is-branch = {branch}, taken = {taken}")));
        }
        events.instruction(Some((number::<8>(record, 0), FETCHED)));
        for slot in 0..4 {
            let address = number::<8>(record, 32 + 8 * slot);
            if address != 0 {
                events.load(address, 1);
            }
        }
        for slot in 0..2 {
            let address = number::<8>(record, 16 + 8 * slot);
            if address != 0 {
                events.store(address, 1);
            }
        }
        if branch == 1 && is_conditional(&record[10..12], &record[12..16]) {
            events.branch(taken == 1);
        }
        Ok(())
    }
}

/// A conditional branch sets the instruction pointer from itself and from something else, and is no call.
fn is_conditional(written: &[u8], read: &[u8]) -> bool {
    let jumps = written.contains(&INSTRUCTION_POINTER) && read.contains(&INSTRUCTION_POINTER);
    let calls = written.contains(&STACK_POINTER) || read.contains(&STACK_POINTER);
    let depends = read
        .iter()
        .any(|register| !matches!(*register, 0 | INSTRUCTION_POINTER | STACK_POINTER));
    jumps && !calls && depends
}
