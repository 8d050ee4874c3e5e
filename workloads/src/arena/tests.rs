//! Memory handed out, read and written.

use super::*;
use crate::tracer::{Token, Tracer};
use proptest::prelude::*;
use traces::{Event, Kind};

fn reservation(name: &str, object_bytes: u64, objects: u64) -> Reservation {
    Reservation {
        name: name.into(),
        object_bytes,
        objects,
    }
}

#[test]
fn first_objects_fall_into_different_sets() {
    for object_bytes in [64, 128, 320, 512, 1024] {
        let reservations: Vec<_> = (0..4)
            .map(|level| reservation(&level.to_string(), object_bytes, 1000))
            .collect();
        let segments = place(&reservations);
        // 64 sets of 64-byte lines, as in a 16 KiB four-way cache.
        let mut sets: Vec<_> = segments
            .iter()
            .map(|segment| segment.base / 64 % 64)
            .collect();
        sets.sort_unstable();
        sets.dedup();
        assert_eq!(sets.len(), 4, "{object_bytes}-byte objects");
        assert!(segments.iter().all(|segment| segment.base % 64 == 0));
        assert!(
            segments
                .windows(2)
                .all(|pair| pair[0].base + pair[0].size_bytes < pair[1].base)
        );
    }
}

#[test]
fn a_clone_does_not_see_later_writes() {
    let mut arena = Arena::<Zero>::new(place(&[reservation("a", 64, 2)]));
    let address = arena.allocate(0, 64);
    arena.write(Place::new(0, address), 7_u32);
    let place = Place::<u32>::new(0, address);
    arena.freeze();
    let mut copy = arena.clone();
    copy.write(Place::new(0, address), 8_u32);
    assert_eq!((arena.read(place), copy.read(place)), (7, 8));
}

/// Lines, pages and sets of the host are those of the simulated addresses, in every copy.
#[test]
fn host_addresses_are_aligned_as_simulated_ones() {
    let mut arena = Arena::<Zero>::new(place(&[
        reservation("a", 64, 200),
        reservation("b", 512, 3),
    ]));
    let address = arena.allocate(1, 512);
    arena.write(Place::new(1, address), 0x0403_0201_u32);
    for _ in 0..2 {
        let origin = arena.origin();
        assert_eq!(origin.addr() % PAGE_BYTES as usize, 0);
        assert_eq!(
            (origin.addr() + address as usize) % 4096,
            address as usize % 4096
        );
        arena.freeze();
        arena = arena.clone();
        arena.thaw();
    }
    assert_eq!(arena.read(Place::<u32>::new(1, address)), 0x0403_0201);
}

/// An arena has memory for its own segments alone, wherever they are.
#[test]
fn far_memory_begins_with_the_first_segment() {
    let segment = |base| Segment {
        name: "far".into(),
        base,
        size_bytes: 8,
    };
    let far = [(1 << 40) + 72, (1 << 40) + 3 * PAGE_BYTES];
    let mut arena = Arena::<Far>::new(far.map(segment).to_vec());
    assert!(arena.image.size() as u64 <= 4 * PAGE_BYTES);
    let places = [0, 1].map(|segment| Place::<u64>::new(segment, arena.allocate(segment, 8)));
    assert_eq!(places.map(|place| place.address), far);
    arena.write(places[0], 5);
    arena.write(places[1], 6);
    assert_eq!(places.map(|place| arena.read(place)), [5, 6]);
    let word = Extent {
        segment: 0,
        address: far[0],
        bytes: 8,
    };
    let host = arena.bytes(word).as_ptr().addr() as u64;
    assert_eq!(host % PAGE_BYTES, far[0] % PAGE_BYTES);
}

#[test]
#[cfg(debug_assertions)]
fn segments_that_overlap_are_refused() {
    let segment = |base: u64| Segment {
        name: base.to_string(),
        base,
        size_bytes: 100,
    };
    for (second, refused) in [(199, true), (200, false), (50, true)] {
        let segments = vec![segment(100), segment(second)];
        let made = std::panic::catch_unwind(|| Arena::<Zero>::new(segments));
        assert_eq!(made.is_err(), refused, "{second}");
    }
}

