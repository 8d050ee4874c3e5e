//! What holds of every page: checks for tests.

use super::DiskFirstPage;
use super::node::{LEAF_NEXT, parts};
use super::space::{FREE_LEAF, FREE_LINE, FREE_NONLEAF};
use crate::paged_tree::key::Key;
use crate::pool::{Fixed, Pool};

impl DiskFirstPage {
    /// The entries of a page. Checks that leaf nodes are chained in the order of the tree, keys are between those of the nodes above,
    /// and no two nodes, used or free, overlap.
    ///
    /// # Panics
    /// If something is wrong.
    pub(super) fn checked_page<K: Key>(&self, pool: &Pool, page: &Fixed) -> Vec<(K, u32)> {
        let (leaf_lines, nonleaf_lines) = (self.tree.leaf_lines, self.tree.nonleaf_lines);
        let root = self.root(page.page);
        let mut spans = vec![(0, 1)];
        let mut leaves = Vec::new();
        self.check_node::<K>(
            pool,
            page,
            root,
            None,
            (None, None),
            &mut leaves,
            &mut spans,
        );
        let mut entries = Vec::new();
        for (number, &node) in leaves.iter().enumerate() {
            let count = usize::from(pool.peek::<u16>(page, node));
            assert!(count <= self.tree.leaf_fanout as usize);
            let next = self.byte(pool.peek(page, node + LEAF_NEXT));
            assert_eq!(
                next,
                leaves.get(number + 1).copied().unwrap_or(0),
                "chain of page {}",
                page.page
            );
            let (keys, ids) = (self.leaf_keys(node), Self::leaf_ids(node));
            entries.extend((0..count).map(|slot| {
                (
                    pool.peek(page, keys.at(slot)),
                    pool.peek(page, ids.at(slot)),
                )
            }));
        }
        for (field, lines) in [(FREE_LEAF, leaf_lines), (FREE_NONLEAF, nonleaf_lines)] {
            let mut free: u16 = pool.peek(page, field);
            while free > 0 {
                spans.push((u32::from(free), lines));
                free = pool.peek(page, self.byte(free));
            }
        }
        let unused = u32::from(pool.peek::<u16>(page, FREE_LINE));
        spans.push((unused, self.tree.lines + 1 - unused));
        spans.sort_unstable();
        assert!(
            spans.is_sorted_by(|left, right| left.0 + left.1 <= right.0),
            "nodes of page {} overlap: {spans:?}",
            page.page
        );
        entries
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "a node, what is above it and what is found"
    )]
    fn check_node<K: Key>(
        &self,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        level: Option<usize>,
        range: (Option<K>, Option<K>),
        leaves: &mut Vec<u32>,
        spans: &mut Vec<(u32, u32)>,
    ) {
        spans.push((u32::from(self.line_of(node)), self.tree.nonleaf_lines));
        let (here, children) = parts(pool.peek(page, node));
        assert!(level.is_none_or(|level| level == here));
        assert!(here > 0 && children > 0 && children <= self.tree.nonleaf_fanout as usize);
        let keys: Vec<K> = (0..children)
            .map(|slot| pool.peek(page, self.nonleaf_keys(node).at(slot)))
            .collect();
        assert!(keys[1..].is_sorted_by(|left, right| left < right));
        for slot in 0..children {
            let child = self.byte(pool.peek(page, Self::children(node).at(slot)));
            let low = if slot > 0 { Some(keys[slot]) } else { range.0 };
            let high = keys.get(slot + 1).copied().or(range.1);
            if here > 1 {
                self.check_node(
                    pool,
                    page,
                    child,
                    Some(here - 1),
                    (low, high),
                    leaves,
                    spans,
                );
                continue;
            }
            spans.push((u32::from(self.line_of(child)), self.tree.leaf_lines));
            for slot in 0..usize::from(pool.peek::<u16>(page, child)) {
                let key: K = pool.peek(page, self.leaf_keys(child).at(slot));
                // The first key of the first leaf node of a non-leaf page may be anything.
                let first = leaves.is_empty() && slot == 0;
                assert!(
                    first || low.is_none_or(|low| key >= low) && high.is_none_or(|high| key < high)
                );
            }
            leaves.push(child);
        }
    }
}
