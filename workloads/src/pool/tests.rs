use super::*;
use crate::sorted::MoveSites;
use crate::tracer::{Tracer, Untraced};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use traces::{Event, Kind};

const PAGE_BYTES: u32 = 512;

/// A pool with frames for so many pages in two groups.
fn pool_of(pages: u32) -> Pool {
    let groups = [("even", 0), ("odd", 1)].map(|(name, odd)| Reservation {
        name: name.into(),
        object_bytes: PAGE_BYTES.into(),
        objects: u64::from((pages + 1 - odd) / 2),
    });
    Pool::new(PAGE_BYTES, &groups)
}

/// Makes pages of these numbers from 0, which go to the groups by turns.
fn make(pool: &mut Pool, numbers: Range<u32>) {
    for number in numbers {
        let page = pool.create(&mut Untraced, (number % 2) as usize);
        pool.poke(&page, 8, page.page * 10);
        pool.unfix(&mut Untraced, &page, true);
    }
}

fn built(pages: u32) -> Pool {
    let mut pool = pool_of(pages);
    make(&mut pool, 0..pages);
    pool.freeze();
    pool
}

/// Addresses of a segment of a pool.
fn extent_of(pool: &Pool, name: &str) -> Range<u64> {
    let segments = pool.segments();
    let segment = segments.iter().find(|segment| segment.name == name);
    let segment = segment.expect("pools have such segments");
    segment.base..segment.base + segment.size_bytes
}

/// What is done to a page: it is pinned for a while, changed, or asked for ahead.
const CHANGE: u8 = 1;
const ASK_AHEAD: u8 = 2;

/// CLOCK as a textbook has it.
struct Oracle {
    /// Page, pins, referenced, dirty, and whether it was asked for ahead and is not waited for yet.
    frames: Vec<(u32, u32, bool, bool, bool)>,
    room: usize,
    hand: usize,
    requests: Vec<(Kind, u64)>,
    brought: u64,
}

impl Oracle {
    /// Whether there is a frame that may be emptied, now and when one more is pinned or on its way.
    fn has_room(&self) -> bool {
        let stays = |frame: &&(u32, u32, bool, bool, bool)| frame.1 > 0 || frame.4;
        self.frames.iter().filter(stays).count() + 1 < self.room
    }

    fn fix(&mut self, page: u32) {
        if let Some(frame) = self.frames.iter_mut().find(|frame| frame.0 == page) {
            frame.1 += 1;
            frame.2 = true;
            if std::mem::take(&mut frame.4) {
                self.requests.push((Kind::PageRead, page.into()));
            }
            return;
        }
        self.bring((page, 1, true, false, false));
        self.requests.push((Kind::PageRead, page.into()));
    }

    fn prefetch(&mut self, page: u32) {
        if self.frames.iter().all(|frame| frame.0 != page) {
            self.bring((page, 0, true, false, true));
            self.requests.push((Kind::PagePrefetch, page.into()));
        }
    }

    fn bring(&mut self, mut new: (u32, u32, bool, bool, bool)) {
        self.brought += 1;
        if self.frames.len() < self.room {
            self.frames.push(new);
        } else {
            let victim = loop {
                let here = self.hand;
                self.hand = (here + 1) % self.room;
                let frame = &mut self.frames[here];
                // A page on its way stays.
                if frame.1 == 0 && !std::mem::take(&mut frame.2) && !frame.4 {
                    break here;
                }
            };
            std::mem::swap(&mut new, &mut self.frames[victim]);
            if new.3 {
                self.requests.push((Kind::PageWrite, new.0.into()));
            }
        }
    }

    fn unfix(&mut self, page: u32, dirty: bool) {
        let frame = self
            .frames
            .iter_mut()
            .find(|frame| frame.0 == page)
            .unwrap();
        frame.1 -= 1;
        frame.3 |= dirty;
    }
}

