//! Which addresses lie in huge pages.

use crate::segments::matches;
use crate::spec::{HugePages, MachineSpec, SpecError, TlbSpec};
use std::ops::RangeInclusive;
use traces::{Layout, Segment};

/// Segments named in an error at most.
const NAMED: usize = 12;

/// Numbers of the huge pages that hold anything of the segments that the machine names: ascending, apart from each other.
/// A huge page is huge as a whole, with what else lies in it. A pattern may match nothing here: another program may have what it names.
pub(super) fn huge_pages(
    spec: &TlbSpec,
    huge_page_bytes: u64,
    layout: &Layout,
) -> Vec<RangeInclusive<u64>> {
    let HugePages::Segments(patterns) = &spec.huge_pages else {
        return Vec::new();
    };
    let is_huge = |segment: &&Segment| {
        let mut patterns = patterns.iter();
        segment.size_bytes > 0 && patterns.any(|pattern| matches(pattern, &segment.name))
    };
    let mut pages: Vec<RangeInclusive<u64>> = Vec::new();
    for segment in layout.segments.iter().filter(is_huge) {
        let last = segment.base + (segment.size_bytes - 1);
        let (first, last) = (segment.base / huge_page_bytes, last / huge_page_bytes);
        match pages.last_mut() {
            Some(before) if *before.end() + 1 >= first => *before = *before.start()..=last,
            _ => pages.push(first..=last),
        }
    }
    pages
}

impl MachineSpec {
    /// Checks that each segment that is to be in huge pages is one of some program; threads of a program have its layout each.
    ///
    /// # Errors
    /// No program has such a segment: the pattern, and what there is.
    pub fn check_huge_segments<'l>(
        &self,
        layouts: impl IntoIterator<Item = &'l Layout>,
    ) -> Result<(), SpecError> {
        let HugePages::Segments(patterns) = &self.dtlb.huge_pages else {
            return Ok(());
        };
        let mut programs: Vec<&Layout> = Vec::new();
        for layout in layouts {
            if !programs.contains(&layout) {
                programs.push(layout);
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for segment in programs.iter().flat_map(|layout| &layout.segments) {
            if !names.contains(&segment.name.as_str()) {
                names.push(&segment.name);
            }
        }
        let is_missing = |pattern: &String| !names.iter().any(|name| matches(pattern, name));
        match patterns.iter().position(is_missing) {
            None => Ok(()),
            Some(number) => Err(SpecError {
                path: format!("dtlb.huge_pages.{number}"),
                message: format!(
                    "`{}` {}",
                    patterns[number],
                    no_match(&names, programs.len())
                ),
            }),
        }
    }
}

/// What is wrong with a pattern that matches none of the names of so many programs' segments.
fn no_match(names: &[&str], programs: usize) -> String {
    let (of, they, without) = match programs {
        0 | 1 => ("the trace", "it has", "the trace names none"),
        _ => ("any trace", "they have", "no trace names any"),
    };
    let named: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|name| format!("`{name}`"))
        .collect();
    let named = named.join(", ");
    match names.len() {
        0 => {
            format!("matches no segment: {without}, so that huge_pages can be only none or all")
        }
        count if count > NAMED => {
            let more = count - NAMED;
            format!("matches no segment of {of}; {they} {named} and {more} more")
        }
        _ => format!("matches no segment of {of}; {they} {named}"),
    }
}
