//! Kernels beside each other, of which some run again and again as long as the others go on.

use crate::library::Prepared;
use crate::outcome::Outcome;
use crate::threads::{self, Thread};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use traces::{Event, EventSource, Kind, SinkError};

/// A kernel that runs beside others.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel.
    pub prepared: Prepared,
    /// How often it runs, which may be never; as long as one goes on that is told how often, if it is not.
    pub runs: Option<u64>,
    /// Whether it warms up. Only its first run does: the warm-up of later ones is left out.
    pub warms_up: bool,
}

/// A program under way.
struct Rounds {
    program: Program,
    /// Of the run that is under way.
    threads: Vec<Thread>,
    /// Runs that have begun.
    begun: u64,
    /// What the first run has computed, if there was another.
    first: Option<Outcome>,
    is_over: bool,
}

impl Rounds {
    /// Begins the next run, or ends the program.
    fn go_on(&mut self, others: &Others) {
        let is_last = match self.program.runs {
            Some(runs) => self.begun == runs,
            None => others.all_have_ended(),
        };
        if is_last {
            self.is_over = true;
            return;
        }
        let ended = std::mem::replace(&mut self.threads, self.program.prepared.begin());
        self.first.get_or_insert_with(|| threads::outcome(ended));
        self.begun += 1;
    }
}

/// Threads of programs that run so many times, and have not ended.
#[derive(Clone, Debug)]
struct Others(Rc<Cell<usize>>);

impl Others {
    fn all_have_ended(&self) -> bool {
        self.0.get() == 0
    }

    fn one_has_ended(&self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a run, of whose events those up to the end of the warm-up are left out.
    Skips,
    /// In a run.
    Runs,
    /// At the barrier behind a run.
    Meets,
    /// There is no further run.
    Ended,
}

/// A thread of a program, through all of its runs.
pub struct RoundsThread {
    rounds: Rc<RefCell<Rounds>>,
    others: Others,
    number: usize,
    /// The run that it is in.
    round: u64,
    state: State,
}

/// What became of a program.
#[derive(Debug)]
pub struct Ended {
    /// Runs that it has done.
    pub runs: u64,
    /// What the first of them has computed.
    pub outcome: Outcome,
}

/// Programs that have begun beside each other.
pub struct Begun(Vec<Rc<RefCell<Rounds>>>);

/// Begins programs: their threads in order of the programs, and what is asked for the outcomes in the end.
#[must_use]
pub fn begin(programs: Vec<Program>) -> (Vec<RoundsThread>, Begun) {
    let others = Others(Rc::default());
    let mut threads = Vec::new();
    let mut begun = Vec::new();
    for program in programs {
        let (state, waited_for) = match program.runs {
            Some(0) => (State::Ended, false),
            Some(_) => (State::Runs, true),
            None => (State::Runs, false),
        };
        let rounds = Rc::new(RefCell::new(Rounds {
            threads: program.prepared.begin(),
            program,
            begun: 1,
            first: None,
            is_over: false,
        }));
        let count = rounds.borrow().threads.len();
        if waited_for {
            others.0.set(others.0.get() + count);
        }
        threads.extend((0..count).map(|number| RoundsThread {
            rounds: Rc::clone(&rounds),
            others: others.clone(),
            number,
            round: 1,
            state,
        }));
        begun.push(rounds);
    }
    (threads, Begun(begun))
}

impl Begun {
    /// What became of the programs, all of whose threads have ended.
    #[must_use]
    pub fn end(self) -> Vec<Ended> {
        let ended = self.0.into_iter().map(|rounds| {
            let rounds = &mut *rounds.borrow_mut();
            let threads = std::mem::take(&mut rounds.threads);
            Ended {
                runs: rounds.begun,
                outcome: rounds
                    .first
                    .take()
                    .unwrap_or_else(|| threads::outcome(threads)),
            }
        });
        ended.collect()
    }
}

impl RoundsThread {
    /// Behind the barrier at which all threads of the program have met: goes on with the next run, if there is one. The first to come says
    /// so for all.
    fn meet(&mut self) {
        let rounds = Rc::clone(&self.rounds);
        let rounds = &mut *rounds.borrow_mut();
        if rounds.begun == self.round && !rounds.is_over {
            rounds.go_on(&self.others);
        }
        self.round = rounds.begun;
        if rounds.is_over {
            self.end(rounds.program.runs.is_some());
        } else if rounds.program.warms_up {
            self.state = State::Skips;
        } else {
            self.state = State::Runs;
        }
    }

    /// Ends, which others may wait for.
    fn end(&mut self, waited_for: bool) {
        self.state = State::Ended;
        if waited_for {
            self.others.one_has_ended();
        }
    }

