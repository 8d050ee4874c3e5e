//! Places in the code of joins, and then of partitioning.

crate::tracer::sites! {
    PageHeader = "open an input page",
    PagePrefetch = "prefetch of the input page",
    Slot = "hash code and place of a tuple",
    SlotsLeft = "is there another tuple on the page?",
    Bucket = "hash code modulo buckets",
    HeaderPrefetch = "prefetch of the bucket header",
    Header = "visit the bucket header",
    HeaderChange = "change the bucket header",
    HasCells = "are there cells?",
    HasArray = "is there a cell array?",
    IsBusy = "is the bucket busy?",
    IsFull = "is the cell array full?",
    CellPrefetch = "prefetch of the cell array",
    Cell = "visit a cell",
    CellChange = "write a cell",
    CellsLeft = "is there another cell?",
    CodesEqual = "are hash codes equal?",
    TuplePrefetch = "prefetch of the build tuple",
    BuildKey = "key of the build tuple",
    ProbeKey = "key of the probe tuple",
    KeysEqual = "are keys equal?",
    BuildCopy = "copy from the build tuple",
    ProbeCopy = "copy from the probe tuple",
    OutputFull = "is the output page full?",
    OutputPrefetch = "prefetch of the output page",
    OutputCopy = "copy into the output tuple",
    OutputSlot = "place of the output tuple",
    OutputHeader = "number of output tuples",
    State = "state of a tuple under way",
    StateChange = "change the state of a tuple",
    OnPath = "does the tuple take this path?",
    StageLoop = "next tuple of the stage",
    InputKey = "key of an input tuple",
    PartitionNumber = "hash code modulo partitions",
    BufferPage = "where is the partition's output page?",
    BufferPageChange = "the partition has a new output page",
    BufferPrefetch = "prefetch of the output page's header",
    BufferHeader = "visit the output page's header",
    BufferHeaderChange = "change the output page's header",
    BufferFull = "is the partition's output page full?",
    BufferUsed = "are there tuples in the partition's output page?",
    BufferHeld = "is a tuple still to be copied into it?",
    PlacePrefetch = "prefetch of the tuple's place in the output page",
    WholePagePrefetch = "prefetch of a new output page",
    InputCopy = "copy from the input tuple",
    BufferCopy = "copy into the output page",
    BufferSlot = "hash code and place of the output tuple",
}

impl Site {
    /// Those of the join phase.
    pub(super) fn of_joins() -> &'static [&'static str] {
        &Self::NAMES[..Self::InputKey as usize]
    }
}
