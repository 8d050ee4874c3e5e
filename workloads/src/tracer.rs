//! Where a kernel says what it does: into events, or into nothing.

use crate::watch;
use std::ops::Range;
use traces::{Event, EventSink, Kind, OpClass, SinkError};

/// The event that produced a value: its number in the trace, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    /// A value that no traced event produced (a constant, a register of the caller).
    pub const NONE: Self = Self(0);

    /// The dependence of an event that starts `chain` plain cycles after this value is there.
    #[inline]
    #[must_use]
    pub fn after(self, chain: u8) -> Dep {
        Dep { token: self, chain }
    }
}

/// What an event waits for: the value named by a token, and the plain cycles after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dep {
    token: Token,
    chain: u8,
}

impl Dep {
    /// Waits for nothing.
    pub const NONE: Self = Self {
        token: Token::NONE,
        chain: 0,
    };

    /// The same value, used `cycles` plain cycles later.
    #[inline]
    #[must_use]
    pub fn later(self, cycles: u8) -> Self {
        Self {
            token: self.token,
            chain: self.chain + cycles,
        }
    }

    /// This dependence, or `other` if this one waits for nothing.
    #[inline]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.token == Token::NONE {
            other
        } else {
            self
        }
    }
}

/// Takes what a kernel does, in program order.
///
/// Kernels are generic over it, so that the traced and the untraced run are one piece of code. Whoever takes events says what
/// becomes of one ([`Trace::emit`]); kernels say it with the methods below, which are compiled into them: nothing is left of an
/// event that nobody takes.
pub trait Trace {
    /// Whether the host's processor is to do the kernel's loads and stores itself: what they touch then lies in memory of the
    /// host as in the simulated address space.
    const NATIVE: bool = false;

    /// Takes an event that waits for `dep`, and gives the token of its result.
    fn emit(&mut self, event: Event, dep: Dep) -> Token;
    /// Plain one-cycle instructions; they are attached to the next event.
    fn work(&mut self, instructions: u32);
    /// Whether the sink refused events: the kernel stops at its next operation.
    fn failed(&self) -> bool;
    /// What comes up to [`Trace::resume`] is no part of what the kernel does, though it comes in the middle of it: natively the clock
    /// stands still.
    #[inline(always)]
    fn pause(&mut self) {}

    /// The kernel goes on after a pause.
    #[inline(always)]
    fn resume(&mut self) {}

    /// The last operation is over; what follows (counting nodes, freeing memory) is no part of the run.
    #[inline(always)]
    fn end(&mut self) {}

    /// Reads `size` bytes in `words` word accesses.
    #[inline]
    fn load(
        &mut self,
        site: impl Into<u16>,
        address: u64,
        size: u16,
        words: u16,
        dep: Dep,
    ) -> Token {
        let event = Event {
            size,
            words,
            site: site.into(),
            ..Event::new(Kind::Load, address)
        };
        self.emit(event, dep)
    }

    /// Writes `size` bytes in `words` word accesses.
    #[inline]
    fn store(
        &mut self,
        site: impl Into<u16>,
        address: u64,
        size: u16,
        words: u16,
        dep: Dep,
    ) -> Token {
        let event = Event {
            size,
            words,
            site: site.into(),
            ..Event::new(Kind::Store, address)
        };
        self.emit(event, dep)
    }

    /// Reads and writes a word of `size` bytes at once (an atomic exchange or addition).
    #[inline]
    fn exchange(&mut self, site: impl Into<u16>, address: u64, size: u16, dep: Dep) -> Token {
        let event = Event {
            size,
            site: site.into(),
            ..Event::new(Kind::Exchange, address)
        };
        self.emit(event, dep)
    }

    /// Writes `size` bytes in `words` word accesses, past the caches (a non-temporal store).
    #[inline]
    fn store_nta(&mut self, site: impl Into<u16>, address: u64, size: u16, words: u16, dep: Dep) {
        let event = Event {
            size,
            words,
            site: site.into(),
            ..Event::new(Kind::StoreNta, address)
        };
        self.emit(event, dep);
    }

