//! The simulated address space: named segments that grow by bump allocation inside a reserved range.

mod image;

use crate::native::streaming::stream_bytes;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;
use image::{Image, WIDEST};
use traces::Segment;

/// Segments start at multiples of this, before the stagger: the largest page in use, so that pages never
/// straddle segments by accident of the page size.
pub const PAGE_BYTES: u64 = 16 * 1024;

/// Pages between the end of a segment's range and the next segment. Odd, so that it is prime to every
/// power-of-two number of sets.
const STAGGER_PAGES: u64 = 5;

/// Objects (nodes, chunks) by which each segment starts further into its first page than the one before.
const STAGGER_OBJECTS: u64 = 3;

/// What a segment is to hold.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// Name shown to the user.
    pub name: String,
    /// Bytes of one object.
    pub object_bytes: u64,
    /// Objects there may ever be.
    pub objects: u64,
}

impl Reservation {
    /// Room for so many objects of so many bytes each.
    #[must_use]
    pub fn of(name: &str, object_bytes: u64, objects: u64) -> Self {
        Self {
            name: name.into(),
            object_bytes,
            objects,
        }
    }
}

/// Places reservations one after the other, the first one page above address 0, which stays the null pointer.
///
/// Page-aligned bases would put the first object of every segment (the root, the first node of each level: the
/// hottest of all) into set 0 of every cache whose ways are not larger than a page, and `STAGGER_PAGES` alone
/// would help larger caches only. So each segment also starts an odd number of objects further into its page.
/// Whole objects, so that an object that divides the page never straddles two pages.
#[must_use]
pub fn place(reservations: &[Reservation]) -> Vec<Segment> {
    let mut next_page = PAGE_BYTES;
    let mut segments = Vec::with_capacity(reservations.len());
    for (index, reservation) in (0_u64..).zip(reservations) {
        let shift = index * STAGGER_OBJECTS * reservation.object_bytes % PAGE_BYTES;
        let shift = shift - shift % reservation.object_bytes.min(PAGE_BYTES);
        let base = next_page + shift;
        let size_bytes = reservation.objects * reservation.object_bytes;
        segments.push(Segment {
            name: reservation.name.clone(),
            base,
            size_bytes,
        });
        next_page = (base + size_bytes).next_multiple_of(PAGE_BYTES) + STAGGER_PAGES * PAGE_BYTES;
    }
    segments
}

/// Places a reservation behind segments, at a page of its own.
#[must_use]
pub(crate) fn place_behind(segments: &[Segment], reservation: &Reservation) -> Segment {
    let mut segment = place(std::slice::from_ref(reservation)).remove(0);
    segment.base += segments
        .last()
        .map_or(0, |last| last.base + last.size_bytes)
        .next_multiple_of(PAGE_BYTES);
    segment
}

/// Where the memory of an arena begins in the simulated address space.
pub trait Origin: Copy + std::fmt::Debug {
    /// For segments from an address on.
    fn before(first: u64) -> Self;
    /// The address, a multiple of [`PAGE_BYTES`].
    fn address(self) -> u64;
}

/// At address 0: the host computes as little from an address as the simulated program, and its prefetches find the memory.
#[derive(Clone, Copy, Debug)]
pub struct Zero;

impl Origin for Zero {
    #[inline]
    fn before(_first: u64) -> Self {
        Self
    }

    #[inline]
    fn address(self) -> u64 {
        0
    }
}

/// At the page of the first segment: for segments that are far from 0.
#[derive(Clone, Copy, Debug)]
pub struct Far(u64);

impl Origin for Far {
    #[inline]
    fn before(first: u64) -> Self {
        Self(first - first % PAGE_BYTES)
    }

    #[inline]
    fn address(self) -> u64 {
        self.0
    }
}

/// A byte-addressed address space of segments. A clone of a frozen arena shares the bytes until it writes.
#[derive(Clone, Debug)]
pub struct Arena<O: Origin = Zero> {
    segments: Vec<Segment>,
    /// Bytes handed out, by segment.
    used: Vec<u64>,
    image: Image<O>,
}

/// In tests: segments are in ascending address order, and no two have an address in common.
pub fn assert_disjoint(segments: &[Segment]) {
    debug_assert!(
        segments
            .windows(2)
            .all(|pair| pair[0].base + pair[0].size_bytes <= pair[1].base),
        "segments overlap or descend: {segments:?}"
    );
}

impl<O: Origin> Arena<O> {
    /// An arena of empty segments, which are in ascending address order.
    #[must_use]
    pub fn new(segments: Vec<Segment>) -> Self {
        assert_disjoint(&segments);
        Self {
            used: vec![0; segments.len()],
            image: Image::of(&segments),
            segments,
        }
    }

    /// An arena of one segment without a name, all of it handed out.
    #[must_use]
    pub(crate) fn of(base: u64, size_bytes: u64) -> Self {
        let segment = Segment {
            name: String::new(),
            base,
            size_bytes,
        };
        let mut arena = Self::new(vec![segment]);
        arena.used[0] = size_bytes;
        arena
    }

    /// The segments, in ascending address order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Address of what is next handed out of a segment.
    #[must_use]
    pub(crate) fn next(&self, segment: usize) -> u64 {
        self.segments[segment].base + self.used[segment]
    }

