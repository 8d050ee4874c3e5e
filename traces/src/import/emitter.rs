//! Turns the accesses and instructions of a foreign trace into events.

mod waiting;

pub use waiting::NOT_BEGUN;

use crate::event::{Event, Kind};
use crate::import::regions::Regions;
use crate::import::sites::Sites;
use crate::import::waits::{Told, Waits};
use crate::layout::Layout;
use crate::sink::{EventSink, SinkError};
use serde::{Deserialize, Serialize};

/// Events handed to the sink at a time.
const BATCH_EVENTS: usize = 4096;
/// Warnings that are kept; the rest are counted.
const MOST_WARNINGS: usize = 20;

/// What becomes of the instructions that a foreign trace lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instructions {
    /// They are counted.
    #[default]
    Count,
    /// They are counted, and where they stand is told to the instruction cache.
    Fetch,
    /// They are left out; each access still counts as one.
    Drop,
}

/// What an import took, and what it had to change or leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Memory accesses: loads, stores and software prefetches.
    pub accesses: u64,
    /// Instructions that the foreign trace lists; 0 if it lists none.
    pub listed_instructions: u64,
    /// Accesses and fetches cut short: they reached beyond the top of memory or had more than 65535 bytes.
    pub clipped: u64,
    /// Lines or records that stand for nothing a simulation sees, such as a tool's messages.
    pub skipped: u64,
    /// Basic blocks that ran and are not in the program, which says how many instructions they have.
    pub unknown_blocks: u64,
    /// Conditional branches whose outcome is known.
    pub branches: u64,
    /// Accesses that the program itself left out (`memwalk on` and `memwalk off`).
    pub left_out: u64,
    /// Instructions that have a site of their own: those that access memory, up to 65534 of them.
    pub sites: u64,
    /// Events of all other instructions whose address is known.
    pub other_sites: u64,
}

/// The names that a trace gives, by all threads of its program.
#[derive(Debug)]
pub(super) struct Names {
    regions: Regions,
    sites: Sites,
}

impl Names {
    /// Those of regions and phases only.
    pub(super) fn of(regions: Regions) -> Self {
        Self {
            regions,
            sites: Sites::default(),
        }
    }

    /// Instructions that have a site of their own.
    pub(super) fn known_sites(&self) -> u64 {
        self.sites.known()
    }

    /// What the user should know of them is added to `warnings`.
    pub(super) fn layout(self, warnings: &mut Vec<String>) -> Layout {
        let sites = self.sites.names();
        let (segments, phases) = self.regions.finish(warnings);
        Layout {
            segments,
            sites,
            phases,
            calls: Vec::new(),
        }
    }
}

/// What an import knows at its end.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) tally: Tally,
    pub(super) names: Names,
    /// The program asked first of all to be recorded, and not before.
    pub(super) began_late: bool,
    /// What the recording has said of threads that wait for each other.
    pub(super) waits: Told,
    /// What the user should know, a sentence each.
    pub(super) warnings: Vec<String>,
}

/// Collects events for a sink.
///
/// An instruction of the foreign trace is the access that follows it. If none does, it is a plain instruction of the
/// next event; if several do, each is an instruction of memwalk's, and the surplus is taken from the plain
/// instructions that follow, so that the sum stays that of the foreign trace.
pub(super) struct Emitter<'s> {
    sink: &'s mut dyn EventSink,
    instructions: Instructions,
    batch: Vec<Event>,
    /// Events that the sink has.
    handed: u64,
    /// Number of the first event that it has not forgotten.
    first: u64,
    /// The last instruction listed has no event yet.
    open: bool,
    /// Plain instructions since the last event.
    plain: u64,
    surplus: u64,
    /// Instructions that are assumed for each access, itself included; and how many of them were given, beside accesses and branches.
    per_access: f64,
    assumed: u64,
    tally: Tally,
    sites: Sites,
    regions: Regions,
    /// The phase that runs.
    phase: u64,
    /// It began while nothing was recorded.
    phase_unmarked: bool,
    /// Nothing is recorded until the program says so.
    off: bool,
    /// The program has other threads, which are imported with this one.
    has_others: bool,
    waits: Waits,
    /// The program has said at least once whether it wants to be recorded.
    switched: bool,
    /// The first time, it did.
    began_late: bool,
    warnings: Vec<String>,
    unsaid_warnings: u64,
}

