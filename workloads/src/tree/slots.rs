//! Slots of a chunk of an external jump-pointer array, wherever the chunk lies: which are filled, and in which order they are looked at
//! (thesis section 2.3.2).

/// Plain instructions of spreading jump pointers, for each slot: adding the pointers' and the slots' share, comparing them, bumping the
/// slot.
pub(crate) const SPREAD: u32 = 4;

/// Slot of jump pointer `number` of `count` in a chunk of so many slots: empty slots are spread evenly.
pub(crate) fn spread(number: usize, count: usize, slots: usize) -> usize {
    number * slots / count
}

/// All slots of a chunk with their distances from one of them, the nearest first; of two that are as far, the later one.
pub(crate) fn outward(from: usize, slots: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..slots).flat_map(move |distance| {
        let later = Some(from + distance).filter(|&slot| slot < slots);
        let earlier = from.checked_sub(distance).filter(|_| distance > 0);
        [later, earlier]
            .into_iter()
            .flatten()
            .map(move |slot| (distance, slot))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_looked_at_once_and_the_nearest_first() {
        let order: Vec<usize> = outward(1, 5).map(|found| found.1).collect();
        assert_eq!(order, [1, 2, 0, 3, 4]);
        for from in 0..9 {
            let mut found: Vec<(usize, usize)> = outward(from, 9).collect();
            assert!(found.is_sorted_by_key(|one| one.0));
            assert!(found.iter().all(|one| one.1.abs_diff(from) == one.0));
            found.sort_unstable_by_key(|one| one.1);
            assert!(found.iter().map(|one| one.1).eq(0..9));
        }
    }
}
