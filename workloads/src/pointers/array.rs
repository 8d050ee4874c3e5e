//! Visits lines through an array of pointers, prefetching ahead (thesis section 2.4.4): measures T_next.

use super::contents::{Contents, Known, Stored, warm_tlb};
use super::lines::Lines;
use super::validate::{LINES, PAGE_BYTES};
use super::{estimates, validate};
use crate::arena::{Reservation, Word, place};
use crate::bounds::{Between, LINE_BYTES, WORD_BYTES};
use crate::family::{Family, Kernel};
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::schema::{bytes, parameters, required, takes};
use crate::tracer::{Dep, Trace};
use crate::validate::{WorkloadError, within};
use crate::work::Work;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use traces::{Layout, OpClass, Segment};

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
    /// Pages that the lines are in; one line of each stays free, to load its translation.
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

    fn work(&self) -> Work {
        estimates::work(self.lines, self.pages, 4.0)
    }

    fn memory(&self) -> Memory {
        estimates::memory(self.lines, self.pages)
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
    array: Reservation,
    lines: Lines,
}

impl PointerArray {
    fn new(workload: &PointerArrayWorkload) -> Self {
        let array = Reservation {
            name: "pointer array".into(),
            object_bytes: u64::from(workload.word_bytes),
            objects: workload.lines,
        };
        let before = std::slice::from_ref(&array);
        let lines = Lines::in_pages(
            workload.lines,
            workload.pages,
            workload.page_bytes,
            workload.line_bytes,
            before,
            workload.seed,
        );
        Self {
            workload: workload.clone(),
            array,
            lines,
        }
    }

    /// Where the array is.
    fn array(&self) -> Segment {
        place(std::slice::from_ref(&self.array)).remove(0)
    }

    /// Visits the lines in the host's memory.
    fn visit_stored<W: Word, T: Trace>(&self, trace: &mut T) -> Outcome {
        let contents = Stored::<W>::new(&self.lines, self.array(), number);
        trace.settle(contents.origin());
        self.visit(trace, &contents)
    }

    /// Visits the lines, whatever they are read from.
    fn visit<T: Trace>(&self, trace: &mut T, contents: &impl Contents) -> Outcome {
        let word = self.workload.word_bytes as u16;
        let array = self.array().base;
        let element = |index: usize| array + index as u64 * u64::from(word);
        let lines = self.lines.addresses.len();
        trace.flush();
        trace.mark(0);
        for index in (0..lines).step_by(self.workload.line_bytes as usize / usize::from(word)) {
            trace.work(STEP);
            trace.load(Site::WarmArray, element(index), word, 1, Dep::NONE);
            black_box(contents.element(index));
        }
        let word_bytes = self.workload.word_bytes;
        warm_tlb(&self.lines, trace, Site::WarmTlb, word_bytes, contents);
        trace.mark(1);
        let distance = self.workload.distance_lines as usize;
        for ahead in 0..distance {
            trace.work(STEP);
            self.prefetch(trace, element(ahead), contents.element(ahead));
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
                        self.prefetch(trace, element(ahead), contents.element(ahead));
                    }
                }
                let pointer = trace.load(Site::Pointer, element(index), word, 1, Dep::NONE);
                let address = contents.element(index);
                let line = trace.load(Site::Line, address, word, 1, pointer.after(0));
                // What was loaded is added up: without a use, a core that stalls on use would never wait, prefetch or not.
                trace.op(Site::Sum, OpClass::Add, line.after(0));
                sum += contents.line(index, address);
                trace.work(STEP);
                trace.branch(Site::Loop, index + 1 < lines, Dep::NONE);
            }
        }
        trace.end();
        if !trace.failed() {
            let lines = lines as u64;
            assert_eq!(sum, lines * (lines - 1) / 2, "every line was read once");
        }
        self.lines.outcome()
    }

    /// Prefetches the line at `address`, which the array has in `element`.
    fn prefetch<T: Trace>(&self, trace: &mut T, element: u64, address: u64) {
        let word = self.workload.word_bytes as u16;
        let pointer = trace.load(Site::AheadPointer, element, word, 1, Dep::NONE);
        trace.prefetch(Site::Ahead, address, pointer.after(0));
    }
}

/// What line number `index` holds.
fn number(index: usize) -> u64 {
    index as u64
}

impl Kernel for PointerArray {
    fn layout(&self) -> Layout {
        Layout {
            segments: vec![self.array(), self.lines.segment.clone()],
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        let lines = &self.lines;
        match (T::NATIVE, self.workload.word_bytes) {
            (false, _) => self.visit(trace, &Known::new(lines, number)),
            (true, 4) => self.visit_stored::<u32, T>(trace),
            (true, _) => self.visit_stored::<u64, T>(trace),
        }
    }
}
