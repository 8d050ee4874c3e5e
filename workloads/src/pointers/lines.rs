//! Lines in random order inside pages: what both pointer microbenchmarks visit (thesis section 2.4.1).

use crate::arena::{Reservation, place};
use crate::outcome::{Checksum, Outcome};
use crate::random::Random;
use traces::Segment;

/// The geometry and order of the lines.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// Addresses in the order of the visit.
    pub(super) addresses: Vec<u64>,
    /// One line per page that is not visited.
    pub(super) unlisted: Vec<u64>,
    /// Where the pages are.
    pub(super) segment: Segment,
}

impl Lines {
    /// `count` lines, randomly chosen and ordered, in `pages` pages of which one line each stays unlisted.
    ///
    /// `before` is what lies below the pages in the address space.
    pub(super) fn in_pages(
        count: u64,
        pages: u64,
        page_bytes: u32,
        line_bytes: u32,
        before: &[Reservation],
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, 0);
        let segment = segment(pages, page_bytes, before);
        let (page, line) = (u64::from(page_bytes), u64::from(line_bytes));
        let listed = page / line - 1;
        let unlisted: Vec<u64> = (0..pages)
            .map(|number| segment.base + number * page + random.below(listed + 1) * line)
            .collect();
        let addresses = random
            .distinct(count, pages * listed)
            .into_iter()
            .map(|choice| {
                let (number, slot) = (choice / listed, choice % listed);
                let address = segment.base + number * page + slot * line;
                // Lines from the unlisted one on move up by one.
                if address >= unlisted[number as usize] {
                    address + line
                } else {
                    address
                }
            })
            .collect();
        Self {
            addresses,
            unlisted,
            segment,
        }
    }

    /// `count` lines, each at a random place of a page of its own, the pages in random order.
    pub(super) fn in_own_pages(
        count: u64,
        page_bytes: u32,
        line_bytes: u32,
        before: &[Reservation],
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, 0);
        let segment = segment(count, page_bytes, before);
        let (page, line) = (u64::from(page_bytes), u64::from(line_bytes));
        let addresses = random
            .distinct(count, count)
            .into_iter()
            .map(|number| segment.base + number * page + random.below(page / line) * line)
            .collect();
        Self {
            addresses,
            unlisted: Vec::new(),
            segment,
        }
    }

    /// What a visit to all of them leaves.
    pub(super) fn outcome(&self) -> Outcome {
        let mut checksum = Checksum::default();
        let addresses = self.addresses.iter();
        addresses.for_each(|&address| checksum.add(address));
        let mut outcome = Outcome::default();
        outcome.set("operations", self.addresses.len() as u64);
        outcome.set("checksum", checksum.value());
        outcome
    }
}

/// Where so many pages are, behind what lies below them.
pub(super) fn segment(pages: u64, page_bytes: u32, before: &[Reservation]) -> Segment {
    let nodes = Reservation {
        name: "lines".into(),
        object_bytes: u64::from(page_bytes),
        objects: pages,
    };
    let mut segment = place(&[before, std::slice::from_ref(&nodes)].concat())
        .pop()
        .expect("one was reserved");
    segment.base = segment.base.next_multiple_of(u64::from(page_bytes));
    segment
}
