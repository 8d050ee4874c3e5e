//! Changes of PAX pages: slots of deleted records, strings that grow.

use super::copies::{copy_words, store_words};
use super::minipage::END_BYTES;
use super::pax::{Minipage, Pax, shift_bits};
use super::pax_format::header;
use super::{Column, FullMinipage, Page, PageFile, Record, RecordId, Value};
use crate::tracer::{Dep, Trace};

impl Pax {
    pub(super) fn is_deleted(&self, page: u32, slot: u32) -> bool {
        let byte = self.format.bitmap() + slot as usize / 8;
        self.options.deletions && self.frames.page(page)[byte] & (1 << (slot % 8)) != 0
    }

    pub(super) fn set_deleted<T: Trace>(&mut self, trace: &mut T, id: RecordId, deleted: bool) {
        let byte = self.format.bitmap() + id.slot as usize / 8;
        let bit = 1 << (id.slot % 8);
        let (site, place) = (self.sites.presence(), byte..byte + 1);
        let fixed = self.frames.fix(id.page);
        let framed = self.frames.framed(fixed);
        let old = framed.load_bytes(trace, site, place.clone(), 1, Dep::NONE);
        let dep = old.token.after(1);
        trace.work(1);
        let mut framed = self.frames.framed_mut(fixed);
        let bits = framed.store_bytes(trace, site, place, 1, dep);
        bits[0] = bits[0] & !bit | if deleted { bit } else { 0 };
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
        // It is looked for among the bits.
        let bits = self.format.bitmap()..self.format.bitmap() + slot as usize / 8 + 1;
        let (site, words) = (self.sites.presence(), copy_words(bits.len()));
        let framed = self.frames.framed(self.frames.fix(page));
        framed.load_bytes(trace, site, bits, words, Dep::NONE);
        trace.work(words.into());
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

    /// Takes a record's value out of its minipage: those behind it move up, with what is kept for them.
    pub(super) fn close_gap<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        attribute: usize,
        place: usize,
    ) {
        let column = self.column(trace, page, attribute);
        let (site, dep) = (column.site, column.dep);
        let (number, sites) = (page.number(), self.sites);
        let (records, minipage) = (self.live(number), self.minipage(number, attribute));
        let framed = self.frames.framed_mut(page.fixed);
        let behind = records - 1 - place;
        match minipage {
            Minipage::Fixed(minipage) => {
                minipage.close_gap(framed.bytes, place, records);
                let bytes = behind * minipage.value_bytes;
                let (to, from) = (minipage.value(place).start, minipage.value(place + 1).start);
                framed.moved(trace, site, (from, to, bytes), dep);
                if behind > 0 {
                    let bits = minipage.presence(place).0..minipage.presence(records - 1).0 + 1;
                    shift_bits(&framed, trace, sites, bits, dep);
                }
            }
            Minipage::Packed(minipage) => {
                let before = minipage.values(framed.bytes, 0..place);
                let values = minipage.values(framed.bytes, 0..records);
                let had = minipage.is_present(framed.bytes, place);
                minipage.close_gap(framed.bytes, place, records);
                // The bits tell whether there is a value, and where.
                let bits = minipage.bits(0, place);
                let words = copy_words(bits.len());
                let read = page.fixed.with(framed.bytes);
                let counted = read.load_bytes(trace, sites.presence(), bits, words, dep);
                trace.work(u32::from(words));
                let dep = counted.token.after(1);
                if had {
                    let (to, from) = (minipage.value(before).start, minipage.value(before + 1));
                    let bytes = (values - before - 1) * minipage.value_bytes;
                    framed.moved(trace, site, (from.start, to, bytes), dep);
                }
                if behind > 0 {
                    let bits = minipage.bits(place, records - 1);
                    shift_bits(&framed, trace, sites, bits, dep);
                }
            }
            Minipage::Variable(minipage) => {
                let value = minipage.value(framed.bytes, place);
                let bytes = minipage.start + minipage.used(framed.bytes, records) - value.end;
                minipage.close_gap(framed.bytes, place, records);
                // Its end and the one before say how long it is.
                let ends = 1 + usize::from(place > 0);
                let own = minipage.end_place(place);
                let own = own..own + ends * END_BYTES;
                let read = page.fixed.with(framed.bytes);
                let own = read.load_bytes(trace, sites.end_offset(), own, ends as u16, dep);
                let dep = own.token.after(1);
                if !value.is_empty() {
                    framed.moved(trace, site, (value.end, value.start, bytes), dep);
                }
                // The ends behind it become less by that.
                trace.work(behind as u32);
                let from = minipage.end_place(records - 1);
                let moved = (from, from + END_BYTES, behind * END_BYTES);
                framed.moved(trace, sites.end_offset(), moved, dep);
            }
        }
    }

    /// Loads where a string ends and where the one before does, which say where it begins and how long it is: what brings that.
    pub(super) fn load_ends<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> Dep {
        let Minipage::Variable(minipage) = self.minipage(page.number(), column.attribute) else {
            return column.dep;
        };
        let ends = 1 + usize::from(record.place > 0);
        let place = minipage.end_place(record.place);
        let place = place..place + ends * END_BYTES;
        let (site, dep) = (self.sites.end_offset(), column.address_dep(record));
        let framed = self.frames.framed(page.fixed);
        let found = framed.load_bytes(trace, site, place, ends as u16, dep);
        found.token.after(1)
    }

