//! In how many cycles did how many instructions graduate? Known in closed form for the instructions of routines.

use super::pace::Pace;

/// Cycles in which instructions of routines graduated at their pace.
#[derive(Clone, Debug)]
pub(crate) struct Retirement {
    /// By the number of instructions in the cycle, less one.
    cycles: Box<[f64]>,
    /// Instructions in all of them.
    instructions: f64,
}

impl Retirement {
    pub(super) fn new(width: u32) -> Self {
        Self {
            cycles: vec![0.0; width as usize].into(),
            instructions: 0.0,
        }
    }

    /// Takes in that so many instructions graduated within `slots`.
    #[inline]
    pub(super) fn count(&mut self, pace: &Pace, instructions: u64, slots: u64) {
        let paced = pace.paced(instructions, slots);
        for (cycles, each) in self.cycles.iter_mut().zip(&pace.cycles) {
            *cycles += paced * each;
        }
        self.instructions += paced;
    }

    /// The cycles of a run by the number of instructions that graduated in them, from none to the width. What did not
    /// graduate at a routine's pace is taken to have filled its cycles.
    pub(crate) fn finish(&self, instructions: u64, cycles: u64) -> Vec<u64> {
        let mut found: Vec<u64> = self.cycles.iter().map(|&cycles| cycles as u64).collect();
        let full = (instructions as f64 - self.instructions) / found.len() as f64;
        if let Some(most) = found.last_mut() {
            *most += full as u64;
        }
        let some: u64 = found.iter().sum();
        found.insert(0, cycles.saturating_sub(some));
        found
    }
}