    /// Asks for the line that holds `address`, which is at `host` in the host's memory.
    #[inline]
    fn prefetch(&mut self, site: impl Into<u16>, address: u64, _host: *const u8, dep: Dep) {
        let event = Event {
            site: site.into(),
            ..Event::new(Kind::Prefetch, address)
        };
        self.emit(event, dep);
    }

    /// The same for a line that is used once, so that nothing else has to make room for it (a non-temporal prefetch).
    #[inline]
    fn prefetch_nta(&mut self, site: impl Into<u16>, address: u64, _host: *const u8, dep: Dep) {
        let event = Event {
            site: site.into(),
            ..Event::new(Kind::PrefetchNta, address)
        };
        self.emit(event, dep);
    }

    /// A conditional branch and its outcome.
    #[inline]
    fn branch(&mut self, site: impl Into<u16>, taken: bool, dep: Dep) {
        let event = Event {
            site: site.into(),
            ..Event::new(Kind::Branch, u64::from(taken))
        };
        self.emit(event, dep);
    }

    /// Long-latency arithmetic.
    #[inline]
    fn op(&mut self, site: impl Into<u16>, class: OpClass, dep: Dep) -> Token {
        let event = Event {
            size: class as u16,
            site: site.into(),
            ..Event::new(Kind::Op, 0)
        };
        self.emit(event, dep)
    }

    /// A call into the host DBMS, by its index in the names of the layout.
    #[inline]
    fn call(&mut self, call: u16) {
        self.emit(Event::new(Kind::Call, call.into()), Dep::NONE);
    }

    /// Reads a page from storage, which comes into the frame at these addresses. One that was asked for ahead is there from here on, and
    /// not before.
    #[inline]
    fn page_read(&mut self, page: u64, frame: Range<u64>) {
        self.emit(Event::new(Kind::PageRead, page), Dep::NONE);
        self.emit(Event::arrival(frame.start, bytes_of(&frame)), Dep::NONE);
    }

    /// Reads a page from storage into a frame that threads share: it comes there as fill number `fill`, which is not 0.
    #[inline]
    fn page_read_shared(&mut self, page: u64, fill: u16, frame: Range<u64>) {
        let read = Event::for_fill(Kind::PageRead, page, fill);
        self.emit(read, Dep::NONE);
        self.emit(Event::arrival(frame.start, bytes_of(&frame)), Dep::NONE);
    }

    /// Waits for a page that another thread reads into a frame, as fill number `fill`. Whoever comes first has it brought.
    #[inline]
    fn page_wait(&mut self, page: u64, fill: u16, frame: Range<u64>) {
        let wait = Event::for_fill(Kind::PageWait, page, fill);
        self.emit(wait, Dep::NONE);
        let arrival = Event::arrival_for_another(frame.start, bytes_of(&frame));
        self.emit(arrival, Dep::NONE);
    }

    /// Writes a page to storage.
    #[inline]
    fn page_write(&mut self, page: u64) {
        self.emit(Event::new(Kind::PageWrite, page), Dep::NONE);
    }

    /// Asks storage for a page ahead of its use.
    #[inline]
    fn page_prefetch(&mut self, page: u64) {
        self.emit(Event::new(Kind::PagePrefetch, page), Dep::NONE);
    }

    /// Asks storage for a page ahead that will come into a frame that threads share, as fill number `fill`.
    #[inline]
    fn page_prefetch_shared(&mut self, page: u64, fill: u16) {
        let ahead = Event::for_fill(Kind::PagePrefetch, page, fill);
        self.emit(ahead, Dep::NONE);
    }

    /// Opens a phase.
    #[inline]
    fn mark(&mut self, phase: u16) {
        self.emit(Event::new(Kind::Mark, phase.into()), Dep::NONE);
    }

