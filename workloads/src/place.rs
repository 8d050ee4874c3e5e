//! Typed places: a simulated address is where the value lies, so that one place says what a load reads and what its event names.

use crate::arena::{Arena, Origin, Word};
use crate::tracer::{Dep, Token, Trace};
use std::marker::PhantomData;

/// Where a word of type `W` lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<W> {
    /// Number of the segment that the address is in: tests hold every access to it.
    pub(crate) segment: usize,
    pub(crate) address: u64,
    word: PhantomData<W>,
}

impl<W: Word> Place<W> {
    /// The word at `address`, which is in `segment`.
    #[inline]
    #[must_use]
    pub fn new(segment: usize, address: u64) -> Self {
        Self {
            segment,
            address,
            word: PhantomData,
        }
    }

    /// The word so many words further on, as in an array.
    #[inline]
    #[must_use]
    pub fn element(self, index: usize) -> Self {
        Self::new(self.segment, self.address + (index * W::BYTES) as u64)
    }
}

/// Where so many bytes lie that are loaded and stored as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// As [`Place::segment`].
    pub(crate) segment: usize,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// A value and the event that brought it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loaded<V> {
    /// The value.
    pub value: V,
    /// Its load.
    pub token: Token,
}

impl<V> Loaded<V> {
    /// Another value made of this one.
    #[inline]
    pub fn map<W>(self, make: impl FnOnce(V) -> W) -> Loaded<W> {
        Loaded {
            value: make(self.value),
            token: self.token,
        }
    }
}

impl<O: Origin> Arena<O> {
    /// Loads a word. `dep` is what its address waits for.
    #[inline]
    pub fn load<W: Word, T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Place<W>,
        dep: Dep,
    ) -> Loaded<W> {
        let token = trace.load(site, place.address, W::BYTES as u16, 1, dep);
        Loaded {
            value: self.read(place),
            token,
        }
    }

    /// Stores a word. `dep` is what address and value wait for.
    #[inline]
    pub fn store<W: Word, T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Place<W>,
        value: W,
        dep: Dep,
    ) {
        trace.store(site, place.address, W::BYTES as u16, 1, dep);
        self.write(place, value);
    }

    /// Loads bytes in `words` word accesses.
    #[inline]
    pub fn load_bytes<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Extent,
        words: u16,
        dep: Dep,
    ) -> Loaded<&[u8]> {
        let token = trace.load(site, place.address, place.bytes as u16, words, dep);
        Loaded {
            value: self.bytes(place),
            token,
        }
    }

    /// Stores bytes in `words` word accesses: the caller writes them.
    #[inline]
    pub fn store_bytes<T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        place: Extent,
        words: u16,
        dep: Dep,
    ) -> &mut [u8] {
        trace.store(site, place.address, place.bytes as u16, words, dep);
        self.bytes_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Far, Reservation, place};
    use crate::tracer::Tracer;
    use traces::{Event, Kind};

    /// What was stored is what is loaded, and both events name the place.
    #[test]
    fn a_place_is_where_the_value_lies() {
        let reserved = Reservation {
            name: "words".into(),
            object_bytes: 4,
            objects: 3,
        };
        let mut arena = Arena::<Far>::new(place(&[reserved]));
        let first = Place::<u32>::new(0, arena.allocate(0, 12));
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for (index, value) in [7, 8, 9].into_iter().enumerate() {
            arena.store(&mut tracer, 1_u16, first.element(index), value, Dep::NONE);
        }
        let found = [2, 0, 1].map(|index| {
            let loaded = arena.load(&mut tracer, 2_u16, first.element(index), Dep::NONE);
            loaded.value
        });
        tracer.finish().unwrap();
        assert_eq!(found, [9, 7, 8]);
        let told = events
            .iter()
            .map(|event| (event.kind, event.address - first.address, event.size));
        let (store, load) = (Kind::Store, Kind::Load);
        assert!(told.eq([
            (store, 0, 4),
            (store, 4, 4),
            (store, 8, 4),
            (load, 8, 4),
            (load, 0, 4),
            (load, 4, 4)
        ]));
    }
}
