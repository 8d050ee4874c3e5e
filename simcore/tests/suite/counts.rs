//! Counts mode gives the counts of timing mode, whatever the machine and the trace, and those of sets done by hand.

use crate::common::random::with_arrivals;
use crate::common::*;
use proptest::prelude::*;
use simcore::counts::CountStatistics;
use simcore::spec::{
    Inclusion, MachineSpec, PrefetchOnTlbMiss, PrefetcherSpec, Replacement, WritePolicy,
};
use simcore::statistics::PrefetchStatistics;
use simcore::{AddressSink, Counts, Engine};
use traces::{Event, EventSink, Kind, Layout, Segment};

fn layout(segments: bool) -> Layout {
    let segment = |name: &str, base, size_bytes| Segment {
        name: name.to_owned(),
        base,
        size_bytes,
    };
    let named = vec![segment("low", 0, 1000), segment("high", 2000, 100_000)];
    Layout {
        segments: if segments { named } else { Vec::new() },
        sites: Vec::new(),
        phases: vec!["start".to_owned(), "work".to_owned()],
        calls: Vec::new(),
    }
}

fn count(spec: &MachineSpec, layout: &Layout, events: &[Event], batch: usize) -> CountStatistics {
    let mut counts = Counts::new(spec, layout).unwrap();
    for part in events.chunks(batch) {
        counts.consume(part).unwrap();
    }
    counts.finish()
}

prop_compose! {
    /// A small machine, so that short traces overflow it; of all ways that have code of their own, and others.
    fn any_machine()(
        geometry in prop::collection::vec(
            (0_u32..4, prop::sample::select(vec![1_u32, 2, 3, 4, 5, 8, 16, 17]), 0_u32..2), 1..4
        ),
        first_line in prop::sample::select(vec![8_u64, 64]),
        drops in any::<bool>(),
    ) -> MachineSpec {
        let mut spec = machine();
        spec.dtlb.levels[0].entries = 3;
        if drops {
            spec.dtlb.prefetch_on_miss = PrefetchOnTlbMiss::Drop;
        }
        spec.caches.truncate(geometry.len());
        let mut line_bytes = first_line;
        for (cache, (sets, ways, growth)) in spec.caches.iter_mut().zip(geometry) {
            line_bytes <<= growth;
            cache.line_bytes = line_bytes;
            cache.ways = ways;
            cache.size_bytes = (line_bytes * u64::from(ways)) << sets;
        }
        spec
    }
}

