//! What cannot run, with the parameter and what would be right.

use super::*;

#[test]
fn mistakes_are_named() {
    let message = |changes: Value| match Library::new().prepare(&table(changes)) {
        Ok(_) => "no mistake".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(json!({"attribute_bytes": 5})),
        "attribute_bytes: 5 bytes; it must be 4 or 8"
    );
    assert_eq!(
        message(json!({"projected": 2})),
        "projected: 2 is out of range; it must be from 1 to 1"
    );
    assert_eq!(
        message(json!({"page_bytes": 5000})),
        "page_bytes: 5000 bytes; it must be a power of two from 16 to 32768"
    );
    assert_eq!(
        message(json!({"page_bytes": 512, "attributes": 64})),
        "page_bytes: 512 bytes, 480 of them usable; the longest record needs 528"
    );
    assert_eq!(
        message(json!({"layout": "super-row", "operation": "point"})),
        "operation: stores for reading are for `scan` only"
    );
    assert_eq!(
        message(
            json!({"layout": "super-row", "abstraction": [10, 10], "level_attributes": [4, 4]})
        ),
        "abstraction: [10, 10]; its product must be the 5000 records"
    );
    assert_eq!(
        message(json!({"layout": "dsm-merge", "operation": "delete"})),
        "reconstruction: places of records follow from their numbers, and a deletion would move all behind it; it must be `index`"
    );
    assert_eq!(
        message(json!({"operation": "scatter"})),
        "layout: the blocks of minipages are scattered; it must be `pax`"
    );
    assert_eq!(
        message(json!({"operation": "scatter", "layout": "pax", "block_bytes": 2048})),
        "block_bytes: 2048 bytes; a page of 8192 has no room for a block of each of 8 attributes"
    );
    for changes in [
        json!({"scan_order": "records"}),
        json!({"scan_order": "records", "layout": "pax", "operation": "update"}),
    ] {
        assert_eq!(
            message(changes),
            "scan_order: the choice is that of queries that scan `pax`; it must be `attributes`"
        );
    }
    assert_eq!(
        message(json!({"layout": "super-row", "operation": "delete"})),
        "operation: stores for reading are for `scan` only"
    );
    assert_eq!(
        message(json!({"layout": "pax", "reconstruction": "position"})),
        "reconstruction: `merge` and `position` are for `dsm`, other layouts keep records whole; it must be `index`"
    );
    assert_eq!(
        message(json!({"nulls": 0.5})),
        "nulls: 0.5; every record has all values unless `nullable` names attributes; it must be 0"
    );
    for numbers in [json!([3, 3]), json!([2, 1]), json!([9])] {
        let expected = format!(
            "nullable: {}; it must be ascending numbers of attributes, from 1 to 8",
            numbers.to_string().replace(',', ", ")
        );
        assert_eq!(message(json!({"nullable": numbers})), expected);
    }
    assert_eq!(
        message(json!({"layout": "super-row", "nullable": [1]})),
        "nullable: stores for reading index their values; it must be empty"
    );
    assert_eq!(
        message(json!({"nullable": [1], "nulls": 1.5})),
        "nulls: 1.5 is out of range; it must be from 0 to 1"
    );
    for changes in [
        json!({"index_pages": "stored"}),
        json!({"index_pages": "stored", "layout": "dsm-merge", "operation": "point"}),
    ] {
        assert_eq!(
            message(changes),
            "index_pages: there is an index for point queries of `nsm` and `pax`, and where `dsm` puts records together through it; it must be `in-memory`"
        );
    }
    assert_eq!(
        message(json!({"index_pages": "stored", "operation": "point", "index_frames": 1})),
        "index_frames: 1 is out of range; it must be from 2 to 4194304, or 0 for two of each level"
    );
    assert_eq!(
        message(json!({"string_bytes": 8})),
        "string_bytes: 8 bytes; there is no string unless `strings` names attributes; it must be 32"
    );
    assert_eq!(
        message(json!({"strings": [8], "aggregate": false, "updated_string_bytes": 8})),
        "updated_string_bytes: 8 bytes; no string is updated; it must be 32"
    );
    for changes in [
        json!({"full_minipage": "borrow", "layout": "pax", "operation": "update"}),
        json!({"full_minipage": "borrow", "layout": "pax", "strings": [8], "aggregate": false}),
        json!({"full_minipage": "borrow", "layout": "dsm", "operation": "update", "strings": [8]}),
    ] {
        assert_eq!(
            message(changes),
            "full_minipage: no string of `pax` is updated; it must be `reorganize`"
        );
    }
    assert_eq!(
        message(json!({"strings": [8]})),
        "aggregate: attribute 8 is a string and has no sum; it must be false"
    );
    assert_eq!(
        message(json!({"strings": [1], "aggregate": false})),
        "strings: attribute 1 has a predicate, which is a range of numbers; it must not be among them"
    );
    assert_eq!(
        message(
            json!({"strings": [8], "operation": "update", "projected": 2, "first_projected": 7})
        ),
        "projected: attribute 7 is a number, others are strings; an update must be of one kind"
    );
    for layout in ["dsm-merge", "dsm-position"] {
        assert_eq!(
            message(json!({"strings": [8], "operation": "update", "layout": layout})),
            "reconstruction: places of values follow from the numbers of their records, and a string that its page has no room for would move all behind it; it must be `index`"
        );
    }
    assert_eq!(
        message(json!({"layout": "super-row", "strings": [8]})),
        "strings: stores for reading index their values; it must be empty"
    );
    assert!(
        message(json!({"abstraction": [5000], "level_attributes": [8]}))
            .starts_with("abstraction: only `standard-row`")
    );
}

/// Pages are checked with the other parameters, before anything is built.
#[test]
fn pages_without_room_are_refused_by_validation() {
    let message = |changes: Value| match table(changes).validate() {
        Ok(()) => "no mistake".to_owned(),
        Err(error) => error.to_string(),
    };
    for layout in ["nsm", "pax", "dsm", "standard-row"] {
        let with = |page: u32| json!({"layout": layout, "page_bytes": page});
        for page in [1, 3, 5000, 1 << 31] {
            let expected =
                format!("page_bytes: {page} bytes; it must be a power of two from 16 to 32768");
            assert_eq!(message(with(page)), expected, "{layout}");
        }
        let as_large = message(json!({"layout": layout, "page_bytes": 64, "header_bytes": 64}));
        assert!(as_large.starts_with("header_bytes: 64 bytes; it must be from 12 to"));
    }
    let tiny = json!({"attributes": 1, "attribute_bytes": 4, "page_bytes": 32, "header_bytes": 12, "first_projected": 1});
    assert_eq!(message(tiny.clone()), "no mistake");
    let mut indexed = tiny;
    indexed["operation"] = json!("point");
    assert_eq!(
        message(indexed),
        "page_bytes: 32 bytes; an index needs at least 64"
    );
}
