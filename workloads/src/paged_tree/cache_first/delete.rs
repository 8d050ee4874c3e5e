//! Lazy deletion: an entry leaves its leaf node, which stays however empty it is.

use super::CacheFirstTree;
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::shift;
use crate::tracer::Trace;
use crate::tree::search::CALL;

impl<K: Key> CacheFirstTree<K> {
    /// Takes out `key`; returns its tupleID.
    pub fn delete<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        trace.work(CALL);
        let leaf = self.descend(trace, key, |_, _, _, _| ());
        let slot = self.find(trace, 0, &leaf, key, 0);
        let found = self.holds(trace, &leaf, slot, key);
        let id = found.then(|| self.load_id(trace, &leaf, slot).value);
        if found {
            let count = self.load_count(trace, 0, &leaf);
            let entries = usize::from(count.value);
            for array in [self.keys(0, leaf.node), self.ids(leaf.node)] {
                shift(
                    trace,
                    &mut self.pool,
                    &leaf.page,
                    array,
                    (slot, entries),
                    slot - 1,
                );
            }
            self.store_count(trace, 0, &leaf, entries - 1, count.token.after(1));
        }
        self.pool.unfix(trace, &leaf.page, found);
        id
    }
}
