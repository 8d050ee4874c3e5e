//! What levels hold of each other's lines, seen from inside, and that counts do not depend on time.

mod coherence;
mod quiet;

use super::{Cycles, Hierarchy, InstructionCache, Port, Purpose, Standstill, Time, When};
use crate::spec::{CacheSpec, Inclusion, MachineSpec, Replacement, WritePolicy};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

pub(crate) const LINE: u64 = 64;
const LINES: u64 = 256;
const PAGE: u64 = 4096;
/// Of so many steps one is a page that comes.
const PAGE_STEPS: u64 = 64;

/// Three small levels in front of a machine as plain as can be.
pub(crate) fn machine(inclusions: [Inclusion; 2]) -> MachineSpec {
    let text = serde_json::json!({
        "name": "small",
        "clock_hz": 1_000_000_000,
        "core": {
            "kind": "in-order", "issue_width": 1, "integer_units": 1, "memory_ports": 1, "branch_units": 1,
            "multiply_latency_cycles": 1, "divide_latency_cycles": 1, "mispredict_penalty_cycles": 1,
            "branch_predictor": {"kind": "perfect"}, "store_buffer_entries": 1,
        },
        "caches": [level(0, 4, 2), level(1, 4, 4), level(2, 4, 8)],
        "instruction_cache": {"size_bytes": 4 * LINE, "line_bytes": LINE, "ways": 2, "replacement": "lru"},
        "dtlb": {
            "page_bytes": PAGE, "levels": [{"entries": 1, "latency_cycles": 0}], "walk_latency_cycles": 1,
            "walker": "blocking", "prefetch_on_miss": "walk",
        },
        "memory": {"model": "fixed", "latency_cycles": 100, "interval_cycles": 1, "write_backs_use_bus": true},
    });
    let mut spec: MachineSpec = serde_json::from_value(text).expect("a machine");
    for (cache, inclusion) in spec.caches[1..].iter_mut().zip(inclusions) {
        cache.inclusion = inclusion;
    }
    spec
}

fn level(number: u64, sets: u64, ways: u64) -> serde_json::Value {
    serde_json::json!({
        "name": format!("L{}", number + 1), "size_bytes": sets * ways * LINE, "line_bytes": LINE, "ways": ways,
        "latency_cycles": 1 + 5 * number, "replacement": "lru", "mshrs": (number == 0).then_some(4),
        "prefetchers": [{"kind": "stream", "streams": 4, "degree": 2, "distance_lines": 4}],
    })
}

/// Runs random accesses of every kind on so many cores, and pages that come now and then, and shows the hierarchy after each.
fn run<T: Time>(
    spec: &MachineSpec,
    cores: usize,
    mut show: impl FnMut(&Hierarchy, &[Port]),
) -> (Hierarchy, Vec<Port>) {
    spec.validate().expect("a machine that can exist");
    let (mut hierarchy, mut ports) = Hierarchy::new(spec, cores).expect("a memory");
    let mut generator = SplitMix64::seed_from_u64(7);
    for step in 0..4000 {
        let random = generator.next_u64();
        // Runs of neighbours now and then, so that streams start.
        let address = if random % 8 < 4 {
            (random >> 8) % LINES * LINE
        } else {
            step % LINES * LINE
        };
        let when = When::at_once(step * 7);
        let port = &mut ports[(random >> 40) as usize % cores];
        if step % PAGE_STEPS == 0 {
            let bytes = 1 + (random >> 48 & 1023);
            let code = |hierarchy: &Hierarchy| -> Vec<Vec<u64>> {
                let of = |code: &InstructionCache| {
                    (0..2 * LINES).filter(|&line| code.holds(line)).collect()
                };
                hierarchy.instructions.iter().map(of).collect()
            };
            let mut kept = code(&hierarchy);
            hierarchy.overwrite(port, address, bytes);
            let frame = address / LINE..(address + bytes).div_ceil(LINE);
            kept.iter_mut()
                .for_each(|code| code.retain(|line| !frame.contains(line)));
            assert_eq!(code(&hierarchy), kept);
            for level in ports
                .iter()
                .flat_map(|port| [0, 1, 2].map(|level| held(&hierarchy, port, level)))
            {
                assert!(level.iter().all(|line| !frame.contains(line)));
            }
            show(&hierarchy, &ports);
            continue;
        }
        match random >> 32 & 7 {
            0 => {
                hierarchy.fetch::<T>(port, address, 4, when);
            }
            1 => {
                hierarchy.read_at::<T>(port, 1, LINES * LINE + address, when);
            }
            purpose => {
                let purpose = [
                    Purpose::Load,
                    Purpose::Load,
                    Purpose::Store,
                    Purpose::Store,
                    Purpose::Prefetch,
                    Purpose::PrefetchNta,
                ][purpose as usize - 2];
                if let Err(look) = hierarchy.access_at_once(port, (address, 1), when, purpose) {
                    hierarchy.access_on::<T>(port, look, (address, 1), when, (purpose, 0));
                }
            }
        }
        show(&hierarchy, &ports);
    }
    (hierarchy, ports)
}

fn held(hierarchy: &Hierarchy, port: &Port, level: usize) -> Vec<u64> {
    let cache = &hierarchy.levels[port.place(level)].cache;
    (0..2 * LINES).filter(|&line| cache.holds(line)).collect()
}

