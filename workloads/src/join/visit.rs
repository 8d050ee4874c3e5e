//! A tuple's visit to the hash table, cut into stages: each ends where the address of the next memory reference is known (thesis
//! section 4.4).

use super::costs::BUCKET_ADDRESS;
use super::partition::{Input, Partition};
use super::sites::Site;
use super::table::{Header, Table};
use crate::tracer::{Token, Trace};
use traces::OpClass;

/// What is left to do for a tuple. The code paths of a stage are told apart by it (section 4.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// Nothing.
    Over,
    /// The bucket's number is known.
    Begun,
    /// Somebody else changes the bucket.
    Waits,
    /// The bucket has one cell, in its header.
    One,
    /// The bucket has an array of cells, or gets its first.
    Cells,
    /// The array is full: a larger one takes its place.
    FullCells,
    /// One tuple was found, and further cells may have others.
    Several,
}

/// The state of a tuple under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) path: Path,
    pub(super) code: u32,
    /// Where the tuple lies.
    pub(super) tuple: u64,
    /// Where the bucket's header lies, and what it held.
    pub(super) bucket: u64,
    pub(super) header: Header,
    /// A cell: the first of a new array, or the one behind that which was found.
    pub(super) cell: u32,
    /// The build tuple that was found.
    pub(super) found: u64,
    /// What brought the state: whatever comes next waits for it.
    pub(super) token: Token,
}

impl Visit {
    /// No visit.
    pub(super) const NONE: Self = Self {
        path: Path::Over,
        code: 0,
        tuple: 0,
        bucket: 0,
        header: Header {
            count: 0,
            code_or_room: 0,
            pointer: 0,
            busy: 0,
        },
        cell: 0,
        found: 0,
        token: Token::NONE,
    };
}

/// What a stage came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is done.
    Done,
    /// The visit with this number changes the bucket.
    Busy(usize),
}

/// What is done with a tuple, stage by stage.
pub(super) trait Stages {
    /// Stages behind the first, which is the hash function.
    const LAST: usize;

    /// The table.
    fn table(&self) -> &Table;

    /// Runs stage number `stage`, from 1 on, of a visit with its number, and prefetches what the next visits if it is told to go `ahead`.
    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Partition,
        stage: usize,
        numbered: (usize, &mut Visit),
        ahead: bool,
    ) -> Step;

    /// Stage 0: which bucket?
    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit {
        let Input { code, tuple } = input;
        let table = self.table();
        let bucket = trace.op(Site::Bucket, OpClass::Divide, code.token.after(0));
        trace.work(BUCKET_ADDRESS);
        let visit = Visit {
            path: Path::Begun,
            code: code.value,
            tuple,
            bucket: table.bucket(code.value % table.buckets),
            token: bucket,
            ..Visit::NONE
        };
        if ahead {
            let waits = visit.token.after(BUCKET_ADDRESS as u8);
            table.prefetch_header(trace, visit.bucket, waits);
        }
        visit
    }
}
