//! The least that any simulator of three LRU levels has to do: a bare loop for one machine, with no counts but misses.
//!
//! It is what counts mode is measured against. Sets are 16 KiB, 256 KiB and 2 MiB of 4, 8 and 8 ways of 64-byte lines.

const NONE: u64 = u64::MAX;

fn find<const WAYS: usize>(set: &mut [u64; WAYS], line: u64) -> bool {
    if set[0] == line {
        return true;
    }
    let mut carried = set[0];
    set[0] = line;
    for way in &mut set[1..] {
        let held = *way;
        *way = carried;
        if held == line {
            return true;
        }
        carried = held;
    }
    false
}

/// Misses by level of reads at `addresses`.
#[must_use]
pub fn misses(addresses: &[u64]) -> [u64; 3] {
    let mut first = vec![[NONE; 4]; 64];
    let mut second = vec![[NONE; 8]; 512];
    let mut third = vec![[NONE; 8]; 4096];
    let mut misses = [0; 3];
    for address in addresses {
        let line = address / 64;
        if find(&mut first[line as usize % 64], line) {
            continue;
        }
        misses[0] += 1;
        if find(&mut second[line as usize % 512], line) {
            continue;
        }
        misses[1] += 1;
        misses[2] += u64::from(!find(&mut third[line as usize % 4096], line));
    }
    misses
}
