//! Which stage does what, where tuples take different paths (thesis sections 4.4.4 and 4.5.3).

use super::tests::events;
use super::{JoinAlgorithm, JoinWorkload};
use crate::join::sites::Site;
use traces::{Event, Kind};

/// Tuples of a group; those that are joined here fill groups.
const GROUP: usize = 25;
const PROBE_TUPLES: usize = 400 * GROUP;

/// The events of one phase: 1 builds, and 2 probes.
fn of_phase(workload: &JoinWorkload, phase: u64) -> Vec<Event> {
    let (events, _) = events(workload);
    let mut now = 0;
    let of_phase = events.into_iter().filter(|event| {
        if event.kind == Kind::Mark {
            now = event.address;
        }
        now == phase
    });
    of_phase.collect()
}

fn of(site: Site) -> impl Fn(&&Event) -> bool {
    move |event| event.site == site as u16
}

/// A probe tuple whose bucket has one cell, in the header, has its build tuple visited in the third stage, beside the cells of others; those
/// that cells lead to are visited in the fourth.
#[test]
fn pieces_at_one_place_of_their_paths_are_one_stage() {
    let workload = JoinWorkload {
        algorithm: JoinAlgorithm::Group,
        group_size: GROUP as u32,
        build_tuples: PROBE_TUPLES as u64 / 2,
        probe_tuples: PROBE_TUPLES as u64,
        ..JoinWorkload::default()
    };
    let (mut found, mut visited) = ([0; 4], [0; 4]);
    let mut ends = 0;
    for event in of_phase(&workload, 2) {
        let stage = ends / GROUP % 4;
        ends += usize::from(event.site == Site::StageLoop as u16);
        found[stage] += usize::from(event.site == Site::CodesEqual as u16 && event.address == 1);
        visited[stage] += usize::from(event.site == Site::BuildKey as u16);
    }
    assert_eq!(ends, 4 * PROBE_TUPLES);
    let [in_headers, in_cells] = [found[1], found[2]];
    assert_eq!(visited, [0, 0, in_headers, in_cells]);
    assert_eq!(in_headers + in_cells, PROBE_TUPLES);
    assert!(in_headers > PROBE_TUPLES / 4 && in_cells > PROBE_TUPLES / 4);
}

/// Each insertion that held its bucket looks at its queue, and finds somebody as often as a bucket was busy. Probing changes nothing.
#[test]
fn who_held_a_bucket_looks_at_its_queue() {
    for (duplicates, someone_waits) in [(1, false), (50, true)] {
        let workload = JoinWorkload {
            algorithm: JoinAlgorithm::Pipelined,
            prefetch_distance: 4,
            build_tuples: 1000,
            probe_tuples: 2000,
            duplicates,
            // Tuples of one key follow each other in some places.
            seed: 3,
            ..JoinWorkload::default()
        };
        let building = of_phase(&workload, 1);
        let count = |site, wanted: bool| {
            let at = building.iter().filter(of(site));
            at.filter(|event| event.address == u64::from(wanted))
                .count()
        };
        let into_empty = count(Site::HasCells, false);
        let looked = [false, true].map(|waits| count(Site::OthersWait, waits));
        assert_eq!(looked[0] + looked[1] + into_empty, 1000);
        assert_eq!(looked[1], count(Site::IsBusy, true));
        assert_eq!(looked[1] > 10, someone_waits, "{looked:?}");
        let probing = of_phase(&workload, 2);
        assert_eq!(probing.iter().filter(of(Site::OthersWait)).count(), 0);
    }
}

/// Where stages are apart, each tests whose path it is on; where a tuple goes through them at once, its path is known.
#[test]
fn stages_test_the_paths_of_tuples() {
    for algorithm in [
        JoinAlgorithm::Grace,
        JoinAlgorithm::Group,
        JoinAlgorithm::Pipelined,
    ] {
        let workload = JoinWorkload {
            algorithm,
            ..JoinWorkload::default()
        };
        let apart = algorithm != JoinAlgorithm::Grace;
        for (phase, sites) in [
            (1, [Site::OnCells, Site::OnFullCells]),
            (2, [Site::OnCells, Site::OnSeveral]),
        ] {
            let events = of_phase(&workload, phase);
            for site in sites {
                let tests = events.iter().filter(of(site));
                assert_eq!(tests.count() > 0, apart, "{algorithm:?}, phase {phase}");
            }
        }
    }
}
