//! DRAMsim3's text: one request per line, `address READ|WRITE cycle`.
//!
//! The cycle is the number of instructions before the access: one instruction per cycle. DRAMsim3 takes every word but
//! `WRITE` for a read (`W` too), and repeats the last address as one more read if the file ends with a newline; so the
//! words are spelt out and there is no final newline. Source: `src/common.cc` and `src/trace_based_cpu.cc` of DRAMsim3.

use super::output::Output;
use super::parts::accesses;
use super::{Encoder, Failure};
use crate::event::Event;
use std::io::Write;

pub(super) struct Dramsim3 {
    output: Output,
    line_bytes: u64,
    instructions: u64,
    /// What comes before the next record.
    separator: &'static str,
}

impl Dramsim3 {
    pub(super) fn new(output: Output, line_bytes: u64) -> Self {
        Self {
            output,
            line_bytes,
            instructions: 0,
            separator: "",
        }
    }
}

impl Encoder for Dramsim3 {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        self.instructions += u64::from(event.instructions);
        let word = if event.kind.is_store() {
            "WRITE"
        } else {
            "READ"
        };
        let mut records = 0;
        for part in accesses(event, self.line_bytes) {
            let (separator, cycle) = (self.separator, self.instructions);
            write!(self.output, "{separator}{:#x} {word} {cycle}", part.address)?;
            self.separator = "\n";
            records += 1;
        }
        self.instructions += event.own_instructions();
        Ok(records)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.output], 0))
    }
}
