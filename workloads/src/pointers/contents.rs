//! The array and the lines in the simulated memory: what kernels load is read where the addresses say, whatever takes their events.

use super::lines::Lines;
use crate::arena::Arena;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::tracer::{Dep, Trace};
use crate::watch;
use crate::word::Word;
use std::hint::black_box;
use traces::Segment;

/// Lines, each of which begins with a word, and an array of pointers to them if there is one.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub(super) memory: Arena,
    /// Address of the array, which is in the segment before that of the lines.
    array: u64,
    /// Number of the segment that the lines are in.
    segment: usize,
    /// Lines that are visited.
    pub(super) lines: usize,
    /// The line that is visited first.
    pub(super) first: u64,
    /// One line per page that is not visited.
    unlisted: Vec<u64>,
    /// What a visit to all of them leaves.
    pub(super) outcome: Outcome,
}

impl Contents {
    /// Line number `index` of the visit holds `word(index)`, and those that are not visited 0; an array has the addresses in the
    /// order of the visit.
    pub(super) fn new<W: Word>(
        lines: &Lines,
        array: Option<Segment>,
        word: impl Fn(usize) -> u64,
    ) -> Self {
        let segment = usize::from(array.is_some());
        let base = array.as_ref().map_or(0, |array| array.base);
        let segments: Vec<_> = array.into_iter().chain([lines.segment.clone()]).collect();
        let sizes: Vec<_> = segments.iter().map(|segment| segment.size_bytes).collect();
        let mut memory = Arena::new(segments);
        for (segment, size_bytes) in sizes.into_iter().enumerate() {
            memory.allocate(segment, size_bytes as usize);
        }
        let mut contents = Self {
            memory,
            array: base,
            segment,
            lines: lines.addresses.len(),
            first: lines.addresses[0],
            unlisted: lines.unlisted.clone(),
            outcome: lines.outcome(),
        };
        for (index, &address) in lines.addresses.iter().enumerate() {
            watch::look_at(index as u64);
            contents.write(contents.line::<W>(address), word(index));
            if segment > 0 {
                contents.write(contents.element::<W>(index), address);
            }
        }
        for &address in &lines.unlisted {
            // Touched, so that native runs find memory of its own behind every page.
            contents.write(contents.line::<W>(address), 0);
        }
        contents.memory.freeze();
        contents
    }

    fn write<W: Word>(&mut self, place: Place<W>, word: u64) {
        self.memory.write(place, W::from_u64(word));
    }

    /// The segments, as a layout has them.
    pub(super) fn segments(&self) -> Vec<Segment> {
        self.memory.segments().to_vec()
    }

    /// Where element `index` of the array lies.
    #[inline]
    pub(super) fn element<W: Word>(&self, index: usize) -> Place<W> {
        Place::new(0, self.array).element(index)
    }

    /// Where the word of the line at an address lies.
    #[inline]
    pub(super) fn line<W: Word>(&self, address: u64) -> Place<W> {
        Place::new(self.segment, address)
    }

    /// Loads the unlisted line of every page, and so its translation.
    pub(super) fn warm_tlb<W: Word, T: Trace>(&self, trace: &mut T, site: impl Into<u16> + Copy) {
        for &address in &self.unlisted {
            // Bump the page number, compare with the end.
            trace.work(2);
            let line = self.line::<W>(address);
            black_box(self.memory.load(trace, site, line, Dep::NONE));
        }
    }
}
