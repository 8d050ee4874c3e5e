//! An access that is called quiet changes nothing that other cores could notice.

use super::*;
use crate::spec::PrefetcherSpec;

/// Two levels of each core's own before one that all share, with nothing in them that goes further by itself.
fn plain() -> MachineSpec {
    let mut spec = machine([Inclusion::NonInclusive; 2]);
    for cache in &mut spec.caches {
        cache.prefetchers.clear();
    }
    // What one level gives up has another neighbourhood in the next, which often has no room for it.
    for (cache, sets) in spec.caches[1..].iter_mut().zip([8, 16]) {
        (cache.ways, cache.size_bytes) = (1, sets * LINE);
    }
    spec.caches[2].shared = true;
    spec
}

/// What cores have in common: levels that they share, and memory.
fn noticed(hierarchy: &Hierarchy, ports: &[Port]) -> String {
    let common = &hierarchy.levels[ports.len() * ports[0].own..];
    format!("{common:?} {:?}", hierarchy.memory)
}

/// Makes random accesses, holds the quiet ones to their promise, and gives how many there were of lines that the first level had, and
/// that it lacked.
fn quiet_accesses(name: &str, spec: &MachineSpec) -> (u64, u64) {
    spec.validate().expect("a machine that can exist");
    let (mut hierarchy, mut ports) = Hierarchy::new(spec, 2).expect("a memory");
    let mut generator = SplitMix64::seed_from_u64(3);
    let (mut there, mut moved) = (0, 0);
    for step in 0..3000 {
        let random = generator.next_u64();
        let core = (random >> 40) as usize % 2;
        // Few enough lines for both levels, and now and then two of them.
        let address = (random >> 8) % 20 * LINE + LINE / 2;
        let bytes = (address, if random >> 48 & 7 == 0 { LINE } else { 1 });
        let purpose =
            [Purpose::Load, Purpose::Store, Purpose::Prefetch][(random >> 56) as usize % 3];
        let is_quiet = hierarchy.hits_quietly(&ports[core], bytes.0, bytes.1);
        let is_there = held(&hierarchy, &ports[core], 0).contains(&(address / LINE));
        let before = is_quiet.then(|| noticed(&hierarchy, &ports));
        // All before it has come.
        let when = When::at_once(1000 * (step + 1));
        let port = &mut ports[core];
        if let Err(look) = hierarchy.access_at_once(port, bytes, when, purpose) {
            hierarchy.access_on::<Cycles>(port, look, bytes, when, (purpose, 0));
        }
        if let Some(before) = before {
            let after = noticed(&hierarchy, &ports);
            assert_eq!(
                before, after,
                "{name}: step {step}, {purpose:?} of {bytes:?}"
            );
            there += u64::from(is_there);
            moved += u64::from(!is_there);
        }
    }
    (there, moved)
}

type Edit = fn(&mut MachineSpec);

#[test]
fn others_notice_nothing_of_a_quiet_access() {
    let (there, moved) = quiet_accesses("plain", &plain());
    assert!(there > 300 && moved > 50, "{there} and {moved}");
}

#[test]
fn what_would_be_noticed_is_not_quiet() {
    let edits: [(&str, Edit); 8] = [
        ("a second level that is shared", |spec| {
            spec.caches[1].shared = true
        }),
        ("an exclusive second level", |spec| {
            spec.caches[1].inclusion = Inclusion::Exclusive
        }),
        ("an inclusive second level", |spec| {
            spec.caches[1].inclusion = Inclusion::Inclusive
        }),
        ("an exclusive third level", |spec| {
            spec.caches[2].inclusion = Inclusion::Exclusive
        }),
        ("a first level that writes through", |spec| {
            spec.caches[0].write_policy = WritePolicy::WriteThrough;
        }),
        ("a second level that writes through", |spec| {
            spec.caches[1].write_policy = WritePolicy::WriteThrough;
        }),
        ("a first level that displaces any line", |spec| {
            spec.caches[0].replacement = Replacement::Random;
        }),
        ("a first level that stores pass", |spec| {
            spec.caches[0].write_allocate = false
        }),
    ];
    for (name, edit) in edits {
        let mut spec = plain();
        edit(&mut spec);
        quiet_accesses(name, &spec);
    }
    let mut spec = plain();
    spec.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 2 }];
    assert_eq!(quiet_accesses("prefetches", &spec), (0, 0));
}

/// A line moves past two levels, and what it displaces may displace something further on.
#[test]
fn memory_notices_nothing_where_all_levels_are_a_core_s_own() {
    for ways in [1, 2] {
        let mut spec = plain();
        spec.caches[2].shared = false;
        spec.caches[1].ways = ways;
        let (there, moved) = quiet_accesses("all levels", &spec);
        assert!(there > 300 && moved > 50, "{there} and {moved}");
    }
}

/// Lines that grow from level to level.
#[test]
fn lines_of_several_lengths_are_told_apart() {
    let mut spec = plain();
    spec.caches[1].line_bytes = 2 * LINE;
    spec.caches[2].line_bytes = 4 * LINE;
    let (there, moved) = quiet_accesses("long lines", &spec);
    assert!(there > 50 && moved > 10, "{there} and {moved}");
}