#[test]
#[cfg(debug_assertions)]
fn words_that_were_not_handed_out_are_refused() {
    let mut arena = Arena::<Zero>::new(place(&[reservation("a", 64, 2)]));
    let address = arena.allocate(0, 64);
    for (offset, refused) in [(0, false), (60, false), (61, true), (64, true)] {
        let word = Place::<u32>::new(0, address + offset);
        let read = std::panic::catch_unwind(|| arena.read(word));
        assert_eq!(read.is_err(), refused, "{offset}");
    }
}

/// A prefetch names the line where the value lies, in the simulated address space and in the host's memory.
#[test]
fn prefetches_are_of_the_bytes_at_the_address() {
    struct Asked(Vec<(u64, *const u8)>);
    impl Trace for Asked {
        fn emit(&mut self, _event: Event, _dep: Dep) -> Token {
            Token::NONE
        }
        fn work(&mut self, _instructions: u32) {}
        fn failed(&self) -> bool {
            false
        }
        fn prefetch(&mut self, _: impl Into<u16>, address: u64, host: *const u8, _: Dep) {
            self.0.push((address, host));
        }
    }
    let base = (1 << 40) + 72;
    let far = Arena::<Far>::of(base, 400);
    let mut near = Arena::<Zero>::new(place(&[reservation("a", 64, 200)]));
    let first = near.allocate(0, 200 * 64);
    let mut asked = Asked(Vec::new());
    let extent = |address| Extent {
        segment: 0,
        address,
        bytes: 1,
    };
    for offset in [0, 5, 399] {
        far.prefetch(&mut asked, 0_u16, base + offset, Dep::NONE);
        near.prefetch(&mut asked, 0_u16, first + offset, Dep::NONE);
        let expected = [
            (base + offset, far.bytes(extent(base + offset)).as_ptr()),
            (first + offset, near.bytes(extent(first + offset)).as_ptr()),
        ];
        assert_eq!(asked.0.drain(..).collect::<Vec<_>>(), expected);
    }
}

/// What was stored is what is loaded, and both events name the place.
#[test]
fn a_place_is_where_the_value_lies() {
    let reserved = Reservation {
        name: "words".into(),
        object_bytes: 4,
        objects: 3,
    };
    let mut arena = Arena::<Far>::new(place(&[reserved]));
    let first = Place::<u32>::new(0, arena.allocate(0, 12));
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    for (index, value) in [7, 8, 9].into_iter().enumerate() {
        arena.store(&mut tracer, 1_u16, first.element(index), value, Dep::NONE);
    }
    let found = [2, 0, 1].map(|index| {
        let loaded = arena.load(&mut tracer, 2_u16, first.element(index), Dep::NONE);
        loaded.value
    });
    tracer.finish().unwrap();
    assert_eq!(found, [9, 7, 8]);
    let told = events
        .iter()
        .map(|event| (event.kind, event.address - first.address, event.size));
    let (store, load) = (Kind::Store, Kind::Load);
    assert!(told.eq([
        (store, 0, 4),
        (store, 4, 4),
        (store, 8, 4),
        (load, 8, 4),
        (load, 0, 4),
        (load, 4, 4)
    ]));
}

fn arena_of(bytes: u64) -> Arena<Far> {
    Arena::of(1 << 40, bytes)
}

fn word_at<W: Word>(offset: u64) -> Place<W> {
    Place::new(0, (1 << 40) + offset)
}

