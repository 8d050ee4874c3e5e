//! How addresses are translated: pages, TLB, page table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Walks that may be under way at once, at most.
pub(crate) const MOST_WALKERS: u32 = 256;

/// Who waits for a page-table walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Walker {
    /// One walk at a time; memory operations that would issue during it wait for its end.
    Blocking,
    /// Several walks at once; only operations in pages that are walked for wait.
    Parallel,
}

/// What lies in huge pages: the operating system's and the allocator's choice, not the processor's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HugePages {
    /// Nothing.
    #[default]
    None,
    /// Everything.
    All,
    /// The segments whose names match one of these, in which `*` stands for any text, and what shares a huge page with
    /// them.
    #[serde(untagged)]
    Segments(Vec<String>),
}

/// What a software prefetch does on a TLB miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrefetchOnTlbMiss {
    /// It walks like a load (faulting prefetch, Itanium's `lfetch.fault`).
    Walk,
    /// It is dropped, unless the page is being walked for already.
    Drop,
}

/// Data TLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbSpec {
    /// Page size; a power of two. That of the smaller pages where some are huge.
    pub page_bytes: u64,
    /// Size of a huge page, on machines that have such; a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub huge_page_bytes: Option<u64>,
    /// What lies in huge pages.
    #[serde(default)]
    pub huge_pages: HugePages,
    /// Levels, nearest first, under LRU.
    pub levels: Vec<TlbLevelSpec>,
    /// Added by a miss in every level.
    pub walk_latency_cycles: u32,
    /// Reads of the page table, made through the caches and waited for besides `walk_latency_cycles`; absent if that
    /// covers them.
    #[serde(default)]
    pub page_table: Option<PageTableSpec>,
    /// Who waits for a walk.
    pub walker: Walker,
    /// Parallel walks that may be under way at once; absent if any number may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_WALKERS))]
    pub walkers: Option<u32>,
    /// What a software prefetch does on a miss.
    pub prefetch_on_miss: PrefetchOnTlbMiss,
}

impl TlbSpec {
    /// Size of the smallest pages in use.
    #[must_use]
    pub fn smallest_page_bytes(&self) -> u64 {
        match self.huge_pages {
            HugePages::All => self.huge_page_bytes.unwrap_or(self.page_bytes),
            HugePages::None | HugePages::Segments(_) => self.page_bytes,
        }
    }
}

/// One level of TLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbLevelSpec {
    /// Translations held.
    #[schemars(range(min = 1))]
    pub entries: u32,
    /// Translations of one set; absent if the level is fully associative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ways: Option<u32>,
    /// Translations of huge pages held, in entries of their own; absent if huge pages share `entries` with the others, and
    /// 0 if the level holds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub huge_entries: Option<u32>,
    /// Translations of one set of `huge_entries`; absent if those are fully associative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub huge_ways: Option<u32>,
    /// Added by a hit here (0 for the first level, whose access overlaps the cache's).
    pub latency_cycles: u32,
}

/// A radix page table that walks read through the caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageTableSpec {
    /// Levels of the tree for the smallest pages: reads per walk, each needing the one before. Each larger size of page
    /// is an entry of an earlier level, at which the walk ends.
    #[schemars(range(min = 1))]
    pub levels: u32,
    /// Size of one entry.
    pub entry_bytes: u32,
    /// Size of a node of the tree, and of the smallest pages that it translates; absent if that is the page size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_bytes: Option<u64>,
    /// Entries of each level but the last that the walker remembers (page-walk cache); 0 for none.
    pub walk_cache_entries: u32,
    /// Name of the cache that the walker's reads look up first.
    pub first_cache: String,
}
