//! Several cores that share cache levels, bus and memory, advanced in time order.
//!
//! The core that is furthest behind goes on until it is not; ties go to the lower number. It may run ahead of the others as
//! long as all it needs is its own: nobody sees the difference. Private caches do not see each other's writes: there is no
//! coherence traffic.

mod order;
#[cfg(test)]
mod tests;
mod thread;

use crate::core::{Program, Until};
use crate::ledger::Accounts;
use crate::spec::{Inclusion, MachineSpec, SpecError};
use crate::statistics::Statistics;
use crate::system::System;
use order::Order;
use serde::Serialize;
use thread::Thread;
use traces::{EventSource, Layout, SinkError};

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
    /// Whether what a core finds in its own caches does not depend on others, so that it need not wait for them where it
    /// finds everything there.
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
        let threads: Vec<_> = threads
            .iter()
            .map(|thread| Thread::of(thread.program))
            .collect();
        Ok(Self {
            system,
            order: Order::of(threads.len()),
            threads,
            may_run_ahead: !spec
                .caches
                .iter()
                .any(|cache| cache.shared && cache.inclusion == Inclusion::Inclusive),
        })
    }

    /// Runs each core's events, `sources` being in the order of the threads, and calls `progress` now and then with the number of
    /// events since it was called.
    ///
    /// # Errors
    /// The first error of a source, of `progress`, or of an event that the machine cannot run.
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
        while let Some((number, turn)) = self.turn() {
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
                if !thread.has_run_all() || !thread.refill(sources[number])? {
                    break;
                }
            }
            self.go_on(number, sources)?;
        }
        progress(ran_since)
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
        let now = self.system.cores[number].now();
        self.order.go_on(number, now);
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
            let thread = &mut self.threads[number];
            if let Some(barrier) = thread.look_ahead(sources[number])? {
                thread.wait_from(self.system.cores[number].reach_barrier(&barrier));
            }
            if thread.runs() {
                self.go_on(number, sources)?;
                continue;
            }
            self.order.stop(number);
            let program = thread.program;
            let Some(cycle) = thread::meeting(&self.threads, program)? else {
                continue;
            };
            let threads = self.threads.iter_mut().enumerate();
            let met: Vec<_> = threads
                .filter(|(_, thread)| thread.program == program)
                .collect();
            let alone = met.len() == 1;
            for (number, thread) in met {
                // Nobody to wait for: not even for one's own stores.
                if !alone {
                    self.system.cores[number].leave_barrier(cycle);
                }
                thread.leave_barrier();
                on_their_way.push(number);
            }
        }
        Ok(())
    }

    /// The core that is furthest behind, of those that run, and how long its turn lasts. Ties go to the lower number.
    fn turn(&mut self) -> Option<(usize, Until)> {
        let (first, second) = self.order.first_two();
        let (number, _) = first?;
        let (other, horizon) = second.unwrap_or((usize::MAX, order::NEVER));
        self.system.caches.set_horizon(horizon);
        let turn = Until {
            cycle: horizon + u64::from(number < other),
            may_run_ahead: self.may_run_ahead,
            has_others: second.is_some(),
        };
        Some((number, turn))
    }

    /// Lets everything in flight drain and gives the results.
    ///
    /// # Panics
    /// Never: there is at least one core.
    #[must_use]
    pub fn finish(self) -> MulticoreStatistics {
        let System { cores, mut caches } = self.system;
        caches.set_horizon(u64::MAX);
        let drained = cores.into_iter().map(|mut core| {
            let cycles = core.drain(&mut caches);
            core.statistics(&caches, cycles, None)
        });
        let cores: Vec<Statistics> = drained.collect();
        let together = Statistics::together(&cores).expect("a machine has a core");
        MulticoreStatistics {
            together: Statistics {
                dram: caches.memory.statistics(),
                ..together
            },
            cores,
        }
    }
}
