//! Keys come before what they lead to, in a node and on their way to the cache.

use super::*;

/// What a search of the whole tree says, for each of some keys.
fn searches(search: impl Fn(&mut Tracer<'_>, u32)) -> Vec<Vec<Event>> {
    let one = |rank: u32| {
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        search(&mut tracer, 3 * rank);
        tracer.finish().unwrap();
        events
    };
    (0..2000).step_by(97).map(one).collect()
}

/// Sections 2.2.1 and 3.3.3 of the thesis: a search need not wait for what keys lead to, which comes behind all keys of a node.
#[test]
fn nodes_of_fractal_trees_have_keys_before_ids_and_pointers() {
    let sizes = PageSizes {
        page: 2048,
        key: 4,
        line: 64,
    };
    let entries = || (0..2000_u32).map(|rank| (3 * rank, rank));
    let in_page = InPageTree::new(&sizes, 2, 4).unwrap();
    let disk_first = PagedTree::bulkload(
        DiskFirstPage::new(&sizes, in_page),
        sizes.page,
        entries(),
        1.0,
        0,
    );
    let nodes = CacheFirst::new(&sizes, 4).unwrap();
    let cache_first = CacheFirstTree::bulkload(&sizes, nodes, entries(), 1.0, 0);
    let both = [
        searches(|trace, key| {
            disk_first.clone().search(trace, key);
        }),
        searches(|trace, key| {
            cache_first.clone().search(trace, key);
        }),
    ];
    let pairs = [
        (Site::NonleafKey, Site::NonleafChild),
        (Site::LeafKey, Site::LeafId),
    ];
    for events in both.into_iter().flatten() {
        for (key, value) in pairs.map(|(key, value)| (u16::from(key), u16::from(value))) {
            let mut last_key = None;
            let mut seen = 0;
            for event in events.iter().filter(|event| event.kind == Kind::Load) {
                if event.site == key {
                    last_key = Some(event.address);
                } else if event.site == value {
                    // In a node with one child no key is looked at.
                    let Some(key) = last_key.take() else {
                        continue;
                    };
                    assert!(key < event.address, "{key} is behind {}", event.address);
                    seen += 1;
                }
            }
            assert!(seen > 0);
        }
    }
}

/// Section 3.4.1: as a node of a prefetching B+-tree, a sub-array comes with its pointers before any of its keys is compared.
#[test]
fn sub_arrays_are_prefetched_with_their_ids_before_they_are_searched() {
    let sizes = PageSizes {
        page: 2048,
        key: 4,
        line: 64,
    };
    let micro = MicroIndexPage::new(&sizes, 2).unwrap();
    let page = ArrayPage::with_micro_index(&sizes, micro);
    let entries = (0..micro.fanout).map(|rank| (3 * rank, rank));
    let tree = PagedTree::bulkload(page, sizes.page, entries, 1.0, 0);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    tree.clone().search(&mut tracer, 3 * 50);
    tracer.finish().unwrap();
    let first_key = events
        .iter()
        .position(|event| event.site == u16::from(Site::ArrayKey));
    let of_subarrays = |event: &&Event| event.site == u16::from(Site::SubarrayPrefetch);
    let all = events.iter().filter(of_subarrays).count();
    let before = &events[..first_key.unwrap()];
    assert_eq!(before.iter().filter(of_subarrays).count(), all);
    // Two lines of keys, and as many or one more of IDs.
    assert!((4..=5).contains(&all), "{all} lines");
}
