//! What holds of every tree.

use super::{ARRAY_PAGES, At, CacheFirstTree, LEAF_PAGES, NONLEAF_PAGES, OVERFLOW_PAGES, Pointer};
use crate::paged_tree::check::{Fault, Filled, ascend, holds};
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{COUNT, NEXT};
use crate::tracer::{Dep, Untraced};
use crate::watch;

/// A node of the level that is gone through.
struct Reached<K> {
    /// Its least key, unless any may be there.
    low: Option<K>,
    place: Pointer,
    parent: Pointer,
}

/// How full nodes and pages are.
pub(in crate::paged_tree) struct Fullness {
    /// Nodes by level, leaf nodes first.
    pub nodes: Vec<Filled>,
    /// Leaf pages.
    pub pages: Filled,
    /// Places of the overflow page that is filled.
    pub overflow_room: u64,
    /// Chunks of the jump-pointer array.
    pub chunks: Filled,
}

/// What was seen of the pages.
struct Seen {
    /// Whether a place has a node, page by page.
    places: Vec<bool>,
    /// Leaf pages in the order of keys.
    leaf_pages: Vec<u32>,
    is_leaf_page: Vec<bool>,
}

impl<K: Key> CacheFirstTree<K> {
    /// Gives `take` all entries in order. Checks keys against those above, chains of leaf nodes and leaf parents, pointers back, maps of
    /// nodes, and the array of leaf pages; returns how full nodes and pages are.
    ///
    /// # Errors
    /// The first thing that does not hold. Pages may have any bytes; levels, pages by group and the overflow page are those of a tree that
    /// has such pages.
    pub(in crate::paged_tree) fn check(
        &mut self,
        take: &mut dyn FnMut(K, u32),
    ) -> Result<Fullness, Fault> {
        let pages = self.pool.pages() as usize + 1;
        let mut seen = Seen {
            places: vec![false; pages * self.geometry.nodes as usize],
            leaf_pages: Vec::new(),
            is_leaf_page: vec![false; pages],
        };
        let mut nodes = vec![Filled::default(); self.levels];
        let mut level = vec![Reached {
            low: None,
            place: self.root,
            parent: Pointer::default(),
        }];
        for height in (0..self.levels).rev() {
            let mut below = Vec::new();
            for number in 0..level.len() {
                self.check_place(height, level[number].place, &mut seen)?;
                let right = level.get(number + 1);
                let node = self.fix(&mut Untraced, level[number].place, Dep::NONE);
                let checked = self.check_node(height, &node, &level[number], right);
                self.pool.unfix(&mut Untraced, &node.page, false);
                let (keys, ids, children) = checked?;
                let most = if height == 0 {
                    self.geometry.leaf_fanout as usize
                } else {
                    self.fanout(height)
                };
                let half = (most / 2) as u64;
                nodes[height].add((most - keys.len() + 1) as u64, half);
                watch::step(keys.len() as u64);
                if height == 0 {
                    let leaf = &level[number];
                    self.check_leaf_page(leaf.place.page, leaf.parent, &mut seen)?;
                    keys.iter().zip(ids).for_each(|(&key, id)| take(key, id));
                }
                below.extend(children.into_iter().enumerate().map(|(slot, place)| {
                    let low = if slot == 0 {
                        level[number].low
                    } else {
                        Some(keys[slot])
                    };
                    Reached {
                        low,
                        place,
                        parent: level[number].place,
                    }
                }));
            }
            // All nodes but the last have two children or more, as has the root.
            let fewest = if level.len() == 1 {
                2
            } else {
                2 * level.len() - 1
            };
            holds(self.root.page, height == 0 || below.len() >= fewest, || {
                format!(
                    "{} nodes of level {height} have {} children",
                    level.len(),
                    below.len()
                )
            })?;
            level = below;
        }
        let pages = self.check_pages(&seen)?;
        let overflow_room = self.check_overflow(&seen)?;
        let chunks = self.check_array(&seen.leaf_pages)?;
        Ok(Fullness {
            nodes,
            pages,
            overflow_room,
            chunks,
        })
    }

