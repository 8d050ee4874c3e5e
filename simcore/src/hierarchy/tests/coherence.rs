//! Coherent caches, seen from inside, and beside the states of a textbook's protocol.

use super::{LINE, PAGE_STEPS, machine, run};
use crate::hierarchy::{Cycles, Hierarchy, Port, Purpose, When};
use crate::spec::{CoherenceProtocol, CoherenceSpec, Inclusion, MachineSpec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const TRANSFER: u32 = 20;

/// Machines whose caches are coherent, with all that levels may be to each other.
fn coherent_machines() -> impl Iterator<Item = MachineSpec> {
    let inclusions = [
        [Inclusion::NonInclusive, Inclusion::NonInclusive],
        [Inclusion::Inclusive, Inclusion::Inclusive],
        [Inclusion::Inclusive, Inclusion::Exclusive],
        [Inclusion::Exclusive, Inclusion::NonInclusive],
        [Inclusion::Exclusive, Inclusion::Exclusive],
    ];
    let protocols = [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi];
    let kinds = inclusions.into_iter().flat_map(move |inclusions| {
        protocols
            .into_iter()
            .flat_map(move |protocol| [(inclusions, protocol, true), (inclusions, protocol, false)])
    });
    kinds.map(|(inclusions, protocol, shared)| {
        let mut spec = machine(inclusions);
        spec.cores = 3;
        spec.caches[2].shared = shared;
        spec.coherence = Some(CoherenceSpec {
            protocol,
            transfer_cycles: TRANSFER,
        });
        spec
    })
}

/// Which lines are dirty in caches of each core's own, and which in what all share.
fn dirty(hierarchy: &Hierarchy, ports: &[Port]) -> (Vec<BTreeSet<u64>>, BTreeSet<u64>) {
    let at = |place: usize| {
        let held = hierarchy.levels[place].cache.held();
        held.filter(|line| line.is_dirty()).map(|line| line.number)
    };
    let (own, path) = (ports[0].own, ports[0].path());
    let owned = ports
        .iter()
        .map(|port| port.path()[..own].iter().flat_map(|&place| at(place)));
    let shared = path[own..].iter().flat_map(|&place| at(place)).collect();
    (owned.map(BTreeSet::from_iter).collect(), shared)
}

#[test]
fn what_a_core_has_written_no_other_holds_but_as_its_reader() {
    for spec in coherent_machines() {
        let protocol = spec.coherence.map(|coherence| coherence.protocol);
        let mut written = 0;
        run::<Cycles>(&spec, 3, |hierarchy, ports| {
            let own = ports[0].own;
            let (owned, _) = dirty(hierarchy, ports);
            let exclusive = ports[0].path()[own..]
                .iter()
                .filter(|&&place| hierarchy.levels[place].inclusion == Inclusion::Exclusive);
            for &place in exclusive {
                let cache = &hierarchy.levels[place].cache;
                let is_old = |line: &u64| cache.find(*line).is_some_and(|held| held.is_dirty());
                assert!(!owned.iter().flatten().any(is_old), "an old copy");
            }
            for (core, lines) in owned.iter().enumerate() {
                written += lines.len();
                for (other, port) in ports.iter().enumerate().filter(|&(other, _)| other != core) {
                    assert!(owned[other].is_disjoint(lines), "two owners");
                    let holds = |&line: &u64| {
                        let mut levels = port.path()[..own].iter();
                        levels.any(|&place| hierarchy.levels[place].cache.holds(line))
                    };
                    // Before an exclusive level, too, the core that wrote a line keeps it.
                    let may_read = protocol == Some(CoherenceProtocol::Moesi)
                        || spec.caches[own..]
                            .iter()
                            .any(|cache| cache.inclusion == Inclusion::Exclusive);
                    assert!(may_read || !lines.iter().any(holds));
                }
            }
        });
        assert!(written > 1000, "somebody has written lines");
    }
}

#[test]
fn what_was_written_is_in_a_cache_or_goes_to_memory() {
    for spec in coherent_machines() {
        let mut before = BTreeSet::new();
        let (mut went, mut step) = (0, 0);
        run::<Cycles>(&spec, 3, |hierarchy, ports| {
            let (owned, shared) = dirty(hierarchy, ports);
            let now: BTreeSet<u64> = owned.into_iter().flatten().chain(shared).collect();
            let counts = ports.iter().map(|port| port.bus_counts.write_backs);
            let total = counts.sum::<u64>();
            let gone = before.difference(&now).count() as u64;
            // What a page from a device takes the place of is old, and goes nowhere.
            assert!(gone <= total - went || step % PAGE_STEPS == 0);
            (before, went, step) = (now, total, step + 1);
        });
        assert!(went > 0);
    }
}

/// What a core has of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Modified,
    Owned,
    Exclusive,
    Shared,
}

