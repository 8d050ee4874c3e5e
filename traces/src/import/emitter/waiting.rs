//! What threads of a program wait for, in its events.

use super::Emitter;
use crate::event::{Event, Kind};
use crate::import::error::Fault;
use crate::import::sites::UNKNOWN;
use crate::import::waits::{Meeting, Planned, SAID, Step, Waits};

/// The phase of a thread that waits until another begins it.
pub const NOT_BEGUN: &str = "not begun";

impl Emitter<'_> {
    /// The program has several threads. If this one `begins_late`, everything is left out until it asks to be recorded.
    pub(in crate::import) fn is_of_several(&mut self, begins_late: bool, planned: Planned) {
        self.has_others = true;
        self.off = begins_late;
        self.switched = begins_late;
        let all_meet = planned.all_meet;
        self.waits = Waits::of(planned);
        self.at(None);
        self.push_steps(self.waits.hold());
        if all_meet {
            self.push_step((Kind::Barrier, 0));
        }
        if self.waits.life.is_begun() {
            // Where a program has as many phases as there may be, it has none for this.
            let waiting = self.regions.phase(NOT_BEGUN).unwrap_or(self.phase);
            self.push_steps(self.waits.life.wait_to_begin(waiting, self.phase));
        }
    }

    /// The thread ends, and holds nothing more.
    pub(super) fn leave_all(&mut self) {
        self.warn_of_locks();
        self.leave_locks();
        let steps = self.waits.finish();
        self.push_steps(steps);
    }

    /// The thread waits here for all others of its program, if there are any.
    pub(in crate::import) fn barrier(&mut self) {
        if !self.off {
            self.meet(SAID);
        }
    }

    /// The thread comes to a barrier, also where nothing is recorded: it waits there for those that do, too.
    pub(in crate::import) fn meet(&mut self, barrier: u64) {
        if !self.has_others {
            return;
        }
        if let Some(meeting) = self.waits.meetings.meet(barrier) {
            self.wait_for_members(meeting);
        }
    }

    /// As [`Emitter::meet`], where the recording says at which time of all threads it came.
    pub(in crate::import) fn meet_at(&mut self, barrier: u64, came: u64) {
        if !self.has_others {
            return;
        }
        if let Some(meeting) = self.waits.meet_at(barrier, came) {
            self.wait_for_members(meeting);
        }
    }

    /// The thread goes on from the barrier that it has come to last, at a time of all threads.
    pub(in crate::import) fn go_on(&mut self, left: u64) {
        self.waits.go_on(left);
    }

    fn wait_for_members(&mut self, meeting: Meeting) {
        self.leave_locks();
        match meeting {
            Meeting::OfAll => {
                let begun = self.waits.life.begin_all();
                self.push_steps(begun);
                self.push_step((Kind::Barrier, 0));
            }
            Meeting::OfSome(steps) => self.push_steps(steps),
        }
        // What comes behind waits for nothing that came before.
        self.first = self.handed + self.batch.len() as u64;
        if !self.off {
            self.tell_locks();
        }
    }

    /// The system calls the thread so.
    pub(in crate::import) fn thread_is(&mut self, name: u64) {
        self.waits.life.is(name);
    }

    /// Of some threads the program wrote no recording.
    pub(in crate::import) fn leave_others_out(&mut self) {
        self.waits.life.leave_others_out();
    }

    /// The thread has begun another.
    pub(in crate::import) fn begin_thread(&mut self, name: u64) {
        if let Some(step) = self.waits.life.begin(name) {
            self.push_step(step);
        }
    }

    /// The thread has waited for the end of another.
    pub(in crate::import) fn wait_for_thread(&mut self, name: u64) {
        let steps = self.waits.life.wait(name);
        self.wait(steps.map_or_else(Vec::new, Vec::from));
    }

    /// The thread signals a condition, at a time of all threads.
    pub(in crate::import) fn signal(&mut self, condition: u64, when: u64) {
        let steps = self.waits.signals.signal(condition, when);
        self.push_steps(steps);
    }

    /// The thread has waited for a signal of a condition.
    pub(in crate::import) fn wake(&mut self, condition: u64, when: u64) {
        let steps = self.waits.signals.wake(condition, when);
        self.wait(steps);
    }

    /// Waits for another thread, which may want a lock in the replay that this one holds.
    fn wait(&mut self, steps: Vec<Step>) {
        if !steps.is_empty() {
            self.leave_locks();
            self.push_steps(steps);
            if !self.off {
                self.tell_locks();
            }
        }
    }

    /// The next access takes the lock at `address`, which event `needed` has brought: alone or beside others, as `kind` says. Other threads of the
    /// program, if there are any, wait for that.
    ///
    /// # Errors
    /// The thread holds too many.
    pub(in crate::import) fn take_lock(
        &mut self,
        kind: Kind,
        address: u64,
        needed: Option<u64>,
    ) -> Result<(), Fault> {
        if !self.has_others {
            return Ok(());
        }
        self.waits.locks.take(kind, address)?;
        if self.off {
            return Ok(());
        }
        for step in self.waits.locks.tell() {
            self.push_step(step);
            if step == (kind, address) {
                self.let_last_need(needed);
            }
        }
        Ok(())
    }

    /// The access before this has released the lock at `address`.
    pub(in crate::import) fn release_lock(&mut self, address: u64) {
        if let Some(step) = self.waits.locks.release(address) {
            self.push_step(step);
        }
    }

    /// Takes the latches of all locks that are held.
    pub(super) fn tell_locks(&mut self) {
        for step in self.waits.locks.tell() {
            self.push_step(step);
        }
    }

    /// Releases the latches of all locks that are held.
    pub(super) fn leave_locks(&mut self) {
        for step in self.waits.locks.leave() {
            self.push_step(step);
        }
    }

    fn push_steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            self.push_step(step);
        }
    }

    /// Whoever takes a latch pays at his site for the wait.
    fn push_step(&mut self, (kind, lock): Step) {
        self.close_instruction();
        let instructions = self.take_plain();
        let site = match kind {
            Kind::Unlatch => UNKNOWN,
            _ => self.sites.take(),
        };
        self.batch.push(Event {
            instructions,
            site,
            ..Event::new(kind, lock)
        });
    }

    #[cold]
    fn warn_of_locks(&mut self) {
        let Some((count, lock)) = self.waits.locks.held() else {
            return;
        };
        self.warn(format!(
            "a thread holds {count} locks when its recording ends, that at {lock:#x} among them, and other threads wait for it until then: the \
             program was killed, or releases them by a function that memwalk_wrap.rsp does not name"
        ));
    }
}
