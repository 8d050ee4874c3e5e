//! The control structures of a buffer pool: a page table, and a descriptor of each frame with its pins.

use super::{HASH, STEP, Site};
use crate::arena::{Arena, Far, Reservation, place_behind};
use crate::place::{Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;
use std::ops::Range;
use traces::Segment;

/// Address of a descriptor from its number: shift, add.
pub(super) const DESCRIPTOR: u32 = 2;

/// Bytes of a descriptor, of which four share a line of 64 bytes; its fields follow. The frame is told in units.
const DESCRIPTOR_BYTES: u64 = 16;
pub(super) const PAGE: u64 = 0;
pub(super) const NEXT: u64 = 4;
const FRAME: u64 = 8;
/// Bytes of a place of the page table.
pub(super) const TABLE_PLACE_BYTES: u16 = 4;
pub(super) const PINS: u64 = 12;
pub(super) const STATE: u64 = 14;
/// Bytes of the unit that frames are aligned to.
const FRAME_UNIT: u64 = 512;
/// Bits of a descriptor's state. The page was referenced, or changed.
pub(super) const REFERENCED: u16 = 1;
pub(super) const DIRTY: u16 = 2;
/// The page was asked for ahead, and nobody has waited for it yet.
pub(super) const COMING: u16 = 4;

/// Segments of the control structures, among themselves.
const TABLE: usize = 0;
const DESCRIPTORS: usize = 1;
const BUFFER: usize = 2;
/// Segments there are besides the frames'.
pub(super) const CONTROL_SEGMENTS: usize = 3;

/// A frame that a page has been found in, or comes into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Number of its descriptor.
    pub number: u32,
    /// Where it begins.
    pub address: u64,
    /// What the address waits for.
    pub dep: Dep,
}

/// Page table and descriptors of so many frames.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    pub(super) page_bytes: u32,
    pub(super) control: Arena<Far>,
    /// Descriptors, which are numbered from 1, and those in use.
    pub(super) count: u32,
    pub(super) used: u32,
    /// Places of the page table, a power of two.
    places: u32,
    /// Next descriptor that CLOCK looks at.
    pub(super) hand: u32,
    /// Address of the first frame, where they are all of one segment; else no page is ever on its way.
    pub(super) first: Option<u64>,
}

/// What the control structures of so many frames take.
pub(super) fn control_reservations(
    frames: u32,
    page_bytes: u32,
) -> [Reservation; CONTROL_SEGMENTS] {
    [
        Reservation {
            name: "page table".into(),
            object_bytes: TABLE_PLACE_BYTES.into(),
            objects: u64::from(frames.next_power_of_two()),
        },
        Reservation {
            name: "frame descriptors".into(),
            object_bytes: DESCRIPTOR_BYTES,
            objects: u64::from(frames) + 1,
        },
        buffer_reservation(page_bytes),
    ]
}

/// A buffer of one page, for what is being reorganized or moved.
fn buffer_reservation(page_bytes: u32) -> Reservation {
    Reservation {
        name: "page buffer".into(),
        object_bytes: page_bytes.into(),
        objects: 1,
    }
}

impl Frames {
    /// For so many frames of pages of so many bytes, the first of which begins at `first` if they are all of one segment. The control
    /// structures have these segments.
    pub(super) fn new(
        page_bytes: u32,
        count: u32,
        first: Option<u64>,
        control: Vec<Segment>,
    ) -> Self {
        let places = (control[TABLE].size_bytes / u64::from(TABLE_PLACE_BYTES)) as u32;
        let mut control = Arena::new(control);
        for segment in 0..CONTROL_SEGMENTS {
            let bytes = control.segments()[segment].size_bytes as usize;
            control.allocate(segment, bytes);
        }
        Self {
            page_bytes,
            control,
            count,
            used: 0,
            places,
            hand: 1,
            first,
        }
    }

    /// Such a buffer of another thread, behind segments.
    pub(super) fn buffer_behind(&self, segments: &[Segment]) -> Segment {
        place_behind(segments, &buffer_reservation(self.page_bytes))
    }

    /// Address of a buffer of one page.
    pub(super) fn buffer(&self) -> u64 {
        self.control.segments()[BUFFER].base
    }

    /// The descriptor of the frame that a page is in, and what its address waits for.
    #[inline]
    pub(super) fn look_up<T: Trace>(
        &self,
        trace: &mut T,
        page: u32,
        dep: Dep,
    ) -> Option<(u32, Dep)> {
        trace.work(HASH);
        let head = self.head(page);
        let dep = dep.later(HASH as u8);
        let first = self.control.load(trace, Site::TableEntry, head, dep);
        self.follow(trace, page, first)
    }

    /// The same from the first descriptor of the page's chain on.
    #[inline]
    pub(super) fn follow<T: Trace>(
        &self,
        trace: &mut T,
        page: u32,
        mut entry: Loaded<u32>,
    ) -> Option<(u32, Dep)> {
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
    pub(super) fn pin<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        (number, waits): (u32, Dep),
    ) -> Frame {
        let pins: Place<u16> = self.field(number, PINS);
        let count = self.control.load(trace, Site::PinCount, pins, waits);
        trace.work(STEP);
        let pinned = count.value + 1;
        let dep = count.token.after(1);
        self.control.store(trace, Site::PinStore, pins, pinned, dep);
        self.refer(trace, page, number, waits);
        self.frame(trace, number, waits)
    }

