//! A buffer pool: frames, a hash table from pageIDs to frames, pins, and replacement by CLOCK.
//!
//! It is part of the simulated program. [`Pool::fix`] looks a page up with traced loads, as a buffer manager does, and what it returns
//! waits for the address that the frame's descriptor holds. A pool is made with a frame for every page, grouped by what the pages are
//! for, so that each group has a segment of its own; [`Pool::limited`] makes one of few frames, all of one segment, which asks storage
//! for pages and gives changed ones back. Pages that are in no frame are kept beside the frames.

mod access;
mod clock;
pub(crate) mod coloring;
mod frames;
mod latch_sites;
mod latched;
mod latching;
pub(crate) mod limits;
mod moves;
mod optimistic;
mod page_latches;
mod pages;
mod program;
mod shared;
mod sites;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use latch_sites::Site as LatchSite;
pub use latching::Latching;
pub(crate) use latching::Use;
pub use moves::UpwardMoves;
pub use program::Program;
pub use sites::Site;

use crate::arena::{Arena, Reservation, place};
use crate::place::Extent;
use crate::tracer::{Dep, Trace};
use coloring::Coloring;
use frames::{COMING, DESCRIPTOR, DIRTY, Frame, Frames, REFERENCED, control_reservations};
use latched::Latches;
use shared::Shared;
pub(crate) use shared::{MET_BYTES, Own};
use store::Store;
use traces::Segment;

// Plain instructions, counted on the MIPS-like code that the step compiles to.

/// Address of a pageID's place in the page table: mask, shift, add.
const HASH: u32 = 3;
/// Comparing or changing a number in a register.
const STEP: u32 = 1;

/// A page in its frame, pinned.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// PageID.
    pub page: u32,
    /// What its latch is held for, where threads change pages.
    held: Use,
    descriptor: u32,
    /// Where its bytes lie in memory.
    home: Home,
    /// Address of the frame, by which events name it.
    pub(crate) address: u64,
    /// What the address waits for.
    pub(crate) dep: Dep,
}

/// Where the bytes of a page lie, or those of a frame.
#[derive(Clone, Copy, Debug)]
struct Home {
    segment: usize,
    address: u64,
}

/// Bytes that a pool keeps for a page, wherever that is.
pub(crate) const HOME_BYTES: u64 = size_of::<Home>() as u64;

impl Home {
    /// A frame, of those that are of one segment.
    fn of_frames(address: u64) -> Self {
        Self {
            segment: 0,
            address,
        }
    }

    fn extent(self, bytes: usize) -> Extent {
        Extent {
            segment: self.segment,
            address: self.address,
            bytes,
        }
    }
}

