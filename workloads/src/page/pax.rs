//! PAX pages: the values of each attribute side by side in a minipage (PAX sections 3 and 4.2).

use super::copies::{copy_words, store_words};
use super::framed::FramedMut;
use super::geometry::check_geometry;
use super::minipage::{END_BYTES, FixedMinipage, VariableMinipage};
use super::packed::PackedMinipage;
use super::pax_format::{Contents, ENTRY_BYTES, PaxFormat, header};
use super::pax_load::Loading;
use super::room::Room;
use super::{Frames, FullMinipage, Geometry, PageSites, RecordId, Schema, Source, Value};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;
use std::ops::Range;

/// How a file is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaxOptions {
    /// Share of a page that must be free for a reorganization to be worth its while (PAX section 7.2).
    pub threshold: f64,
    /// Whether pages have a bit per record for deletions, which records that outgrow their page need, too.
    pub deletions: bool,
    /// What becomes of a minipage without room for a value that grows.
    pub full_minipage: FullMinipage,
}

impl Default for PaxOptions {
    /// Every page is filled as far as it goes, and records stay.
    fn default() -> Self {
        Self {
            threshold: 0.0,
            deletions: false,
            full_minipage: FullMinipage::default(),
        }
    }
}

/// A file of PAX pages.
#[derive(Clone, Debug)]
pub struct Pax {
    pub(super) schema: Schema,
    pub(super) format: PaxFormat,
    pub(super) options: PaxOptions,
    pub(super) frames: Frames,
    pub(super) sites: PageSites,
    pub(super) room: Room,
    pub(super) records: u64,
    pub(super) loading: Loading,
}

/// A minipage of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Minipage {
    Fixed(FixedMinipage),
    Packed(PackedMinipage),
    Variable(VariableMinipage),
}

impl Minipage {
    /// Where the values of so many records are, and what is kept for them: their bits, or their ends.
    pub(super) fn parts(self, page: &[u8], records: usize) -> [Range<usize>; 2] {
        match self {
            Self::Fixed(it) => [it.start..it.value(records).start, it.bits(records)],
            Self::Packed(it) => {
                let end = it.start + it.bytes;
                let bits = end - PackedMinipage::bits_bytes(records)..end;
                [it.start..it.start + it.used(page, records), bits]
            }
            Self::Variable(it) => {
                let end = it.start + it.bytes;
                let ends = end - records * END_BYTES..end;
                [it.start..it.start + it.used(page, records), ends]
            }
        }
    }
}

