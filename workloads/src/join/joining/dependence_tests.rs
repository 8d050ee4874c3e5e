//! What addresses wait for, and what is asked for before it is used: a stream may lead to the right tuples and still be no program's.

use super::tests::events;
use super::{JoinAlgorithm, JoinWorkload};
use crate::join::sites::Site;
use std::collections::{HashMap, HashSet};
use traces::{Event, Kind};

const EVERY: [JoinAlgorithm; 4] = [
    JoinAlgorithm::Grace,
    JoinAlgorithm::Simple,
    JoinAlgorithm::Group,
    JoinAlgorithm::Pipelined,
];

/// Buckets of one cell, of several, and of several for one key.
fn workload(algorithm: JoinAlgorithm) -> JoinWorkload {
    JoinWorkload {
        algorithm,
        build_tuples: 3000,
        probe_tuples: 2000,
        duplicates: 3,
        ..JoinWorkload::default()
    }
}

fn is_at(event: &Event, site: Site) -> bool {
    event.site == site as u16
}

/// The number of the event that one waits for.
fn awaited(events: &[Event], number: usize) -> Option<usize> {
    let back = events[number].dep as usize;
    (back > 0).then(|| number - back)
}

/// A build tuple's address is in its cell, or in the header if there is but one cell, and so are that of its copy and its hash code.
#[test]
fn a_build_tuple_waits_for_the_cell_that_leads_to_it() {
    for duplicates in [1, 3] {
        let of_keys = JoinWorkload {
            duplicates,
            ..workload(JoinAlgorithm::Grace)
        };
        let (from_cells, from_headers) = leads_to_build_tuples(&events(&of_keys).0);
        assert!(from_cells > 5000, "{from_cells}");
        // Several tuples of a key have an array.
        assert_eq!(from_headers > 1000, duplicates == 1, "{from_headers}");
    }
}

/// Loads of build tuples that wait for a cell, and for a header; all do for what told that hash codes are equal.
fn leads_to_build_tuples(events: &[Event]) -> (usize, usize) {
    let mut leads = None;
    let [mut from_cells, mut from_headers] = [0, 0];
    for (number, event) in events.iter().enumerate() {
        if is_at(event, Site::CodesEqual) && event.address == 1 {
            leads = awaited(events, number);
        }
        if is_at(event, Site::BuildKey) || is_at(event, Site::BuildCopy) {
            assert_eq!(awaited(events, number), leads, "event {number}");
            let lead = &events[leads.expect("a cell leads to it")];
            from_cells += usize::from(is_at(lead, Site::Cell));
            from_headers += usize::from(is_at(lead, Site::Header));
        }
    }
    (from_cells, from_headers)
}

/// One walk along the cells finds all tuples of a key.
#[test]
fn cells_are_visited_once_where_a_tuple_is_joined_at_once() {
    let (events, _) = events(&workload(JoinAlgorithm::Grace));
    let mut visited = HashSet::new();
    let mut cells = 0;
    for event in &events {
        if is_at(event, Site::Header) {
            visited.clear();
        }
        if is_at(event, Site::Cell) && event.kind == Kind::Load {
            cells += 1;
            assert!(visited.insert(event.address));
        }
    }
    assert!(cells > 6000, "{cells}");
}

/// Where a slot lies is known when its page is. How many there are says when to stop, and no more.
#[test]
fn slots_do_not_wait_for_the_number_of_tuples() {
    for algorithm in EVERY {
        let (events, _) = events(&workload(algorithm));
        let slots = events.iter().filter(|event| is_at(event, Site::Slot));
        assert!(slots.clone().count() > 5000);
        assert!(slots.clone().all(|slot| slot.dep == 0), "{algorithm:?}");
    }
}

/// A bucket's address takes two instructions behind the division, whether it is loaded or prefetched. In interleaved joins it comes from the
/// state.
#[test]
fn the_address_of_a_bucket_takes_as_long_for_a_load_as_for_a_prefetch() {
    for (algorithm, site) in EVERY.into_iter().zip([
        Site::Header,
        Site::Header,
        Site::HeaderPrefetch,
        Site::HeaderPrefetch,
    ]) {
        let (events, _) = events(&workload(algorithm));
        let mut visits = 0;
        for (number, event) in events.iter().enumerate() {
            if is_at(event, site) && event.kind != Kind::Store {
                let divided = awaited(&events, number).expect("it waits");
                assert!(is_at(&events[divided], Site::Bucket), "{algorithm:?}");
                assert_eq!(event.chain, 2, "{algorithm:?}");
                visits += 1;
            }
        }
        assert_eq!(visits, 5000, "{algorithm:?}");
    }
}

/// No line of an output page is written before it was asked for: of a page's first line that is the header's.
#[test]
fn all_lines_of_output_pages_are_prefetched() {
    for algorithm in EVERY {
        for output_ahead in [0, 1, 14] {
            let workload = JoinWorkload {
                output_ahead,
                ..workload(algorithm)
            };
            let (events, _) = events(&workload);
            let line = |event: &Event| event.address / 64;
            let mut asked = HashSet::new();
            let [mut written, mut unasked] = [0, 0];
            for event in &events {
                if is_at(event, Site::OutputPrefetch) {
                    asked.insert(line(event));
                }
                let sites = [Site::OutputCopy, Site::OutputSlot, Site::OutputHeader];
                if event.kind == Kind::Store && sites.iter().any(|&site| is_at(event, site)) {
                    written += 1;
                    unasked += usize::from(!asked.contains(&line(event)));
                }
            }
            let expected = if algorithm == JoinAlgorithm::Grace {
                written
            } else {
                0
            };
            assert_eq!(unasked, expected, "{algorithm:?} {output_ahead}");
        }
    }
}

/// A state comes from the store that left it, and is there when that had its value: from a header, or from a cell.
#[test]
fn a_state_waits_for_what_it_was_made_of() {
    for algorithm in [JoinAlgorithm::Group, JoinAlgorithm::Pipelined] {
        let (events, _) = events(&workload(algorithm));
        let mut left = HashMap::new();
        let mut made_of = HashMap::new();
        for (number, event) in events.iter().enumerate() {
            let waits = awaited(&events, number);
            if is_at(event, Site::StateChange) {
                left.insert(event.address, waits);
            }
            if is_at(event, Site::State) {
                assert_eq!(waits, left[&event.address], "{algorithm:?}: event {number}");
                let source = waits.map(|source| events[source].site);
                *made_of.entry(source).or_insert(0) += 1;
            }
        }
        for source in [Site::Header, Site::Cell] {
            let times = made_of.get(&Some(source as u16)).copied().unwrap_or(0);
            assert!(times > 1000, "{algorithm:?}: {times} of {source:?}");
        }
    }
}
