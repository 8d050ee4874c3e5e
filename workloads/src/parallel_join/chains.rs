//! The join of two partitions by bucket chaining (Manegold, Boncz and Kersten): heads and chains are numbers of tuples, which stay where they are.

use super::costs::{ADD, COMPARE, HASH, TAKE};
use super::found::Found;
use super::loops::{last_tuple, next_tuple};
use super::memory::Memory;
use super::relations::{BUILD, PROBE};
use super::sites::Site;
use super::tasks::Task;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::tracer::{Dep, Trace};

/// Joins the partitions of a task, of which keys agree in so many lower bits, in the heads and chains of a thread.
pub(super) fn join<W: TupleWord, T: Trace>(
    trace: &mut T,
    memory: &Memory<W>,
    (task, pass, bits): (&Task, usize, u32),
    thread: usize,
    found: &mut Found,
) {
    let (heads, chains) = (&memory.heads, &memory.chains);
    let (first_head, first_chain) = memory.rows.chains(thread);
    let [build, probe] = task.tuples.clone();
    let tuples = memory.partitions(pass, BUILD);
    let count = build.len().next_power_of_two();
    let head_of = |key: W| first_head + ((key.to_u64() >> bits) as usize & (count - 1));
    heads.clear(trace, Site::HeadsClear, first_head, count);
    let begin = build.start;
    for tuple in build {
        let key = tuples.load(trace, Site::BuildTuple, tuple * TUPLE_WORDS, Dep::NONE);
        trace.work(HASH.into());
        let place = head_of(key.value);
        let hashed = key.token.after(HASH);
        let head = heads.load(trace, Site::Head, place, hashed);
        let number = tuple - begin;
        let known = head.token.after(0);
        chains.store(
            trace,
            Site::ChainChange,
            first_chain + number,
            head.value,
            known,
        );
        trace.work(ADD);
        // Counted from 1: a chain ends with 0.
        heads.store(trace, Site::HeadChange, place, number as u32 + 1, hashed);
        next_tuple(trace);
    }
    last_tuple(trace);
    for tuple in probe {
        let probes = memory.partitions(pass, PROBE);
        let key = probes.load(trace, Site::ProbeTuple, tuple * TUPLE_WORDS, Dep::NONE);
        trace.work(HASH.into());
        let mut hit = heads.load(trace, Site::Head, head_of(key.value), key.token.after(HASH));
        loop {
            let ends = hit.value == 0;
            trace.work(COMPARE);
            trace.branch(Site::ChainEnds, ends, hit.token.after(1));
            if ends {
                break;
            }
            let number = hit.value as usize - 1;
            let place = (begin + number) * TUPLE_WORDS;
            let here = hit.token.after(2);
            trace.work(2 * ADD);
            let build = tuples.load(trace, Site::Key, place, here);
            let payload = tuples.load(trace, Site::Payload, place + 1, here);
            trace.work(COMPARE + TAKE);
            found.add_if(build.value == key.value, payload.value.to_u64());
            hit = chains.load(trace, Site::Chain, first_chain + number, hit.token.after(1));
        }
        next_tuple(trace);
    }
    last_tuple(trace);
}
