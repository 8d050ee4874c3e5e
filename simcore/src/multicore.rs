//! Several cores that share cache levels, bus and memory, advanced in time order.
//!
//! The core whose next event asks the caches first goes on until it no longer does; ties go to the lower number. It may run ahead of the
//! others as long as all it needs is its own: nobody sees the difference. Private caches see each other's writes if the machine says so
//! ([`crate::spec::CoherenceSpec`]); else there is no coherence traffic.

mod latches;
mod lines;
mod order;
mod pages;
mod reading;
#[cfg(test)]
mod tests;
mod thread;

use crate::core::{Program, Until};
use crate::ledger::Accounts;
use crate::spec::{Inclusion, MachineSpec, SpecError};
use crate::statistics::{DramStatistics, Statistics};
use crate::storage::Storage;
use crate::system::System;
use latches::{Hold, Latch, Latches};
use lines::Awaiting;
use order::Order;
use pages::Pages;
use reading::Reading;
use serde::Serialize;
use thread::Thread;
use traces::{EventSource, HeldForEver, Kind, Layout, SinkError};

/// What runs on a core.
#[derive(Clone, Copy, Debug)]
pub struct ThreadOf<'l> {
    /// Number of its program, from 0 on. Threads of one program meet at barriers, and equal addresses are one place for them;
    /// programs have nothing in common.
    pub program: usize,
    /// The names that its events refer to.
    pub layout: &'l Layout,
}

impl<'l> ThreadOf<'l> {
    /// Threads of one program.
    pub fn one_program(layouts: impl IntoIterator<Item = &'l Layout>) -> Vec<Self> {
        let threads = layouts.into_iter();
        threads.map(|layout| Self { program: 0, layout }).collect()
    }

    /// Programs of one thread each.
    pub fn programs(layouts: impl IntoIterator<Item = &'l Layout>) -> Vec<Self> {
        let programs = layouts.into_iter().enumerate();
        programs
            .map(|(program, layout)| Self { program, layout })
            .collect()
    }
}

/// After so many events of a turn its progress is told, and another core may have the next: the longer a core goes on, the longer
/// the host has its state at hand.
const LONGEST_TURN: usize = 1 << 15;

/// Several cores in the middle of a run.
#[derive(Debug)]
pub struct Multicore {
    system: System,
    /// By core.
    threads: Vec<Thread>,
    /// When each of them goes on.
    order: Order,
    latches: Latches,
    /// Cores that wait until it is known when a line comes.
    awaiting: Awaiting,
    /// Where pages come from; from nowhere, if they take no time.
    pages: Option<Pages>,
    /// Whether what a core finds in its own caches does not depend on others.
    has_own_caches: bool,
    /// Whether cores go on behind their loads before it is known when they end.
    leaves_loads_open: bool,
    /// Whether a core need not wait for others where it accesses nothing, or finds everything there.
    may_run_ahead: bool,
}

/// The results of a run on several cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MulticoreStatistics {
    /// All cores together. Counts and slots are sums, cycles are those until the last core had finished. The inside of memory, for
    /// models that have one, is of the whole run, warm-ups included, as each core ends its own at another time.
    #[serde(flatten)]
    pub together: Statistics,
    /// Each core by itself, its accesses to the shared levels included.
    pub cores: Vec<Statistics>,
}

impl MulticoreStatistics {
    fn of(cores: impl Iterator<Item = Statistics>, dram: Option<DramStatistics>) -> Self {
        let cores: Vec<Statistics> = cores.collect();
        let together = Statistics::together(&cores).expect("a program has a core");
        Self {
            together: Statistics { dram, ..together },
            cores,
        }
    }
}

