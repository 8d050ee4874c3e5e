//! Counts mode against the bare loop, turn by turn in one process: the medians of both, and their ratio.
//!
//! usage: against-bare [ADDRESSES [TURNS]]

use memwalk_benches::{addresses, bare, machine};
use simcore::{AddressSink, Counts};
use std::env::args;
use std::io::{Write, stdout};
use std::time::Instant;
use traces::Layout;

/// Seconds that `work` takes, and what it gives.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> std::io::Result<()> {
    let number = |place: usize, default: u64| -> u64 {
        args()
            .nth(place)
            .map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (count, turns) = (number(1, 20_000_000), number(2, 7));
    let spec = machine();
    writeln!(stdout(), "trace    bare M/s  counts M/s  ratio")?;
    for (name, addresses) in addresses::traces(count) {
        let (mut bare_seconds, mut count_seconds) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            let (seconds, expected) = timed(|| bare::misses(&addresses));
            bare_seconds.push(seconds);
            let (seconds, counted) = timed(|| {
                let mut counts = Counts::new(&spec, &Layout::default()).expect("a valid machine");
                counts.read(&addresses);
                counts.finish()
            });
            count_seconds.push(seconds);
            let misses: Vec<u64> = counted.caches.iter().map(|c| c.counts.misses).collect();
            assert_eq!(misses, expected, "{name}: the two must agree");
        }
        let rate = |seconds| count as f64 / median(seconds) / 1e6;
        let (bare, counts) = (rate(bare_seconds), rate(count_seconds));
        writeln!(
            stdout(),
            "{name:6} {bare:10.1} {counts:11.1} {:6.2}",
            counts / bare
        )?;
    }
    Ok(())
}
