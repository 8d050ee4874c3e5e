//! Visits lines through an array of pointers, prefetching ahead (thesis section 2.4.4): measures T_next.

use super::contents::Contents;
use super::lines::{self, Lines};
use super::validate::{LINES, PAGE_BYTES};
use super::{estimates, validate};
use crate::arena::{Reservation, place};
use crate::bounds::{Between, LINE_BYTES, WORD_BYTES};
use crate::family::{Family, Kernel};
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::schema::{bytes, parameters, required, takes};
use crate::tracer::{Dep, Trace};
use crate::validate::{WorkloadError, within};
use crate::word::Word;
use crate::work::Work;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use traces::{Layout, OpClass};

/// Lines prefetched ahead.
const DISTANCE: Between<u64> = Between {
    least: 0,
    most: LINES.most,
};

/// Visits lines through an array of pointers (thesis section 2.4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct PointerArrayWorkload {
    /// Lines to visit.
    #[schemars(transform = required, transform = takes(LINES))]
    pub lines: u64,
    /// Lines prefetched ahead; 0 for none.
    #[schemars(transform = required, transform = takes(DISTANCE))]
    pub distance_lines: u64,
    /// Size of a cache line.
    #[schemars(transform = bytes, transform = takes(LINE_BYTES))]
    pub line_bytes: u32,
    /// Size of a pointer.
    #[schemars(transform = bytes, transform = takes(WORD_BYTES))]
    pub word_bytes: u32,
    /// Size of a virtual-memory page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Pages that the lines are in; one line of each stays free, to load its translation in the phase `warm-up`, which is in the totals of the run.
    #[schemars(transform = takes(LINES))]
    pub pages: u64,
    /// Seed of the order of the lines.
    pub seed: u64,
}

impl Default for PointerArrayWorkload {
    fn default() -> Self {
        Self {
            lines: 8_000,
            distance_lines: 0,
            line_bytes: 128,
            word_bytes: 8,
            page_bytes: 16_384,
            pages: 64,
            seed: 1,
        }
    }
}

impl Family for PointerArrayWorkload {
    const DESCRIPTION: &'static str = "visits lines through an array of pointers, prefetching ahead: measures the time of the next line";
    type Kept = ();
    type Kernel = PointerArray;

    fn validate(&self) -> Result<(), WorkloadError> {
        within(
            "distance_lines",
            self.distance_lines,
            DISTANCE.least,
            self.lines,
        )?;
        validate::check(
            self.lines,
            self.line_bytes,
            self.word_bytes,
            self.page_bytes,
            Some(self.pages),
        )
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            branches: self.distance_lines > 0,
            prefetches: self.distance_lines > 0,
            ..Instructions::default()
        }
    }

    fn work(&self) -> Work {
        estimates::work(self.lines, self.pages, 4.0)
    }

    fn memory(&self) -> Memory {
        let lines = lines::segment(self.pages, self.page_bytes, &[self.array()]);
        estimates::memory(self.lines, &lines)
    }

    fn is_kept(&self, (): &()) -> bool {
        false
    }

    fn prepare(&self, (): &mut ()) -> Result<PointerArray, WorkloadError> {
        Ok(PointerArray::new(self))
    }
}

crate::tracer::sites! {
    WarmArray = "load the pointer array beforehand",
    WarmTlb = "load an unlisted line beforehand",
    AheadPointer = "load pointer to prefetch",
    Ahead = "prefetch line",
    AheadLoop = "anything left to prefetch?",
    Pointer = "load pointer",
    Line = "load line",
    Sum = "add up",
    Loop = "another line?",
}

/// Bumping an array address and comparing it with its end.
const STEP: u32 = 2;
/// Comparing the prefetched address with the array's end.
const AHEAD_TEST: u32 = 1;
/// Lines visited between two looks at whether the sink failed.
const LINES_PER_CHECK: usize = 65_536;

