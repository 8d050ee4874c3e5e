//! A ring of probes, each in a slot of its own: AMAC, and coroutines.
//!
//! Both run the same pieces in the same order. AMAC keeps a probe's state in the slot, and what a slot's probe does next is a branch. A
//! coroutine's state is its frame, and it goes on by a call: the frame is found, the place where it was suspended is loaded, and what the
//! compiler kept in registers is loaded, too, and stored before the next suspension.

use super::bucket::Bucket;
use super::costs::{NEXT_SLOT, RESUME};
use super::lookup::{Probe, Probes};
use super::sites::Site;
use super::states::States;
use crate::tracer::{Dep, Trace};

/// Bytes and words of a frame behind its address of resumption: key, bucket, and the table's place and shift.
const REGISTERS: (u16, u16) = (32, 4);
/// Where in a frame they begin, behind the addresses of resumption and of destruction.
const FIRST_REGISTER: u64 = 16;

/// How a slot's probe is suspended and goes on.
pub(super) trait Suspension {
    /// The probe in a slot, if one is under way: what it does next waits for what is read.
    fn resume<B: Copy, T: Trace>(
        trace: &mut T,
        states: &States<B>,
        slot: usize,
    ) -> Option<Probe<B>>;

    /// Leaves a probe in its slot, or nothing.
    fn suspend<B: Copy, T: Trace>(
        trace: &mut T,
        states: &mut States<B>,
        slot: usize,
        probe: Option<Probe<B>>,
    );
}

/// A state and a branch.
pub(super) struct Slot;

impl Suspension for Slot {
    fn resume<B: Copy, T: Trace>(
        trace: &mut T,
        states: &States<B>,
        slot: usize,
    ) -> Option<Probe<B>> {
        states.get(trace, slot)
    }

    fn suspend<B: Copy, T: Trace>(
        trace: &mut T,
        states: &mut States<B>,
        slot: usize,
        probe: Option<Probe<B>>,
    ) {
        states.set(trace, slot, probe);
    }
}

/// A frame and a call.
pub(super) struct Frame;

impl Suspension for Frame {
    fn resume<B: Copy, T: Trace>(
        trace: &mut T,
        states: &States<B>,
        slot: usize,
    ) -> Option<Probe<B>> {
        let frame = states.address(slot);
        // The call's target is a branch like others: what was suspended is in the chain, or has ended.
        let target = trace.load(Site::Resume, frame, 8, 1, Dep::NONE);
        trace.work(RESUME);
        trace.branch(Site::IsUnderWay, states.is_under_way(slot), target.after(0));
        let (bytes, words) = REGISTERS;
        let place = frame + FIRST_REGISTER;
        let token = trace.load(Site::Registers, place, bytes, words, states.waits(slot));
        states.brought(slot, token)
    }

    fn suspend<B: Copy, T: Trace>(
        trace: &mut T,
        states: &mut States<B>,
        slot: usize,
        probe: Option<Probe<B>>,
    ) {
        let frame = states.address(slot);
        let (bytes, words) = REGISTERS;
        let place = frame + FIRST_REGISTER;
        states.leave(slot, probe);
        trace.store(
            Site::RegistersChange,
            place,
            bytes,
            words,
            states.waits(slot),
        );
        trace.store(Site::ResumeChange, frame, 8, 1, Dep::NONE);
    }
}

pub(super) fn run<'t, const BYTES: usize, S: Suspension, T: Trace>(
    trace: &mut T,
    probes: &mut Probes<'t, BYTES>,
    states: &mut States<Bucket<'t, BYTES>>,
) {
    let mut under_way = 0;
    for slot in 0..states.len() {
        let probe = probes.begin(trace, true);
        under_way += usize::from(probe.is_some());
        S::suspend(trace, states, slot, probe);
        trace.work(NEXT_SLOT);
    }
    for slot in (0..states.len()).cycle() {
        if under_way == 0 {
            break;
        }
        if let Some(probe) = S::resume(trace, states, slot) {
            // A probe that ends leaves its slot to the next at once.
            let goes_on = probes.visit(trace, probe, true);
            let goes_on = goes_on.or_else(|| probes.begin(trace, true));
            under_way -= usize::from(goes_on.is_none());
            S::suspend(trace, states, slot, goes_on);
        }
        trace.work(NEXT_SLOT);
    }
}
