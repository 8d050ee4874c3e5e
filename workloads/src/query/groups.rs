//! Sums by group.

use super::calls::Call;
use super::sites::Site;
use crate::page::{Loaded, Value};
use crate::tracer::{Dep, Token, Trace};

/// Bytes of an accumulator, and of a group's key.
const WORD_BYTES: u64 = 8;

/// The accumulators of each group, in the order in which the groups appear. Groups are few: one is found by comparing.
#[derive(Clone, Debug)]
pub struct Groups {
    address: u64,
    group_bytes: u64,
    keys: Vec<Vec<u8>>,
    sums: Vec<Vec<i64>>,
}

impl Groups {
    /// Bytes that so many groups of so many sums take.
    #[must_use]
    pub fn bytes(groups: u64, sums: u64) -> u64 {
        groups * (sums + 1) * WORD_BYTES
    }

    /// No groups yet, at an address.
    #[must_use]
    pub fn new(address: u64, sums: usize) -> Self {
        Self {
            address,
            group_bytes: Self::bytes(1, sums as u64),
            keys: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Adds a record's terms to the sums of its group, whose key is the concatenation of strings.
    pub fn add<T: Trace>(&mut self, trace: &mut T, key: &[Loaded<Value>], terms: &[Loaded<i64>]) {
        let group = self.find(trace, key, terms.len());
        let place = self.address + group as u64 * self.group_bytes + WORD_BYTES;
        for ((number, sum), term) in (0..).zip(&mut self.sums[group]).zip(terms) {
            trace.call(Call::Aggregate as u16);
            let address = place + number * WORD_BYTES;
            trace.load(Site::Accumulator, address, WORD_BYTES as u16, 1, Dep::NONE);
            trace.store(
                Site::Accumulator,
                address,
                WORD_BYTES as u16,
                1,
                term.token.after(1),
            );
            *sum += term.value;
        }
    }

    fn find<T: Trace>(&mut self, trace: &mut T, key: &[Loaded<Value>], sums: usize) -> usize {
        let token = key.last().map_or(Token::NONE, |part| part.token);
        let parts = || {
            key.iter()
                .flat_map(|part| part.value.bytes().trim_ascii_end())
        };
        for (number, known) in self.keys.iter().enumerate() {
            let found = known.iter().eq(parts());
            if !key.is_empty() {
                let address = self.address + number as u64 * self.group_bytes;
                trace.load(Site::GroupKey, address, WORD_BYTES as u16, 1, Dep::NONE);
                trace.work(1);
                trace.branch(Site::Group, found, token.after(1));
            }
            if found {
                return number;
            }
        }
        self.keys.push(parts().copied().collect());
        self.sums.push(vec![0; sums]);
        self.keys.len() - 1
    }

    /// The groups' keys with their sums, in the order of the keys.
    #[must_use]
    pub fn finish(self) -> Vec<(String, Vec<i64>)> {
        let keys = self
            .keys
            .into_iter()
            .map(|key| String::from_utf8_lossy(&key).into_owned());
        let mut groups: Vec<_> = keys.zip(self.sums).collect();
        groups.sort();
        groups
    }
}