/// Phases of the run.
const PHASES: [&str; 2] = ["warm-up", "visit"];

/// The kernel with its lines.
#[derive(Clone, Debug)]
pub(crate) struct PointerArray {
    workload: PointerArrayWorkload,
    contents: Contents,
}

impl PointerArrayWorkload {
    fn array(&self) -> Reservation {
        Reservation {
            name: "pointer array".into(),
            object_bytes: u64::from(self.word_bytes),
            objects: self.lines,
        }
    }
}

impl PointerArray {
    fn new(workload: &PointerArrayWorkload) -> Self {
        let array = workload.array();
        let lines = Lines::in_pages(
            workload.lines,
            workload.pages,
            workload.page_bytes,
            workload.line_bytes,
            std::slice::from_ref(&array),
            workload.seed,
        );
        let array = place(&[array]).pop();
        // What line number `index` holds: the numbers' sum tells that each was read once.
        let number = |index| index as u64;
        Self {
            workload: workload.clone(),
            contents: match workload.word_bytes {
                4 => Contents::new::<u32>(&lines, array, number),
                _ => Contents::new::<u64>(&lines, array, number),
            },
        }
    }

    fn visit<W: Word, T: Trace>(&self, trace: &mut T) -> Outcome {
        let contents = &self.contents;
        let (memory, lines) = (&contents.memory, contents.lines);
        trace.flush();
        trace.mark(0);
        for index in (0..lines).step_by(self.workload.line_bytes as usize / W::BYTES) {
            trace.work(STEP);
            let element = contents.element::<W>(index);
            black_box(memory.load(trace, Site::WarmArray, element, Dep::NONE));
        }
        contents.warm_tlb::<W, T>(trace, Site::WarmTlb);
        trace.mark(1);
        let distance = self.workload.distance_lines as usize;
        for ahead in 0..distance {
            trace.work(STEP);
            self.prefetch::<W, T>(trace, ahead);
        }
        let mut sum = 0;
        for first in (0..lines).step_by(LINES_PER_CHECK) {
            if trace.failed() {
                break;
            }
            for index in first..lines.min(first + LINES_PER_CHECK) {
                if distance > 0 {
                    trace.work(AHEAD_TEST);
                    let ahead = index + distance;
                    trace.branch(Site::AheadLoop, ahead < lines, Dep::NONE);
                    if ahead < lines {
                        self.prefetch::<W, T>(trace, ahead);
                    }
                }
                let element = contents.element::<W>(index);
                let pointer = memory.load(trace, Site::Pointer, element, Dep::NONE);
                let line = contents.line::<W>(pointer.value.to_u64());
                let found = memory.load(trace, Site::Line, line, pointer.token.after(0));
                // What was loaded is added up: without a use, a core that stalls on use would never wait, prefetch or not.
                trace.op(Site::Sum, OpClass::Add, found.token.after(0));
                sum += found.value.to_u64();
                trace.work(STEP);
                trace.branch(Site::Loop, index + 1 < lines, Dep::NONE);
            }
        }
        trace.end();
        if !trace.failed() {
            let lines = lines as u64;
            assert_eq!(sum, lines * (lines - 1) / 2, "every line was read once");
        }
        contents.outcome.clone()
    }

    /// Prefetches the line that element `index` of the array points to.
    #[inline]
    fn prefetch<W: Word, T: Trace>(&self, trace: &mut T, index: usize) {
        let element = self.contents.element::<W>(index);
        let memory = &self.contents.memory;
        let pointer = memory.load(trace, Site::AheadPointer, element, Dep::NONE);
        let (line, waits) = (pointer.value.to_u64(), pointer.token.after(0));
        memory.prefetch(trace, Site::Ahead, line, waits);
    }
}

impl Kernel for PointerArray {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.contents.segments(),
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        match self.workload.word_bytes {
            4 => self.visit::<u32, T>(trace),
            _ => self.visit::<u64, T>(trace),
        }
    }
}
