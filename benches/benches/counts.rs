//! Counts mode and exact miss curves on four address traces in memory, beside the bare loop that does nothing else.
//! Throughput is in addresses per second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memwalk_benches::{addresses, bare, machine};
use simcore::stack_distance::StackDistances;
use simcore::{AddressSink, Counts};
use traces::Layout;

const ADDRESSES: u64 = 4_000_000;

fn counts(criterion: &mut Criterion) {
    let spec = machine();
    for (name, addresses) in addresses::traces(ADDRESSES) {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(ADDRESSES));
        group.sample_size(10);
        group.bench_function("bare", |bencher| bencher.iter(|| bare::misses(&addresses)));
        group.bench_function("counts", |bencher| {
            bencher.iter(|| {
                let mut counts = Counts::new(&spec, &Layout::default()).expect("a valid machine");
                counts.read(&addresses);
                counts.finish()
            });
        });
        group.bench_function("curve", |bencher| {
            bencher.iter(|| {
                let mut distances = StackDistances::new(64, 1).expect("a valid line");
                distances.read(&addresses);
                distances.finish()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, counts);
criterion_main!(benches);
