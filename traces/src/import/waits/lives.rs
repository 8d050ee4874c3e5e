//! When the threads of a recorded program begin and end, and who waits for that.
//!
//! Latches stand for both. A thread that begins another holds one from the beginning of the trace until it does so; the other asks for it first.
//! A thread whose end somebody waits for holds one until then. So that nobody asks before they are held, all threads meet behind that.

use super::Step;
use super::latches::{beginning, end, wait_for};
use crate::event::Kind;
use std::collections::{HashMap, HashSet, VecDeque};

/// What a thread's recording says, in its order. The system gives a thread a name, and uses it again when that has ended.
#[derive(Debug, Default)]
pub(super) struct Told {
    name: Option<u64>,
    begun: Vec<u64>,
    awaited: Vec<u64>,
    /// The program wrote no recording of some other threads.
    leaves_others_out: bool,
}

/// The life of a thread: what its recording says, and what that means beside the others'.
#[derive(Debug, Default)]
pub(in crate::import) struct Life {
    told: Told,
    known: Known,
}

/// What is known of a thread when all recordings have been read. Threads are told by their numbers; those that are not recorded are nobody.
#[derive(Debug, Default)]
pub(super) struct Known {
    number: usize,
    /// Whom it begins, in its order.
    begun: VecDeque<Option<usize>>,
    /// Whose end it waits for, in its order.
    awaited: VecDeque<Option<usize>>,
    /// Another thread begins it.
    is_begun: bool,
    /// Another thread waits for its end.
    is_awaited: bool,
}

impl Life {
    /// That of a thread of which something is known.
    pub(super) fn of(known: Known) -> Self {
        Self {
            told: Told::default(),
            known,
        }
    }

    /// The thread has this name.
    pub(in crate::import) fn is(&mut self, name: u64) {
        self.told.name = Some(name);
    }

    /// The program wrote no recording of some other threads.
    pub(in crate::import) fn leave_others_out(&mut self) {
        self.told.leaves_others_out = true;
    }

    /// Whether the thread waits until another begins it.
    pub(in crate::import) fn is_begun(&self) -> bool {
        self.known.is_begun
    }

    /// What the thread holds before it does anything.
    pub(super) fn hold(&self) -> Vec<Step> {
        let begun = self.known.begun.iter().flatten();
        let mut steps: Vec<Step> = begun
            .map(|&other| (Kind::Latch, beginning(other)))
            .collect();
        if self.known.is_awaited {
            steps.push((Kind::Latch, end(self.known.number)));
        }
        steps
    }

    /// The thread waits until another begins it: in a phase, and goes on in another.
    pub(in crate::import) fn wait_to_begin(&self, before: u64, behind: u64) -> Vec<Step> {
        let [wait, leave] = wait_for(beginning(self.known.number));
        vec![(Kind::Mark, before), wait, leave, (Kind::Mark, behind)]
    }

    /// The thread has begun another.
    pub(in crate::import) fn begin(&mut self, name: u64) -> Option<Step> {
        self.told.begun.push(name);
        let other = self.known.begun.pop_front()??;
        Some((Kind::Unlatch, beginning(other)))
    }

    /// Those begin whom the thread has not begun: it waits for all.
    pub(in crate::import) fn begin_all(&mut self) -> Vec<Step> {
        let begun = self.known.begun.iter_mut().filter_map(Option::take);
        begun
            .map(|other| (Kind::Unlatch, beginning(other)))
            .collect()
    }

    /// The thread has waited for the end of another.
    pub(in crate::import) fn wait(&mut self, name: u64) -> Option<[Step; 2]> {
        self.told.awaited.push(name);
        let other = self.known.awaited.pop_front()??;
        Some(wait_for(end(other)))
    }

    /// What comes behind all that the thread does: those begin whom it has not begun, and nobody waits for it any more.
    pub(super) fn finish(&mut self) -> Vec<Step> {
        let mut steps = self.begin_all();
        let end = end(self.known.number);
        steps.extend(self.known.is_awaited.then_some((Kind::Unlatch, end)));
        steps
    }

    /// What the recording has said.
    pub(super) fn into_told(self) -> Told {
        self.told
    }
}

impl Known {
    /// Whether another thread waits for this one to begin it, or for its end.
    pub(super) fn is_waited_for(&self) -> bool {
        self.is_awaited || self.begun.iter().any(Option::is_some)
    }

    /// How many threads that these begin must have written a recording that is not among theirs.
    pub(super) fn count_missing(told: &[Told], known: &[Self]) -> usize {
        if told.iter().any(|told| told.leaves_others_out) {
            return 0;
        }
        let begun = known.iter().flat_map(|known| &known.begun);
        begun.filter(|other| other.is_none()).count()
    }

    /// Finds out whom threads begin and wait for.
    pub(super) fn of_all(told: &[Told]) -> Vec<Self> {
        let (begun, awaited) = (
            found(told, |told| &told.begun),
            found(told, |told| &told.awaited),
        );
        let all = |lists: &[VecDeque<Option<usize>>]| -> HashSet<usize> {
            lists.iter().flatten().flatten().copied().collect()
        };
        let (all_begun, all_awaited) = (all(&begun), all(&awaited));
        let lists = begun.into_iter().zip(awaited).enumerate();
        let known = lists.map(|(number, (begun, awaited))| Self {
            number,
            begun,
            awaited,
            is_begun: all_begun.contains(&number),
            is_awaited: all_awaited.contains(&number),
        });
        known.collect()
    }
}

/// The threads whose names are in a list of each: of those with one name the first that is named is the first.
fn found(told: &[Told], names: impl Fn(&Told) -> &Vec<u64>) -> Vec<VecDeque<Option<usize>>> {
    let mut of_name: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (number, one) in told.iter().enumerate() {
        if let Some(name) = one.name {
            of_name.entry(name).or_default().push_back(number);
        }
    }
    let mut find = |own: usize, name: &u64| {
        let other = of_name.get_mut(name)?.pop_front()?;
        (other != own).then_some(other)
    };
    let mut lists = Vec::with_capacity(told.len());
    for (number, one) in told.iter().enumerate() {
        lists.push(names(one).iter().map(|name| find(number, name)).collect());
    }
    lists
}
