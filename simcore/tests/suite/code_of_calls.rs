//! The instruction cache under calls, beside a textbook one (sets as lists, lines with a mark while nobody used them), and
//! under any policy beside one that fetches line after line.

use crate::common::{LINE, PAGE, in_order, load, machine};
use proptest::prelude::*;
use simcore::counts::CountStatistics;
use simcore::profile::{DbmsSpec, RoutineSpec};
use simcore::spec::{Inclusion, InstructionCacheSpec, MachineSpec, Replacement};
use simcore::{Counts, Engine};
use std::collections::BTreeSet;
use std::ops::Range;
use traces::{Event, EventSink, Kind, Layout};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// A line, and whether it was prefetched and not used.
type Held = (u64, bool);

/// LRU with tagged prefetching from a second level that loses nothing.
struct Textbook {
    sets: Vec<Vec<Held>>,
    ways: usize,
    prefetches: bool,
    second: BTreeSet<u64>,
    hits: u64,
    misses: u64,
    prefetched: u64,
}

impl Textbook {
    fn new(spec: &InstructionCacheSpec) -> Self {
        let sets = spec.size_bytes / spec.line_bytes / u64::from(spec.ways);
        Self {
            sets: vec![Vec::new(); sets as usize],
            ways: spec.ways as usize,
            prefetches: spec.next_line_prefetch,
            second: BTreeSet::new(),
            hits: 0,
            misses: 0,
            prefetched: 0,
        }
    }

    fn set(&mut self, line: u64) -> &mut Vec<Held> {
        let number = line as usize % self.sets.len();
        &mut self.sets[number]
    }

    /// Puts a line in as the most recently used.
    fn put(&mut self, held: Held) {
        let ways = self.ways;
        let set = self.set(held.0);
        set.insert(0, held);
        set.truncate(ways);
    }

    fn fetch(&mut self, line: u64) {
        let set = self.set(line);
        let found = set.iter().position(|held| held.0 == line);
        let unused = found.map(|way| set.remove(way).1);
        self.put((line, false));
        match unused {
            Some(false) => {
                self.hits += 1;
                return;
            }
            Some(true) => self.hits += 1,
            None => self.misses += 1,
        }
        self.second.insert(line);
        let next = line + 1;
        let there = self.set(next).iter().any(|held| held.0 == next);
        let same_page = !(next * LINE).is_multiple_of(PAGE);
        if self.prefetches && !there && same_page && self.second.contains(&next) {
            self.prefetched += 1;
            self.put((next, true));
        }
    }
}

prop_compose! {
    fn any_code(most_lines: u64)(
        code_lines in prop::collection::vec(0..=most_lines, NAMES.len()),
        sets in 0_u32..4,
        ways in 1_u32..5,
        next_line_prefetch in any::<bool>(),
        ordered in any::<bool>(),
    ) -> (MachineSpec, Vec<u64>) {
        let mut spec = if ordered { in_order() } else { machine() };
        spec.instruction_cache = Some(InstructionCacheSpec {
            size_bytes: (LINE * u64::from(ways)) << sets,
            line_bytes: LINE,
            ways,
            replacement: Replacement::Lru,
            next_line_prefetch,
        });
        let routine = |lines: u64| RoutineSpec {
            instructions: 100,
            code_bytes: lines * LINE,
            mispredicts_per_1000: 10,
            dependent_per_1000: 300,
            data_bytes: 0,
        };
        let calls = NAMES.iter().zip(&code_lines).map(|(&name, &lines)| (name.to_owned(), routine(lines)));
        spec.dbms = Some(DbmsSpec { name: "test".to_owned(), calls: calls.collect(), clock_tick: None });
        (spec, code_lines)
    }
}

/// The trace names the calls and nothing else, so that code begins at address 0.
fn layout() -> Layout {
    Layout {
        calls: NAMES.map(str::to_owned).to_vec(),
        phases: vec!["run".to_owned()],
        ..Layout::default()
    }
}