    /// Changes a string in its minipage, which has room for it, once it is known where it is.
    pub(super) fn replace<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        (column, known): (&Column, Dep),
        place: usize,
        value: Value,
    ) {
        let records = self.live(page.number());
        let Minipage::Variable(minipage) = self.minipage(page.number(), column.attribute) else {
            unreachable!("the attribute has values of variable length");
        };
        let mut framed = self.frames.framed_mut(page.fixed);
        let old = minipage.value(framed.bytes, place);
        let behind = minipage.start + minipage.used(framed.bytes, records) - old.end;
        let string = value.is_present().then_some(value.bytes());
        minipage.replace(framed.bytes, place, records, string);
        let new = minipage.value(framed.bytes, place);
        let ends = minipage.end_place(records - 1)..minipage.end_place(place) + END_BYTES;
        let site = self.sites.end_offset();
        if new.len() != old.len() {
            let moved = (old.end, new.end, behind);
            framed.moved(trace, column.site, moved, known);
            // The end of this value and of those behind it.
            trace.work((records - place) as u32);
            let moved = (ends.start, ends.start, ends.len());
            framed.moved(trace, site, moved, known);
        } else if column.nullable {
            let own = minipage.end_place(place)..ends.end;
            framed.store_bytes(trace, site, own, 1, known);
        }
        if !new.is_empty() {
            let words = copy_words(new.len());
            framed.store_bytes(trace, column.site, new, words, known);
        }
    }

    /// Changes a value of fixed length in a minipage without nulls, which has room for it. Those behind it move if there was none, or is none.
    pub(super) fn replace_packed<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
        value: Value,
    ) {
        let records = self.live(page.number());
        let Minipage::Packed(minipage) = self.minipage(page.number(), column.attribute) else {
            unreachable!("nulls of the attribute take no space");
        };
        let (site, dep, place) = (column.site, column.address_dep(record), record.place);
        let mut framed = self.frames.framed_mut(page.fixed);
        let before = minipage.values(framed.bytes, 0..place);
        let had = minipage.is_present(framed.bytes, place);
        let behind = minipage.values(framed.bytes, place + 1..records) * minipage.value_bytes;
        let bytes = value.to_bytes(column.kind);
        minipage.replace(framed.bytes, place, records, bytes.as_deref());
        let (first, second) = (minipage.value(before), minipage.value(before + 1));
        if had != value.is_present() {
            let (from, to) = if had {
                (second.start, first.start)
            } else {
                (first.start, second.start)
            };
            framed.moved(trace, site, (from, to, behind), dep);
            let bits = minipage.bits(place, place);
            framed.store_bytes(trace, self.sites.presence(), bits, 1, dep);
        }
        if value.is_present() {
            framed.store_bytes(trace, site, first, store_words(column.kind), dep);
        }
    }

    /// Bytes of a value that may be missing or varies in length.
    pub(super) fn length(&self, page: u32, attribute: usize, place: usize) -> usize {
        let bytes = self.frames.page(page);
        match self.minipage(page, attribute) {
            Minipage::Fixed(_) => 0,
            Minipage::Packed(minipage) => {
                usize::from(minipage.is_present(bytes, place)) * minipage.value_bytes
            }
            Minipage::Variable(minipage) => minipage.value(bytes, place).len(),
        }
    }

    /// Whether a value can be so many bytes longer without a new page for its record; moves boundaries of minipages if need be.
    pub(super) fn make_room<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        attribute: usize,
        longer: usize,
    ) -> bool {
        if longer == 0 {
            return true;
        }
        let number = page.number();
        let (records, used) = (self.live(number), self.used(number));
        self.load_used(trace, page, attribute);
        let fits = match self.minipage(number, attribute) {
            Minipage::Fixed(_) => true,
            Minipage::Packed(minipage) => minipage.fits(records, used[attribute] + longer),
            Minipage::Variable(minipage) => minipage.fits(records, used[attribute] + longer),
        };
        if fits {
            return true;
        }
        let borrows = self.options.full_minipage == FullMinipage::Borrow;
        if borrows && self.borrow(trace, page, attribute, longer) {
            return true;
        }
        // All boundaries, and what every minipage has to spare.
        let degree = self.schema.degree();
        let boundaries = self.load_entries(trace, page);
        for other in (0..degree).filter(|&other| other != attribute) {
            self.load_used(trace, page, other);
        }
        let slots = self.field(number, header::SLOTS);
        if !self
            .format
            .fits(records, slots, used.iter().sum::<usize>() + longer)
        {
            return false;
        }
        let mut more = vec![0; degree];
        more[attribute] = longer;
        self.move_boundaries(trace, (number, boundaries), 0, &more);
        true
    }

    /// Loads what tells how full a minipage is: the last end, or the bits; capacities of others stand in the header.
    pub(super) fn load_used<T: Trace>(&self, trace: &mut T, page: Page, attribute: usize) {
        let last = self.live(page.number()) - 1;
        let (site, place) = match self.minipage(page.number(), attribute) {
            Minipage::Fixed(_) => return,
            Minipage::Packed(minipage) => (self.sites.presence(), minipage.bits(0, last)),
            Minipage::Variable(minipage) => {
                let end = minipage.end_place(last);
                (self.sites.end_offset(), end..end + END_BYTES)
            }
        };
        let words = copy_words(place.len());
        let framed = self.frames.framed(page.fixed);
        framed.load_bytes(trace, site, place, words, page.dep);
        trace.work(words.into());
    }

    /// The values at a place of a page, of which `bytes` is a copy.
    pub(super) fn values_at<'a>(&self, bytes: &'a [u8], page: u32, place: usize) -> Vec<Value<'a>> {
        let value = |attribute: usize| {
            let kind = self.schema.attributes()[attribute].kind;
            let (range, present) = match self.minipage(page, attribute) {
                Minipage::Fixed(minipage) => (minipage.value(place), true),
                Minipage::Packed(minipage) => (
                    minipage.value(minipage.values(bytes, 0..place)),
                    minipage.is_present(bytes, place),
                ),
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
