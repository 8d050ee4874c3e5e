//! Tuples to be read: slotted pages in memory, made when they are first opened.

use super::ahead::{Reuse, lines};
use super::limits::WORD;
use super::pages::{HEADER_BYTES, PageFormat, TUPLES_UNTIL};
use super::paging::Paging;
use super::sites::Site;
use super::stored::{Asked, Stored};
use super::tuple::{LENGTH, Source, Tuple};
use crate::arena::{Arena, Far};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::watch;
use crate::word::Word;
use std::fmt::Debug;
use std::num::NonZero;

/// How long a tuple is, and what that waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) bytes: u32,
    pub(super) known: Dep,
}

/// The length of a tuple, if somebody has told it.
pub(super) type Told = Option<NonZero<u32>>;

/// What a slot tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The hash code, if slots hold them.
    pub(super) code: Option<Loaded<u32>>,
    /// Where the tuple lies.
    pub(super) tuple: Loaded<u64>,
    /// How long it is, if slots hold that.
    pub(super) bytes: Told,
}

/// The pages of a relation, or of a part of it.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) format: PageFormat,
    contents: Contents,
    memory: Arena<Far>,
    base: u64,
    /// Where its pages are read from, if they are on storage.
    stored: Option<Stored>,
}

/// Which pages there are, and who wrote them.
#[derive(Debug)]
enum Contents {
    /// Pages of tuples that are computed, one after the other, of which the first have been made.
    Computed {
        tuples: Box<dyn Source>,
        paging: Paging,
        made: u64,
    },
    /// Pages that were written before, with these numbers. Which page comes next is part of what turning pages costs.
    Written(Vec<u32>),
}

impl Relation {
    /// So many pages as the tuples take, from address `base` on.
    pub(super) fn new(format: PageFormat, tuples: Box<dyn Source>, base: u64) -> Self {
        let paging = Paging::new(format, &*tuples);
        let bytes = paging.pages() * u64::from(format.page_bytes);
        Self {
            memory: Arena::of(base, bytes),
            format,
            contents: Contents::Computed {
                tuples,
                paging,
                made: 0,
            },
            base,
            stored: None,
        }
    }

    /// Pages in memory that somebody wrote; it begins at address `base`. None of them is chosen.
    pub(super) fn written(format: PageFormat, memory: Arena<Far>, base: u64) -> Self {
        Self {
            memory,
            format,
            contents: Contents::Written(Vec::new()),
            base,
            stored: None,
        }
    }

    /// The same on storage, or in memory.
    pub(super) fn on_storage(self, stored: Option<Stored>) -> Self {
        Self { stored, ..self }
    }

    /// Chooses the written pages that are the relation's from now on.
    pub(super) fn choose(&mut self, pages: Vec<u32>) {
        self.contents = Contents::Written(pages);
    }

    /// Gives back the memory.
    pub(super) fn into_memory(self) -> Arena<Far> {
        self.memory
    }

    /// Makes all pages that are not there.
    pub(super) fn make_all(&mut self) {
        self.make_until(self.pages());
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> u64 {
        match &self.contents {
            Contents::Computed { paging, .. } => paging.pages(),
            Contents::Written(pages) => pages.len() as u64,
        }
    }

    /// Makes the first pages, up to one.
    pub(super) fn make_until(&mut self, pages: u64) {
        let made = match &self.contents {
            Contents::Computed { made, .. } => *made,
            Contents::Written(_) => pages,
        };
        (made..pages).for_each(|page| self.make(page));
    }

    fn make(&mut self, page: u64) {
        let (format, address, count) = (self.format, self.page(page), self.on_page(page));
        let Contents::Computed {
            tuples,
            paging,
            made,
        } = &mut self.contents
        else {
            return;
        };
        *made = page + 1;
        let first = paging.first(page);
        watch::step(u64::from(count));
        let header = Place::<u32>::new(0, address);
        self.memory.write(header, count);
        let mut place = HEADER_BYTES;
        for number in 0..count {
            let tuple = tuples.at(first + u64::from(number));
            write(&mut self.memory, format, address + u64::from(place), tuple);
            let (code_at, place_at) = format.code_and_place(number);
            if format.slots.code {
                let code_at = Place::<u32>::new(0, address + u64::from(code_at));
                self.memory.write(code_at, tuple.code);
            }
            let place_at = Place::<u16>::new(0, address + u64::from(place_at));
            self.memory.write(place_at, place as u16);
            if format.slots.length {
                self.memory.write(place_at.element(1), tuple.bytes as u16);
            }
            place += tuple.bytes;
        }
        if format.varies() {
            self.memory.write(header.element(TUPLES_UNTIL), place);
        }
    }

    /// Tuples on a page; none if there is no such page.
    pub(super) fn on_page(&self, page: u64) -> u32 {
        match &self.contents {
            Contents::Computed { paging, .. } => paging.on_page(page),
            Contents::Written(pages) if page < pages.len() as u64 => {
                self.memory.read(Place::new(0, self.page(page)))
            }
            Contents::Written(_) => 0,
        }
    }

    /// Address of a page.
    pub(super) fn page(&self, page: u64) -> u64 {
        let place = match &self.contents {
            Contents::Computed { .. } => page,
            Contents::Written(pages) => pages[page as usize].into(),
        };
        self.base + place * u64::from(self.format.page_bytes)
    }

    /// Reads a page if pages are on storage, and asks for those behind it, as far as they have not been `asked` for.
    pub(super) fn bring<T: Trace>(&self, trace: &mut T, asked: &mut Asked, page: u64) {
        if let Some(stored) = self.stored {
            let address = self.page(page);
            let frame = address..address + u64::from(self.format.page_bytes);
            asked.read(trace, stored, (page, frame), self.pages());
        }
    }

    /// Where an address lies among the relation's, and back: what a pointer of four bytes holds.
    pub(super) fn pointer(&self, address: u64) -> u32 {
        (address - self.base) as u32
    }

    pub(super) fn address(&self, pointer: u32) -> u64 {
        self.base + u64::from(pointer)
    }

    /// Loads the key of the tuple at an address.
    pub(super) fn key<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        tuple: u64,
        dep: Dep,
    ) -> Loaded<u32> {
        self.memory.load(trace, site, Place::new(0, tuple), dep)
    }

