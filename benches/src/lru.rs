//! One fully associative LRU cache of one capacity, as fast as it is usually made: a hash table of lines over a ring.
//!
//! It is what one-pass miss curves are measured against.

/// No line in a place of the table.
const NONE: u32 = u32::MAX;

/// A held line, in a ring in the order of use.
#[derive(Clone, Copy)]
struct Held {
    line: u64,
    newer: u32,
    older: u32,
}

/// Open addressing with linear probing, at most half full.
struct Table {
    places: Vec<u32>,
    mask: usize,
}

impl Table {
    fn home(&self, line: u64) -> usize {
        (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & self.mask
    }

    /// Where the line is, or would be.
    fn find(&self, held: &[Held], line: u64) -> usize {
        let mut place = self.home(line);
        while self.places[place] != NONE && held[self.places[place] as usize].line != line {
            place = (place + 1) & self.mask;
        }
        place
    }

    /// Empties a place and moves up those that were put behind it.
    fn remove(&mut self, held: &[Held], mut gap: usize) {
        let mut place = gap;
        loop {
            place = (place + 1) & self.mask;
            let number = self.places[place];
            if number == NONE {
                break;
            }
            let home = self.home(held[number as usize].line);
            let passed = place.wrapping_sub(home) & self.mask;
            if passed >= place.wrapping_sub(gap) & self.mask {
                self.places[gap] = number;
                gap = place;
            }
        }
        self.places[gap] = NONE;
    }
}

/// Misses of reads at `addresses`, with lines of 64 bytes, in a cache of so many lines.
#[must_use]
pub fn misses(addresses: &[u64], capacity: usize) -> u64 {
    let room = (2 * capacity).next_power_of_two();
    let mut table = Table {
        places: vec![NONE; room],
        mask: room - 1,
    };
    // The first of the ring is no line: its neighbours are the newest and the oldest.
    let mut held = vec![Held {
        line: u64::MAX,
        newer: 0,
        older: 0,
    }];
    let mut misses = 0;
    for address in addresses {
        let line = address / 64;
        let place = table.find(&held, line);
        let mut number = table.places[place];
        if number != NONE {
            unlink(&mut held, number);
        } else {
            misses += 1;
            if held.len() <= capacity {
                number = held.len() as u32;
                held.push(Held {
                    line,
                    newer: 0,
                    older: 0,
                });
                table.places[place] = number;
            } else {
                number = held[0].newer;
                unlink(&mut held, number);
                let leaving = table.find(&held, held[number as usize].line);
                table.remove(&held, leaving);
                let place = table.find(&held, line);
                held[number as usize].line = line;
                table.places[place] = number;
            }
        }
        let newest = held[0].older;
        held[number as usize].newer = 0;
        held[number as usize].older = newest;
        held[newest as usize].newer = number;
        held[0].older = number;
    }
    misses
}

fn unlink(held: &mut [Held], number: u32) {
    let Held { newer, older, .. } = held[number as usize];
    held[newer as usize].older = older;
    held[older as usize].newer = newer;
}
