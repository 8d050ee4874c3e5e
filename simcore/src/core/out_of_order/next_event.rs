//! When the next event will ask the caches for something.

use super::OutOfOrder;
use crate::core::{Clocked, Machinery};
use traces::{Event, Kind};

impl Clocked for OutOfOrder {
    #[inline]
    fn now(&self) -> u64 {
        self.slots.next_dispatch()
    }

    #[inline]
    fn begins(&self, now: u64, machinery: &Machinery, event: &Event) -> u64 {
        if !(event.kind.is_access() || event.kind.wants_latch()) {
            return now;
        }
        let instructions = u64::from(event.instructions) + event.own_instructions();
        let mut ready = now.max(self.operand(event));
        if !self.slots.have_room(instructions) {
            ready = ready.max(self.foresee_dispatch(instructions));
        }
        if matches!(event.kind, Kind::Store | Kind::StoreNta) {
            let graduated = self.slots.graduation(self.slots.instructions());
            let (room, _) = self.store_buffer.free();
            ready = ready.max(graduated).max(room);
        }
        // A latch is taken when its exchange could ask.
        if matches!(event.kind, Kind::Exchange | Kind::Latch | Kind::ShareLatch) {
            ready = self.exchange_begins(ready);
        }
        machinery.handler_free(ready)
    }
}

impl OutOfOrder {
    /// The cycle in which an exchange whose operands are there in cycle `ready` would ask for its line.
    fn exchange_begins(&self, mut ready: u64) -> u64 {
        if self.exchange.alone {
            let graduated = self.slots.graduation(self.slots.instructions());
            let (written, _) = self.store_buffer.empty();
            ready = ready.max(graduated).max(written);
        }
        ready + u64::from(self.exchange.further_cycles)
    }

    /// The cycle in which the last of so many more instructions would be dispatched that may have to wait for entries of the reorder buffer.
    #[inline(never)]
    fn foresee_dispatch(&self, instructions: u64) -> u64 {
        let last = self.slots.instructions() + instructions;
        let left = self.reorder_buffer.foresee_left_before(last);
        let dispatched = self.slots.foresee_dispatch(instructions);
        dispatched.max(left.div_ceil(self.width))
    }
}
