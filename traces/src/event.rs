//! One event: one thing a kernel did, in program order.

use serde::{Deserialize, Serialize};

/// What an event is. The discriminants are the numbers stored on disk and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Kind {
    /// Reads `size` bytes at `address`, in `words` word accesses.
    Load = 0,
    /// Writes `size` bytes at `address`, in `words` word accesses.
    Store = 1,
    /// Software prefetch of the line that holds `address`.
    Prefetch = 2,
    /// Non-temporal software prefetch: the line is the first to leave its set until it is used.
    PrefetchNta = 3,
    /// Instruction fetch of `size` bytes at `address`. Takes no instruction of its own: the instructions fetched are
    /// counted where they execute.
    Fetch = 4,
    /// Conditional branch; `address` is 1 if it was taken, 0 if not.
    Branch = 5,
    /// Long-latency arithmetic; `size` is an [`OpClass`].
    Op = 6,
    /// One call into the host DBMS; `address` is an index into the layout's call names. Takes no instruction of its
    /// own: the machine's DBMS profile says what a call runs.
    Call = 7,
    /// Opens phase `address`, which ends the phase before it. Takes no instruction.
    Mark = 8,
    /// Reads page `address` of the table's files from storage. Like the other requests for pages, it takes no instruction
    /// and no time of the core: they are collected for a storage device.
    PageRead = 9,
    /// Writes page `address` to storage.
    PageWrite = 10,
    /// Asks storage for page `address` ahead of its use.
    PagePrefetch = 11,
    /// An uncounted pause after which every cache and TLB is empty. Takes no instruction.
    Flush = 12,
    /// What came before warmed the machine up: nothing of it is counted, and all of its state stays. Takes no
    /// instruction. Of several, the last is where the measurement begins.
    Measure = 13,
    /// A thread waits here until all others of its program are at theirs. Takes no instruction; a program of one thread goes on. At one with
    /// an `address` they also wait for all that the program has written to storage ([`Event::waits_for_writes`]).
    Barrier = 14,
    /// The page that was read last lies in the `size` bytes from `address` on. If it came from storage, that has written them to memory,
    /// and no cache holds them any longer. Takes no instruction.
    PageArrival = 15,
    /// Writes `size` bytes at `address`, in `words` word accesses, past the caches to memory (a non-temporal store).
    StoreNta = 16,
    /// Reads `size` bytes at `address` and writes them in one instruction, with nobody in between: an atomic exchange, addition or comparison.
    /// Its one word counts as an access.
    Exchange = 17,
    /// Waits for page `address`, which another thread of the program reads or has asked for ahead. Takes no instruction. The arrival behind it
    /// is of a page that comes for another thread ([`Event::comes_for_another`]).
    PageWait = 18,
    /// Takes the latch at `address`: the thread goes on when no other of its program holds it, and holds it up to the next [`Kind::Unlatch`].
    /// Stands before the instruction that does so, and waits for what that waits for. Takes no instruction; a program of one thread goes on.
    Latch = 19,
    /// Releases the latch at `address`, when the stores before it are done. A thread that has awaited it only has read what it guards: if
    /// another has held it alone meanwhile, the thread releases what it has taken since [`Kind::AwaitLatch`] and goes back to that event, unless it
    /// has asked for a page since. Takes no instruction.
    Unlatch = 20,
    /// Takes the latch at `address` as [`Kind::Latch`] does, but beside others that share it: the thread goes on when none holds it alone.
    ShareLatch = 21,
    /// Goes on when no other thread holds the latch at `address` alone, and takes nothing; else as [`Kind::Latch`].
    AwaitLatch = 22,
}

impl Kind {
    /// Every kind, in the order of the stored numbers.
    pub const ALL: [Self; 23] = [
        Self::Load,
        Self::Store,
        Self::Prefetch,
        Self::PrefetchNta,
        Self::Fetch,
        Self::Branch,
        Self::Op,
        Self::Call,
        Self::Mark,
        Self::PageRead,
        Self::PageWrite,
        Self::PagePrefetch,
        Self::Flush,
        Self::Measure,
        Self::Barrier,
        Self::PageArrival,
        Self::StoreNta,
        Self::Exchange,
        Self::PageWait,
        Self::Latch,
        Self::Unlatch,
        Self::ShareLatch,
        Self::AwaitLatch,
    ];

    /// Whether it takes, awaits or releases a latch.
    #[inline]
    #[must_use]
    pub fn is_of_latch(self) -> bool {
        self == Self::Unlatch || self.wants_latch()
    }

    /// Whether it goes on when a latch is free.
    #[inline]
    #[must_use]
    pub fn wants_latch(self) -> bool {
        matches!(self, Self::Latch | Self::ShareLatch | Self::AwaitLatch)
    }

    /// Whether a pipeline runs events of this kind itself.
    #[inline]
    #[must_use]
    pub fn is_instruction(self) -> bool {
        self.is_access() || matches!(self, Self::Branch | Self::Op)
    }

    /// Whether an instruction of this kind reads, writes or prefetches data at an address.
    #[inline]
    #[must_use]
    pub fn is_access(self) -> bool {
        self.moves_words() || matches!(self, Self::Prefetch | Self::PrefetchNta)
    }