/// Also where no tests look at what was handed out: no access reaches beyond the memory, wherever its address is.
#[test]
fn addresses_outside_the_memory_are_refused() {
    let arena = arena_of(100);
    let refused = |access: &dyn Fn(&mut Image<Far>)| {
        let mut image = arena.image.clone();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| access(&mut image))).is_err()
    };
    let base = 1 << 40;
    for offset in [
        100_u64,
        101,
        1 << 20,
        1 << 50,
        0_u64.wrapping_sub(1),
        0_u64.wrapping_sub(base),
    ] {
        let address = base.wrapping_add(offset);
        assert!(refused(&|image| _ = image.word(address)), "{offset}");
        assert!(refused(&|image| _ = image.word_mut(address)), "{offset}");
        assert!(refused(&|image| _ = image.bytes(address, 1)), "{offset}");
        assert!(
            refused(&|image| _ = image.bytes_mut(address, 1)),
            "{offset}"
        );
        assert!(refused(&|image| image.copy(base, address, 1)), "{offset}");
        assert!(refused(&|image| image.copy(address, base, 1)), "{offset}");
    }
    for count in [100, 101, usize::MAX] {
        let beyond = count > 100;
        assert_eq!(refused(&|image| _ = image.bytes(base, count)), beyond);
        assert_eq!(refused(&|image| _ = image.bytes_mut(base, count)), beyond);
        assert_eq!(refused(&|image| image.copy(base, base, count)), beyond);
    }
}

/// The last word may be the memory's last byte alone; what it has of others is its own allocation's.
#[test]
fn a_word_at_the_end_leaves_others_alone() {
    let mut arenas = [arena_of(104), arena_of(104)];
    arenas[0].write(word_at::<u64>(96), u64::MAX);
    arenas[0].write(word_at::<u16>(94), 7);
    assert_eq!(arenas[0].read(word_at::<u64>(96)), u64::MAX);
    assert_eq!(arenas[0].read(word_at::<u16>(94)), 7);
    assert_eq!(arenas[1].read(word_at::<u64>(96)), 0);
    assert_eq!(
        arenas[0].image.word(word_at::<u16>(103).address)[1..],
        [0; 19]
    );
}

proptest! {
    /// Frozen, thawed, cloned and dropped in any order, an arena is like a list of bytes of its own.
    #[test]
    fn an_arena_is_a_list_of_bytes(
        steps in prop::collection::vec((0_usize..8, 0_usize..4, 0_u64..56, any::<u64>()), 1..60),
    ) {
        let mut arenas = vec![(arena_of(64), vec![0_u8; 64])];
        for (step, which, offset, value) in steps {
            let which = which % arenas.len();
            let (arena, bytes) = &mut arenas[which];
            let at = offset as usize;
            let extent = |offset: u64, bytes: usize| Extent { segment: 0, address: (1 << 40) + offset, bytes };
            match step {
                0 => arena.freeze(),
                1 => arena.thaw(),
                2 => {
                    arena.write(word_at(offset), value);
                    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
                3 => {
                    arena.write(word_at(offset), value as u16);
                    bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
                }
                4 => {
                    arena.bytes_mut(extent(offset, 8)).fill(value as u8);
                    bytes[at..at + 8].fill(value as u8);
                }
                5 => {
                    arena.copy(extent(offset, 8), extent(value % 57, 8));
                    bytes.copy_within(at..at + 8, (value % 57) as usize);
                }
                6 if arenas.len() < 4 => {
                    let copy = arenas[which].clone();
                    arenas.push(copy);
                }
                _ if arenas.len() > 1 => drop(arenas.swap_remove(which)),
                _ => {}
            }
            for (arena, bytes) in &arenas {
                prop_assert_eq!(arena.bytes(extent(0, 64)), &bytes[..]);
                let word: [u8; 8] = bytes[at..at + 8].try_into().unwrap();
                prop_assert_eq!(arena.read::<u64>(word_at(offset)), u64::from_le_bytes(word));
            }
        }
    }
}

/// Threads read what they share, and each writes what is its own.
#[test]
fn clones_go_to_other_threads() {
    let mut arena = arena_of(64);
    arena.write(word_at::<u64>(8), 5);
    arena.freeze();
    let shared = &arena;
    std::thread::scope(|scope| {
        for number in 0..4_u64 {
            scope.spawn(move || {
                let mut own = shared.clone();
                own.write(word_at::<u64>(16), number);
                assert_eq!(own.read(word_at::<u64>(8)), 5);
                assert_eq!(own.read(word_at::<u64>(16)), number);
            });
        }
    });
    assert_eq!(arena.read(word_at::<u64>(16)), 0);
}
