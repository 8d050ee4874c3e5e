//! Memory handed out, read and written.

use super::*;
use crate::tracer::{Token, Tracer};
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
    assert!(arena.image().bytes.len() as u64 <= 5 * PAGE_BYTES);
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