impl Pax {
    /// An empty file.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    pub fn new(
        schema: Schema,
        geometry: Geometry,
        options: PaxOptions,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        let plain = PaxFormat::new(&schema, geometry, false);
        let most = plain.most_lengths(&schema);
        let entries = schema.degree() * ENTRY_BYTES;
        check_geometry(geometry, header::BYTES, entries + plain.needed(1, 0, most))?;
        let format = PaxFormat::new(&schema, geometry, options.deletions);
        if !format.fits(1, 0, most) {
            let message = "too little for the longest record and the bits of deleted ones";
            return Err(WorkloadError::new("page_bytes", message));
        }
        Ok(Self {
            format,
            options,
            frames: Frames::new(geometry.page_bytes),
            schema,
            sites,
            room: Room::default(),
            records: 0,
            loading: Loading::default(),
        })
    }

    /// What loading the file took.
    #[must_use]
    pub fn loading(&self) -> &Loading {
        &self.loading
    }

    pub(super) fn field(&self, page: u32, field: usize) -> usize {
        usize::from(u16::read(self.frames.page(page), field))
    }

    pub(super) fn set_field(&mut self, page: u32, field: usize, value: usize) {
        (value as u16).write(self.frames.page_mut(page), field);
    }

    /// Records of a page that are not deleted.
    pub(super) fn live(&self, page: u32) -> usize {
        self.field(page, header::SLOTS) - self.field(page, header::DELETED)
    }

    /// Offset and size that the header has of a minipage.
    #[inline]
    pub(super) fn entry(&self, page: u32, attribute: usize) -> (usize, usize) {
        entry(&self.frames.page(page)[self.format.entry_range(attribute)])
    }

    #[inline]
    pub(super) fn minipage(&self, page: u32, attribute: usize) -> Minipage {
        let (start, size) = self.entry(page, attribute);
        match self.format.contents[attribute] {
            Contents::Fixed(value_bytes) => Minipage::Fixed(FixedMinipage {
                start,
                value_bytes,
                capacity: self.field(page, header::CAPACITY),
            }),
            Contents::Packed(value_bytes) => Minipage::Packed(PackedMinipage {
                start,
                bytes: size,
                value_bytes,
            }),
            Contents::Variable => Minipage::Variable(VariableMinipage { start, bytes: size }),
        }
    }

    /// Bytes of the values that a page has, by attribute, where they may be missing or vary in length.
    pub(super) fn used(&self, page: u32) -> Vec<usize> {
        let used = |attribute| self.used_in(page, attribute);
        (0..self.schema.degree()).map(used).collect()
    }

    /// As [`Pax::used`], of one attribute.
    pub(super) fn used_in(&self, page: u32, attribute: usize) -> usize {
        let records = self.live(page);
        match self.minipage(page, attribute) {
            Minipage::Fixed(_) => 0,
            Minipage::Packed(minipage) => minipage.used(self.frames.page(page), records),
            Minipage::Variable(minipage) => minipage.used(self.frames.page(page), records),
        }
    }

    /// Where in the code a minipage's bits or ends of values are read and written.
    pub(super) fn kept_site(&self, attribute: usize) -> u16 {
        match self.format.contents[attribute] {
            Contents::Fixed(_) | Contents::Packed(_) => self.sites.presence(),
            Contents::Variable => self.sites.end_offset(),
        }
    }

    /// Share of a page that is in use, if a record with values of these lengths goes in once boundaries are moved, and that is worth its
    /// while.
    fn fill_to_reorganize(&self, page: u32, lengths: &[usize]) -> Option<f64> {
        let (records, slots) = (self.live(page), self.field(page, header::SLOTS));
        let used = self.used(page).iter().sum::<usize>();
        let more = used + lengths.iter().sum::<usize>();
        if !self.format.fits(records + 1, slots, more) {
            return None;
        }
        let full = self.format.bitmap() + self.format.needed(records, slots, used);
        let fill = full as f64 / self.frames.page_bytes() as f64;
        (records == 0 || 1.0 - fill > self.options.threshold).then_some(fill)
    }

    /// Whether a record with values of these lengths goes into a page.
    pub(super) fn accepts(&self, page: u32, lengths: &[usize]) -> bool {
        self.fits_minipages(page, self.live(page), lengths)
            || self.fill_to_reorganize(page, lengths).is_some()
    }

    /// Puts a record into a page if it goes in, a copy of its values.
    pub(super) fn try_insert<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        (values, from): (&[Value], Source),
        lengths: &[usize],
    ) -> Option<RecordId> {
        let records = self.live(page);
        let header = self.load_header(trace, page);
        self.load_room(trace, header);
        let fits = self.fits_minipages(page, records, lengths);
        trace.work(1);
        trace.branch(self.sites.header(), fits, header.count);
        if !fits {
            let fill = self.fill_to_reorganize(page, lengths)?;
            if records > 0 {
                self.loading.reorganized(fill);
            }
            let known = self.load_entries(trace, header);
            self.move_boundaries(trace, (page, known), 1, lengths);
        }
        let slot = self.take_slot(trace, page);
        let place = self.place_of(page, slot);
        let mut before = 0;
        for (attribute, &value) in values.iter().enumerate() {
            let bytes = self.schema.attributes()[attribute].kind.bytes_of(value);
            let from = from.part(before, bytes);
            before += bytes;
            self.put(trace, page, attribute, (place, records), (value, from));
        }
        // One more slot, or one deleted record less.
        trace.work(1);
        self.store_counts(trace, page, header.count);
        self.loading.inserted();
        Some(RecordId { page, slot })
    }

    /// Stores the numbers of slots and of deleted records, which are written, once those before are known.
    pub(super) fn store_counts<T: Trace>(&mut self, trace: &mut T, page: u32, known: Dep) {
        let mut framed = self.frames.framed_mut(self.frames.fix(page));
        let fields = header::SLOTS..header::SLOTS + 4;
        framed.store_bytes(trace, self.sites.header(), fields, 1, known);
    }

    /// Whether a record with values of these lengths goes into a page's minipages as they are.
    fn fits_minipages(&self, page: u32, records: usize, lengths: &[usize]) -> bool {
        records < self.field(page, header::CAPACITY)
            && lengths.iter().enumerate().all(|(attribute, length)| {
                match self.minipage(page, attribute) {
                    Minipage::Fixed(_) => true,
                    Minipage::Packed(minipage) => {
                        let used = minipage.used(self.frames.page(page), records);
                        minipage.fits(records + 1, used + length)
                    }
                    Minipage::Variable(minipage) => {
                        let used = minipage.used(self.frames.page(page), records);
                        minipage.fits(records + 1, used + length)
                    }
                }
            })
    }

    /// Writes the value of a new record that takes place `place` among `records`, from where it is.
    fn put<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        attribute: usize,
        (place, records): (usize, usize),
        (value, from): (Value, Source),
    ) {
        let fixed = self.frames.fix(page);
        let (kind, minipage) = (
            self.schema.attributes()[attribute].kind,
            self.minipage(page, attribute),
        );
        let sites = self.sites;
        let entry = self.format.entry_range(attribute);
        let framed = self.frames.framed(fixed);
        let start = framed.load_bytes(trace, sites.header(), entry, 1, Dep::NONE);
        let dep = start.token.after(1);
        let site = sites.attribute(attribute);
        let known = from.load(
            trace,
            match value {
                Value::Bytes(bytes) if kind.fixed_bytes().is_none() => copy_words(bytes.len()),
                _ => store_words(kind),
            },
        );
        let mut framed = self.frames.framed_mut(fixed);
        match minipage {
            Minipage::Fixed(minipage) => {
                if place < records {
                    minipage.open_gap(framed.bytes, place, records);
                    let bytes = (records - place) * minipage.value_bytes;
                    let (from, to) = (minipage.value(place).start, minipage.value(place + 1));
                    framed.moved(trace, site, (from, to.start, bytes), dep);
                    let bits = minipage.presence(place).0..minipage.presence(records).0 + 1;
                    shift_bits(&framed, trace, sites, bits, dep);
                }
                let (range, words) = (minipage.value(place), store_words(kind));
                let bytes = framed.store_bytes(trace, site, range, words, known.or(dep));
                value.write(kind, bytes);
                // One bit of a byte changes.
                let byte = minipage.presence(place).0;
                let byte = byte..byte + 1;
                let read = fixed.with(framed.bytes);
                let bits = read.load_bytes(trace, sites.presence(), byte.clone(), 1, dep);
                let changed = bits.token.after(1);
                framed.store_bytes(trace, sites.presence(), byte, 1, changed);
                minipage.set_present(framed.bytes, place, value.is_present());
            }
            Minipage::Packed(minipage) => {
                minipage.open_gap(framed.bytes, place, records);
                let bytes = value.to_bytes(kind);
                minipage.replace(framed.bytes, place, records + 1, bytes.as_deref());
                let before = minipage.values(framed.bytes, 0..place);
                // The bits tell how many values are before it; its own is then set.
                let bits = minipage.bits(0, place);
                let own = bits.start..bits.start + 1;
                let words = copy_words(bits.len());
                let read = fixed.with(framed.bytes);
                let counted = read.load_bytes(trace, sites.presence(), bits, words, dep);
                trace.work(u32::from(words));
                let dep = counted.token.after(1);
                if place < records {
                    let bits = minipage.bits(place, records);
                    shift_bits(&framed, trace, sites, bits, dep);
                }
                if value.is_present() {
                    let behind = minipage.values(framed.bytes, place + 1..records + 1);
                    let (from, to) = (minipage.value(before), minipage.value(before + 1));
                    let moved = (from.start, to.start, behind * minipage.value_bytes);
                    framed.moved(trace, site, moved, dep);
                    framed.store_bytes(trace, site, from, store_words(kind), known.or(dep));
                }
                framed.store_bytes(trace, sites.presence(), own, 1, dep);
            }
            Minipage::Variable(minipage) => {
                minipage.open_gap(framed.bytes, place, records);
                let string = value.is_present().then_some(value.bytes());
                minipage.replace(framed.bytes, place, records + 1, string);
                let range = minipage.value(framed.bytes, place);
                // The value begins where the one before ends.
                let dep = place.checked_sub(1).map_or(dep, |before| {
                    let end = minipage.end_place(before);
                    let end = end..end + END_BYTES;
                    let read = fixed.with(framed.bytes);
                    let loaded = read.load_bytes(trace, sites.end_offset(), end, 1, dep);
                    loaded.token.after(1)
                });
                let behind = records - place;
                if behind > 0 {
                    let used = minipage.start + minipage.used(framed.bytes, records + 1);
                    if !range.is_empty() {
                        let moved = (range.start, range.end, used - range.end);
                        framed.moved(trace, site, moved, dep);
                    }
                    let (from, to) = (minipage.end_place(records - 1), minipage.end_place(records));
                    trace.work(behind as u32);
                    let moved = (from, to, behind * END_BYTES);
                    framed.moved(trace, sites.end_offset(), moved, dep);
                }
                if !range.is_empty() {
                    let words = copy_words(range.len());
                    framed.store_bytes(trace, site, range, words, known.or(dep));
                }
                let end = minipage.end_place(place);
                let end = end..end + END_BYTES;
                framed.store_bytes(trace, sites.end_offset(), end, 1, dep);
            }
        }
    }
}

/// Says that bits were moved by one, word by word: a shift, and the bit that crosses over.
pub(super) fn shift_bits<T: Trace>(
    framed: &FramedMut<'_>,
    trace: &mut T,
    sites: PageSites,
    bits: Range<usize>,
    dep: Dep,
) {
    trace.work(2 * u32::from(copy_words(bits.len())));
    let moved = (bits.start, bits.start, bits.len());
    framed.moved(trace, sites.presence(), moved, dep);
}

/// Offset and size that the bytes of an entry say.
#[inline]
pub(super) fn entry(bytes: &[u8]) -> (usize, usize) {
    let field = |place| usize::from(u16::read(bytes, place));
    (field(0), field(2))
}