proptest! {
    /// The same pages are read and written, in the same order, every page has what was last written to it, and those that are read come
    /// into the frames in which they are found.
    #[test]
    fn a_pool_of_few_frames_is_clock(
        pages in 1..40_u32,
        frames in 4..12_u32,
        steps in prop::collection::vec((any::<u32>(), 0..3_u8, 0..4_usize), 1..300),
    ) {
        let mut pool = built(pages).limited(frames);
        let mut oracle = Oracle { frames: Vec::new(), room: frames as usize, hand: 0, requests: Vec::new(), brought: 0 };
        let mut contents: HashMap<u32, u32> = (1..=pages).map(|page| (page, page * 10)).collect();
        let mut held: Vec<Fixed> = Vec::new();
        let mut came_into: Vec<u64> = Vec::new();
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for (choice, what, keep) in steps {
            while held.len() > keep.min(frames as usize - 2) {
                let page = held.remove(0);
                oracle.unfix(page.page, false);
                pool.unfix(&mut tracer, &page, false);
            }
            let id = choice % pages + 1;
            if !oracle.has_room() {
                continue;
            }
            if what == ASK_AHEAD {
                pool.prefetch_page(&mut tracer, id, Dep::NONE);
                oracle.prefetch(id);
                continue;
            }
            let page = pool.fix(&mut tracer, id, Dep::NONE);
            let asked = oracle.requests.len();
            oracle.fix(id);
            if oracle.requests[asked..].iter().any(|one| one.0 == Kind::PageRead) {
                came_into.push(page.address);
            }
            prop_assert_eq!(pool.peek::<u32>(&page, 8), contents[&id]);
            if what == CHANGE {
                pool.poke(&page, 8, choice);
                contents.insert(id, choice);
                oracle.unfix(id, true);
                pool.unfix(&mut tracer, &page, true);
            } else {
                held.push(page);
            }
        }
        tracer.finish().unwrap();
        let requests: Vec<_> = events.iter()
            .filter(|event| matches!(event.kind, Kind::PageRead | Kind::PagePrefetch | Kind::PageWrite))
            .map(|event| (event.kind, event.address))
            .collect();
        prop_assert_eq!(pool.reads(), oracle.brought);
        prop_assert_eq!(pool.prefetches(), requests.iter().filter(|one| one.0 == Kind::PagePrefetch).count() as u64);
        prop_assert_eq!(pool.writes(), requests.iter().filter(|one| one.0 == Kind::PageWrite).count() as u64);
        prop_assert_eq!(requests, oracle.requests);
        let behind_reads = events.windows(2).filter(|pair| pair[0].kind == Kind::PageRead);
        let arrivals: Vec<Event> = behind_reads.map(|pair| pair[1]).collect();
        prop_assert!(arrivals.iter().all(|event| event.kind == Kind::PageArrival && u32::from(event.size) == PAGE_BYTES));
        prop_assert!(arrivals.iter().map(|event| event.address).eq(came_into));
    }
}

/// What a thread of the next test has: its hold on the pool, what it has said, and what it has pinned.
struct Holder {
    pool: Pool,
    events: Vec<Event>,
    held: Vec<Fixed>,
    /// By frame, what the thread has waited for.
    met: HashMap<u64, (u32, u16)>,
}

