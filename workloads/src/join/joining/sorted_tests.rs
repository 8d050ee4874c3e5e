//! Nearly sorted partitions, by sort-merge and by an inspector join.

use super::run::JoinRun;
use super::tests::{events, found, inspected, oracle};
use super::{JoinAlgorithm, JoinWorkload};
use crate::family::Kernel;
use crate::join::nearly_sorted::TupleOrder;
use crate::join::sites::Site;
use std::collections::HashSet;
use traces::{Event, Kind};

/// The addresses of a part that an event of some sites visits, one after the other.
fn visited(events: &[Event], sites: [u16; 2]) -> Vec<u64> {
    let of = |event: &&Event| sites.contains(&event.site) && event.kind == Kind::Load;
    events
        .iter()
        .filter(of)
        .map(|event| event.address)
        .collect()
}

/// A join of relations of which so many tuples are displaced.
fn sorted(algorithm: JoinAlgorithm, displaced: f64) -> JoinWorkload {
    JoinWorkload {
        algorithm,
        order: TupleOrder::NearlySorted,
        displaced,
        ..inspected()
    }
}

/// Of sorted relations nothing is sorted, and both are read once from the front to the end.
#[test]
fn sorted_relations_are_merged_in_one_pass() {
    let workload = sorted(JoinAlgorithm::SortMerge, 0.0);
    let layout = JoinRun::new(&workload).layout();
    assert_eq!(layout.phases, ["start", "sort", "merge"]);
    let (events, outcome) = events(&workload);
    assert_eq!(found(&outcome), oracle(&workload));
    for (site, tuples) in [(Site::BuildKey, 3000), (Site::ProbeKey, 6060)] {
        let keys = visited(&events, [site as u16; 2]);
        assert_eq!(keys.len(), tuples);
        assert!(keys.is_sorted());
    }
    let sorted = layout
        .segments
        .iter()
        .find(|one| one.name == "sorted entries");
    assert_eq!(sorted.expect("there is one").size_bytes, 0);
}

/// Who was displaced is read to be sorted, with at most one other each; all others are still read from the front to the end.
#[test]
fn who_is_out_of_order_is_sorted() {
    let workload = sorted(JoinAlgorithm::SortMerge, 0.03);
    let (events, outcome) = events(&workload);
    assert_eq!(found(&outcome), oracle(&workload));
    let sites = JoinRun::new(&workload).layout().sites;
    let sorts = sites
        .iter()
        .position(|name| name == "key of a tuple out of order");
    let sorts = sorts.expect("there is one") as u16;
    let displaced = visited(&events, [sorts; 2]).len();
    let moved = (3000 + 6060) * 3 / 100;
    assert!(
        (moved * 17 / 10..=moved * 2).contains(&displaced),
        "{displaced} of {moved}"
    );
    for (site, tuples) in [(Site::BuildKey, 3000), (Site::ProbeKey, 6060)] {
        let keys = visited(&events, [site as u16; 2]);
        assert!(keys.is_sorted() && keys.len() < tuples, "{}", keys.len());
    }
}

/// Tuples out of order are prefetched before their turn.
#[test]
fn sorted_tuples_are_prefetched() {
    let workload = JoinWorkload {
        prefetch_distance: 4,
        ..sorted(JoinAlgorithm::SortMerge, 0.1)
    };
    let (events, _) = events(&workload);
    let (mut phase, mut asked, mut missed, mut used) = (0, HashSet::new(), 0, 0);
    for event in &events {
        let line = event.address / 64;
        match event.kind {
            Kind::Mark => {
                phase = event.address;
                asked.clear();
            }
            Kind::Prefetch => drop(asked.insert(line)),
            Kind::Load if phase == 2 => {
                let sites = [
                    Site::BuildKey,
                    Site::ProbeKey,
                    Site::BuildCopy,
                    Site::ProbeCopy,
                ];
                let of_tuples = sites.map(|site| site as u16).contains(&event.site);
                used += u32::from(of_tuples);
                missed += u32::from(of_tuples && !asked.contains(&line));
            }
            _ => {}
        }
    }
    assert!(used > 80_000, "{used}");
    // A page's first line was asked for with its header, by nobody.
    assert!(missed * 100 < used, "{missed} of {used}");
}

/// Of sorted relations, the probe tuples of a sub-partition lie together: an inspector visits them in their order.
#[test]
fn an_inspector_visits_sorted_tuples_in_their_order() {
    let descents = |displaced| {
        let (events, _) = events(&sorted(JoinAlgorithm::Inspector, displaced));
        let keys = visited(&events, [Site::ProbeKey as u16; 2]);
        keys.windows(2).filter(|pair| pair[0] > pair[1]).count()
    };
    assert_eq!(descents(0.0), 0);
    let displaced = descents(0.05);
    // Of 6000 tuples that are visited, one in twenty.
    assert!((1..400).contains(&displaced), "{displaced}");
}

/// Also a probe tuple without a match tests whether it has one.
#[test]
fn a_probe_tuple_asks_for_build_tuples_once_more_than_it_has() {
    let workload = sorted(JoinAlgorithm::SortMerge, 0.0);
    let (events, outcome) = events(&workload);
    let sites = JoinRun::new(&workload).layout().sites;
    let asks = sites
        .iter()
        .position(|name| name == "is there another build tuple of the key?");
    let asks = asks.expect("there is one") as u16;
    let asked = events.iter().filter(|event| event.site == asks).count();
    assert_eq!(asked as u64, found(&outcome).0 + 6060);
}
