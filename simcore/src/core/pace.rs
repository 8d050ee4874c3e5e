//! How fast the instructions of a routine run when nothing but their dependences holds them up, in closed form.
//!
//! A dependent instruction begins a new cycle, any other joins the cycle of the one before it while there is room. If a
//! share d of the instructions depends, a cycle with room for W runs n < W of them with probability d (1-d)^(n-1), W with
//! probability (1-d)^(W-1), and (1 - (1-d)^W) / d on the average.

use crate::profile::RoutineSpec;
use crate::spec::CoreSpec;

/// Bits of a [`Flow`]'s times that are parts of a graduation slot.
const FRACTION_BITS: u32 = 16;
const WHOLE_SLOT: u64 = 1 << FRACTION_BITS;

/// The pace of one routine on one core, and what graduated at it.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Graduation slots that one instruction takes, in parts; at least a whole one.
    per_instruction: u64,
    /// Cycles per instruction that run one of them, two of them, and so on.
    pub(super) cycles: Box<[f64]>,
    /// Instructions of the groups that all graduated at this pace.
    paced: u64,
    /// Slots that other groups left empty, which tell how many of their instructions did.
    empty: u64,
}

impl Pace {
    pub(crate) fn new(routine: &RoutineSpec, core: &CoreSpec) -> Self {
        Self::of(
            routine.dependent_per_1000,
            core.issue_width,
            core.integer_units,
        )
    }

    fn of(dependent_per_1000: u32, width: u32, units: u32) -> Self {
        let room = width.min(units) as i32;
        let joins = 1.0 - f64::from(dependent_per_1000) / 1000.0;
        let mean: f64 = (0..room).map(|before| joins.powi(before)).sum();
        let probability = |size: i32| {
            let ends = if size < room { 1.0 - joins } else { 1.0 };
            joins.powi(size - 1) * ends
        };
        let per_instruction = f64::from(width) / mean * WHOLE_SLOT as f64;
        Self {
            per_instruction: per_instruction.round() as u64,
            cycles: (1..=room).map(|size| probability(size) / mean).collect(),
            paced: 0,
            empty: 0,
        }
    }

    /// Slots that so many instructions take.
    pub(super) fn slots(&self, instructions: u64) -> u64 {
        (instructions * self.per_instruction) >> FRACTION_BITS
    }

    /// Slots that one instruction leaves empty, in parts.
    fn empty_per_instruction(&self) -> u64 {
        self.per_instruction - WHOLE_SLOT
    }

    /// Takes in that so many instructions graduated within `slots`, so many times.
    #[inline]
    pub(super) fn graduate(&mut self, instructions: u64, slots: u64, times: u64) {
        let empty = slots - instructions;
        if empty * WHOLE_SLOT < instructions * self.empty_per_instruction() {
            self.empty += empty * times;
        } else {
            self.paced += instructions * times;
        }
    }

    /// How many instructions graduated at this pace, if the others left no slot empty; none if it leaves none itself.
    pub(super) fn paced(&self) -> f64 {
        match self.empty_per_instruction() {
            0 => 0.0,
            empty => self.paced as f64 + self.empty as f64 * (WHOLE_SLOT as f64 / empty as f64),
        }
    }
}

/// The instructions of routines, executed one after the other, each at its routine's pace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// When the latest instruction leaves room for the next: graduation slots, in parts.
    free: u64,
}

impl Flow {
    /// Executes instructions, the first in slot `ready` or later, and gives the slot in which the next could begin.
    pub(super) fn execute(&mut self, pace: &Pace, instructions: u64, ready: u64) -> u64 {
        self.free = self.free.max(ready << FRACTION_BITS) + instructions * pace.per_instruction;
        self.free >> FRACTION_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pace(dependent_per_1000: u32, width: u32) -> Pace {
        Pace::of(dependent_per_1000, width, width)
    }

    #[test]
    fn three_in_ten_dependent_instructions_take_the_slots_of_the_textbook() {
        let pace = pace(300, 3);
        // Cycles of one, two and three instructions: 0.3, 0.7 x 0.3, 0.7 x 0.7; 0.3 + 0.42 + 1.47 = 2.19 on the average.
        let expected = [0.3, 0.21, 0.49].map(|probability| probability / 2.19);
        for (found, expected) in pace.cycles.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert_eq!(pace.slots(21_900), 29_999, "rounded down");
    }

    proptest! {
        #[test]
        fn the_groups_hold_every_instruction_once(dependent in 0_u32..=1000, width in 1_u32..9) {
            let pace = pace(dependent, width);
            let instructions: f64 = (1..).zip(&pace.cycles).map(|(n, cycles)| f64::from(n) * cycles).sum();
            prop_assert!((instructions - 1.0).abs() < 1e-9);
            let cycles: f64 = pace.cycles.iter().sum();
            let slots = pace.slots(1 << 20) as f64 / f64::from(1 << 20);
            prop_assert!((cycles * f64::from(width) - slots).abs() < 1e-4);
        }
    }
}