    /// Empties every cache and TLB.
    #[inline]
    fn flush(&mut self) {
        self.emit(Event::new(Kind::Flush, 0), Dep::NONE);
    }

    /// The thread waits until all threads of the kernel are here. Their data may be changed by one of them up to here, and read
    /// by the others from here on.
    #[inline]
    fn barrier(&mut self) {
        self.emit(Event::new(Kind::Barrier, 0), Dep::NONE);
    }

    /// Takes a latch by the next instruction, at `site`, whose place waits for `dep`: the thread goes on when no other holds it. The same thread
    /// releases it.
    #[inline]
    fn latch(&mut self, site: impl Into<u16>, address: u64, dep: Dep) {
        let event = Event {
            site: site.into(),
            ..Event::new(Kind::Latch, address)
        };
        self.emit(event, dep);
    }

    /// The latch is free when the stores up to here are done.
    #[inline]
    fn unlatch(&mut self, address: u64) {
        self.emit(Event::new(Kind::Unlatch, address), Dep::NONE);
    }

    /// Takes the latch of a page by the instruction at `site`, alone or beside others, or awaits it, as `kind` says. Its word, which may have been
    /// another page's, waits for `dep`.
    #[inline]
    fn latch_page(
        &mut self,
        kind: Kind,
        site: impl Into<u16>,
        (address, page): (u64, u32),
        dep: Dep,
    ) {
        let event = Event {
            site: site.into(),
            ..Event::of_page_latch(kind, address, page)
        };
        self.emit(event, dep);
    }

    /// The latch of a page is free, or shared by one less, when the stores up to here are done; or the page has been read, by a thread that has
    /// awaited its latch only.
    #[inline]
    fn unlatch_page(&mut self, (address, page): (u64, u32)) {
        let event = Event::of_page_latch(Kind::Unlatch, address, page);
        self.emit(event, Dep::NONE);
    }

    /// The thread goes on when it is its turn, which lasts up to the next: what threads of a run share and change between barriers, they
    /// change in turns, so that every run is the same. No event tells of it, and no simulated time passes.
    #[inline(always)]
    fn wait_for_turn(&mut self) {}

    /// The warm-up is over: what follows is measured.
    #[inline]
    fn measure(&mut self) {
        self.emit(Event::new(Kind::Measure, 0), Dep::NONE);
    }
}

/// Bytes of a frame.
fn bytes_of(frame: &Range<u64>) -> u16 {
    u16::try_from(frame.end - frame.start).expect("pages have 32 KB at most")
}

/// Does nothing: the kernel runs at full speed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untraced;

impl Trace for Untraced {
    #[inline(always)]
    fn emit(&mut self, _event: Event, _dep: Dep) -> Token {
        Token::NONE
    }

    #[inline(always)]
    fn work(&mut self, _instructions: u32) {}

    #[inline(always)]
    fn failed(&self) -> bool {
        false
    }
}

/// Events per batch: 24 KiB, so that a batch stays in the first-level cache of the host.
const BATCH: usize = 1024;

/// Turns what a kernel does into events and hands them to a sink in batches. When the sink refuses one, the kernel is stopped
/// (see [`watch::stoppable`]).
pub struct Tracer<'s> {
    sink: &'s mut dyn EventSink,
    buffer: Box<[Event; BATCH]>,
    filled: usize,
    emitted: u64,
    /// Events up to the latest barrier, behind which nobody waits for what came before it.
    met: u64,
    pending: u32,
    error: Option<SinkError>,
}

impl<'s> Tracer<'s> {
    /// A tracer in front of `sink`.
    pub fn new(sink: &'s mut dyn EventSink) -> Self {
        Self {
            sink,
            buffer: Box::new([Event::new(Kind::Load, 0); BATCH]),
            filled: 0,
            emitted: 0,
            met: 0,
            pending: 0,
            error: None,
        }
    }