impl Tally {
    /// Both of them, of two threads that have their names in common.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            accesses: self.accesses + other.accesses,
            listed_instructions: self.listed_instructions + other.listed_instructions,
            clipped: self.clipped + other.clipped,
            skipped: self.skipped + other.skipped,
            unknown_blocks: self.unknown_blocks + other.unknown_blocks,
            branches: self.branches + other.branches,
            left_out: self.left_out + other.left_out,
            sites: self.sites.max(other.sites),
            other_sites: self.other_sites.max(other.other_sites),
        }
    }
}

impl<'s> Emitter<'s> {
    pub(super) fn new(
        sink: &'s mut dyn EventSink,
        instructions: Instructions,
        names: Names,
    ) -> Self {
        Self {
            sink,
            instructions,
            batch: Vec::with_capacity(2 * BATCH_EVENTS),
            handed: 0,
            first: 0,
            open: false,
            plain: 0,
            surplus: 0,
            per_access: 1.0,
            assumed: 0,
            tally: Tally::default(),
            sites: names.sites,
            regions: names.regions,
            phase: 0,
            phase_unmarked: false,
            off: false,
            has_others: false,
            waits: Waits::default(),
            switched: false,
            began_late: false,
            warnings: Vec::new(),
            unsaid_warnings: 0,
        }
    }

    /// Each access stands for so many instructions, itself included, which the trace does not list.
    pub(super) fn assume(&mut self, per_access: f64) {
        self.per_access = per_access;
    }

    /// An instruction was executed; the accesses that follow are its own. `code` is its address and size in bytes.
    #[inline]
    pub(super) fn instruction(&mut self, code: Option<(u64, u64)>) {
        if self.off {
            return;
        }
        self.at(code.map(|(address, _)| address));
        self.tally.listed_instructions += 1;
        if self.instructions == Instructions::Drop {
            return;
        }
        self.close_instruction();
        if let (Instructions::Fetch, Some((address, size))) = (self.instructions, code) {
            self.fetch(address, size);
        }
        self.open = true;
    }

    /// The accesses that follow are those of the instruction at `address`, which is not listed as executed.
    #[inline]
    pub(super) fn at(&mut self, address: Option<u64>) {
        self.sites.enter(address);
    }

    /// So many instructions without an access were executed.
    pub(super) fn plain_instructions(&mut self, count: u32) {
        if self.off {
            return;
        }
        self.tally.listed_instructions += u64::from(count);
        if self.instructions != Instructions::Drop {
            self.close_instruction();
            self.add_plain(u64::from(count));
        }
    }

    /// A basic block ran of which nobody knows how many instructions it has.
    pub(super) fn unknown_block(&mut self) {
        self.tally.unknown_blocks += u64::from(!self.off);
    }

    /// Code bytes were fetched, for formats that do not say how many instructions they are.
    pub(super) fn fetch(&mut self, address: u64, size: u64) {
        if self.instructions == Instructions::Fetch && !self.off {
            self.push(Kind::Fetch, address, size, 0);
        }
    }

    /// `size` bytes at `address` were read.
    #[inline]
    pub(super) fn load(&mut self, address: u64, size: u64) {
        self.access(Kind::Load, address, size);
    }

    /// `size` bytes at `address` were written.
    #[inline]
    pub(super) fn store(&mut self, address: u64, size: u64) {
        self.access(Kind::Store, address, size);
    }

    /// As [`Emitter::load`], at an address that event `needed` has brought. The number of the load's own event, if it is recorded.
    #[inline]
    pub(super) fn load_through(
        &mut self,
        address: u64,
        size: u64,
        needed: Option<u64>,
    ) -> Option<u64> {
        self.access_through(Kind::Load, address, size, needed)
    }

