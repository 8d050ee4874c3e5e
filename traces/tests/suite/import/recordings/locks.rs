//! Locks, for which latches stand.

use super::*;
use proptest::prelude::*;

/// The same without accesses, of a program whose second thread does nothing.
fn latches_of(thread: &[u8]) -> (Vec<(Kind, u64)>, Vec<String>) {
    let (mut threads, report) = threads_of(&[thread.to_vec(), begun()]);
    threads[0].retain(|(kind, _)| !kind.is_access());
    (threads.swap_remove(0), report.warnings)
}

#[test]
fn a_thread_holds_many_locks_and_not_any_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = begun();
    for lock in 0..1024 {
        add_taken(&mut bytes, LATCH, A + 64 * lock);
    }
    let other = file(&folder, "other", &ended(begun(), 0));
    let thread = file(&folder, "all", &ended(bytes.clone(), 0));
    import_threads(&[&thread, &other]).unwrap();
    add_taken(&mut bytes, LATCH, A - 64);
    let thread = file(&folder, "more", &ended(bytes, 0));
    let refused = import_threads(&[&thread, &other]).unwrap_err().to_string();
    assert!(
        refused.contains("takes the lock at 0x10fc0 and holds 1024 others"),
        "{refused}"
    );
}

#[test]
fn locks_are_latches_between_threads() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x500, A - 8);
    add_taken(&mut bytes, LATCH, A);
    add_load(&mut bytes, 0x5000, 0);
    add_released(&mut bytes, A);
    add_taken(&mut bytes, SHARE_LATCH, B);
    add_released(&mut bytes, B);
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "t", &ended(bytes.clone(), 0));
    let other = file(&folder, "t.1", &ended(begun(), 0));
    let (events, report) = import_threads(&[&path, &other]).unwrap();
    let told: Vec<_> = events[0]
        .iter()
        .map(|event| (event.kind, event.address))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::Load, 0x500),
            (Kind::Latch, A),
            (Kind::Exchange, A),
            (Kind::Load, 0x5000),
            (Kind::Exchange, A),
            (Kind::Unlatch, A),
            (Kind::ShareLatch, B),
            (Kind::Exchange, B),
            (Kind::Exchange, B),
            (Kind::Unlatch, B),
        ]
    );
    assert_eq!(
        deps(&events[0][..5]),
        [0, 1, 2, 0, 4],
        "the lock's place is known when the pointer to it is"
    );
    let sites = |event: &Event| report.layout.sites[usize::from(event.site)].clone();
    assert_eq!(sites(&events[0][1]), "0x401", "who waits is known");
    assert_eq!(report.tally.accesses, 6);
    // Nobody waits for a program of one thread.
    let (alone, _) = imported(&ended(bytes, 0));
    assert_eq!(alone.len(), 6);
    assert!(alone.iter().all(|event| event.kind.is_access()));
}

#[test]
fn a_lock_that_its_holder_takes_again_is_one_latch() {
    let mut bytes = begun();
    add_taken(&mut bytes, LATCH, A);
    add_taken(&mut bytes, LATCH, A);
    add_released(&mut bytes, A);
    add_load(&mut bytes, 0x5000, 0);
    add_released(&mut bytes, A);
    let (threads, _) = threads_of(&[bytes, begun()]);
    let kinds: Vec<_> = threads[0].iter().map(|&(kind, _)| kind).collect();
    let exchange = Kind::Exchange;
    assert_eq!(
        kinds,
        [
            Kind::Latch,
            exchange,
            exchange,
            exchange,
            Kind::Load,
            exchange,
            Kind::Unlatch
        ]
    );
}

#[test]
fn a_lock_that_was_never_taken_is_not_released() {
    let mut bytes = begun();
    add_released(&mut bytes, A);
    assert_eq!(latches_of(&bytes), (vec![], vec![]));
}

#[test]
fn a_lock_that_is_never_released_is_at_the_end() {
    let mut bytes = begun();
    add_taken(&mut bytes, LATCH, A);
    let (told, warnings) = latches_of(&bytes);
    assert_eq!(told, [(Kind::Latch, A), (Kind::Unlatch, A)]);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.starts_with("a thread holds 1 locks when its recording ends, that at 0x11000"),
        "{warning}"
    );
}

/// What is left out takes no latch; what is held when that is over does.
#[test]
fn latches_are_held_where_the_program_is_recorded() {
    let mut bytes = begun();
    add_message(&mut bytes, "on");
    add_taken(&mut bytes, LATCH, A);
    add_message(&mut bytes, "off");
    add_released(&mut bytes, A);
    add_taken(&mut bytes, LATCH, B);
    add_message(&mut bytes, "on");
    add_released(&mut bytes, B);
    add_message(&mut bytes, "off");
    add_taken(&mut bytes, LATCH, A);
    add_released(&mut bytes, A);
    let all = [
        (Kind::Latch, A),
        (Kind::Unlatch, A),
        (Kind::Latch, B),
        (Kind::Unlatch, B),
    ];
    assert_eq!(latches_of(&bytes), (all.to_vec(), vec![]));

    let mut late = begun();
    add_taken(&mut late, SHARE_LATCH, A);
    add_load(&mut late, 0x5000, 0);
    add_message(&mut late, "on");
    add_released(&mut late, A);
    let all = [(Kind::ShareLatch, A), (Kind::Unlatch, A)];
    assert_eq!(latches_of(&late), (all.to_vec(), vec![]));
}