    /// There is such a place in a page of the right group, and nothing has led to it.
    fn check_place(&self, height: usize, place: Pointer, seen: &mut Seen) -> Result<(), Fault> {
        let Pointer { page, line } = place;
        let groups: &[usize] = match height {
            0 => &[LEAF_PAGES],
            1 => &[NONLEAF_PAGES, OVERFLOW_PAGES],
            _ => &[NONLEAF_PAGES],
        };
        let there = page > 0
            && groups
                .iter()
                .any(|&group| self.pool.is_in_group(page, group));
        holds(page, there, || {
            format!("it is no page for nodes of level {height}, and one is said to be there")
        })?;
        let behind = u32::from(line).checked_sub(1);
        let number = behind
            .filter(|behind| behind.is_multiple_of(self.geometry.node_lines))
            .map(|behind| behind / self.geometry.node_lines)
            .filter(|&number| number < self.geometry.nodes);
        let place = number.and_then(|number| {
            let first = page as usize * self.geometry.nodes as usize;
            seen.places.get_mut(first + number as usize)
        });
        let new = place.is_some_and(|place| !std::mem::replace(place, true));
        holds(page, new, || {
            format!("no node begins at line {line}, or two pointers lead to it")
        })
    }

    /// Keys, tupleIDs and children of a node that is in its page.
    #[allow(clippy::type_complexity, reason = "named where it is taken apart")]
    fn check_node(
        &self,
        height: usize,
        node: &At,
        reached: &Reached<K>,
        right: Option<&Reached<K>>,
    ) -> Result<(Vec<K>, Vec<u32>, Vec<Pointer>), Fault> {
        let page = node.page.page;
        let count = usize::from(self.load_count(&mut Untraced, height, node).value);
        let (fewest, most) = if height == 0 {
            (0, self.geometry.leaf_fanout as usize)
        } else {
            (1, self.fanout(height))
        };
        holds(page, (fewest..=most).contains(&count), || {
            format!(
                "the node at line {} of level {height} has {count} entries",
                reached.place.line
            )
        })?;
        let array = self.keys(height, node.node);
        let keys: Vec<K> = (0..count)
            .map(|slot| self.pool.peek(&node.page, array.at(slot)))
            .collect();
        let own = keys.iter().skip(usize::from(height > 0)).copied();
        ascend(page, own, (reached.low, right.and_then(|right| right.low)))?;
        if height < 2 {
            let next = self.load_next(&mut Untraced, height, node).value;
            let wanted = right.map(|right| right.place).unwrap_or_default();
            holds(page, next == wanted, || {
                format!(
                    "the node at line {} leads to line {} of page {}, and the next one is at line {} of page {}",
                    reached.place.line, next.line, next.page, wanted.line, wanted.page
                )
            })?;
        }
        if height == 0 {
            let array = self.ids(node.node);
            let ids = (0..count).map(|slot| self.pool.peek(&node.page, array.at(slot)));
            return Ok((keys, ids.collect(), Vec::new()));
        }
        let children =
            (0..count).map(|slot| self.load_child(&mut Untraced, height, node, slot).value);
        Ok((keys, Vec::new(), children.collect()))
    }

    /// The leaf nodes of a page come one after the other, and it knows the parent of the first.
    fn check_leaf_page(
        &mut self,
        page: u32,
        parent: Pointer,
        seen: &mut Seen,
    ) -> Result<(), Fault> {
        if seen.leaf_pages.last() == Some(&page) {
            return Ok(());
        }
        let before = std::mem::replace(&mut seen.is_leaf_page[page as usize], true);
        holds(page, !before, || {
            "leaf nodes of another page are between its own".into()
        })?;
        seen.leaf_pages.push(page);
        if self.levels == 1 {
            return Ok(());
        }
        let fixed = self.pool.fix(&mut Untraced, page, Dep::NONE);
        let back = self.load_back(&mut Untraced, &fixed).value;
        self.pool.unfix(&mut Untraced, &fixed, false);
        holds(page, back == parent, || {
            format!(
                "its first leaf node's parent is at line {} of page {}, and it says line {} of page {}",
                parent.line, parent.page, back.line, back.page
            )
        })
    }

