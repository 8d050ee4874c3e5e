//! Dinero's `din` text: one access per line, `label address`, the address in hexadecimal.
//!
//! Labels: 0 read, 1 write, 2 instruction fetch, 3 a read that is neither; prefetches by software become the last.
//! Source: the manual page of Dinero IV, option `-informat d`.

use super::output::Output;
use super::parts::accesses;
use super::{Encoder, Failure};
use crate::event::{Event, Kind};
use std::io::Write;

pub(super) struct Din {
    output: Output,
    line_bytes: u64,
}

impl Din {
    pub(super) fn new(output: Output, line_bytes: u64) -> Self {
        Self { output, line_bytes }
    }
}

impl Encoder for Din {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        let label = match event.kind {
            kind if kind.is_store() => 1,
            Kind::Fetch => 2,
            Kind::Prefetch | Kind::PrefetchNta => 3,
            _ => 0,
        };
        let mut records = 0;
        for part in accesses(event, self.line_bytes) {
            writeln!(self.output, "{label} {:x}", part.address)?;
            records += 1;
        }
        Ok(records)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        Ok((vec![self.output], 0))
    }
}
