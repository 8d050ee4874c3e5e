//! Pages that are in no frame.

use crate::arena::Arena;
use crate::place::Extent;
use std::collections::HashMap;

/// The pages as they were built, which copies of the store share, and those written since.
#[derive(Clone, Debug)]
pub(super) struct Store {
    built: Arena,
    written: HashMap<u32, Box<[u8]>>,
}

impl Store {
    pub(super) fn new(built: Arena) -> Self {
        Self {
            built,
            written: HashMap::new(),
        }
    }

    /// The pages as they were built.
    pub(super) fn built(&self) -> &Arena {
        &self.built
    }

    /// Copies a page out, which was built at `home`.
    pub(super) fn read(&self, page: u32, home: Extent, to: &mut [u8]) {
        match self.written.get(&page) {
            Some(bytes) => to.copy_from_slice(bytes),
            None => to.copy_from_slice(self.built.bytes(home)),
        }
    }

    /// Keeps a changed page.
    pub(super) fn write(&mut self, page: u32, bytes: &[u8]) {
        self.written.insert(page, bytes.into());
    }
}
