//! Which way words are moved: from the first on, as `memcpy` does it, but for those that would overwrite what is yet to be moved.

use crate::common::workload::{changed, workload};
use serde_json::{Value, json};
use traces::{Event, Kind};
use workloads::Library;

fn events(base: Value, changes: &Value) -> Vec<Event> {
    let prepared = Library::new().prepare(&workload(changed(base, changes)));
    let mut events = Vec::new();
    prepared.unwrap().run(&mut events).unwrap();
    events
}

/// Words that one loop moves.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u64,
    to: u64,
    /// Address of the last word.
    last: u64,
    word: u64,
}

impl Run {
    fn is_backwards(&self) -> bool {
        self.last < self.from
    }

    /// Whether going forwards would overwrite words before they are read.
    fn has_to_be_backwards(&self) -> bool {
        let (low, high) = (self.from.min(self.last), self.from.max(self.last));
        let distance = self.to.wrapping_sub(self.from);
        (1..high + self.word - low).contains(&distance)
    }
}

/// The runs of several words: each is loaded, stored, and followed by the branch that goes on.
fn runs(events: &[Event]) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    let mut expected = 0;
    for (number, pair) in events.windows(2).enumerate() {
        let [load, store] = [pair[0], pair[1]];
        if load.kind != Kind::Load || store.kind != Kind::Store || store.dep != 1 {
            continue;
        }
        let word = u64::from(load.size);
        let (from, to) = (load.address, store.address);
        let goes_on = found.last_mut().filter(|run| {
            let same = run.word == word && to.wrapping_sub(from) == run.to.wrapping_sub(run.from);
            number == expected && same && from.abs_diff(run.last) == word
        });
        match goes_on {
            Some(run) => run.last = from,
            None => found.push(Run {
                from,
                to,
                last: from,
                word,
            }),
        }
        expected = number + 3;
    }
    found.retain(|run| run.from != run.last);
    found
}

#[test]
fn words_go_backwards_only_where_they_overlap() {
    let trees = [("b+", 8, true), ("csb+", 1, false), ("csb+", 8, true)].map(|(kind, lines, prefetch)| {
        json!({"kernel": "index", "tree": {"kind": kind, "node_lines": lines, "prefetch": prefetch}})
    });
    let pages = [
        "slotted",
        "array",
        "micro-index",
        "disk-first",
        "cache-first",
    ]
    .map(|structure| {
        let widths = match structure {
            "micro-index" => json!({"subarray_lines": 2}),
            "disk-first" => json!({"nonleaf_lines": 1, "leaf_lines": 4}),
            "cache-first" => json!({"node_lines": 5}),
            _ => json!({}),
        };
        changed(
            json!({"kernel": "disk-index", "structure": structure, "page_bytes": 4096}),
            &widths,
        )
    });
    let strings = ["slotted", "in-page-tree"].map(|structure| {
        let widths = match structure {
            "in-page-tree" => json!({"node_lines": 6}),
            _ => json!({}),
        };
        changed(
            json!({"kernel": "string-index", "structure": structure, "page_bytes": 4096}),
            &widths,
        )
    });
    let mut upwards = Vec::new();
    for base in trees.into_iter().chain(pages).chain(strings) {
        let splits =
            json!({"operation": "insert", "keys": 3000, "operations": 300, "caches": "empty"});
        let runs = runs(&events(base.clone(), &splits));
        for run in &runs {
            assert_eq!(
                run.is_backwards(),
                run.has_to_be_backwards(),
                "{base}: {run:?}"
            );
        }
        assert!(runs.len() > 100, "{base}: {}", runs.len());
        upwards.extend(runs.into_iter().filter(|run| run.to > run.from));
    }
    let backwards = upwards.iter().filter(|run| run.is_backwards()).count();
    let forwards = upwards.len() - backwards;
    assert!(
        backwards > 1000 && forwards > 1000,
        "{backwards} and {forwards}"
    );
}
