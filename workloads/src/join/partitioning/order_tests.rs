//! Nearly sorted relations, and relations of several build tuples of a key: what the inspection finds out of them.

use super::filter_tests::{Left, run};
use super::{Filtering, PartitionWorkload};
use crate::join::algorithm::PassAlgorithm;
use crate::join::nearly_sorted::TupleOrder;
use traces::Kind;

const ALGORITHMS: [PassAlgorithm; 4] = [
    PassAlgorithm::Grace,
    PassAlgorithm::Simple,
    PassAlgorithm::Group,
    PassAlgorithm::Pipelined,
];

/// A fiftieth of the tuples of sorted relations is somewhere else, and there is room for a tenth.
fn nearly_sorted() -> PartitionWorkload {
    PartitionWorkload {
        filter: Filtering::Single,
        order: TupleOrder::NearlySorted,
        displaced: 0.02,
        order_buffer_pages: 27,
        partitions: 3,
        ..PartitionWorkload::default()
    }
}

/// By thread, relation and partition: the keys on each page.
fn keys(workload: &PartitionWorkload, left: &Left) -> Vec<Vec<Vec<u32>>> {
    let relations = left.pages.iter().flatten();
    let of_partition = |pages: &Vec<Vec<crate::join::buffers::Found>>, partition| {
        let own = pages
            .iter()
            .filter(|page| page.first().is_some_and(|one| one.partition == partition));
        own.map(|page| page.iter().map(|one| one.key).collect())
            .collect()
    };
    relations
        .flat_map(|pages| (0..workload.partitions).map(move |number| of_partition(pages, number)))
        .collect()
}

/// First come pages of ascending keys, and then those that were put apart, in no order.
#[test]
fn tuples_out_of_order_are_behind_the_others() {
    for algorithm in ALGORITHMS {
        for threads in [1, 3] {
            let workload = PartitionWorkload {
                algorithm,
                threads,
                ..nearly_sorted()
            };
            let left = run(&workload);
            assert_eq!(left.outcome.metrics["unsorted"], 0);
            let moved = (10_000 + 20_000) / 50;
            let apart = left.outcome.metrics["out_of_order"];
            assert!((moved * 18 / 10..=moved * 2).contains(&apart), "{apart}");
            let mut behind = 0;
            for pages in keys(&workload, &left) {
                let sorted = |page: &&Vec<u32>| page.is_sorted();
                let in_order = pages.iter().take_while(sorted).count();
                assert!(pages[..in_order].concat().is_sorted());
                assert!(in_order > 5 && pages.len() > in_order);
                behind += pages[in_order..].concat().len() as u64;
            }
            assert_eq!(behind, apart, "{algorithm:?}");
        }
    }
}

/// Of sorted relations nothing is put apart.
#[test]
fn sorted_relations_have_nothing_out_of_order() {
    let workload = PartitionWorkload {
        displaced: 0.0,
        ..nearly_sorted()
    };
    let left = run(&workload);
    assert_eq!(left.outcome.metrics["out_of_order"], 0);
    assert!(
        keys(&workload, &left)
            .iter()
            .all(|pages| pages.concat().is_sorted())
    );
}

/// Where there is no room, nobody looks any further, and all is partitioned as it came.
#[test]
fn relations_in_no_order_are_not_nearly_sorted() {
    let few_pages = PartitionWorkload {
        order_buffer_pages: 2,
        ..nearly_sorted()
    };
    let random = PartitionWorkload {
        order: TupleOrder::Random,
        displaced: 0.0,
        ..nearly_sorted()
    };
    for (workload, room) in [(few_pages, 2 * 76), (random, 27 * 76)] {
        let left = run(&workload);
        let metrics = &left.outcome.metrics;
        assert_eq!(metrics["unsorted"], 2, "both relations");
        // One less where a pair found room for one.
        let apart = metrics["out_of_order"];
        assert!((2 * room - 2..=2 * room).contains(&apart), "{apart}");
    }
}

/// Copying tuples once more is all that a sorted relation costs, and little where nobody is out of order.
#[test]
fn looking_costs_little() {
    let events = |order_buffer_pages, displaced| {
        let workload = PartitionWorkload {
            order_buffer_pages,
            displaced,
            ..nearly_sorted()
        };
        let of = |event: &&traces::Event| event.kind != Kind::Mark;
        run(&workload).events.iter().filter(of).count() as f64
    };
    let more = |displaced| events(27, displaced) / events(0, displaced);
    let (sorted, nearly) = (more(0.0), more(0.02));
    assert!(sorted < 1.1 && nearly < sorted + 0.05, "{sorted} {nearly}");
}

/// Partitions are to be partitioned again if their tuples match as many sub-partitions as asked.
#[test]
fn duplicates_are_found() {
    let switched = |duplicates, switch_at| {
        let workload = PartitionWorkload {
            filter: Filtering::Multiple,
            false_positive_rate: 0.0001,
            match_share: 0.5,
            duplicates,
            switch_at,
            partitions: 2,
            cache_bytes: 40_000,
            threads: 2,
            ..PartitionWorkload::default()
        };
        run(&workload).outcome.metrics["switched"]
    };
    // 5000 tuples of a partition are in 24 sub-partitions: those of one key in 1, 1.96, 7 of them.
    assert_eq!(
        [1, 2, 8].map(|duplicates| switched(duplicates, 4)),
        [0, 0, 2]
    );
    assert_eq!(
        [1, 2, 8].map(|duplicates| switched(duplicates, 1)),
        [2, 2, 2]
    );
    assert_eq!([6, 7].map(|at| switched(8, at)), [2, 0]);
}
