//! Which segment does an address belong to? Segments of one name are one data structure.

use std::collections::{HashMap, HashSet};
use traces::Segment;

/// Whether a segment's name is of the form of a pattern, in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    true
}

/// Addresses of one segment, or of the space between two.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u64,
    /// Of them; the last address of all is in no range that has all the others.
    bytes: u64,
    /// Number of the segment, as [`SegmentFinder::enter`] gives it.
    segment: usize,
    /// Number of the range, in the order of addresses.
    number: usize,
}

impl Range {
    #[inline]
    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.bytes
    }
}

/// The names of the segments, each once.
fn names(segments: &[Segment]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = segments.iter().map(|segment| &segment.name);
    names.filter(|name| seen.insert(*name)).cloned().collect()
}

/// All addresses, cut where a segment begins or ends; segments have the numbers of their names.
fn cut(segments: &[Segment], names: &[String]) -> Box<[Range]> {
    let numbers: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut ranges = Vec::with_capacity(2 * segments.len() + 1);
    let mut add = |first, bytes, segment| {
        let number = ranges.len();
        ranges.push(Range {
            first,
            bytes,
            segment,
            number,
        });
    };
    let elsewhere = names.len() + 1;
    let mut end = 0;
    for segment in segments {
        add(end, segment.base - end, elsewhere);
        add(
            segment.base,
            segment.size_bytes,
            numbers[segment.name.as_str()],
        );
        end = segment.base + segment.size_bytes;
    }
    add(end, (u64::MAX - end).saturating_add(1), elsewhere);
    ranges.into_boxed_slice()
}

/// Finds the segments of a program's addresses, one after the other; or the sites of its accesses in their place.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFinder {
    names: Vec<String>,
    /// What is found is the site.
    by_site: bool,
    /// Ascending, without a gap; some are empty.
    ranges: Box<[Range]>,
    /// For each range which one came after it the last time: programs go through structures in the same order.
    successors: Box<[usize]>,
    /// The two ranges touched last: programs alternate between two structures.
    recent: [Range; 2],
    /// Which of them was the latest: to say it costs the host less than to have it first.
    latest: usize,
}

impl SegmentFinder {
    /// Segments are ascending and do not overlap.
    pub(crate) fn new(segments: &[Segment]) -> Self {
        let names = names(segments);
        let ranges = cut(segments, &names);
        Self {
            names,
            by_site: false,
            successors: vec![0; ranges.len()].into_boxed_slice(),
            recent: [Range {
                bytes: 0,
                ..ranges[0]
            }; 2],
            latest: 0,
            ranges,
        }
    }

    /// Finds sites, whatever the address.
    pub(crate) fn of_sites(sites: &[String]) -> Self {
        Self {
            names: sites.to_vec(),
            by_site: true,
            ..Self::new(&[])
        }
    }

    /// How many numbers [`SegmentFinder::enter`] gives and [`SegmentFinder::name`] takes.
    pub(crate) fn places(&self) -> usize {
        self.names.len() + 2
    }

    /// Number of "no segment touched yet".
    pub(crate) fn untouched(&self) -> usize {
        self.names.len()
    }

    /// Name of a number, as results show it.
    pub(crate) fn name(&self, number: usize) -> &str {
        match number.checked_sub(self.names.len()) {
            None => &self.names[number],
            Some(0) => Segment::NOWHERE,
            Some(_) => Segment::ELSEWHERE,
        }
    }

    /// Number of the segment of `address`, unless it is that of the address before; or `site`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, address: u64, site: u16) -> Option<usize> {
        if self.recent[self.latest & 1].holds(address) {
            return None;
        }
        self.latest ^= 1;
        let other = self.latest & 1;
        if !self.recent[other].holds(address) {
            self.recent[other] = self.find(address, site);
        }
        Some(self.recent[other].segment)
    }

    /// Number of the segment of `address`, or of `site`, which are not touched for that.
    pub(crate) fn number_of(&self, address: u64, site: u16) -> usize {
        if self.by_site {
            return self.number_of_site(site);
        }
        self.ranges[self.place_of(address)].segment
    }

    fn number_of_site(&self, site: u16) -> usize {
        usize::from(site).min(self.names.len() + 1)
    }

    /// The place of the range that holds an address.
    fn place_of(&self, address: u64) -> usize {
        let behind = self.ranges.partition_point(|range| range.first <= address);
        // The first range begins at address 0.
        behind.saturating_sub(1)
    }

    /// The largest range around `address` that lies in one segment, or in none. A site has a range without addresses, so
    /// that each access comes here.
    #[inline(never)]
    fn find(&mut self, address: u64, site: u16) -> Range {
        if self.by_site {
            return Range {
                bytes: 0,
                segment: self.number_of_site(site),
                ..self.ranges[0]
            };
        }
        let before = self.recent[(self.latest ^ 1) & 1].number;
        if !self.ranges[self.successors[before]].holds(address) {
            self.successors[before] = self.place_of(address);
        }
        self.ranges[self.successors[before]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let cases = [
            ("level 0", "level 0", true),
            ("level 0", "level 0 (leaves)", false),
            ("level *", "level 0 (leaves)", true),
            ("*leaves*", "level 0 (leaves)", true),
            ("*(*)", "level 0 (leaves)", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("*b", "abc", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
