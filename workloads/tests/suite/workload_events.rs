//! What is true of every workload: the same events every time, addresses inside the named segments, and what it says of itself beforehand.

use crate::common::every_workload::{events, every_workload, index, p8, table};
use crate::common::workload::{changed, workload};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use traces::{Event, EventSink, Kind, Layout, OpClass, SinkError};
use workloads::{Instructions, Library, Outcome, Traffic, Workload};

/// What a run of a workload, for itself, has shown.
struct Shown {
    workload: Workload,
    events: u64,
    calls: u64,
    instructions: Instructions,
    traffic: Traffic,
    /// An event that names what the layout does not have.
    astray: Option<Event>,
    /// An event that waits for none before it that has a result.
    unfounded: Option<Event>,
    /// Whether there are the same events and results with what a library has kept of others, and of the same before.
    is_repeated: bool,
}

/// One run of every workload for all tests: there are hundreds of them.
static SHOWN: LazyLock<Vec<Shown>> = LazyLock::new(|| {
    let mut library = Library::new();
    let mut all = Vec::new();
    for workload in every_workload() {
        let (shown, (events, outcome)) = shown(&workload);
        let repeats = |library: &mut Library| {
            let mut rest = Rest(&events);
            let prepared = library.prepare(&workload).unwrap();
            let again = prepared.run(&mut rest);
            again.is_ok_and(|again| again == outcome && rest.0.is_empty())
        };
        let was_kept = library.holds(&workload);
        let mut is_repeated = repeats(&mut library);
        // What was built for this one may be kept now.
        if !was_kept && library.holds(&workload) {
            is_repeated &= repeats(&mut library);
        }
        all.push(Shown {
            is_repeated,
            ..shown
        });
    }
    all
});

/// Events that are to come: others are refused.
struct Rest<'e>(&'e [Event]);

impl EventSink for Rest<'_> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.0 = self.0.strip_prefix(events).ok_or(SinkError::Enough)?;
        Ok(())
    }
}

/// Runs a workload, and gives what it shows and does.
fn shown(workload: &Workload) -> (Shown, (Vec<Event>, Outcome)) {
    let prepared = Library::new().prepare(workload).unwrap();
    let mut events = Vec::new();
    let outcome = prepared.run(&mut events).unwrap();
    let count = |kind| events.iter().filter(|event| event.kind == kind).count() as u64;
    let shown = Shown {
        workload: workload.clone(),
        events: events.len() as u64,
        calls: count(Kind::Call),
        instructions: instructions(&events),
        traffic: traffic(&events),
        astray: astray(&events, prepared.layout()),
        unfounded: unfounded(&events),
        is_repeated: true,
    };
    (shown, (events, outcome))
}

fn astray(events: &[Event], layout: &Layout) -> Option<Event> {
    let ends: Vec<u64> = (layout.segments.iter())
        .map(|segment| segment.base + segment.size_bytes)
        .collect();
    let follow = layout.segments.iter().skip(1).zip(&ends);
    assert!(follow.into_iter().all(|(next, &end)| end <= next.base));
    let is_named = |event: &Event| match event.kind {
        Kind::Load | Kind::Store => {
            let end = event.address + u64::from(event.size);
            let place = ends.partition_point(|&last| last <= event.address);
            let segment = layout.segments.get(place);
            segment.is_some_and(|segment| event.address >= segment.base && end <= ends[place])
        }
        Kind::Mark => (event.address as usize) < layout.phases.len(),
        Kind::Call => (event.address as usize) < layout.calls.len(),
        _ => true,
    };
    let is_astray =
        |event: &&Event| usize::from(event.site) >= layout.sites.len() || !is_named(event);
    events.iter().find(is_astray).copied()
}

fn unfounded(events: &[Event]) -> Option<Event> {
    let is_founded = |index: usize, event: &Event| {
        let has_result = |kind| matches!(kind, Kind::Load | Kind::Exchange | Kind::Op);
        let producer = index.checked_sub(event.dep as usize);
        event.dep == 0 || producer.is_some_and(|producer| has_result(events[producer].kind))
    };
    let mut numbered = events.iter().enumerate();
    numbered
        .find(|&(index, event)| !is_founded(index, event))
        .map(|(_, event)| *event)
}

fn instructions(events: &[Event]) -> Instructions {
    let has = |kinds: &[Kind]| events.iter().any(|event| kinds.contains(&event.kind));
    let computes = |class| {
        let is = |event: &Event| event.kind == Kind::Op && event.size == class as u16;
        let mut waiting = events.iter().enumerate().filter(|(_, one)| one.dep > 0);
        waiting.any(|(index, one)| is(&events[index - one.dep as usize]))
    };
    // All but those of loops that are left at the end of the program, behind which stands nothing.
    let before_the_last = &events[..events.len() - 1];
    let is_not_taken = |event: &Event| event.kind == Kind::Branch && event.address == 0;
    Instructions {
        branches: before_the_last.iter().any(is_not_taken) || has(&[Kind::Call]),
        stores: has(&[Kind::Store, Kind::StoreNta, Kind::Call]),
        prefetches: has(&[Kind::Prefetch, Kind::PrefetchNta]),
        multiplies: computes(OpClass::Multiply),
        divides: computes(OpClass::Divide),
        exchanges: has(&[Kind::Exchange]),
    }
}

fn traffic(events: &[Event]) -> Traffic {
    let asks = |kind| events.iter().any(|event| event.kind == kind);
    Traffic {
        reads: asks(Kind::PageRead),
        writes: asks(Kind::PageWrite),
        asks_ahead: asks(Kind::PagePrefetch),
    }
}