    /// The next `size_bytes` of a segment, zeroed.
    ///
    /// # Panics
    /// If the segment's reserved range is used up, which the capacity estimate rules out.
    pub fn allocate(&mut self, segment: usize, size_bytes: usize) -> u64 {
        let Segment {
            name,
            base,
            size_bytes: reserved,
        } = &self.segments[segment];
        let offset = self.used[segment];
        let used = offset + size_bytes as u64;
        assert!(
            used <= *reserved,
            "segment `{name}` is larger than its estimate"
        );
        self.used[segment] = used;
        base + offset
    }

    /// Makes clones cheap: they share the memory, and copy it when they first write.
    pub fn freeze(&mut self) {
        self.image.freeze();
    }

    /// Undoes [`Arena::freeze`]: memory of its own, all of it touched, so that the first writes cost no more than later ones.
    pub fn thaw(&mut self) {
        self.image.thaw();
    }

    /// Reads the word at a place.
    #[inline]
    #[must_use]
    pub fn read<W: Word>(&self, place: Place<W>) -> W {
        const { assert!(W::BYTES <= WIDEST) };
        self.check(place.segment, place.address, W::BYTES);
        W::read(self.image.word(place.address), 0)
    }

    /// Writes the word at a place.
    #[inline]
    pub fn write<W: Word>(&mut self, place: Place<W>, value: W) {
        const { assert!(W::BYTES <= WIDEST) };
        self.check(place.segment, place.address, W::BYTES);
        value.write(self.image.word_mut(place.address), 0);
    }

    /// Bytes at a place.
    #[inline]
    #[must_use]
    pub fn bytes(&self, place: Extent) -> &[u8] {
        self.check(place.segment, place.address, place.bytes);
        self.image.bytes(place.address, place.bytes)
    }

    /// Bytes at a place, to change them.
    #[inline]
    pub fn bytes_mut(&mut self, place: Extent) -> &mut [u8] {
        self.check(place.segment, place.address, place.bytes);
        self.image.bytes_mut(place.address, place.bytes)
    }

    /// Copies bytes, which may overlap those they go to.
    #[inline]
    pub(crate) fn copy(&mut self, from: Extent, to: Extent) {
        self.check(from.segment, from.address, from.bytes);
        self.check(to.segment, to.address, to.bytes);
        self.image.copy(from.address, to.address, from.bytes);
    }

    /// In tests: whether so many bytes from `address` on have been handed out in `segment`.
    #[inline]
    fn check(&self, segment: usize, address: u64, count: usize) {
        debug_assert!(
            address
                .checked_sub(self.segments[segment].base)
                .is_some_and(|offset| offset + count as u64 <= self.used[segment]),
            "{count} bytes at {address:#x} are not in segment {segment}"
        );
    }
}

impl Arena<Zero> {
    /// Where simulated address 0 is in the host's memory: a multiple of [`PAGE_BYTES`]. Valid until the arena is
    /// dropped, frozen or thawed, or first written after a freeze.
    #[must_use]
    pub fn origin(&self) -> *const u8 {
        self.image.host(0)
    }
}

impl<O: Origin> Arena<O> {
    /// Asks for the line that holds `address`, be it handed out or not.
    #[inline]
    pub fn prefetch<T: Trace>(&self, trace: &mut T, site: impl Into<u16>, address: u64, dep: Dep) {
        let host = self.image.host(address);
        trace.prefetch(site, address, host, dep);
    }

    /// Prefetches the line of an address that is used once.
    #[inline]
    pub fn prefetch_nta<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        address: u64,
        dep: Dep,
    ) {
        let host = self.image.host(address);
        trace.prefetch_nta(site, address, host, dep);
    }

    /// Loads a word. `dep` is what its address waits for.
    #[inline]
    pub fn load<W: Word, T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Place<W>,
        dep: Dep,
    ) -> Loaded<W> {
        let token = trace.load(site, place.address, W::BYTES as u16, 1, dep);
        Loaded {
            value: self.read(place),
            token,
        }
    }

    /// Stores a word. `dep` is what address and value wait for.
    #[inline]
    pub fn store<W: Word, T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Place<W>,
        value: W,
        dep: Dep,
    ) {
        trace.store(site, place.address, W::BYTES as u16, 1, dep);
        self.write(place, value);
    }

    /// Loads bytes in `words` word accesses.
    #[inline]
    pub fn load_bytes<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Extent,
        words: u16,
        dep: Dep,
    ) -> Loaded<&[u8]> {
        let token = trace.load(site, place.address, place.bytes as u16, words, dep);
        Loaded {
            value: self.bytes(place),
            token,
        }
    }

    /// Stores bytes in `words` word accesses: the caller writes them.
    #[inline]
    pub fn store_bytes<T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Extent,
        words: u16,
        dep: Dep,
    ) -> &mut [u8] {
        trace.store(site, place.address, place.bytes as u16, words, dep);
        self.bytes_mut(place)
    }

    /// Stores bytes past the caches, of words of 4 bytes. Nobody may read them before the thread has called [`crate::shared::fence`].
    #[inline]
    pub(crate) fn copy_nta<T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Extent,
        (words, bytes): (u16, &[u8]),
        dep: Dep,
    ) {
        trace.store_nta(site, place.address, place.bytes as u16, words, dep);
        let to = self.bytes_mut(place);
        if T::NATIVE {
            stream_bytes(to, bytes);
        } else {
            to.copy_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests;