impl Multicore {
    /// One core for each thread, at cycle 0 with empty caches.
    ///
    /// # Errors
    /// The machine cannot exist, or has fewer cores than there are threads.
    ///
    /// # Panics
    /// If there is no thread.
    pub fn new(spec: &MachineSpec, threads: &[ThreadOf<'_>]) -> Result<Self, SpecError> {
        Self::with_accounts(spec, threads, Accounts::Segments)
    }

    /// The same with other accounts than those by segment.
    ///
    /// # Errors
    /// As for [`Multicore::new`].
    ///
    /// # Panics
    /// If there is no thread.
    pub fn with_accounts(
        spec: &MachineSpec,
        threads: &[ThreadOf<'_>],
        accounts: Accounts,
    ) -> Result<Self, SpecError> {
        assert!(!threads.is_empty(), "somebody runs");
        spec.validate()?;
        if threads.len() > spec.cores as usize {
            return Err(SpecError {
                path: "cores".to_owned(),
                message: format!(
                    "{} threads need as many cores, but the machine has {}",
                    threads.len(),
                    spec.cores
                ),
            });
        }
        let programs: Vec<_> = threads
            .iter()
            .map(|thread| Program {
                layout: thread.layout,
                number: thread.program as u64,
                accounts,
            })
            .collect();
        let system = System::new(spec, &programs)?;
        let leaves_loads_open = threads.len() > 1 && system.caches.leave_loads_open();
        let threads: Vec<_> = threads
            .iter()
            .map(|thread| Thread::of(thread.program))
            .collect();
        Ok(Self {
            system,
            order: Order::of(threads.len()),
            latches: Latches::new(),
            awaiting: Awaiting::default(),
            pages: None,
            threads,
            has_own_caches: spec.coherence.is_none()
                && !spec
                    .caches
                    .iter()
                    .any(|cache| cache.shared && cache.inclusion == Inclusion::Inclusive),
            leaves_loads_open,
            may_run_ahead: true,
        })
    }

    /// Has pages come from `storage`, from the first on: a core that reads one stops until it is there. A program ends when all that it wrote
    /// is on storage, for which the core waits that ended last.
    ///
    /// No core accesses anything ahead of others then: a page that arrives takes the lines of its frame out of the caches of all.
    pub fn set_storage(&mut self, storage: Box<dyn Storage>) {
        let cores = &mut self.system.cores;
        for core in &mut *cores {
            core.await_pages(storage.cpu_per_page_ps());
        }
        let hz = cores[0].clock_hz();
        self.pages = Some(Pages::new(storage, hz));
        self.has_own_caches = false;
    }

    /// Has each program begin in a cycle of its own, by number; nothing has been run. They know nothing of each other, so that none can pause
    /// the others: a [`traces::Kind::Flush`] leaves caches and TLBs as they are.
    ///
    /// # Panics
    /// If there are fewer cycles than programs.
    pub fn begin_programs(&mut self, cycles: &[u64]) {
        let System { cores, caches } = &mut self.system;
        for (core, thread) in cores.iter_mut().zip(&self.threads) {
            core.begin_beside_others(caches, cycles[thread.program]);
        }
    }

    /// Runs each core's events, `sources` being in the order of the threads, and calls `progress` now and then with the number of
    /// events since it was called.
    ///
    /// # Errors
    /// The first error of a source, of `progress`, of storage, or of an event that the machine cannot run; or the run lasts too long.
    pub fn run(
        &mut self,
        sources: &mut [&mut dyn EventSource],
        // Not any closure: of a generic function, all that it calls would be exported and called by address.
        progress: &mut dyn FnMut(usize) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        for number in 0..self.threads.len() {
            self.go_on(number, sources)?;
        }
        let mut ran_since = 0;
        while let Some((number, turn)) = self.turn(sources)? {
            if self.threads[number].is_at_latch() {
                self.pass_latch(number, sources)?;
                continue;
            }
            self.empty_caches(number);
            let System { cores, caches } = &mut self.system;
            let thread = &mut self.threads[number];
            loop {
                let ran = cores[number].take_turn(caches, thread.events(), &turn)?;
                thread.skip(ran);
                ran_since += ran;
                if ran_since >= LONGEST_TURN {
                    progress(std::mem::take(&mut ran_since))?;
                    break;
                }
                // What asks for a page ends the turn too.
                if !thread.has_run_all() || cores[number].has_asked() {
                    break;
                }
                cores[number].check(caches)?;
                if !thread.refill(sources[number])? {
                    break;
                }
            }
            if self.stops(number)? {
                self.order.stop(number);
            } else {
                self.go_on(number, sources)?;
            }
        }
        if let Some((waiting, holder)) = self.latches.waiting() {
            return Err(HeldForEver { waiting, holder }.into());
        }
        progress(ran_since)
    }

    /// Empties the caches of all cores, also of those that have ended or wait, if that is due before the next event of one that has its turn.
    #[inline]
    fn empty_caches(&mut self, number: usize) {
        let System { cores, caches } = &mut self.system;
        let next = &self.threads[number].events()[0];
        let Some(cycle) = cores[number].emptied_before(next) else {
            return;
        };
        for core in &mut *cores {
            core.empty_own_caches(caches, cycle);
        }
        cores[number].empty_shared_caches(caches, cycle);
    }

    /// A thread takes, awaits or releases a latch. If another holds it, it waits until that has released it.
    #[cold]
    fn pass_latch(
        &mut self,
        number: usize,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        let event = self.threads[number].events()[0];
        let latch = (self.threads[number].program, event.latch());
        let Some(hold) = Hold::of(event.kind) else {
            let System { cores, caches } = &mut self.system;
            let cycle = cores[number].reach(caches, &event);
            if let Some(reading) = self.read_in_vain(number, latch) {
                for taken in self.threads[number].read_again(reading) {
                    self.release(taken, (number, cycle), sources)?;
                }
                return self.go_on(number, sources);
            }
            self.threads[number].skip(1);
            self.release(latch, (number, cycle), sources)?;
            return self.go_on(number, sources);
        };
        let threads = &self.threads;
        let oldest = || threads.iter().filter_map(Thread::oldest_reading).min();
        self.latches.forget(self.system.cores[number].now(), oldest);
        match self.latches.take(latch, number, hold) {
            Some(free) => self.take_latch(number, free, sources),
            None => {
                self.order.stop(number);
                self.threads[number].wait_for_latch();
                Ok(())
            }
        }
    }

    /// A thread goes on with a latch that is free from a cycle on.
    fn take_latch(
        &mut self,
        number: usize,
        free: u64,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        // A program of one thread has nobody who could change what it reads.
        let has_others = thread::has_others(&self.threads, number);
        let thread = &mut self.threads[number];
        let event = &thread.events()[0];
        let System { cores, caches } = &mut self.system;
        cores[number].take_latch(caches, event, free);
        if event.kind == Kind::AwaitLatch && has_others {
            let latch = (thread.program, event.latch());
            thread.begin_reading(latch, self.latches.changes());
        }
        thread.get_latch();
        self.go_on(number, sources)
    }

    /// A thread releases a latch in a cycle: others may go on.
    fn release(
        &mut self,
        latch: Latch,
        (number, cycle): (usize, u64),
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        for (next, free) in self.latches.release(latch, number, cycle) {
            self.take_latch(next, free, sources)?;
        }
        Ok(())
    }

    /// A thread is done with what a latch guards: what it has read in vain, as it had only awaited the latch and somebody has held it alone
    /// since, is to be read again, if that can be done.
    fn read_in_vain(&mut self, number: usize, latch: Latch) -> Option<Reading> {
        let thread = &mut self.threads[number];
        let reading = thread.end_reading(latch)?;
        if self.latches.is_held_by(latch, number) {
            return None;
        }
        let in_vain = self.latches.changed_since(latch, reading.changes);
        let again = in_vain && thread.can_read_again(&reading);
        self.system.cores[number].count_reading(in_vain, again);
        again.then_some(reading)
    }

    /// Finds out what a thread does next.
    #[inline]
    fn go_on(
        &mut self,
        number: usize,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        if !self.threads[number].has_next() {
            return self.look_ahead(number, sources);
        }
        if self.leaves_loads_open && self.waits_for_line(number) {
            return Ok(());
        }
        let System { cores, caches } = &mut self.system;
        let next = &self.threads[number].events()[0];
        let mut begins = cores[number].begins(caches, next, self.has_own_caches);
        if self.leaves_loads_open {
            begins = begins.min(cores[number].next_ask());
        }
        self.order.go_on(number, begins, cores[number].asks_from());
        Ok(())
    }

    /// Gets more events of a thread; if it waits at a barrier, or has ended, others may have waited for that.
    #[cold]
    fn look_ahead(
        &mut self,
        number: usize,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        let mut on_their_way = vec![number];
        while let Some(number) = on_their_way.pop() {
            let System { cores, caches } = &mut self.system;
            cores[number].check(caches)?;
            self.threads[number].refill_if_empty(sources[number])?;
            if self.leaves_loads_open && self.waits_for_line(number) {
                continue;
            }
            let System { cores, caches } = &mut self.system;
            let thread = &mut self.threads[number];
            let barrier = thread.look_ahead();
            if let Some(barrier) = &barrier {
                thread.wait_from(cores[number].reach(caches, barrier));
            }
            if thread.runs() {
                self.go_on(number, sources)?;
                continue;
            }
            self.order.stop(number);
            let program = thread.program;
            if thread.has_ended() {
                let System { cores, caches } = &mut self.system;
                cores[number].end(caches);
            }
            if thread::have_ended(&self.threads, program) {
                self.leave(program);
            }
            let met = thread::meeting(&self.threads, program)?;
            let waits_for_writes = match (met, barrier) {
                (Some(_), barrier) => barrier.is_some_and(|barrier| barrier.waits_for_writes()),
                (None, _) => thread::have_ended(&self.threads, program),
            };
            if let Some(pages) = &mut self.pages
                && waits_for_writes
            {
                pages.await_written_by(program);
            } else if let Some(cycle) = met {
                on_their_way.extend(self.leave_barrier(program, cycle));
            }
        }
        Ok(())
    }

    /// A program has ended, and others may go on.
    fn leave(&mut self, program: usize) {
        let System { cores, caches } = &mut self.system;
        for (core, thread) in cores.iter_mut().zip(&self.threads) {
            if thread.program == program {
                core.leave(caches);
            }
        }
    }

    /// Lets the threads of a program go on behind a barrier, at which the last was in a cycle, and gives their numbers.
    fn leave_barrier(&mut self, program: usize, cycle: u64) -> Vec<usize> {
        let threads = self.threads.iter_mut().enumerate();
        let met: Vec<_> = threads
            .filter(|(_, thread)| thread.program == program)
            .collect();
        let alone = met.len() == 1;
        let go_on = |(number, thread): (usize, &mut Thread)| {
            // Nobody to wait for: not even for one's own stores.
            if !alone {
                self.system.cores[number].leave_barrier(cycle);
            }
            thread.leave_barrier();
            number
        };
        met.into_iter().map(go_on).collect()
    }

    /// All that a program has written is on storage, for which one of its cores has waited: its threads go on if they are at a barrier.
    fn go_on_behind_writes(
        &mut self,
        number: usize,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        let program = self.threads[number].program;
        if let Some(cycle) = thread::meeting(&self.threads, program)? {
            let cycle = cycle.max(self.system.cores[number].now());
            for number in self.leave_barrier(program, cycle) {
                self.go_on(number, sources)?;
            }
        }
        Ok(())
    }

    /// Passes on to storage what a core asks for, and says whether it stops for that.
    #[inline]
    fn stops(&mut self, number: usize) -> Result<bool, SinkError> {
        match &mut self.pages {
            None => Ok(false),
            Some(pages) => pages.serve(number, &mut self.system),
        }
    }

    /// The core whose next event asks first, of those that run, and how long its turn lasts. Ties go to the lower number.
    fn turn(
        &mut self,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<Option<(usize, Until)>, SinkError> {
        loop {
            if self.leaves_loads_open {
                self.find_lines(sources)?;
            }
            if self.pages.is_some() {
                self.catch_up(sources)?;
            }
            if !self.is_awaiting_first() {
                break;
            }
        }
        let (first, second) = self.order.first_two();
        let Some((number, begin)) = first else {
            return Ok(None);
        };
        let (other, begins) = second.unwrap_or((usize::MAX, order::NEVER));
        self.give_turn(number);
        self.awaiting.leave(number);
        let arrival = self.pages.as_ref().map_or(u64::MAX, Pages::next);
        let mut cycle = (begins + u64::from(number < other)).min(arrival);
        if self.awaiting.is_anybody() {
            // A line may come in any cycle behind that.
            cycle = cycle.min(begin + 1);
        }
        let turn = Until {
            cycle,
            is_endless: cycle >= order::NEVER,
            has_own_caches: self.has_own_caches,
            may_run_ahead: self.may_run_ahead,
            has_others: second.is_some(),
        };
        Ok(Some((number, turn)))
    }

    /// Lets storage catch up with the core that is furthest behind, and cores go on whose pages arrive. When a program waits for what it has
    /// written, its last core does; when all have ended, what else goes on in storage is of others, and may have no end.
    #[cold]
    fn catch_up(&mut self, sources: &mut [&mut dyn EventSource]) -> Result<(), SinkError> {
        while let Some(pages) = &mut self.pages {
            while let Some(program) = pages.next_waiting() {
                let cores = &self.system.cores;
                let of_program = (0..cores.len()).filter(|&at| self.threads[at].program == program);
                let last = of_program.max_by_key(|&at| cores[at].position());
                let last = last.expect("a program has a core");
                pages.await_written(last, &mut self.system)?;
            }
            let cycle = self.order.first_two().0.map(|(_, cycle)| cycle);
            if cycle.is_some_and(|cycle| cycle < pages.next()) {
                break;
            }
            if !pages.has_waiting() && !self.threads.iter().any(Thread::runs) {
                break;
            }
            let Some((number, arrival)) = pages.advance(cycle)? else {
                if cycle.is_none() {
                    return Err(pages.too_long());
                }
                continue;
            };
            let has_others = self.threads.len() > 1;
            let System { cores, caches } = &mut self.system;
            cores[number].resume(caches, arrival, has_others)?;
            debug_assert!(
                !has_others || pages.has_begun(cores[number].now(), arrival),
                "a core goes back behind the others"
            );
            if self.threads[number].runs() {
                self.go_on(number, sources)?;
            } else if let Some(pages) = &mut self.pages {
                pages.is_written();
                self.go_on_behind_writes(number, sources)?;
            }
        }
        Ok(())
    }

    /// Lets everything in flight drain and gives the results.
    ///
    /// # Panics
    /// Never: there is at least one core.
    #[must_use]
    pub fn finish(self) -> MulticoreStatistics {
        let (cores, dram) = self.drain();
        MulticoreStatistics::of(cores.into_iter().map(|(_, core)| core), dram)
    }

    /// Lets everything in flight drain and gives the results of each program, in the order of their numbers. The inside of memory is that
    /// of all.
    #[must_use]
    pub fn finish_programs(self) -> Vec<MulticoreStatistics> {
        let (cores, dram) = self.drain();
        let programs = cores.chunk_by(|one, next| one.0 == next.0);
        let statistics = programs.map(|cores| {
            let cores = cores.iter().map(|(_, core)| core.clone());
            MulticoreStatistics::of(cores, dram)
        });
        statistics.collect()
    }

    /// The statistics of each core, with its program, and of the inside of memory.
    fn drain(self) -> (Vec<(usize, Statistics)>, Option<DramStatistics>) {
        let System { cores, mut caches } = self.system;
        caches.set_horizon(u64::MAX);
        let drained = cores.into_iter().zip(&self.threads);
        let drained = drained.map(|(mut core, thread)| {
            let cycles = core.drain(&mut caches);
            (thread.program, core.statistics(&caches, cycles, None))
        });
        (drained.collect(), caches.memory.statistics())
    }
}