/// Caches without end, which say of each line what each core has of it, and nothing of lines that nobody has asked for.
#[derive(Default)]
struct Textbook {
    lines: BTreeMap<u64, BTreeMap<usize, State>>,
    transfers: u64,
    upgrades: u64,
    invalidations: u64,
}

impl Textbook {
    fn load(&mut self, protocol: CoherenceProtocol, core: usize, line: u64) {
        let states = self.lines.entry(line).or_default();
        if states.contains_key(&core) {
            return;
        }
        let mut mine = State::Exclusive;
        for state in states.values_mut() {
            mine = State::Shared;
            self.transfers += u64::from(*state != State::Shared);
            *state = match (*state, protocol) {
                (State::Modified | State::Owned, CoherenceProtocol::Moesi) => State::Owned,
                _ => State::Shared,
            };
        }
        states.insert(core, mine);
    }

    fn store(&mut self, core: usize, line: u64) {
        let states = self.lines.entry(line).or_default();
        let mine = states.remove(&core);
        self.upgrades += u64::from(matches!(mine, Some(State::Shared | State::Owned)));
        let given = states.values().any(|&state| state != State::Shared);
        self.transfers += u64::from(mine.is_none() && given);
        self.invalidations += states.len() as u64;
        *states = BTreeMap::from([(core, State::Modified)]);
    }
}

/// Three cores that share the last cache.
fn three_cores(protocol: CoherenceProtocol) -> (Hierarchy, Vec<Port>) {
    let spec = three_cores_spec(protocol);
    spec.validate().expect("a machine that can exist");
    Hierarchy::new(&spec, 3).expect("a memory")
}

fn three_cores_spec(protocol: CoherenceProtocol) -> MachineSpec {
    let mut spec = machine([Inclusion::NonInclusive, Inclusion::NonInclusive]);
    spec.cores = 3;
    spec.caches[2].shared = true;
    spec.caches
        .iter_mut()
        .for_each(|cache| cache.prefetchers.clear());
    spec.coherence = Some(CoherenceSpec {
        protocol,
        transfer_cycles: TRANSFER,
    });
    spec
}

/// Accesses a line, and gives when it is there.
fn access(
    hierarchy: &mut Hierarchy,
    port: &mut Port,
    line: u64,
    purpose: Purpose,
    when: When,
) -> u64 {
    let bytes = (line * LINE, 1);
    hierarchy
        .access_at_once(port, bytes, when, purpose)
        .unwrap_or_else(|look| {
            let served = hierarchy.access_on::<Cycles>(port, look, bytes, when, (purpose, 0));
            served.complete
        })
}

/// Misses of its first cache, transfers, upgrades and invalidations.
fn counted(hierarchy: &Hierarchy, port: &Port) -> [u64; 4] {
    let counts = hierarchy.coherence(port).expect("coherent caches");
    let misses = port.counts[0].misses;
    [
        misses,
        counts.transfers,
        counts.upgrades,
        counts.invalidations,
    ]
}

/// Core 1 has taken the line from core 0 in cycle 50,000. What core 0 does before is simulated behind that: it writes what it still has, and core
/// 1 keeps the line that it will take.
#[test]
fn a_core_writes_a_line_that_it_will_lose_as_its_own() {
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        let (mut hierarchy, mut ports) = three_cores(protocol);
        let mut store = |core: usize, time: u64| {
            let when = When::ahead(time, 0);
            access(&mut hierarchy, &mut ports[core], 0, Purpose::Store, when);
            [0, 1].map(|core| counted(&hierarchy, &ports[core]))
        };
        store(0, 1000);
        assert_eq!(store(1, 50_000), [[1, 0, 0, 1], [1, 1, 0, 0]]);
        assert_eq!(store(0, 20_000), [[1, 0, 0, 1], [1, 1, 0, 0]]);
        assert_eq!(store(1, 60_000), [[1, 0, 0, 1], [1, 1, 0, 0]]);
        assert_eq!(store(0, 70_000), [[2, 1, 0, 1], [1, 1, 0, 1]]);
    }
}