    /// Loads some bytes of a tuple.
    pub(super) fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        address: u64,
        bytes: u32,
        dep: Dep,
    ) -> Loaded<&[u8]> {
        let place = Extent {
            segment: 0,
            address,
            bytes: bytes as usize,
        };
        let words = copy_words(place.bytes);
        self.memory.load_bytes(trace, site, place, words, dep)
    }

    /// The length of a tuple at an address that waits for something: that of all, or what its slot has said; else the tuple itself tells.
    pub(super) fn length<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        (tuple, told): (u64, Told),
        dep: Dep,
    ) -> Length {
        if !self.format.varies() {
            return Length {
                bytes: self.format.tuple_bytes,
                known: Dep::NONE,
            };
        }
        if let Some(bytes) = told {
            return Length {
                bytes: bytes.get(),
                known: dep,
            };
        }
        let place = Place::new(0, tuple).element(LENGTH);
        let length = self.memory.load::<u32, T>(trace, site, place, dep);
        Length {
            bytes: length.value,
            known: length.token.after(1),
        }
    }

    /// Loads the slot of a page's tuple.
    pub(super) fn slot<T: Trace>(&self, trace: &mut T, page: u64, number: u32, dep: Dep) -> Slot {
        let format = self.format;
        if !format.slots.length {
            let (code_at, place_at) = format.code_and_place(number);
            let code = format.slots.code.then(|| {
                let code_at = Place::new(0, page + u64::from(code_at));
                self.memory.load(trace, Site::Slot, code_at, dep)
            });
            let place_at = Place::<u16>::new(0, page + u64::from(place_at));
            let place = self.memory.load(trace, Site::Slot, place_at, dep);
            return Slot {
                code,
                tuple: place.map(|place| page + u64::from(place)),
                bytes: None,
            };
        }
        let slot = page + u64::from(format.slot(number));
        let slot = self.load(trace, Site::Slot, slot, format.slots.bytes(), dep);
        let word = |number: u32| slot.map(|bytes| u32::read(bytes, (number * WORD) as usize));
        let place = word(u32::from(format.slots.code));
        Slot {
            code: format.slots.code.then(|| word(0)),
            tuple: place.map(|place| page + u64::from(place & 0xFFFF)),
            bytes: NonZero::new(place.value >> 16),
        }
    }

    /// Loads how many tuples a page says that it holds.
    pub(super) fn count<T: Trace>(&self, trace: &mut T, page: u64) -> Loaded<u32> {
        let header = Place::new(0, self.page(page));
        self.memory.load(trace, Site::PageHeader, header, Dep::NONE)
    }

    /// Loads where the tuples of a page end, if lengths differ.
    pub(super) fn tuples_until<T: Trace>(&self, trace: &mut T, page: u64) -> u32 {
        let header = Place::<u32>::new(0, self.page(page));
        let place = header.element(TUPLES_UNTIL);
        let end = self.memory.load(trace, Site::PageHeader, place, Dep::NONE);
        end.value
    }

    /// Prefetches the line of an address.
    pub(super) fn prefetch_line<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        address: u64,
        reuse: Reuse,
        dep: Dep,
    ) {
        match reuse {
            Reuse::Likely => self.memory.prefetch(trace, site, address, dep),
            Reuse::None => self.memory.prefetch_nta(trace, site, address, dep),
        }
    }

    /// Prefetches all lines of a tuple. If lengths differ nobody knows them before the tuple is there: those of the longest, up to the end
    /// of the page.
    pub(super) fn prefetch_tuple<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        tuple: u64,
        line_bytes: u32,
        reuse: Reuse,
        dep: Dep,
    ) {
        let (site, format) = (site.into(), self.format);
        let mut bytes = format.tuple_bytes;
        if format.varies() {
            let place = (tuple - self.base) % u64::from(format.page_bytes);
            bytes = bytes.min(format.page_bytes - place as u32);
        }
        lines(tuple, bytes, line_bytes)
            .for_each(|line| self.prefetch_line(trace, site, line, reuse, dep));
    }
}

/// Writes a tuple at an address.
#[inline]
pub(super) fn write(memory: &mut Arena<Far>, format: PageFormat, address: u64, tuple: Tuple) {
    let first = Place::<u32>::new(0, address);
    memory.write(first, tuple.key);
    if format.varies() {
        write_words(memory, first, tuple);
    } else {
        memory.write(first.element(1), tuple.number);
    }
}

/// Writes all words of a tuple.
#[inline(never)]
fn write_words(memory: &mut Arena<Far>, first: Place<u32>, tuple: Tuple) {
    for (place, word) in tuple.words().enumerate() {
        memory.write(first.element(place), word);
    }
}
