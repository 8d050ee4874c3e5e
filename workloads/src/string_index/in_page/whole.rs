//! What is done to a whole page: building its tree, dividing its entries anew among its nodes, and splitting it.

use super::{InPageFilling, InPageTree, PLACE, ROOT};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::Site;
use crate::string_index::area::{LEVEL, LINK, STEP};
use crate::string_index::format::Filling;
use crate::string_index::text::Text;
use crate::tracer::{Dep, Token, Trace};

/// Bytes of the words that entries go to the buffer in.
const WORD: u16 = 8;

/// Where the entries are that a page is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The caller has them.
    Registers,
    /// They are in the buffer, one behind the other.
    Buffer,
}

/// Nodes of a page below its root.
#[derive(Debug, Default)]
struct Below {
    nonleaf: Vec<Loaded<u32>>,
    leaves: Vec<Loaded<u32>>,
}

/// A leaf node of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    number: Loaded<u32>,
    /// Bytes of its entries and their slots.
    pub living: u32,
}

/// Bytes that an entry takes in the buffer, and their words.
fn buffered(key: &[u8]) -> (u16, u16) {
    let bytes = (key.len() + 4).next_multiple_of(4) as u16;
    (bytes, bytes.div_ceil(WORD))
}

/// Says that an entry goes to the buffer behind so many bytes, which waits for `dep`; returns the bytes with it.
fn store_buffered<T: Trace>(trace: &mut T, pool: &Pool, before: u64, key: &[u8], dep: Dep) -> u64 {
    let (bytes, words) = buffered(key);
    trace.work(u32::from(words) * STEP);
    let address = pool.buffer() + before;
    trace.store(Site::BufferStore, address, bytes, words, dep);
    before + u64::from(bytes)
}

/// Says that an entry comes from the buffer, from behind so many bytes; returns its load, and the bytes with it.
fn load_buffered<T: Trace>(trace: &mut T, pool: &Pool, before: u64, key: &[u8]) -> (Token, u64) {
    let (bytes, words) = buffered(key);
    trace.work(u32::from(words) * STEP);
    let address = pool.buffer() + before;
    let token = trace.load(Site::BufferLoad, address, bytes, words, Dep::NONE);
    (token, before + u64::from(bytes))
}

impl InPageTree {
    /// A page whose leaf nodes are filled up to so many bytes.
    pub(super) fn filling_to(&self, target: u32) -> InPageFilling {
        InPageFilling {
            format: *self,
            target,
            left: target,
            nodes: self.leaves - 1,
        }
    }