    /// The run has no more events.
    fn end_run(&mut self, events: &mut Vec<Event>) {
        if self.rounds.borrow().program.runs == Some(1) {
            self.end(true);
        } else {
            self.state = State::Meets;
            events.push(Event::barrier_behind_writes());
        }
    }
}

/// Leaves out what comes before the end of the warm-up, but for barriers, and says whether the end is there. Threads
/// share what changes between barriers.
fn skip_warm_up(events: &mut Vec<Event>) -> bool {
    let end = events.iter().position(|event| event.kind == Kind::Measure);
    let measured = end.map_or(Vec::new(), |end| events.split_off(end).split_off(1));
    events.retain(|event| event.kind == Kind::Barrier);
    for barrier in &mut *events {
        barrier.instructions = 0;
    }
    events.extend(measured);
    end.is_some()
}

impl EventSource for RoundsThread {
    /// As [`Thread::next_batch`], run after run.
    ///
    /// # Errors
    /// As there.
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        events.clear();
        loop {
            match self.state {
                State::Ended => return Ok(()),
                State::Meets => self.meet(),
                State::Runs | State::Skips => {
                    self.rounds.borrow_mut().threads[self.number].next_batch(events)?;
                    if events.is_empty() {
                        self.end_run(events);
                        return Ok(());
                    }
                    if self.state == State::Skips && skip_warm_up(events) {
                        self.state = State::Runs;
                    }
                    if !events.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn program(workload: Value, runs: Option<u64>) -> Program {
        let workload = serde_json::from_value(workload).expect("a workload");
        Program {
            prepared: Library::new().prepare(&workload).expect("it can run"),
            runs,
            warms_up: workload.warm_up().is_some(),
        }
    }

    fn searches(caches: &Value, runs: Option<u64>) -> Program {
        let mut workload = json!({"kernel": "index", "operation": "search", "tree": {"kind": "b+", "node_lines": 1, "prefetch": false},
            "keys": 2000, "operations": 20});
        for (name, value) in caches.as_object().expect("a map") {
            workload[name] = value.clone();
        }
        program(workload, runs)
    }

    fn batch(thread: &mut RoundsThread) -> Vec<Event> {
        let mut events = Vec::new();
        thread.next_batch(&mut events).expect("nobody stops it");
        events
    }

    /// Events up to the end of a run.
    fn run(thread: &mut RoundsThread) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let more = batch(thread);
            let ended =
                more.is_empty() || more.last().is_some_and(|last| last.kind == Kind::Barrier);
            events.extend(more);
            if ended {
                return events;
            }
        }
    }

    #[test]
    fn what_repeats_runs_as_long_as_the_other_goes_on() {
        let (mut threads, begun) = begin(vec![
            searches(&json!({"caches": "empty"}), Some(1)),
            searches(&json!({"caches": "empty"}), None),
        ]);
        let first = run(&mut threads[1]);
        assert_eq!(first.last().map(|last| last.kind), Some(Kind::Barrier));
        assert_eq!(run(&mut threads[1]), first, "the same once more");
        let own = run(&mut threads[0]);
        assert_eq!(own[..], first[..first.len() - 1]);
        assert_eq!(batch(&mut threads[0]), []);
        assert_eq!(batch(&mut threads[1]), [], "the other has ended");
        let ended = begun.end();
        assert_eq!((ended[0].runs, ended[1].runs), (1, 2));
        assert_eq!(ended[0].outcome.metrics, ended[1].outcome.metrics);
    }

    #[test]
    fn who_is_told_how_often_runs_so_often() {
        let (mut threads, begun) = begin(vec![searches(&json!({"caches": "empty"}), Some(3))]);
        let first = run(&mut threads[0]);
        for _ in 1..3 {
            assert_eq!(run(&mut threads[0]), first);
        }
        assert_eq!(batch(&mut threads[0]), []);
        assert_eq!(begun.end()[0].runs, 3);
    }

    #[test]
    fn who_never_runs_is_waited_for_by_nobody() {
        let (mut threads, begun) = begin(vec![
            searches(&json!({"caches": "empty"}), Some(0)),
            searches(&json!({"caches": "empty"}), None),
        ]);
        assert_eq!(batch(&mut threads[0]), []);
        assert!(run(&mut threads[1]).len() > 100);
        assert_eq!(batch(&mut threads[1]), []);
        assert_eq!(begun.end()[1].runs, 1);
    }

    #[test]
    fn only_the_first_run_warms_up() {
        let (mut threads, _) = begin(vec![
            searches(&json!({"caches": "empty"}), Some(1)),
            searches(&json!({"caches": "warm", "warm_up": 3000}), None),
        ]);
        let mut first = run(&mut threads[1]);
        let warmed = first.iter().position(|event| event.kind == Kind::Measure);
        let measured = first.split_off(warmed.expect("a warm-up") + 1);
        assert!(first.len() > measured.len());
        assert_eq!(run(&mut threads[1]), measured);
        assert_eq!(run(&mut threads[1]), measured);
    }

    /// Threads meet behind each run, and do the same in the next.
    #[test]
    fn threads_begin_the_next_run_together() {
        let joins = json!({"kernel": "hash-join", "algorithm": "grace", "build_tuples": 600, "partitions": 2, "threads": 2});
        let (mut threads, begun) = begin(vec![
            searches(&json!({"caches": "empty"}), Some(1)),
            program(joins, None),
        ]);
        let mut done: BTreeMap<(u64, usize), Vec<Event>> = BTreeMap::new();
        while begun.0[1].borrow().begun < 3 {
            for (number, thread) in threads[1..].iter_mut().enumerate() {
                let events = run(thread);
                done.entry((thread.round, number))
                    .or_default()
                    .extend(events);
            }
        }
        for number in 0..2 {
            assert!(done[&(1, number)].len() > 1000);
            assert_eq!(done[&(1, number)], done[&(2, number)]);
        }
    }
}
