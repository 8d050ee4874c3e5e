//! What holds of every page.

use super::DiskFirstPage;
use super::node::{LEAF_NEXT, parts};
use super::space::{FREE_LEAF, FREE_LINE, FREE_NONLEAF};
use crate::paged_tree::check::{Fault, ascend, holds};
use crate::paged_tree::key::Key;
use crate::pool::{Fixed, Pool};

/// A page that is gone through.
struct Walk<'p, K> {
    format: &'p DiskFirstPage,
    pool: &'p Pool,
    page: &'p Fixed,
    /// Whether it has tupleIDs.
    leaf: bool,
    /// Lines that something was found in, the header's among them.
    taken: Vec<bool>,
    /// Leaf nodes in the order of the tree.
    leaves: Vec<u32>,
    entries: Vec<(K, u32)>,
}

impl DiskFirstPage {
    /// The entries of a page. Checks that leaf nodes are chained in the order of the tree, keys are between those of the nodes above,
    /// and every line belongs to one thing: a node, used or free, or what was never used.
    pub(super) fn checked_page<K: Key>(
        &self,
        pool: &Pool,
        page: &Fixed,
        leaf: bool,
    ) -> Result<Vec<(K, u32)>, Fault> {
        let mut taken = vec![false; self.tree.lines as usize + 1];
        taken[0] = true;
        let mut walk = Walk {
            format: self,
            pool,
            page,
            leaf,
            taken,
            leaves: Vec::new(),
            entries: Vec::new(),
        };
        walk.nonleaf_node(self.root(page.page), None, (None, None))?;
        walk.chain()?;
        walk.free_lines()?;
        Ok(walk.entries)
    }
}

impl<K: Key> Walk<'_, K> {
    fn holds(&self, holding: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
        holds(self.page.page, holding, what)
    }

    /// Takes the lines of a node, which nothing else has.
    fn take(&mut self, line: u32, lines: u32) -> Result<(), Fault> {
        let range = line as usize..(line + lines) as usize;
        let free = self
            .taken
            .get(range.clone())
            .is_some_and(|lines| lines.iter().all(|taken| !taken));
        self.holds(free, || {
            format!("the node at line {line} is not in the page, or shares lines with something")
        })?;
        self.taken[range].fill(true);
        Ok(())
    }

    /// The node at `node`, of `level` unless that is the root, and those below it.
    fn nonleaf_node(
        &mut self,
        node: u32,
        level: Option<usize>,
        range: (Option<K>, Option<K>),
    ) -> Result<(), Fault> {
        let (format, pool, page) = (self.format, self.pool, self.page);
        let line = u32::from(format.line_of(node));
        self.take(line, format.tree.nonleaf_lines)?;
        let (here, children) = parts(pool.peek(page, node));
        let fits = (1..=format.tree.nonleaf_fanout as usize).contains(&children);
        self.holds(here > 0 && level.is_none_or(|level| level == here), || {
            format!("the node at line {line} is of level {here}")
        })?;
        self.holds(fits, || {
            format!("the node at line {line} has {children} children")
        })?;
        let keys: Vec<K> = (0..children)
            .map(|slot| pool.peek(page, format.nonleaf_keys(node).at(slot)))
            .collect();
        // Whatever the first one says.
        ascend(page.page, keys[1..].iter().copied(), range)?;
        for slot in 0..children {
            let line: u16 = pool.peek(page, format.children(node).at(slot));
            let child = format.byte(line);
            let low = if slot > 0 { Some(keys[slot]) } else { range.0 };
            let high = keys.get(slot + 1).copied().or(range.1);
            if here > 1 {
                self.nonleaf_node(child, Some(here - 1), (low, high))?;
            } else {
                self.leaf_node(child, (low, high))?;
            }
        }
        Ok(())
    }

    fn leaf_node(&mut self, node: u32, (low, high): (Option<K>, Option<K>)) -> Result<(), Fault> {
        let (format, pool, page) = (self.format, self.pool, self.page);
        let line = u32::from(format.line_of(node));
        self.take(line, format.tree.leaf_lines)?;
        let count = usize::from(pool.peek::<u16>(page, node));
        let fewest = usize::from(!self.leaf);
        let fits = (fewest..=format.tree.leaf_fanout as usize).contains(&count);
        self.holds(fits, || {
            format!("the node at line {line} has {count} entries")
        })?;
        let (keys, ids) = (format.leaf_keys(node), format.leaf_ids(node));
        let entries: Vec<(K, u32)> = (0..count)
            .map(|slot| {
                (
                    pool.peek(page, keys.at(slot)),
                    pool.peek(page, ids.at(slot)),
                )
            })
            .collect();
        // The first key of a non-leaf page may be anything; those of its later nodes are where searches part.
        let first = usize::from(!self.leaf && self.leaves.is_empty());
        let own = entries.iter().skip(first).map(|entry| entry.0);
        ascend(page.page, own, (low, high))?;
        if !self.leaf && !self.leaves.is_empty() {
            self.holds(low == Some(entries[0].0), || {
                format!(
                    "the node at line {line} begins with another key than the one that leads to it"
                )
            })?;
        }
        self.leaves.push(node);
        self.entries.extend(entries);
        Ok(())
    }

    /// Leaf nodes are chained in the order of the tree.
    fn chain(&self) -> Result<(), Fault> {
        for (number, &node) in self.leaves.iter().enumerate() {
            let next: u16 = self.pool.peek(self.page, node + LEAF_NEXT);
            let right = self.leaves.get(number + 1);
            let wanted = right.map_or(0, |&right| self.format.line_of(right));
            self.holds(next == wanted, || {
                let line = self.format.line_of(node);
                format!(
                    "the node at line {line} leads to line {next}, and the next one is at {wanted}"
                )
            })?;
        }
        Ok(())
    }

    /// What is no node of the tree is free, or was never used.
    fn free_lines(&mut self) -> Result<(), Fault> {
        let tree = self.format.tree;
        for (field, lines) in [
            (FREE_LEAF, tree.leaf_lines),
            (FREE_NONLEAF, tree.nonleaf_lines),
        ] {
            let mut free: u16 = self.pool.peek(self.page, field);
            while free > 0 {
                self.take(free.into(), lines)?;
                free = self.pool.peek(self.page, self.format.byte(free));
            }
        }
        let unused = u32::from(self.pool.peek::<u16>(self.page, FREE_LINE));
        self.holds((1..=tree.lines + 1).contains(&unused), || {
            format!("it was used up to line {unused}")
        })?;
        self.take(unused, tree.lines + 1 - unused)?;
        self.holds(self.taken.iter().all(|&taken| taken), || {
            "some of its lines belong to nothing".into()
        })
    }
}
