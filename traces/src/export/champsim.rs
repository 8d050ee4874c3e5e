//! ChampSim's trace: 64 bytes per instruction, little-endian, without a header (`input_instr` in `trace_instruction.h`).
//!
//! - Every instruction is a record; plain ones touch neither memory nor registers.
//! - A load or store is one record per word access, with one memory operand per line of the word. More lines than
//!   operands go to further records.
//! - A dependence is a register: the producer writes one that the consumer reads, until another event takes it over.
//! - A branch reads the flags and the instruction pointer and writes the latter, by which ChampSim knows a conditional
//!   branch. The plain instruction before it, if there is one, computes the flags from what the branch needs.
//! - A fetch gives one instruction its address; without fetches, the address follows from the site.

use super::code::{instruction_address, plain_address};
use super::output::Output;
use super::parts::parts;
use super::{Encoder, Failure};
use crate::event::{Event, Kind};
use std::collections::VecDeque;
use std::io::{self, Write};

/// Size of a record.
const RECORD_BYTES: usize = 64;
/// ChampSim's number of the flags register.
const FLAGS: u8 = 25;
/// ChampSim's number of the instruction pointer.
const INSTRUCTION_POINTER: u8 = 26;
/// The first of the registers that carry dependences; those below hold all that ChampSim treats specially.
const FIRST_REGISTER: u8 = 32;
/// How many there are.
const REGISTERS: u64 = 200;
/// Fetches kept for later instructions; a trace with more fetches than instructions loses the oldest.
const FETCHES_MAX: usize = 4096;

/// One instruction; 0 in a register or memory operand means none.
#[derive(Clone, Copy, Debug, Default)]
struct Instruction {
    address: u64,
    is_branch: bool,
    taken: bool,
    destination_registers: [u8; 2],
    source_registers: [u8; 4],
    destination_memory: [u64; 2],
    source_memory: [u64; 4],
}

impl Instruction {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8] = self.is_branch.into();
        bytes[9] = self.taken.into();
        bytes[10..12].copy_from_slice(&self.destination_registers);
        bytes[12..16].copy_from_slice(&self.source_registers);
        let memory = self.destination_memory.iter().chain(&self.source_memory);
        for (place, operand) in bytes[16..].chunks_exact_mut(8).zip(memory) {
            place.copy_from_slice(&operand.to_le_bytes());
        }
        bytes
    }
}

pub(super) struct Champsim {
    output: Output,
    line_bytes: u64,
    /// Events before this one.
    events: u64,
    /// Whether each of the latest events wrote its register.
    produced: [bool; REGISTERS as usize],
    /// Addresses of the instructions to come.
    fetched: VecDeque<u64>,
    records: u64,
}

impl Champsim {
    pub(super) fn new(output: Output, line_bytes: u64) -> Self {
        Self {
            output,
            line_bytes,
            events: 0,
            produced: [false; REGISTERS as usize],
            fetched: VecDeque::new(),
            records: 0,
        }
    }

    fn write(&mut self, mut instruction: Instruction) -> io::Result<()> {
        if let Some(address) = self.fetched.pop_front() {
            instruction.address = address;
        }
        self.records += 1;
        self.output.write_all(&instruction.to_bytes())
    }

    /// The register of event number `event`.
    fn register(event: u64) -> u8 {
        // Below REGISTERS.
        FIRST_REGISTER + (event % REGISTERS) as u8
    }

    /// The register with what `event` needs; 0 if it needs nothing that is still known.
    fn needed(&self, event: &Event) -> u8 {
        let back = u64::from(event.dep);
        if back == 0 || back >= REGISTERS {
            return 0;
        }
        // An event's dependence lies within the trace.
        let producer = self.events.wrapping_sub(back);
        if self.produced[(producer % REGISTERS) as usize] {
            Self::register(producer)
        } else {
            0
        }
    }

    /// Writes the plain instructions before `event`; the last one before a branch computes its flags from `needed`.
    fn plain(&mut self, event: &Event, needed: u8) -> io::Result<()> {
        let count = u64::from(event.instructions);
        for index in 0..count {
            let mut instruction = Instruction {
                address: plain_address(event.site, index),
                ..Instruction::default()
            };
            if event.kind == Kind::Branch && index + 1 == count && needed != 0 {
                instruction.source_registers[0] = needed;
                instruction.destination_registers[0] = FLAGS;
            }
            self.write(instruction)?;
        }
        Ok(())
    }

    /// Writes the words of a load, store or prefetch.
    fn access(&mut self, event: &Event, instruction: Instruction) -> io::Result<()> {
        let (size, words) = (u32::from(event.size), u32::from(event.words));
        let whole_lines = event.kind.moves_words();
        let words = if whole_lines { words } else { 1 };
        let stores = event.kind.is_store();
        let loads = !stores || event.kind == Kind::Exchange;
        for word in 0..words {
            let (start, end) = (size * word / words, size * (word + 1) / words);
            let address = event.address.saturating_add(u64::from(start));
            let lines = parts(address, end - start, self.line_bytes);
            let lines: Vec<u64> = lines
                .take(if whole_lines { usize::MAX } else { 1 })
                .map(|part| part.address)
                .collect();
            let operands = if stores {
                instruction.destination_memory.len()
            } else {
                instruction.source_memory.len()
            };
            for lines in lines.chunks(operands) {
                let mut instruction = instruction;
                if stores {
                    instruction.destination_memory[..lines.len()].copy_from_slice(lines);
                }
                if loads {
                    instruction.source_memory[..lines.len()].copy_from_slice(lines);
                }
                self.write(instruction)?;
            }
        }
        Ok(())
    }
}

impl Encoder for Champsim {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        let before = self.records;
        let needed = self.needed(event);
        self.plain(event, needed)?;
        let produces = matches!(event.kind, Kind::Load | Kind::Exchange | Kind::Op);
        let mut instruction = Instruction {
            address: instruction_address(event.site),
            source_registers: [needed, 0, 0, 0],
            ..Instruction::default()
        };
        if produces {
            instruction.destination_registers[0] = Self::register(self.events);
        }
        match event.kind {
            kind if kind.is_access() => self.access(event, instruction)?,
            Kind::Branch => self.write(Instruction {
                is_branch: true,
                taken: event.address != 0,
                destination_registers: [INSTRUCTION_POINTER, 0],
                source_registers: [INSTRUCTION_POINTER, FLAGS, 0, 0],
                ..instruction
            })?,
            Kind::Fetch => {
                if self.fetched.len() == FETCHES_MAX {
                    self.fetched.pop_front();
                }
                self.fetched.push_back(event.address);
            }
            _ if event.own_instructions() > 0 => self.write(instruction)?,
            _ => {}
        }
        self.produced[(self.events % REGISTERS) as usize] = produces;
        self.events += 1;
        Ok(self.records - before)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.output], 0))
    }
}
