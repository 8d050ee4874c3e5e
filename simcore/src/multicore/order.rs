//! Which core goes on first, and which comes after it.

use crate::clock;

/// Bits of a core's number.
const NUMBER_BITS: u32 = 8;
const NUMBER: i64 = (1 << NUMBER_BITS) - 1;

const _: () = assert!(clock::END.ilog2() < i64::BITS - 1 - NUMBER_BITS);

/// A core that does not go on.
const NOTHING: i64 = i64::MAX;
/// Later than any cycle in which a core goes on.
pub(super) const NEVER: u64 = (NOTHING >> NUMBER_BITS) as u64;

/// A core, and the cycle in which it goes on.
type Next = (usize, u64);

/// Cores compared at once: what the host's vectors hold.
const LANES: usize = 4;

/// When each core goes on.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The cycle in which its next event begins.
    next: Cycles,
    /// A cycle before which none of its events asks for anything: one behind the next may begin before it.
    earliest: Cycles,
}

/// A cycle for each core, and the core's number in the low bits, so that one minimum finds both. Signed, as hosts compare vectors
/// of signed numbers only; filled up to whole vectors.
#[derive(Clone, Debug)]
struct Cycles(Vec<i64>);

impl Order {
    /// So many cores, none of which goes on.
    pub(super) fn of(cores: usize) -> Self {
        let nothing = Cycles(vec![NOTHING; cores.next_multiple_of(LANES)]);
        Self {
            next: nothing.clone(),
            earliest: nothing,
        }
    }

    /// A core's next event begins in a cycle, and none of its events asks for anything before `earliest`.
    #[inline]
    pub(super) fn go_on(&mut self, core: usize, begins: u64, earliest: u64) {
        self.next.set(core, begins);
        self.earliest.set(core, earliest);
    }

    /// A core does not go on.
    pub(super) fn stop(&mut self, core: usize) {
        self.next.0[core] = NOTHING;
        self.earliest.0[core] = NOTHING;
    }

    /// The two cores that go on first, with their cycles. Of those that go on in one cycle the lower number comes first.
    #[inline]
    pub(super) fn first_two(&self) -> (Option<Next>, Option<Next>) {
        self.next.first_two()
    }

    /// A cycle before which no core but one asks for anything.
    #[inline]
    pub(super) fn earliest_of_others(&self, but: usize) -> u64 {
        let (first, second) = self.earliest.first_two();
        let others = first.filter(|&(core, _)| core != but).or(second);
        others.map_or(NEVER, |(_, cycle)| cycle)
    }
}

impl Cycles {
    #[inline]
    fn set(&mut self, core: usize, cycle: u64) {
        self.0[core] = (cycle << NUMBER_BITS) as i64 | core as i64;
    }

    #[inline]
    fn first_two(&self) -> (Option<Next>, Option<Next>) {
        let (mut firsts, mut seconds) = ([NOTHING; LANES], [NOTHING; LANES]);
        for next in self.0.chunks_exact(LANES) {
            for lane in 0..LANES {
                seconds[lane] = seconds[lane].min(firsts[lane].max(next[lane]));
                firsts[lane] = firsts[lane].min(next[lane]);
            }
        }
        let (mut first, mut second) = (NOTHING, NOTHING);
        for next in firsts.into_iter().chain(seconds) {
            second = second.min(first.max(next));
            first = first.min(next);
        }
        (core(first), core(second))
    }
}

fn core(next: i64) -> Option<Next> {
    (next != NOTHING).then_some(((next & NUMBER) as usize, (next >> NUMBER_BITS) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_two_are_those_of_a_sorted_list(cycles in prop::collection::vec(prop::option::of(0_u64..20), 1..40)) {
            let mut order = Order::of(cycles.len());
            for (core, cycle) in cycles.iter().enumerate() {
                order.go_on(core, 0, 0);
                match cycle {
                    Some(cycle) => order.go_on(core, *cycle, *cycle),
                    None => order.stop(core),
                }
            }
            let mut sorted: Vec<_> = cycles.iter().enumerate().filter_map(|(core, cycle)| Some(((*cycle)?, core))).collect();
            sorted.sort_unstable();
            let mut sorted = sorted.into_iter().map(|(cycle, core)| (core, cycle));
            prop_assert_eq!(order.first_two(), (sorted.next(), sorted.next()));
        }
    }
}
