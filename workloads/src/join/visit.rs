//! What is done with a tuple, cut into stages: each ends where the address of the next memory reference is known (thesis section 4.4).

use super::relation::{Relation, Told};
use super::scan::Input;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};
use std::fmt::Debug;

/// How far a tuple has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing is left to do.
    Over,
    /// The next stage is to come.
    UnderWay,
    /// Somebody else holds what the tuple is to change.
    Waits,
}

/// The state of a tuple under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit<N> {
    pub(super) progress: Progress,
    pub(super) code: u32,
    /// Where the tuple lies, and its length if somebody has told it.
    pub(super) tuple: Loaded<u64>,
    pub(super) bytes: Told,
    /// What brought the state: whatever comes next waits for it.
    pub(super) token: Token,
    /// What the address that the last stage has found waits for.
    pub(super) waits: Dep,
    /// What its stages leave to the next ones.
    pub(super) notes: N,
}

impl<N> Visit<N> {
    /// That of a tuple whose first stage has ended with the result of an event, and with an address that waits for something.
    pub(super) fn begun(input: Input, (token, waits): (Token, Dep), notes: N) -> Self {
        Self {
            progress: Progress::UnderWay,
            code: input.code,
            tuple: input.tuple,
            bytes: input.bytes,
            token,
            waits,
            notes,
        }
    }

    /// An event has brought what the next stage goes by.
    pub(super) fn brought(&mut self, token: Token) {
        self.token = token;
        self.waits = token.after(0);
    }
}

impl<N: Default> Visit<N> {
    /// No visit.
    pub(super) fn none() -> Self {
        Self {
            progress: Progress::Over,
            code: 0,
            tuple: Loaded {
                value: 0,
                token: Token::NONE,
            },
            bytes: None,
            token: Token::NONE,
            waits: Dep::NONE,
            notes: N::default(),
        }
    }
}

/// What a stage came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is done.
    Done,
    /// The visit with this number holds what is to be changed.
    Busy(usize),
}

/// Who goes on when a visit is over that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nobody waits: no visit changes what others may be about to read.
    Nobody,
    /// The first of them, for which the others wait then.
    First,
    /// All of them, in their order.
    All,
}

/// What is done with a tuple, stage by stage.
pub(super) trait Stages {
    /// Stages behind the first, which is the hash function.
    const LAST: usize;
    /// Who goes on after a visit that others wait for.
    const WAITING: Waiting;
    /// What stages leave to the next ones.
    type Notes: Copy + Default + Debug;

    /// Stage 0: what does the hash code lead to? Prefetches that if it is told to go `ahead`.
    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Self::Notes>;

    /// Runs stage number `stage`, from 1 on, of a visit with its number, and prefetches what the next visits if it is told to go `ahead`.
    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        stage: usize,
        numbered: (usize, &mut Visit<Self::Notes>),
        ahead: bool,
    ) -> Step;
}
