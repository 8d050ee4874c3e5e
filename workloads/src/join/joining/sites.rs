//! Places in the code of joins that buffer what they find, and of inspector joins.

use crate::join::sites::Site as JoinSite;

crate::tracer::sites! {
    behind JoinSite;
    PairChange = "buffer a pair of tuples",
    PairsFull = "is the buffer of pairs full?",
    Pair = "a buffered pair of tuples",
    ProbeTuplePrefetch = "prefetch of the probe tuple",
    PairsLeft = "is there another pair?",
    ProbeSlot = "hash code, place and sub-partitions of a probe tuple",
    ProbeSlotPrefetch = "prefetch of the next page's slots",
    ProbeSlotsLeft = "is there another slot on the page?",
    FurtherSubPartition = "another sub-partition of the probe tuple",
    SubPartitionsLeft = "is there another sub-partition?",
    ArrayEnd = "where does the sub-partition's array end?",
    ArrayEndChange = "move the end of the array",
    ArrayStore = "pointer and hash code into the array",
    ArrayLineBegins = "does a line of the array begin?",
    ArrayStorePrefetch = "prefetch of the array's next line to write",
    ArrayEntry = "pointer and hash code of a probe tuple",
    ArrayPrefetch = "prefetch of the array to read",
    ArrayLeft = "is there another entry?",
    Average = "sub-partitions of a probe tuple on average",
    IsSwitched = "are keys duplicates?",
}

/// Those that only a join has that chooses.
const OF_CHOICES: usize = 2;

/// All sites of a join that has these, and may choose.
pub(super) fn all(chooses: bool) -> impl Iterator<Item = &'static str> {
    let more = Site::NAMES.len() - if chooses { 0 } else { OF_CHOICES };
    JoinSite::NAMES.iter().chain(&Site::NAMES[..more]).copied()
}
