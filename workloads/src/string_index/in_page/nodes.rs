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

fn store<T: Trace>(trace: &mut T, pool: &mut Pool, page: &Fixed, field: u32, value: u32) {
    trace.work(STEP);
    pool.store(trace, Site::PageHeaderStore, page, field, value as u16);
}

impl InPageTree {
    /// Makes all nodes free but the root.
    pub(super) fn reset<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed) {
        for (field, value) in [(FREE, self.nodes - 1), (CHAIN, 0), (UNUSED, ROOT + 1)] {
            store(trace, pool, page, field, value);
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
    pub(super) fn take<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed) -> u32 {
        let free = load(trace, pool, page, FREE);
        assert!(free.value > 0, "page {} has no free node", page.page);
        store(trace, pool, page, FREE, u32::from(free.value) - 1);
        let chained = load(trace, pool, page, CHAIN);
        trace.branch(Site::SpaceLeft, chained.value > 0, chained.token.after(1));
        if chained.value > 0 {
            let number = chained.value.into();
            let node = self.node(page, number, Dep::NONE);
            let next: Loaded<u16> = node.load_header(trace, pool, LINK);
            store(trace, pool, page, CHAIN, next.value.into());
            return number;
        }
        let number = u32::from(load(trace, pool, page, UNUSED).value);
        store(trace, pool, page, UNUSED, number + 1);
        number
    }

    /// Gives a node back.
    pub(super) fn release<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        number: u32,
    ) {
        let chained = load(trace, pool, page, CHAIN);
        let node = self.node(page, number, Dep::NONE);
        node.store_header(trace, pool, LINK, chained.value.into());
        store(trace, pool, page, CHAIN, number);
        let free = load(trace, pool, page, FREE);
        store(trace, pool, page, FREE, u32::from(free.value) + 1);
    }
}