/// A buffer pool and the pages of one file, whose pageIDs count from 1.
#[derive(Clone, Debug)]
pub struct Pool {
    /// What frames lie in.
    segments: Vec<Segment>,
    /// The bytes of what is in them.
    memory: Arena,
    frames: Frames,
    /// By pageID; pageID 0 is none.
    homes: Vec<Home>,
    /// The addresses that frames keep off, if they do.
    coloring: Option<Coloring>,
    /// Pages in no frame; `None` if every page has one.
    store: Option<Store>,
    /// The hold on frames that threads share; these are not the pool's own.
    shared: Option<Shared>,
    program: Program,
    reads: u64,
    prefetches: u64,
    writes: u64,
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
        let mut segments = segments(page_bytes, groups);
        let control = segments.split_off(groups.len());
        let count = groups.iter().map(|group| group.objects as u32).sum();
        Self::of(Frames::new(page_bytes, count, None, control), segments)
    }

    fn of(frames: Frames, segments: Vec<Segment>) -> Self {
        Self {
            memory: Arena::new(segments.clone()),
            segments,
            frames,
            homes: vec![Home {
                segment: 0,
                address: 0,
            }],
            coloring: None,
            store: None,
            shared: None,
            program: Program::default(),
            reads: 0,
            prefetches: 0,
            writes: 0,
        }
    }

    /// A pool of so many frames, all empty, for the pages of this one, which has a frame for each.
    #[must_use]
    pub fn limited(&self, frames: u32) -> Self {
        let page_bytes = self.page_bytes();
        let group = Reservation {
            name: "frames".into(),
            object_bytes: page_bytes.into(),
            objects: frames.into(),
        };
        let mut segments = segments(page_bytes, std::slice::from_ref(&group));
        let control = segments.split_off(1);
        let first = Some(segments[0].base);
        let mut pool = Self::of(Frames::new(page_bytes, frames, first, control), segments);
        pool.memory
            .allocate(0, frames as usize * page_bytes as usize);
        pool.homes.clone_from(&self.homes);
        pool.store = Some(Store::new(self.memory.clone()));
        pool
    }

    /// The pool for one of the threads that share its frames, all of which are as they are here; clones are for the others, unless threads are
    /// `changing` pages: then it is for all of them. The code for that has sites from `first_site` on ([`LatchSite`]).
    #[must_use]
    pub(crate) fn shared(&self, latching: Latching, changing: bool, first_site: u16) -> Self {
        let latches = Latches {
            first_site,
            latching,
            changing,
        };
        let shared = Shared::new(self.frames.clone(), self.pages() as usize, latches);
        let memory = match &self.store {
            Some(store) if !changing => store.built(),
            _ => &self.memory,
        };
        Self {
            shared: Some(shared),
            memory: memory.clone(),
            ..self.clone()
        }
    }

    /// What another thread has of its own in a pool that threads share, with a buffer at an address; nothing in other pools.
    #[must_use]
    pub(crate) fn own_of(&self, buffer: u64) -> Option<Own> {
        self.shared.as_ref().map(|shared| shared.own_of(buffer))
    }

    /// Changes the thread that has a pool for itself which others share: it gets what the one before had of its own.
    pub(crate) fn swap(&mut self, own: &mut Option<Own>) {
        if let Some((shared, own)) = self.shared.as_mut().zip(own.as_mut()) {
            shared.swap(own);
        }
    }

    /// Buffers of one page, of so many threads besides the first, behind segments.
    #[must_use]
    pub(crate) fn further_buffers(&self, segments: &[Segment], threads: u32) -> Vec<Segment> {
        let mut all = segments.to_vec();
        for _ in 0..threads {
            all.push(self.frames.buffer_behind(&all));
        }
        all.split_off(segments.len())
    }

    /// Segments of frames and control structures.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        [&self.segments, self.frames.control.segments()].concat()
    }

    /// Makes clones cheap.
    pub fn freeze(&mut self) {
        self.memory.freeze();
        self.frames.control.freeze();
    }

    /// Gives the pool memory of its own, all of it touched, and returns where simulated address 0 is in it.
    pub fn settle(&mut self) -> *const u8 {
        self.memory.thaw();
        self.frames.control.thaw();
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
        match &self.shared {
            Some(shared) => shared.buffer(),
            None => self.frames.buffer(),
        }
    }

    /// Pages that the file may come to have, in a pool with a frame for each.
    #[must_use]
    pub(crate) fn most_pages(&self) -> u32 {
        self.frames.count
    }

    /// Pages of the file.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.homes.len() as u64 - 1
    }

    /// Bytes of a page.
    #[inline]
    fn page_bytes(&self) -> u32 {
        self.frames.page_bytes
    }

    /// Pins a page, which comes into a frame if it is in none. `dep` is what the pageID waits for.
    #[inline]
    pub fn fix<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) -> Fixed {
        self.fix_for(trace, Use::Read, page, dep)
    }

    /// The same for a page that is to be read, or changed.
    #[inline]
    pub(crate) fn fix_for<T: Trace>(
        &mut self,
        trace: &mut T,
        held: Use,
        page: u32,
        dep: Dep,
    ) -> Fixed {
        trace.work(self.program.buffer_call);
        let frame = if let Some(shared) = &mut self.shared {
            let pages = Written::of(
                &self.frames,
                &self.memory,
                &mut self.store,
                &mut self.writes,
            );
            let found = shared.fix(trace, (page, held), dep, |trace, page, number| {
                pages.write(trace, page, number);
            });
            if found.missed {
                self.reads += 1;
                if self.is_changing() {
                    self.copy_in(page, found.frame.address);
                }
            }
            found.frame
        } else {
            match self.frames.look_up(trace, page, dep) {
                Some(found) => self.frames.pin(trace, page, found),
                None => self.miss(trace, page),
            }
        };
        self.fixed((page, held), frame)
    }

    /// Whether pages have latches, as threads change some of them.
    #[must_use]
    pub(crate) fn is_changing(&self) -> bool {
        self.shared.as_ref().is_some_and(Shared::is_changing)
    }

    /// Has storage bring a page into a frame meanwhile, unless it is in one. Whoever pins it first waits for it.
    pub fn prefetch_page<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) {
        trace.work(self.program.buffer_call);
        if let Some(shared) = &mut self.shared {
            let pages = Written::of(
                &self.frames,
                &self.memory,
                &mut self.store,
                &mut self.writes,
            );
            let asked = shared.ask_ahead(trace, page, dep, |trace, page, number| {
                pages.write(trace, page, number);
            });
            let asked = u64::from(asked);
            self.reads += asked;
            self.prefetches += asked;
        } else if self.frames.look_up(trace, page, dep).is_none() {
            self.ask_ahead(trace, page);
        }
    }

    /// Brings a page into a frame.
    #[cold]
    fn miss<T: Trace>(&mut self, trace: &mut T, page: u32) -> Frame {
        let (number, address) = self.bring(trace, page);
        trace.page_read(page.into(), self.frames.extent(address));
        self.frames
            .enter(trace, page, (number, address), (1, REFERENCED))
    }

    /// Asks storage for a page that somebody will pin later.
    #[cold]
    fn ask_ahead<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let place = self.bring(trace, page);
        trace.page_prefetch(page.into());
        self.prefetches += 1;
        self.frames
            .enter(trace, page, place, (0, REFERENCED | COMING));
    }

    /// Empties a frame and copies a page into it. Returns its number and where it begins.
    fn bring<T: Trace>(&mut self, trace: &mut T, page: u32) -> (u32, u64) {
        debug_assert!(self.store.is_some(), "page {page} has no frame");
        let (number, address) = self.empty_frame(trace);
        self.reads += 1;
        self.copy_in(page, address);
        (number, address)
    }

    /// Copies a page into the frame at an address.
    fn copy_in(&mut self, page: u32, address: u64) {
        let bytes = self.page_bytes() as usize;
        let built = self.homes[page as usize].extent(bytes);
        let frame = Home::of_frames(address).extent(bytes);
        let store = self.store.as_ref().expect("only such pools miss pages");
        store.read(page, built, self.memory.bytes_mut(frame));
    }

    /// Finds an empty frame; a changed page that was there goes to storage. Returns its number and where it begins.
    fn empty_frame<T: Trace>(&mut self, trace: &mut T) -> (u32, u64) {
        let Self {
            frames,
            memory,
            store,
            shared,
            writes,
            ..
        } = self;
        let pages = Written::of(frames, memory, store, writes);
        let write = |trace: &mut T, page, number| pages.write(trace, page, number);
        let number = match shared {
            Some(shared) => shared.empty(trace, write),
            None => frames.empty(trace, write),
        };
        (number, frames.address(number))
    }

    /// Unpins a page, which is `dirty` if it was changed.
    #[inline]
    pub fn unfix<T: Trace>(&mut self, trace: &mut T, page: &Fixed, dirty: bool) {
        trace.work(self.program.buffer_call);
        if let Some(shared) = &self.shared {
            return shared.unfix(trace, page, dirty);
        }
        trace.work(DESCRIPTOR + STEP);
        self.frames.unpin(trace, page.descriptor, dirty);
    }

    /// Makes a page of zeros, pinned, in a group of pages.
    pub fn create<T: Trace>(&mut self, trace: &mut T, group: usize) -> Fixed {
        trace.work(self.program.buffer_call);
        let page = self.homes.len() as u32;
        let bytes = self.page_bytes() as usize;
        let (number, address) = if self.store.is_some() {
            let (number, address) = self.empty_frame(trace);
            let frame = Home::of_frames(address).extent(bytes);
            self.memory.bytes_mut(frame).fill(0);
            // What is stored of the page is never read: the page is changed before it leaves its frame.
            (number, address)
        } else {
            let number = match &self.shared {
                // Every page has a frame, so that there is one left.
                Some(shared) => shared.empty(trace, |_, _, _| ()),
                None => {
                    self.frames.used += 1;
                    self.frames.used
                }
            };
            (number, self.next_frame(group))
        };
        // The group is kept where the frame has no segment of it.
        self.homes.push(Home {
            segment: group,
            address,
        });
        let at = (number, address);
        let frame = match &self.shared {
            Some(shared) => shared.enter(trace, page, at),
            None => self.frames.enter(trace, page, at, (1, REFERENCED | DIRTY)),
        };
        self.fixed((page, Use::Make), frame)
    }

    /// A page in its frame, which is pinned.
    #[inline]
    fn fixed(&self, (page, held): (u32, Use), frame: Frame) -> Fixed {
        // Pages that threads share and nobody changes are read where they were built.
        let is_at_home = match &self.shared {
            Some(shared) => !shared.is_changing(),
            None => false,
        };
        let home = if self.store.is_none() || is_at_home {
            self.homes[page as usize]
        } else {
            Home::of_frames(frame.address)
        };
        Fixed {
            page,
            held,
            descriptor: frame.number,
            home,
            address: frame.address,
            dep: frame.dep,
        }
    }
}

/// Where changed pages go that leave their frames.
struct Written<'p> {
    /// Where the first frame begins, of those that are of one segment.
    first: u64,
    page_bytes: usize,
    memory: &'p Arena,
    store: &'p mut Option<Store>,
    writes: &'p mut u64,
}

impl<'p> Written<'p> {
    fn of(
        frames: &Frames,
        memory: &'p Arena,
        store: &'p mut Option<Store>,
        writes: &'p mut u64,
    ) -> Self {
        Self {
            first: frames.first.unwrap_or(0),
            page_bytes: frames.page_bytes as usize,
            memory,
            store,
            writes,
        }
    }

    /// Gives the changed page of a frame to storage.
    fn write<T: Trace>(self, trace: &mut T, page: u32, number: u32) {
        trace.page_write(page.into());
        *self.writes += 1;
        let address = self.first + u64::from(number - 1) * self.page_bytes as u64;
        let changed = (self.memory).bytes(Home::of_frames(address).extent(self.page_bytes));
        let store = self.store.as_mut().expect("only such pools empty frames");
        store.write(page, changed);
    }
}
