//! Where dispatch and graduation stand, and the integer units between them.
//!
//! Every instruction takes a slot of dispatch and one of graduation; some slots stay empty. A stage therefore stands at the
//! instructions run so far plus the slots it has left empty. Few events leave any, so that an event writes one counter.

use crate::core::units::Divisor;

/// The slots of dispatch and graduation.
///
/// The integer units are a flow: so many plain instructions per cycle, in program order. A cycle after dispatch an
/// instruction may begin, and it takes a cycle. Their times are counted in parts of a slot, as many as there are
/// units, so that nothing is divided or rounded; and from the slot that the next instruction would have if none had stayed
/// empty.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    width: u64,
    per_cycle: Divisor,
    /// Instructions dispatched so far.
    instructions: u64,
    /// Slots that dispatch left empty.
    not_dispatched: u64,
    /// Slots that graduation left empty.
    not_graduated: u64,
    /// Slots that graduation may leave empty beyond those of dispatch before the reorder buffer can be full.
    slack: i64,
    /// Largest group of plain instructions dispatched at once.
    largest_group: i64,
    /// Instructions that may be dispatched at once without a further look: no more than that, nor so many that the reorder
    /// buffer can be full.
    room: i64,
    units: i64,
    per_unit: Divisor,
    /// By how much one instruction delays the flow more than it delays the streams.
    delay: i64,
    /// From the start of an instruction, counted in the flow, to its end a cycle later.
    rest: i64,
    /// When the units are free.
    free: i64,
    /// When the next instruction may begin.
    ready: i64,
    /// The latest end of plain instructions, up to where they leave the flow, that graduation does not wait for.
    awaited: i64,
}

impl Slots {
    /// So many slots a cycle, integer units, and entries of the reorder buffer.
    pub(super) fn new(per_cycle: u32, integer_units: u32, entries: u32) -> Self {
        let (width, units) = (i64::from(per_cycle), i64::from(integer_units));
        let mut slots = Self {
            width: u64::from(per_cycle),
            per_cycle: Divisor::new(per_cycle),
            instructions: 0,
            not_dispatched: 0,
            not_graduated: 0,
            slack: i64::from(entries) - width,
            largest_group: i64::from(entries / 4).max(1),
            room: 0,
            units,
            per_unit: Divisor::new(integer_units),
            delay: width - units,
            rest: width * (units - 1),
            free: 0,
            ready: 0,
            awaited: 0,
        };
        slots.dispatch_late(0);
        slots.graduate_late(0);
        slots
    }

    /// Instructions dispatched so far.
    #[inline]
    pub(super) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Sets the number of slots that dispatch left empty, and what depends on it.
    #[inline]
    fn dispatch_late(&mut self, empty: u64) {
        self.not_dispatched = empty;
        let empty = empty.cast_signed();
        self.count_room();
        self.ready = (empty + self.width.cast_signed()) * self.units;
    }

    /// Sets the number of slots that graduation left empty, and what depends on it.
    #[inline]
    fn graduate_late(&mut self, empty: u64) {
        self.not_graduated = empty;
        let empty = empty.cast_signed();
        self.count_room();
        self.awaited = empty * self.units - self.rest;
    }

    /// Graduation takes a slot per instruction at least: if the whole reorder buffer, graduated back to back, would have
    /// been left in time, it has been. That holds for the next instruction as for those behind it.
    #[inline]
    fn count_room(&mut self) {
        let ahead = self.not_dispatched.cast_signed() - self.not_graduated.cast_signed();
        self.room = if self.slack + ahead < 0 {
            0
        } else {
            self.largest_group
        };
    }

    /// Whether so many more are dispatched without a further look: they are no more than the largest group, and there
    /// are entries for them in the reorder buffer.
    #[inline]
    pub(super) fn have_room(&self, instructions: u64) -> bool {
        instructions.cast_signed() <= self.room
    }

    /// Largest group of plain instructions dispatched at once.
    #[inline]
    pub(super) fn largest_group(&self) -> u64 {
        self.largest_group.cast_unsigned()
    }

    /// Dispatches so many instructions, at least one, and gives the cycle of the last. [`Slots::execute`] or
    /// [`Slots::leave_idle`] have to follow.
    #[inline]
    pub(super) fn dispatch(&mut self, instructions: u64) -> u64 {
        self.instructions += instructions;
        self.per_cycle
            .divide(self.instructions + self.not_dispatched - 1)
    }

    /// The slot that is dispatched next.
    #[inline]
    pub(super) fn dispatched(&self) -> u64 {
        self.instructions + self.not_dispatched
    }

    /// The cycle of that slot.
    pub(super) fn next_dispatch(&self) -> u64 {
        self.cycle(self.dispatched())
    }

    /// The cycle of a slot.
    #[inline]
    pub(super) fn cycle(&self, slot: u64) -> u64 {
        self.per_cycle.divide(slot)
    }

