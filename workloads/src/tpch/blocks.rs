//! Records of a table block by block: generating them is no part of what a kernel does, and natively the clock stands still for it.

use super::{Table, for_each_record};
use crate::page::Value;
use crate::tracer::Trace;
use std::ops::Range;

/// Records of a block: enough that starting and stopping a clock is nothing beside them, and few enough for a cache of the second level.
const RECORDS: usize = 1024;

/// Hands every record of `table` to `take`, in the order of the generator, which works in pauses of the kernel.
pub(super) fn for_each_generated<T: Trace>(
    table: Table,
    scale_factor: f64,
    trace: &mut T,
    mut take: impl FnMut(&mut T, &[Value<'_>]),
) {
    let degree = table.schema().degree();
    let mut block = Block::default();
    trace.pause();
    for_each_record(table, scale_factor, |record| {
        block.push(record);
        if block.fields.len() == RECORDS * degree {
            block.hand_over(degree, trace, &mut take);
        }
    });
    block.hand_over(degree, trace, &mut take);
    trace.resume();
}

/// Records one behind the other.
#[derive(Default)]
struct Block {
    fields: Vec<Field>,
    /// Of all strings.
    bytes: Vec<u8>,
}

/// A value whose string lies with those of the block.
enum Field {
    Null,
    Int(i64),
    Float(f64),
    Bytes(Range<usize>),
}

impl Block {
    fn push(&mut self, record: &[Value<'_>]) {
        for value in record {
            self.fields.push(match *value {
                Value::Null => Field::Null,
                Value::Int(int) => Field::Int(int),
                Value::Float(float) => Field::Float(float),
                Value::Bytes(bytes) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(bytes);
                    Field::Bytes(start..self.bytes.len())
                }
            });
        }
    }

    /// Hands over and forgets all records while the kernel, which pauses, goes on.
    fn hand_over<T: Trace>(
        &mut self,
        degree: usize,
        trace: &mut T,
        take: &mut impl FnMut(&mut T, &[Value<'_>]),
    ) {
        let value = |field: &Field| match field {
            Field::Null => Value::Null,
            Field::Int(int) => Value::Int(*int),
            Field::Float(float) => Value::Float(*float),
            Field::Bytes(range) => Value::Bytes(&self.bytes[range.clone()]),
        };
        let values: Vec<Value<'_>> = self.fields.iter().map(value).collect();
        trace.resume();
        for record in values.chunks_exact(degree) {
            take(trace, record);
        }
        trace.pause();
        drop(values);
        self.fields.clear();
        self.bytes.clear();
    }
}
