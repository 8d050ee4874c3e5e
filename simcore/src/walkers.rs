//! Who walks page tables: how many walks may be under way, and who waits for them.

use crate::spec::{TlbSpec, Walker};
use crate::walks::Walks;

/// The walkers of a core.
#[derive(Clone, Debug)]
pub(crate) struct Walkers {
    /// The walks that all memory operations wait for: those of a walker that blocks.
    blocking: Walks,
    /// Those of each walker beside others; none, if there are as many walkers as walks.
    beside: Box<[Walks]>,
    walker: Walker,
}

/// A walk that may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(crate) start: u64,
    /// Who walks, of those beside each other.
    walker: usize,
}

impl Walkers {
    /// Idle ones. The specification has been validated.
    pub(crate) fn new(spec: &TlbSpec) -> Self {
        let beside = spec.walkers.unwrap_or(0) as usize;
        Self {
            blocking: Walks::default(),
            beside: vec![Walks::default(); beside].into_boxed_slice(),
            walker: spec.walker,
        }
    }

    /// The first cycle at or after `ready` in which no walk keeps a memory operation from issuing.
    #[inline(always)]
    pub(crate) fn after(&self, ready: u64) -> u64 {
        self.blocking.after(ready)
    }

    /// A walk that is asked for in cycle `ready`, by who can begin it first and has `least` cycles for it, which it takes at least. Of several
    /// who can begin at once it is who has been idle for the shortest time: the others are free for walks of before.
    pub(crate) fn begin(&self, ready: u64, least: u64) -> Walk {
        if self.walker == Walker::Blocking {
            let start = self.blocking.room(ready, least);
            return Walk { start, walker: 0 };
        }
        let walks = self.beside.iter().enumerate().map(|(walker, walks)| {
            let start = walks.room(ready, least);
            (start, start - walks.idle_since(start), walker)
        });
        let (start, _, walker) = walks.min().unwrap_or((ready, 0, 0));
        Walk { start, walker }
    }

    /// The walk ends in cycle `end`. No later access comes before cycle `now`.
    pub(crate) fn end(&mut self, walk: Walk, end: u64, now: u64) {
        let under_way = walk.start..end;
        if self.walker == Walker::Blocking {
            self.blocking.add(under_way, now);
        } else if let Some(walks) = self.beside.get_mut(walk.walker) {
            walks.add(under_way, now);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.blocking.clear();
        self.beside.iter_mut().for_each(Walks::clear);
    }
}
