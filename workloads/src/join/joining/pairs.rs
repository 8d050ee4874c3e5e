//! Probing that first buffers what it finds: pairs of a build tuple and a probe tuple with one hash code, which are prefetched and visited
//! when there are enough of them (thesis section 5.5.2). The hash table is in the cache, and so nobody prefetches it.

use super::probe::Probe;
use super::sites::Site;
use super::visit::{Path, begin};
use crate::join::ahead::Reuse;
use crate::join::costs::LOOP;
use crate::join::relation::Relation;
use crate::join::scan::Input;
use crate::join::sites::Site as JoinSite;
use crate::join::visit::Progress;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};

/// Pairs that the buffer holds, and the bytes of one: two pointers. How many is not published; these are many times what is under way.
pub(super) const PAIRS: usize = 64;
pub(super) const PAIR_BYTES: u64 = 8;
const PAIR_WORDS: u16 = 2;

/// The buffer of a thread.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Where it lies.
    first: u64,
    /// Addresses of build and probe tuples.
    filled: Vec<(u64, u64)>,
    /// Pairs between the prefetch of one and its visit.
    distance: usize,
}

impl Pairs {
    pub(super) fn new(first: u64, distance: u32) -> Self {
        Self {
            first,
            filled: Vec::with_capacity(PAIRS),
            distance: distance as usize,
        }
    }

    fn address(&self, number: usize) -> u64 {
        self.first + number as u64 * PAIR_BYTES
    }

    fn load<T: Trace>(&self, trace: &mut T, number: usize) -> ((u64, u64), Token) {
        let address = self.address(number);
        let token = trace.load(
            Site::Pair,
            address,
            PAIR_BYTES as u16,
            PAIR_WORDS,
            Dep::NONE,
        );
        (self.filled[number], token)
    }

    fn push<T: Trace>(&mut self, trace: &mut T, pair: (u64, u64), found: Dep) {
        let (site, address) = (Site::PairChange, self.address(self.filled.len()));
        trace.store(site, address, PAIR_BYTES as u16, PAIR_WORDS, found);
        self.filled.push(pair);
    }

    fn full(&self) -> bool {
        self.filled.len() == PAIRS
    }
}

/// Probes with tuples of one relation.
#[derive(Debug)]
pub(super) struct Buffered<'p> {
    pub(super) probe: Probe<'p>,
    pub(super) pairs: &'p mut Pairs,
}

impl Buffered<'_> {
    /// Looks up a tuple's hash code.
    pub(super) fn look_up<T: Trace>(&mut self, trace: &mut T, from: &Relation, input: Input) {
        let mut visit = begin(self.probe.table, trace, input, false);
        self.probe.visit_header(trace, &mut visit, false);
        if visit.progress == Progress::Over {
            return;
        }
        let tuple = visit.tuple.value;
        if visit.notes.path == Path::One {
            let (found, known) = (visit.notes.found, visit.token.after(0));
            return self.add(trace, from, (found, tuple), known);
        }
        let mut place = 0;
        while let Some((found, known)) = self.probe.next_equal(trace, &visit, &mut place) {
            self.add(trace, from, (found, tuple), known);
        }
    }

    fn add<T: Trace>(&mut self, trace: &mut T, from: &Relation, pair: (u64, u64), known: Dep) {
        self.pairs.push(trace, pair, known);
        let full = self.pairs.full();
        trace.branch(Site::PairsFull, full, Dep::NONE);
        if full {
            self.visit(trace, from);
        }
    }

    /// Visits all pairs in the buffer.
    pub(super) fn visit<T: Trace>(&mut self, trace: &mut T, from: &Relation) {
        let (pairs, distance) = (self.pairs.filled.len(), self.pairs.distance);
        (0..pairs.min(distance)).for_each(|number| self.prefetch(trace, from, number));
        for number in 0..pairs {
            if number + distance < pairs {
                self.prefetch(trace, from, number + distance);
            }
            let ((build, tuple), token) = self.pairs.load(trace, number);
            self.probe.compare_with(
                trace,
                (
                    from,
                    Loaded {
                        value: tuple,
                        token,
                    },
                    None,
                ),
                build,
                token.after(0),
            );
            trace.work(LOOP);
            trace.branch(Site::PairsLeft, number + 1 < pairs, Dep::NONE);
        }
        self.pairs.filled.clear();
    }

    /// The probe tuple is used once; the build tuple is in the cache, unless somebody else has emptied that.
    fn prefetch<T: Trace>(&self, trace: &mut T, from: &Relation, number: usize) {
        let ((build, tuple), token) = self.pairs.load(trace, number);
        let (line, known) = (self.probe.line_bytes, token.after(0));
        let (site, once) = (Site::ProbeTuplePrefetch, Reuse::None);
        from.prefetch_tuple(trace, site, tuple, line, once, known);
        let (site, again) = (JoinSite::TuplePrefetch, Reuse::Likely);
        self.probe
            .build
            .prefetch_tuple(trace, site, build, line, again, known);
        trace.work(LOOP);
    }
}