/// Any event a machine without storage takes. Few kinds per trace, so that some traces only read.
fn any_trace() -> impl Strategy<Value = Vec<Event>> {
    let kinds = prop::sample::select(vec![
        vec![Kind::Load],
        vec![Kind::Load, Kind::Load, Kind::Load, Kind::Load, Kind::Flush],
        vec![Kind::Load, Kind::Prefetch, Kind::Mark],
        vec![
            Kind::Load,
            Kind::Store,
            Kind::Exchange,
            Kind::Branch,
            Kind::Op,
        ],
        vec![
            Kind::Load,
            Kind::Load,
            Kind::Store,
            Kind::Prefetch,
            Kind::PrefetchNta,
            Kind::Mark,
            Kind::Branch,
        ],
        vec![
            Kind::Store,
            Kind::Load,
            Kind::Load,
            Kind::Store,
            Kind::PrefetchNta,
            Kind::Flush,
        ],
        [
            [Kind::Load, Kind::Store, Kind::Prefetch, Kind::Mark].repeat(20),
            vec![Kind::Measure],
        ]
        .concat(),
        [
            [Kind::Load, Kind::Store, Kind::StoreNta].repeat(30),
            vec![Kind::Measure, Kind::Flush],
        ]
        .concat(),
    ]);
    let address = prop_oneof![0_u64..4096, 0_u64..200_000, Just(u64::MAX - 5)];
    kinds.prop_flat_map(move |kinds| {
        let event = (address.clone(), 0..kinds.len(), 1_u16..40, 0_u16..5);
        let event = event.prop_map(move |(address, kind, size, instructions)| {
            let kind = kinds[kind];
            Event {
                address: match kind {
                    Kind::Branch | Kind::Mark => address % 2,
                    _ => address,
                },
                size: if kind == Kind::Op { 0 } else { size },
                instructions,
                ..Event::new(kind, 0)
            }
        });
        prop::collection::vec(event, 0..1500)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_those_of_timing_mode_where_pages_arrive(
        spec in any_machine(), events in with_arrivals(any_trace()), batch in 1_usize..2000,
    ) {
        let layout = layout(true);
        let mut engine = Engine::new(&spec, &layout).unwrap();
        engine.overwrite_frames();
        engine.consume(&events).unwrap();
        let timed = engine.finish();
        let mut counts = Counts::new(&spec, &layout).unwrap().with_arrivals();
        for part in events.chunks(batch) {
            counts.consume(part).unwrap();
        }
        let counted = counts.finish();
        for (timed, counted) in timed.caches.iter().zip(&counted.caches) {
            prop_assert_eq!(timed.counts.hits + timed.counts.merges, counted.counts.hits);
            prop_assert_eq!(timed.counts.misses, counted.counts.misses);
            prop_assert_eq!(timed.counts.write_backs, counted.counts.write_backs);
            prop_assert_eq!(timed.overwritten, counted.overwritten);
        }
        prop_assert_eq!(timed.bus, counted.bus);
        // A machine of another kind lets its events pass.
        let mut other = spec.clone();
        other.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
        let mut passed = Counts::new(&other, &layout).unwrap().with_arrivals();
        passed.consume(&events).unwrap();
        let arrived = events.iter().any(|event| event.kind == Kind::PageArrival && event.size > 0);
        let overwritten: Vec<_> = passed.finish().caches.iter().map(|cache| cache.overwritten).collect();
        prop_assert!(overwritten.iter().all(|lines| lines.is_some_and(|lines| arrived || lines == 0)));
    }

    #[test]
    fn counts_equal_those_of_timing_mode(
        spec in any_machine(), events in any_trace(), segments in any::<bool>(), batch in 1_usize..2000,
    ) {
        let layout = layout(segments);
        let mut engine = Engine::new(&spec, &layout).unwrap();
        engine.consume(&events).unwrap();
        let timed = engine.finish();
        let counted = count(&spec, &layout, &events, batch);
        for (timed, counted) in timed.caches.iter().zip(&counted.caches) {
            prop_assert_eq!(counted.accesses, timed.accesses);
            prop_assert_eq!(counted.counts.hits, timed.counts.hits + timed.counts.merges);
            prop_assert_eq!(counted.counts.misses, timed.counts.misses);
            prop_assert_eq!(counted.counts.write_backs, timed.counts.write_backs);
        }
        // Whether a prefetch comes in time is no question where none passes.
        let untimed = PrefetchStatistics { late: None, unused: None, ..timed.prefetches };
        prop_assert_eq!(counted.prefetches, untimed);
        prop_assert_eq!(counted.bus, timed.bus);
        prop_assert_eq!(&counted.phases, &timed.phases);
        prop_assert_eq!((counted.events, counted.instructions), (timed.events, timed.instructions));
        let rows = |row: &(String, String)| counted.breakdown.iter().any(|counted| (&counted.phase, &counted.segment) == (&row.0, &row.1));
        for row in timed.breakdown.iter().filter(|row| row.served.iter().any(|&served| served > 0)) {
            prop_assert!(rows(&(row.phase.clone(), row.segment.clone())));
        }
        for level in 0..=spec.caches.len() {
            let rows: u64 = counted.breakdown.iter().map(|row| row.served[level] + row.prefetched[level]).sum();
            let hits = counted.caches.get(level).map_or(counted.bus.fills, |cache| cache.counts.hits);
            prop_assert_eq!(rows, hits);
        }
    }

    #[test]
    fn addresses_count_like_loads_of_one_byte(
        spec in any_machine(),
        begun in prop::collection::vec(0_u64..9000, 0..4),
        addresses in prop::collection::vec(0_u64..9000, 0..3000),
        segments in any::<bool>(),
    ) {
        let layout = layout(segments);
        // Some of their lines may be in write-combining buffers.
        let begun: Vec<Event> = begun.into_iter().map(|address| Event::new(Kind::StoreNta, address)).collect();
        let loads: Vec<Event> = addresses.iter().map(|&address| Event { size: 1, ..load(address) }).collect();
        let mut counts = Counts::new(&spec, &layout).unwrap();
        let (first, second) = addresses.split_at(addresses.len() / 3);
        counts.consume(&begun).unwrap();
        counts.read(first);
        counts.read(second);
        prop_assert_eq!(counts.finish(), count(&spec, &layout, &[begun, loads].concat(), 1000));
    }
}

/// On machines whose events pass, too: where no time does, the line from furthest away counts.
#[test]
fn a_load_from_two_pages_counts_once_and_by_who_serves_it() {
    let mut spec = machine();
    spec.caches[2].inclusion = Inclusion::Inclusive;
    let page = spec.dtlb.page_bytes;
    let wide = |address| Event {
        size: 100,
        words: 13,
        ..after(1, load(address))
    };
    let packed = (0..2000).map(|record| wide(100 * record));
    let events: Vec<Event> = std::iter::once(wide(100 * page - 4))
        .chain(packed)
        .collect();
    let timed = run(&spec, &events);
    let counted = count(&spec, &Layout::default(), &events, 1000);
    let times: Vec<_> = timed
        .breakdown
        .iter()
        .map(|row| row.served.clone())
        .collect();
    let rows: Vec<_> = counted
        .breakdown
        .iter()
        .map(|row| row.served.clone())
        .collect();
    assert_eq!(times, rows);
}

#[test]
fn a_dirty_line_is_written_to_the_next_level_and_from_there_to_memory() {
    let mut spec = machine();
    spec.caches.truncate(2);
    for (cache, ways) in spec.caches.iter_mut().zip([1, 2]) {
        cache.ways = ways;
        cache.size_bytes = LINE * u64::from(ways);
    }
    // One set each. Line 0 is dirty in L1 and leaves when line 1 comes; the write-back makes it the most recent of L2,
    // so line 2 displaces line 1 there and line 3 the dirty line 0.
    let events = [store(0), load(LINE), load(2 * LINE), load(3 * LINE)];
    let counted = count(&spec, &layout(false), &events, 10);
    assert_eq!(counted.caches[0].counts.write_backs, 1);
    assert_eq!(counted.caches[1].counts.write_backs, 1);
    assert_eq!((counted.bus.fills, counted.bus.write_backs), (4, 1));
}

/// Machines that are not counted in batches.
fn others() -> Vec<MachineSpec> {
    let edits: [fn(&mut MachineSpec); 6] = [
        |spec| {
            spec.caches[0].line_bytes = 2;
            spec.caches[0].size_bytes = 1024;
        },
        |spec| spec.caches[1].replacement = Replacement::Srrip,
        |spec| spec.caches[2].inclusion = Inclusion::Inclusive,
        |spec| spec.caches[1].inclusion = Inclusion::Exclusive,
        |spec| spec.caches[0].write_policy = WritePolicy::WriteThrough,
        |spec| spec.caches[0].write_allocate = false,
    ];
    edits
        .map(|edit| {
            let mut spec = machine();
            for (level, cache) in (0..).zip(&mut spec.caches) {
                cache.size_bytes = (LINE * u64::from(cache.ways)) << level;
            }
            edit(&mut spec);
            spec
        })
        .into()
}

#[test]
fn machines_of_other_kinds_count_what_they_count_in_time() {
    for spec in others() {
        let accesses = (0..3000).map(|step: u64| {
            let address = (step * step * 37 + step) % 8192;
            if step.is_multiple_of(3) {
                store(address)
            } else {
                load(address)
            }
        });
        let events: Vec<Event> = accesses.collect();
        let timed = run(&spec, &events);
        let counted = count(&spec, &layout(false), &events, 100);
        assert_eq!(counted.instructions, timed.instructions);
        assert_eq!(counted.bus, timed.bus);
        for (counted, timed) in counted.caches.iter().zip(&timed.caches) {
            let hits = timed.counts.hits + timed.counts.merges;
            assert_eq!(counted.counts.hits, hits, "{}", timed.name);
            assert_eq!(counted.counts.misses, timed.counts.misses, "{}", timed.name);
            assert_eq!(counted.counts.write_backs, timed.counts.write_backs);
        }
    }
}

/// A prefetcher of the first level needs a free miss handler, and without time one is always free: that is said.
#[test]
fn counts_that_need_time_are_told() {
    let next_line = vec![PrefetcherSpec::NextLine { degree: 4 }];
    let events: Vec<Event> = (0..200)
        .map(|line| plain(1, load(line * 2 * LINE)))
        .collect();
    for level in 0..2 {
        let mut spec = machine();
        spec.caches[level].prefetchers = next_line.clone();
        spec.caches[0].mshrs = Some(2);
        let timed = run(&spec, &events).caches;
        let counted = count(&spec, &layout(false), &events, 100);
        let misses = |caches: &[simcore::statistics::CacheStatistics]| -> Vec<u64> {
            caches.iter().map(|cache| cache.counts.misses).collect()
        };
        if level == 0 {
            assert!(misses(&counted.caches)[0] < misses(&timed)[0]);
            let [said] = counted.differs_from_timing.as_slice() else {
                panic!("{:?}", counted.differs_from_timing);
            };
            assert!(
                said.starts_with("the prefetchers of L1 always find"),
                "{said}"
            );
        } else {
            assert_eq!(misses(&counted.caches), misses(&timed));
            assert_eq!(counted.differs_from_timing, [""; 0]);
        }
    }
    let plain = count(&machine(), &layout(false), &events, 100);
    assert_eq!(plain.differs_from_timing, [""; 0]);
}

#[test]
fn fetches_are_refused_without_an_instruction_cache() {
    let mut counts = Counts::new(&machine(), &layout(false)).unwrap();
    let error = counts.consume(&[Event::new(Kind::Fetch, 0)]).unwrap_err();
    assert!(error.to_string().contains("Fetch"));
}
