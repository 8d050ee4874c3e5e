//! A storage of one device, whose times can be counted on fingers.

use simcore::storage::{Arrival, Fill, Request, Storage, StorageParts};
use std::collections::{BTreeMap, HashMap};
use traces::SinkError;

/// A device that serves one page after the other, each in the time that its number says. A page may be written when the one that was
/// written before it is there.
#[derive(Clone, Debug, Default)]
pub struct InTurn {
    times_ps: Vec<u64>,
    cpu_per_page_ps: u64,
    free_ps: u64,
    coming: HashMap<u64, u64>,
    /// The latest fill of a page that somebody has come for, and when it is there. Numbers of fills that tests use do not wrap.
    fills: HashMap<u64, (u16, u64)>,
    written_ps: u64,
    /// What was asked for and has not reached the device, by time, core and number.
    asked: BTreeMap<(u64, usize, usize), Request>,
    /// What cores have stopped for, by time, in the order in which the device began with it.
    arrivals: BTreeMap<(u64, usize), (usize, Arrival)>,
    number: usize,
    /// Cores that have stopped.
    stopped: usize,
}

impl InTurn {
    pub fn of(times_ps: &[u64]) -> Self {
        Self {
            times_ps: times_ps.to_vec(),
            ..Self::default()
        }
    }

    /// The same, for whose pages a core takes so much time.
    pub fn that_takes_a_core(self, cpu_per_page_ps: u64) -> Self {
        Self {
            cpu_per_page_ps,
            ..self
        }
    }

    /// Serves a page and gives when that begins and ends.
    fn serve(&mut self, page: u64, at_ps: u64) -> (u64, u64) {
        let start = self.free_ps.max(at_ps);
        self.free_ps = start + self.times_ps[page as usize % self.times_ps.len()];
        (start, self.free_ps)
    }

    /// When a page is there that somebody has come for before.
    fn asked_before(&self, Fill { page, number }: Fill) -> Option<u64> {
        let &(latest, end) = self.fills.get(&page)?;
        (number > 0 && latest >= number).then_some(end)
    }

    /// Brings a page for which a core stops at `at_ps`, unless it is coming.
    fn read(&mut self, fill: Fill, at_ps: u64) -> Arrival {
        let Fill { page, number } = fill;
        if let Some(end) = self.asked_before(fill) {
            return Arrival {
                first: false,
                ..waited(at_ps, at_ps, end.max(at_ps))
            };
        }
        let (start, end) = match self.coming.remove(&page) {
            Some(end) => (at_ps, end.max(at_ps)),
            None => self.serve(page, at_ps),
        };
        if number > 0 {
            self.fills.insert(page, (number, end));
        }
        waited(at_ps, start, end)
    }

    /// Begins with what was asked for at `at_ps`: until when somebody waits for it, if anybody does.
    fn begin(&mut self, request: Request, at_ps: u64) -> Option<Arrival> {
        Some(match request {
            Request::Read(fill) | Request::Wait(fill) => self.read(fill, at_ps),
            Request::Measure => return None,
            Request::Prefetch(fill) => {
                let page = fill.page;
                if self.asked_before(fill).is_none() && !self.coming.contains_key(&page) {
                    let (_, end) = self.serve(page, at_ps);
                    self.coming.insert(page, end);
                }
                return None;
            }
            Request::Write(page) => {
                let before_ps = self.written_ps.max(at_ps);
                (_, self.written_ps) = self.serve(page, at_ps);
                waited(at_ps, at_ps, before_ps)
            }
            Request::Finish => {
                self.fills.clear();
                waited(at_ps, at_ps, self.written_ps.max(at_ps))
            }
        })
    }
}

impl Storage for InTurn {
    fn cpu_per_page_ps(&self) -> u64 {
        self.cpu_per_page_ps
    }

    fn ask(&mut self, core: usize, request: Request, at_ps: u64) -> Result<(), SinkError> {
        self.number += 1;
        self.stopped += usize::from(request.stops());
        self.asked.insert((at_ps, core, self.number), request);
        Ok(())
    }

    fn next_ps(&mut self) -> Result<Option<u64>, SinkError> {
        let asked = self.asked.keys().map(|&(ps, _, _)| ps);
        let arrivals = self.arrivals.keys().map(|&(ps, _)| ps);
        Ok(asked.take(1).chain(arrivals.take(1)).min())
    }

    fn advance(&mut self, until_ps: u64) -> Result<Option<(usize, Arrival)>, SinkError> {
        assert!(
            until_ps < u64::MAX || self.stopped > 0,
            "others may use storage without end, and no core waits for it"
        );
        while let Some(next) = self.next_ps()?.filter(|&next| next <= until_ps) {
            let asked = self
                .asked
                .first_entry()
                .filter(|asked| asked.key().0 == next);
            let Some(asked) = asked else {
                self.stopped -= 1;
                return Ok(self.arrivals.pop_first().map(|(_, arrived)| arrived));
            };
            let ((_, core, _), request) = asked.remove_entry();
            if let Some(arrival) = self.begin(request, next) {
                self.number += 1;
                self.arrivals
                    .insert((arrival.at_ps, self.number), (core, arrival));
            }
        }
        Ok(None)
    }
}

/// A wait in a queue until one time, and for a transfer until another.
fn waited(at_ps: u64, start_ps: u64, end_ps: u64) -> Arrival {
    let parts = StorageParts {
        queue_ps: start_ps - at_ps,
        transfer_ps: end_ps - start_ps,
        ..StorageParts::default()
    };
    Arrival {
        at_ps: end_ps,
        parts,
        first: true,
    }
}
