//! The lines of one set as an array: for the usual numbers of ways in code of its own, in which the host needs no loop.

use crate::line::Line;

/// Runs a function of a set whose number of ways it knows beforehand, if that is a usual one.
macro_rules! by_ways {
    ($function:ident, $set:expr, $argument:expr) => {
        match $set.len() {
            2 => $function($set, 2, $argument),
            4 => $function($set, 4, $argument),
            8 => $function($set, 8, $argument),
            16 => $function($set, 16, $argument),
            ways => $function($set, ways, $argument),
        }
    };
}

/// The way that holds line `number`.
#[inline(always)]
pub(crate) fn find(set: &[Line], number: u64) -> Option<usize> {
    #[inline(always)]
    fn known(set: &[Line], ways: usize, number: u64) -> Option<usize> {
        set[..ways].iter().position(|held| held.number == number)
    }
    by_ways!(known, set, number)
}

/// Puts `line` first and gives the last one, which has to leave.
#[inline]
pub(crate) fn enqueue(set: &mut [Line], line: Line) -> Line {
    #[inline(always)]
    fn known(set: &mut [Line], ways: usize, line: Line) -> Line {
        let leaves = set[ways - 1];
        set[..ways].copy_within(..ways - 1, 1);
        set[0] = line;
        leaves
    }
    by_ways!(known, set, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_leave_in_the_order_of_their_arrival_whatever_the_ways() {
        for ways in [1, 2, 3, 4, 8, 11, 16, 20] {
            let mut set = vec![Line::NONE; ways];
            let arrivals = 0..2 * ways as u64;
            for number in arrivals.clone() {
                let leaves = enqueue(&mut set, Line::new(number, 0, 0));
                let oldest = number.checked_sub(ways as u64);
                assert_eq!((!leaves.is_none()).then_some(leaves.number), oldest);
            }
            for number in arrivals {
                let way = (2 * ways as u64 - 1 - number) as usize;
                assert_eq!(find(&set, number), (way < ways).then_some(way));
            }
        }
    }
}
