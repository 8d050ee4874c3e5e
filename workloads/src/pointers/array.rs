//! Visits lines through an array of pointers, prefetching ahead (thesis section 2.4.4): measures T_next.

use super::lines::Lines;
use super::native;
use crate::arena::{Reservation, place};
use crate::native::Native;
use crate::outcome::{Checksum, Outcome};
use crate::spec::PointerArrayWorkload;
use crate::tracer::{Dep, Trace};
use traces::{Layout, OpClass};

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
    pub(crate) fn new(workload: &PointerArrayWorkload) -> Self {
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

    pub(crate) fn layout(&self) -> Layout {
        let mut segments = place(std::slice::from_ref(&self.array));
        segments.push(self.lines.segment.clone());
        Layout {
            segments,
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    pub(crate) fn run<T: Trace>(&self, trace: &mut T) -> Outcome {
        let word = self.workload.word_bytes as u16;
        let array = place(std::slice::from_ref(&self.array))[0].base;
        let element = |index: usize| array + index as u64 * u64::from(word);
        let addresses = &self.lines.addresses;
        trace.flush();
        trace.mark(0);
        for index in
            (0..addresses.len()).step_by(self.workload.line_bytes as usize / usize::from(word))
        {
            trace.work(STEP);
            trace.load(Site::WarmArray, element(index), word, 1, Dep::NONE);
        }
        self.lines
            .warm_tlb(trace, Site::WarmTlb, self.workload.word_bytes);
        trace.mark(1);
        let distance = self.workload.distance_lines as usize;
        let mut checksum = Checksum::default();
        for (ahead, &address) in addresses[..distance].iter().enumerate() {
            trace.work(STEP);
            self.prefetch(trace, element(ahead), address);
        }
        for (index, &address) in addresses.iter().enumerate() {
            if index % LINES_PER_CHECK == 0 && trace.failed() {
                break;
            }
            if distance > 0 {
                trace.work(AHEAD_TEST);
                let left = index + distance < addresses.len();
                trace.branch(Site::AheadLoop, left, Dep::NONE);
                if left {
                    self.prefetch(
                        trace,
                        element(index + distance),
                        addresses[index + distance],
                    );
                }
            }
            let pointer = trace.load(Site::Pointer, element(index), word, 1, Dep::NONE);
            let line = trace.load(Site::Line, address, word, 1, pointer.after(0));
            // What was loaded is added up: without a use, a core that stalls on use would never wait, prefetch or not.
            trace.op(Site::Sum, OpClass::Add, line.after(0));
            checksum.add(address);
            trace.work(STEP);
            trace.branch(Site::Loop, index + 1 < addresses.len(), Dep::NONE);
        }
        self.outcome(checksum)
    }

    /// Visits the lines in the host's memory.
    pub(crate) fn run_native(&self, native: &mut Native<'_>) -> Outcome {
        let array = place(std::slice::from_ref(&self.array)).remove(0);
        let distance = self.workload.distance_lines as usize;
        match self.workload.word_bytes {
            4 => native::visit_array::<u32>(&self.lines, array, distance, native),
            _ => native::visit_array::<u64>(&self.lines, array, distance, native),
        }
        let mut checksum = Checksum::default();
        self.lines
            .addresses
            .iter()
            .for_each(|&address| checksum.add(address));
        self.outcome(checksum)
    }

    fn outcome(&self, checksum: Checksum) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.set("operations", self.lines.addresses.len() as u64);
        outcome.set("checksum", checksum.value());
        outcome
    }

    fn prefetch<T: Trace>(&self, trace: &mut T, element: u64, address: u64) {
        let pointer = trace.load(
            Site::AheadPointer,
            element,
            self.workload.word_bytes as u16,
            1,
            Dep::NONE,
        );
        trace.prefetch(Site::Ahead, address, pointer.after(0));
    }
}
