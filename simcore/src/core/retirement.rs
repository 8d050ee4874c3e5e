//! In how many cycles did how many instructions graduate? Known in closed form for the instructions of routines.

use super::pace::Pace;

/// The cycles of a run by the number of instructions that graduated in them, from none to the width. What did not graduate
/// at a routine's pace is taken to have filled its cycles.
pub(crate) fn cycles_by_retired<'p>(
    paces: impl Iterator<Item = &'p Pace>,
    width: u32,
    instructions: u64,
    cycles: u64,
) -> Vec<u64> {
    let mut by_retired = vec![0.0; width as usize];
    let mut full = instructions as f64;
    for pace in paces {
        let paced = pace.paced();
        full -= paced;
        for (cycles, each) in by_retired.iter_mut().zip(&pace.cycles) {
            *cycles += paced * each;
        }
    }
    let mut found: Vec<u64> = by_retired.iter().map(|&cycles| cycles as u64).collect();
    if let Some(most) = found.last_mut() {
        *most += (full / f64::from(width)) as u64;
    }
    let some: u64 = found.iter().sum();
    found.insert(0, cycles.saturating_sub(some));
    found
}
