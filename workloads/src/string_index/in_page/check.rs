//! Checks of a page, for tests.

use super::nodes::FREE;
use super::{InPageTree, ROOT};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::area::{LEVEL, LINK};
use crate::tracer::{Dep, Untraced};

impl InPageTree {
    /// The entries of a page, each under the keys that lead to it; every node is reached once, or free.
    pub(super) fn checked_page(&self, pool: &Pool, page: &Fixed) -> Vec<(Vec<u8>, u32)> {
        let trace = &mut Untraced;
        let mut reached = vec![ROOT];
        let mut level = vec![(Vec::new(), None, ROOT)];
        let root = self.node(page, ROOT, Dep::NONE);
        let height: Loaded<u16> = root.load_header(trace, pool, LEVEL);
        assert!(height.value > 0);
        for above in (1..=height.value).rev() {
            let mut below: Vec<(Vec<u8>, Option<Vec<u8>>, u32)> = Vec::new();
            for (low, high, number) in level {
                let node = self.node(page, number, Dep::NONE);
                let found: Loaded<u16> = node.load_header(trace, pool, LEVEL);
                assert_eq!(found.value, above);
                let children = node.checked(pool);
                for (slot, (key, child)) in children.iter().enumerate() {
                    // The first child has all keys below the second's.
                    let least = if slot == 0 { &low } else { key };
                    let next = children.get(slot + 1).map(|next| next.0.clone());
                    below.push((least.clone(), next.or_else(|| high.clone()), *child));
                    reached.push(*child);
                }
            }
            level = below;
        }
        let mut entries = Vec::new();
        let numbers: Vec<u32> = level.iter().map(|leaf| leaf.2).collect();
        for (place, (low, high, number)) in level.into_iter().enumerate() {
            let node = self.node(page, number, Dep::NONE);
            let next: Loaded<u16> = node.load_header(trace, pool, LINK);
            let right = numbers.get(place + 1).copied().unwrap_or(0);
            assert_eq!(u32::from(next.value), right);
            let part = node.checked(pool);
            let below = |key: &Vec<u8>| high.as_ref().is_none_or(|high| key < high);
            // The first entry of a non-leaf page may have any key.
            let skipped = usize::from(place == 0);
            assert!(
                part.iter()
                    .skip(skipped)
                    .all(|entry| entry.0 >= low && below(&entry.0))
            );
            entries.extend(part);
        }
        reached.sort_unstable();
        let all = reached.len();
        reached.dedup();
        assert_eq!(reached.len(), all, "a node is reached twice");
        let free: u16 = pool.peek(page, FREE);
        assert_eq!(u32::from(free) + all as u32, self.nodes);
        entries
    }
}