    /// Fills a page with entries.
    pub(super) fn build_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(Text, u32)],
        mut filling: InPageFilling,
        source: Source,
    ) {
        self.reset(trace, pool, page);
        let mut leaves = vec![self.take(trace, pool, page)];
        let mut node = self.node_of(page, leaves[0]);
        node.reset(trace, pool, (0, Dep::NONE));
        let (mut slot, mut buffered) = (0, 0);
        for (key, id) in entries {
            let length = key.len() as u32;
            if !filling.same_node(length) {
                filling.next_node();
                let fits = filling.takes(length);
                assert!(fits, "page {} is filled beyond its room", page.page);
                let number = self.take(trace, pool, page);
                leaves.push(number);
                node = self.node_of(page, number);
                node.reset(trace, pool, (0, Dep::NONE));
                slot = 0;
            }
            let mut entry = (Loaded::constant(&**key), Loaded::constant(*id));
            if source == Source::Buffer {
                let (token, behind) = load_buffered(trace, pool, buffered, key);
                (entry.0.token, entry.1.token, buffered) = (token, token, behind);
            }
            let inserted = node.insert(trace, pool, slot, entry);
            assert!(inserted, "a node of page {} has no room", page.page);
            slot += 1;
        }
        self.link(trace, pool, page, &leaves);
        self.plant(trace, pool, page, &leaves);
    }

    /// Chains leaf nodes.
    fn link<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, leaves: &[Loaded<u32>]) {
        for (place, &number) in leaves.iter().enumerate() {
            let next = leaves.get(place + 1).copied();
            let next = next.unwrap_or(Loaded::constant(0));
            let (node, waits) = (self.node_of(page, number), next.token.after(0));
            node.store_header(trace, pool, LINK, next.value, waits);
        }
    }

    /// Builds the non-leaf nodes over leaf nodes, of which none is empty if there are several. Non-leaf nodes are free but for the root.
    fn plant<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[Loaded<u32>],
    ) {
        let mut below: Vec<(Loaded<Text>, Loaded<u32>)> = Vec::with_capacity(leaves.len());
        for &number in leaves {
            let node = self.node_of(page, number);
            // The key of an only child is never looked at, and a page without entries has none.
            let key = if leaves.len() > 1 {
                node.key(trace, pool, 0)
            } else {
                Loaded::constant(Text::EMPTY)
            };
            below.push((key, number));
        }
        for level in 1.. {
            let nodes = below.len().div_ceil(self.children as usize);
            let mut above = Vec::with_capacity(nodes);
            let first = |number: usize| below.len() * number / nodes;
            for place in 0..nodes {
                let number = if nodes == 1 {
                    Loaded::constant(ROOT)
                } else {
                    self.take(trace, pool, page)
                };
                let node = self.node_of(page, number);
                node.reset(trace, pool, (level, Dep::NONE));
                let part = &below[first(place)..first(place + 1)];
                above.push((part[0].0, number));
                for (slot, (key, child)) in part.iter().enumerate() {
                    let entry = (key.bytes(), *child);
                    let inserted = node.insert(trace, pool, slot, entry);
                    assert!(inserted, "a node of page {} has no room", page.page);
                    trace.work(2 * STEP);
                    trace.branch(Site::NodeLoop, slot + 1 < part.len(), Dep::NONE);
                }
            }
            if nodes == 1 {
                return;
            }
            below = above;
        }
    }

    /// The nodes below the root of a page, leaf nodes in order. Those above them say where they are: along the chain of leaf nodes, each
    /// would be known only when the one before has come.
    fn below_root<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Below {
        let mut found = Below::default();
        let mut above = Loaded::constant(ROOT);
        for next in 0.. {
            trace.work(PLACE);
            let node = self.node_of(page, above);
            let level: Loaded<u16> = node.load_header(trace, pool, LEVEL);
            trace.work(STEP);
            trace.branch(Site::InPageLevel, level.value > 1, level.token.after(1));
            let count = usize::from(node.count(trace, pool).value);
            for slot in 0..count {
                let child = node.id(trace, pool, slot);
                if level.value > 1 {
                    found.nonleaf.push(child);
                } else {
                    found.leaves.push(child);
                }
                trace.work(STEP);
                trace.branch(Site::NodeLoop, slot + 1 < count, Dep::NONE);
            }
            match found.nonleaf.get(next) {
                Some(&node) => above = node,
                None => break,
            }
        }
        found
    }

    /// Leaf nodes with the bytes of their entries.
    fn measured<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        leaves: &[Loaded<u32>],
    ) -> Vec<Leaf> {
        let mut measured = Vec::with_capacity(leaves.len());
        for (place, &number) in leaves.iter().enumerate() {
            trace.work(PLACE);
            let living = self.node_of(page, number).living(trace, pool);
            measured.push(Leaf { number, living });
            trace.work(STEP);
            trace.branch(Site::NodeLoop, place + 1 < leaves.len(), Dep::NONE);
        }
        measured
    }

    /// The leaf nodes of a page in order.
    pub(super) fn leaves<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Vec<Leaf> {
        let below = self.below_root(trace, pool, page);
        self.measured(trace, pool, page, &below.leaves)
    }

    /// Divides the entries of a page evenly among as many leaf nodes as it has others for: they are copied to a buffer and back.
    pub(super) fn reorganize<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[Leaf],
    ) {
        let (mut entries, mut buffered) = (Vec::new(), 0);
        for leaf in leaves {
            let node = self.node_of(page, leaf.number);
            let count = usize::from(node.count(trace, pool).value);
            for slot in 0..count {
                // The ID is loaded last.
                let (key, id) = node.entry(trace, pool, slot);
                let dep = id.token.after(0);
                buffered = store_buffered(trace, pool, buffered, &key.value, dep);
                trace.branch(Site::EntryLoop, slot + 1 < count, Dep::NONE);
                entries.push((key.value, id.value));
            }
        }
        let living: u32 = leaves.iter().map(|leaf| leaf.living).sum();
        // Nodes take an entry more than their share.
        let share = living.div_ceil(self.leaves) + self.longest;
        let filling = self.filling_to(share);
        self.build_page(trace, pool, page, &entries, filling, Source::Buffer);
    }

    /// Splits a page: the leaf nodes with the upper half of the bytes are copied to another, and both trees are planted anew. Empty nodes
    /// are given back.
    pub(super) fn split_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<Text> {
        let below = self.below_root(trace, pool, page);
        let leaves = self.measured(trace, pool, page, &below.leaves);
        let (kept, empty): (Vec<_>, Vec<_>) = leaves.into_iter().partition(|leaf| leaf.living > 0);
        let all: u32 = kept.iter().map(|leaf| leaf.living).sum();
        let mut before = 0;
        let lower = kept.iter().take_while(|leaf| {
            let more = 2 * before < all;
            before += leaf.living;
            more
        });
        let (stay, go) = kept.split_at(lower.count());
        self.reset(trace, pool, right);
        let mut copies = Vec::with_capacity(go.len());
        for leaf in go {
            let copy = self.take(trace, pool, right);
            let node = self.node_of(page, leaf.number);
            node.copy_to(trace, pool, &self.node_of(right, copy));
            copies.push(copy);
        }
        self.link(trace, pool, right, &copies);
        self.plant(trace, pool, right, &copies);
        for number in below.nonleaf {
            self.release(trace, pool, page, number);
        }
        for leaf in go.iter().chain(&empty) {
            self.release(trace, pool, page, leaf.number);
        }
        let stay: Vec<Loaded<u32>> = stay.iter().map(|leaf| leaf.number).collect();
        self.link(trace, pool, page, &stay);
        self.plant(trace, pool, page, &stay);
        self.node_of(right, copies[0]).key(trace, pool, 0)
    }
}
