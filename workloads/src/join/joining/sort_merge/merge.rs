//! Merging both sides: for each probe tuple, by key, the build tuples of that key, which are remembered for the next one.

use super::entries::Entries;
use super::inputs::Inputs;
use super::places::SortPlaces;
use super::sites::Site;
use super::stream::{Head, Stream};
use crate::arena::{Arena, Far};
use crate::join::algorithm::Order;
use crate::join::costs::{LOOP, TEST};
use crate::join::joining::output::Output;
use crate::join::limits::WORD;
use crate::join::sites::Site as JoinSite;
use crate::place::{Loaded, Place};
use crate::tracer::{Dep, Trace};

/// Sorts what is out of order, and merges. `between` is called in between.
pub(in crate::join::joining) fn merge<T: Trace>(
    trace: &mut T,
    order: Order,
    (build, probe): (&mut Inputs, &mut Inputs),
    (entries, groups): (&mut Entries, &mut Groups),
    output: &mut Output,
    between: impl FnOnce(&mut T),
) {
    let ahead = order.ahead(true);
    let of_build = entries.collect(trace, (&mut build.out_of_order, ahead), 0);
    let (of_build, free) = entries.sort(trace, of_build, 2);
    // The build tuples' entries are in one of the arrays 0 and 2, which leaves the other one.
    let of_probe = entries.collect(trace, (&mut probe.out_of_order, ahead), 1);
    let (of_probe, _) = entries.sort(trace, of_probe, free);
    between(trace);
    let sites = [JoinSite::BuildKey, JoinSite::ProbeKey];
    let how = (ahead, order.prefetch_distance, order.line_bytes);
    let mut build = Stream::open(trace, build, (entries, of_build), how, sites[0]);
    let mut probe = Stream::open(trace, probe, (entries, of_probe), how, sites[1]);
    let mut next = build.next(trace);
    groups.forget();
    while let Some(tuple) = probe.next(trace) {
        if !groups.is_of(trace, tuple) {
            while let Some(head) = next {
                let behind = head.key < tuple.key;
                compare(trace, Site::BuildBehind, behind, head);
                if !behind {
                    break;
                }
                next = build.next(trace);
            }
            groups.begin(tuple.key);
            while let Some(head) = next {
                let equal = head.key == tuple.key;
                compare(trace, Site::BuildEqual, equal, head);
                if !equal {
                    break;
                }
                groups.add(trace, &build, head);
                next = build.next(trace);
            }
        }
        groups.put_out(trace, &build, (&probe, tuple), output);
        if trace.failed() {
            return;
        }
    }
}

fn compare<T: Trace>(trace: &mut T, site: Site, outcome: bool, head: Head) {
    trace.work(TEST);
    trace.branch(site, outcome, head.known.after(1));
}

/// The build tuples of one key.
#[derive(Debug)]
pub(in crate::join::joining) struct Groups {
    first: u64,
    memory: Arena<Far>,
    key: Option<u32>,
    tuples: Vec<Head>,
}

impl Groups {
    pub(in crate::join::joining) fn new(places: SortPlaces) -> Self {
        Self {
            first: places.group,
            memory: Arena::of(places.group, places.group_bytes),
            key: None,
            tuples: Vec::new(),
        }
    }

    fn place(&self, number: usize) -> Place<u32> {
        Place::new(0, self.first + number as u64 * u64::from(WORD))
    }

    fn forget(&mut self) {
        self.key = None;
        self.tuples.clear();
    }

    fn begin(&mut self, key: u32) {
        self.key = Some(key);
        self.tuples.clear();
    }

    /// Whether a probe tuple has the key.
    fn is_of<T: Trace>(&self, trace: &mut T, tuple: Head) -> bool {
        let same = self.key == Some(tuple.key);
        trace.work(TEST);
        trace.branch(Site::SameKey, same, tuple.known.after(1));
        same
    }

    /// Remembers a build tuple.
    fn add<T: Trace>(&mut self, trace: &mut T, build: &Stream<'_>, tuple: Head) {
        let pointer = build.relation(tuple).pointer(tuple.tuple);
        let (place, site) = (self.place(self.tuples.len()), Site::GroupChange);
        let known = tuple.known.after(0);
        self.memory.store(trace, site, place, pointer, known);
        self.tuples.push(tuple);
        trace.work(LOOP);
    }

    /// Puts out a probe tuple with each of them.
    fn put_out<T: Trace>(
        &self,
        trace: &mut T,
        build: &Stream<'_>,
        (probe, tuple): (&Stream<'_>, Head),
        output: &mut Output,
    ) {
        self.is_another(trace, 0);
        for (number, &head) in self.tuples.iter().enumerate() {
            let place = self.place(number);
            let found = self.memory.load(trace, Site::Group, place, Dep::NONE);
            let known = found.token.after(0);
            let pair = (build.relation(head), head.tuple, known);
            let at = Loaded {
                value: tuple.tuple,
                token: tuple.known,
            };
            output.add(trace, pair, (probe.relation(tuple), at, tuple.bytes));
            trace.work(LOOP);
            self.is_another(trace, number + 1);
        }
    }

    /// Tests whether there is a build tuple of a number.
    fn is_another<T: Trace>(&self, trace: &mut T, number: usize) {
        trace.branch(Site::GroupLeft, number < self.tuples.len(), Dep::NONE);
    }
}
