//! Waits for lines where there are other cores: these have their turns until it is known when the line comes.
//!
//! A core alone has the memory simulated until it knows what it needs. Beside others that would be too far: they may have asked for something
//! meanwhile. So whatever the next event needs is looked up before it begins, and it does not begin before that is known.

use super::OutOfOrder;
use crate::core::machinery::Machinery;
use crate::hierarchy::Hierarchy;
use crate::memory::{Memory, is_pending};
use traces::{Event, Kind};

impl OutOfOrder {
    /// Whether the next event, or the end if there is none, has to wait until it is known when a line comes.
    pub(crate) fn waits_for_line(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: Option<&Event>,
    ) -> bool {
        self.go_on(machinery, caches, 0);
        self.open_loads.waits = !self.knows_lines(&caches.memory, event);
        self.open_loads.waits
    }

    /// Whether the core has stopped before an event that waits.
    pub(crate) fn is_waiting(&self) -> bool {
        self.open_loads.waits
    }

    /// Whether something in the queue will ask for a line when others have come.
    pub(crate) fn will_ask(&self) -> bool {
        self.open_loads.later > 0 || !self.open_loads.asking.is_empty()
    }

    /// When something asks for a line next, if none comes before.
    pub(crate) fn next_ask(&self) -> u64 {
        self.open_loads.next_ask()
    }

    /// A cycle that no line comes before whose load is open, and before which nothing in the queue asks for one.
    pub(crate) fn asks_from(&self, now: u64) -> u64 {
        let mut queue = self.open_loads.queue.iter();
        let first = queue.find_map(|first| first.waits_for.settled());
        let asks = self.open_loads.asking.first();
        [asks, first].into_iter().flatten().fold(now, u64::min)
    }

    /// Whether all is known that the next event needs to know when it begins, or the program when it ends.
    fn knows_lines(&mut self, memory: &Memory, event: Option<&Event>) -> bool {
        if let Some(branch) = self.open_loads.unresolved {
            if self.open_loads.learned(branch).is_none() {
                return false;
            }
            self.resolve_branch();
        }
        let Some(event) = event else {
            return self.all_ends_known(memory);
        };
        let last =
            self.slots.instructions() + u64::from(event.instructions) + event.own_instructions();
        if !self.have_graduated(last.saturating_sub(self.reorder_buffer.entries)) {
            return false;
        }
        match event.kind {
            Kind::Branch | Kind::Op => true,
            Kind::StoreNta => self.open_loads.are_closed() && self.knows_room(memory, event),
            _ if self.may_stay_open(event) => true,
            _ => self.all_ends_known(memory),
        }
    }

    /// Whether all have graduated and asked for their lines, and it is known when all stores have theirs. That is learned then.
    fn all_ends_known(&mut self, memory: &Memory) -> bool {
        let knows = |pending| !is_pending(memory.known(pending));
        let all = self.open_loads.are_closed() && self.store_buffer.all_are_known(knows);
        if all {
            self.store_buffer.learn(|pending| memory.known(pending));
        }
        all
    }

    /// Whether it is known when the store buffer has room for a store.
    pub(super) fn knows_room(&self, memory: &Memory, store: &Event) -> bool {
        let words = usize::from(store.words.max(1));
        let knows = |pending| !is_pending(memory.known(pending));
        self.store_buffer.is_known(words, knows)
    }
}