    /// As [`Emitter::store`], at an address that event `needed` has brought.
    #[inline]
    pub(super) fn store_through(&mut self, address: u64, size: u64, needed: Option<u64>) {
        self.access_through(Kind::Store, address, size, needed);
    }

    /// `size` bytes at `address`, which event `needed` has brought, were read and written with nobody in between.
    #[inline]
    pub(super) fn exchange_through(&mut self, address: u64, size: u64, needed: Option<u64>) {
        self.access_through(Kind::Exchange, address, size, needed);
    }

    /// `size` bytes at `address` were read and written.
    #[inline]
    pub(super) fn modify(&mut self, address: u64, size: u64) {
        self.load(address, size);
        self.store(address, size);
    }

    /// The line of `address` was asked for ahead of its use.
    pub(super) fn prefetch(&mut self, kind: Kind, address: u64) {
        self.access(kind, address, 1);
    }

    /// The instruction was a conditional branch.
    pub(super) fn branch(&mut self, taken: bool) {
        if self.off {
            return;
        }
        self.tally.branches += 1;
        self.take_instruction();
        let instructions = self.take_plain();
        let site = self.sites.take();
        self.batch.push(Event {
            instructions,
            site,
            ..Event::new(Kind::Branch, u64::from(taken))
        });
    }

    /// As [`Emitter::branch`], for one that is decided by what event `needed` has brought.
    #[inline]
    pub(super) fn branch_on(&mut self, taken: bool, needed: Option<u64>) {
        self.branch(taken);
        if !self.off {
            self.let_last_need(needed);
        }
    }

