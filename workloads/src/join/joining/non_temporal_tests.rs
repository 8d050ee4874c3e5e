//! What changes if tuples are copied into sub-partitions past the caches.

use super::tests::{events, found, oracle};
use super::{JoinAlgorithm, JoinWorkload};
use crate::join::sites::Site;
use traces::{Event, Kind};

/// Tuples go to sub-partitions past the caches, their slots do not; no line of a tuple is asked for, and nothing else changes.
#[test]
fn tuples_are_copied_past_the_caches() {
    for algorithm in JoinAlgorithm::COPYING_IN_GROUPS {
        let cached = JoinWorkload {
            algorithm,
            build_tuples: 3000,
            probe_tuples: 5000,
            cache_bytes: 10_000,
            // Enough for the choosing one to partition again.
            duplicates: 4,
            switch_at: 1,
            ..JoinWorkload::default()
        };
        let past = JoinWorkload {
            non_temporal: true,
            ..cached.clone()
        };
        let (through, found_through) = events(&cached);
        let (beside, found_beside) = events(&past);
        assert_eq!(found(&found_beside), oracle(&cached));
        assert_eq!(found(&found_beside), found(&found_through));
        let is_copy =
            |event: &&Event| event.site == Site::BufferCopy as u16 && event.kind.is_store();
        let copies = |events: &[Event], kind| -> Vec<(u64, u16, u16)> {
            let copies = events.iter().filter(is_copy);
            copies
                .inspect(|event| assert_eq!(event.kind, kind))
                .map(|event| (event.address, event.size, event.words))
                .collect()
        };
        let written = copies(&beside, Kind::StoreNta);
        assert_eq!(written, copies(&through, Kind::Store));
        let bytes: u64 = written.iter().map(|&(_, size, _)| u64::from(size)).sum();
        assert_eq!(bytes, 8000 * 100, "{algorithm:?}");
        let asked = |events: &[Event]| {
            let site = Site::PlacePrefetch as u16;
            events.iter().filter(|event| event.site == site).count()
        };
        let (tuples_and_slots, slots) = (asked(&through), asked(&beside));
        assert!((7900..9000).contains(&slots), "{slots}");
        assert!(tuples_and_slots > slots + 2 * 8000, "{tuples_and_slots}");
        let of_slots = |events: &[Event]| {
            let stores = events.iter().filter(|event| event.kind == Kind::Store);
            let site = Site::BufferSlot as u16;
            stores.filter(|event| event.site == site).count()
        };
        assert_eq!(of_slots(&beside), of_slots(&through));
    }
}
