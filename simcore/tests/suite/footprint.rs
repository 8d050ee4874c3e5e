//! What would take more of the host's memory than is free is refused before it is made.

use crate::common::*;
use simcore::spec::{CoherenceProtocol, CoherenceSpec};
use simcore::{Accounts, Counts, Engine, Footprint};
use traces::{Layout, Segment};

#[test]
fn machines_beyond_memory_are_refused_before_they_are_made() {
    let layout = Layout::default();
    let mut spec = machine();
    let last = spec.caches.len() - 1;
    spec.caches[last].size_bytes <<= 15;
    assert_eq!(spec.validate(), Ok(()));
    let one = Footprint::of(&layout, &[Accounts::Segments]);
    let error = spec.check_memory(&one, 1 << 30).unwrap_err();
    assert_eq!(error.path, format!("caches.{last}.size_bytes"));
    let what = format!("the tags of {} would take ", spec.caches[last].name);
    assert!(error.message.starts_with(&what), "{error}");
    assert!(
        error.message.contains("; 1.0 GiB of memory are free; "),
        "{error}"
    );
    assert_eq!(machine().check_memory(&one, 1 << 30), Ok(()));
    assert_eq!(spec.check_memory(&one, u64::MAX), Ok(()));
}

#[test]
fn directories_beyond_memory_are_refused_where_several_cores_run() {
    let layout = Layout::default();
    let mut spec = machine();
    spec.cores = 8;
    spec.caches[0].size_bytes <<= 10;
    spec.coherence = Some(CoherenceSpec {
        protocol: CoherenceProtocol::Mesi,
        transfer_cycles: 50,
    });
    assert_eq!(spec.validate(), Ok(()));
    let apart = Footprint::of(&layout, &[Accounts::Segments; 8]);
    let cores = Footprint {
        share: true,
        ..apart.clone()
    };
    let error = spec.check_memory(&cores, 1 << 29).unwrap_err();
    assert_eq!(error.path, "coherence");
    assert_eq!(spec.check_memory(&apart, 1 << 29), Ok(()));
    spec.coherence = None;
    assert_eq!(spec.check_memory(&cores, 1 << 29), Ok(()));
}

#[test]
fn traces_whose_statistics_are_beyond_memory_are_refused() {
    let names = |count: usize| (0..count).map(|number| number.to_string());
    let layout = |segments: usize, phases: usize| Layout {
        segments: (0..)
            .zip(names(segments))
            .map(|(number, name)| Segment {
                name,
                base: number << 12,
                size_bytes: 64,
            })
            .collect(),
        phases: names(phases).collect(),
        ..Layout::default()
    };
    let large = layout(10_000, 10_000);
    let engine = Engine::new(&machine(), &large).map(drop).unwrap_err();
    let counts = Counts::new(&machine(), &large).map(drop).unwrap_err();
    assert_eq!(engine, counts);
    assert_eq!(engine.path, "trace");
    let medium = layout(1000, 1000);
    let four = Footprint::of(&medium, &[Accounts::Segments; 4]);
    let error = machine().check_memory(&four, 1 << 29).unwrap_err();
    assert_eq!(error.path, "trace");
    let one = Footprint::of(&medium, &[Accounts::Segments]);
    assert_eq!(machine().check_memory(&one, 1 << 29), Ok(()));
}
