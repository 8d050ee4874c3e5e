//! What operators on pages wait for: every branch for what it decides on, every store for what it stores. In-order cores stop there.

use crate::common::stream::Stream;
use serde_json::{Value, json};
use traces::Kind;

fn tpch(changes: &Value) -> Stream {
    let base = json!({"kernel": "tpch", "scale_factor": 0.002});
    Stream::of(base, changes)
}

/// Each probe learns from the bucket whether there is an entry, and from each entry whether there is another.
#[test]
fn a_chain_ends_by_a_branch_that_waits_for_the_link() {
    for layout in ["nsm", "pax", "dsm"] {
        let stream = tpch(&json!({"query": "q14", "layout": layout}));
        let ends = stream.at(Kind::Branch, "hash entry: another one?");
        let probed = stream.at(Kind::Load, "hash entry: next").len();
        assert!(probed > 100, "{layout}");
        let more = ends.iter().filter(|(end, _)| end.address == 1).count();
        assert_eq!(more, probed, "{layout}");
        assert!(ends.len() > more, "{layout}");
        for (_, link) in ends {
            let link = stream.site(link.expect("a branch on a link"));
            assert!(
                ["hash bucket", "hash entry: next"].contains(&link),
                "{link}"
            );
        }
    }
}

/// Selected records go to a file, whose stores wait for the last attribute that was read.
#[test]
fn records_that_go_to_a_file_wait_for_their_values() {
    for (layout, stored) in [
        ("nsm", "output whole record"),
        ("pax", "output attribute l_discount"),
    ] {
        let stream = tpch(&json!({
            "query": "rs", "layout": layout, "predicates": ["l_partkey"], "selectivity": 0.5,
            "project": ["l_quantity", "l_extendedprice", "l_discount"],
        }));
        let stores = stream.at(Kind::Store, stored);
        assert!(stores.len() > 1000, "{layout}: {:?}", stream.sites);
        for (_, value) in stores {
            let value = stream.site(value.expect("a store of a value"));
            assert!(
                value.contains("l_discount") && !value.contains("output"),
                "{value}"
            );
        }
    }
}

/// A sum waits for each number that goes into it.
#[test]
fn sums_wait_for_their_numbers() {
    for layout in ["nsm", "pax"] {
        let base =
            json!({"kernel": "table", "operation": "scan", "layout": layout, "records": 2000});
        let scan = json!({"selectivity": 0.5, "predicates": 1, "first_predicate": 2, "projected": 1, "first_projected": 7});
        let stream = Stream::of(base, &scan);
        let sums = stream.at(Kind::Op, "sum");
        assert!((900..1100).contains(&sums.len()), "{}", sums.len());
        assert!(
            sums.iter()
                .all(|(_, number)| number.is_some_and(|number| number.kind == Kind::Load))
        );
    }
}

/// Records that pass a second predicate are looked up in the list of those that have passed the first: each by a branch.
#[test]
fn a_list_has_a_record_or_not_by_a_branch() {
    let base = json!({"kernel": "table", "operation": "scan", "layout": "dsm", "records": 4000});
    let stream = Stream::of(
        base,
        &json!({"predicates": 2, "first_predicate": 2, "selectivity": 0.5}),
    );
    let listed = stream.at(Kind::Branch, "list of record numbers: is the record in it?");
    let kept = listed
        .iter()
        .filter(|(branch, _)| branch.address == 1)
        .count();
    assert!(
        kept > 500 && listed.len() > kept + 500,
        "{kept} of {}",
        listed.len()
    );
    let stores = stream.at(Kind::Store, "list of record numbers").len();
    let first = stream.at(Kind::Branch, "predicate: upper bound");
    let passed = first
        .iter()
        .filter(|(branch, _)| branch.address == 1)
        .count();
    // All that pass the first predicate are stored, and of those that pass the second the ones that are listed.
    assert_eq!(stores, passed - listed.len() + kept);
}

/// A bound that there is takes a comparison and a branch; one that there is not takes nothing.
#[test]
fn predicates_with_one_bound_compare_once() {
    let branches = |query: &str, bound: &str| {
        let stream = tpch(&json!({"query": query, "layout": "nsm"}));
        let branches = stream.at(Kind::Branch, &format!("predicate: {bound} bound"));
        let holds = branches.iter().filter(|(branch, _)| branch.address == 1);
        (branches.len(), holds.count())
    };
    assert_eq!(branches("q1", "lower").0, 0);
    assert!(branches("q1", "upper").0 > 10_000);
    // Of three predicates two have a lower bound, behind which their upper bounds are; the third is reached where both hold.
    let ((_, above), (upper, _)) = (branches("q6", "lower"), branches("q6", "upper"));
    assert!(upper > above + 100, "{upper} {above}");
}
