//! Which tuples of a relation lie on which of its pages: one page is filled after the other, as far as they fit.

use super::pages::{HEADER_BYTES, PageFormat};
use super::tuple::Source;
use crate::watch;

/// The numbers of the tuples on each page.
#[derive(Debug)]
pub(super) enum Paging {
    /// So many tuples, as many on one page as on another.
    Even { tuples: u64, on_page: u64 },
    /// By page: the number of its first tuple; and in the end, how many there are.
    Uneven(Vec<u32>),
}

impl Paging {
    /// Of tuples in pages of a format.
    pub(super) fn new(format: PageFormat, tuples: &dyn Source) -> Self {
        if !format.varies() {
            return Self::Even {
                tuples: tuples.count(),
                on_page: format.tuples().into(),
            };
        }
        let (mut firsts, count) = (vec![0], tuples.count() as u32);
        let (mut first, mut place) = (0, HEADER_BYTES);
        for number in 0..count {
            watch::look_at(number.into());
            let bytes = tuples.bytes(number.into());
            if place + bytes > format.slot(number - first) {
                firsts.push(number);
                (first, place) = (number, HEADER_BYTES);
            }
            place += bytes;
        }
        if count > 0 {
            firsts.push(count);
        }
        Self::Uneven(firsts)
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> u64 {
        match self {
            Self::Even { tuples, on_page } => tuples.div_ceil(*on_page),
            Self::Uneven(firsts) => firsts.len() as u64 - 1,
        }
    }

    /// The first tuple of a page.
    pub(super) fn first(&self, page: u64) -> u64 {
        match self {
            Self::Even { on_page, .. } => page * on_page,
            Self::Uneven(firsts) => firsts[page as usize].into(),
        }
    }

    /// Tuples on a page; none if there is no such page.
    pub(super) fn on_page(&self, page: u64) -> u32 {
        match self {
            Self::Even { tuples, on_page } => {
                tuples.saturating_sub(page * on_page).min(*on_page) as u32
            }
            Self::Uneven(_) if page >= self.pages() => 0,
            Self::Uneven(firsts) => firsts[page as usize + 1] - firsts[page as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::lengths::Lengths;
    use crate::join::pages::SlotFormat;
    use crate::join::pages::tests::SLOTS;
    use crate::join::tuple::Tuple;
    use proptest::prelude::*;

    #[derive(Debug)]
    struct Of(Vec<u32>);

    impl Source for Of {
        fn count(&self) -> u64 {
            self.0.len() as u64
        }

        fn bytes(&self, number: u64) -> u32 {
            self.0[number as usize]
        }

        fn at(&self, number: u64) -> Tuple {
            unreachable!("nobody asks for tuple {number}")
        }
    }

    fn format(slots: SlotFormat) -> PageFormat {
        PageFormat {
            slots,
            ..PageFormat::new(4096, Lengths::Uniform(12, 1024))
        }
    }

    proptest! {
        /// Whatever is on a page fits there, and the next tuple would not.
        #[test]
        fn pages_are_as_full_as_they_can_be(
            words in prop::collection::vec(3..=256_u32, 0..400),
            slots in prop::sample::select(SLOTS.to_vec()),
        ) {
            let (format, lengths) = (format(slots), words.into_iter().map(|word| word * 4).collect());
            let tuples = Of(lengths);
            let paging = Paging::new(format, &tuples);
            let mut next = 0;
            for page in 0..paging.pages() {
                prop_assert_eq!(paging.first(page), next);
                let count = paging.on_page(page);
                let end = next + u64::from(count);
                let bytes: u32 = (next..end).map(|number| tuples.bytes(number)).sum();
                prop_assert!(count > 0 && HEADER_BYTES + bytes <= format.slot(count - 1));
                if end < tuples.count() {
                    prop_assert!(HEADER_BYTES + bytes + tuples.bytes(end) > format.slot(count));
                }
                next = end;
            }
            prop_assert_eq!(next, tuples.count());
            prop_assert_eq!(paging.on_page(paging.pages()), 0);
            prop_assert!(paging.pages() <= format.pages(tuples.count()));
        }

        #[test]
        fn tuples_of_one_length_are_even(tuples in 0..500_usize, bytes in 3..=256_u32) {
            let tuples = Of(vec![4 * bytes; tuples]);
            for slots in SLOTS {
                let even = Paging::new(format(slots).of_length(4 * bytes), &tuples);
                let uneven = Paging::new(format(slots), &tuples);
                let all = |paging: &Paging| -> Vec<(u64, u32)> {
                    (0..paging.pages()).map(|page| (paging.first(page), paging.on_page(page))).collect()
                };
                prop_assert_eq!(all(&even), all(&uneven));
            }
        }
    }
}
