//! What `memwalk_recorder.c` writes, in a program whose compiler calls it for each access: packed records of 24 bytes.
//!
//! | u64 | of an access or a lock | of a copy | of a message | of a basic block | of a thread | of a condition or a barrier | at the end |
//! |---|---|---|---|---|---|---|---|
//! | first | address | address that it reads | 0 | the stack pointer | 0 | address | records so far |
//! | second | what a load of 8 bytes has read; bytes of a range | address that it writes | bytes of the text, which follows in as many records as it takes | 1 if a function begins with it | a number that is its own | when, in a time of all threads: it grows with each record of these | accesses of other threads |
//! | third | address of the instruction (48 bits), bytes (8 bits), kind (8 bits) | the same | kind | where it begins (48 bits), kind | address of the instruction (48 bits), kind | the same | accesses of signal handlers that are left out (48 bits), kind |
//!
//! The first record says what the file is. In version 1 copies were ranges, barriers had no times, and threads their `pthread_t`.

use crate::event::Kind;
use crate::import::about::{About, BRANCH_OUTCOMES, Choice, Unit};
use crate::import::blocks::Blocks;
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::messages;
use crate::import::pointers::Pointers;
use crate::import::records::{RecordFormat, number};
use crate::import::sites::Multiplied;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

pub(super) static ABOUT: About = About {
    name: "recording",
    title: "memwalk: memwalk_recorder.c, linked into the program",
    grammar: "records of 24 bytes (u64 address, u64 value, u64 place and kind), the first of which is `memwalk recording 2`",
    unit: Unit::Records,
    takes: &[Choice::Program],
    lost: &[
        "instructions without an access",
        "dependences that are not through pointers",
        BRANCH_OUTCOMES,
        "software prefetches",
        "accesses of libraries that were compiled without it",
        "threads",
        "time",
    ],
};

pub(super) const BYTES: usize = 24;
/// What the first record begins with; the version and zeros follow.
pub(super) const MAGIC: &[u8] = b"memwalk recording ";
/// What the recorder writes, and those of earlier ones.
const VERSIONS: [&[u8]; 2] = [b"2\n", b"1\n"];

const LOAD: u64 = 1;
const STORE: u64 = 2;
const EXCHANGE: u64 = 3;
const LOADS: u64 = 4;
const STORES: u64 = 5;
const MESSAGE: u64 = 6;
const END: u64 = 7;
/// A lock is taken, alone or beside others, by the access behind it; or has been released, by the access before it.
const LATCH: u64 = 8;
const SHARE_LATCH: u64 = 9;
const UNLATCH: u64 = 10;
const BLOCK: u64 = 11;
/// The thread has begun another, or waited for its end, which the second number names; and how the thread itself is called.
const BEGIN: u64 = 12;
const AWAIT: u64 = 13;
const THREAD: u64 = 14;
/// The thread comes to the barrier at this address, and goes on behind it.
const MEET: u64 = 15;
const MET: u64 = 19;
/// The thread signals the condition at this address, or has been woken; the second number says when, of all threads.
const SIGNAL: u64 = 16;
const WAKE: u64 = 17;
const COPY: u64 = 18;

/// Most bytes of a range, which the recorder cuts longer ones into.
const MOST_RANGE: u64 = 1 << 16;
/// Bytes that an instruction of a range moves: those of a vector register.
const VECTOR: u64 = 32;
/// Most bytes of a message.
const MOST_TEXT: u64 = 1024;
/// Bytes of a pointer.
const POINTER: u64 = 8;

pub(super) struct Recording {
    records: u64,
    pointers: Pointers,
    blocks: Blocks,
    /// Instructions of blocks, by place, if they are known.
    instructions: Option<HashMap<u64, u32, BuildHasherDefault<Multiplied>>>,
    /// A message that is being read, and how many bytes of it are to come.
    text: Vec<u8>,
    to_come: usize,
    ended: bool,
}

