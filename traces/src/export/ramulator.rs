//! Ramulator's two text formats, one request per line.
//!
//! - Version 2, front end `LoadStoreTrace`: `LD|ST address`, exactly one blank.
//! - Version 1, DRAM mode: `address R|W`.
//!
//! Source: `loadstore_trace.cpp` of Ramulator 2.1, `src/Processor.cpp` of Ramulator 1.

use super::output::Output;
use super::parts::accesses;
use super::{Encoder, Failure};
use crate::event::Event;
use std::io::Write;

/// The largest address that Ramulator 2 can parse: it reads signed numbers.
const ADDRESS_MAX: u64 = i64::MAX as u64;

pub(super) struct Ramulator {
    output: Output,
    line_bytes: u64,
}

impl Ramulator {
    pub(super) fn new(output: Output, line_bytes: u64) -> Self {
        Self { output, line_bytes }
    }
}

impl Encoder for Ramulator {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        let word = if event.kind.is_store() { "ST" } else { "LD" };
        let mut records = 0;
        for part in accesses(event, self.line_bytes) {
            if part.address > ADDRESS_MAX {
                return Err(Failure::Unsupported(format!(
                    "address {:#x} is beyond {ADDRESS_MAX:#x}, the largest that Ramulator 2 reads; format ramulator1 takes it",
                    part.address
                )));
            }
            writeln!(self.output, "{word} {:#x}", part.address)?;
            records += 1;
        }
        Ok(records)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.output], 0))
    }
}

pub(super) struct Ramulator1 {
    output: Output,
    line_bytes: u64,
}

impl Ramulator1 {
    pub(super) fn new(output: Output, line_bytes: u64) -> Self {
        Self { output, line_bytes }
    }
}

impl Encoder for Ramulator1 {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        let letter = if event.kind.is_store() { "W" } else { "R" };
        let mut records = 0;
        for part in accesses(event, self.line_bytes) {
            writeln!(self.output, "{:#x} {letter}", part.address)?;
            records += 1;
        }
        Ok(records)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.output], 0))
    }
}
