//! A minipage that is full borrows space from one beside it (PAX section 4.2): the boundary between the two moves, and nothing else.

use super::pax::Pax;
use super::pax_format::Contents;
use super::{Page, PageFile};
use crate::tracer::{Dep, Trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of a minipage without room for a longer value. If there is none in the whole page, the record moves to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullMinipage {
    /// All boundaries of its page are set anew, to the averages of the page's records.
    #[default]
    Reorganize,
    /// It borrows from a minipage beside it, the next or the one before; all boundaries are set anew if neither has room.
    Borrow,
}

/// A minipage of values that may be missing or vary in length.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    bytes: usize,
    /// Bytes of its values, which begin at its start.
    values: usize,
    /// Bytes of what is kept for its records, which end at its end.
    kept: usize,
}

impl Part {
    fn end(&self) -> usize {
        self.start + self.bytes
    }

    /// Bytes between the values and what is kept for them.
    fn spare(&self) -> usize {
        self.bytes - self.values - self.kept
    }
}

impl Pax {
    fn part(&self, page: u32, attribute: usize) -> Part {
        let (start, bytes) = self.entry(page, attribute);
        Part {
            start,
            bytes,
            values: self.used_in(page, attribute),
            kept: self.format.contents[attribute].bytes(self.live(page)),
        }
    }

    /// Has a full minipage borrow space for a value that becomes so many bytes `longer`: whether one of its neighbors can spare it.
    ///
    /// Both have as much to spare then. Minipages of values that each record has, of one length, lend nothing: their capacity is the page's.
    pub(super) fn borrow<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        attribute: usize,
        longer: usize,
    ) -> bool {
        let number = page.number();
        let missing = longer - self.part(number, attribute).spare();
        for neighbor in [attribute + 1, attribute.wrapping_sub(1)] {
            let contents = self.format.contents.get(neighbor);
            if matches!(contents, None | Some(Contents::Fixed(_))) {
                continue;
            }
            let entry = self.column(trace, page, neighbor).dep;
            self.load_used(trace, page, neighbor);
            let spare = self.part(number, neighbor).spare();
            if spare >= missing {
                let borrowed = missing + (spare - missing) / 2;
                self.move_boundary(trace, (page, entry), attribute, neighbor, borrowed);
                return true;
            }
        }
        false
    }

    /// Gives `bytes` that a minipage has to spare to the one beside it. `known` is what brought the place of the second one that was looked up.
    fn move_boundary<T: Trace>(
        &mut self,
        trace: &mut T,
        (page, known): (Page, Dep),
        to: usize,
        from: usize,
        bytes: usize,
    ) {
        let (number, first, second) = (page.number(), to.min(from), to.max(from));
        let parts = [first, second].map(|attribute| self.part(number, attribute));
        let [before, behind] = parts;
        let boundary = if to == first {
            behind.start + bytes
        } else {
            behind.start - bytes
        };
        let entries = self.format.entry(first)..self.format.entry(second + 1);
        self.set_field(number, entries.start + 2, boundary - before.start);
        self.set_field(number, entries.end - 4, boundary);
        self.set_field(number, entries.end - 2, behind.end() - boundary);
        // What is kept for the first one's values, and the second one's values. Who lends makes room for the other.
        let kept = (
            before.end() - before.kept,
            boundary - before.kept,
            before.kept,
        );
        let values = (behind.start, boundary, behind.values);
        let mut moves = [
            (self.sites.attribute(second), values),
            (self.kept_site(first), kept),
        ];
        if from == first {
            moves.reverse();
        }
        let mut framed = self.frames.framed_mut(page.fixed);
        framed.store_bytes(trace, self.sites.header(), entries, 2, known);
        for (site, moved) in moves {
            let (old, new, bytes) = moved;
            framed.bytes.copy_within(old..old + bytes, new);
            framed.moved(trace, site, moved, known);
        }
    }
}
