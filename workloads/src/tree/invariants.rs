//! What must be true of a tree at any time.

use super::Tree;
use super::layout::{CHUNK_NEXT, CHUNK_PREVIOUS, CHUNK_SLOTS, JumpPointers, KEYS, Kind};
use crate::word::Word;

impl<W: Word> Tree<W> {
    /// Checks order, fill, separators, chains and jump pointers of the whole tree.
    ///
    /// # Errors
    /// The first thing that is wrong, with the address where it is.
    pub fn check(&self) -> Result<(), String> {
        let mut levels = vec![Vec::new(); self.levels];
        self.check_subtree(self.levels - 1, self.root, None, None, &mut levels)?;
        for (level, nodes) in levels.iter().enumerate() {
            if self.alive[level] != nodes.len() as u64 {
                return Err(format!(
                    "level {level} has {} nodes, not {}",
                    nodes.len(),
                    self.alive[level]
                ));
            }
            if self.is_chained(level) {
                self.check_chain(level, nodes)?;
            }
        }
        if self.shape.kind == Kind::CsbPlus {
            self.check_groups(&levels)?;
        }
        match self.shape.jump_pointers {
            JumpPointers::External { .. } => self.check_chunks(&levels[0]),
            _ => Ok(()),
        }
    }

    /// Checks the node and what is below it: all keys in `low..high`. Notes the nodes of each level in key order.
    fn check_subtree(
        &self,
        level: usize,
        node: u64,
        low: Option<W>,
        high: Option<W>,
        levels: &mut [Vec<u64>],
    ) -> Result<(), String> {
        levels[level].push(node);
        let layout = self.layouts[level];
        let count = self.count(level, node);
        if count > layout.max_keys {
            return Err(format!(
                "node {node:#x} has {count} keys, room for {}",
                layout.max_keys
            ));
        }
        let keys: Vec<W> = (0..count)
            .map(|slot| self.peek(level, node, KEYS + slot))
            .collect();
        if !keys.is_sorted_by(|left, right| left < right) {
            return Err(format!("the keys of node {node:#x} are not in order"));
        }
        if keys
            .iter()
            .any(|key| low.is_some_and(|low| *key < low) || high.is_some_and(|high| *key >= high))
        {
            return Err(format!(
                "node {node:#x} has keys that its parent's separators exclude"
            ));
        }
        if level == 0 {
            return Ok(());
        }
        for slot in 0..=count {
            let child = match self.shape.kind {
                Kind::BPlus => self.peek(level, node, layout.values + slot).to_u64(),
                Kind::CsbPlus => {
                    self.peek(level, node, layout.values).to_u64()
                        + slot as u64 * u64::from(self.shape.node_bytes())
                }
            };
            let low = slot.checked_sub(1).map_or(low, |before| Some(keys[before]));
            let high = keys.get(slot).copied().or(high);
            self.check_subtree(level - 1, child, low, high, levels)?;
        }
        Ok(())
    }

    /// Groups fit their blocks, and neither groups nor free blocks overlap or leave their level's segment.
    fn check_groups(&self, levels: &[Vec<u64>]) -> Result<(), String> {
        let bytes = u64::from(self.shape.node_bytes());
        for (level, blocks) in self.blocks.iter().enumerate() {
            let mut used: Vec<(u64, usize)> = blocks.free().collect();
            if level + 1 == self.levels {
                used.push((self.root, 1));
            }
            for &parent in levels.get(level + 1).into_iter().flatten() {
                let group = self.peek(level + 1, parent, self.layouts[level + 1].values);
                let nodes = self.count(level + 1, parent) + 1;
                let (group, room) = (group.to_u64(), blocks.room(group.to_u64()));
                if room.is_some_and(|room| room < nodes) {
                    return Err(format!(
                        "group {group:#x} has {nodes} nodes, room for {room:?}"
                    ));
                }
                used.push((group, room.unwrap_or(nodes)));
            }
            used.sort_unstable();
            let segment = &self.segments()[level];
            let mut end = segment.base;
            for (address, nodes) in used {
                if address < end {
                    return Err(format!(
                        "group {address:#x} of level {level} overlaps the one before"
                    ));
                }
                end = address + nodes as u64 * bytes;
            }
            if end > segment.base + segment.size_bytes {
                return Err(format!(
                    "a group of level {level} ends at {end:#x}, outside its segment"
                ));
            }
        }
        Ok(())
    }

    fn check_chain(&self, level: usize, nodes: &[u64]) -> Result<(), String> {
        let next = self.layouts[level].next;
        for (index, &node) in nodes.iter().enumerate() {
            let link = self.peek(level, node, next).to_u64();
            if link != nodes.get(index + 1).copied().unwrap_or(0) {
                return Err(format!(
                    "node {node:#x} of level {level} is followed by {link:#x}"
                ));
            }
        }
        Ok(())
    }

    /// The jump pointers are the leaves in order, every chunk has one, and hints name the chunk.
    fn check_chunks(&self, leaves: &[u64]) -> Result<(), String> {
        let segment = self.chunk_segment();
        let mut seen = Vec::with_capacity(leaves.len());
        let mut chunks = 0;
        let mut previous = 0;
        let mut chunk = self
            .split_hint(self.peek(0, leaves[0], self.layouts[0].hint))
            .0;
        while chunk != 0 {
            chunks += 1;
            if self.peek(segment, chunk, CHUNK_PREVIOUS).to_u64() != previous {
                return Err(format!(
                    "chunk {chunk:#x} does not point back to {previous:#x}"
                ));
            }
            let before = seen.len();
            for slot in 0..self.shape.chunk_slots() {
                let leaf = self.peek(segment, chunk, CHUNK_SLOTS + slot).to_u64();
                if leaf == 0 {
                    continue;
                }
                if self.split_hint(self.peek(0, leaf, self.layouts[0].hint)).0 != chunk {
                    return Err(format!(
                        "leaf {leaf:#x} has a hint to another chunk than {chunk:#x}"
                    ));
                }
                seen.push(leaf);
            }
            if seen.len() == before {
                return Err(format!("chunk {chunk:#x} has no jump pointer"));
            }
            previous = chunk;
            chunk = self.peek(segment, chunk, CHUNK_NEXT).to_u64();
        }
        if seen != leaves {
            return Err("the jump pointers are not the leaves in key order".into());
        }
        if chunks != self.chunks() {
            return Err(format!(
                "{chunks} chunks are chained, {} are in use",
                self.chunks()
            ));
        }
        Ok(())
    }
}