    /// Whether it is a load, a store or both, which has bytes and words.
    #[inline]
    #[must_use]
    pub fn moves_words(self) -> bool {
        self == Self::Load || self.is_store()
    }

    /// Whether it writes data, to a cache or past it.
    #[inline]
    #[must_use]
    pub fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::StoreNta | Self::Exchange)
    }

    /// The kind stored as `number`, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// Latency class of an [`Kind::Op`] event; the machine file gives the cycles of multiplication and division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum OpClass {
    /// Integer multiplication, pipelined.
    Multiply = 0,
    /// Integer division, not pipelined.
    Divide = 1,
    /// Integer addition or the like: one cycle. An event of its own only where what it waits for matters; else it is a plain
    /// instruction.
    Add = 2,
}

impl OpClass {
    /// The class with the greatest number.
    pub(crate) const LAST: Self = Self::Add;
}

/// One event, 24 bytes.
///
/// A page may come into a frame that threads share. Each such coming is a *fill*, and has a number: fills of a page are counted from 1, and go
/// on with 1 behind 65535. All requests for it name it ([`Event::for_fill`]): whoever comes to it first has the page brought, and others wait
/// for that. These requests have no `words`, nor has the arrival behind a wait. Other requests and arrivals have one, as they always had.
///
/// An event stands for `instructions` plain one-cycle instructions, followed by the event's own: `words` of
/// them for a load or store, one for a prefetch, a branch or an op, none for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// Virtual address; branch outcome, phase, page or call for the kinds that say so.
    pub address: u64,
    /// How many events back stands the event whose result this one needs; 0 if it needs none.
    pub dep: u32,
    /// Bytes touched (they may span lines), bytes of a page, the number of a fill, the lower half of a latch's page, or the [`OpClass`].
    pub size: u16,
    /// Word accesses the bytes take: a copy is one event of many words. At least 1 for loads and stores. Of a latch, the upper half of its page.
    pub words: u16,
    /// Plain one-cycle instructions executed since the event before.
    pub instructions: u16,
    /// Static place in the kernel: index into the trace's site names.
    pub site: u16,
    /// What the event is.
    pub kind: Kind,
    /// Plain cycles between the result named by `dep` and this event's start.
    pub chain: u8,
}

impl Event {
    /// An event of `kind` at `address` that needs nothing, touches one 4-byte word and has no plain instructions.
    #[inline]
    #[must_use]
    pub fn new(kind: Kind, address: u64) -> Self {
        Self {
            address,
            dep: 0,
            size: 4,
            words: 1,
            instructions: 0,
            site: 0,
            kind,
            chain: 0,
        }
    }

    /// A barrier at which a program also waits until all that it has written is on storage.
    #[must_use]
    pub fn barrier_behind_writes() -> Self {
        Self::new(Kind::Barrier, 1)
    }

    /// A request for a page into a frame that threads share: to read it, to wait for it, or to have it come ahead, as fill number `fill`.
    #[must_use]
    pub fn for_fill(kind: Kind, page: u64, fill: u16) -> Self {
        Self {
            size: fill,
            words: 0,
            ..Self::new(kind, page)
        }
    }

    /// An event of the latch of a page, whose word is at `address`, where another page's may have been before.
    #[must_use]
    pub fn of_page_latch(kind: Kind, address: u64, page: u32) -> Self {
        Self {
            size: page as u16,
            words: (page >> 16) as u16,
            ..Self::new(kind, address)
        }
    }

    /// Which latch an event of one is of: where its word is, and the page that it is of. Latches of no page have one number there.
    #[must_use]
    pub fn latch(&self) -> (u64, u32) {
        let page = u32::from(self.words) << 16 | u32::from(self.size);
        (self.address, page)
    }

    /// The number of the fill that this request is for; 0 if it is of a frame that one thread has for itself, or no such request.
    #[must_use]
    pub fn fill(&self) -> u16 {
        match self.kind {
            Kind::PageRead | Kind::PagePrefetch | Kind::PageWait if self.words == 0 => self.size,
            _ => 0,
        }
    }

    /// The arrival of a page in the `bytes` from `frame` on, behind a read of it.
    #[must_use]
    pub fn arrival(frame: u64, bytes: u16) -> Self {
        Self {
            size: bytes,
            ..Self::new(Kind::PageArrival, frame)
        }
    }

    /// The same behind a wait: the page comes for another thread, unless this one was first.
    #[must_use]
    pub fn arrival_for_another(frame: u64, bytes: u16) -> Self {
        Self {
            words: 0,
            ..Self::arrival(frame, bytes)
        }
    }

    /// Whether this arrival is one behind a wait. Who knows no time lets it pass: the page has come once, for its reader.
    #[inline]
    #[must_use]
    pub fn comes_for_another(&self) -> bool {
        self.kind == Kind::PageArrival && self.words == 0
    }

    /// Whether this barrier is one.
    #[must_use]
    pub fn waits_for_writes(&self) -> bool {
        self.kind == Kind::Barrier && self.address != 0
    }

    /// Instructions the event itself stands for, without the plain ones before it.
    #[must_use]
    pub fn own_instructions(&self) -> u64 {
        match self.kind {
            kind if kind.moves_words() => u64::from(self.words),
            Kind::Prefetch | Kind::PrefetchNta | Kind::Branch | Kind::Op => 1,
            _ => 0,
        }
    }
}