/// A line that core 0 only read is not its own to write: it takes it from core 1, which will have written it.
#[test]
fn a_core_that_reads_a_line_and_will_lose_it_has_to_ask_before_it_writes() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    for (core, time, purpose) in [
        (0, 1000, Purpose::Load),
        (2, 20_000, Purpose::Load),
        (1, 50_000, Purpose::Store),
        (0, 30_000, Purpose::Store),
    ] {
        let when = When::ahead(time, 0);
        access(&mut hierarchy, &mut ports[core], 0, purpose, when);
    }
    let [misses, .., invalidations] = counted(&hierarchy, &ports[0]);
    assert_eq!((misses, invalidations), (2, 1));
    assert_eq!(counted(&hierarchy, &ports[1])[3], 1);
}

/// Cores 0 and 2 read a line, which core 1 takes in cycle 50,000; what core 0 reads before finds it.
#[test]
fn a_core_reads_a_line_that_it_will_lose() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    for (core, time, purpose) in [
        (0, 1000, Purpose::Load),
        (2, 20_000, Purpose::Load),
        (1, 50_000, Purpose::Store),
        (0, 30_000, Purpose::Load),
    ] {
        let when = When::ahead(time, 0);
        access(&mut hierarchy, &mut ports[core], 0, purpose, when);
    }
    assert_eq!(counted(&hierarchy, &ports[0]), [1, 0, 0, 1]);
}

/// Core 1 has written a line that core 0 had, and eight others of its set since then, so that it has it no longer.
#[test]
fn a_line_that_nobody_holds_any_more_is_shared_with_nobody() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    let others = (1..=8).map(|way| (1, 4 * way, Purpose::Load));
    let last = (0, 0, Purpose::Load);
    let accesses = [(0, 0, Purpose::Load), (1, 0, Purpose::Store)];
    let all = accesses.into_iter().chain(others).chain([last]);
    for (step, (core, line, purpose)) in (1..).zip(all) {
        let when = When::at_once(step * 10_000);
        access(&mut hierarchy, &mut ports[core], line, purpose, when);
    }
    let counts = hierarchy.coherence(&ports[0]).expect("coherent caches");
    assert_eq!((counts.true_sharing, counts.false_sharing), (0, 0));
    assert_eq!(counted(&hierarchy, &ports[0]), [2, 0, 0, 1]);
}

/// What core 1 wrote and core 0 has lost is gone: both read what a device has brought.
#[test]
fn a_line_that_a_page_has_overwritten_is_shared_with_nobody() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    let steps = [
        (0, Purpose::Load),
        (1, Purpose::Store),
        (1, Purpose::Load),
        (0, Purpose::Load),
    ];
    for (step, (core, purpose)) in (1..).zip(steps) {
        if step == 3 {
            hierarchy.overwrite(&mut ports[0], 0, LINE);
        }
        let when = When::at_once(step * 10_000);
        access(&mut hierarchy, &mut ports[core], 0, purpose, when);
    }
    let counts = hierarchy.coherence(&ports[0]).expect("coherent caches");
    assert_eq!((counts.true_sharing, counts.false_sharing), (0, 0));
}

/// Core 1 comes for a line before core 0, in time, had it from core 2, and behind that in the program: it has it from core 2 as well.
#[test]
fn a_line_from_another_core_is_a_transfer_whoever_brought_it() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    for (core, time) in [(2, 1000), (0, 50_000), (1, 49_990)] {
        let when = When::ahead(time, 0);
        access(&mut hierarchy, &mut ports[core], 0, Purpose::Store, when);
    }
    let transfers = [0, 1, 2].map(|core| counted(&hierarchy, &ports[core])[1]);
    assert_eq!(transfers, [1, 1, 0]);
}

