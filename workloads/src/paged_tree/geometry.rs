//! What fits a page of each kind of index (thesis sections 3.3 and 3.4.1): the one definition of headers, nodes and fan-outs.
//!
//! PageIDs and tupleIDs have 4 bytes, in-page offsets 2. An entry is a key and a pageID or tupleID. The headers are not published; those
//! here give every fan-out of Tables 3.1 and 3.2, and test `fan_outs_are_those_of_tables_3_1_and_3_2` holds them to it.

/// Bytes of a pageID or tupleID.
pub const ID_BYTES: u32 = 4;
/// Bytes of an in-page offset.
pub const OFFSET_BYTES: u32 = 2;
/// Bytes of the header of an in-page leaf node: its entries, and the line of the next.
pub const LEAF_HEADER_BYTES: u32 = 4;
/// Bytes of the header of an in-page non-leaf node: its level and its entries.
pub const NONLEAF_HEADER_BYTES: u32 = 2;
/// Bytes of the fields of a page header; the header takes a line, but for pages with a micro-index, which follows the fields.
pub const PAGE_HEADER_BYTES: u32 = 16;
/// Bytes of the header of a cache-first leaf node: its entries, and pageID and line of the next leaf node.
pub const CACHE_FIRST_LEAF_HEADER_BYTES: u32 = 8;
/// Bytes of the header of a cache-first non-leaf node: its entries and its in-page level.
pub const CACHE_FIRST_HEADER_BYTES: u32 = 4;
/// Bytes of a cache-first pointer: a pageID and a line.
pub const POINTER_BYTES: u32 = ID_BYTES + OFFSET_BYTES;

/// Sizes that all kinds of pages share, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSizes {
    /// Of a page.
    pub page: u32,
    /// Of a key.
    pub key: u32,
    /// Of a cache line.
    pub line: u32,
}

impl PageSizes {
    /// Bytes of an entry whose key and ID are counted together.
    #[must_use]
    pub fn entry(&self) -> u32 {
        self.key + ID_BYTES
    }

    /// Bytes behind a page header of one line.
    fn body(&self) -> u32 {
        self.page - self.line
    }

    /// Lines behind the page header.
    #[must_use]
    pub fn body_lines(&self) -> u32 {
        self.body() / self.line
    }
}

/// Most entries of a slotted page: each has a slot besides.
#[must_use]
pub fn slotted_fanout(sizes: &PageSizes) -> u32 {
    sizes.body() / (sizes.entry() + OFFSET_BYTES)
}

/// Most entries of a page with a key array and an ID array.
#[must_use]
pub fn array_fanout(sizes: &PageSizes) -> u32 {
    sizes.body() / sizes.entry()
}

/// Where the parts of a page with a micro-index are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroIndexPage {
    /// Keys of a sub-array: each has its first key in the micro-index.
    pub subarray_keys: u32,
    /// Most entries: the key array has whole lines.
    pub fanout: u32,
    /// Byte where the key array begins, at a line; the micro-index begins behind the fields of the header.
    pub keys: u32,
}

impl MicroIndexPage {
    /// The page with sub-arrays of so many lines that has the most entries; `None` if none fits.
    #[must_use]
    pub fn new(sizes: &PageSizes, subarray_lines: u32) -> Option<Self> {
        let subarray_keys = subarray_lines * sizes.line / sizes.key;
        // The least number of keys that fills whole lines.
        let step = sizes.line / gcd(sizes.line, sizes.key);
        if subarray_keys < 2 || step > array_fanout(sizes) {
            return None;
        }
        let most = sizes.page / sizes.entry() / step;
        (1..=most).rev().find_map(|steps| {
            let fanout = steps * step;
            let micro_index = fanout.div_ceil(subarray_keys) * sizes.key;
            let keys = (PAGE_HEADER_BYTES + micro_index).next_multiple_of(sizes.line);
            (keys + fanout * sizes.entry() <= sizes.page).then_some(Self {
                subarray_keys,
                fanout,
                keys,
            })
        })
    }
}