    /// Dispatches nothing before `slot`.
    #[inline]
    pub(super) fn dispatch_from(&mut self, slot: u64) {
        let empty = slot.saturating_sub(self.instructions);
        self.dispatch_late(empty.max(self.not_dispatched));
    }

    /// The slot that graduates next, when all before instruction `graduated` have.
    #[inline]
    pub(super) fn graduates(&self, graduated: u64) -> u64 {
        graduated + self.not_graduated
    }

    /// The cycle in which instruction `graduated` graduates, if nothing else keeps it.
    #[inline]
    pub(super) fn graduation(&self, graduated: u64) -> u64 {
        self.per_cycle.divide(self.graduates(graduated))
    }

    /// Graduates nothing more before `slot`, which has not passed; all before instruction `graduated` have graduated.
    #[inline]
    pub(super) fn graduate_from(&mut self, graduated: u64, slot: u64) {
        self.graduate_late(slot - graduated);
    }

    /// Whether nothing but the slots taken and left empty so far would have instruction `graduated` graduate before `cycle`.
    #[inline]
    pub(super) fn graduates_before(&self, graduated: u64, cycle: u64) -> bool {
        self.graduates(graduated) < cycle * self.width
    }

    /// Executes plain instructions that were just dispatched with so many others behind them, and says whether
    /// graduation has to wait for them.
    #[inline]
    pub(super) fn execute(&mut self, plain: u64, others: u64) -> bool {
        let end = self.free.max(self.ready) + plain.cast_signed() * self.delay;
        self.free = end - others.cast_signed() * self.units;
        end > self.awaited
    }

    /// The slot in which the latest plain instructions are done, `graduated` of the run the last of them, with `others`
    /// dispatched behind it.
    #[inline]
    pub(super) fn executed(&self, graduated: u64, others: u64) -> u64 {
        let done = self.free + others.cast_signed() * self.units + self.rest;
        graduated
            + self
                .per_unit
                .divide((done + self.units - 1).cast_unsigned())
    }

    /// Gives the integer units none of the instructions just dispatched.
    #[inline]
    pub(super) fn leave_idle(&mut self, instructions: u64) {
        self.free -= instructions.cast_signed() * self.units;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integer_units_bound_the_flow() {
        // Two units, four wide: one instruction is done two cycles after dispatch, each further pair takes a cycle.
        let mut slots = Slots::new(4, 2, 64);
        slots.dispatch(1);
        assert!(slots.execute(1, 0));
        assert_eq!(slots.executed(1, 0), 8);
        slots.dispatch(4);
        assert!(slots.execute(4, 0));
        assert_eq!(slots.executed(5, 0), 16);
    }

    /// What happens to the streams: a group of plain instructions and others, and by how many slots dispatch, and then
    /// graduation, are held up.
    type Group = (u64, u64, u64, u64);

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        let held_up = || prop_oneof![4 => Just(0_u64), 1 => 1_u64..200];
        prop::collection::vec((0_u64..9, 1_u64..4, held_up(), held_up()), 1..200)
    }

    proptest! {
        /// The streams told by positions, and the flow by the time at which the units are free.
        #[test]
        fn empty_slots_tell_as_much_as_positions(
            width in 1_u32..9,
            units in 1_u32..9,
            groups in groups(),
        ) {
            let mut slots = Slots::new(width, units, 64);
            let (width, units) = (u64::from(width), u64::from(units));
            let (mut dispatched, mut graduated, mut free, mut instructions) = (0, 0, 0_u64, 0);
            for (plain, others, no_dispatch, no_graduation) in groups {
                dispatched += no_dispatch;
                slots.dispatch_from(dispatched);
                prop_assert_eq!(
                    slots.have_room(plain + others),
                    plain + others <= 16 && graduated + width <= dispatched + 64
                );
                let first = dispatched;
                dispatched += plain + others;
                instructions += plain + others;
                prop_assert_eq!(slots.dispatch(plain + others), (dispatched - 1) / width);
                let before = instructions - others;
                if plain == 0 {
                    slots.leave_idle(others);
                } else {
                    free = free.max((first + width) * units) + plain * width;
                    let done = (free + width * (units - 1)).div_ceil(units);
                    graduated += plain;
                    let waits = slots.execute(plain, others);
                    prop_assert_eq!(waits, done > graduated);
                    if waits {
                        prop_assert_eq!(slots.executed(before, others), done);
                        slots.graduate_from(before, done);
                        graduated = done;
                    }
                }
                graduated += no_graduation;
                slots.graduate_from(before, graduated);
                prop_assert_eq!(slots.graduation(before), graduated / width);
                prop_assert_eq!(slots.graduates_before(before, 40), graduated < 40 * width);
                graduated += others;
                prop_assert_eq!((slots.instructions(), slots.dispatched()), (instructions, dispatched));
                prop_assert_eq!(slots.next_dispatch(), dispatched / width);
            }
        }
    }
}