/// A line comes from memory for the first core that asks, and the others cannot have it before that does.
#[test]
fn a_line_on_its_way_to_one_core_is_on_its_way_to_all() {
    let mut spec = three_cores_spec(CoherenceProtocol::Moesi);
    // What cores hold is not in what all share.
    spec.caches[2].inclusion = Inclusion::Exclusive;
    for stores in [false, true] {
        let (mut hierarchy, mut ports) = Hierarchy::new(&spec, 3).expect("a memory");
        let mut there = [0; 3];
        for core in 0..3 {
            let purpose = if stores && core == 2 {
                Purpose::Store
            } else {
                Purpose::Load
            };
            let when = When::ahead(1000 + core as u64, 0);
            there[core] = access(&mut hierarchy, &mut ports[core], 0, purpose, when);
        }
        assert!(
            there[0] > 1000 + 2 * u64::from(TRANSFER),
            "from memory: {there:?}"
        );
        assert!(there[1] >= there[0] + u64::from(TRANSFER), "{there:?}");
        assert!(there[2] >= there[0] + u64::from(TRANSFER), "{there:?}");
    }
}

/// Who comes for it before all, in time, is the one for whom memory reads it.
#[test]
fn a_line_that_several_will_have_comes_from_where_the_first_of_them_has_it() {
    let mut spec = three_cores_spec(CoherenceProtocol::Moesi);
    spec.caches[2].inclusion = Inclusion::Exclusive;
    let (mut hierarchy, mut ports) = Hierarchy::new(&spec, 3).expect("a memory");
    let mut load = |core: usize, time| {
        let when = When::ahead(time, 0);
        access(&mut hierarchy, &mut ports[core], 0, Purpose::Load, when)
    };
    let from_memory = load(0, 1000) - 1000;
    load(1, 5000);
    assert_eq!(load(2, 900), 900 + from_memory);
}

/// A store to a line that others read, and that all share, has it from there, and waits for the others beside.
#[test]
fn a_store_that_misses_what_all_share_looks_it_up_there() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    for (core, purpose) in [(0, Purpose::Load), (1, Purpose::Load), (2, Purpose::Store)] {
        let when = When::ahead(1000 * (core as u64 + 1), 0);
        access(&mut hierarchy, &mut ports[core], 0, purpose, when);
    }
    let [first, .., last] = &ports[2].counts[..3] else {
        panic!("three levels")
    };
    assert_eq!((first.misses, last.hits, last.misses), (1, 1, 0));
    assert_eq!(counted(&hierarchy, &ports[2]), [1, 0, 0, 0]);
    assert_eq!(counted(&hierarchy, &ports[0])[3], 1);
    assert_eq!(counted(&hierarchy, &ports[1])[3], 1);
}

/// A line that one core wrote and another reads is written back by the one that wrote it.
#[test]
fn who_wrote_a_line_writes_it_back() {
    let (mut hierarchy, mut ports) = three_cores(CoherenceProtocol::Mesi);
    for (core, purpose) in [(0, Purpose::Store), (1, Purpose::Load)] {
        let when = When::ahead(1000 * (core as u64 + 1), 0);
        access(&mut hierarchy, &mut ports[core], 0, purpose, when);
    }
    let written = [0, 1].map(|core| {
        let counts = hierarchy.counts(&ports[core]);
        counts.map(|(one, _)| one.write_backs).collect::<Vec<_>>()
    });
    assert_eq!(written, [[0, 1, 0], [0, 0, 0]]);
}

proptest! {
    #[test]
    fn transfers_upgrades_and_invalidations_are_those_of_the_textbook(
        accesses in prop::collection::vec((0_usize..3, 0_u64..4, any::<bool>()), 1..200),
        is_moesi in any::<bool>(),
    ) {
        let protocol = if is_moesi { CoherenceProtocol::Moesi } else { CoherenceProtocol::Mesi };
        let (mut hierarchy, mut ports) = three_cores(protocol);
        let mut textbook = Textbook::default();
        // So far apart that each is done before the next, and more lines than a first cache holds only.
        for (step, (core, line, stores)) in (0_u64..).zip(accesses) {
            let purpose = if stores { Purpose::Store } else { Purpose::Load };
            access(&mut hierarchy, &mut ports[core], line, purpose, When::at_once(step * 10_000));
            if stores {
                textbook.store(core, line);
            } else {
                textbook.load(protocol, core, line);
            }
        }
        let counts = ports.iter().map(|port| hierarchy.coherence(port).expect("coherent caches"));
        let counts: Vec<_> = counts.collect();
        prop_assert_eq!(counts.iter().map(|one| one.transfers).sum::<u64>(), textbook.transfers);
        prop_assert_eq!(counts.iter().map(|one| one.upgrades).sum::<u64>(), textbook.upgrades);
        prop_assert_eq!(counts.iter().map(|one| one.invalidations).sum::<u64>(), textbook.invalidations);
    }
}
