//! Random machines and traces.

use super::{in_order, machine};
use proptest::prelude::*;
use simcore::spec::{
    ExchangeSpec, Inclusion, MachineSpec, PredictorSpec, PrefetcherSpec, Replacement, Walker,
    WritePolicy,
};
use std::ops::Range;
use traces::{Event, Kind};

prop_compose! {
    /// A small machine with so many levels of caches, so that short traces overflow it.
    fn any_machine_of(levels: Range<usize>)(
        geometry in prop::collection::vec((1_u64..9, 1_u32..5, 0_u32..2), levels),
        width in 1_u32..7,
        ordered in any::<bool>(),
        parallel in any::<bool>(),
        mshrs in 1_u32..9,
        stores in 1_u32..9,
        entries in 1_u32..9,
        reorder_buffer in 8_u32..200,
        exchange in prop::option::of((0_u32..20, any::<bool>())),
    ) -> MachineSpec {
        let mut spec = if ordered { in_order() } else { machine() };
        spec.core.issue_width = width;
        spec.core.integer_units = width.div_ceil(2);
        spec.core.store_buffer_entries = stores;
        spec.core.exchange =
            exchange.map(|(further_cycles, alone)| ExchangeSpec { further_cycles, alone });
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
            cache.size_bytes = line_bytes * u64::from(ways) * sets;
        }
        spec.caches[0].mshrs = Some(mshrs);
        spec
    }
}

/// A small machine.
pub fn any_machine() -> impl Strategy<Value = MachineSpec> {
    any_machine_of(1..4)
}

/// Any event but those that a plain machine refuses.
pub fn any_event() -> impl Strategy<Value = Event> {
    let address = prop_oneof![0_u64..4096, 0_u64..200_000, Just(u64::MAX - 5)];
    (
        address,
        0_u8..8,
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
                Kind::StoreNta,
                Kind::Exchange,
            ][usize::from(kind)];
            let memory = kind.moves_words();
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

/// A page that comes into a frame.
pub fn any_arrival() -> impl Strategy<Value = Event> {
    let address = prop_oneof![0_u64..4096, 0_u64..200_000, Just(u64::MAX - 5)];
    let size = prop_oneof![0_u16..100, 0_u16..4096, Just(u16::MAX)];
    (address, size, 0_u16..50).prop_map(|(address, size, instructions)| Event {
        size,
        instructions,
        ..Event::new(Kind::PageArrival, address)
    })
}

/// The events with an arrival among some of them now and then.
pub fn with_arrivals(
    events: impl Strategy<Value = Vec<Event>>,
) -> impl Strategy<Value = Vec<Event>> {
    let arrivals = prop::collection::vec((any::<prop::sample::Index>(), any_arrival()), 0..12);
    (events, arrivals).prop_map(|(mut events, arrivals)| {
        for (place, arrival) in arrivals {
            events.insert(place.index(events.len() + 1), arrival);
        }
        events
    })
}

/// Pages that come into frames which cover all that random events touch.
pub fn arrivals_everywhere() -> Vec<Event> {
    let whole = |address| Event {
        size: u16::MAX,
        ..Event::new(Kind::PageArrival, address)
    };
    let starts = (0..5).map(|number| number * u64::from(u16::MAX));
    starts.chain([u64::MAX - 5]).map(whole).collect()
}

/// A short trace.
pub fn any_trace() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(any_event(), 0..400)
}

/// A short trace without stores past the caches: no line leaves them before it is displaced.
pub fn any_trace_through_caches() -> impl Strategy<Value = Vec<Event>> {
    any_trace().prop_map(|mut events| {
        events.retain(|event| event.kind != Kind::StoreNta);
        events
    })
}

/// Policies of one level, to be made possible by [`with_policies`].
type Policies = (Replacement, Inclusion, WritePolicy, bool);

