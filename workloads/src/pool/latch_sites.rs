//! The static places of the code of a buffer manager whose frames threads share. They come behind those of the index.

crate::tracer::sites! {
    Latch = "page table: take latch and load first descriptor",
    LatchFree = "page table: latch free?",
    Unlatch = "page table: release latch",
    Pin = "frame descriptor: add pin",
    Unpin = "frame descriptor: take pin off",
    ClockLatch = "CLOCK: take latch",
    ClockLatchFree = "CLOCK: latch free?",
    Hand = "CLOCK: load hand",
    FrameLeft = "CLOCK: frame never used?",
    HandStore = "CLOCK: store hand",
    PinnedMeanwhile = "CLOCK: pinned meanwhile?",
    ClockUnlatch = "CLOCK: release latch",
    Version = "frame descriptor: load version",
    VersionFree = "frame descriptor: page leaving?",
    SamePage = "frame descriptor: still of the page?",
    NotReferenced = "frame descriptor: not referenced yet?",
    VersionAgain = "frame descriptor: load version again",
    VersionSame = "frame descriptor: version the same?",
    VersionStep = "frame descriptor: next version",
}
