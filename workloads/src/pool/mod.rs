//! A buffer pool: frames, a hash table from pageIDs to frames, pins, and replacement by CLOCK.
//!
//! It is part of the simulated program. [`Pool::fix`] looks a page up with traced loads, as a buffer manager does, and what it returns
//! waits for the address that the frame's descriptor holds. A pool is made with a frame for every page, grouped by what the pages are
//! for, so that each group has a segment of its own; [`Pool::limited`] makes one of few frames, all of one segment, which asks storage
//! for pages and gives changed ones back. Pages that are in no frame are kept beside the frames.

mod access;
mod clock;
pub(crate) mod limits;
mod moves;
mod pages;
mod program;
mod sites;
mod store;
#[cfg(test)]
mod tests;

pub use moves::UpwardMoves;
pub use program::Program;
pub use sites::Site;

use crate::arena::{Arena, Far, Reservation, place};
use crate::place::Place;
use crate::tracer::{Dep, Trace};
use store::Store;
use traces::Segment;

// Plain instructions, counted on the MIPS-like code that the step compiles to.

/// Address of a pageID's place in the page table: mask, shift, add.
const HASH: u32 = 3;
/// Address of a descriptor from its number: shift, add.
const DESCRIPTOR: u32 = 2;
/// Comparing or changing a number in a register.
const STEP: u32 = 1;

/// Bytes of a descriptor, of which four share a line of 64 bytes; its fields follow. The frame is told in units.
const DESCRIPTOR_BYTES: u64 = 16;
const PAGE: u64 = 0;
const NEXT: u64 = 4;
const FRAME: u64 = 8;
const PINS: u64 = 12;
const STATE: u64 = 14;
/// Bytes of the unit that frames are aligned to.
const FRAME_UNIT: u64 = 512;
/// Bits of a descriptor's state. The page was referenced, or changed.
const REFERENCED: u16 = 1;
const DIRTY: u16 = 2;
/// The page was asked for ahead, and nobody has waited for it yet.
const COMING: u16 = 4;

/// Segments of the control structures, among themselves.
const TABLE: usize = 0;
const DESCRIPTORS: usize = 1;
const BUFFER: usize = 2;
/// Segments there are besides the frames'.
const CONTROL_SEGMENTS: usize = 3;

/// A page in its frame, pinned.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// PageID.
    pub page: u32,
    descriptor: u32,
    segment: usize,
    /// Address of the frame.
    pub(crate) address: u64,
    /// What the address waits for.
    pub(crate) dep: Dep,
}

/// Where a page lies that has a frame of its own.
#[derive(Clone, Copy, Debug)]
struct Home {
    segment: usize,
    address: u64,
}

/// A buffer pool and the pages of one file, whose pageIDs count from 1.
#[derive(Clone, Debug)]
pub struct Pool {
    page_bytes: u32,
    memory: Arena,
    control: Arena<Far>,
    /// Descriptors, which are numbered from 1, and those in use.
    frames: u32,
    used: u32,
    /// Places of the page table, a power of two.
    places: u32,
    /// Next descriptor that CLOCK looks at.
    hand: u32,
    /// By pageID; pageID 0 is none.
    homes: Vec<Home>,
    /// Pages in no frame; `None` if every page has one.
    store: Option<Store>,
    program: Program,
    reads: u64,
    prefetches: u64,
    writes: u64,
}

/// What the control structures of so many frames take.
fn control_reservations(frames: u32, page_bytes: u32) -> [Reservation; CONTROL_SEGMENTS] {
    [
        Reservation {
            name: "page table".into(),
            object_bytes: 4,
            objects: u64::from(frames.next_power_of_two()),
        },
        Reservation {
            name: "frame descriptors".into(),
            object_bytes: DESCRIPTOR_BYTES,
            objects: u64::from(frames) + 1,
        },
        Reservation {
            name: "page buffer".into(),
            object_bytes: page_bytes.into(),
            objects: 1,
        },
    ]
}

/// Segments of frames and control structures, one behind the other.
fn segments(page_bytes: u32, groups: &[Reservation]) -> Vec<Segment> {
    let frames: u64 = groups.iter().map(|group| group.objects).sum();
    let mut all = groups.to_vec();
    all.extend(control_reservations(
        u32::try_from(frames).expect("pageIDs have four bytes"),
        page_bytes,
    ));
    place(&all)
}

impl Pool {
    /// A pool with a frame for every page that there may be, by group of pages.
    #[must_use]
    pub fn new(page_bytes: u32, groups: &[Reservation]) -> Self {
        let mut frames = segments(page_bytes, groups);
        let control = frames.split_off(groups.len());
        Self {
            frames: groups.iter().map(|group| group.objects as u32).sum(),
            homes: vec![Home {
                segment: 0,
                address: 0,
            }],
            ..Self::of(page_bytes, frames, control, 0)
        }
    }