fn gcd(left: u32, right: u32) -> u32 {
    if right == 0 {
        left
    } else {
        gcd(right, left % right)
    }
}

/// The tree inside a page of a disk-first fpB+-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPageTree {
    /// Lines of a non-leaf node, w.
    pub nonleaf_lines: u32,
    /// Lines of a leaf node, x.
    pub leaf_lines: u32,
    /// Entries of a non-leaf node.
    pub nonleaf_fanout: u32,
    /// Entries of a leaf node.
    pub leaf_fanout: u32,
    /// Leaf nodes of a full page.
    pub leaves: u32,
    /// Levels of the tree of a full page, L.
    pub levels: u32,
    /// Lines behind the page header.
    pub lines: u32,
}

/// Levels that in-page trees may have.
const MOST_LEVELS: u32 = 8;

impl InPageTree {
    /// The tree with nodes of so many lines that has the most leaf nodes in a page, of as few levels as that takes, 2 at least; `None` if
    /// none fits.
    #[must_use]
    pub fn new(sizes: &PageSizes, nonleaf_lines: u32, leaf_lines: u32) -> Option<Self> {
        let entries = |lines: u32, header: u32, entry: u32| {
            (lines * sizes.line)
                .checked_sub(header)
                .map(|room| room / entry)
        };
        let nonleaf_fanout = entries(
            nonleaf_lines,
            NONLEAF_HEADER_BYTES,
            sizes.key + OFFSET_BYTES,
        )?;
        let leaf_fanout = entries(leaf_lines, LEAF_HEADER_BYTES, sizes.entry())?;
        if nonleaf_fanout < 2 || leaf_fanout < 2 {
            return None;
        }
        let mut best: Option<Self> = None;
        for levels in 2..=MOST_LEVELS {
            let tree = Self {
                nonleaf_lines,
                leaf_lines,
                nonleaf_fanout,
                leaf_fanout,
                leaves: 0,
                levels,
                lines: sizes.body_lines(),
            };
            let reach = nonleaf_fanout.saturating_pow(levels - 1);
            let most = reach.min(tree.lines / leaf_lines);
            let leaves = (1..=most)
                .rev()
                .find(|&leaves| tree.lines_of(leaves) <= tree.lines);
            let leaves = leaves.unwrap_or(0);
            if leaves > best.map_or(1, |best| best.leaves) {
                best = Some(Self { leaves, ..tree });
            }
        }
        best
    }

    /// Most entries of a page.
    #[must_use]
    pub fn fanout(&self) -> u32 {
        self.leaves * self.leaf_fanout
    }

    /// Non-leaf nodes over so many leaf nodes, packed.
    #[must_use]
    pub fn nonleaf_nodes(&self, leaves: u32) -> u32 {
        let (mut below, mut nodes) = (leaves, 0);
        for _ in 1..self.levels {
            below = below.div_ceil(self.nonleaf_fanout);
            nodes += below;
        }
        nodes
    }

    /// Lines of a tree of so many leaf nodes.
    fn lines_of(&self, leaves: u32) -> u32 {
        leaves * self.leaf_lines + self.nonleaf_nodes(leaves) * self.nonleaf_lines
    }
}

/// Nodes of a cache-first fpB+-tree and the pages that they are placed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFirst {
    /// Lines of a node.
    pub node_lines: u32,
    /// Nodes of a page.
    pub nodes: u32,
    /// Entries of a leaf node.
    pub leaf_fanout: u32,
    /// Children of a non-leaf node.
    pub fanout: u32,
    /// Children of a leaf parent, which has a pointer to the next one.
    pub parent_fanout: u32,
    /// Leaf pages that a chunk of the external jump-pointer array has room for: a chunk is a page.
    pub chunk_slots: u32,
}

