//! B+-trees, CSB+-trees and prefetching B+-trees (thesis chapter 2), over a simulated address space.

mod bulkload;
mod chunks;
mod delete;
mod group_delete;
mod group_insert;
mod group_moves;
mod groups;
mod insert;
mod invariants;
mod jump_pointers;
pub mod layout;
mod nodes;
pub(crate) mod path;
pub mod plan;
pub(crate) mod scan;
pub(crate) mod search;
mod sites;
pub(crate) mod slots;

pub use scan::{ReturnBuffer, ScanRange};
pub use sites::Site;

use crate::arena::Arena;
use crate::place::Place;
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;
use groups::Blocks;
use layout::{Kind, NodeLayout, Shape};

/// How a tree is run: what does not change its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetching {
    /// Whether every line of a node is prefetched before the node is used.
    pub nodes: bool,
    /// d, how many leaves a scan prefetches ahead (equation 2.8); trees with jump pointers only.
    pub distance_nodes: u32,
    /// Plain instructions of a prefetch, besides itself: none where its address is an offset in the instruction.
    pub instructions: u32,
}

/// An address in a register, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    address: u64,
    dep: Dep,
}

impl Pointer {
    /// An address that needs no load.
    fn constant(address: u64) -> Self {
        Self {
            address,
            dep: Dep::NONE,
        }
    }

    /// An address that a load brings.
    fn loaded<W: Word>(word: W, token: Token) -> Self {
        Self {
            address: word.to_u64(),
            dep: token.after(0),
        }
    }
}

/// A tree of `W`-sized keys, pointers and tupleIDs.
///
/// Nodes of level L are in segment L of the arena, leaves being level 0; chunks of an external jump-pointer
/// array are in the segment after the highest level's.
#[derive(Clone, Debug)]
pub struct Tree<W> {
    shape: Shape,
    prefetching: Prefetching,
    arena: Arena,
    /// Layout of every level that may come to be.
    layouts: Vec<NodeLayout>,
    root: u64,
    levels: usize,
    /// Objects alive, by segment.
    alive: Vec<u64>,
    /// Objects given back, by segment; the next allocation takes the last.
    free: Vec<Vec<u64>>,
    /// Blocks of node groups, by level; those of CSB+-trees only, whose nodes are not in `free`.
    blocks: Vec<Blocks>,
    node_splits: u64,
    chunk_splits: u64,
    word: std::marker::PhantomData<W>,
}

/// Events of a binary search over one bit of the number of keys, and of the steps to the next node: a bit halves them. Fitted, for
/// estimates.
pub(crate) const EVENTS_PER_KEY_BIT: f64 = 4.7;

/// Address of an element of an array: a key, a pointer, a pair, a slot (shift, add).
pub(crate) const ELEMENT: u32 = 2;

/// Instructions of a memory allocator's fast path: take the next free object of its size class, with the call.
pub(crate) const ALLOCATE: u32 = 60;

impl<W: Word> Tree<W> {
    /// What determines the nodes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Segments, one per level that may come to be, and the jump-pointer array.
    #[must_use]
    pub fn segments(&self) -> &[traces::Segment] {
        self.arena.segments()
    }

    /// Sets how the tree is run.
    pub fn set_prefetching(&mut self, prefetching: Prefetching) {
        self.prefetching = prefetching;
    }

    /// Makes clones cheap.
    pub fn freeze(&mut self) {
        self.arena.freeze();
    }

    /// Gives the tree memory of its own, all of it touched, and returns where simulated address 0 is in it.
    pub fn settle(&mut self) -> *const u8 {
        self.arena.thaw();
        self.origin()
    }

    /// Where simulated address 0 is in the tree's memory.
    #[must_use]
    pub fn origin(&self) -> *const u8 {
        self.arena.origin()
    }

    /// Levels, leaves included.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Leaves in use.
    #[must_use]
    pub fn leaf_nodes(&self) -> u64 {
        self.alive[0]
    }

    /// Non-leaf nodes in use.
    #[must_use]
    pub fn inner_nodes(&self) -> u64 {
        self.alive[1..self.layouts.len()].iter().sum()
    }

