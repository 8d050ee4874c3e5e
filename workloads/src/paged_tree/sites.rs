//! The static places of the code of indexes in pages that events name, behind those of the buffer manager.

use crate::sorted::{MoveSites, SearchSites};

crate::tracer::sites! { behind crate::pool::Site;
    LevelLoop = "another level?",
    PageHeader = "load page header",
    PageHeaderStore = "store page header",
    Slot = "load slot",
    SlotStore = "store slot",
    SlottedKey = "load key of an entry",
    SlottedId = "load pageID or tupleID of an entry",
    SlottedStore = "store entry",
    FreeEntry = "load free entry",
    ArrayKey = "load key of the key array",
    ArrayId = "load pageID or tupleID of the array",
    MicroKey = "micro-index: load key",
    MicroPrefetch = "prefetch micro-index",
    SubarrayPrefetch = "prefetch sub-array",
    MicroLoad = "micro-index: load first key of a sub-array",
    MicroStore = "micro-index: store key",
    MicroLoop = "micro-index: another sub-array?",
    NonleafHeader = "load header of a non-leaf node",
    NonleafKey = "non-leaf node: load key",
    NonleafChild = "non-leaf node: load child",
    NonleafPrefetch = "prefetch non-leaf node",
    NonleafStore = "non-leaf node: store",
    InPageLevel = "another level in the page?",
    SamePage = "child in the same page?",
    LeafHeader = "load header of a leaf node",
    LeafKey = "leaf node: load key",
    LeafId = "leaf node: load pageID or tupleID",
    LeafPrefetch = "prefetch leaf node",
    LeafStore = "leaf node: store",
    SearchLoop = "binary search: more keys?",
    SearchCompare = "binary search: which half?",
    Position = "any key not above?",
    FoundKey = "load found key",
    KeyFound = "key found?",
    Full = "page or node full?",
    Side = "which half takes the key?",
    RootSplit = "root split?",
    KeyStore = "store key",
    IdStore = "store pageID or tupleID",
    MoveLoad = "move word: load",
    MoveStore = "move word: store",
    MoveLoop = "move word: another?",
    SplitLoop = "split: another entry?",
    NodeLoop = "another node?",
    SpaceLeft = "space for another node?",
    ScanLoop = "scan: another entry?",
    ScanEnd = "scan: end key reached?",
    ScanReturn = "scan: store into the return buffer",
    BufferFull = "return buffer: full?",
    BufferRoom = "return buffer: room to prefetch?",
    BufferPrefetch = "prefetch return buffer",
    NextPage = "load next page",
    LastPage = "scan: another page?",
    ParentPointer = "load pointer to the parent",
    PointerStore = "store pointer",
    NodeMap = "load map of nodes",
    NodeMapStore = "store map of nodes",
    AnotherPage = "jump pointers: another page?",
    LastPrefetched = "jump pointers: end of the range?",
}

impl Site {
    /// Names of the buffer manager's sites and these.
    #[must_use]
    pub fn all() -> Vec<String> {
        let names = crate::pool::Site::NAMES.iter().chain(Self::NAMES);
        names.map(ToString::to_string).collect()
    }
}

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
