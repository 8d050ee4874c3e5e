//! Hardware prefetchers: which lines to fetch ahead of their use. One kind per file.

mod next_line;
mod stream;
mod stride;

use crate::spec::PrefetcherSpec;
use next_line::NextLine;
use std::ops::RangeInclusive;
use stream::Streams;
use stride::StrideTable;

/// Lines that a prefetcher may ask for at one access: its largest degree.
pub(crate) const MOST_LINES: usize = 32;

/// An access that a prefetcher learns from.
#[derive(Clone, Debug)]
pub(crate) struct Trigger {
    /// First byte accessed.
    pub(crate) address: u64,
    /// Its line.
    pub(crate) line: u64,
    /// Instruction.
    pub(crate) site: u16,
    /// Whether it is the rest of an access that began in the line before, and is no longer than a line: one instruction's.
    pub(crate) is_rest: bool,
    /// Whether the line was missed, or used for the first time since it was prefetched.
    pub(crate) is_new: bool,
    /// Lines of the same page, which no prefetch leaves.
    pub(crate) page: RangeInclusive<u64>,
}

/// Lines to fetch, in order.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    lines: [u64; MOST_LINES],
    count: usize,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self {
            lines: [0; MOST_LINES],
            count: 0,
        }
    }

    /// Asks for a line, unless it lies outside the trigger's page or there are too many already.
    fn push(&mut self, trigger: &Trigger, line: u64) {
        if self.count < MOST_LINES && trigger.page.contains(&line) {
            self.lines[self.count] = line;
            self.count += 1;
        }
    }

    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines[..self.count]
    }
}

/// What a kind of prefetcher does.
trait Learns {
    /// Learns from an access and asks for lines.
    fn train(&mut self, trigger: &Trigger, requests: &mut Requests);

    /// Forgets what was learnt.
    fn clear(&mut self);
}

/// Makes of the list of kinds one type that dispatches to them.
macro_rules! register {
    ($($kind:ident($learns:ident),)+) => {
        /// State of one prefetcher.
        #[derive(Clone, Debug)]
        pub(crate) enum Prefetcher {
            $($kind($learns),)+
        }

        impl Prefetcher {
            /// As [`Learns::train`].
            pub(crate) fn train(&mut self, trigger: &Trigger, requests: &mut Requests) {
                match self { $(Self::$kind(learns) => learns.train(trigger, requests),)+ }
            }

            /// As [`Learns::clear`].
            pub(crate) fn clear(&mut self) {
                match self { $(Self::$kind(learns) => learns.clear(),)+ }
            }
        }
    };
}

register! {
    NextLine(NextLine),
    Stride(StrideTable),
    Stream(Streams),
}

impl Prefetcher {
    pub(crate) fn new(spec: &PrefetcherSpec, line_shift: u32) -> Self {
        match *spec {
            PrefetcherSpec::NextLine { degree } => Self::NextLine(NextLine::new(degree)),
            PrefetcherSpec::Stride {
                table_entries,
                degree,
            } => Self::Stride(StrideTable::new(table_entries, degree, line_shift)),
            PrefetcherSpec::Stream {
                streams,
                degree,
                distance_lines,
            } => Self::Stream(Streams::new(streams, degree, distance_lines)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_LINES: u64 = 64;

    /// What each access asks for: line, site, whether it is new.
    fn asked(spec: PrefetcherSpec, accesses: &[(u64, u16, bool)]) -> Vec<Vec<u64>> {
        let mut prefetcher = Prefetcher::new(&spec, 6);
        accesses
            .iter()
            .map(|&(line, site, is_new)| {
                let page = line / PAGE_LINES * PAGE_LINES;
                let trigger = Trigger {
                    address: line << 6,
                    line,
                    site,
                    is_rest: false,
                    is_new,
                    page: page..=page + PAGE_LINES - 1,
                };
                let mut requests = Requests::new();
                prefetcher.train(&trigger, &mut requests);
                requests.lines().to_vec()
            })
            .collect()
    }

    #[test]
    fn next_line_follows_new_lines_within_the_page() {
        let spec = PrefetcherSpec::NextLine { degree: 2 };
        let accesses = [(10, 0, true), (11, 0, false), (62, 0, true), (63, 0, true)];
        assert_eq!(
            asked(spec, &accesses),
            [vec![11, 12], vec![], vec![63], vec![]]
        );
    }

    #[test]
    fn a_stride_is_followed_once_it_came_twice() {
        let spec = PrefetcherSpec::Stride {
            table_entries: 16,
            degree: 2,
        };
        let accesses = [
            (0, 3, true),
            (5, 3, true),
            (40, 4, true),
            (10, 3, true),
            (15, 3, false),
            (16, 3, true),
        ];
        assert_eq!(
            asked(spec, &accesses),
            [vec![], vec![], vec![], vec![15, 20], vec![20, 25], vec![]]
        );
    }

    #[test]
    fn a_stream_starts_with_two_neighbours_and_runs_ahead() {
        let spec = PrefetcherSpec::Stream {
            streams: 2,
            degree: 2,
            distance_lines: 3,
        };
        let accesses = [
            (20, 0, true),
            (19, 0, true),
            (18, 0, false),
            (18, 0, true),
            (17, 0, true),
            (50, 0, true),
        ];
        assert_eq!(
            asked(spec, &accesses),
            [vec![], vec![18, 17], vec![], vec![16, 15], vec![14], vec![]]
        );
    }

    /// Jouppi's stream buffer: full when it starts, then one line for each that is used; if uses leave lines out, as many.
    #[test]
    fn a_stream_of_as_many_lines_a_use_as_it_runs_ahead_is_filled_when_it_starts() {
        let spec = PrefetcherSpec::Stream {
            streams: 1,
            degree: 3,
            distance_lines: 3,
        };
        let accesses = [59, 60, 61, 64, 65, 67].map(|line| (line, 0, true));
        assert_eq!(
            asked(spec, &accesses),
            [
                vec![],
                vec![61, 62, 63],
                vec![],
                vec![65, 66, 67],
                vec![68],
                vec![69, 70]
            ]
        );
    }

    #[test]
    fn a_stream_goes_on_in_the_next_page() {
        let spec = PrefetcherSpec::Stream {
            streams: 1,
            degree: 4,
            distance_lines: 8,
        };
        let accesses = [(60, 0, true), (61, 0, true), (62, 0, true), (64, 0, true)];
        assert_eq!(
            asked(spec, &accesses),
            [vec![], vec![62, 63], vec![], vec![65, 66, 67, 68]]
        );
    }
}