    /// Maps and counts of nodes are right, and every page but those of the array has a node.
    fn check_pages(&mut self, seen: &Seen) -> Result<Filled, Fault> {
        let nodes = self.geometry.nodes as usize;
        let mut filled = Filled::default();
        for page in 1..=self.pool.pages() as u32 {
            if self.pool.is_in_group(page, ARRAY_PAGES) {
                continue;
            }
            let places = &seen.places[page as usize * nodes..][..nodes];
            let fixed = self.pool.fix(&mut Untraced, page, Dep::NONE);
            let map = self.nodes_of(&mut Untraced, &fixed);
            let count = usize::from(self.pool.peek::<u16>(&fixed, COUNT));
            self.pool.unfix(&mut Untraced, &fixed, false);
            let numbers = (0_u32..).zip(places).filter(|place| *place.1);
            let found: Vec<u32> = numbers.map(|place| self.place(place.0)).collect();
            holds(page, map == found && count == found.len(), || {
                format!(
                    "it has {} nodes that are reached, {} in its map and {count} by its header",
                    found.len(),
                    map.len()
                )
            })?;
            holds(page, !found.is_empty(), || "nothing leads to it".into())?;
            if seen.is_leaf_page[page as usize] {
                filled.add((nodes - found.len() + 1) as u64, (nodes / 2) as u64);
            }
        }
        Ok(filled)
    }

    /// The chunks of the array list all leaf pages in order, each of which knows its chunk, and there are no other chunks.
    fn check_array(&mut self, leaf_pages: &[u32]) -> Result<Filled, Fault> {
        let chunks = self.chunks();
        let mut filled = Filled::default();
        let mut left = leaf_pages.iter();
        let mut chunk = self.listed_in(leaf_pages[0]).0;
        while !left.as_slice().is_empty() {
            holds(chunk, self.pool.is_in_group(chunk, ARRAY_PAGES), || {
                "it is no page of the array of leaf pages, and is said to be".into()
            })?;
            let fixed = self.pool.fix(&mut Untraced, chunk, Dep::NONE);
            let places = (0..chunks.slots).map(|slot| chunks.ids.at(slot));
            let slots: Vec<u32> = places.map(|place| self.pool.peek(&fixed, place)).collect();
            let next: u32 = self.pool.peek(&fixed, NEXT);
            self.pool.unfix(&mut Untraced, &fixed, false);
            let listed: Vec<u32> = slots.into_iter().filter(|&page| page != 0).collect();
            // Whoever divides a chunk leaves some in both, and none is ever taken out.
            holds(chunk, !listed.is_empty(), || "it lists no page".into())?;
            let wanted: Vec<u32> = left.by_ref().take(listed.len()).copied().collect();
            let wrong = listed.iter().zip(&wanted).find(|pair| pair.0 != pair.1);
            let same = wrong.is_none() && listed.len() == wanted.len();
            holds(chunk, same, || match wrong {
                Some((page, wanted)) => {
                    format!(
                        "it lists leaf page {page}, and the next one in the order of keys is {wanted}"
                    )
                }
                None => format!(
                    "it lists {} pages behind the last leaf page",
                    listed.len() - wanted.len()
                ),
            })?;
            for page in wanted {
                let (said, slot) = self.listed_in(page);
                holds(page, said == chunk && slot < chunks.slots, || {
                    format!("chunk {chunk} lists it, and it says slot {slot} of chunk {said}")
                })?;
            }
            let half = (chunks.slots / 2) as u64;
            filled.add((chunks.slots - listed.len() + 1) as u64, half);
            holds(chunk, (next == 0) == left.as_slice().is_empty(), || {
                format!(
                    "chunk {next} is said to follow, and {} leaf pages do",
                    left.len()
                )
            })?;
            chunk = next;
        }
        let (found, all) = (filled.objects, self.pages[ARRAY_PAGES]);
        holds(self.root.page, found == all, || {
            format!("the array of leaf pages has {found} chunks, and there are {all} pages of it")
        })?;
        Ok(filled)
    }

    /// The chunk that a leaf page says it is listed in, and about which slot.
    fn listed_in(&mut self, page: u32) -> (u32, usize) {
        let fixed = self.pool.fix(&mut Untraced, page, Dep::NONE);
        let (chunk, slot) = self.load_listed(&mut Untraced, &fixed);
        self.pool.unfix(&mut Untraced, &fixed, false);
        (chunk.value, slot.value.into())
    }

    /// The overflow page that is filled is one; returns its free places.
    fn check_overflow(&self, seen: &Seen) -> Result<u64, Fault> {
        let page = self.overflow;
        if page == 0 {
            return Ok(0);
        }
        holds(page, self.pool.is_in_group(page, OVERFLOW_PAGES), || {
            "it is no overflow page, and the next leaf parents are to go there".into()
        })?;
        let nodes = self.geometry.nodes as usize;
        let places = &seen.places[page as usize * nodes..][..nodes];
        Ok(places.iter().filter(|place| !**place).count() as u64)
    }
}