impl CacheFirst {
    /// Nodes of so many lines; `None` if they do not fit.
    #[must_use]
    pub fn new(sizes: &PageSizes, node_lines: u32) -> Option<Self> {
        let room = |header: u32| (node_lines * sizes.line).checked_sub(header);
        let child = sizes.key + POINTER_BYTES;
        let this = Self {
            node_lines,
            nodes: sizes.body_lines() / node_lines,
            leaf_fanout: room(CACHE_FIRST_LEAF_HEADER_BYTES)? / sizes.entry(),
            fanout: room(CACHE_FIRST_HEADER_BYTES)? / child,
            parent_fanout: room(CACHE_FIRST_HEADER_BYTES + POINTER_BYTES)? / child,
            chunk_slots: sizes.body() / ID_BYTES,
        };
        let least = this.leaf_fanout.min(this.parent_fanout);
        (least >= 4 && this.nodes >= 2).then_some(this)
    }

    /// Most entries of a leaf page.
    #[must_use]
    pub fn page_fanout(&self) -> u32 {
        self.nodes * self.leaf_fanout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Page KB, non-leaf and leaf bytes and fan-out of disk-first, node bytes and fan-out of cache-first, sub-array bytes and fan-out.
    type Row = (u32, [u32; 3], [u32; 2], [u32; 2]);
    const TABLE_3_1: [Row; 4] = [
        (4, [64, 384, 470], [576, 497], [128, 496]),
        (8, [192, 256, 961], [576, 994], [192, 1008]),
        (16, [128, 768, 1995], [960, 2023], [320, 2032]),
        (32, [256, 832, 4017], [960, 4046], [320, 4064]),
    ];
    const TABLE_3_2: [(u32, [u32; 3], [u32; 2]); 4] = [
        (4, [128, 384, 310], [128, 320]),
        (8, [128, 640, 636], [384, 672]),
        (16, [256, 640, 1325], [384, 1344]),
        (32, [384, 896, 2664], [768, 2704]),
    ];

    fn fanouts(sizes: &PageSizes, [nonleaf, leaf, _]: [u32; 3], subarray: u32) -> [u32; 2] {
        let tree = InPageTree::new(sizes, nonleaf / sizes.line, leaf / sizes.line).unwrap();
        let micro = MicroIndexPage::new(sizes, subarray / sizes.line).unwrap();
        [tree.fanout(), micro.fanout]
    }

    #[test]
    fn fan_outs_are_those_of_tables_3_1_and_3_2() {
        for (page, disk_first, [node, cache_first], [subarray, micro]) in TABLE_3_1 {
            let sizes = PageSizes {
                page: page << 10,
                key: 4,
                line: 64,
            };
            assert_eq!(
                fanouts(&sizes, disk_first, subarray),
                [disk_first[2], micro],
                "{page} KB"
            );
            let nodes = CacheFirst::new(&sizes, node / 64).unwrap();
            assert_eq!(nodes.page_fanout(), cache_first, "{page} KB");
        }
        for (page, disk_first, [subarray, micro]) in TABLE_3_2 {
            let sizes = PageSizes {
                page: page << 10,
                key: 8,
                line: 128,
            };
            assert_eq!(
                fanouts(&sizes, disk_first, subarray),
                [disk_first[2], micro],
                "{page} KB"
            );
        }
    }

    /// Section 3.6.2: 57 children, of which 6 fit the page of their parent.
    #[test]
    fn a_cache_first_node_of_4_kb_pages_has_57_children() {
        let sizes = PageSizes {
            page: 4096,
            key: 4,
            line: 64,
        };
        let nodes = CacheFirst::new(&sizes, 9).unwrap();
        assert_eq!((nodes.fanout, nodes.nodes - 1), (57, 6));
    }

    /// Space overhead of 7.2% at 4 KB, within the 9% of section 3.6.1.
    #[test]
    fn an_array_page_of_4_kb_has_504_entries() {
        let sizes = PageSizes {
            page: 4096,
            key: 4,
            line: 64,
        };
        assert_eq!((array_fanout(&sizes), slotted_fanout(&sizes)), (504, 403));
    }
}
