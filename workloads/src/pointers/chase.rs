//! Follows a chain of pointers from line to line (thesis section 2.4.1): measures T1, and the TLB miss latency.

use super::lines::Lines;
use super::native;
use crate::native::Native;
use crate::outcome::{Checksum, Outcome};
use crate::spec::{PointerChaseWorkload, TlbState};
use crate::tracer::{Token, Trace};
use traces::Layout;

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
    lines: Lines,
}

impl PointerChase {
    pub(crate) fn new(workload: &PointerChaseWorkload) -> Self {
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
        Self { word_bytes, lines }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout {
            segments: vec![self.lines.segment.clone()],
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    /// The loop `while ((node = node->next))`: a load and a branch on what it brings.
    pub(crate) fn run<T: Trace>(&self, trace: &mut T) -> Outcome {
        trace.flush();
        trace.mark(0);
        self.lines.warm_tlb(trace, Site::WarmTlb, self.word_bytes);
        trace.mark(1);
        let mut checksum = Checksum::default();
        let mut pointer = Token::NONE;
        for (index, &address) in self.lines.addresses.iter().enumerate() {
            if index % LINES_PER_CHECK == 0 && trace.failed() {
                break;
            }
            pointer = trace.load(
                Site::Next,
                address,
                self.word_bytes as u16,
                1,
                pointer.after(0),
            );
            checksum.add(address);
            trace.branch(
                Site::Loop,
                index + 1 < self.lines.addresses.len(),
                pointer.after(0),
            );
        }
        self.outcome(checksum)
    }

    /// Follows the chain in the host's memory: as [`PointerChase::run`] if `laps` is 0, otherwise so often from
    /// caches that hold what they can of it.
    pub(crate) fn run_native(&self, laps: u32, native: &mut Native<'_>) -> Outcome {
        match self.word_bytes {
            4 => native::chase::<u32>(&self.lines, laps, native),
            _ => native::chase::<u64>(&self.lines, laps, native),
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
}
