//! What is true of every workload: the same events every time, addresses inside the named segments, and what it says of itself beforehand.

use crate::common::every_workload::{events, every_workload, index, p8, table};
use crate::common::workload::{changed, workload};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use traces::{Counter, Event, Kind, OpClass};
use workloads::{Instructions, Library, Traffic};

#[test]
fn a_kept_tree_gives_the_events_of_a_new_one() {
    let mut library = Library::new();
    for workload in every_workload() {
        let first = events(&mut library, &workload);
        assert_eq!(first, events(&mut library, &workload), "{workload:?}");
        assert_eq!(
            first,
            events(&mut Library::new(), &workload),
            "{workload:?}"
        );
    }
}

#[test]
fn loads_and_stores_stay_in_their_segments() {
    for workload in every_workload() {
        let mut library = Library::new();
        let (events, _) = events(&mut library, &workload);
        let prepared = library.prepare(&workload).unwrap();
        let layout = prepared.layout();
        assert!(
            layout
                .segments
                .windows(2)
                .all(|pair| pair[0].base + pair[0].size_bytes <= pair[1].base)
        );
        for event in &events {
            assert!(usize::from(event.site) < layout.sites.len());
            match event.kind {
                Kind::Load | Kind::Store => {
                    let end = event.address + u64::from(event.size);
                    let inside = |segment: &traces::Segment| {
                        event.address >= segment.base && end <= segment.base + segment.size_bytes
                    };
                    assert!(
                        layout.segments.iter().any(inside),
                        "{event:?} of {workload:?}"
                    );
                }
                Kind::Mark => assert!((event.address as usize) < layout.phases.len()),
                Kind::Call => assert!((event.address as usize) < layout.calls.len()),
                _ => {}
            }
        }
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
                "kernel": "tpch", "query": query, "layout": layout, "scale_factor": 0.01, "pool_bytes": 4 << 20,
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
fn producers_stand_before_their_users() {
    for workload in every_workload() {
        let (events, _) = events(&mut Library::new(), &workload);
        for (index, event) in events.iter().enumerate() {
            assert!(event.dep as usize <= index);
            if event.dep > 0 {
                let producer = events[index - event.dep as usize];
                assert!(
                    matches!(producer.kind, Kind::Load | Kind::Exchange | Kind::Op),
                    "{event:?} waits for {producer:?}"
                );
            }
        }
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
    for workload in every_workload().into_iter().chain(more.map(workload)) {
        let (events, _) = events(&mut Library::new(), &workload);
        let has = |kinds: &[Kind]| events.iter().any(|event| kinds.contains(&event.kind));
        let computes = |class| {
            let is = |event: &Event| event.kind == Kind::Op && event.size == class as u16;
            let mut waiting = events.iter().enumerate().filter(|(_, one)| one.dep > 0);
            waiting.any(|(index, one)| is(&events[index - one.dep as usize]))
        };
        // All but those of loops that are left at the end of the program, behind which stands nothing.
        let before_the_last = &events[..events.len() - 1];
        let is_not_taken = |event: &Event| event.kind == Kind::Branch && event.address == 0;
        let found = Instructions {
            branches: before_the_last.iter().any(is_not_taken) || has(&[Kind::Call]),
            stores: has(&[Kind::Store, Kind::StoreNta, Kind::Call]),
            prefetches: has(&[Kind::Prefetch, Kind::PrefetchNta]),
            multiplies: computes(OpClass::Multiply),
            divides: computes(OpClass::Divide),
            exchanges: has(&[Kind::Exchange]),
        };
        assert_eq!(found, workload.instructions(), "{workload:?}");
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
    for workload in every_workload()
        .into_iter()
        .chain(more.into_iter().map(workload))
    {
        let (events, _) = events(&mut Library::new(), &workload);
        let asks = |kind| events.iter().any(|event| event.kind == kind);
        let found = Traffic {
            reads: asks(Kind::PageRead),
            writes: asks(Kind::PageWrite),
            asks_ahead: asks(Kind::PagePrefetch),
        };
        assert_eq!(found, workload.traffic(), "{workload:?}");
    }
}

/// An estimate that is far off makes progress and the time left useless; the factor is what they bear.
#[test]
fn work_is_estimated_near_what_is_done() {
    const FACTOR: f64 = 1.8;
    let mut library = Library::new();
    let mut large = vec![
        index(json!({"keys": 1_000_000})),
        index(
            json!({"keys": 1_000_000, "operation": "scan", "range": 10_000, "tree": p8("internal")}),
        ),
        table(json!({"records": 40_000, "selectivity": 0.01, "layout": "dsm"})),
        table(
            json!({"records": 40_000, "selectivity": 1.0, "projected": 7, "operation": "update", "layout": "pax"}),
        ),
    ];
    large.extend(every_workload());
    let mut off = Vec::new();
    for workload in large {
        let mut counter = Counter::default();
        let prepared = library.prepare(&workload).unwrap();
        prepared.run(&mut counter).unwrap();
        let emitted = counter.events.iter().sum::<u64>() as f64;
        let calls = counter.events[Kind::Call as usize] as f64;
        let work = workload.work();
        let (events, called) = (work.events as f64, work.calls as f64);
        if !(emitted / FACTOR..=emitted * FACTOR).contains(&events) {
            off.push(format!("{events} events, not {emitted}: {workload:?}"));
        }
        if (calls > 0.0) != (called > 0.0) {
            off.push(format!("{called} calls, not {calls}: {workload:?}"));
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}