    /// Chunks of the external jump-pointer array in use.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.alive[self.layouts.len()..].iter().sum()
    }

    /// Bytes of all nodes and chunks in use.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        let nodes = self.leaf_nodes() + self.inner_nodes();
        nodes * u64::from(self.shape.node_bytes())
            + self.chunks() * u64::from(self.shape.chunk_lines() * self.shape.line_bytes)
    }

    /// Nodes split since the bulkload (by untraced insertions too).
    #[must_use]
    pub fn node_splits(&self) -> u64 {
        self.node_splits
    }

    /// Chunks split since the bulkload (by untraced insertions too).
    #[must_use]
    pub fn chunk_splits(&self) -> u64 {
        self.chunk_splits
    }

    /// Address of word `word` of the object at `address`.
    #[inline]
    fn at(address: u64, word: usize) -> u64 {
        address + (word * W::BYTES) as u64
    }

    /// Word `word` of the object at `address`.
    #[inline]
    fn place(segment: usize, address: u64, word: usize) -> Place<W> {
        Place::new(segment, Self::at(address, word))
    }

    /// Reads a word without a trace.
    #[inline]
    fn peek(&self, segment: usize, address: u64, word: usize) -> W {
        self.arena.read(Self::place(segment, address, word))
    }

    /// Writes a word without a trace.
    #[inline]
    fn poke(&mut self, segment: usize, address: u64, word: usize, value: W) {
        self.arena.write(Self::place(segment, address, word), value);
    }

    /// Loads a word; `chain` plain cycles pass between the object's address and the load.
    #[inline]
    fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        segment: usize,
        object: Pointer,
        word: usize,
        chain: u8,
    ) -> (W, Token) {
        let place = Self::place(segment, object.address, word);
        let loaded = self.arena.load(trace, site, place, object.dep.later(chain));
        (loaded.value, loaded.token)
    }

    /// Stores a word, whose value waits for `dep`.
    #[inline]
    #[allow(
        clippy::too_many_arguments,
        reason = "a place, what goes there and what it waits for"
    )]
    fn store<T: Trace>(
        &mut self,
        trace: &mut T,
        site: Site,
        segment: usize,
        address: u64,
        word: usize,
        value: W,
        dep: Dep,
    ) {
        let place = Self::place(segment, address, word);
        self.arena.store(trace, site, place, value, dep);
    }

    /// Prefetches all lines of a node, ascending, if the tree prefetches. Unrolled.
    #[inline]
    fn prefetch_node<T: Trace>(&self, trace: &mut T, node: Pointer) {
        if self.prefetching.nodes {
            self.prefetch_lines(
                trace,
                Site::NodePrefetch,
                node,
                self.shape.node_lines,
                self.shape.line_bytes,
            );
        }
    }

    #[inline]
    fn prefetch_lines<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        object: Pointer,
        lines: u32,
        line_bytes: u32,
    ) {
        for line in 0..lines {
            trace.work(self.prefetching.instructions);
            self.arena.prefetch(
                trace,
                site,
                object.address + u64::from(line * line_bytes),
                object.dep,
            );
        }
    }

    /// The next free object of a segment, whose lines prefetching trees prefetch in their entirety (section 2.2.1).
    fn allocate<T: Trace>(&mut self, trace: &mut T, segment: usize, lines: u32) -> u64 {
        trace.work(ALLOCATE);
        self.alive[segment] += 1;
        let address = match self.free[segment].pop() {
            Some(address) => address,
            None => self
                .arena
                .allocate(segment, (lines * self.shape.line_bytes) as usize),
        };
        if self.prefetching.nodes {
            self.prefetch_lines(
                trace,
                Site::NodePrefetch,
                Pointer::constant(address),
                lines,
                self.shape.line_bytes,
            );
        }
        address
    }

    /// Gives an object back; of a CSB+-tree a node that has its group for itself. The list of free objects is kept outside the
    /// simulated address space.
    fn release(&mut self, segment: usize, address: u64) {
        self.alive[segment] -= 1;
        match self.shape.kind {
            Kind::BPlus => self.free[segment].push(address),
            Kind::CsbPlus => self.blocks[segment].release(address, 1),
        }
    }
}
