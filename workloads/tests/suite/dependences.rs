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

/// Query 1 adds eight terms to a sum that has been loaded, each once both are there. Its products wait for a price, and for the one before.
#[test]
fn sums_and_products_wait_for_their_operands() {
    let stream = tpch(&json!({"query": "q1", "layout": "nsm"}));
    let additions = stream.at(Kind::Op, "accumulator");
    let stores = stream.at(Kind::Store, "accumulator").len();
    assert!(stores > 8 * 10_000 && stores.is_multiple_of(8), "{stores}");
    assert_eq!(additions.len(), stores);
    for (_, before) in additions {
        let before = before.expect("a sum that was loaded");
        assert_eq!(
            (before.kind, stream.site(before)),
            (Kind::Load, "accumulator")
        );
    }
    // One minus the discount, and one plus the tax.
    let sums = stream.at(Kind::Op, "sum");
    assert_eq!(sums.len(), stores / 4);
    for (number, (_, wanted)) in sums.iter().enumerate() {
        let names = ["attribute l_discount", "attribute l_tax"];
        let wanted = stream.site(wanted.expect("a value"));
        assert!(wanted.ends_with(names[number % 2]), "{wanted}");
    }
    let products = stream.at(Kind::Op, "product");
    assert_eq!(products.len(), stores / 4);
    for (number, (_, wanted)) in products.iter().enumerate() {
        let names = ["attribute l_extendedprice", "product"];
        let wanted = stream.site(wanted.expect("an operand"));
        assert!(wanted.ends_with(names[number % 2]), "{wanted}");
    }
}

/// Query 12 looks at the second priority where the first does not hold.
#[test]
fn the_second_priority_is_tested_after_the_first() {
    let stream = tpch(&json!({"query": "q12", "layout": "nsm", "scale_factor": 0.01}));
    let tests = stream.at(Kind::Branch, "string as wanted?");
    let sums = stream.at(Kind::Store, "accumulator").len();
    let pairs = sums / 2;
    assert!(pairs > 100, "{pairs}");
    // Each pair by one test of each priority at most: those of the first that hold have no second.
    let mut number = 0;
    let (mut first_holds, mut records) = (0, 0);
    while number < tests.len() {
        let holds = tests[number].0.address == 1;
        first_holds += usize::from(holds);
        number += if holds { 1 } else { 2 };
        records += 1;
    }
    assert_eq!((number, records), (tests.len(), pairs));
    assert!(first_holds > pairs / 10, "{first_holds} of {pairs}");
}

/// Sort-merge skips build tuples until one is not behind: that one ends the loop by its branch.
#[test]
fn skipping_ends_by_a_branch() {
    let join = json!({"kernel": "hash-join", "build_tuples": 700, "probe_tuples": 1500, "algorithm": "sort-merge",
        "order": "nearly-sorted", "displaced": 0.05, "match_share": 0.5});
    let stream = Stream::of(join, &json!({}));
    let behind = "is the build tuple's key less than the probe tuple's?";
    let (mut skipped, mut ended, mut after_new_key) = (0, 0, 0);
    let mut last: Option<bool> = None;
    for event in stream
        .events
        .iter()
        .filter(|event| event.kind == Kind::Branch)
    {
        match stream.site(event) {
            "has the probe tuple the key of the one before?" => {
                // What skipped before has ended, or the build tuples have.
                last = None;
                after_new_key += u32::from(event.address == 0);
            }
            site if site == behind => {
                assert_ne!(last, Some(false), "a skip that has ended");
                last = Some(event.address == 1);
                skipped += u32::from(event.address == 1);
                ended += u32::from(event.address == 0);
            }
            "has the build tuple the probe tuple's key?" if last.is_some() => {
                assert_eq!(last, Some(false));
            }
            _ => {}
        }
    }
    assert!(skipped > 100, "{skipped}");
    assert!(
        ended > 100 && ended <= after_new_key,
        "{ended} of {after_new_key}"
    );
}

/// Whether a run of super tuples has another one shows once its length is there.
#[test]
fn runs_wait_for_their_lengths() {
    for layout in ["super-row", "super-column"] {
        let base = json!({"kernel": "table", "records": 5000, "layout": layout, "first_projected": 1, "projected": 8,
            "abstraction": [5, 10, 100], "level_attributes": [2, 2, 4]});
        let stream = Stream::of(base, &json!({}));
        let branches = stream.at(Kind::Branch, "run length");
        assert!(branches.len() > 2000, "{layout}: {}", branches.len());
        // The first row of a column has no run before it.
        let free = branches.iter().filter(|(_, wanted)| wanted.is_none());
        assert!(free.count() <= 8, "{layout}");
        let lengths = branches.iter().filter_map(|(_, wanted)| *wanted);
        for length in lengths {
            assert!(["run length", "page header"].contains(&stream.site(length)));
        }
    }
}