fn any_policies() -> impl Strategy<Value = Policies> {
    let replacement = prop::sample::select(vec![
        Replacement::Lru,
        Replacement::TreePlru,
        Replacement::Nru,
        Replacement::Fifo,
        Replacement::Srrip,
    ]);
    let inclusion = prop::sample::select(vec![
        Inclusion::NonInclusive,
        Inclusion::Inclusive,
        Inclusion::Exclusive,
    ]);
    let write_policy = prop::sample::select(vec![
        WritePolicy::WriteBack,
        WritePolicy::WriteBack,
        WritePolicy::WriteThrough,
    ]);
    let allocates = prop::bool::weighted(0.8);
    (replacement, inclusion, write_policy, allocates)
}

/// The machine with policies; what cannot be is replaced by what can.
fn with_policies(mut spec: MachineSpec, policies: &[Policies]) -> MachineSpec {
    for (level, &(replacement, inclusion, write_policy, allocates)) in
        policies.iter().enumerate().take(spec.caches.len())
    {
        let nearer = level
            .checked_sub(1)
            .map(|nearer| spec.caches[nearer].clone());
        let cache = &mut spec.caches[level];
        let sets = cache.sets();
        cache.replacement = replacement;
        if replacement == Replacement::TreePlru {
            cache.ways = cache.ways.next_power_of_two();
        }
        cache.write_policy = write_policy;
        cache.write_allocate = allocates;
        if let Some(nearer) = nearer {
            let keeps = nearer.write_policy == WritePolicy::WriteBack && nearer.write_allocate;
            cache.inclusion = inclusion;
            cache.line_bytes = cache.line_bytes.max(nearer.line_bytes);
            if inclusion == Inclusion::Exclusive && keeps {
                cache.line_bytes = nearer.line_bytes;
            } else if inclusion == Inclusion::Exclusive {
                cache.inclusion = Inclusion::NonInclusive;
            }
        }
        cache.size_bytes = sets * cache.line_bytes * u64::from(cache.ways);
    }
    spec
}

/// A small machine with any replacement but random, any inclusion and any write policy.
pub fn any_policy_machine() -> impl Strategy<Value = MachineSpec> {
    any_policy_machine_of(1..4)
}

fn any_policy_machine_of(levels: Range<usize>) -> impl Strategy<Value = MachineSpec> {
    let policies = prop::collection::vec(any_policies(), 3);
    (any_machine_of(levels), policies).prop_map(|(spec, policies)| with_policies(spec, &policies))
}

/// A short trace, some of whose prefetches are non-temporal.
pub fn any_streaming_trace() -> impl Strategy<Value = Vec<Event>> {
    let event = (any_event(), any::<bool>()).prop_map(|(event, streams)| {
        let kind = match event.kind {
            Kind::Prefetch if streams => Kind::PrefetchNta,
            kind => kind,
        };
        Event { kind, ..event }
    });
    prop::collection::vec(event, 0..400)
}

/// One hardware prefetcher.
pub fn any_prefetcher() -> impl Strategy<Value = PrefetcherSpec> {
    prop_oneof![
        (1_u32..4).prop_map(|degree| PrefetcherSpec::NextLine { degree }),
        (0_u32..4, 1_u32..4).prop_map(|(bits, degree)| PrefetcherSpec::Stride {
            table_entries: 1 << bits,
            degree,
        }),
        (1_u32..5, 1_u32..4, 0_u32..8).prop_map(|(streams, degree, further)| {
            PrefetcherSpec::Stream {
                streams,
                degree,
                // One line at each use is one line ahead.
                distance_lines: if degree > 1 { degree + further } else { 1 },
            }
        }),
    ]
}

/// The machine with up to two hardware prefetchers at each level.
pub fn any_prefetching_machine() -> impl Strategy<Value = MachineSpec> {
    any_prefetching_machine_of(1..4)
}

/// The same with so many levels of caches.
pub fn any_prefetching_machine_of(levels: Range<usize>) -> impl Strategy<Value = MachineSpec> {
    let prefetchers = prop::collection::vec(prop::collection::vec(any_prefetcher(), 0..3), 3);
    (any_policy_machine_of(levels), prefetchers).prop_map(|(mut spec, prefetchers)| {
        for (cache, prefetchers) in spec.caches.iter_mut().zip(prefetchers) {
            cache.prefetchers = prefetchers;
        }
        spec
    })
}