    fn of(page_bytes: u32, frames: Vec<Segment>, control: Vec<Segment>, count: u32) -> Self {
        let places = (control[TABLE].size_bytes / 4) as u32;
        let mut control = Arena::new(control);
        for segment in 0..CONTROL_SEGMENTS {
            let bytes = control.segments()[segment].size_bytes as usize;
            control.allocate(segment, bytes);
        }
        Self {
            page_bytes,
            memory: Arena::new(frames),
            control,
            frames: count,
            used: 0,
            places,
            hand: 1,
            homes: Vec::new(),
            store: None,
            program: Program::default(),
            reads: 0,
            prefetches: 0,
            writes: 0,
        }
    }

    /// A pool of so many frames, all empty, for the pages of this one, which has a frame for each.
    #[must_use]
    pub fn limited(&self, frames: u32) -> Self {
        let group = Reservation {
            name: "frames".into(),
            object_bytes: self.page_bytes.into(),
            objects: frames.into(),
        };
        let mut segments = segments(self.page_bytes, std::slice::from_ref(&group));
        let control = segments.split_off(1);
        let mut pool = Self::of(self.page_bytes, segments, control, frames);
        pool.memory
            .allocate(0, frames as usize * self.page_bytes as usize);
        pool.homes.clone_from(&self.homes);
        pool.store = Some(Store::new(self.memory.clone()));
        pool
    }