#[test]
fn an_inclusive_level_holds_what_nearer_levels_hold() {
    for inclusions in [
        [Inclusion::Inclusive, Inclusion::NonInclusive],
        [Inclusion::NonInclusive, Inclusion::Inclusive],
        [Inclusion::Inclusive, Inclusion::Inclusive],
        [Inclusion::Exclusive, Inclusion::Inclusive],
        [Inclusion::Inclusive, Inclusion::Exclusive],
    ] {
        for cores in [1, 3] {
            let mut spec = machine(inclusions);
            // Whatever one core's access takes out of it leaves the caches of the others too.
            spec.caches[2].shared = true;
            run::<Cycles>(&spec, cores, |hierarchy, ports| {
                for (level, port) in
                    (1..=2).flat_map(|level| ports.iter().map(move |port| (level, port)))
                {
                    if inclusions[level - 1] != Inclusion::Inclusive {
                        continue;
                    }
                    let here = held(hierarchy, port, level);
                    let nearer = (0..level).flat_map(|nearer| held(hierarchy, port, nearer));
                    assert!(nearer.into_iter().all(|line| here.contains(&line)));
                    let code = hierarchy.instruction_cache(port).expect("one");
                    assert!((0..LINES).all(|line| !code.holds(line) || here.contains(&line)));
                }
            });
        }
    }
}

#[test]
fn an_exclusive_level_holds_nothing_of_the_level_before() {
    for inclusions in [
        [Inclusion::Exclusive, Inclusion::NonInclusive],
        [Inclusion::NonInclusive, Inclusion::Exclusive],
        [Inclusion::Exclusive, Inclusion::Exclusive],
        [Inclusion::Inclusive, Inclusion::Exclusive],
    ] {
        run::<Cycles>(&machine(inclusions), 1, |hierarchy, ports| {
            for level in (1..=2).filter(|&level| inclusions[level - 1] == Inclusion::Exclusive) {
                let here = held(hierarchy, &ports[0], level);
                assert!(
                    held(hierarchy, &ports[0], level - 1)
                        .iter()
                        .all(|line| !here.contains(line))
                );
            }
        });
    }
}

#[test]
fn a_level_that_writes_through_holds_nothing_dirty() {
    let mut spec = machine([Inclusion::NonInclusive, Inclusion::NonInclusive]);
    spec.caches[1].write_policy = WritePolicy::WriteThrough;
    run::<Cycles>(&spec, 1, |hierarchy, _| {
        let mut second = hierarchy.levels[1].cache.clone();
        for line in 0..LINES {
            assert!(second.touch(line).is_none_or(|held| !held.is_dirty()));
        }
    });
}

#[test]
fn counts_do_not_depend_on_time() {
    let edits: [fn(&mut CacheSpec); 4] = [
        |_| {},
        |first| first.write_policy = WritePolicy::WriteThrough,
        |first| first.write_allocate = false,
        |first| first.replacement = Replacement::Random,
    ];
    for edit in edits {
        let mut spec = machine([Inclusion::Inclusive, Inclusion::NonInclusive]);
        // A first level that prefetches drops what finds no miss handler: that does depend on time.
        spec.caches[0].prefetchers.clear();
        edit(&mut spec.caches[0]);
        let (timed, timed_ports) = run::<Cycles>(&spec, 1, |_, _| {});
        let (functional, functional_ports) = run::<Standstill>(&spec, 1, |_, _| {});
        let (timed_port, functional_port) = (&timed_ports[0], &functional_ports[0]);
        assert_eq!(timed_port.bus_counts, functional_port.bus_counts);
        let functional = functional.counts(functional_port);
        for (timed, functional) in timed.counts(timed_port).zip(functional) {
            let ((timed, prefetched), (functional, also_prefetched)) = (timed, functional);
            assert_eq!(timed.accesses(), functional.accesses());
            assert_eq!(timed.misses, functional.misses);
            assert_eq!(timed.write_backs, functional.write_backs);
            assert_eq!(prefetched.useful, also_prefetched.useful);
        }
    }
}

/// Through prefetchers and over several lines, too: at cycle 0 nothing is later than anything.
#[test]
fn memory_serves_what_no_cache_has_where_time_stands_still() {
    let spec = machine([Inclusion::NonInclusive; 2]);
    let (mut hierarchy, mut ports) = Hierarchy::new(&spec, 1).expect("a memory");
    let (when, bytes) = (When::at_once(0), (0, 2 * LINE));
    let look = hierarchy
        .access_at_once(&mut ports[0], bytes, when, Purpose::Load)
        .expect_err("the caches are empty");
    let reason = (Purpose::Load, 0);
    let served = hierarchy.access_on::<Standstill>(&mut ports[0], look, bytes, when, reason);
    assert_eq!(served.level, 3);
}

/// Of two lines of which one is there, the other is what an access has to be served.
#[test]
fn of_two_lines_the_further_one_counts_where_time_stands_still() {
    let mut spec = machine([Inclusion::NonInclusive; 2]);
    spec.caches
        .iter_mut()
        .for_each(|cache| cache.prefetchers.clear());
    for there in [0, 1] {
        let (mut hierarchy, mut ports) = Hierarchy::new(&spec, 1).expect("a memory");
        let mut access = |address, size| {
            let (bytes, when) = ((address, size), When::at_once(1000));
            let look = hierarchy.access_at_once(&mut ports[0], bytes, when, Purpose::Load);
            let look = look.expect_err("not all is there");
            let reason = (Purpose::Load, 0);
            hierarchy
                .access_on::<Standstill>(&mut ports[0], look, bytes, when, reason)
                .level
        };
        access(there * LINE, 1);
        assert_eq!(access(0, 2 * LINE), 3, "line {there} is there");
    }
}
