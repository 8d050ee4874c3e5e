//! What a run asks storage for, in order, for a device to time afterwards.

use serde::Serialize;
use traces::{Event, EventSink, Kind, SinkError};

/// What is asked of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageRequest {
    /// To be read now.
    Read,
    /// To be written.
    Write,
    /// To be read ahead of its use.
    Prefetch,
}

/// Requests of one kind for so many pages, each behind the one before: kind, first page, pages.
pub type PageRun = (PageRequest, u64, u64);

/// Requests in the order in which they came, consecutive pages together.
#[derive(Clone, Debug, Default)]
pub struct PageRequests(Vec<PageRun>);

impl PageRequests {
    /// Takes in what an event asks, if it asks for a page.
    pub(crate) fn take(&mut self, kind: Kind, page: u64) {
        let request = match kind {
            Kind::PageRead => PageRequest::Read,
            Kind::PageWrite => PageRequest::Write,
            Kind::PagePrefetch => PageRequest::Prefetch,
            _ => return,
        };
        match self.0.last_mut() {
            Some((latest, first, pages))
                if *latest == request && first.checked_add(*pages) == Some(page) =>
            {
                *pages += 1;
            }
            _ => self.0.push((request, page, 1)),
        }
    }

    /// Everything asked for.
    #[must_use]
    pub fn into_runs(self) -> Vec<PageRun> {
        self.0
    }
}

impl EventSink for PageRequests {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            self.take(event.kind, event.address);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_unroll_into_the_requests(asked in prop::collection::vec((0_usize..3, 0_u64..4), 0..100)) {
            let kinds = [
                (Kind::PageRead, PageRequest::Read),
                (Kind::PageWrite, PageRequest::Write),
                (Kind::PagePrefetch, PageRequest::Prefetch),
            ];
            let mut requests = PageRequests::default();
            let near_the_end = |page: u64| u64::MAX - 3 + page;
            for &(kind, page) in &asked {
                requests.take(kinds[kind].0, near_the_end(page));
            }
            let runs = requests.into_runs();
            let longest = runs.windows(2).all(|pair| {
                let ((kind, first, pages), (next, page, _)) = (pair[0], pair[1]);
                kind != next || first.wrapping_add(pages) != page || page == 0
            });
            prop_assert!(longest);
            let unrolled = runs.iter().flat_map(|&(kind, first, pages)| (0..pages).map(move |n| (kind, first + n)));
            let expected = asked.iter().map(|&(kind, page)| (kinds[kind].1, near_the_end(page)));
            prop_assert!(unrolled.eq(expected));
        }
    }
}