    /// Segments of frames and control structures.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        [self.memory.segments(), self.control.segments()].concat()
    }

    /// Makes clones cheap.
    pub fn freeze(&mut self) {
        self.memory.freeze();
        self.control.freeze();
    }

    /// Gives the pool memory of its own, all of it touched, and returns where simulated address 0 is in it.
    pub fn settle(&mut self) -> *const u8 {
        self.memory.thaw();
        self.control.thaw();
        self.memory.origin()
    }

    /// Pages that storage was asked for: they were in no frame.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Those of them that were asked for ahead.
    #[must_use]
    pub fn prefetches(&self) -> u64 {
        self.prefetches
    }

    /// Changed pages that went back to storage.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Says what the program around the pages was made into.
    pub fn set_program(&mut self, program: Program) {
        self.program = program;
    }

    /// What the program around the pages was made into.
    #[inline]
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Address of a buffer of one page, for what is being reorganized or moved.
    #[must_use]
    pub(crate) fn buffer(&self) -> u64 {
        self.control.segments()[BUFFER].base
    }

    /// Pages that the file may come to have, in a pool with a frame for each.
    #[must_use]
    pub(crate) fn most_pages(&self) -> u32 {
        self.frames
    }

    /// Pages of the file.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.homes.len() as u64 - 1
    }

    /// Pins a page, which comes into a frame if it is in none. `dep` is what the pageID waits for.
    #[inline]
    pub fn fix<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) -> Fixed {
        trace.work(self.program.buffer_call);
        match self.look_up(trace, page, dep) {
            Some((number, waits)) => self.pin(trace, page, number, waits),
            None => self.miss(trace, page),
        }
    }

    /// Has storage bring a page into a frame meanwhile, unless it is in one. Whoever pins it first waits for it.
    pub fn prefetch_page<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) {
        trace.work(self.program.buffer_call);
        if self.look_up(trace, page, dep).is_none() {
            self.ask_ahead(trace, page);
        }
    }

    /// The descriptor of the frame that a page is in, and what its address waits for.
    #[inline]
    fn look_up<T: Trace>(&self, trace: &mut T, page: u32, dep: Dep) -> Option<(u32, Dep)> {
        trace.work(HASH);
        let head = self.head(page);
        let mut entry = self
            .control
            .load(trace, Site::TableEntry, head, dep.later(HASH as u8));
        loop {
            trace.branch(Site::ChainEnd, entry.value == 0, entry.token.after(1));
            if entry.value == 0 {
                return None;
            }
            trace.work(DESCRIPTOR + STEP);
            let waits = entry.token.after(DESCRIPTOR as u8);
            let held: Place<u32> = self.field(entry.value, PAGE);
            let held = self.control.load(trace, Site::DescriptorPage, held, waits);
            trace.branch(Site::PageFound, held.value == page, held.token.after(1));
            if held.value == page {
                return Some((entry.value, waits));
            }
            let next: Place<u32> = self.field(entry.value, NEXT);
            entry = self.control.load(trace, Site::DescriptorNext, next, waits);
        }
    }

    /// Counts a pin and notes the reference; the frame's address is what the caller waits for.
    #[inline]
    fn pin<T: Trace>(&mut self, trace: &mut T, page: u32, number: u32, waits: Dep) -> Fixed {
        let pins: Place<u16> = self.field(number, PINS);
        let count = self.control.load(trace, Site::PinCount, pins, waits);
        trace.work(STEP);
        let pinned = count.value + 1;
        let dep = count.token.after(1);
        self.control.store(trace, Site::PinStore, pins, pinned, dep);
        self.refer(trace, page, number, waits);
        let frame: Place<u32> = self.field(number, FRAME);
        let frame = self.control.load(trace, Site::FrameAddress, frame, waits);
        trace.work(STEP);
        Fixed {
            page,
            descriptor: number,
            segment: self.segment_of(page),
            address: u64::from(frame.value) * FRAME_UNIT,
            dep: frame.token.after(1),
        }
    }

    /// Notes a reference, and waits for a page that is still coming.
    #[inline]
    fn refer<T: Trace>(&mut self, trace: &mut T, page: u32, number: u32, waits: Dep) {
        let place: Place<u16> = self.field(number, STATE);
        let state = self.control.load(trace, Site::State, place, waits);
        trace.work(STEP);
        let dep = state.token.after(1);
        // Where every page has a frame none is ever on its way.
        if self.store.is_some() {
            let coming = state.value & COMING > 0;
            trace.branch(Site::Coming, coming, dep);
            if coming {
                trace.page_read(page.into(), self.frame(self.frame_of(number)));
            }
        }
        let now = state.value & !COMING | REFERENCED;
        self.control.store(trace, Site::StateStore, place, now, dep);
    }

    /// Notes that a page was changed.
    fn mark_dirty<T: Trace>(&mut self, trace: &mut T, number: u32) {
        let place: Place<u16> = self.field(number, STATE);
        let state = self.control.load(trace, Site::State, place, Dep::NONE);
        trace.work(STEP);
        let dep = state.token.after(1);
        self.control
            .store(trace, Site::StateStore, place, state.value | DIRTY, dep);
    }

    /// Unpins a page, which is `dirty` if it was changed.
    #[inline]
    pub fn unfix<T: Trace>(&mut self, trace: &mut T, page: &Fixed, dirty: bool) {
        trace.work(self.program.buffer_call + DESCRIPTOR + STEP);
        let pins: Place<u16> = self.field(page.descriptor, PINS);
        let count = self.control.load(trace, Site::PinCount, pins, Dep::NONE);
        debug_assert!(count.value > 0, "page {} is not pinned", page.page);
        let pinned = count.value - 1;
        let dep = count.token.after(1);
        self.control.store(trace, Site::PinStore, pins, pinned, dep);
        trace.branch(Site::Changed, dirty, Dep::NONE);
        if dirty {
            self.mark_dirty(trace, page.descriptor);
        }
    }

    /// Makes a page of zeros, pinned, in a group of pages.
    pub fn create<T: Trace>(&mut self, trace: &mut T, group: usize) -> Fixed {
        trace.work(self.program.buffer_call);
        let page = self.homes.len() as u32;
        let (number, home) = if self.store.is_some() {
            let number = self.free_frame(trace);
            let home = self.frame_of(number);
            let bytes = self.page_bytes as usize;
            self.memory.bytes_mut(Self::extent(home, bytes)).fill(0);
            // What is stored of the page is never read: the page is changed before it leaves its frame.
            (number, home)
        } else {
            self.used += 1;
            let address = self.memory.allocate(group, self.page_bytes as usize);
            let home = Home {
                segment: group,
                address,
            };
            (self.used, home)
        };
        // The group is kept where the frame has no segment of it.
        self.homes.push(Home {
            segment: group,
            ..home
        });
        self.enter(trace, page, number, home, (1, REFERENCED | DIRTY))
    }

    /// The place of the page table that a page belongs to.
    #[inline]
    fn head(&self, page: u32) -> Place<u32> {
        let base = self.control.segments()[TABLE].base;
        Place::new(TABLE, base).element((page & (self.places - 1)) as usize)
    }

    /// A field of a descriptor.
    #[inline]
    fn field<W: crate::word::Word>(&self, number: u32, field: u64) -> Place<W> {
        let base = self.control.segments()[DESCRIPTORS].base;
        Place::new(
            DESCRIPTORS,
            base + u64::from(number) * DESCRIPTOR_BYTES + field,
        )
    }

    /// The segment that a page's frame is in.
    #[inline]
    fn segment_of(&self, page: u32) -> usize {
        if self.store.is_some() {
            0
        } else {
            self.homes[page as usize].segment
        }
    }
}
