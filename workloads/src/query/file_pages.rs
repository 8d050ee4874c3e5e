//! Where the pages of a decomposed relation are in storage: its files lie one behind the other, and what they grow by behind everything.

use std::ops::Range;

/// Numbers in storage of the pages of several files.
pub(super) struct FilePages {
    /// The pages that each file had.
    files: Vec<Range<u64>>,
    /// Those that it has grown by, in their order.
    added: Vec<Vec<u64>>,
    /// The first number that no page has.
    next: u64,
}

impl FilePages {
    /// Files of so many pages each, the first of which has number `first_page`.
    pub(super) fn new(first_page: u64, pages: impl Iterator<Item = u32>) -> Self {
        let mut next = first_page;
        let file = |pages| {
            let first = next;
            next += u64::from(pages);
            first..next
        };
        let files: Vec<_> = pages.map(file).collect();
        Self {
            added: vec![Vec::new(); files.len()],
            files,
            next,
        }
    }

    /// The first number behind everything.
    pub(super) fn end(&self) -> u64 {
        self.next
    }

    /// Pages up to this number belong to others.
    pub(super) fn leave(&mut self, end: u64) {
        self.next = self.next.max(end);
    }

    /// The number of a page of a file. The page that a file has just grown by gets the next one.
    ///
    /// # Panics
    /// If the file has grown by more than one page since.
    pub(super) fn number(&mut self, file: usize, page: u32) -> u64 {
        let Range { start, end } = self.files[file];
        let (number, added) = (start + u64::from(page), &mut self.added[file]);
        if number < end {
            return number;
        }
        let place = (number - end) as usize;
        if place == added.len() {
            added.push(self.next);
            self.next += 1;
        }
        added[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of two and three pages from number 10 on, then five pages of others: both grow from number 20 on, page by page.
    #[test]
    fn files_grow_behind_everything() {
        let mut pages = FilePages::new(10, [2, 3].into_iter());
        assert_eq!(pages.end(), 15);
        pages.leave(20);
        let numbers = [
            (0, 1),
            (1, 0),
            (1, 3),
            (0, 2),
            (1, 4),
            (1, 3),
            (0, 2),
            (0, 3),
        ];
        let found = numbers.map(|(file, page)| pages.number(file, page));
        assert_eq!(found, [11, 12, 20, 21, 22, 20, 21, 23]);
        assert_eq!(pages.end(), 24);
    }
}
