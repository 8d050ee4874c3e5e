//! Follows a chain of pointers from line to line (thesis section 2.4.1): measures T1, and the TLB miss latency.

use super::contents::Contents;
use super::lines::{self, Lines};
use super::validate::{LINES, PAGE_BYTES};
use super::{estimates, validate};
use crate::bounds::{LINE_BYTES, WORD_BYTES};
use crate::family::{Family, Kernel};
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::native::{self, Measured, NativeError, Observer, Options, TIMED_PHASE};
use crate::outcome::Outcome;
use crate::schema::{bytes, has_effect, parameters, required, takes};
use crate::tracer::{Token, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;
use crate::work::Work;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use traces::{Layout, Segment};

/// What the chain of pointers finds in the TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TlbState {
    /// Every translation: all lines are in `pages` pages, one unlisted line of each is touched beforehand.
    Warm,
    /// No translation: every line is in a page of its own.
    Cold,
}

/// Follows a chain of pointers from line to line (thesis section 2.4.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct PointerChaseWorkload {
    /// Lines of the chain.
    #[schemars(transform = required, transform = takes(LINES))]
    pub lines: u64,
    /// Whether translations are there, loaded by the phase `warm-up`, which is in the totals of the run; the chain is the phase `visit`.
    pub tlb: TlbState,
    /// Size of a cache line.
    #[schemars(transform = bytes, transform = takes(LINE_BYTES))]
    pub line_bytes: u32,
    /// Size of a pointer.
    #[schemars(transform = bytes, transform = takes(WORD_BYTES))]
    pub word_bytes: u32,
    /// Size of a virtual-memory page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Pages that the lines are in; with a cold TLB, every line has one of its own.
    #[schemars(transform = takes(LINES), transform = has_effect("tlb", vec![TlbState::Warm]))]
    pub pages: u64,
    /// Seed of the order of the lines.
    pub seed: u64,
}

impl Default for PointerChaseWorkload {
    fn default() -> Self {
        Self {
            lines: 8_000,
            tlb: TlbState::Warm,
            line_bytes: 128,
            word_bytes: 8,
            page_bytes: 16_384,
            pages: 64,
            seed: 1,
        }
    }
}

impl Family for PointerChaseWorkload {
    const DESCRIPTION: &'static str = "follows a chain of pointers from line to line: measures the time of a miss, and of a TLB miss";
    type Kept = ();
    type Kernel = PointerChase;

    fn validate(&self) -> Result<(), WorkloadError> {
        let shared = (self.tlb == TlbState::Warm).then_some(self.pages);
        validate::check(
            self.lines,
            self.line_bytes,
            self.word_bytes,
            self.page_bytes,
            shared,
        )
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            branches: false,
            ..Instructions::default()
        }
    }

    fn work(&self) -> Work {
        estimates::work(self.lines, self.pages, 2.0)
    }

    fn memory(&self) -> Memory {
        estimates::memory(self.lines, &self.segment())
    }

    fn is_kept(&self, (): &()) -> bool {
        false
    }

    fn prepare(&self, (): &mut ()) -> Result<PointerChase, WorkloadError> {
        Ok(PointerChase::new(self))
    }
}

crate::tracer::sites! {
    WarmTlb = "load an unlisted line beforehand",
    Next = "load next pointer",
    Loop = "another line?",
}

/// Lines visited between two looks at whether the sink failed.
const LINES_PER_CHECK: usize = 65_536;

/// Phases of the run.
const PHASES: [&str; 2] = ["warm-up", "visit"];

/// The kernel with its lines.
#[derive(Clone, Debug)]
pub(crate) struct PointerChase {
    word_bytes: u32,
    contents: Contents,
}

impl PointerChaseWorkload {
    /// Where the lines are.
    fn segment(&self) -> Segment {
        let pages = match self.tlb {
            TlbState::Warm => self.pages,
            TlbState::Cold => self.lines,
        };
        lines::segment(pages, self.page_bytes, &[])
    }
}

