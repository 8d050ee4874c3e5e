//! A tuple's visit to the hash table: what building and probing have in common.

use super::table::{Header, Table};
use crate::join::costs::{BUCKET_ADDRESS, TEST};
use crate::join::scan::Input;
use crate::join::sites::Site;
use crate::join::visit::Visit;
use crate::tracer::Trace;
use traces::OpClass;

/// What is left to do for a tuple. The code paths of a stage are told apart by it (section 4.4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Path {
    /// The bucket has one cell, in its header.
    #[default]
    One,
    /// The bucket has an array of cells, or gets its first.
    Cells,
    /// The array is full: a larger one takes its place.
    FullCells,
    /// One tuple was found, and further cells may have others.
    Several,
}

/// What the stages leave to the next ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) path: Path,
    /// Where the bucket's header lies, and what it held.
    pub(super) bucket: u64,
    pub(super) header: Header,
    /// A cell: the first of a new array, or the one behind that which was found.
    pub(super) cell: u32,
    /// The build tuple that was found.
    pub(super) found: u64,
}

impl Visit<Notes> {
    /// Whether a path is the visit's, which a stage tests if it was told to go `ahead`: then other tuples have been worked on since the one before.
    pub(super) fn is_on<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        path: Path,
        ahead: bool,
    ) -> bool {
        let is = self.notes.path == path;
        if ahead {
            trace.work(TEST);
            trace.branch(site, is, self.token.after(1));
        }
        is
    }
}

/// Stage 0: which bucket?
pub(super) fn begin<T: Trace>(
    table: &Table,
    trace: &mut T,
    input: Input,
    ahead: bool,
) -> Visit<Notes> {
    let token = trace.op(Site::Bucket, OpClass::Divide, input.hashed);
    trace.work(BUCKET_ADDRESS);
    let bucket = table.bucket(input.code % table.buckets);
    let waits = token.after(BUCKET_ADDRESS as u8);
    if ahead {
        table.prefetch_header(trace, bucket, waits);
    }
    let notes = Notes {
        bucket,
        ..Notes::default()
    };
    Visit::begun(input, (token, waits), notes)
}