fn call(number: usize) -> Event {
    Event::new(Kind::Call, number as u64)
}

/// The lines of a call's code: routines lie one behind the other.
fn lines_of(call: usize, code_lines: &[u64]) -> Range<u64> {
    let first: u64 = code_lines[..call].iter().sum();
    first..first + code_lines[call]
}

fn count(spec: &MachineSpec, events: &[Event]) -> CountStatistics {
    let mut counts = Counts::new(spec, &layout()).unwrap();
    counts.consume(events).unwrap();
    counts.finish()
}

/// A machine with any policy, whose second cache is so small that data drive out code.
fn any_policy_code() -> impl Strategy<Value = (MachineSpec, Vec<u64>)> {
    let replacement = prop::sample::select(vec![
        Replacement::Lru,
        Replacement::TreePlru,
        Replacement::Nru,
        Replacement::Fifo,
        Replacement::Random,
        Replacement::Srrip,
    ]);
    (any_code(4), replacement, any::<bool>()).prop_map(
        |((mut spec, code_lines), replacement, inclusive)| {
            let code = spec.instruction_cache.as_mut().unwrap();
            code.replacement = replacement;
            if replacement == Replacement::TreePlru {
                let sets = code.sets();
                code.ways = code.ways.next_power_of_two();
                code.size_bytes = sets * LINE * u64::from(code.ways);
            }
            let second = &mut spec.caches[1];
            second.size_bytes = 4 * LINE * u64::from(second.ways);
            if inclusive {
                second.inclusion = Inclusion::Inclusive;
            }
            (spec, code_lines)
        },
    )
}

/// Mostly calls; code and data that are read besides, and a pause now and then.
fn any_step() -> impl Strategy<Value = Event> {
    prop_oneof![
        40 => (0..NAMES.len()).prop_map(call),
        4 => (0_u64..24).prop_map(|line| Event::new(Kind::Fetch, line * LINE)),
        4 => (0_u64..200).prop_map(|line| load(line * LINE)),
        1 => Just(Event::new(Kind::Flush, 0)),
    ]
}

proptest! {
    #[test]
    fn code_is_found_where_the_textbook_finds_it(
        (spec, code_lines) in any_code(39),
        calls in prop::collection::vec(0..NAMES.len(), 0..60),
    ) {
        let mut book = Textbook::new(spec.instruction_cache.as_ref().unwrap());
        for &call in &calls {
            lines_of(call, &code_lines).for_each(|line| book.fetch(line));
        }
        let events: Vec<Event> = calls.iter().map(|&number| call(number)).collect();
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.consume(&events).unwrap();
        let counted = count(&spec, &events);
        for found in [engine.finish().instruction_cache, counted.instruction_cache] {
            let found = found.unwrap();
            prop_assert_eq!((found.hits, found.misses), (book.hits, book.misses));
            prop_assert_eq!(found.prefetched.unwrap_or(0), book.prefetched);
        }
    }

    #[test]
    fn a_call_leaves_the_caches_as_fetching_its_lines_does(
        (spec, code_lines) in any_policy_code(),
        steps in prop::collection::vec(any_step(), 0..400),
    ) {
        let line_after_line: Vec<Event> = steps
            .iter()
            .flat_map(|&step| match step.kind {
                Kind::Call => lines_of(step.address as usize, &code_lines)
                    .map(|line| Event::new(Kind::Fetch, line * LINE))
                    .collect(),
                _ => vec![step],
            })
            .collect();
        let (called, fetched) = (count(&spec, &steps), count(&spec, &line_after_line));
        prop_assert_eq!(called.instruction_cache, fetched.instruction_cache);
        for (called, fetched) in called.caches.iter().zip(&fetched.caches) {
            prop_assert_eq!(&called.counts, &fetched.counts);
        }
    }
}
