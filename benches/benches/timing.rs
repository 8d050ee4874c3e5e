//! Timing mode on the warm search, on the scan and on a GRACE join: live, and replayed from memory; reading a trace file; the kernel
//! alone. Throughput is in events per second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memwalk_benches::{events, grace, machine, prepare, scan, search};
use simcore::Engine;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use traces::store::{Reader, StoreError, TraceInfo, Writer};
use traces::{Counter, EventSink};

fn timing(criterion: &mut Criterion) {
    let spec = machine();
    for (name, workload) in [("search", search()), ("scan", scan()), ("grace", grace())] {
        let mut prepared = prepare(workload);
        let layout = prepared.layout().clone();
        let trace = events(&mut prepared);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(trace.len() as u64));
        group.sample_size(20);
        group.bench_function("kernel", |bencher| {
            bencher.iter(|| {
                let mut counter = Counter::default();
                prepared.run(&mut counter).expect("counting does not fail");
                counter
            });
        });
        group.bench_function("live", |bencher| {
            bencher.iter(|| {
                let mut engine = Engine::new(&spec, &layout).expect("a valid machine");
                prepared
                    .run(&mut engine)
                    .expect("events that the machine has");
                engine.finish()
            });
        });
        group.bench_function("memory", |bencher| {
            bencher.iter(|| {
                let mut engine = Engine::new(&spec, &layout).expect("a valid machine");
                engine.consume(&trace).expect("events that the machine has");
                engine.finish()
            });
        });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.parquet");
        let info = TraceInfo::new(serde_json::Value::Null, layout.clone());
        let mut writer = Writer::create(&path, &info).expect("a new file");
        writer.consume(&trace).expect("room for the trace");
        let summary = writer.finish().expect("room for the trace");
        group.bench_function("read", |bencher| bencher.iter(|| read(&path)));
        let reading = shortest(|| read(&path));
        let replaying = shortest(|| {
            let mut engine = Engine::new(&spec, &layout).expect("a valid machine");
            engine.consume(&trace).expect("events that the machine has");
            black_box(engine.finish());
        });
        eprintln!(
            "{name}: {:.2} bytes per event; at best {:.1} M events/s replayed from memory; reading takes {:.0}% of that",
            summary.file_bytes as f64 / summary.events as f64,
            trace.len() as f64 / replaying.as_secs_f64() / 1e6,
            100.0 * reading.as_secs_f64() / replaying.as_secs_f64()
        );
        group.finish();
    }
}

fn read(path: &Path) {
    let reader = Reader::open(path).expect("the file just written");
    reader
        .for_each_batch(|batch| {
            black_box(batch);
            Ok::<(), StoreError>(())
        })
        .expect("a whole file");
}

/// The shortest of a few runs: what else the computer does only makes them longer.
fn shortest(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..10).map(time).min().unwrap_or_default()
}

criterion_group!(benches, timing);
criterion_main!(benches);