/// Others may want it before they come to theirs.
#[test]
fn at_a_barrier_nothing_is_held() {
    let mut bytes = begun();
    add_taken(&mut bytes, SHARE_LATCH, A);
    add_message(&mut bytes, "barrier");
    add_released(&mut bytes, A);
    let mut other = begun();
    add_message(&mut other, "barrier");
    let (threads, _) = threads_of(&[bytes, other]);
    let (share, exchange) = ((Kind::ShareLatch, A), (Kind::Exchange, A));
    let unlatch = (Kind::Unlatch, A);
    let barrier = (Kind::Barrier, 0);
    assert_eq!(
        threads[0],
        [share, exchange, unlatch, barrier, share, exchange, unlatch]
    );
}

/// In two orders they would wait for each other for ever, if both had the first at the same time.
#[test]
fn of_locks_in_two_orders_one_is_given_up() {
    let nested = |outer, inner| {
        let mut bytes = begun();
        add_taken(&mut bytes, SHARE_LATCH, outer);
        add_taken(&mut bytes, LATCH, inner);
        add_released(&mut bytes, inner);
        add_released(&mut bytes, outer);
        bytes
    };
    let latches = |threads: &[Vec<(Kind, u64)>], thread: usize| {
        let all = threads[thread].iter().copied();
        all.filter(|(kind, _)| kind.is_of_latch())
            .collect::<Vec<_>>()
    };
    let plain = |outer, inner| {
        [
            (Kind::ShareLatch, outer),
            (Kind::Latch, inner),
            (Kind::Unlatch, inner),
            (Kind::Unlatch, outer),
        ]
    };
    let (threads, report) = threads_of(&[nested(A, B), nested(B, A)]);
    assert_eq!(latches(&threads, 0), plain(A, B));
    assert_eq!(
        latches(&threads, 1),
        [
            (Kind::ShareLatch, B),
            (Kind::Unlatch, B),
            (Kind::Latch, A),
            (Kind::ShareLatch, B),
            (Kind::Unlatch, A),
            (Kind::Unlatch, B),
        ]
    );
    let [warning] = &report.warnings[..] else {
        panic!("{:?}", report.warnings);
    };
    assert!(
        warning.starts_with("2 locks are taken in several orders, that at 0x11000 among them"),
        "{warning}"
    );
    // What is left out is no reason.
    let mut left_out = nested(A, B);
    add_message(&mut left_out, "on");
    let (threads, report) = threads_of(&[left_out, nested(B, A)]);
    assert_eq!(latches(&threads, 1), plain(B, A));
    assert_eq!(report.warnings, [""; 0]);
}

/// What a thread of a random program does.
#[derive(Clone, Debug)]
enum Deed {
    Take(u64, u64),
    Release(u64),
    Say(&'static str),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let lock = || (1_u64..5).prop_map(|number| number << 12);
    let deed = prop_oneof![
        4 => (prop::sample::select(&[LATCH, SHARE_LATCH][..]), lock())
            .prop_map(|(kind, lock)| Deed::Take(kind, lock)),
        3 => lock().prop_map(Deed::Release),
        1 => prop::sample::select(&["on", "off", "barrier"][..]).prop_map(Deed::Say),
    ];
    prop::collection::vec(deed, 0..25)
}

/// How often a thread that is switched on at its end has said that it waits for all, in what is not left out.
fn barriers(deeds: &[Deed]) -> usize {
    let (mut count, mut is_off, mut is_switched) = (0, false, false);
    for what in deeds.iter().chain(&[Deed::Say("on")]) {
        match *what {
            Deed::Say("barrier") => count += usize::from(!is_off),
            Deed::Say(what) => {
                if what == "on" && !is_switched {
                    count = 0;
                }
                (is_off, is_switched) = (what == "off", true);
            }
            _ => {}
        }
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_thread_waits_for_ever(
        program in prop::collection::vec(deeds(), 2..5),
        choices in prop::collection::vec(0_usize..12, 1..50),
    ) {
        let record = |deeds: &Vec<Deed>| {
            let mut bytes = begun();
            for deed in deeds {
                match *deed {
                    Deed::Take(kind, lock) => add_taken(&mut bytes, kind, lock),
                    Deed::Release(lock) => add_released(&mut bytes, lock),
                    Deed::Say(what) => add_message(&mut bytes, what),
                }
            }
            add_message(&mut bytes, "on");
            // All say equally often that they wait there.
            (barriers(deeds)..program.iter().map(|deeds| barriers(deeds)).max().unwrap_or(0)).for_each(|_| add_message(&mut bytes, "barrier"));
            // A trace has an access.
            add_load(&mut bytes, 0x5000, 0);
            bytes
        };
        let (threads, _) = threads_of(&program.iter().map(record).collect::<Vec<_>>());
        prop_assert!(all_end(&threads, &choices), "{threads:?}");
    }
}
