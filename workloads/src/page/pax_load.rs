//! What filling PAX pages takes: the counts behind table 2 of the PAX paper.

/// Counts of a file's insertions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loading {
    /// Times that the boundaries of a page's minipages moved so that one more record fits.
    pub reorganizations: u64,
    /// Those of them after which only the record that caused them came into the page.
    pub for_last_record: u64,
    /// Pages with at least one.
    pub reorganized_pages: u64,
    /// Sum, over these pages, of the share in use before the first.
    pub fill_at_first: f64,
    /// Records that came into the last page since its last reorganization; none before the first.
    since: Option<u32>,
}

impl Loading {
    /// The file has a new last page.
    pub(super) fn new_page(&mut self) {
        if self.since == Some(1) {
            self.for_last_record += 1;
        }
        self.since = None;
    }

    /// The last page, of which the share `fill` is in use, is reorganized.
    pub(super) fn reorganized(&mut self, fill: f64) {
        self.reorganizations += 1;
        if self.since.is_none() {
            self.reorganized_pages += 1;
            self.fill_at_first += fill;
        }
        self.since = Some(0);
    }

    /// A record came into the last page.
    pub(super) fn inserted(&mut self) {
        if let Some(since) = &mut self.since {
            *since += 1;
        }
    }
}
