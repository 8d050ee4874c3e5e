//! The simulated address space: named segments that grow by bump allocation inside a reserved range.

use crate::watch::{self, BYTES_PER_LOOK};
use std::sync::Arc;
use traces::Segment;

/// An unsigned integer that fills one machine word of the simulated machine.
pub trait Word: Copy + Ord + std::fmt::Debug + std::hash::Hash + Send + Sync + 'static {
    /// Bytes per word.
    const BYTES: usize;
    /// The largest value.
    const MAX: Self;
    /// Narrows a value that is known to fit.
    ///
    /// # Panics
    /// If it does not fit: addresses and keys are checked against the word when a workload is validated.
    fn from_u64(value: u64) -> Self;
    /// Widens.
    fn to_u64(self) -> u64;
    /// Reads the word at `offset`.
    fn read(bytes: &[u8], offset: usize) -> Self;
    /// Writes the word at `offset`.
    fn write(self, bytes: &mut [u8], offset: usize);
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BYTES: usize = size_of::<Self>();
            const MAX: Self = Self::MAX;

            #[inline]
            fn from_u64(value: u64) -> Self {
                Self::try_from(value).expect("value fits the word")
            }

            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn read(bytes: &[u8], offset: usize) -> Self {
                let word = bytes[offset..]
                    .first_chunk()
                    .expect("the address space ends behind the word");
                Self::from_le_bytes(*word)
            }

            #[inline]
            fn write(self, bytes: &mut [u8], offset: usize) {
                bytes[offset..offset + Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }
        }
    };
}
word!(u16);
word!(u32);
word!(u64);

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

/// Host memory for simulated addresses from 0 up: address A is in byte `start` + A.
///
/// Address 0 is at a host address that is a multiple of [`PAGE_BYTES`], so that whatever the hardware derives from the
/// low bits of an address (line, place in the page, cache set) it derives from those of the simulated one. The memory
/// is zeroed and costs nothing until it is touched.
#[derive(Debug)]
struct Image {
    bytes: Vec<u8>,
    start: usize,
}

impl Image {
    fn new(size_bytes: usize) -> Self {
        let bytes = vec![0; size_bytes + PAGE_BYTES as usize];
        let start = bytes.as_ptr().align_offset(PAGE_BYTES as usize);
        Self { bytes, start }
    }

    #[inline]
    fn get(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    #[inline]
    fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }

    /// A copy of the first `size_bytes`, all of it touched.
    fn copy(&self, size_bytes: usize) -> Self {
        let mut copy = Self::new(size_bytes);
        let (to, from) = (&mut copy.get_mut()[..size_bytes], &self.get()[..size_bytes]);
        let parts = to.chunks_mut(BYTES_PER_LOOK);
        for (to, from) in parts.zip(from.chunks(BYTES_PER_LOOK)) {
            to.copy_from_slice(from);
            watch::look();
        }
        copy
    }
}

/// Memory that is shared until it is first written.
#[derive(Debug)]
enum Memory {
    Own(Image),
    Shared(Arc<Image>),
}

/// A byte-addressed address space of segments. A clone of a frozen arena shares the bytes until it writes.
#[derive(Debug)]
pub struct Arena {
    segments: Vec<Segment>,
    /// Bytes handed out, by segment.
    used: Vec<u64>,
    memory: Memory,
}

impl Clone for Arena {
    fn clone(&self) -> Self {
        let memory = match &self.memory {
            Memory::Own(image) => Memory::Own(image.copy(end(&self.segments))),
            Memory::Shared(image) => Memory::Shared(Arc::clone(image)),
        };
        Self {
            segments: self.segments.clone(),
            used: self.used.clone(),
            memory,
        }
    }
}

/// The first address behind all segments.
fn end(segments: &[Segment]) -> usize {
    segments
        .last()
        .map_or(0, |last| (last.base + last.size_bytes) as usize)
}

impl Arena {
    /// An arena of empty segments, which are in ascending address order.
    #[must_use]
    pub fn new(segments: Vec<Segment>) -> Self {
        Self {
            used: vec![0; segments.len()],
            memory: Memory::Own(Image::new(end(&segments))),
            segments,
        }
    }

    /// The segments, in ascending address order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
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
        if let Memory::Own(own) = &mut self.memory {
            let image = std::mem::replace(own, Image::new(0));
            self.memory = Memory::Shared(Arc::new(image));
        }
    }

    /// Undoes [`Arena::freeze`]: memory of its own, all of it touched, so that the first writes cost no more than later ones.
    pub fn thaw(&mut self) {
        if let Memory::Shared(image) = &self.memory {
            self.memory = Memory::Own(image.copy(end(&self.segments)));
        }
    }

    /// Where simulated address 0 is in the host's memory: a multiple of [`PAGE_BYTES`]. Valid until the arena is
    /// dropped, frozen or thawed, or first written after a freeze.
    #[must_use]
    pub fn origin(&self) -> *const u8 {
        self.bytes().as_ptr()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::Own(image) => image.get(),
            Memory::Shared(image) => image.get(),
        }
    }

    /// Reads the word at `address`, which is in `segment`.
    #[inline]
    #[must_use]
    pub fn read<W: Word>(&self, segment: usize, address: u64) -> W {
        self.check(segment, address);
        W::read(self.bytes(), address as usize)
    }

    /// Writes the word at `address`, which is in `segment`.
    #[inline]
    pub fn write<W: Word>(&mut self, segment: usize, address: u64, value: W) {
        self.check(segment, address);
        if matches!(self.memory, Memory::Shared(_)) {
            self.thaw();
        }
        if let Memory::Own(image) = &mut self.memory {
            value.write(image.get_mut(), address as usize);
        }
    }

    /// In tests: whether `address` has been handed out in `segment`.
    #[inline]
    fn check(&self, segment: usize, address: u64) {
        debug_assert!(
            address
                .checked_sub(self.segments[segment].base)
                .is_some_and(|offset| offset < self.used[segment]),
            "{address:#x} is not in segment {segment}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut arena = Arena::new(place(&[reservation("a", 64, 2)]));
        let address = arena.allocate(0, 64);
        arena.write(0, address, 7_u32);
        arena.freeze();
        let mut copy = arena.clone();
        copy.write(0, address, 8_u32);
        assert_eq!(
            (arena.read::<u32>(0, address), copy.read::<u32>(0, address)),
            (7, 8)
        );
    }

    /// Lines, pages and sets of the host are those of the simulated addresses, in every copy.
    #[test]
    fn host_addresses_are_aligned_as_simulated_ones() {
        let mut arena = Arena::new(place(&[
            reservation("a", 64, 200),
            reservation("b", 512, 3),
        ]));
        let address = arena.allocate(1, 512);
        arena.write(1, address, 0x0403_0201_u32);
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
        assert_eq!(arena.read::<u32>(1, address), 0x0403_0201);
    }
}