    /// Loads where a frame begins.
    #[inline]
    pub(super) fn frame<T: Trace>(&self, trace: &mut T, number: u32, waits: Dep) -> Frame {
        let frame: Place<u32> = self.field(number, FRAME);
        let frame = self.control.load(trace, Site::FrameAddress, frame, waits);
        trace.work(STEP);
        Frame {
            number,
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
        if self.first.is_some() {
            let coming = state.value & COMING > 0;
            trace.branch(Site::Coming, coming, dep);
            if coming {
                trace.page_read(page.into(), self.extent(self.address(number)));
            }
        }
        let now = state.value & !COMING | REFERENCED;
        self.control.store(trace, Site::StateStore, place, now, dep);
    }

    /// Takes a pin off a frame, whose page is `dirty` if it was changed.
    #[inline]
    pub(super) fn unpin<T: Trace>(&mut self, trace: &mut T, number: u32, dirty: bool) {
        let pins: Place<u16> = self.field(number, PINS);
        let count = self.control.load(trace, Site::PinCount, pins, Dep::NONE);
        debug_assert!(count.value > 0, "frame {number} is not pinned");
        let pinned = count.value - 1;
        let dep = count.token.after(1);
        self.control.store(trace, Site::PinStore, pins, pinned, dep);
        trace.branch(Site::Changed, dirty, Dep::NONE);
        if dirty {
            self.mark_dirty(trace, number);
        }
    }

    /// Changes how many threads use the page of a frame, without a trace.
    pub(super) fn count_users(&mut self, number: u32, change: i16) {
        let users: Place<u16> = self.field(number, PINS);
        let count = self.control.read(users).checked_add_signed(change);
        let count = count.expect("who ends using a page has begun");
        self.control.write(users, count);
    }

    /// Notes that a page was changed.
    pub(super) fn mark_dirty<T: Trace>(&mut self, trace: &mut T, number: u32) {
        let place: Place<u16> = self.field(number, STATE);
        let state = self.control.load(trace, Site::State, place, Dep::NONE);
        trace.work(STEP);
        let dep = state.token.after(1);
        self.control
            .store(trace, Site::StateStore, place, state.value | DIRTY, dep);
    }

    /// Puts a page that is in the frame at `address` on the page table, with so many pins and such a state.
    pub(super) fn enter<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        (number, address): (u32, u64),
        (pins, state): (u16, u16),
    ) -> Frame {
        trace.work(HASH + DESCRIPTOR);
        let head = self.head(page);
        let first = self.control.load(trace, Site::TableEntry, head, Dep::NONE);
        let next: Place<u32> = self.field(number, NEXT);
        self.control
            .store(trace, Site::Link, next, first.value, first.token.after(0));
        self.control
            .store(trace, Site::Link, head, number, Dep::NONE);
        self.describe(trace, page, (number, address), (pins, state));
        Frame {
            number,
            address,
            dep: Dep::NONE,
        }
    }

    /// Fills the descriptor of the frame at `address` that a page comes into.
    pub(super) fn describe<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        (number, address): (u32, u64),
        (pins, state): (u16, u16),
    ) {
        let frame = (address / FRAME_UNIT) as u32;
        for (field, value) in [(PAGE, page), (FRAME, frame)] {
            let place: Place<u32> = self.field(number, field);
            self.control
                .store(trace, Site::DescriptorStore, place, value, Dep::NONE);
        }
        for (field, value) in [(PINS, pins), (STATE, state)] {
            let place: Place<u16> = self.field(number, field);
            self.control
                .store(trace, Site::DescriptorStore, place, value, Dep::NONE);
        }
    }

    /// The place of the page table that a page belongs to.
    #[inline]
    pub(super) fn head(&self, page: u32) -> Place<u32> {
        let base = self.control.segments()[TABLE].base;
        Place::new(TABLE, base).element((page & (self.places - 1)) as usize)
    }

    /// A field of a descriptor.
    #[inline]
    pub(super) fn field<W: Word>(&self, number: u32, field: u64) -> Place<W> {
        let base = self.control.segments()[DESCRIPTORS].base;
        Place::new(
            DESCRIPTORS,
            base + u64::from(number) * DESCRIPTOR_BYTES + field,
        )
    }

    /// Where frame `number` begins, of frames that are of one segment.
    #[inline]
    pub(super) fn address(&self, number: u32) -> u64 {
        let first = self
            .first
            .expect("frames of several segments have pages of their own");
        first + u64::from(number - 1) * u64::from(self.page_bytes)
    }

    /// The addresses of the frame at `address`.
    #[inline]
    pub(super) fn extent(&self, address: u64) -> Range<u64> {
        address..address + u64::from(self.page_bytes)
    }
}
