//! Events that take no time: they move lines, pages and counters as they would, and the core stands still.
//!
//! This is counting for machines of any kind, and the functional warming between the measured units of a sample.

use super::Core;
use crate::hierarchy::{Hierarchy, Purpose, Standstill};
use traces::{Event, Kind, SinkError};

impl Core {
    /// Lets events pass in no time. Caches, TLB and predictor end up as after a run, and everything that is counted per
    /// event is counted; cycles, slots and instructions stay as they are.
    ///
    /// # Errors
    /// An event that the machine cannot run, as in a run.
    pub(crate) fn pass(
        &mut self,
        caches: &mut Hierarchy,
        events: &[Event],
    ) -> Result<(), SinkError> {
        self.close_loads(caches);
        events
            .iter()
            .try_for_each(|event| self.pass_event(caches, event))
    }

    fn pass_event(&mut self, caches: &mut Hierarchy, event: &Event) -> Result<(), SinkError> {
        self.events += 1;
        let (time, instructions) = (self.now(), self.instructions());
        let machinery = &mut self.machinery;
        match event.kind {
            Kind::Load | Kind::Store | Kind::Exchange => {
                machinery.touch(event, instructions);
                let purpose = if event.kind == Kind::Load {
                    Purpose::Load
                } else {
                    Purpose::Store
                };
                machinery.pass(caches, event, purpose, time);
            }
            Kind::StoreNta => {
                machinery.touch(event, instructions);
                machinery.pass_by(caches, event, time);
            }
            Kind::Prefetch | Kind::PrefetchNta => {
                machinery.touch(event, instructions);
                machinery.prefetch::<Standstill>(caches, event, time, time);
            }
            Kind::Branch => {
                machinery.predict(event);
            }
            Kind::Op
            | Kind::Barrier
            | Kind::PageWait
            | Kind::Latch
            | Kind::Unlatch
            | Kind::ShareLatch
            | Kind::AwaitLatch => {}
            Kind::Fetch => {
                if machinery.fetch::<Standstill>(caches, event, time).is_none() {
                    return Err(self.no_instruction_cache());
                }
            }
            Kind::Mark => self.open_phase(event.address, instructions)?,
            Kind::Flush => machinery.flush(caches),
            Kind::Measure => self.measure(caches),
            Kind::Call => self.pass_call(caches, event)?,
            kind @ (Kind::PageRead | Kind::PageWrite | Kind::PagePrefetch) => {
                self.page_requests.take(kind, event.address);
            }
            Kind::PageArrival => self.arrive(caches, event),
        }
        self.pipeline.skip_result();
        Ok(())
    }
}
