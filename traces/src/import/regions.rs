//! Regions of memory and phases of the run, named on the command line or by the program itself.

use crate::import::error::Fault;
use crate::layout::Segment;
use std::collections::{BTreeMap, HashSet};

/// Pieces of named memory that a trace may have.
const MOST_PIECES: usize = 1 << 16;
/// Names of pieces, and of phases, that it may have: a simulation keeps an account for each pair.
const MOST_NAMES: usize = 1 << 12;
/// Bytes of a name.
const NAME_BYTES: usize = 256;

/// One piece of named memory.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its last byte.
    last: u64,
    /// Index of its name.
    name: usize,
}

/// Name, first byte and bytes of memory that is called so unless it has another name.
type Area = (String, u64, u64);

/// The names that user and program gave so far.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    names: Vec<String>,
    /// Pieces by their first byte; they do not overlap.
    pieces: BTreeMap<u64, Piece>,
    /// What is called so unless it has another name.
    areas: Vec<Area>,
    /// The same, each once: a program may map a file again where it was before.
    known_areas: HashSet<Area>,
    /// Areas beyond those that may have names.
    unnamed: u64,
    phases: Vec<String>,
}

impl Regions {
    /// No memory has a name; `phase` is the first.
    pub(super) fn new(phase: &str) -> Self {
        Self {
            names: Vec::new(),
            pieces: BTreeMap::new(),
            areas: Vec::new(),
            known_areas: HashSet::new(),
            unnamed: 0,
            phases: vec![phase.to_owned()],
        }
    }

    /// `size` bytes at `base` are called `name`: for the whole trace, what came before included. Bytes that had another
    /// name keep it; then that name is returned.
    pub(super) fn name_segment(
        &mut self,
        name: &str,
        base: u64,
        size: u64,
    ) -> Result<Option<String>, Fault> {
        let last = last_byte(name, base, size)?;
        let number = index_of(&mut self.names, name, "segments")?;
        let mut gaps = Vec::new();
        let mut taken_by = None;
        let mut from = Some(base);
        for (&first, piece) in self.pieces.range(self.first_near(base)..=last) {
            let Some(start) = from.filter(|start| *start <= last) else {
                break;
            };
            if piece.last < start {
                continue;
            }
            if piece.name != number {
                taken_by.get_or_insert(piece.name);
            }
            if start < first {
                gaps.push((start, first - 1));
            }
            from = piece.last.checked_add(1);
        }
        gaps.extend(
            from.filter(|start| *start <= last)
                .map(|start| (start, last)),
        );
        let joined = gaps.iter().map(|gap| self.neighbours(*gap, number));
        let joined: usize = joined
            .map(|(before, behind)| usize::from(before.is_some()) + usize::from(behind.is_some()))
            .sum();
        if self.pieces.len() + gaps.len() > MOST_PIECES + joined {
            return Err(Fault::new(format!(
                "more than {MOST_PIECES} pieces of memory have names"
            )));
        }
        for gap in gaps {
            let (before, behind) = self.neighbours(gap, number);
            let last = behind.and_then(|first| self.pieces.remove(&first));
            let last = last.map_or(gap.1, |piece| piece.last);
            let first = before.unwrap_or(gap.0);
            self.pieces.insert(first, Piece { last, name: number });
        }
        Ok(taken_by.map(|name| self.names[name].clone()))
    }

    /// Bytes are called so, for the whole trace, unless they have another name, or get one later.
    pub(super) fn name_area(&mut self, name: &str, base: u64, size: u64) -> Result<(), Fault> {
        last_byte(name, base, size)?;
        let area = (name.to_owned(), base, size);
        if self.known_areas.contains(&area) {
            return Ok(());
        }
        if self.areas.len() == MOST_PIECES {
            self.unnamed += 1;
            return Ok(());
        }
        self.known_areas.insert(area.clone());
        self.areas.push(area);
        Ok(())
    }

    /// First bytes of the pieces of a name that touch a gap: before it and behind.
    fn neighbours(&self, (first, last): (u64, u64), name: usize) -> (Option<u64>, Option<u64>) {
        let before = self.pieces.range(..first).next_back();
        let before = before.filter(|(_, piece)| piece.name == name && piece.last + 1 == first);
        let behind = last.checked_add(1);
        let behind = behind.filter(|behind| {
            self.pieces
                .get(behind)
                .is_some_and(|piece| piece.name == name)
        });
        (before.map(|(first, _)| *first), behind)
    }

    /// First byte of the piece that holds `address` or comes before it.
    fn first_near(&self, address: u64) -> u64 {
        let mut before = self.pieces.range(..=address);
        before.next_back().map_or(address, |(first, _)| *first)
    }

    /// Number of the phase called `name`.
    pub(super) fn phase(&mut self, name: &str) -> Result<u64, Fault> {
        check_name(name)?;
        Ok(index_of(&mut self.phases, name, "phases")? as u64)
    }

    /// The segments in ascending order, pieces of one name that touch each other as one, and the phases. What the user should know is added to
    /// `warnings`.
    pub(super) fn finish(mut self, warnings: &mut Vec<String>) -> (Vec<Segment>, Vec<String>) {
        for (name, base, size) in std::mem::take(&mut self.areas) {
            // Where there are too many pieces already, areas have no name.
            self.unnamed += u64::from(self.name_segment(&name, base, size).is_err());
        }
        if self.unnamed > 0 {
            warnings.push(format!(
                "{} areas of memory (stacks, mapped files and the like) have no name in the trace, as {MOST_PIECES} pieces of memory may have one",
                self.unnamed
            ));
        }
        let mut segments: Vec<Segment> = Vec::with_capacity(self.pieces.len());
        for (base, piece) in self.pieces {
            let name = &self.names[piece.name];
            let size_bytes = piece.last - base + 1;
            match segments.last_mut() {
                Some(before) if before.name == *name && before.base + before.size_bytes == base => {
                    before.size_bytes += size_bytes;
                }
                _ => segments.push(Segment {
                    name: name.clone(),
                    base,
                    size_bytes,
                }),
            }
        }
        (segments, self.phases)
    }
}

