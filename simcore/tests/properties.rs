//! Laws that hold for any trace on any machine, and a textbook cache as the judge of all counts.

mod common;

use common::*;
use proptest::prelude::*;
use simcore::spec::{MachineSpec, PredictorSpec, Walker};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, Segment};

/// A set-associative LRU hierarchy as a textbook has it: lists of lines, most recent first; a level is looked up when
/// all before it missed; every level that missed is filled; a dirty line that leaves is written to the next level.
struct Textbook {
    levels: Vec<Vec<Vec<(u64, bool)>>>,
    shape: Vec<(u64, usize)>,
    counts: Vec<[u64; 4]>,
    bus: [u64; 2],
}

impl Textbook {
    fn new(spec: &MachineSpec) -> Self {
        Self {
            levels: spec
                .caches
                .iter()
                .map(|cache| vec![Vec::new(); cache.sets() as usize])
                .collect(),
            shape: spec
                .caches
                .iter()
                .map(|cache| (cache.line_bytes, cache.ways as usize))
                .collect(),
            counts: vec![[0; 4]; spec.caches.len()],
            bus: [0; 2],
        }
    }

    fn set(&mut self, level: usize, address: u64) -> (&mut Vec<(u64, bool)>, u64) {
        let line = address / self.shape[level].0;
        let sets = self.levels[level].len() as u64;
        (&mut self.levels[level][(line % sets) as usize], line)
    }

    fn touch(&mut self, level: usize, address: u64, dirty: bool) -> bool {
        let (set, line) = self.set(level, address);
        let Some(way) = set.iter().position(|held| held.0 == line) else {
            return false;
        };
        let held = set.remove(way);
        set.insert(0, (line, held.1 || dirty));
        true
    }

    fn fill(&mut self, level: usize, address: u64, dirty: bool) {
        let (bytes, ways) = self.shape[level];
        let (set, line) = self.set(level, address);
        set.insert(0, (line, dirty));
        if set.len() > ways {
            let (victim, was_dirty) = set.pop().unwrap();
            if was_dirty {
                self.counts[level][3] += 1;
                self.write_back(level + 1, victim * bytes);
            }
        }
    }

    fn write_back(&mut self, level: usize, address: u64) {
        if level == self.levels.len() {
            self.bus[1] += 1;
        } else if !self.touch(level, address, true) {
            self.fill(level, address, true);
        }
    }

    fn access(&mut self, address: u64, size: u64, dirty: bool) {
        let bytes = self.shape[0].0;
        let last = address.saturating_add(size - 1) / bytes;
        for line in address / bytes..=last {
            self.access_line(line * bytes, dirty);
        }
    }

    fn access_line(&mut self, address: u64, dirty: bool) {
        let mut missed = 0;
        while missed < self.levels.len() {
            self.counts[missed][0] += 1;
            if self.touch(missed, address, dirty && missed == 0) {
                self.counts[missed][1] += 1;
                break;
            }
            self.counts[missed][2] += 1;
            missed += 1;
        }
        if missed == self.levels.len() {
            self.bus[0] += 1;
        }
        for level in (0..missed).rev() {
            self.fill(level, address, dirty && level == 0);
        }
    }
}

prop_compose! {
    /// A small machine, so that short traces overflow it.
    fn any_machine()(
        geometry in prop::collection::vec((0_u32..4, 1_u32..5, 0_u32..2), 1..4),
        width in 1_u32..7,
        ordered in any::<bool>(),
        parallel in any::<bool>(),
        mshrs in 1_u32..9,
        stores in 1_u32..9,
        entries in 1_u32..9,
        reorder_buffer in 8_u32..200,
    ) -> MachineSpec {
        let mut spec = if ordered { in_order() } else { machine() };
        spec.core.issue_width = width;
        spec.core.integer_units = width.div_ceil(2);
        spec.core.store_buffer_entries = stores;
        spec.core.branch_predictor = PredictorSpec::Gshare { history_bits: 4, counters: 64 };
        if !ordered {
            spec.core.reorder_buffer = Some(reorder_buffer);
        }
        spec.dtlb.levels[0].entries = entries;
        if parallel {
            spec.dtlb.walker = Walker::Parallel;
        }
        spec.caches.truncate(geometry.len());
        let mut line_bytes = 32;
        for (cache, (sets, ways, growth)) in spec.caches.iter_mut().zip(geometry) {
            line_bytes <<= growth;
            cache.line_bytes = line_bytes;
            cache.ways = ways;
            cache.size_bytes = (line_bytes * u64::from(ways)) << sets;
        }
        spec.caches[0].mshrs = Some(mshrs);
        spec
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let address = prop_oneof![0_u64..4096, 0_u64..200_000, Just(u64::MAX - 5)];
    (
        address,
        0_u8..6,
        1_u16..40,
        0_u32..6,
        0_u16..50,
        0_u8..3,
        0_u16..4,
    )
        .prop_map(|(address, kind, size, dep, instructions, chain, site)| {
            let kind = [
                Kind::Load,
                Kind::Load,
                Kind::Store,
                Kind::Prefetch,
                Kind::Branch,
                Kind::Mark,
            ][usize::from(kind)];
            let memory = matches!(kind, Kind::Load | Kind::Store);
            Event {
                address: match kind {
                    Kind::Branch | Kind::Mark => address % 2,
                    _ => address,
                },
                dep,
                size: if memory { size } else { 1 },
                words: size.div_ceil(4),
                instructions,
                site,
                kind,
                chain,
            }
        })
}

fn any_trace() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(any_event(), 0..400)
}