    /// Hands over what is left.
    ///
    /// # Errors
    /// The first error of the sink; events after it were dropped.
    pub fn finish(mut self) -> Result<(), SinkError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.split_pending();
        if self.pending > 0 {
            self.carry(self.pending);
            self.pending = 0;
        }
        self.hand_over();
        self.error.map_or(Ok(()), Err)
    }

    /// Emits events for the plain instructions that one event's 16-bit count cannot hold.
    #[inline]
    fn split_pending(&mut self) {
        let most = u32::from(u16::MAX);
        while self.pending > most {
            self.carry(most + 1);
            self.pending -= most + 1;
        }
    }

    /// Emits `instructions` plain instructions, the last of them as an event of its own: an addition that nothing waits for.
    #[cold]
    fn carry(&mut self, instructions: u32) {
        let event = Event {
            instructions: (instructions - 1) as u16,
            size: OpClass::Add as u16,
            ..Event::new(Kind::Op, 0)
        };
        self.emitted += 1;
        if self.filled == BATCH {
            self.hand_over_or_stop();
        }
        self.buffer[self.filled] = event;
        self.filled += 1;
    }

    /// Hands over in the middle of a run, which a refusal ends here and now: an operation may have billions of events.
    #[cold]
    #[inline(never)]
    fn hand_over_or_stop(&mut self) {
        self.hand_over();
        if self.failed() {
            watch::stop();
        }
    }

    fn hand_over(&mut self) {
        if self.error.is_none() {
            self.error = self.sink.consume(&self.buffer[..self.filled]).err();
        }
        self.filled = 0;
    }
}

impl Trace for Tracer<'_> {
    #[inline]
    fn emit(&mut self, mut event: Event, dep: Dep) -> Token {
        self.split_pending();
        // That makes the cast exact.
        event.instructions = self.pending as u16;
        self.pending = 0;
        self.emitted += 1;
        if dep.token.0 > self.met {
            // A producer more than 4 billion events back is long done.
            event.dep = u32::try_from(self.emitted - dep.token.0).unwrap_or(0);
            event.chain = dep.chain;
        }
        if self.filled == BATCH {
            self.hand_over_or_stop();
        }
        self.buffer[self.filled] = event;
        self.filled += 1;
        // Whoever emits says the kind beforehand, so that nothing of this is left for others.
        if event.kind == Kind::Barrier {
            self.met = self.emitted;
            // The thread goes on when it is asked for what comes behind.
            self.hand_over_or_stop();
        }
        Token(self.emitted)
    }

    #[inline]
    fn work(&mut self, instructions: u32) {
        self.pending += instructions;
    }

    fn failed(&self) -> bool {
        self.error.is_some()
    }

    fn wait_for_turn(&mut self) {
        self.sink.wait_for_turn();
    }
}

/// Declares the sites of a kernel: an enum whose numbers the events carry, and the names they stand for. They may come `behind` those of
/// another enum, in the numbers as in the layout.
macro_rules! sites {
    ($($(#[$meta:meta])* $site:ident = $name:literal,)+) => {
        $crate::tracer::sites! { @0; $($(#[$meta])* $site = $name,)+ }
    };
    (behind $before:ty; $($(#[$meta:meta])* $site:ident = $name:literal,)+) => {
        $crate::tracer::sites! { @<$before>::NAMES.len() as u16; $($(#[$meta])* $site = $name,)+ }
    };
    (@$first:expr; $($(#[$meta:meta])* $site:ident = $name:literal,)+) => {
        /// A static place in this kernel's code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Site {
            $(#[doc = $name] $site,)+
        }

        impl Site {
            /// Names in the order of the numbers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];
        }

        impl From<Site> for u16 {
            #[inline]
            fn from(site: Site) -> Self {
                $first + site as Self
            }
        }
    };
}
pub(crate) use sites;

#[cfg(test)]
mod tests;
