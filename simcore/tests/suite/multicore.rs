//! Several cores in time order: what they share is shared, and what is private is not.

use crate::common::*;
use simcore::MachineSpec;
use simcore::multicore::{EventSource, Multicore, MulticoreStatistics};
use traces::{Event, Layout, SinkError};

/// Events from memory, a few at a time.
struct Events(Vec<Event>);

impl EventSource for Events {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        let rest = self.0.split_off(self.0.len().min(3));
        *events = std::mem::replace(&mut self.0, rest);
        Ok(())
    }
}

fn on_cores(spec: &MachineSpec, traces: &[Vec<Event>]) -> MulticoreStatistics {
    let mut spec = spec.clone();
    spec.cores = 4;
    spec.caches[2].shared = true;
    let layouts = vec![Layout::default(); traces.len()];
    let mut cores = Multicore::new(&spec, &layouts).expect("a valid machine");
    let mut events: Vec<Events> = traces.iter().cloned().map(Events).collect();
    let mut sources: Vec<&mut dyn EventSource> = events
        .iter_mut()
        .map(|events| events as &mut dyn EventSource)
        .collect();
    cores
        .run(&mut sources, |_| Ok(()))
        .expect("events that the machine has");
    cores.finish()
}

fn stream(base: u64, lines: u64) -> Vec<Event> {
    (0..lines)
        .map(|line| after(1, plain(2, load(base + line * LINE))))
        .collect()
}

const FAR: u64 = 1 << 30;

#[test]
fn one_core_runs_as_it_does_alone() {
    for spec in [machine(), in_order()] {
        let events = stream(0, 300);
        let statistics = on_cores(&spec, std::slice::from_ref(&events));
        assert_eq!(statistics.cores, [run(&spec, &events)]);
    }
}

#[test]
fn cores_fetch_for_each_other_into_the_shared_level() {
    let late: Vec<Event> = [plain(60_000, load(FAR))]
        .into_iter()
        .chain(stream(0, 50))
        .collect();
    let statistics = on_cores(&machine(), &[stream(0, 50), late]);
    let [first, second] = &statistics.cores[..] else {
        panic!("two cores")
    };
    assert_eq!((first.bus.fills, second.bus.fills), (50, 1));
    assert_eq!(second.caches[2].counts.hits, 50);
    assert_eq!(
        second.caches[1].counts.misses, 51,
        "the second level is private"
    );
}

#[test]
fn the_bus_serves_one_line_per_interval_whoever_asks() {
    let independent =
        |base: u64| -> Vec<Event> { (0..32).map(|line| load(base + line * LINE)).collect() };
    let alone = on_cores(&machine(), &[independent(0)]).cycles;
    let together = on_cores(
        &machine(),
        &[independent(0), independent(FAR), independent(2 * FAR)],
    );
    assert_eq!(together.cycles - alone, 64 * T_NEXT);
    let busy: u64 = together.cores.iter().map(|core| core.bus.fills).sum();
    assert_eq!(busy, 96);
}

#[test]
fn the_order_of_the_cores_decides_ties_only() {
    let (a, b) = (stream(0, 200), stream(FAR, 170));
    let forth = on_cores(&machine(), &[a.clone(), b.clone()]);
    let back = on_cores(&machine(), &[b, a]);
    assert!(forth.cycles.abs_diff(back.cycles) <= T_NEXT);
    assert_eq!(
        forth,
        on_cores(&machine(), &[stream(0, 200), stream(FAR, 170)]),
        "same run, same results"
    );
}

#[test]
fn more_traces_than_cores_are_refused() {
    let error = Multicore::new(&machine(), &vec![Layout::default(); 2])
        .err()
        .expect("one core only");
    assert_eq!(error.path, "cores");
}
