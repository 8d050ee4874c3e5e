//! Page coloring: frames that keep off the cache sets of a pool's page table and descriptors (section 3.4.1 of the thesis).

use super::frames::control_reservations;
use super::{Frames, Pool};
use crate::arena::{Reservation, place, place_behind};
use crate::bounds::OneOf;
use traces::Segment;

/// Bytes of a way; 0 is none. The smallest has room for four of the largest pages.
pub(crate) const WAY_BYTES: OneOf<11> = OneOf(ways());

const fn ways() -> [u32; 11] {
    let mut ways = [0; 11];
    let mut number = 1;
    while number < ways.len() {
        ways[number] = 1 << (16 + number);
        number += 1;
    }
    ways
}

/// Of so many equal parts of a way page table and descriptors take one at most, or else frames lie anywhere: pages would be left with less
/// than half of the cache. The thesis keeps off them where it can, and does not say when it cannot.
const PARTS_OF_A_WAY: u64 = 2;

/// The addresses that frames keep off: the first ones of every way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coloring {
    way_bytes: u64,
    /// Of page table and descriptors, in whole pages.
    control_bytes: u64,
    page_bytes: u64,
}

impl Coloring {
    /// For a pool of so many frames; none if its page table and descriptors take too much of a way.
    fn new(way_bytes: u32, page_bytes: u32, frames: u32) -> Option<Self> {
        let [table, descriptors, _] = control_reservations(frames, page_bytes);
        let (way_bytes, page_bytes) = (u64::from(way_bytes), u64::from(page_bytes));
        let control_bytes = bytes(&table) + bytes(&descriptors);
        (control_bytes <= way_bytes / PARTS_OF_A_WAY).then_some(Self {
            way_bytes,
            control_bytes: control_bytes.next_multiple_of(page_bytes),
            page_bytes,
        })
    }

    /// Bytes from an address on that no frame may take.
    pub(super) fn skipped(self, address: u64) -> u64 {
        let offset = address % self.way_bytes;
        if offset < self.control_bytes {
            self.control_bytes - offset
        } else if offset + self.page_bytes > self.way_bytes {
            self.way_bytes - offset + self.control_bytes
        } else {
            0
        }
    }

    /// So many frames, and what they keep off, as frames.
    fn spread(self, frames: u64) -> u64 {
        let each = (self.way_bytes - self.control_bytes) / self.page_bytes;
        // The first way and the last are not all theirs.
        let ways = frames.div_ceil(each) + 2;
        ways * (self.way_bytes / self.page_bytes)
    }

    /// Segments of groups of pages, and behind them of control structures, whose page table begins with a way, and descriptors follow.
    fn place(self, groups: &[Reservation], control: &[Reservation; 3]) -> Vec<Segment> {
        let groups: Vec<_> = (groups.iter())
            .map(|group| Reservation {
                objects: self.spread(group.objects),
                ..group.clone()
            })
            .collect();
        let mut all = place(&groups);
        let [table, descriptors, buffer] = control;
        let behind = all.last().map_or(0, end);
        let mut base = behind.next_multiple_of(self.way_bytes);
        for kept_off in [table, descriptors] {
            all.push(Segment {
                name: kept_off.name.clone(),
                base,
                size_bytes: bytes(kept_off),
            });
            base += bytes(kept_off);
        }
        all.push(place_behind(&all, buffer));
        all
    }
}

fn bytes(reservation: &Reservation) -> u64 {
    reservation.objects * reservation.object_bytes
}

fn end(segment: &Segment) -> u64 {
    segment.base + segment.size_bytes
}

/// Bytes of the addresses that so many pages take at most, where frames keep off control structures in ways of `way_bytes`.
pub(crate) fn colored_bytes(way_bytes: u32, page_bytes: u32, groups: &[u64]) -> u64 {
    let frames = u32::try_from(groups.iter().sum::<u64>()).unwrap_or(u32::MAX);
    let all = |coloring: Coloring| {
        groups
            .iter()
            .map(|&pages| coloring.spread(pages))
            .sum::<u64>()
    };
    let frames = Coloring::new(way_bytes, page_bytes, frames).map_or(0, all);
    frames.saturating_mul(page_bytes.into())
}

impl Pool {
    /// The same pages in frames that keep off the sets of page table and descriptors, in a cache of ways of so many bytes; none if these
    /// take more than half a way. The pool has a frame for each of its pages, and for those to come.
    #[must_use]
    pub fn colored(mut self, way_bytes: u32) -> Option<Self> {
        let page_bytes = self.page_bytes();
        let coloring = Coloring::new(way_bytes, page_bytes, self.most_pages())?;
        let groups: Vec<_> = (self.segments.iter())
            .map(|group| {
                Reservation::of(
                    &group.name,
                    page_bytes.into(),
                    group.size_bytes / u64::from(page_bytes),
                )
            })
            .collect();
        let control = control_reservations(self.most_pages(), page_bytes);
        let mut segments = coloring.place(&groups, &control);
        let control = segments.split_off(groups.len());
        let frames = Frames::new(page_bytes, self.most_pages(), None, control);
        let mut colored = Self::of(frames, segments);
        colored.coloring = Some(coloring);
        colored.program = self.program;
        self.copy_into(&mut colored);
        Some(colored)
    }

    /// Bytes of every way of so many bytes that frames keep off; 0 if they lie anywhere, as control structures take too much of it.
    pub(crate) fn kept_off_bytes(&self, way_bytes: u32) -> u64 {
        let coloring = Coloring::new(way_bytes, self.page_bytes(), self.most_pages());
        coloring.map_or(0, |coloring| coloring.control_bytes)
    }

    /// Addresses of the next frame of a group of pages.
    pub(super) fn next_frame(&mut self, group: usize) -> u64 {
        if let Some(coloring) = self.coloring {
            let skipped = coloring.skipped(self.memory.next(group));
            self.memory.allocate(group, skipped as usize);
        }
        self.memory.allocate(group, self.page_bytes() as usize)
    }
}
