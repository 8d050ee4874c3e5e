//! What holds of every tree: checks for tests.

use super::{CacheFirstTree, Pointer};
use crate::paged_tree::key::Key;
use crate::paged_tree::page::COUNT;
use crate::tracer::{Dep, Untraced};
use std::collections::HashMap;

impl<K: Key> CacheFirstTree<K> {
    /// All entries in order. Checks keys against those above, chains of leaf nodes and leaf parents, pointers back, and maps of nodes.
    ///
    /// # Panics
    /// If something is wrong.
    pub(in crate::paged_tree) fn checked_entries(&mut self) -> Vec<(K, u32)> {
        let trace = &mut Untraced;
        let mut used: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut level: Vec<(Option<K>, Pointer, Pointer)> =
            vec![(None, self.root, Pointer::default())];
        let mut entries = Vec::new();
        for height in (0..self.levels).rev() {
            let mut below = Vec::new();
            let mut page_before = 0;
            for (number, &(low, pointer, parent)) in level.iter().enumerate() {
                let node = self.fix(trace, pointer, Dep::NONE);
                used.entry(pointer.page).or_default().push(node.node);
                let count = usize::from(self.load_count(trace, height, &node).value);
                let high = level.get(number + 1).and_then(|right| right.0);
                let keys: Vec<K> = (0..count)
                    .map(|slot| {
                        self.pool
                            .peek(&node.page, self.keys(height, node.node).at(slot))
                    })
                    .collect();
                let own = &keys[usize::from(height > 0).min(count)..];
                assert!(own.is_sorted_by(|left, right| left < right));
                assert!(
                    own.iter().all(|&key| low.is_none_or(|low| key >= low)
                        && high.is_none_or(|high| key < high))
                );
                if height < 2 && self.levels > height {
                    let next = self.load_next(trace, height, &node).value;
                    let right = level
                        .get(number + 1)
                        .map(|right| right.1)
                        .unwrap_or_default();
                    assert_eq!(next, right, "chain of level {height}");
                }
                if height == 0 {
                    assert!(count <= self.geometry.leaf_fanout as usize);
                    let ids = Self::ids(node.node);
                    entries.extend(
                        keys.iter()
                            .enumerate()
                            .map(|(slot, &key)| (key, self.pool.peek(&node.page, ids.at(slot)))),
                    );
                    if pointer.page != page_before && self.levels > 1 {
                        assert_eq!(
                            self.load_back(trace, &node.page).value,
                            parent,
                            "pointer back of page {}",
                            pointer.page
                        );
                    }
                    page_before = pointer.page;
                } else {
                    assert!(count > 0 && count <= self.fanout(height));
                    for (slot, &key) in keys.iter().enumerate() {
                        let child = self.load_child(trace, height, &node, slot).value;
                        below.push((if slot == 0 { low } else { Some(key) }, child, pointer));
                    }
                }
                self.pool.unfix(trace, &node.page, false);
            }
            level = below;
        }
        assert!(used.len() as u64 <= self.pool.pages());
        for (page, mut nodes) in used {
            let fixed = self.pool.fix(trace, page, Dep::NONE);
            nodes.sort_unstable();
            assert_eq!(self.nodes_of(trace, &fixed), nodes, "map of page {page}");
            assert_eq!(
                usize::from(self.pool.peek::<u16>(&fixed, COUNT)),
                nodes.len()
            );
            self.pool.unfix(trace, &fixed, false);
        }
        entries
    }
}