proptest! {
    /// Threads that share a pool have the requests of one CLOCK, with a number for each fill; and each waits for every fill that it comes to.
    #[test]
    fn a_pool_that_threads_share_is_one_clock(
        pages in 1..40_u32,
        frames in 12..24_u32,
        steps in prop::collection::vec((0..3_usize, any::<u32>(), any::<bool>(), 0..3_usize), 1..300),
        latching in prop::sample::select(vec![Latching::Pessimistic, Latching::Optimistic]),
    ) {
        let pool = built(pages).limited(frames).shared(latching, false, 100);
        let mut oracle = Oracle { frames: Vec::new(), room: frames as usize, hand: 0, requests: Vec::new(), brought: 0 };
        let mut fills: HashMap<u32, u16> = HashMap::new();
        let mut threads: Vec<Holder> = (0..3)
            .map(|_| Holder { pool: pool.clone(), events: Vec::new(), held: Vec::new(), met: HashMap::new() })
            .collect();
        for (number, choice, ahead, keep) in steps {
            let thread = &mut threads[number];
            let said = thread.events.len();
            let mut tracer = Tracer::new(&mut thread.events);
            while thread.held.len() > keep {
                let page = thread.held.remove(0);
                oracle.unfix(page.page, false);
                thread.pool.unfix(&mut tracer, &page, false);
            }
            let id = choice % pages + 1;
            if !oracle.has_room() {
                tracer.finish().unwrap();
                continue;
            }
            let (asked, brought) = (oracle.requests.len(), oracle.brought);
            if ahead {
                thread.pool.prefetch_page(&mut tracer, id, Dep::NONE);
                oracle.prefetch(id);
            } else {
                let page = thread.pool.fix(&mut tracer, id, Dep::NONE);
                prop_assert_eq!(thread.pool.peek::<u32>(&page, 8), id * 10);
                thread.held.push(page);
                oracle.fix(id);
            }
            tracer.finish().unwrap();
            if oracle.brought > brought {
                *fills.entry(id).or_default() += 1;
            }
            let now = (id, fills[&id]);
            let requested: Vec<_> = thread.events[said..].iter()
                .filter(|event| matches!(event.kind, Kind::PageRead | Kind::PagePrefetch | Kind::PageWait))
                .map(|event| (event.kind, event.address, event.fill()))
                .collect();
            let mut expected: Vec<_> = oracle.requests[asked..].iter()
                .map(|&(kind, page)| (kind, page, now.1))
                .collect();
            if !ahead {
                let frame = thread.held.last().expect("it was pinned").address;
                let unmet = thread.met.insert(frame, now) != Some(now);
                if expected.is_empty() && unmet {
                    expected.push((Kind::PageWait, id.into(), now.1));
                }
            }
            prop_assert_eq!(requested, expected);
        }
        let read: u64 = threads.iter().map(|thread| thread.pool.reads()).sum();
        prop_assert_eq!(read, oracle.brought);
    }
}

#[test]
fn pages_that_are_made_outlive_their_frames() {
    let mut pool = built(3).limited(4);
    for number in 0..20_u32 {
        let page = pool.create(&mut Untraced, 0);
        assert_eq!(pool.peek::<u32>(&page, 8), 0);
        pool.poke(&page, 8, number);
        pool.unfix(&mut Untraced, &page, true);
    }
    for number in (0..20_u32).rev() {
        let page = pool.fix(&mut Untraced, number + 4, Dep::NONE);
        assert_eq!(pool.peek::<u32>(&page, 8), number);
        pool.unfix(&mut Untraced, &page, false);
    }
}

#[test]
fn a_pool_with_a_frame_for_every_page_reads_none() {
    let mut pool = built(9);
    for id in 1..=9 {
        let page = pool.fix(&mut Untraced, id, Dep::NONE);
        assert_eq!(pool.peek::<u32>(&page, 8), id * 10);
        assert_eq!(page.home.segment, (id as usize - 1) % 2);
    }
    assert_eq!((pool.reads(), pool.writes(), pool.pages()), (0, 0, 9));
}

#[test]
fn a_page_on_its_way_stays_unless_all_are() {
    let mut pool = built(9).limited(4);
    pool.prefetch_page(&mut Untraced, 1, Dep::NONE);
    for id in [2, 3, 4, 5, 6, 7, 2, 3, 4] {
        let page = pool.fix(&mut Untraced, id, Dep::NONE);
        pool.unfix(&mut Untraced, &page, false);
    }
    let read = pool.reads();
    pool.fix(&mut Untraced, 1, Dep::NONE);
    assert_eq!(pool.reads(), read, "it was not emptied for others");
    // More than there are frames for.
    for id in 2..=9 {
        pool.prefetch_page(&mut Untraced, id, Dep::NONE);
    }
    assert_eq!(pool.fix(&mut Untraced, 9, Dep::NONE).page, 9);
}

#[test]
#[should_panic(expected = "every frame of the buffer pool is pinned")]
fn a_pool_full_of_pins_has_no_victim() {
    let mut pool = built(9).limited(4);
    for id in 1..=5 {
        pool.fix(&mut Untraced, id, Dep::NONE);
    }
}

