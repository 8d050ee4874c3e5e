//! Calls into the host DBMS: each runs the routine that the machine's profile has for it.

use super::routines::{Places, Routine};
use super::{Engine, Pipeline};
use crate::core::{Flow, Machinery};
use crate::hierarchy::Purpose;
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
    /// The routine of each call of the trace.
    by_call: Vec<usize>,
    /// What the routines are called.
    names: Vec<String>,
    clock_tick: Option<ClockTick>,
    flow: Flow,
    /// Size of the lines that code and data are read in.
    code_line: u64,
    data_line: u64,
    /// Instructions since the last misprediction that was due, times mispredictions in a thousand of them.
    due: u64,
    instructions: u64,
    mispredicted: u64,
}

/// Name of the interrupt's routine in the results.
const CLOCK_TICK: &str = "(clock tick)";

impl Calls {
    /// The profile of a machine, ready for the calls that a trace names; nothing if there is neither.
    ///
    /// # Errors
    /// The machine has no profile, the profile lacks a call, or it has no room behind the trace's segments.
    pub(super) fn new(spec: &MachineSpec, layout: &Layout) -> Result<Option<Self>, SpecError> {
        let Some(dbms) = &spec.dbms else {
            return match layout.calls.first() {
                None => Ok(None),
                Some(call) => Err(no_profile(spec, call)),
            };
        };
        let by_call = layout.calls.iter().map(|call| number_of(dbms, call));
        let by_call = by_call.collect::<Result<_, _>>()?;
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
        Ok(Some(Self {
            names: names.take(routines.len()).map(ToOwned::to_owned).collect(),
            routines,
            by_call,
            clock_tick,
            flow: Flow::new(&spec.core),
            code_line: instruction_cache.map_or(1, |cache| cache.line_bytes),
            data_line: spec.caches[0].line_bytes,
            due: 0,
            instructions: 0,
            mispredicted: 0,
        }))
    }

    /// Instructions that a call runs; none if the trace does not name it.
    pub(super) fn instructions_of(&self, call: u64) -> u64 {
        let routine = self.routine_of(call);
        routine.map_or(0, |number| self.routines[number].instructions)
    }

    fn routine_of(&self, call: u64) -> Option<usize> {
        self.by_call.get(usize::try_from(call).ok()?).copied()
    }

    /// Runs a call, and the clock's interrupt if one was due before it; false if the trace does not name it. Where no
    /// time passes, it only moves lines.
    fn call(&mut self, call: u64, machinery: &mut Machinery, pipeline: &mut Pipeline) -> bool {
        let Some(routine) = self.routine_of(call) else {
            return false;
        };
        if let Some(tick) = &mut self.clock_tick {
            let now = pipeline.now();
            if let Some(late) = now.checked_sub(tick.next) {
                tick.next = now - late % tick.period + tick.period;
                let interrupt = tick.routine;
                self.run(interrupt, machinery, pipeline);
            }
        }
        self.run(routine, machinery, pipeline);
        true
    }

    /// Runs a routine: its instructions lie evenly in its code, and wait for the lines of it that have to be fetched.
    fn run(&mut self, number: usize, machinery: &mut Machinery, pipeline: &mut Pipeline) {
        let routine = &mut self.routines[number];
        routine.runs += 1;
        let (instructions, code) = (routine.instructions, routine.code.clone());
        self.instructions += instructions;
        for address in routine.data.clone().step_by(self.data_line as usize) {
            let line = Event::new(Kind::Load, address);
            if machinery.hierarchy.is_functional() {
                machinery.pass(&line, Purpose::Load, pipeline.now());
            } else {
                pipeline.read_private(machinery, &line);
            }
        }
        let (mut run, mut address) = (0, code.start);
        if machinery.hierarchy.instruction_cache().is_some() {
            loop {
                address = machinery.hierarchy.find_code(address..code.end);
                if address >= code.end {
                    break;
                }
                let before = instructions * (address - code.start) / (code.end - code.start);
                self.execute(number, before - run, machinery, pipeline);
                run = before;
                let fetched = machinery.fetch_line(address, pipeline.now());
                if !machinery.hierarchy.is_functional() {
                    pipeline.wait_for_code(machinery, fetched);
                }
                address += self.code_line;
            }
        }
        self.execute(number, instructions - run, machinery, pipeline);
    }

    /// Runs some instructions of a routine. Those among them that are mispredicted branches lie evenly, one at the end.
    fn execute(
        &mut self,
        number: usize,
        instructions: u64,
        machinery: &mut Machinery,
        pipeline: &mut Pipeline,
    ) {
        if machinery.hierarchy.is_functional() {
            return;
        }
        let routine = &self.routines[number];
        self.due += instructions * routine.mispredicts_per_1000;
        let mispredicts = self.due / 1000;
        self.due %= 1000;
        self.mispredicted += mispredicts;
        let mut run = 0;
        for part in 1..=mispredicts {
            let end = instructions * part / mispredicts;
            let done = pipeline.run_paced(machinery, (&mut self.flow, &routine.pace), end - run);
            pipeline.mispredict_paced(machinery, done);
            run = end;
        }
        if run < instructions {
            pipeline.run_paced(
                machinery,
                (&mut self.flow, &routine.pace),
                instructions - run,
            );
        }
    }

    /// What was called.
    pub(super) fn statistics(&self) -> CallStatistics {
        let called = self.names.iter().zip(&self.routines);
        CallStatistics {
            instructions: self.instructions,
            mispredicted: self.mispredicted,
            runs: called
                .filter(|(_, routine)| routine.runs > 0)
                .map(|(name, routine)| (name.clone(), routine.runs))
                .collect(),
        }
    }

    /// See [`crate::Statistics::retired`].
    pub(super) fn retired(&self, instructions: u64, cycles: u64) -> Vec<u64> {
        self.flow.retirement.finish(instructions, cycles)
    }
}

fn no_profile(spec: &MachineSpec, call: &str) -> SpecError {
    SpecError {
        path: "dbms".to_owned(),
        message: format!(
            "machine {} has no DBMS profile, but the trace calls `{call}`; name a profile",
            spec.name
        ),
    }
}

/// The number of a call's routine.
fn number_of(dbms: &DbmsSpec, call: &str) -> Result<usize, SpecError> {
    let known = dbms.calls.keys();
    known.clone().position(|name| name == call).ok_or_else(|| {
        let known: Vec<&str> = known.map(String::as_str).collect();
        SpecError {
            path: "dbms.calls".to_owned(),
            message: format!(
                "profile {} has no call `{call}`, which the trace makes; it has {}",
                dbms.name,
                known.join(", ")
            ),
        }
    })
}

impl Engine {
    /// Instructions that an event stands for, those of the routine it calls included.
    pub(crate) fn instructions_of(&self, event: &Event) -> u64 {
        let called = match &self.calls {
            Some(calls) if event.kind == Kind::Call => calls.instructions_of(event.address),
            _ => 0,
        };
        u64::from(event.instructions) + event.own_instructions() + called
    }

    /// Runs the routine behind a call.
    pub(super) fn call(&mut self, event: &Event) -> Result<(), SinkError> {
        let (machinery, pipeline) = (&mut self.machinery, &mut self.pipeline);
        if let Some(calls) = &mut self.calls
            && calls.call(event.address, machinery, pipeline)
        {
            return Ok(());
        }
        Err(SinkError::Unsupported(format!(
            "call {} is made, but the trace names {} calls",
            event.address,
            self.layout.calls.len()
        )))
    }
}
