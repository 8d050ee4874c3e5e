//! The join without partitioning: a thread's part of the build, and of the probes.

use super::costs::{BUCKET_ADDRESS, COMPARE, HASH, TAKE};
use super::found::Found;
use super::loops::{last_tuple, next_tuple};
use super::relations::{BUILD, PROBE, Relations};
use super::sites::Site;
use super::table::{Planned, Table};
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::tracer::{Dep, Trace};
use std::ops::Range;

/// Puts a thread's build tuples into the table: natively as it comes, else as planned.
pub(super) fn build<W: TupleWord, T: Trace>(
    trace: &mut T,
    relations: &Relations<W>,
    (table, planned): (&Table<W>, &Planned<W>),
    own: Range<usize>,
) {
    for tuple in own {
        let place = tuple * TUPLE_WORDS;
        let input = &relations.tuples[BUILD];
        let loaded = input.load_many::<T, TUPLE_WORDS>(trace, Site::BuildTuple, place, Dep::NONE);
        if T::NATIVE {
            table.insert(loaded.value);
        } else {
            table.say(
                trace,
                loaded.value[0],
                loaded.token,
                planned.arrivals[tuple],
            );
        }
        next_tuple(trace);
    }
    last_tuple(trace);
}

/// Probes the table with a thread's probe tuples, each to the end of its chain: keys need not be unique.
pub(super) fn probe<W: TupleWord, T: Trace>(
    trace: &mut T,
    relations: &Relations<W>,
    table: &Table<W>,
    own: Range<usize>,
    found: &mut Found,
) {
    for tuple in own {
        let place = tuple * TUPLE_WORDS;
        let loaded = relations.tuples[PROBE].load(trace, Site::ProbeTuple, place, Dep::NONE);
        trace.work((HASH + BUCKET_ADDRESS).into());
        let key = loaded.value;
        let mut here = loaded.token.after(HASH + BUCKET_ADDRESS);
        let mut visited = Some(table.head(key));
        while let Some(bucket) = visited {
            let (count, counted) = bucket.load_count(trace, here);
            for one in 0..count {
                trace.branch(Site::BucketTuples, true, counted.after(1));
                let build = bucket.load_key(trace, one, here);
                let payload = bucket.load_payload(trace, one, here);
                trace.work(COMPARE + TAKE);
                found.add_if(build == key, payload.to_u64());
            }
            trace.branch(Site::BucketTuples, false, counted.after(1));
            let (next, brought) = table.load_next(trace, bucket, here);
            trace.work(COMPARE);
            trace.branch(Site::ChainEnds, next.is_none(), brought.after(1));
            here = brought.after(0);
            visited = next;
        }
        next_tuple(trace);
    }
    last_tuple(trace);
}