/// Plain instructions and others of what is done to the first of two pages.
fn instructions(program: Program, act: impl Fn(&mut Pool, &mut Tracer<'_>, &Fixed)) -> u64 {
    let mut pool = built(2);
    pool.set_program(program);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let page = pool.fix(&mut tracer, 1, Dep::NONE);
    act(&mut pool, &mut tracer, &page);
    pool.unfix(&mut tracer, &page, false);
    tracer.finish().unwrap();
    let all = events.iter();
    all.map(|event| u64::from(event.instructions) + event.own_instructions())
        .sum()
}

#[test]
fn calls_take_what_the_program_says() {
    const SITES: MoveSites<u16> = MoveSites {
        load: 1,
        store: 2,
        again: 3,
    };
    let dearer = |upward_moves, (from, to): (u32, u32)| {
        let plain = Program {
            upward_moves,
            ..Program::default()
        };
        let calls = Program {
            buffer_call: plain.buffer_call + 100,
            copy_call: plain.copy_call + 7,
            ..plain
        };
        let act = |pool: &mut Pool, tracer: &mut Tracer<'_>, page: &Fixed| {
            if from != to {
                pool.move_bytes(tracer, SITES, (page, from), (page, to), 64);
            }
        };
        instructions(calls, act) - instructions(plain, act)
    };
    // A page is pinned and unpinned.
    assert_eq!(dearer(UpwardMoves::Bytes, (0, 0)), 200);
    assert_eq!(dearer(UpwardMoves::Bytes, (10, 8)), 207);
    // What moves upwards byte by byte calls nobody; by way of a buffer it is copied twice.
    assert_eq!(dearer(UpwardMoves::Bytes, (8, 10)), 200);
    assert_eq!(dearer(UpwardMoves::ThroughBuffer, (8, 10)), 214);
}

proptest! {
    /// No line of a frame competes with page table and descriptors for a cache set, pages keep what they hold, and there is room for all that
    /// are to come.
    #[test]
    fn frames_keep_off_the_sets_of_control_structures(room in 1..300_u32, made in 1..300_u32, way in 12..16_u32) {
        let way_bytes = 1 << way;
        let mut pool = pool_of(room);
        make(&mut pool, 0..made.min(room));
        let mut colored = pool.clone().colored(way_bytes);
        let control: u64 = ["page table", "frame descriptors"].map(|name| extent_of(&pool, name)).iter().map(|range| range.end - range.start).sum();
        prop_assert_eq!(colored.is_some(), control <= u64::from(way_bytes) / 2);
        if let Some(colored) = &mut colored {
            make(colored, made.min(room)..room);
            let way = u64::from(way_bytes);
            let sets = |range: Range<u64>| range.step_by(16).map(move |address| address % way / 16);
            let kept_off: HashSet<u64> = ["page table", "frame descriptors"].into_iter().flat_map(|name| sets(extent_of(colored, name))).collect();
            let mut frames = Vec::new();
            for page in 1..=room {
                let fixed = colored.fix(&mut Untraced, page, Dep::NONE);
                let peeked: u32 = colored.peek(&fixed, 8);
                prop_assert_eq!(peeked, page * 10);
                let frame = fixed.address..fixed.address + u64::from(PAGE_BYTES);
                prop_assert!(sets(frame.clone()).all(|set| !kept_off.contains(&set)), "page {page} at {frame:x?}");
                frames.push(frame.start);
                colored.unfix(&mut Untraced, &fixed, false);
            }
            frames.sort_unstable();
            prop_assert!(frames.windows(2).all(|pair| pair[0] + u64::from(PAGE_BYTES) <= pair[1]));
            // Else the test above says nothing: where frames lie anywhere some compete, if they take more than a way.
            if u64::from(room * PAGE_BYTES) >= 2 * way {
                let anywhere: HashSet<u64> = sets(extent_of(&pool, "even")).chain(sets(extent_of(&pool, "odd"))).collect();
                prop_assert!(anywhere.len() as u64 == way / 16);
            }
        }
    }
}