    /// A line or record stood for nothing.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.tally.skipped += 1;
    }

    /// The user should know this.
    #[cold]
    pub(super) fn warn(&mut self, warning: String) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.unsaid_warnings += 1;
        }
    }

    /// The names that the program gives.
    pub(super) fn regions(&mut self) -> &mut Regions {
        &mut self.regions
    }

    /// Phase `phase` begins.
    pub(super) fn open_phase(&mut self, phase: u64) {
        self.close_instruction();
        let instructions = self.take_plain();
        self.phase = phase;
        self.phase_unmarked = self.off;
        if !self.off {
            self.push_mark(instructions);
        }
    }

    /// Goes on recording; if the program never asked to stop, the trace begins here.
    pub(super) fn switch_on(&mut self) -> Result<(), SinkError> {
        if !self.switched {
            self.begin_here()?;
            self.began_late = true;
        }
        self.switched = true;
        self.off = false;
        if std::mem::take(&mut self.phase_unmarked) {
            self.push_mark(0);
        }
        self.tell_locks();
        Ok(())
    }

    /// Records nothing until [`Emitter::switch_on`].
    pub(super) fn switch_off(&mut self) {
        self.carry_rest();
        self.switched = true;
        self.off = true;
    }

    /// Forgets everything but names and warnings.
    fn begin_here(&mut self) -> Result<(), SinkError> {
        self.sink.forget()?;
        self.handed += self.batch.len() as u64;
        self.first = self.handed;
        self.batch.clear();
        (self.open, self.plain, self.surplus) = (false, 0, 0);
        self.assumed = 0;
        self.tally = Tally {
            skipped: self.tally.skipped,
            left_out: self.tally.left_out + self.tally.accesses,
            ..Tally::default()
        };
        self.sites = Sites::default();
        self.waits.forget();
        self.phase_unmarked = self.phase > 0;
        Ok(())
    }

    /// Hands over what has been collected, once that is enough.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<(), SinkError> {
        if self.batch.len() >= BATCH_EVENTS {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Hands over everything, the instructions after the last access too.
    pub(super) fn finish(mut self) -> Result<Finished, SinkError> {
        self.carry_rest();
        self.leave_all();
        self.flush()?;
        if self.unsaid_warnings > 0 {
            let more = format!("and {} more of the kind", self.unsaid_warnings);
            self.warnings.push(more);
        }
        Ok(Finished {
            tally: Tally {
                sites: self.sites.known(),
                other_sites: self.sites.others(),
                ..self.tally
            },
            names: Names {
                regions: self.regions,
                sites: self.sites,
            },
            began_late: self.began_late,
            waits: self.waits.into_told(),
            warnings: self.warnings,
        })
    }

    #[inline]
    fn access(&mut self, kind: Kind, address: u64, size: u64) {
        if self.off {
            self.tally.left_out += 1;
            return;
        }
        self.tally.accesses += 1;
        self.take_instruction();
        if self.per_access > 1.0 {
            // Of the instructions that the user has counted until here some are accesses, and some are branches.
            // 100 times 2.01 are 201, though no binary number is 2.01.
            let all = self.tally.accesses as f64 * self.per_access * (1.0 + f64::EPSILON);
            let known = self.tally.accesses + self.tally.branches + self.assumed;
            let plain = (all as u64).saturating_sub(known);
            self.plain += plain;
            self.assumed += plain;
        }
        let site = self.sites.take();
        self.push(kind, address, size, site);
    }

    /// As [`Emitter::access`], if it needs event `needed`. The number of its own event, if it is recorded.
    #[inline]
    fn access_through(
        &mut self,
        kind: Kind,
        address: u64,
        size: u64,
        needed: Option<u64>,
    ) -> Option<u64> {
        self.access(kind, address, size);
        (!self.off).then(|| self.let_last_need(needed))
    }

    /// The last event needs event `needed`. Gives its own number.
    #[inline]
    fn let_last_need(&mut self, needed: Option<u64>) -> u64 {
        let own = self.handed + self.batch.len() as u64 - 1;
        let needed = needed.filter(|&needed| needed >= self.first);
        if let (Some(needed), Some(event)) = (needed, self.batch.last_mut()) {
            // What is so far back has long been there.
            event.dep = u32::try_from(own - needed).unwrap_or(0);
        }
        own
    }

    /// The next event is the open instruction, or one more of it.
    #[inline]
    fn take_instruction(&mut self) {
        let counted = self.tally.listed_instructions > 0 && self.instructions != Instructions::Drop;
        self.surplus += u64::from(counted && !self.open);
        self.open = false;
    }

    /// The open instruction had no event.
    #[inline]
    fn close_instruction(&mut self) {
        if self.open {
            self.open = false;
            self.add_plain(1);
        }
    }

    #[inline]
    fn add_plain(&mut self, count: u64) {
        let paid = self.surplus.min(count);
        self.surplus -= paid;
        self.plain += count - paid;
    }

    #[inline]
    fn push(&mut self, kind: Kind, address: u64, size: u64, site: u16) {
        let fits = size
            .min(u64::from(u16::MAX))
            .min((u64::MAX - address).saturating_add(1));
        self.tally.clipped += u64::from(fits < size);
        let instructions = self.take_plain();
        self.batch.push(Event {
            size: fits as u16,
            instructions,
            site,
            ..Event::new(kind, address)
        });
    }

    /// The plain instructions of the next event; what does not fit goes into events before it.
    #[inline]
    fn take_plain(&mut self) -> u16 {
        if self.plain > u64::from(u16::MAX) {
            self.carry();
        }
        std::mem::take(&mut self.plain) as u16
    }

    #[cold]
    fn carry(&mut self) {
        while self.plain > u64::from(u16::MAX) {
            self.plain -= u64::from(u16::MAX);
            self.push_mark(u16::MAX);
        }
    }

    /// Leaves no instruction without an event.
    fn carry_rest(&mut self) {
        self.close_instruction();
        if self.plain > 0 {
            let instructions = self.take_plain();
            self.push_mark(instructions);
        }
    }

    /// Opens the phase that runs. If it was open already, that carries instructions and changes nothing.
    fn push_mark(&mut self, instructions: u16) {
        self.batch.push(Event {
            instructions,
            ..Event::new(Kind::Mark, self.phase)
        });
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        let taken = self.sink.consume(&self.batch);
        self.handed += self.batch.len() as u64;
        self.batch.clear();
        taken
    }
}
