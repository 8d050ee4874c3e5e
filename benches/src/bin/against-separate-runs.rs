//! One pass for every capacity against separate LRU runs on the skewed address trace: the same misses at 12 capacities, and
//! how many of the runs the pass takes as long as.
//!
//! usage: against-separate-runs [ADDRESSES]

use memwalk_benches::{addresses, lru};
use simcore::AddressSink;
use simcore::stack_distance::StackDistances;
use std::env::args;
use std::io::{Write, stdout};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let count = args()
        .nth(1)
        .map_or(20_000_000, |text| text.parse().expect("a whole number"));
    let addresses = addresses::traces(count)
        .into_iter()
        .find_map(|(name, addresses)| (name == "zipf").then_some(addresses))
        .expect("the skewed trace");
    let start = Instant::now();
    let mut distances = StackDistances::new(64, 1).expect("a valid line");
    distances.read(&addresses);
    let curve = distances.finish().misses();
    let pass = start.elapsed().as_secs_f64();
    writeln!(stdout(), "one pass: {pass:.3} s")?;
    let mut separate = 0.0;
    for capacity in (0..12).map(|step| 256_usize << step) {
        let start = Instant::now();
        let misses = lru::misses(&addresses, capacity);
        let seconds = start.elapsed().as_secs_f64();
        separate += seconds / 12.0;
        assert_eq!(
            misses,
            curve[capacity.min(curve.len() - 1)],
            "{capacity} lines"
        );
        writeln!(
            stdout(),
            "{capacity:7} lines: {misses:9} misses, {seconds:.3} s"
        )?;
    }
    writeln!(
        stdout(),
        "one pass takes as long as {:.2} separate runs",
        pass / separate
    )
}