#[test]
fn a_kept_tree_gives_the_events_of_a_new_one() {
    for shown in &*SHOWN {
        assert!(shown.is_repeated, "{:?}", shown.workload);
    }
}

#[test]
fn loads_and_stores_stay_in_their_segments() {
    for shown in &*SHOWN {
        assert_eq!(shown.astray, None, "{:?}", shown.workload);
    }
}

#[test]
fn producers_stand_before_their_users() {
    for shown in &*SHOWN {
        assert_eq!(shown.unfounded, None, "{:?}", shown.workload);
    }
}

#[test]
fn every_kernel_is_among_these_workloads() {
    let used: BTreeSet<String> = every_workload()
        .iter()
        .map(|workload| serde_json::to_value(workload).unwrap()["kernel"].to_string())
        .collect();
    let all = workloads::kernels().into_iter();
    let all: BTreeSet<String> = all.map(|kernel| json!(kernel.name).to_string()).collect();
    assert_eq!(used, all);
}

/// A file per attribute, and every frame in use: what is loaded for one attribute is loaded for no other.
#[test]
fn files_of_a_decomposed_relation_do_not_overlap() {
    let mut workloads = Vec::new();
    for layout in ["dsm", "dsm-merge", "dsm-position"] {
        workloads.push(table(
            json!({"layout": layout, "predicates": 4, "first_projected": 5, "projected": 4, "selectivity": 1.0}),
        ));
        for query in ["q1", "q12", "q14"] {
            workloads.push(workload(json!({
                "kernel": "tpch", "query": query, "layout": layout, "scale_factor": 0.001, "pool_bytes": 1 << 19,
            })));
        }
    }
    for workload in workloads {
        let mut library = Library::new();
        let (events, _) = events(&mut library, &workload);
        let prepared = library.prepare(&workload).unwrap();
        let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
        for event in events.iter().filter(|event| event.kind == Kind::Load) {
            let site = prepared.layout().sites[usize::from(event.site)].as_str();
            if site.starts_with("output") || !site.contains("attribute ") {
                continue;
            }
            for byte in event.address..event.address + u64::from(event.size) {
                let owner = *owners.entry(byte).or_insert(site);
                assert_eq!(owner, site, "{byte:#x} of {workload:?}");
            }
        }
        let attributes: BTreeSet<&str> = owners.into_values().collect();
        assert!(attributes.len() > 3, "{attributes:?} of {workload:?}");
    }
}

#[test]
fn workloads_say_what_instructions_they_have() {
    let stored = json!({"kernel": "hash-probe", "interleaving": "one-by-one", "build_tuples": 3000, "probe_tuples": 9000, "results": "stored"});
    let search = json!({"kernel": "disk-index", "operation": "search", "structure": "array", "keys": 2000, "operations": 20, "caches": "empty"});
    let more = [
        stored,
        changed(search.clone(), &json!({"threads": 2})),
        changed(
            search.clone(),
            &json!({"operation": "insert", "latching": "optimistic"}),
        ),
    ];
    let more = more.map(|one| shown(&workload(one)).0);
    for shown in SHOWN.iter().chain(&more) {
        let said = shown.workload.instructions();
        assert_eq!(shown.instructions, said, "{:?}", shown.workload);
    }
}

#[test]
fn workloads_say_what_they_ask_storage_for() {
    let scan = json!({"kernel": "disk-index", "operation": "scan", "structure": "array", "keys": 20_000, "operations": 20, "range": 5000,
        "page_bytes": 4096, "pool_frames": 64, "distance_pages": 4, "caches": "empty"});
    let join = json!({"kernel": "hash-join", "algorithm": "group", "build_tuples": 2000, "probe_tuples": 5000});
    let partition =
        json!({"kernel": "hash-partition", "algorithm": "group", "tuples": 5000, "partitions": 40});
    let delete = json!({"kernel": "table", "operation": "delete", "records": 3000});
    let mut more = vec![scan];
    for base in [join, partition] {
        more.push(changed(base.clone(), &json!({"output": "stored"})));
        more.push(changed(base.clone(), &json!({"pages_asked_ahead": 5})));
    }
    for layout in ["nsm", "pax", "dsm"] {
        more.push(changed(delete.clone(), &json!({"layout": layout})));
    }
    let more: Vec<_> = (more.into_iter())
        .map(|one| shown(&workload(one)).0)
        .collect();
    for shown in SHOWN.iter().chain(&more) {
        let said = shown.workload.traffic();
        assert_eq!(shown.traffic, said, "{:?}", shown.workload);
    }
}

/// An estimate that is far off makes progress and the time left useless; the factor is what they bear.
#[test]
fn work_is_estimated_near_what_is_done() {
    const FACTOR: f64 = 1.8;
    let large = [
        index(json!({"keys": 1_000_000})),
        index(
            json!({"keys": 1_000_000, "operation": "scan", "range": 10_000, "tree": p8("internal")}),
        ),
        table(json!({"records": 40_000, "selectivity": 0.01, "layout": "dsm"})),
        table(
            json!({"records": 40_000, "selectivity": 1.0, "projected": 7, "operation": "update", "layout": "pax"}),
        ),
    ];
    let large = large.map(|workload| shown(&workload).0);
    let mut off = Vec::new();
    for Shown {
        workload,
        events,
        calls,
        ..
    } in large.iter().chain(&*SHOWN)
    {
        let work = workload.work();
        let emitted = *events as f64;
        if !(emitted / FACTOR..=emitted * FACTOR).contains(&(work.events as f64)) {
            off.push(format!(
                "{} events, not {events}: {workload:?}",
                work.events
            ));
        }
        if (*calls > 0) != (work.calls > 0) {
            off.push(format!("{} calls, not {calls}: {workload:?}", work.calls));
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}
