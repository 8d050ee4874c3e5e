//! Calls into the host DBMS: each runs the routine that the machine's profile has for it.

use super::routines::{Places, Routine};
use super::runner::{Instructions, Runner, Still};
use super::{Core, Machinery, cycles_by_retired};
use crate::hierarchy::Hierarchy;
use crate::profile::{ClockTickSpec, DbmsSpec};
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::CallStatistics;
use traces::{Event, Kind, Layout, SinkError};

/// The interrupt of the system clock.
#[derive(Clone, Copy, Debug)]
struct ClockTick {
    period: u64,
    /// The cycle of the next one.
    next: u64,
    /// Its number among the routines.
    routine: usize,
}

/// A profile at work.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    routines: Vec<Routine>,
    /// The routine of each call that the trace names, if the profile has one.
    by_call: Vec<Option<usize>>,
    /// What the routines are called.
    names: Vec<String>,
    clock_tick: Option<ClockTick>,
    running: Instructions,
    /// Size of the lines that code and data are read in.
    code_line: u64,
    data_line: u64,
    instructions: u64,
}

/// Name of the interrupt's routine in the results.
const CLOCK_TICK: &str = "(clock tick)";

impl Calls {
    /// A profile, ready for the calls that a trace names.
    ///
    /// # Errors
    /// The profile has no room behind the trace's segments.
    pub(super) fn new(
        dbms: &DbmsSpec,
        spec: &MachineSpec,
        layout: &Layout,
    ) -> Result<Self, SpecError> {
        let number_of = |call: &String| dbms.calls.keys().position(|name| name == call);
        let mut places = Places::behind(layout, spec)?;
        let mut routines = Vec::with_capacity(dbms.calls.len() + 1);
        for routine in dbms.calls.values() {
            routines.push(places.put(routine, spec)?);
        }
        let clock_tick = match &dbms.clock_tick {
            Some(ClockTickSpec {
                period_cycles,
                routine,
            }) => {
                routines.push(places.put(routine, spec)?);
                Some(ClockTick {
                    period: *period_cycles,
                    next: *period_cycles,
                    routine: routines.len() - 1,
                })
            }
            None => None,
        };
        let names = dbms.calls.keys().map(String::as_str).chain([CLOCK_TICK]);
        let instruction_cache = spec.instruction_cache.as_ref();
        Ok(Self {
            names: names.take(routines.len()).map(ToOwned::to_owned).collect(),
            routines,
            by_call: layout.calls.iter().map(number_of).collect(),
            clock_tick,
            running: Instructions::default(),
            code_line: instruction_cache.map_or(1, |cache| cache.line_bytes),
            data_line: spec.caches[0].line_bytes,
            instructions: 0,
        })
    }

    /// Instructions that a call runs; none if it has no routine.
    pub(super) fn instructions_of(&self, call: u64) -> u64 {
        let routine = self.routine_of(call);
        routine.map_or(0, |number| self.routines[number].instructions)
    }

    fn routine_of(&self, call: u64) -> Option<usize> {
        *self.by_call.get(usize::try_from(call).ok()?)?
    }

    /// Runs a call, and the clock's interrupt if one was due before it; false if it has no routine.
    fn call(
        &mut self,
        call: u64,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        runner: &mut impl Runner,
    ) -> bool {
        let Some(routine) = self.routine_of(call) else {
            return false;
        };
        if let Some(tick) = &mut self.clock_tick {
            let now = runner.cycle();
            if let Some(late) = now.checked_sub(tick.next) {
                tick.next = now - late % tick.period + tick.period;
                let interrupt = tick.routine;
                self.run(interrupt, machinery, caches, runner);
            }
        }
        self.run(routine, machinery, caches, runner);
        true
    }

    /// Runs a routine: its instructions lie evenly in its code, and wait for the lines of it that have to be fetched.
    fn run(
        &mut self,
        number: usize,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        runner: &mut impl Runner,
    ) {
        let routine = &mut self.routines[number];
        routine.runs += 1;
        let (count, code) = (routine.instructions, routine.code.clone());
        self.instructions += count;
        for address in routine.data.clone().step_by(self.data_line as usize) {
            runner.read_private(machinery, caches, &Event::new(Kind::Load, address));
        }
        let (mut run, mut address) = (0, code.start);
        if caches.instruction_cache(&machinery.port).is_some() {
            loop {
                address = caches.find_code(&machinery.port, number, &code, address);
                if address >= code.end {
                    break;
                }
                let before = count * (address - code.start) / (code.end - code.start);
                runner.execute(machinery, &mut self.running, routine, before - run);
                run = before;
                runner.fetch(machinery, caches, address);
                address += self.code_line;
            }
        }
        runner.execute(machinery, &mut self.running, routine, count - run);
    }

    /// What was called.
    pub(super) fn statistics(&self) -> CallStatistics {
        let called = self.names.iter().zip(&self.routines);
        CallStatistics {
            instructions: self.instructions,
            mispredicted: self.running.mispredictions.count,
            runs: called
                .filter(|(_, routine)| routine.runs > 0)
                .map(|(name, routine)| (name.clone(), routine.runs))
                .collect(),
        }
    }

    /// See [`crate::Statistics::retired`].
    pub(super) fn retired(&self, width: u32, instructions: u64, cycles: u64) -> Vec<u64> {
        let paces = self.routines.iter().map(|routine| &routine.pace);
        cycles_by_retired(paces, width, instructions, cycles)
    }
}

impl Core {
    /// Instructions that an event stands for, those of the routine it calls included.
    pub(crate) fn instructions_of(&self, event: &Event) -> u64 {
        let called = match &self.calls {
            Some(calls) if event.kind == Kind::Call => calls.instructions_of(event.address),
            _ => 0,
        };
        u64::from(event.instructions) + event.own_instructions() + called
    }

    /// Runs the routine behind a call.
    pub(super) fn call(&mut self, caches: &mut Hierarchy, event: &Event) -> Result<(), SinkError> {
        let (machinery, pipeline) = (&mut self.machinery, &mut self.pipeline);
        let calls = self.calls.as_mut();
        let ran = calls.is_some_and(|calls| calls.call(event.address, machinery, caches, pipeline));
        self.require_routine(ran, event.address)
    }

    /// Moves the lines that the routine behind a call touches, in no time.
    pub(super) fn pass_call(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
    ) -> Result<(), SinkError> {
        let mut still = Still { now: self.now() };
        let (machinery, calls) = (&mut self.machinery, self.calls.as_mut());
        let ran =
            calls.is_some_and(|calls| calls.call(event.address, machinery, caches, &mut still));
        self.require_routine(ran, event.address)
    }

    fn require_routine(&self, ran: bool, call: u64) -> Result<(), SinkError> {
        if ran {
            return Ok(());
        }
        Err(SinkError::Unsupported(self.refusal(call)))
    }

    /// Why a call cannot be run.
    fn refusal(&self, call: u64) -> String {
        let named = usize::try_from(call).ok();
        let named = named.and_then(|call| self.layout.calls.get(call));
        let Some(call) = named else {
            let names = self.layout.calls.len();
            return format!("call {call} is made, but the trace names {names} calls");
        };
        let machine = &self.spec.name;
        match &self.spec.dbms {
            None => format!(
                "the trace calls `{call}`, but machine {machine} has no DBMS profile; name one"
            ),
            Some(dbms) => {
                let known: Vec<&str> = dbms.calls.keys().map(String::as_str).collect();
                format!(
                    "the trace calls `{call}`, but DBMS profile {} has only {}",
                    dbms.name,
                    known.join(", ")
                )
            }
        }
    }
}
