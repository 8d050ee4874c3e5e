//! Which nodes of a page are free: those of a chain, and those behind the last that was ever used.

use super::{InPageTree, ROOT};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::Site;
use crate::string_index::area::{LINK, STEP};
use crate::tracer::{Dep, Trace};

/// Fields of the page's header: free nodes, the first of them that was used before, and the first that never was.
pub(super) const FREE: u32 = 0;
const CHAIN: u32 = 2;
const UNUSED: u32 = 4;

fn load<T: Trace>(trace: &mut T, pool: &Pool, page: &Fixed, field: u32) -> Loaded<u16> {
    pool.load(trace, Site::PageHeader, page, field, page.dep)
}

/// Stores a field; `dep` is what the value waits for.
fn store<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    page: &Fixed,
    (field, value): (u32, u32),
    dep: Dep,
) {
    trace.work(STEP);
    let value = value as u16;
    pool.store(trace, Site::PageHeaderStore, page, field, value, dep);
}

impl InPageTree {
    /// Makes all nodes free but the root.
    pub(super) fn reset<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed) {
        for (field, value) in [(FREE, self.nodes - 1), (CHAIN, 0), (UNUSED, ROOT + 1)] {
            store(trace, pool, page, (field, value), Dep::NONE);
        }
    }

    /// Whether so many nodes are free.
    #[allow(clippy::unused_self, reason = "as the others")]
    pub(super) fn has_free<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        nodes: usize,
    ) -> bool {
        let free = load(trace, pool, page, FREE);
        let enough = usize::from(free.value) >= nodes;
        trace.work(STEP);
        trace.branch(Site::SpaceLeft, enough, free.token.after(1));
        enough
    }

    /// Takes a free node: there is one.
    pub(super) fn take<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
    ) -> Loaded<u32> {
        let free = load(trace, pool, page, FREE);
        assert!(free.value > 0, "page {} has no free node", page.page);
        let left = (FREE, u32::from(free.value) - 1);
        store(trace, pool, page, left, free.token.after(1));
        let chained = load(trace, pool, page, CHAIN);
        trace.branch(Site::SpaceLeft, chained.value > 0, chained.token.after(1));
        if chained.value > 0 {
            let number = chained.map(u32::from);
            let node = self.node_of(page, number);
            let next: Loaded<u16> = node.load_header(trace, pool, LINK);
            let chain = (CHAIN, next.value.into());
            store(trace, pool, page, chain, next.token.after(0));
            return number;
        }
        let number = load(trace, pool, page, UNUSED).map(u32::from);
        let unused = (UNUSED, number.value + 1);
        store(trace, pool, page, unused, number.token.after(1));
        number
    }

    /// Gives a node back.
    pub(super) fn release<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        number: Loaded<u32>,
    ) {
        let chained = load(trace, pool, page, CHAIN);
        let node = self.node_of(page, number);
        let waits = chained.token.after(0);
        node.store_header(trace, pool, LINK, chained.value.into(), waits);
        let chain = (CHAIN, number.value);
        store(trace, pool, page, chain, number.token.after(0));
        let free = load(trace, pool, page, FREE);
        let more = (FREE, u32::from(free.value) + 1);
        store(trace, pool, page, more, free.token.after(1));
    }
}