/// The last byte of memory that is to be called `name`.
fn last_byte(name: &str, base: u64, size: u64) -> Result<u64, Fault> {
    check_name(name)?;
    if Segment::RESERVED_NAMES.contains(&name) {
        return Err(Fault::new(format!(
            "`{name}` is what results call memory without a name"
        )));
    }
    let Some(length) = size.checked_sub(1) else {
        return Err(Fault::new("a segment of 0 bytes"));
    };
    // The layout names the first byte behind a segment, so the last address of all belongs to none.
    base.checked_add(length)
        .filter(|last| *last < u64::MAX)
        .ok_or_else(|| Fault::new("the segment ends beyond the 64-bit address space"))
}

fn check_name(name: &str) -> Result<(), Fault> {
    match name.len() {
        0 => Err(Fault::new("the name is missing")),
        1..=NAME_BYTES => Ok(()),
        _ => Err(Fault::new(format!(
            "a name of more than {NAME_BYTES} bytes"
        ))),
    }
}

/// Index of `name`, which is added if it is new; `what` is what the names are of.
fn index_of(names: &mut Vec<String>, name: &str, what: &str) -> Result<usize, Fault> {
    if let Some(index) = names.iter().position(|one| one == name) {
        return Ok(index);
    }
    if names.len() == MOST_NAMES {
        return Err(Fault::new(format!("more than {MOST_NAMES} {what}")));
    }
    names.push(name.to_owned());
    Ok(names.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(regions: Regions) -> Vec<(String, u64, u64)> {
        let (segments, _) = regions.finish(&mut Vec::new());
        let shown = segments.into_iter();
        shown
            .map(|segment| (segment.name, segment.base, segment.size_bytes))
            .collect()
    }

    #[test]
    fn a_name_may_grow_and_leaves_others_alone() {
        let mut regions = Regions::new("run");
        let mut name = |name, base, size| regions.name_segment(name, base, size).unwrap();
        assert_eq!(name("heap", 100, 50), None);
        assert_eq!(name("heap", 100, 80), None);
        assert_eq!(name("stack", 300, 10), None);
        assert_eq!(name("all", 90, 300).as_deref(), Some("heap"));
        assert_eq!(name("inside", 110, 5).as_deref(), Some("heap"));
        let expected = [
            ("all", 90, 10),
            ("heap", 100, 80),
            ("all", 180, 120),
            ("stack", 300, 10),
            ("all", 310, 80),
        ];
        let expected = expected.map(|(name, base, size)| (name.to_owned(), base, size));
        assert_eq!(named(regions), expected);
    }

    #[test]
    fn what_touches_is_one_piece() {
        let mut regions = Regions::new("run");
        let pieces = 2 * MOST_PIECES as u64;
        let mut name = |number| {
            assert_eq!(regions.name_segment("rows", 10 * number, 10).unwrap(), None);
        };
        // Each fills a gap: before a piece, behind one, or between two.
        (1..pieces / 2).rev().for_each(&mut name);
        (pieces / 2 + 1..pieces).for_each(&mut name);
        name(pieces / 2);
        name(0);
        assert_eq!(named(regions), [("rows".to_owned(), 0, 10 * pieces)]);
    }

    #[test]
    fn areas_are_called_what_has_no_other_name() {
        let mut regions = Regions::new("run");
        regions.name_area("stack", 100, 50).unwrap();
        regions.name_area("all", 0, 120).unwrap();
        assert_eq!(regions.name_segment("table", 110, 20).unwrap(), None);
        let expected = [
            ("all", 0, 100),
            ("stack", 100, 10),
            ("table", 110, 20),
            ("stack", 130, 20),
        ];
        let expected = expected.map(|(name, base, size)| (name.to_owned(), base, size));
        assert_eq!(named(regions), expected);
    }

    #[test]
    fn it_is_said_how_many_areas_have_no_name() {
        let mut regions = Regions::new("run");
        let pieces = MOST_PIECES as u64;
        for number in (0..pieces + 5).chain(0..9) {
            regions.name_area("mapped files", 10 * number, 5).unwrap();
        }
        regions.name_segment("table", 0, 1).unwrap();
        let mut warnings = Vec::new();
        let (segments, _) = regions.finish(&mut warnings);
        assert_eq!(segments.len(), MOST_PIECES);
        // The table has the name of one more.
        assert!(warnings[0].starts_with("6 areas of memory"), "{warnings:?}");
    }

    #[test]
    fn what_cannot_be_named_is_refused() {
        let mut regions = Regions::new("run");
        for (name, base, size) in [
            ("", 1, 1),
            ("(elsewhere)", 1, 1),
            ("(none)", 1, 1),
            ("a", 1, 0),
            ("a", u64::MAX, 1),
            ("a", 9, u64::MAX),
        ] {
            assert!(regions.name_segment(name, base, size).is_err(), "{name}");
            assert!(regions.name_area(name, base, size).is_err(), "{name}");
        }
        assert!(regions.name_segment(&"n".repeat(257), 1, 1).is_err());
        assert!(regions.phase("").is_err());
        assert_eq!(regions.phase("run").unwrap(), 0);
        assert_eq!(regions.phase("probe").unwrap(), 1);
    }
}