impl RecordFormat<BYTES> for Recording {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn record(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault> {
        self.records += 1;
        if self.records == 1 {
            return check_first(record);
        }
        if self.to_come > 0 {
            return self.read_text(record, events);
        }
        if self.ended {
            return Err(Fault::new("a record behind the end"));
        }
        let (address, value, place) = (
            number::<8>(record, 0),
            number::<8>(record, 8),
            number::<8>(record, 16),
        );
        let (kind, bytes) = (place >> 56, place >> 48 & 0xff);
        let at = place & ((1 << 48) - 1);
        events.at((at > 0).then_some(at));
        match kind {
            LOAD | STORE | EXCHANGE if bytes == 0 => {
                return Err(Fault::new("an access of 0 bytes"));
            }
            LOAD => {
                if let Some(event) = events.load_through(address, bytes, self.pointers.to(address))
                {
                    self.blocks.loaded(event);
                    if bytes == POINTER {
                        self.pointers.loaded(value, event);
                    }
                }
            }
            STORE => events.store_through(address, bytes, self.pointers.to(address)),
            EXCHANGE => events.exchange_through(address, bytes, self.pointers.to(address)),
            LOADS | STORES => self.range(kind, address, value, events)?,
            BLOCK if at == 0 => return Err(Fault::new("a block without a place")),
            BLOCK => self.block(at, address, value == 1, events),
            MESSAGE if (1..=MOST_TEXT).contains(&value) => {
                self.text.clear();
                self.to_come = value as usize;
            }
            MESSAGE => {
                return Err(Fault::new(format!(
                    "a message of {value} bytes; it has 1 to {MOST_TEXT}"
                )));
            }
            LATCH => events.take_lock(Kind::Latch, address, self.pointers.to(address))?,
            SHARE_LATCH => {
                events.take_lock(Kind::ShareLatch, address, self.pointers.to(address))?;
            }
            UNLATCH => events.release_lock(address),
            BEGIN => events.begin_thread(value),
            AWAIT => events.wait_for_thread(value),
            THREAD => events.thread_is(value),
            COPY => self.copy(address, value, bytes, events)?,
            MEET if value == 0 => events.meet(address),
            MEET => events.meet_at(address, value),
            MET => events.go_on(value),
            SIGNAL => events.signal(address, value),
            WAKE => events.wake(address, value),
            END => self.end(address, value, at, events)?,
            kind => return Err(Fault::new(format!("unknown kind {kind}"))),
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        match self.to_come {
            0 => Ok(()),
            _ => Err(Fault::new("it ends within a message")),
        }
    }

    fn doubt(&self) -> Option<String> {
        (!self.ended).then(|| {
            "no record says that the program has ended: what it did last may be missing (it may have been killed, or have \
             called `_exit`)"
                .to_owned()
        })
    }
}

impl Recording {
    /// Nothing has been read. `instructions` are those of each basic block of the program, by its place.
    pub(super) fn new(instructions: Option<&[(u64, u32)]>) -> Self {
        Self {
            records: 0,
            pointers: Pointers::default(),
            blocks: Blocks::default(),
            instructions: instructions.map(|blocks| blocks.iter().copied().collect()),
            text: Vec::new(),
            to_come: 0,
            ended: false,
        }
    }

    /// A basic block begins, and so the one before has ended, with a branch or without.
    #[inline]
    fn block(&mut self, block: u64, stack: u64, is_entry: bool, events: &mut Emitter<'_>) {
        if let Some(branch) = self.blocks.begin(block, stack, is_entry) {
            events.at(Some(branch.block));
            events.branch_on(branch.taken, branch.needed);
        }
        if let Some(instructions) = &self.instructions {
            match instructions.get(&block) {
                Some(&count) => events.plain_instructions(count),
                None => events.unknown_block(),
            }
        }
    }

    /// Bytes that were copied, compared or filled: vector by vector.
    fn range(
        &mut self,
        kind: u64,
        address: u64,
        bytes: u64,
        events: &mut Emitter<'_>,
    ) -> Result<(), Fault> {
        if !(1..=MOST_RANGE).contains(&bytes) || address.checked_add(bytes).is_none() {
            return Err(Fault::new(format!(
                "a range of {bytes} bytes at {address:#x}; it has 1 to {MOST_RANGE}, within 64 bits"
            )));
        }
        let needed = self.pointers.to(address);
        for offset in (0..bytes).step_by(VECTOR as usize) {
            let (from, size) = (address + offset, VECTOR.min(bytes - offset));
            if kind == LOADS {
                events.load_through(from, size, needed);
            } else {
                events.store_through(from, size, needed);
            }
        }
        Ok(())
    }

    /// Bytes that were copied from one address to another: vector by vector.
    fn copy(
        &mut self,
        from: u64,
        to: u64,
        bytes: u64,
        events: &mut Emitter<'_>,
    ) -> Result<(), Fault> {
        if bytes == 0 || from.checked_add(bytes).is_none() || to.checked_add(bytes).is_none() {
            return Err(Fault::new(format!(
                "a copy of {bytes} bytes from {from:#x} to {to:#x}; it has 1 to 255, within 64 bits"
            )));
        }
        let (source, target) = (self.pointers.to(from), self.pointers.to(to));
        for offset in (0..bytes).step_by(VECTOR as usize) {
            let size = VECTOR.min(bytes - offset);
            events.load_through(from + offset, size, source);
            events.store_through(to + offset, size, target);
        }
        Ok(())
    }

    #[cold]
    fn read_text(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let taken = self.to_come.min(BYTES);
        self.text.extend_from_slice(&record[..taken]);
        self.to_come -= taken;
        match self.to_come {
            0 => messages::take(&self.text, events).map_err(|fault| fault.of(&self.text)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn end(
        &mut self,
        records: u64,
        others: u64,
        interrupting: u64,
        events: &mut Emitter<'_>,
    ) -> Result<(), Fault> {
        let before = self.records - 1;
        if records != before {
            return Err(Fault::new(format!(
                "{before} records stand before the end, which says {records}"
            )));
        }
        self.ended = true;
        if interrupting > 0 {
            events.warn(format!(
                "{interrupting} accesses of signal handlers that came while the recorder worked are not in the trace"
            ));
        }
        if others > 0 {
            events.leave_others_out();
            events.warn(format!(
                "{others} accesses of threads that are not recorded, or no longer as they end, are not in the trace"
            ));
        }
        Ok(())
    }
}

#[cold]
fn check_first(record: &[u8; BYTES]) -> Result<(), Fault> {
    let Some(version) = record.strip_prefix(MAGIC) else {
        return Err(Fault::new("the first record is not `memwalk recording`"));
    };
    if !VERSIONS.iter().any(|known| version.starts_with(known)) {
        return Err(Fault::new(
            "another version; compile the program with the recorder that comes with this memwalk",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDER: &str = include_str!("../../recorder/memwalk_recorder.c");

    /// What the recorder defines a name as.
    fn defined(name: &str) -> &str {
        let line = RECORDER
            .lines()
            .find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.unwrap_or_else(|| panic!("{name} is not defined"))
    }

    #[test]
    fn the_recorder_has_the_same_kinds_and_bounds() {
        let (_, kinds) = RECORDER.split_once("enum kind { LOAD = 1, ").unwrap();
        let (kinds, _) = kinds.split_once(" };").unwrap();
        let ours = [
            ("STORE", STORE),
            ("EXCHANGE", EXCHANGE),
            ("LOADS", LOADS),
            ("STORES", STORES),
            ("MESSAGE", MESSAGE),
            ("END", END),
            ("LATCH", LATCH),
            ("SHARE_LATCH", SHARE_LATCH),
            ("UNLATCH", UNLATCH),
            ("BLOCK", BLOCK),
            ("BEGIN", BEGIN),
            ("AWAIT", AWAIT),
            ("THREAD", THREAD),
            ("MEET", MEET),
            ("SIGNAL", SIGNAL),
            ("WAKE", WAKE),
            ("COPY", COPY),
            ("MET", MET),
        ];
        let theirs: Vec<(&str, u64)> = kinds.split(", ").zip(LOAD + 1..).collect();
        assert_eq!(theirs, ours);
        assert_eq!(defined("MOST_RANGE"), MOST_RANGE.to_string());
        assert_eq!(defined("MOST_TEXT"), MOST_TEXT.to_string());
        assert_eq!(defined("VECTOR"), VECTOR.to_string());
        let first = [MAGIC, VERSIONS[0]].concat();
        let first = String::from_utf8(first).unwrap().replace('\n', "\\n");
        assert_eq!(defined("MAGIC"), format!("\"{first}\""));
    }
}
