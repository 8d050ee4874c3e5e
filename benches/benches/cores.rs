//! Timing mode on one core and on 32 that share a bus: the warm search and a GRACE join, each core with data of its own, replayed from memory.
//! Throughput is in events per second, of all cores together.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memwalk_benches::{events, grace, machine, prepare, search};
use simcore::Multicore;
use simcore::multicore::ThreadOf;
use traces::{Event, EventSource, Kind, Layout, SinkError};

/// Events of a core: a part of the run that is long enough to be in its steady state.
const EVENTS: usize = 400_000;
/// Events that are handed over at once.
const BATCH: usize = 1024;

#[derive(Clone, Copy)]
struct Memory<'e>(&'e [Event]);

impl EventSource for Memory<'_> {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        let (now, later) = self.0.split_at(self.0.len().min(BATCH));
        events.extend_from_slice(now);
        self.0 = later;
        Ok(())
    }
}

fn cores(criterion: &mut Criterion) {
    let mut spec = machine();
    spec.cores = 32;
    for (name, workload) in [("cores", search()), ("cores-grace", grace())] {
        let mut prepared = prepare(workload);
        let layout = prepared.layout().clone();
        let trace = part(events(&mut prepared));
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for cores in [1, 2, 32] {
            group.throughput(Throughput::Elements((cores * trace.len()) as u64));
            group.bench_function(format!("{cores}"), |bencher| {
                bencher.iter(|| run(&spec, &vec![layout.clone(); cores], &trace));
            });
        }
        group.finish();
    }
}

/// The end of a trace without its barrier: the search, and the join's probing.
fn part(mut trace: Vec<Event>) -> Vec<Event> {
    trace.retain(|event| event.kind != Kind::Barrier);
    trace.split_off(trace.len().saturating_sub(EVENTS))
}

fn run(spec: &simcore::MachineSpec, layouts: &[Layout], trace: &[Event]) -> u64 {
    let mut machine = Multicore::new(spec, &ThreadOf::programs(layouts)).expect("a valid machine");
    let mut traces = vec![Memory(trace); layouts.len()];
    let mut sources: Vec<&mut dyn EventSource> = Vec::with_capacity(traces.len());
    sources.extend(traces.iter_mut().map(|trace| trace as &mut dyn EventSource));
    machine
        .run(&mut sources, &mut |_| Ok(()))
        .expect("events that the machine has");
    machine.finish().together.cycles
}

criterion_group!(benches, cores);
criterion_main!(benches);
