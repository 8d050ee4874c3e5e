//! gem5's elastic trace: instructions with what they wait for ([`crate::gem5::InstDepRecord`]), replayed by gem5's
//! `TraceCPU`, which moves them in time as the caches of the replay demand.
//!
//! - A load or store is one record per line; whoever depends on it depends on each of them. A prefetch is a load with
//!   the prefetch flag, for which nobody waits.
//! - The plain instructions before an event are `COMP` records, at most [`PLAIN`] in one, that stand for the front end: each
//!   waits (in the reorder buffer's order) for the one before it, as many cycles as the core needs to dispatch what came in
//!   between and to execute the plain part of it, and every later record waits for it. Its weight makes it fill the reorder
//!   buffer like the instructions. Instructions with records of their own take their time in the front end too, but no
//!   more than a full reorder buffer of them: those before have left it when `TraceCPU` lets the record in.
//! - Branches and arithmetic are `COMP` records. A dependence of the event is a register dependence of the record,
//!   with the cycles of the chain, or of the operation, as its delay.
//! - A store waits for the load and the store before it too, since stores leave the core in program order. Its records
//!   are as large as one of its words, for gem5 does not fetch a line that one record fills.
//!
//! The paired trace of instruction fetches ([`fetch_path`]) holds the trace's fetches, or else a few of a tiny loop,
//! since `TraceCPU` does not run without one.

use super::code::{CODE_BASE, instruction_address};
use super::gem5_packet::packets;
use super::output::Output;
use super::pace::Pace;
use super::parts::accesses;
use super::window::Records;
use super::{Encoder, Failure, Timing};
use crate::event::{Event, Kind};
use crate::gem5::{InstDepRecord, MessageWriter, Packet, RecordType, command, flag};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Events whose records are remembered. What lies further back has completed: it has left `TraceCPU`'s two windows.
const REMEMBERED: usize = 8192;
/// Plain instructions of one record at most. `TraceCPU` begins a record when the last of its instructions has room in the
/// reorder buffer; the core begins with the first.
const PLAIN: u64 = 16;
/// Fetches of the tiny loop.
const LOOP_FETCHES: u64 = 16;
/// Lines of the tiny loop.
const LOOP_LINES: u64 = 2;

/// Where the instruction fetches go that belong to the elastic trace at `path`: `.inst` is added to the name, before
/// `.gz` if it ends so.
#[must_use]
pub fn fetch_path(path: &Path) -> PathBuf {
    let (stem, suffix) = match path.extension() {
        Some(suffix) if suffix == "gz" => (path.with_extension(""), ".inst.gz"),
        _ => (path.to_path_buf(), ".inst"),
    };
    let mut name = stem.into_os_string();
    name.push(suffix);
    name.into()
}

pub(super) struct Gem5Elastic {
    records: Records,
    fetches: MessageWriter<Output>,
    fetched: u64,
    line_bytes: u64,
    pace: Pace,
    /// Sequence number of the next record.
    next: u64,
    /// Events before this one.
    events: u64,
    /// Sequence numbers of the records that bear the results of the latest events.
    results: Vec<Range<u64>>,
    /// The latest record of the front end.
    front: Option<u64>,
    last_load: Range<u64>,
    last_store: Range<u64>,
    /// When the front end has dispatched its latest record, in units of the pace.
    dispatched: u64,
    /// When the integer units have executed it.
    executed: u64,
    /// Instructions with records of their own since then.
    since: u64,
    /// Cycle of the latest record of the front end.
    cycle: u64,
    instructions: u64,
}

impl Gem5Elastic {
    pub(super) fn new(
        output: Output,
        fetches: Output,
        line_bytes: u64,
        timing: &Timing,
    ) -> io::Result<Self> {
        Ok(Self {
            records: Records::new(output)?,
            fetches: packets(fetches)?,
            fetched: 0,
            line_bytes,
            pace: Pace::new(timing),
            next: 1,
            events: 0,
            results: vec![0..0; REMEMBERED],
            front: None,
            last_load: 0..0,
            last_store: 0..0,
            dispatched: 0,
            executed: 0,
            since: 0,
            cycle: 0,
            instructions: 0,
        })
    }

    /// Writes a record, with its sequence number, which is returned.
    fn record(&mut self, record: InstDepRecord) -> io::Result<u64> {
        let seq_num = self.next;
        self.next += 1;
        self.records.write(InstDepRecord { seq_num, ..record })?;
        Ok(seq_num)
    }

    /// Lets the front end run the plain instructions before an event.
    fn plain(&mut self, event: &Event) -> io::Result<()> {
        let mut rest = u64::from(event.instructions);
        while rest > 0 {
            let count = rest.min(PLAIN);
            rest -= count;
            self.instructions += count;
            let cycle = self.advance(count) / self.pace.cycle;
            let record = InstDepRecord {
                r#type: RecordType::Comp.into(),
                rob_dep: self.front.into_iter().collect(),
                comp_delay: (cycle - self.cycle) * self.pace.period_ticks,
                weight: weight(count, 1),
                pc: Some(instruction_address(event.site)),
                ..InstDepRecord::default()
            };
            self.cycle = cycle;
            self.front = Some(self.record(record)?);
        }
        Ok(())
    }

