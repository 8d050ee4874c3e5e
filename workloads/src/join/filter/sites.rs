//! Places in the code of filters.

use crate::join::sites::Site as Join;

crate::tracer::sites! {
    behind Join;
    Position = "position of a bit in a filter",
    FilterPrefetch = "prefetch of a filter's word",
    FilterClear = "clear a filter",
    FilterWord = "word of a filter",
    FilterChange = "set a bit of a filter",
    CurrentFilter = "which filter do the partition's build tuples go to?",
    CurrentFilterChange = "count a partition's pages and filters",
    SubPartitionFull = "has the partition's sub-partition all its pages?",
    MergePrefetch = "prefetch of the filters to be merged",
    MergeRead = "read the filters to be merged",
    MergeWrite = "write the merged filter",
    FiltersOf = "which filters does a partition have?",
    ConvertPrefetch = "prefetch of the next block to be converted",
    ConvertClear = "clear a block of vertical filters",
    ConvertRead = "read a horizontal filter",
    One = "position of the lowest bit that is set",
    OnesLeft = "is there another bit that is set?",
    RowRead = "read a row of vertical filters",
    RowChange = "set a bit of a row",
    TestPrefetch = "prefetch of the bits to be tested",
    TestRead = "read the bits to be tested",
    Dropped = "may the probe tuple have matches?",
    Counted = "count of a sub-partition's probe tuples",
    CountedChange = "count a probe tuple of a sub-partition",
    Duplicates = "sub-partitions of a probe tuple on average",
}
