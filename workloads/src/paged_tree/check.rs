//! What holds of every index, however it came to be: whoever finds that it holds of the bytes of a file may go on with the index.

use std::fmt;

/// What is wrong with an index, and in which page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// PageID.
    pub page: u32,
    /// What is wrong with it.
    pub what: String,
}

impl Fault {
    pub(super) fn new(page: u32, what: impl Into<String>) -> Self {
        Self {
            page,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "page {}: {}", self.page, self.what)
    }
}

/// Checks one thing of a page.
pub(super) fn holds(page: u32, holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(Fault::new(page, what()))
    }
}

/// Checks that keys ascend from `low` on and end before `high`.
pub(super) fn ascend<K: Ord + Copy>(
    page: u32,
    keys: impl Iterator<Item = K>,
    (low, high): (Option<K>, Option<K>),
) -> Result<(), Fault> {
    let mut before = None;
    for key in keys {
        holds(page, before.is_none_or(|before| before < key), || {
            "its keys do not ascend".into()
        })?;
        let belongs = low.is_none_or(|low| low <= key) && high.is_none_or(|high| key < high);
        holds(page, belongs, || {
            "a key is not between those of the page above".into()
        })?;
        before = Some(key);
    }
    Ok(())
}

/// Pages or nodes of a level, and how near they are to being split.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    /// How many there are.
    pub objects: u64,
    /// Insertions by which they are nearer to a split than those that have just come out of one.
    nearer: u64,
}

impl Filled {
    /// One more, which takes so many insertions until it is split, where what came out of a split takes `half`.
    pub(super) fn add(&mut self, insertions: u64, half: u64) {
        self.objects += 1;
        self.nearer += half.saturating_sub(insertions);
    }

    /// Most splits of `arriving` insertions.
    ///
    /// An insertion splits one object at most. A split takes the insertions until its object is full; all but the first are of objects
    /// that are `half` insertions away from it.
    pub(super) fn splits(&self, arriving: u64, half: u64) -> u64 {
        arriving.min((arriving + self.nearer) / half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::plan::most;

    /// The same as the plan's, of which nothing is known but how many objects there are.
    #[test]
    fn full_objects_are_those_of_plans() {
        for (objects, half, arriving) in [
            (0, 5, 0),
            (0, 5, 99),
            (7, 5, 3),
            (7, 5, 100),
            (1000, 250, 1),
        ] {
            let mut filled = Filled::default();
            (0..objects).for_each(|_| filled.add(0, half));
            let plan = most(objects, 2 * half as usize, arriving) - objects;
            assert_eq!(filled.splits(arriving, half), plan);
        }
    }

    #[test]
    fn what_is_not_full_is_split_later() {
        let mut filled = Filled::default();
        filled.add(3, 5);
        filled.add(5, 5);
        assert_eq!(
            [2, 3, 7, 8].map(|arriving| filled.splits(arriving, 5)),
            [0, 1, 1, 2]
        );
    }
}
