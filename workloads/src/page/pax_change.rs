//! Changes of PAX pages: slots of deleted records, strings that grow.

use super::copies::copy_words;
use super::minipage::END_BYTES;
use super::pax::{Minipage, Pax};
use super::pax_format::header;
use super::{Column, Page, RecordId, Value};
use crate::tracer::{Dep, Trace};

impl Pax {
    pub(super) fn is_deleted(&self, page: u32, slot: u32) -> bool {
        let byte = self.format.bitmap() + slot as usize / 8;
        self.options.deletions && self.frames.page(page)[byte] & (1 << (slot % 8)) != 0
    }

    pub(super) fn set_deleted<T: Trace>(&mut self, trace: &mut T, id: RecordId, deleted: bool) {
        let byte = self.format.bitmap() + id.slot as usize / 8;
        let place = &mut self.frames.page_mut(id.page)[byte];
        let bit = 1 << (id.slot % 8);
        *place = *place & !bit | if deleted { bit } else { 0 };
        let address = self.frames.address(id.page) + byte as u64;
        trace.store(self.sites.presence(), address, 1, 1, Dep::NONE);
        let count = self.field(id.page, header::DELETED);
        let count = if deleted { count + 1 } else { count - 1 };
        self.set_field(id.page, header::DELETED, count);
    }

    /// The slot for a new record: that of a deleted one, or one more.
    pub(super) fn take_slot<T: Trace>(&mut self, trace: &mut T, page: u32) -> u32 {
        let slots = self.field(page, header::SLOTS) as u32;
        if self.field(page, header::DELETED) == 0 {
            self.set_field(page, header::SLOTS, slots as usize + 1);
            return slots;
        }
        let slot = (0..slots)
            .find(|&slot| self.is_deleted(page, slot))
            .expect("the header counts the deleted records");
        self.set_deleted(trace, RecordId { page, slot }, false);
        slot
    }

    /// Where the values of a slot's record are among those of its page: deleted records leave no gaps.
    pub(super) fn place_of(&self, page: u32, slot: u32) -> usize {
        if self.field(page, header::DELETED) == 0 {
            return slot as usize;
        }
        let before = (0..slot).filter(|&before| !self.is_deleted(page, before));
        before.count()
    }

    /// Changes a string in its minipage, which has room for it.
    pub(super) fn replace<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        column: &Column,
        place: usize,
        value: Value,
    ) {
        let records = self.live(page.number);
        let Minipage::Variable(minipage) = self.minipage(page.number, column.attribute) else {
            unreachable!("the attribute has values of variable length");
        };
        let bytes = self.frames.page_mut(page.number);
        let old = minipage.value(bytes, place);
        let behind = minipage.start + minipage.used(bytes, records) - old.end;
        let string = value.is_present().then_some(value.bytes());
        minipage.replace(bytes, place, records, string);
        let new = minipage.value(bytes, place);
        if new.len() != old.len() && behind > 0 {
            let (size, words) = (behind as u16, copy_words(behind));
            let at = |offset: usize| page.address + offset as u64;
            let token = trace.load(column.site, at(old.end), size, words, column.dep);
            trace.store(column.site, at(new.end), size, words, token.after(0));
        }
        if !new.is_empty() {
            let address = page.address + new.start as u64;
            trace.store(
                column.site,
                address,
                new.len() as u16,
                copy_words(new.len()),
                column.dep,
            );
        }
        // The ends of this value and those behind it.
        let ends = (records - place) * END_BYTES;
        let address = page.address + minipage.end_place(records - 1) as u64;
        let (site, words) = (self.sites.end_offset(), copy_words(ends));
        trace.store(site, address, ends as u16, words, column.dep);
    }

    /// Whether a string can take the place of another without a new page for its record; moves minipages if need be.
    pub(super) fn make_room<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        attribute: usize,
        old: usize,
        new: usize,
    ) -> bool {
        let (records, used) = (self.live(page), self.used(page));
        let Minipage::Variable(minipage) = self.minipage(page, attribute) else {
            return true;
        };
        if minipage.fits(records, used[attribute] - old + new) {
            return true;
        }
        if !self
            .format
            .fits(records, used.iter().sum::<usize>() - old + new)
        {
            return false;
        }
        let mut more = vec![0; used.len()];
        more[attribute] = new - old;
        self.move_boundaries(trace, page, 0, &more);
        true
    }

    /// The values at a place of a page, of which `bytes` is a copy.
    pub(super) fn values<'a>(&self, bytes: &'a [u8], page: u32, place: usize) -> Vec<Value<'a>> {
        let value = |attribute: usize| {
            let kind = self.schema.attributes()[attribute].kind;
            let (range, present) = match self.minipage(page, attribute) {
                Minipage::Fixed(minipage) => {
                    (minipage.value(place), minipage.is_present(bytes, place))
                }
                Minipage::Variable(minipage) => (
                    minipage.value(bytes, place),
                    minipage.is_present(bytes, place),
                ),
            };
            if present {
                Value::read(kind, &bytes[range])
            } else {
                Value::Null
            }
        };
        (0..self.schema.degree()).map(value).collect()
    }
}
