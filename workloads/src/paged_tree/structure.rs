//! The five indexes, what determines the pages of each, and which pages there can be.

use super::Shape;
use super::geometry::{
    CacheFirst, InPageTree, MicroIndexPage, PAGE_HEADER_BYTES, PageSizes, slotted_fanout,
};
use crate::bounds::{LINE_BYTES, OneOf};
use crate::operations::LINES;
use crate::pool::limits::PAGE_BYTES;
use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys.
pub(crate) const KEY_BYTES: OneOf<3> = OneOf([4, 8, 20]);
/// Fewest entries of a page: below that, splits have nothing to divide.
const FEWEST_ENTRIES: u32 = 8;

/// What the pages are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    /// Entries anywhere in the page, and an array of slots that points to them in the order of keys.
    Slotted,
    /// An array of keys, and one of pageIDs or tupleIDs.
    Array,
    /// The same, and a small array of every so manyth key (Lomet 2001), prefetched.
    MicroIndex,
    /// Disk-first fpB+-tree: a prefetching B+-tree in each page (thesis section 3.3.3).
    DiskFirst,
    /// Cache-first fpB+-tree: nodes of a prefetching B+-tree, placed in pages (thesis section 3.3.4).
    CacheFirst,
}

impl Structure {
    /// Every one.
    pub(crate) const ALL: [Self; 5] = [
        Self::Slotted,
        Self::Array,
        Self::MicroIndex,
        Self::DiskFirst,
        Self::CacheFirst,
    ];
    /// Those whose scans can prefetch by jump pointers.
    pub(crate) const FRACTAL: [Self; 2] = [Self::DiskFirst, Self::CacheFirst];

    /// Those that prefetch parts of pages.
    pub(crate) const PREFETCHING: [Self; 3] = [Self::MicroIndex, Self::DiskFirst, Self::CacheFirst];

    pub(crate) fn prefetches(self) -> bool {
        Self::PREFETCHING.contains(&self)
    }
}

/// Cache lines of the parts of a page. Each structure has some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Of a non-leaf node of the tree in a disk-first page.
    pub nonleaf: u32,
    /// Of a leaf node of that tree.
    pub leaf: u32,
    /// Of a node of a cache-first tree.
    pub node: u32,
    /// Of the keys for each key of a micro-index.
    pub subarray: u32,
}

/// What is built: a structure, sizes, and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Which of the five.
    pub structure: Structure,
    /// Of pages, keys and lines.
    pub sizes: PageSizes,
    /// Of which only those of the structure matter.
    pub lines: Lines,
}

impl Build {
    /// The same, without lines that do not matter.
    #[must_use]
    pub fn plain(self) -> Self {
        let Lines {
            nonleaf,
            leaf,
            node,
            subarray,
        } = self.lines;
        let lines = match self.structure {
            Structure::Slotted | Structure::Array => Lines::default(),
            Structure::MicroIndex => Lines {
                subarray,
                ..Lines::default()
            },
            Structure::DiskFirst => Lines {
                nonleaf,
                leaf,
                ..Lines::default()
            },
            Structure::CacheFirst => Lines {
                node,
                ..Lines::default()
            },
        };
        Self { lines, ..self }
    }

    /// What determines the pages.
    ///
    /// # Errors
    /// A size is none of those that there can be, or pages have no room for what they are made of: the parameter, and why.
    pub fn shape(&self) -> Result<Shape, WorkloadError> {
        let sizes = &self.sizes;
        PAGE_BYTES.check("page_bytes", sizes.page)?;
        KEY_BYTES.check("key_bytes", sizes.key)?;
        LINE_BYTES.check("line_bytes", sizes.line)?;
        if sizes.line < PAGE_HEADER_BYTES || slotted_fanout(sizes) < FEWEST_ENTRIES {
            let message = format!(
                "{} bytes; a page of {} has no room for {FEWEST_ENTRIES} entries behind a header of one line",
                sizes.line, sizes.page
            );
            return Err(WorkloadError::new("line_bytes", message));
        }
        match self.structure {
            Structure::Slotted => Ok(Shape::Slotted),
            Structure::Array => Ok(Shape::Array),
            Structure::MicroIndex => self.micro_index(),
            Structure::DiskFirst => self.disk_first(),
            Structure::CacheFirst => self.cache_first(),
        }
    }

    fn micro_index(&self) -> Result<Shape, WorkloadError> {
        let lines = self.lines.subarray;
        LINES.check("subarray_lines", lines)?;
        let page = |lines| {
            let page = MicroIndexPage::new(&self.sizes, lines);
            // A line less, and a sub-array has all keys as well: then there is no such sub-array.
            let has_last_line = |page: &MicroIndexPage| {
                (lines - 1) * self.sizes.line / self.sizes.key < page.fanout
            };
            page.filter(|page| page.fanout >= FEWEST_ENTRIES && has_last_line(page))
        };
        page(lines)
            .map(Shape::MicroIndex)
            .ok_or_else(|| self.unfit("subarray_lines", lines, |lines| page(lines).is_some()))
    }

    fn disk_first(&self) -> Result<Shape, WorkloadError> {
        let Lines { nonleaf, leaf, .. } = self.lines;
        LINES.check("nonleaf_lines", nonleaf)?;
        LINES.check("leaf_lines", leaf)?;
        let tree = InPageTree::new(&self.sizes, nonleaf, leaf);
        tree.map(Shape::DiskFirst).ok_or_else(|| {
            let fits = |nonleaf, leaf| InPageTree::new(&self.sizes, nonleaf, leaf).is_some();
            if nonleaf > leaf {
                self.unfit("nonleaf_lines", nonleaf, |lines| fits(lines, leaf))
            } else {
                self.unfit("leaf_lines", leaf, |lines| fits(nonleaf, lines))
            }
        })
    }

    fn cache_first(&self) -> Result<Shape, WorkloadError> {
        let lines = self.lines.node;
        LINES.check("node_lines", lines)?;
        let page = |lines| CacheFirst::new(&self.sizes, lines);
        let nodes = page(lines)
            .ok_or_else(|| self.unfit("node_lines", lines, |lines| page(lines).is_some()))?;
        let most = (self.sizes.line - PAGE_HEADER_BYTES) * 8;
        if nodes.nodes > most {
            let message = format!(
                "{lines} lines make {} nodes per page; the page header has bits for {most}, so nodes or lines must be larger",
                nodes.nodes
            );
            return Err(WorkloadError::new("node_lines", message));
        }
        Ok(Shape::CacheFirst(nodes))
    }

    /// Says of a number of lines that pages cannot be made of it, and of which they can.
    fn unfit(&self, parameter: &str, lines: u32, fits: impl Fn(u32) -> bool) -> WorkloadError {
        let PageSizes { page, key, line } = self.sizes;
        let message = format!(
            "{lines} lines of {line} bytes do not fit pages of {page} bytes and keys of {key}; with the other sizes as they are, {}",
            LINES.those_that(fits)
        );
        WorkloadError::new(parameter, message)
    }
}
