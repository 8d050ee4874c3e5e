//! Requests that have not reached their controller. Each channel has one, with room of its own for reads and for writes: what
//! one of them has no room for holds up nothing else.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A request that has not reached the controller. They reach it in the order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    /// DRAM cycle of the request, by the core's time.
    pub(super) due: u64,
    /// Cycle of the core: of those that are due in one cycle of the DRAM the first goes first.
    asked: u64,
    /// Whose it is: of several in one cycle that of the core with the lowest number goes first.
    core: usize,
    /// Counts the requests.
    number: u64,
    pub(super) address: u64,
    /// The read that it is a part of; `None` for a write.
    pub(super) read: Option<u64>,
}

impl Request {
    pub(super) fn is_write(&self) -> bool {
        self.read.is_none()
    }
}

/// Those of one kind, the earliest first.
type Queue = BinaryHeap<Reverse<Request>>;

/// The requests of each channel: reads, and writes.
#[derive(Debug)]
pub(super) struct WaitingRequests {
    channels: Vec<[Queue; 2]>,
    /// Those that wait.
    count: usize,
    /// Those that there have been.
    numbered: u64,
    /// The core that asks now.
    core: usize,
}

impl WaitingRequests {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels: vec![<[Queue; 2]>::default(); channels],
            count: 0,
            numbered: 0,
            core: 0,
        }
    }

    /// What is asked for from now on is for this core.
    pub(super) fn set_core(&mut self, core: usize) {
        self.core = core;
    }

    /// A request for `address`, which lies in `channel`, that is to reach the controller in DRAM cycle `due`. It was `asked` for in a cycle
    /// of the core.
    pub(super) fn push(
        &mut self,
        channel: usize,
        (due, asked): (u64, u64),
        address: u64,
        read: Option<u64>,
    ) {
        let request = Request {
            due,
            asked,
            core: self.core,
            number: self.numbered,
            address,
            read,
        };
        self.channels[channel][usize::from(request.is_write())].push(Reverse(request));
        self.numbered += 1;
        self.count += 1;
    }

    /// All parts of a read are to reach their controllers earlier; nothing happens if some have reached them.
    pub(super) fn bring_forward(
        &mut self,
        read: u64,
        parts: u32,
        (due, asked): (u64, u64),
    ) -> bool {
        let is_part = |request: &Request| request.read == Some(read);
        let reads = || self.channels.iter().map(|[reads, _]| reads);
        let waiting = reads()
            .flatten()
            .filter(|Reverse(request)| is_part(request));
        if waiting.count() < parts as usize {
            return false;
        }
        for [reads, _] in &mut self.channels {
            let mut requests = std::mem::take(reads).into_vec();
            for Reverse(request) in requests
                .iter_mut()
                .filter(|Reverse(request)| is_part(request))
            {
                (request.due, request.asked) = (due, asked);
            }
            *reads = requests.into();
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// When the first of them is due.
    pub(super) fn earliest(&self) -> Option<u64> {
        let queues = self.channels.iter().flatten();
        queues.filter_map(|queue| Some(queue.peek()?.0.due)).min()
    }

    /// Hands those that are due by `time` to `submit`, which says whether there was room. What it refuses waits, with all of its
    /// channel and kind, and with later requests for its own address.
    pub(super) fn hand_over(&mut self, time: u64, mut submit: impl FnMut(&Request) -> bool) {
        for queues in &mut self.channels {
            let mut refused = [false; 2];
            while let Some(request) = first_due(queues, refused, time) {
                let kind = usize::from(request.is_write());
                if refused[1 - kind] && overtakes(&request, &queues[1 - kind]) || !submit(&request)
                {
                    refused[kind] = true;
                } else {
                    queues[kind].pop();
                    self.count -= 1;
                }
            }
        }
    }
}

/// The earliest request of a channel that is due, of the kinds that were not refused.
fn first_due(queues: &[Queue; 2], refused: [bool; 2], time: u64) -> Option<Request> {
    let firsts = queues.iter().zip(refused).filter_map(|(queue, refused)| {
        let Reverse(request) = queue.peek()?;
        (!refused && request.due <= time).then_some(*request)
    });
    firsts.min()
}

/// Whether an earlier request for the same address waits in the other queue.
fn overtakes(request: &Request, other: &Queue) -> bool {
    let mut others = other.iter();
    others.any(|Reverse(earlier)| earlier.address == request.address && earlier < request)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, and whether it is a write, of what is handed over while only what `accepts` takes has room.
    fn handed_over(
        waiting: &mut WaitingRequests,
        accepts: impl Fn(&Request) -> bool,
    ) -> Vec<(u64, bool)> {
        let mut done = Vec::new();
        waiting.hand_over(100, |request| {
            let accepted = accepts(request);
            if accepted {
                done.push((request.address, request.is_write()));
            }
            accepted
        });
        done
    }

    #[test]
    fn requests_go_by_their_times_and_wait_for_them() {
        let mut waiting = WaitingRequests::new(1);
        waiting.push(0, (101, 101), 3, Some(0));
        waiting.push(0, (50, 50), 2, None);
        waiting.push(0, (40, 40), 1, Some(1));
        assert_eq!(waiting.earliest(), Some(40));
        assert_eq!(handed_over(&mut waiting, |_| true), [(1, false), (2, true)]);
        assert_eq!(waiting.earliest(), Some(101));
        assert!(!waiting.is_empty());
    }

    #[test]
    fn of_requests_due_at_once_the_first_to_be_asked_for_goes_first() {
        let mut waiting = WaitingRequests::new(1);
        waiting.push(0, (10, 20), 1, Some(0));
        waiting.push(0, (10, 19), 2, Some(1));
        let done = handed_over(&mut waiting, |_| true);
        assert_eq!(done, [(2, false), (1, false)]);
    }

    #[test]
    fn of_requests_asked_for_in_one_cycle_that_of_the_lowest_core_goes_first() {
        let mut waiting = WaitingRequests::new(1);
        for (core, address) in [(2, 1), (0, 2), (1, 3), (0, 4)] {
            waiting.set_core(core);
            waiting.push(0, (10, 20), address, Some(address));
        }
        let done = handed_over(&mut waiting, |_| true);
        assert_eq!(done, [(2, false), (4, false), (3, false), (1, false)]);
    }

    #[test]
    fn a_read_is_brought_forward_as_long_as_none_of_its_parts_has_gone() {
        let mut waiting = WaitingRequests::new(2);
        waiting.push(0, (50, 50), 1, Some(0));
        waiting.push(1, (200, 200), 2, Some(1));
        waiting.push(1, (200, 200), 3, Some(2));
        waiting.push(0, (200, 200), 4, Some(2));
        assert!(
            !waiting.bring_forward(1, 2, (60, 60)),
            "half of it has gone"
        );
        assert!(waiting.bring_forward(2, 2, (40, 40)));
        let done = handed_over(&mut waiting, |_| true);
        assert_eq!(done, [(4, false), (1, false), (3, false)]);
        assert_eq!(waiting.earliest(), Some(200));
    }

    #[test]
    fn what_has_no_room_holds_up_its_own_channel_and_kind_only() {
        let mut waiting = WaitingRequests::new(2);
        waiting.push(0, (0, 0), 1, None);
        waiting.push(0, (1, 1), 2, None);
        waiting.push(0, (2, 2), 3, Some(0));
        waiting.push(1, (3, 3), 4, None);
        let done = handed_over(&mut waiting, |request| request.address != 1);
        assert_eq!(done, [(3, false), (4, true)]);
        assert_eq!(handed_over(&mut waiting, |_| true), [(1, true), (2, true)]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn requests_for_one_address_keep_their_order() {
        for first_is_write in [true, false] {
            let mut waiting = WaitingRequests::new(1);
            let read = |is_write: bool| (!is_write).then_some(0);
            waiting.push(0, (0, 0), 7, read(first_is_write));
            waiting.push(0, (1, 1), 8, read(!first_is_write));
            waiting.push(0, (2, 2), 7, read(!first_is_write));
            let full = handed_over(&mut waiting, |request| request.is_write() != first_is_write);
            assert_eq!(full, [(8, !first_is_write)]);
            let then = handed_over(&mut waiting, |_| true);
            assert_eq!(then, [(7, first_is_write), (7, !first_is_write)]);
        }
    }
}
