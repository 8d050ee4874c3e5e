//! Where the minipages of PAX pages lie: new pages, and boundaries that move (PAX section 4.2).

use super::copies::copy_words;
use super::packed::PackedMinipage;
use super::pax::{Minipage, Pax};
use super::pax_format::{Contents, Plan, header};
use super::{Page, PageFile};
use crate::tracer::{Dep, Trace};
use crate::word::Word;
use std::ops::Range;

impl Pax {
    /// Writes the boundaries of the minipages into a page's header.
    fn set_plan(&mut self, page: u32, plan: &Plan) {
        self.set_field(page, header::CAPACITY, plan.capacity);
        for (attribute, &(start, bytes)) in plan.minipages.iter().enumerate() {
            let entry = self.format.entry(attribute);
            let size = match self.format.contents[attribute] {
                Contents::Fixed(value_bytes) => value_bytes,
                Contents::Packed(_) | Contents::Variable => bytes,
            };
            self.set_field(page, entry, start);
            self.set_field(page, entry + 2, size);
        }
    }

    /// Adds a page for records like those of the page before, the first of which has values of these lengths. Its header and the entries
    /// of its minipages are stored, and no bit is set.
    pub(super) fn add_page<T: Trace>(&mut self, trace: &mut T, lengths: &[usize]) -> u32 {
        let averages = match self.pages().checked_sub(1) {
            Some(last) if self.live(last) > 0 => {
                self.format.averages(&self.used(last), self.live(last))
            }
            _ => self.format.averages(lengths, 1),
        };
        let page = self.frames.add();
        page.write(self.frames.page_mut(page), header::NUMBER);
        self.set_field(page, header::DEGREE, self.schema.degree());
        let plan = self.format.plan(&averages, 0, 0, &vec![0; averages.len()]);
        self.set_plan(page, &plan);
        self.store_new_page(trace, page, plan.capacity);
        self.loading.new_page();
        page
    }

    /// Stores what an empty page has, for so many records.
    fn store_new_page<T: Trace>(&mut self, trace: &mut T, page: u32, capacity: usize) {
        let degree = self.schema.degree();
        let bits = |minipage| match minipage {
            Minipage::Fixed(it) => Some(it.bits(it.capacity)),
            Minipage::Packed(it) => {
                let end = it.start + it.bytes;
                Some(end - PackedMinipage::bits_bytes(capacity)..end)
            }
            // Ends are stored with their values.
            Minipage::Variable(_) => None,
        };
        let first = (degree > 0).then(|| self.entry(page, 0).0);
        let deleted = first.map(|first| self.format.bitmap()..first);
        let kept = (0..degree).filter_map(|attribute| bits(self.minipage(page, attribute)));
        let kept: Vec<Range<usize>> = deleted.into_iter().chain(kept).collect();
        let sites = self.sites;
        let mut framed = self.frames.framed_mut(self.frames.fix(page));
        let (fields, entries) = (
            0..header::BYTES as usize,
            self.format.entry(0)..self.format.entry(degree),
        );
        for place in [fields, entries] {
            let words = copy_words(place.len());
            framed.store_bytes(trace, sites.header(), place, words, Dep::NONE);
        }
        for place in kept.into_iter().filter(|place| !place.is_empty()) {
            let words = copy_words(place.len());
            framed.store_bytes(trace, sites.presence(), place, words, Dep::NONE);
        }
    }

    /// Reads a page's header: the numbers of slots, of deleted records, and of values that there is room for.
    pub(super) fn load_header<T: Trace>(&self, trace: &mut T, page: u32) -> Page {
        let fixed = self.frames.fix(page);
        let fields = header::SLOTS..header::CAPACITY + 2;
        let words = copy_words(fields.len());
        let framed = self.frames.framed(fixed);
        let found = framed.load_bytes(trace, self.sites.header(), fields, words, Dep::NONE);
        Page {
            fixed,
            slots: u16::read(found.value, 0).into(),
            dep: Dep::NONE,
            count: found.token.after(1),
        }
    }