    /// Moves the front end on by plain instructions and what came before them since its latest record; returns where it stands.
    ///
    /// It dispatches while the integer units execute, and is ahead of them by no more than a full reorder buffer.
    fn advance(&mut self, plain: u64) -> u64 {
        let before = self.since.min(self.pace.reorder_buffer);
        self.since = 0;
        let behind = self.pace.reorder_buffer * self.pace.plain;
        self.dispatched = self.dispatched.max(self.executed.saturating_sub(behind));
        self.dispatched += before * self.pace.dispatch;
        self.executed = self.executed.max(self.dispatched) + plain * self.pace.plain;
        self.dispatched += plain * self.pace.dispatch;
        self.dispatched.max(self.executed)
    }

    /// The records whose results `event` needs.
    fn needed(&self, event: &Event) -> Range<u64> {
        let back = u64::from(event.dep);
        if back == 0 || back > self.events || back > REMEMBERED as u64 {
            return 0..0;
        }
        self.results[(self.events - back) as usize % REMEMBERED].clone()
    }

    /// Writes the records of `event` and gives their sequence numbers.
    fn event(&mut self, event: &Event) -> io::Result<Range<u64>> {
        let needed = self.needed(event);
        let chain = u64::from(event.chain);
        let mut rob_dep: Vec<u64> = self.front.into_iter().collect();
        let (kind, flags, latency) = match event.kind {
            // What waits for the result of an exchange can wait for a load only.
            Kind::Load | Kind::Exchange => (RecordType::Load, None, 0),
            Kind::Prefetch | Kind::PrefetchNta => (RecordType::Load, Some(flag::PREFETCH), 0),
            Kind::Store | Kind::StoreNta => {
                let before = self.last_load.clone().chain(self.last_store.clone());
                rob_dep.extend(before.filter(|sequence| !needed.contains(sequence)));
                (RecordType::Store, None, 0)
            }
            _ => (RecordType::Comp, None, self.pace.latency(event)),
        };
        let record = InstDepRecord {
            r#type: kind.into(),
            flags,
            rob_dep,
            comp_delay: (chain + latency) * self.pace.period_ticks,
            reg_dep: needed.collect(),
            pc: Some(instruction_address(event.site)),
            ..InstDepRecord::default()
        };
        let first = self.next;
        let lines = accesses(event, self.line_bytes).count() as u64;
        let mut weight = weight(event.own_instructions(), lines.max(1));
        let largest = match event.kind {
            Kind::Store | Kind::StoreNta => {
                u32::from(event.size.div_ceil(event.words.max(1))).max(1)
            }
            _ => u32::MAX,
        };
        for part in accesses(event, self.line_bytes) {
            self.record(InstDepRecord {
                p_addr: Some(part.address),
                size: Some(part.size.min(largest)),
                weight: weight.take(),
                ..record.clone()
            })?;
        }
        if lines == 0 {
            self.record(record)?;
        }
        self.instructions += event.own_instructions();
        self.since += event.own_instructions();
        Ok(first..self.next)
    }

    /// Writes a fetch into the paired trace.
    fn fetch(&mut self, event: &Event) -> io::Result<()> {
        let cycle = self.instructions;
        for part in accesses(event, self.line_bytes) {
            self.fetch_packet(cycle, part.address, part.size)?;
        }
        Ok(())
    }

    fn fetch_packet(&mut self, cycle: u64, address: u64, size: u32) -> io::Result<()> {
        self.fetched += 1;
        self.fetches.write(&Packet {
            tick: cycle.saturating_mul(self.pace.period_ticks),
            cmd: command::READ_REQ,
            addr: address,
            size,
            flags: Some(flag::INST_FETCH),
            pkt_id: None,
            pc: Some(address),
        })
    }
}

impl Encoder for Gem5Elastic {
    fn encode(&mut self, event: &Event) -> Result<u64, Failure> {
        let before = self.records.written + self.fetched;
        self.plain(event)?;
        let result = match event.kind {
            Kind::Fetch => {
                self.fetch(event)?;
                0..0
            }
            _ if event.own_instructions() > 0 => self.event(event)?,
            _ => 0..0,
        };
        match event.kind {
            Kind::Load | Kind::Exchange => self.last_load = result.clone(),
            Kind::Store | Kind::StoreNta => self.last_store = result.clone(),
            _ => {}
        }
        let bears_result = event.kind.moves_words() || event.kind == Kind::Op;
        self.results[self.events as usize % REMEMBERED] = if bears_result { result } else { 0..0 };
        self.events += 1;
        Ok(self.records.written + self.fetched - before)
    }

    fn finish(mut self: Box<Self>) -> Result<(Vec<Output>, u64), Failure> {
        let before = self.fetched;
        if before == 0 {
            for fetch in 0..LOOP_FETCHES {
                let line = CODE_BASE + fetch % LOOP_LINES * self.line_bytes;
                // The size of a line fits in 32 bits on every machine.
                self.fetch_packet(fetch, line, self.line_bytes as u32)?;
            }
        }
        let records = self.fetched - before;
        Ok((
            vec![self.fetches.into_inner(), self.records.finish()?],
            records,
        ))
    }
}

/// The weight of `records` records for so many instructions: those that have no record of their own.
fn weight(instructions: u64, records: u64) -> Option<u32> {
    let rest = u32::try_from(instructions.saturating_sub(records)).unwrap_or(u32::MAX);
    (rest > 0).then_some(rest)
}
