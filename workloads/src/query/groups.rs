//! Sums by group.

use super::calls::Call;
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::{Loaded, Value};
use crate::place::Place;
use crate::tracer::{Dep, Token, Trace};
use traces::{OpClass, Segment};

/// Bytes of an accumulator, and of a group's key, which is shorter strings one behind the other.
const WORD_BYTES: usize = 8;

/// The accumulators of each group, in the order in which the groups appear. Groups are few: one is found by comparing.
#[derive(Clone, Debug)]
pub struct Groups {
    memory: Arena<Far>,
    /// Sums of each group, which follow its key.
    sums: usize,
    groups: usize,
}

impl Groups {
    /// Bytes that so many groups of so many sums take.
    #[must_use]
    pub fn bytes(groups: u64, sums: u64) -> u64 {
        groups * (sums + 1) * WORD_BYTES as u64
    }

    /// No groups yet, with room for them in a segment.
    #[must_use]
    pub fn new(segment: &Segment, sums: usize) -> Self {
        Self {
            memory: Arena::new(vec![segment.clone()]),
            sums,
            groups: 0,
        }
    }

    /// Where the key of a group lies, in front of its sums.
    fn place(&self, group: usize) -> Place<u64> {
        let first = Place::new(0, self.memory.segments()[0].base);
        first.element(group * (self.sums + 1))
    }

    /// Adds a record's terms to the sums of its group, whose key is the concatenation of strings.
    pub fn add<T: Trace>(&mut self, trace: &mut T, key: &[Loaded<Value>], terms: &[Loaded<i64>]) {
        let number = self.find(trace, key);
        let group = self.place(number);
        let memory = &mut self.memory;
        for (sum, term) in terms.iter().enumerate() {
            trace.call(Call::Aggregate as u16);
            let (site, place) = (Site::Accumulator, group.element(1 + sum));
            let before = memory.load(trace, site, place, Dep::NONE);
            // An event names one value that it waits for: the addition the sum before, and the store the term and the addition's cycle.
            trace.op(site, OpClass::Add, before.token.after(0));
            let after = before.value.wrapping_add(term.value as u64);
            memory.store(trace, site, place, after, term.token.after(1));
        }
    }

    fn find<T: Trace>(&mut self, trace: &mut T, key: &[Loaded<Value>]) -> usize {
        let token = key.last().map_or(Token::NONE, |part| part.token);
        let wanted = packed(key);
        for number in 0..self.groups {
            let place = self.place(number);
            if key.is_empty() {
                return number;
            }
            let known = self.memory.load(trace, Site::GroupKey, place, Dep::NONE);
            let found = known.value == wanted;
            trace.work(1);
            trace.branch(Site::Group, found, token.after(1));
            if found {
                return number;
            }
        }
        self.memory
            .allocate(0, Self::bytes(1, self.sums as u64) as usize);
        self.memory.write(self.place(self.groups), wanted);
        self.groups += 1;
        self.groups - 1
    }

    /// The groups' keys with their sums, in the order of the keys.
    #[must_use]
    pub fn finish(self) -> Vec<(String, Vec<i64>)> {
        let group = |number| {
            let place = self.place(number);
            let key = self.memory.read(place).to_le_bytes();
            let length = key.iter().position(|&byte| byte == 0);
            let key = String::from_utf8_lossy(&key[..length.unwrap_or(WORD_BYTES)]).into_owned();
            let sum = |sum| self.memory.read(place.element(1 + sum)) as i64;
            (key, (0..self.sums).map(sum).collect())
        };
        let mut groups: Vec<_> = (0..self.groups).map(group).collect();
        groups.sort();
        groups
    }
}

/// Strings without the blanks that they end in, one behind the other, in a word.
///
/// # Panics
/// If they are longer.
fn packed(key: &[Loaded<Value>]) -> u64 {
    let mut word = [0; WORD_BYTES];
    let parts = key
        .iter()
        .flat_map(|part| part.value.bytes().trim_ascii_end());
    for (place, byte) in parts.enumerate() {
        word[place] = *byte;
    }
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::Untraced;

    fn loaded<V>(value: V) -> Loaded<V> {
        Loaded {
            value,
            token: Token::NONE,
        }
    }

    fn groups(bytes: u64) -> Groups {
        let segment = Segment {
            name: "groups".into(),
            base: 4096 + 64,
            size_bytes: bytes,
        };
        Groups::new(&segment, 2)
    }

    #[test]
    fn sums_are_those_of_their_group() {
        let mut groups = groups(Groups::bytes(3, 2));
        for (flag, status, terms) in [
            ("N", "O ", [1, -2]),
            ("A", "F", [3, 4]),
            ("N", "O", [10, 20]),
        ] {
            let key = [flag, status].map(|part| loaded(Value::Bytes(part.as_bytes())));
            groups.add(&mut Untraced, &key, &terms.map(loaded));
        }
        let expected = [
            ("AF".to_owned(), vec![3, 4]),
            ("NO".to_owned(), vec![11, 18]),
        ];
        assert_eq!(groups.finish(), expected);
    }

    #[test]
    #[should_panic(expected = "larger than its estimate")]
    fn there_is_room_for_so_many_groups() {
        let mut groups = groups(Groups::bytes(1, 2));
        for key in ["A", "B"] {
            let key = [loaded(Value::Bytes(key.as_bytes()))];
            groups.add(&mut Untraced, &key, &[loaded(1), loaded(1)]);
        }
    }
}
