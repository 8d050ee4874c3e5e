//! Random programs that are compared with cores that are stepped cycle by cycle.

use super::stepped_core::{core_cycles, program, stepped};
use super::{LINE, PAGE, after, plain};
use proptest::collection;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use simcore::spec::{MachineSpec, PredictorSpec};
use traces::{Event, Kind};

/// Neighbours whose entries share a line of the page table, at most.
pub const PAGES_OF_A_LINE: u64 = 4;

/// Where lines lie that all cores have in common.
const COMMON: u64 = 1 << 40;

/// Of ten accesses, how many are stores and how many need one of those before them, of which the furthest is so far `back`; the most plain instructions between two, and over how many
/// pages they are spread.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub stores: u32,
    pub needs: u32,
    pub back: u32,
    pub between: u16,
    pub pages: u64,
    /// Of ten events, how many are branches, half of which are predicted wrongly.
    pub branches: u32,
    /// Of ten accesses, how many are prefetches of the line that so many accesses later has.
    pub prefetches: u32,
    pub ahead: u64,
    /// Of ten accesses, how many are exchanges.
    pub exchanges: u32,
    /// Of ten accesses, how many are to so many lines that all have in common. Others have lines of their own.
    pub common: u32,
    pub lines: u64,
}

/// Loads that need nothing, one behind the other.
impl Default for Mix {
    fn default() -> Self {
        Self {
            stores: 0,
            needs: 0,
            back: 5,
            between: 1,
            pages: 1,
            branches: 0,
            prefetches: 0,
            ahead: 0,
            exchanges: 0,
            common: 0,
            lines: 1,
        }
    }
}

impl Mix {
    /// A random program of core `core`.
    pub fn program(self, runner: &mut TestRunner, core: u64) -> Vec<Event> {
        let steps = collection::vec((0..10_u32, 0..10_u32, 1..6_u32, 0..self.between), 150);
        let steps = steps.new_tree(runner).expect("no filter").current();
        let pages = collection::vec(0..self.pages, steps.len());
        let pages = if self.pages > 1 {
            pages.new_tree(runner).expect("no filter").current()
        } else {
            vec![0; steps.len()]
        };
        let branches = collection::vec((0..10_u32, proptest::bool::ANY), steps.len());
        let branches = if self.branches > 0 {
            branches.new_tree(runner).expect("no filter").current()
        } else {
            vec![(10, true); steps.len()]
        };
        let common = collection::vec((0..10_u32, 0..self.lines), steps.len());
        let common = if self.common > 0 {
            common.new_tree(runner).expect("no filter").current()
        } else {
            vec![(10, 0); steps.len()]
        };
        program(core, steps.len() as u64, |line, load| {
            let (kind, need, back, between) = steps[line as usize];
            let back = if need < self.needs {
                back.min(self.back).min(line as u32)
            } else {
                0
            };
            let (prefetches, exchanges) = (self.stores, self.stores + self.prefetches);
            let kind = match kind {
                kind if kind < prefetches => Kind::Store,
                kind if kind < exchanges => Kind::Prefetch,
                kind if kind < exchanges + self.exchanges => Kind::Exchange,
                _ => Kind::Load,
            };
            let line_of = if kind == Kind::Prefetch {
                (line + self.ahead).min(steps.len() as u64 - 1)
            } else {
                line
            };
            let address = match common[line_of as usize] {
                (in_common, number) if in_common < self.common => COMMON + number * LINE,
                _ => {
                    load.address
                        + (line_of - line) * LINE
                        + pages[line_of as usize] * PAGES_OF_A_LINE * PAGE
                }
            };
            let access = Event {
                kind,
                address,
                ..load
            };
            let event = match branches[line as usize] {
                (branch, taken) if branch < self.branches => Event {
                    site: line as u16,
                    ..super::branch(taken)
                },
                _ => access,
            };
            after(back, plain(between, event))
        })
    }

    /// Gives a machine a port for every access, a unit for every branch and a counter for each of these.
    pub fn prepare(self, spec: &mut MachineSpec) {
        spec.core.memory_ports = spec.core.issue_width;
        spec.core.branch_units = spec.core.issue_width;
        if self.branches > 0 {
            spec.core.branch_predictor = PredictorSpec::Bimodal { counters: 1 << 16 };
        }
    }

    /// In percent, how much longer random programs take on so many cores than in the model, where nobody waits for a port or a branch unit: on
    /// the average, and the most of them in either direction.
    pub fn errors(self, spec: &MachineSpec, interval: u64, cores: u64) -> (f64, f64) {
        let mut spec = spec.clone();
        self.prepare(&mut spec);
        let mut runner = TestRunner::deterministic();
        let mut errors = Vec::new();
        for _ in 0..20 {
            let programs: Vec<_> = (0..cores)
                .map(|core| self.program(&mut runner, core))
                .collect();
            let expected = stepped(&spec, interval, &programs);
            for (found, expected) in core_cycles(&spec, &programs).into_iter().zip(expected) {
                errors.push((found as f64 / expected as f64 - 1.) * 100.);
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        (mean, errors.into_iter().map(f64::abs).fold(0., f64::max))
    }
}