impl PointerChase {
    fn new(workload: &PointerChaseWorkload) -> Self {
        let PointerChaseWorkload {
            lines,
            tlb,
            line_bytes,
            word_bytes,
            page_bytes,
            pages,
            seed,
        } = *workload;
        let lines = match tlb {
            TlbState::Warm => Lines::in_pages(lines, pages, page_bytes, line_bytes, &[], seed),
            TlbState::Cold => Lines::in_own_pages(lines, page_bytes, line_bytes, &[], seed),
        };
        // What line number `index` holds: the address of the next, and the last that of the first.
        let addresses = &lines.addresses;
        let next = |index| addresses.get(index + 1).copied().unwrap_or(addresses[0]);
        Self {
            word_bytes,
            contents: match word_bytes {
                4 => Contents::new::<u32>(&lines, None, next),
                _ => Contents::new::<u64>(&lines, None, next),
            },
        }
    }

    /// The loop `while ((node = node->next))`: a load and a branch on what it brings.
    fn follow<W: Word, T: Trace>(&self, trace: &mut T) -> Outcome {
        let contents = &self.contents;
        let (memory, lines) = (&contents.memory, contents.lines);
        trace.flush();
        trace.mark(0);
        contents.warm_tlb::<W, T>(trace, Site::WarmTlb);
        trace.mark(1);
        let mut pointer = Token::NONE;
        let mut address = contents.first;
        for first in (0..lines).step_by(LINES_PER_CHECK) {
            if trace.failed() {
                break;
            }
            for index in first..lines.min(first + LINES_PER_CHECK) {
                let line = contents.line::<W>(address);
                let next = memory.load(trace, Site::Next, line, pointer.after(0));
                (address, pointer) = (next.value.to_u64(), next.token);
                trace.branch(Site::Loop, index + 1 < lines, pointer.after(0));
            }
        }
        trace.end();
        if !trace.failed() {
            assert_eq!(address, contents.first, "the chain is a circle");
        }
        contents.outcome.clone()
    }

    /// Follows the chain `laps` times on the host's processor, after once that is not timed.
    fn repeat<W: Word>(&self, laps: u32, trace: &mut impl Trace) -> Outcome {
        let contents = &self.contents;
        // Goes on from where it is given, so that laps cannot overlap.
        let visit = |from: u64| {
            let next = |address, _| contents.memory.read(contents.line::<W>(address)).to_u64();
            let back = (0..contents.lines).fold(from, next);
            assert_eq!(back, from, "the chain is a circle");
            back
        };
        let mut address = visit(contents.first);
        trace.mark(TIMED_PHASE);
        for _ in 0..laps {
            address = visit(address);
        }
        black_box(address);
        trace.end();
        contents.outcome.clone()
    }
}

impl Kernel for PointerChase {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.contents.segments(),
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        match self.word_bytes {
            4 => self.follow::<u32, T>(trace),
            _ => self.follow::<u64, T>(trace),
        }
    }
}

/// Follows a chain of pointers `laps` times through caches that hold what they can of it: their latency, for a chain
/// that fits. Times are of all laps.
///
/// # Errors
/// If the chain cannot be, its memory is too large, or `observer` breaks off.
pub fn measure_laps(
    workload: &PointerChaseWorkload,
    laps: u32,
    options: Options,
    observer: Observer<'_>,
) -> Result<Measured, NativeError> {
    workload.validate()?;
    // Before the memory is taken.
    native::check_memory(&[workload.segment()])?;
    let kernel = PointerChase::new(workload);
    native::measure(
        &kernel.layout(),
        1,
        options,
        observer,
        |_, native| match kernel.word_bytes {
            4 => kernel.repeat::<u32>(laps.max(1), native),
            _ => kernel.repeat::<u64>(laps.max(1), native),
        },
    )
}
