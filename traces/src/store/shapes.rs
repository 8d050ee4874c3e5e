//! The shapes of events, found by key.
//!
//! The *shape* of an event is all of it but the address. Kernels have few: one per place in the code, and some more
//! where distances differ. A row's codes make a key, and a small table gives the shape of the key. A shape is put together
//! and checked when its key is first met; for each event after that, what is left is to find the shape and to check the
//! address.

use crate::event::{Event, Kind};
use crate::rules::Rules;

/// Places in the table, each for one shape.
const PLACES: usize = 1 << 12;
/// The key of an empty place.
const NO_KEY: u64 = u64::MAX;
/// Bits that a key may have.
pub(super) const KEY_BITS: u32 = 63;

/// A key and the event it stands for, which has in place of its address the highest that its kind may have.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Shape {
    key: u64,
    event: Event,
}

const EMPTY: Shape = Shape {
    key: NO_KEY,
    event: Event {
        address: 0,
        dep: 0,
        size: 0,
        words: 0,
        instructions: 0,
        site: 0,
        kind: Kind::Flush,
        chain: 0,
    },
};

/// The shapes met last. A key has one place, which it shares with other keys: the last of them has it.
#[derive(Debug)]
pub(super) struct Shapes {
    places: Box<[Shape; PLACES]>,
    /// The largest `dep` of any shape met.
    deepest: u64,
}

impl Shapes {
    pub(super) fn new() -> Self {
        Self {
            places: Box::new([EMPTY; PLACES]),
            deepest: 0,
        }
    }

    /// Forgets all shapes: the keys mean something else from now on.
    pub(super) fn clear(&mut self) {
        self.places.fill(EMPTY);
        self.deepest = 0;
    }

    /// Puts events `first`, `first + 1`, ... of the trace together from their keys and addresses; `decode` gives the
    /// event of a new key. Says whether all of them may stand there; if not, `events` means nothing.
    pub(super) fn assemble(
        &mut self,
        rules: &Rules,
        first: u64,
        rows: (&[u64], &[u64]),
        events: &mut [Event],
        decode: impl Fn(u64) -> Option<Event>,
    ) -> bool {
        let (keys, addresses) = rows;
        let mut allowed = true;
        for ((event, &key), &address) in events.iter_mut().zip(keys).zip(addresses) {
            let place = &mut self.places[place(key)];
            if place.key != key {
                let Some(event) = decode(key).filter(|event| rules.allow(event, u64::MAX)) else {
                    return false;
                };
                let address = rules.address_max(event.kind);
                self.deepest = self.deepest.max(event.dep.into());
                *place = Shape {
                    key,
                    event: Event { address, ..event },
                };
            }
            allowed &= address <= place.event.address;
            // The whole event, then its address: two wide copies instead of one for each field.
            *event = place.event;
            event.address = address;
        }
        if first < self.deepest {
            for (event, index) in events.iter().zip(first..) {
                allowed &= u64::from(event.dep) <= index;
            }
        }
        allowed
    }
}

/// Where the shape of `key` stands: multiplicative hashing by the golden ratio.
#[inline]
fn place(key: u64) -> usize {
    let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - PLACES.trailing_zeros())) as usize
}
