//! The static places of the code of the buffer manager that events name.

crate::tracer::sites! {
    TableEntry = "page table: load first descriptor",
    ChainEnd = "page table: no further descriptor?",
    DescriptorPage = "frame descriptor: load pageID",
    DescriptorNext = "frame descriptor: load next",
    PageFound = "page table: page found?",
    PinCount = "frame descriptor: load pins",
    PinStore = "frame descriptor: store pins",
    State = "frame descriptor: load state",
    StateStore = "frame descriptor: store state",
    FrameAddress = "frame descriptor: load address of frame",
    Changed = "unfix: page changed?",
    ClockPins = "CLOCK: load pins",
    ClockPinned = "CLOCK: pinned?",
    ClockReferenced = "CLOCK: referenced?",
    ClockChanged = "CLOCK: page changed?",
    Unlink = "page table: take descriptor out",
    Link = "page table: put descriptor in",
    DescriptorStore = "frame descriptor: fill",
    Coming = "page still coming?",
}