    /// Loads all boundaries of a page's minipages: what brings them.
    pub(super) fn load_entries<T: Trace>(&self, trace: &mut T, page: Page) -> Dep {
        let degree = self.schema.degree();
        let entries = self.format.entry(0)..self.format.entry(degree);
        let (site, framed) = (self.sites.header(), self.frames.framed(page.fixed));
        let found = framed.load_bytes(trace, site, entries, degree as u16, page.dep);
        found.token.after(1)
    }

    /// Moves the boundaries of a page's minipages: to the averages of its records with `more` of values of these lengths. `known` is what
    /// brought the boundaries.
    ///
    /// What moves down goes first, from the first byte of the page on, and then what moves up, from the last one down: in this order
    /// nothing is overwritten that has yet to move.
    pub(super) fn move_boundaries<T: Trace>(
        &mut self,
        trace: &mut T,
        (page, known): (u32, Dep),
        more: usize,
        lengths: &[usize],
    ) {
        let records = self.live(page);
        let mut bytes = self.used(page);
        bytes
            .iter_mut()
            .zip(lengths)
            .for_each(|(sum, length)| *sum += length);
        let averages = self.format.averages(&bytes, (records + more).max(1));
        let slots = self.field(page, header::SLOTS);
        let plan = self.format.plan(&averages, records + more, slots, &bytes);
        let fixed = self.frames.fix(page);
        let old = self.frames.page(page).to_vec();
        let from: Vec<Minipage> = (0..self.schema.degree())
            .map(|attribute| self.minipage(page, attribute))
            .collect();
        self.set_plan(page, &plan);
        if let Some(&(first, _)) = plan.minipages.first() {
            // Bits of slots to come, where there were values.
            let unused = self.format.bitmap() + slots.div_ceil(8);
            self.frames.page_mut(page)[unused.min(first)..first].fill(0);
        }
        let entries = self.format.entry(0)..self.format.entry(from.len());
        let (site, words) = (self.sites.header(), from.len() as u16);
        let mut moves = Vec::new();
        for (attribute, from) in from.into_iter().enumerate() {
            let to = self.minipage(page, attribute);
            let sites = [self.sites.attribute(attribute), self.kept_site(attribute)];
            let framed = self.frames.framed_mut(fixed);
            match (from, to) {
                (Minipage::Fixed(from), Minipage::Fixed(to)) => {
                    to.copy(framed.bytes, &from, &old, records);
                }
                (Minipage::Packed(from), Minipage::Packed(to)) => {
                    to.copy(framed.bytes, &from, &old, records);
                }
                (Minipage::Variable(from), Minipage::Variable(to)) => {
                    to.copy(framed.bytes, &from, &old, records);
                }
                _ => unreachable!("an attribute keeps its kind"),
            }
            let ways = from.parts(&old, records).into_iter();
            let targets = to.parts(framed.bytes, records);
            for ((source, target), site) in ways.zip(targets).zip(sites) {
                moves.push((site, (source.start, target.start, source.len())));
            }
        }
        let mut framed = self.frames.framed_mut(fixed);
        let down = moves.iter().filter(|(_, (from, to, _))| to < from);
        let up = moves.iter().rev().filter(|(_, (from, to, _))| to > from);
        for &(site, moved) in down.chain(up) {
            framed.moved(trace, site, moved, known);
        }
        framed.store_bytes(trace, site, entries, words, known);
    }

    /// Loads what tells how full minipages are that hold values of other numbers or lengths than records have, in a page that has some.
    pub(super) fn load_room<T: Trace>(&self, trace: &mut T, page: Page) {
        if self.live(page.number()) == 0 {
            return;
        }
        for (attribute, contents) in self.format.contents.iter().enumerate() {
            if !matches!(contents, Contents::Fixed(_)) {
                let column = self.column(trace, page, attribute);
                let dep = column.dep;
                self.load_used(trace, Page { dep, ..page }, attribute);
            }
        }
    }
}
