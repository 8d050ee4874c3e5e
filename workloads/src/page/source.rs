//! Where the values of a new record are before they are in a page.

use super::copies::copy_words;
use crate::tracer::{Dep, Trace};

/// In registers, or in memory, one behind the other, from where they are copied: a copy reads what it writes.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    site: u16,
    address: u64,
    /// Of those in memory.
    bytes: usize,
    /// What brings those in registers.
    known: Dep,
}

impl Source {
    /// Values in registers, the latest of which `known` brings.
    #[must_use]
    pub fn registers(known: Dep) -> Self {
        Self {
            site: 0,
            address: 0,
            bytes: 0,
            known,
        }
    }

    /// Values of so many bytes from an address on, which are loaded at `site`.
    #[must_use]
    pub fn memory(site: u16, address: u64, bytes: usize) -> Self {
        Self {
            site,
            address,
            bytes,
            known: Dep::NONE,
        }
    }

    /// Those of them that lie in `bytes` from byte `offset` on.
    #[must_use]
    pub fn part(self, offset: usize, bytes: usize) -> Self {
        if self.bytes == 0 {
            return self;
        }
        Self {
            address: self.address + offset as u64,
            bytes,
            ..self
        }
    }

    /// Loads them in `words` word accesses: what brings them.
    pub(crate) fn load<T: Trace>(self, trace: &mut T, words: u16) -> Dep {
        if self.bytes == 0 {
            return self.known;
        }
        let bytes = self.bytes as u16;
        let token = trace.load(self.site, self.address, bytes, words, Dep::NONE);
        token.after(0)
    }

    /// Loads them word by word, as a copy does: what brings them.
    pub(crate) fn copy<T: Trace>(self, trace: &mut T) -> Dep {
        self.load(trace, copy_words(self.bytes))
    }
}
