//! Pages that were changed and are not written yet.

use crate::tracer::Trace;

/// The changed page of each file, by its number in storage: it is written when the file's next one is changed.
#[derive(Clone, Debug)]
pub(super) struct Dirty(Vec<Option<u64>>);

impl Dirty {
    /// No changed page of so many files.
    pub(super) fn new(files: usize) -> Self {
        Self(vec![None; files])
    }

    /// A page of a file is changed.
    pub(super) fn change<T: Trace>(&mut self, trace: &mut T, file: usize, page: u64) {
        if let Some(before) = self.0[file].replace(page)
            && before != page
        {
            trace.page_write(before);
        }
    }

    /// Writes the last page of each file.
    pub(super) fn write<T: Trace>(self, trace: &mut T) {
        for page in self.0.into_iter().flatten() {
            trace.page_write(page);
        }
    }
}