fn layout() -> Layout {
    Layout {
        segments: vec![
            Segment {
                name: "low".to_owned(),
                base: 0,
                size_bytes: 1000,
            },
            Segment {
                name: "empty".to_owned(),
                base: 1500,
                size_bytes: 0,
            },
            Segment {
                name: "high".to_owned(),
                base: 2000,
                size_bytes: 100_000,
            },
        ],
        sites: Vec::new(),
        phases: vec!["start".to_owned(), "work".to_owned()],
    }
}

fn run_in_batches(spec: &MachineSpec, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).unwrap();
    for part in events.chunks(batch) {
        engine.consume(part).unwrap();
    }
    engine.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_a_textbook_cache(spec in any_machine(), events in any_trace()) {
        let mut book = Textbook::new(&spec);
        for event in &events {
            match event.kind {
                Kind::Load | Kind::Prefetch => book.access(event.address, u64::from(event.size), false),
                Kind::Store => book.access(event.address, u64::from(event.size), true),
                _ => {}
            }
        }
        let stats = run_in_batches(&spec, &events, 400);
        for (level, cache) in stats.caches.iter().enumerate() {
            let counts = cache.counts;
            let found = [cache.accesses, counts.hits + counts.merges, counts.misses, counts.write_backs];
            prop_assert_eq!(found, book.counts[level], "level {}", level);
        }
        prop_assert_eq!([stats.bus.fills, stats.bus.write_backs], book.bus);
    }

    #[test]
    fn slots_sum_to_the_time(spec in any_machine(), events in any_trace()) {
        let stats = run_in_batches(&spec, &events, 400);
        let width = u64::from(spec.core.issue_width);
        prop_assert_eq!(stats.slots.total, stats.cycles * width);
        prop_assert_eq!(stats.slots.busy, stats.instructions);
        let instructions: u64 = events
            .iter()
            .map(|event| u64::from(event.instructions) + event.own_instructions())
            .sum();
        prop_assert_eq!(stats.instructions, instructions);
        let rows: u64 = stats.breakdown.iter().map(|row| row.slots.total).sum();
        prop_assert_eq!(rows, stats.slots.total);
        prop_assert!(stats.breakdown.iter().all(|row| row.segment != "empty"));
        let marks = events.iter().filter(|event| event.kind == Kind::Mark).count() as u64;
        prop_assert_eq!(stats.phases.iter().map(|phase| phase.entries).sum::<u64>(), marks);
    }

    #[test]
    fn batches_do_not_matter(spec in any_machine(), events in any_trace(), batch in 1_usize..50) {
        prop_assert_eq!(run_in_batches(&spec, &events, batch), run_in_batches(&spec, &events, 400));
    }

    #[test]
    fn a_larger_fully_associative_cache_never_misses_more(
        events in any_trace(),
        ways in 1_u32..20,
        line in 5_u32..8,
    ) {
        let misses = |ways: u32| {
            let mut spec = machine();
            spec.caches.truncate(1);
            spec.caches[0].line_bytes = 1 << line;
            spec.caches[0].ways = ways;
            spec.caches[0].size_bytes = u64::from(ways) << line;
            run_in_batches(&spec, &events, 400).caches[0].counts.misses
        };
        prop_assert!(misses(ways + 1) <= misses(ways));
    }
}
