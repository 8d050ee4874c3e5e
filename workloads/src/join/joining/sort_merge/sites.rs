//! Places in the code of sort-merge joins.

use crate::join::sites::Site as JoinSite;

crate::tracer::sites! {
    behind JoinSite;
    SortKey = "key of a tuple out of order",
    EntryStore = "key and pointer of a tuple to be sorted",
    RunHead = "first entry of a run",
    RunOfLesser = "which run has the lesser key?",
    RunStore = "entry into the merged run",
    RunLeft = "is there another entry in the run?",
    Entry = "a sorted entry",
    EntryAhead = "a sorted entry whose tuple is prefetched",
    DisplacedPrefetch = "prefetch of a tuple out of order",
    DisplacedFirst = "has the input out of order the lesser key?",
    SameKey = "has the probe tuple the key of the one before?",
    BuildBehind = "is the build tuple's key less than the probe tuple's?",
    BuildEqual = "has the build tuple the probe tuple's key?",
    GroupChange = "remember a build tuple of the key",
    Group = "a build tuple of the key",
    GroupLeft = "is there another build tuple of the key?",
}

/// All sites of a sort-merge join.
pub(in crate::join::joining) fn all() -> impl Iterator<Item = &'static str> {
    JoinSite::NAMES.iter().chain(Site::NAMES).copied()
}
