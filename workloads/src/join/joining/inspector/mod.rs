//! Inspector joins (thesis section 5.5): build tuples stay where they are, and their partition is joined a sub-partition of consecutive
//! pages at a time, with those probe tuples of which the partition phase has found that they may match there (`filters.rs`). Their slots tell
//! (`slots.rs`, `spots.rs`), and a counting sort makes an array of pointers for each sub-partition (`arrays.rs`, `extract.rs`). Where keys are duplicates, partitions are read to be partitioned again (`scan.rs`).

mod arrays;
mod extract;
mod filters;
mod places;
mod scan;
mod slots;
mod spots;
mod sub_partitions;

pub(super) use arrays::Arrays;
pub(super) use extract::extract;
pub(super) use filters::{Filters, Passed};
pub(super) use places::{ArrayPlaces, ArraySizes};
pub(super) use scan::ListScan;
pub(super) use slots::probe_partition;
pub(super) use sub_partitions::MOST_SUB_PARTITIONS;
