//! Which addresses lie in huge pages.

use crate::spec::{HugePages, SpecError, TlbSpec};
use std::ops::RangeInclusive;
use traces::{Layout, Segment};

/// Segments named in an error at most.
const NAMED: usize = 12;

/// Numbers of the huge pages that hold anything of the segments that the machine names: ascending, apart from each other.
/// A huge page is huge as a whole, with what else lies in it.
///
/// # Errors
/// A pattern matches no segment.
pub(super) fn huge_pages(
    spec: &TlbSpec,
    huge_page_bytes: u64,
    layout: &Layout,
) -> Result<Vec<RangeInclusive<u64>>, SpecError> {
    let HugePages::Segments(patterns) = &spec.huge_pages else {
        return Ok(Vec::new());
    };
    for (number, pattern) in patterns.iter().enumerate() {
        let mut segments = layout.segments.iter();
        if !segments.any(|segment| matches(pattern, &segment.name)) {
            return Err(SpecError {
                path: format!("dtlb.huge_pages.{number}"),
                message: format!("`{pattern}` {}", no_match(&layout.segments)),
            });
        }
    }
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
    Ok(pages)
}

fn no_match(segments: &[Segment]) -> String {
    let names = segments.iter().take(NAMED);
    let names: Vec<String> = names.map(|segment| format!("`{}`", segment.name)).collect();
    match segments.len() {
        0 => "matches no segment: the trace names none, so that huge_pages can be only none or all"
            .to_owned(),
        count if count > NAMED => format!(
            "matches no segment of the trace; it has {} and {} more",
            names.join(", "),
            count - NAMED
        ),
        _ => format!(
            "matches no segment of the trace; it has {}",
            names.join(", ")
        ),
    }
}

/// Whether a name is of the form of the pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
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
