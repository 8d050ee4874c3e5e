//! A small trace of a search in a two-level tree, made by rule.

use serde_json::json;
use traces::store::{Generator, TraceInfo};
use traces::{Event, Kind, Layout, Segment};

const INNER: u64 = 0x1_0000_0000;
const LEAVES: u64 = 0x2_0000_0000;

/// What the trace says about itself.
pub fn info() -> TraceInfo {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: 1 << 20,
    };
    let layout = Layout {
        segments: vec![
            segment("level 1", INNER),
            segment("level 0 (leaves)", LEAVES),
        ],
        sites: ["prefetch", "key", "branch", "pointer"]
            .map(str::to_owned)
            .to_vec(),
        phases: ["search"].map(str::to_owned).to_vec(),
        calls: Vec::new(),
    };
    let mut info = TraceInfo::new(
        json!({"kernel": "index", "operation": "search", "fill": 0.7}),
        layout,
    );
    info.seed = Some(u64::MAX);
    info.line_bytes = Some(64);
    info.page_bytes = Some(4096);
    info.parameters
        .insert("recorded_by".to_owned(), json!("test"));
    info.outcome.insert("levels".to_owned(), json!(2));
    info.generator = Generator {
        name: "memwalk".to_owned(),
        version: "0.1.0".to_owned(),
    };
    info
}

/// The events of `searches` searches.
pub fn events(searches: u64) -> Vec<Event> {
    let mut events = vec![Event::new(Kind::Mark, 0)];
    for search in 0..searches {
        let key = search * 7919 % 4096;
        for node in [INNER, LEAVES + key * 256] {
            for line in 0..4 {
                events.push(Event {
                    size: 64,
                    ..Event::new(Kind::Prefetch, node + line * 64)
                });
            }
            for step in 0..6 {
                let taken = key >> step & 1;
                let address = node + (key >> step) % 64 * 4;
                events.push(Event {
                    instructions: 2,
                    site: 1,
                    ..Event::new(Kind::Load, address)
                });
                events.push(Event {
                    dep: 1,
                    chain: 1,
                    site: 2,
                    instructions: 1,
                    ..Event::new(Kind::Branch, taken)
                });
            }
            let pointer = Event {
                dep: 2,
                site: 3,
                words: 2,
                size: 8,
                ..Event::new(Kind::Load, node + 192)
            };
            events.push(pointer);
        }
        events.push(Event {
            words: 0,
            ..Event::new(Kind::Flush, 0)
        });
    }
    events
}
