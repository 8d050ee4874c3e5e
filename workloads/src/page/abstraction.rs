//! Column abstraction (row- and column-store comparison, section 2.2): in a sorted relation, values that repeat are stored
//! once.
//!
//! The attributes fall into levels. A tuple of a level stands for all rows that agree on the attributes of that level and
//! those above it; the last level has a tuple for every row.

use super::Value;
use std::ops::Range;

/// The levels of a relation's attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Attributes of each level.
    attributes: Vec<Range<usize>>,
}

impl Levels {
    /// Levels of so many attributes each, in the order of the schema.
    #[must_use]
    pub fn new(attributes: &[usize]) -> Self {
        let mut end = 0;
        let ranges = attributes.iter().map(|count| {
            end += count;
            end - count..end
        });
        Self {
            attributes: ranges.collect(),
        }
    }

    /// How many levels there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.attributes.len()
    }

    /// The level with a tuple for every row.
    #[must_use]
    pub fn leaf(&self) -> usize {
        self.count() - 1
    }

    /// Attributes of a level.
    #[must_use]
    pub fn attributes(&self, level: usize) -> Range<usize> {
        self.attributes[level].clone()
    }

    /// The level of an attribute.
    #[must_use]
    pub fn level_of(&self, attribute: usize) -> usize {
        let above = |range: &Range<usize>| range.end <= attribute;
        self.attributes.partition_point(above)
    }

    /// The first level that has a new tuple with `row`, which follows `before`.
    #[must_use]
    pub fn first_new(&self, before: Option<&[Value]>, row: &[Value]) -> usize {
        let Some(before) = before else {
            return 0;
        };
        let differs = |range: &Range<usize>| before[range.clone()] != row[range.clone()];
        let found = self.attributes.iter().position(differs);
        found.unwrap_or(self.leaf()).min(self.leaf())
    }
}

/// A relation Gen_a_b_c (section 3.1): a tuples on the first level, b under each of them on the second, and so on. The
/// attributes of a level count its tuples, from 1 under each tuple of the level above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gen {
    /// a, b, c.
    pub tuples: Vec<u64>,
    /// Attributes of each level.
    pub attributes: Vec<usize>,
}

impl Gen {
    /// Rows: the tuples of the last level.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tuples.iter().product()
    }

    /// Hands over every row in order, with the first level that has a new tuple.
    pub fn generate(&self, mut take: impl FnMut(usize, &[Value<'static>])) {
        let levels = Levels::new(&self.attributes);
        let mut counts = vec![1_u64; self.tuples.len()];
        let mut row = vec![Value::Int(1); self.attributes.iter().sum()];
        let mut first = 0;
        for _ in 0..self.rows() {
            take(first, &row);
            // The lowest level that goes on counts; those below it begin again.
            let goes_on = |level: &usize| counts[*level] < self.tuples[*level];
            first = (0..levels.count()).rev().find(goes_on).unwrap_or(0);
            counts[first] += 1;
            counts[first + 1..].fill(1);
            for (level, count) in counts.iter().enumerate().skip(first) {
                row[levels.attributes(level)].fill(Value::Int(*count as i64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3 of the comparison: two levels above, 24 rows.
    #[test]
    fn gen_2_4_3_is_the_table() {
        let table = Gen {
            tuples: vec![2, 4, 3],
            attributes: vec![1, 1, 2],
        };
        let mut rows = Vec::new();
        table.generate(|first, row| rows.push((first, row.to_vec())));
        assert_eq!(rows.len(), 24);
        let row = |values: [i64; 4]| values.map(Value::Int).to_vec();
        assert_eq!(rows[0], (0, row([1, 1, 1, 1])));
        assert_eq!(rows[2], (2, row([1, 1, 3, 3])));
        assert_eq!(rows[3], (1, row([1, 2, 1, 1])));
        assert_eq!(rows[11], (2, row([1, 4, 3, 3])));
        assert_eq!(rows[12], (0, row([2, 1, 1, 1])));
        let levels = Levels::new(&[1, 1, 2]);
        for pair in rows.windows(2) {
            assert_eq!(levels.first_new(Some(&pair[0].1), &pair[1].1), pair[1].0);
        }
    }
}
