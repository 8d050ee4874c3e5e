//! The static places of the code of string indexes that events name, behind those of the buffer manager: each says the part of the page.

use crate::operations::ReturnSites;
use crate::sorted::{MoveSites, SearchSites};

crate::tracer::sites! { behind crate::pool::Site;
    LevelLoop = "another level?",
    PageHeader = "page header: load",
    PageHeaderStore = "page header: store",
    PagePrefix = "prefixes: load prefix",
    PageSlot = "slots: load offset and length",
    PageSlotStore = "slots: store slot",
    PageKey = "keys: load word",
    PageId = "keys: load pageID or tupleID",
    PageEntryStore = "keys: store entry",
    NodeHeader = "in-page nodes: load header",
    NodeHeaderStore = "in-page nodes: store header",
    NodeSlot = "in-page nodes: load offset and length of a slot",
    NodeSlotStore = "in-page nodes: store slot",
    NodeKey = "in-page nodes: load word of a key",
    NodeId = "in-page nodes: load child, pageID or tupleID",
    NodeEntryStore = "in-page nodes: store entry",
    NodePrefetch = "in-page nodes: prefetch node",
    InPageLevel = "another level in the page?",
    NodeLoop = "another node?",
    SpaceLeft = "space for another node?",
    BufferStore = "reorganized page: store entry into the buffer",
    BufferLoad = "reorganized page: load entry from the buffer",
    SearchLoop = "binary search: more keys?",
    SearchCompare = "binary search: which half?",
    PrefixEqual = "prefixes: equal?",
    WordEqual = "keys: words equal?",
    Position = "any key not above?",
    KeyFound = "key found?",
    Full = "page or node full?",
    Dead = "room in dead entries?",
    Side = "which half takes the key?",
    RootSplit = "root split?",
    MoveLoad = "move word: load",
    MoveStore = "move word: store",
    MoveLoop = "move word: another?",
    EntryLoop = "move entries: another?",
    HalfLoop = "split: half of the bytes?",
    ScanLoop = "scan: another entry?",
    ScanEnd = "scan: end key reached?",
    ScanReturn = "scan: store into the return buffer",
    LastPage = "scan: another page?",
}

impl Site {
    /// Names of the buffer manager's sites and these.
    pub(super) fn all() -> Vec<String> {
        let names = crate::pool::Site::NAMES.iter().chain(Self::NAMES);
        names.map(ToString::to_string).collect()
    }
}

/// The parts of a page, or of a node in it.
#[derive(Debug)]
pub(super) struct Parts {
    pub header: Site,
    pub header_store: Site,
    pub prefix: Site,
    pub slot: Site,
    pub slot_store: Site,
    pub key: Site,
    pub id: Site,
    pub entry_store: Site,
}

/// Of pages that are one area.
pub(super) const PAGE: Parts = Parts {
    header: Site::PageHeader,
    header_store: Site::PageHeaderStore,
    prefix: Site::PagePrefix,
    slot: Site::PageSlot,
    slot_store: Site::PageSlotStore,
    key: Site::PageKey,
    id: Site::PageId,
    entry_store: Site::PageEntryStore,
};

/// Of nodes in pages, which have no prefixes.
pub(super) const NODE: Parts = Parts {
    header: Site::NodeHeader,
    header_store: Site::NodeHeaderStore,
    prefix: Site::NodeSlot,
    slot: Site::NodeSlot,
    slot_store: Site::NodeSlotStore,
    key: Site::NodeKey,
    id: Site::NodeId,
    entry_store: Site::NodeEntryStore,
};

/// Of binary searches.
pub(super) const SEARCH: SearchSites<Site> = SearchSites {
    again: Site::SearchLoop,
    half: Site::SearchCompare,
};

/// Of loops that move words.
pub(super) const MOVE: MoveSites<Site> = MoveSites {
    load: Site::MoveLoad,
    store: Site::MoveStore,
    again: Site::MoveLoop,
};

/// Of return buffers.
pub(super) const RETURN: ReturnSites<Site> = ReturnSites {
    store: Site::ScanReturn,
    again: Site::ScanLoop,
};
