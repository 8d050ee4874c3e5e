//! Memory simulated by DRAMSim3, which has a clock of its own. `docs/decisions/013-dram-time.md` says how requests that
//! come in program order meet it.

mod clocks;
mod device;
mod pending;
mod waiting;

use self::clocks::Clocks;
pub use self::device::CREATION;
use self::device::{Device, EPOCH_CYCLES};
use self::pending::PendingReads;
use self::waiting::WaitingRequests;
use super::{DramConfig, Geometry};
use crate::calendar::{Calendar, Claim};
use crate::spec::{Dramsim3Spec, Interval, SpecError};
use crate::statistics::DramStatistics;
use std::collections::{HashMap, VecDeque};
use traces::SinkError;

/// Cycles in which DRAMSim3 must have done something with what it was given.
const PATIENCE_CYCLES: u64 = 100_000_000;

/// A read inside DRAMSim3.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    read: u64,
    /// DRAM cycle in which it reached the controller, by the device's clock.
    submitted: u64,
    /// What to subtract from the device's clock to have the core's time.
    ahead: i64,
    /// Another read of the same bytes was under way, so that both share a burst.
    shares_burst: bool,
}

/// DRAMSim3 and what stands between it and the caches.
#[derive(Debug)]
pub(crate) struct DramMemory {
    device: Device,
    geometry: Geometry,
    clocks: Clocks,
    line_bytes: u64,
    path_latency: u64,
    write_backs: bool,
    /// The device's clock less the core's time in DRAM cycles.
    ahead: i64,
    /// The core's clock must be set anew: it stood still for an unknown time.
    paused: bool,
    /// Core cycle before which nothing can be asked for.
    now: u64,
    waiting: WaitingRequests,
    /// Reads inside the device, by address in the order of their arrival.
    in_flight: HashMap<u64, VecDeque<InFlight>>,
    pending: PendingReads,
    /// Bursts on the data bus of each channel, by the core's time.
    buses: Vec<Calendar>,
    /// Device cycle of the latest arrival or end.
    last_active: u64,
    /// Reads that ended in the latest cycle.
    ended: Vec<u64>,
    /// Lines that have become known.
    learned: u64,
    /// The last core cycle by which it was found that no other line comes.
    reached: u64,
    counts: DramStatistics,
}

impl DramMemory {
    /// An idle memory behind caches that ask for `line_bytes` at a time. The specification has been validated.
    pub(super) fn new(
        spec: &Dramsim3Spec,
        clock_hz: u64,
        line_bytes: u64,
    ) -> Result<Self, SpecError> {
        let refuse = |message| SpecError {
            path: "memory.config".to_owned(),
            message,
        };
        let (config, geometry) =
            DramConfig::parse(&spec.config.path, &spec.config.text).map_err(refuse)?;
        let device = Device::new(&config.rendered(EPOCH_CYCLES)).map_err(|error| {
            refuse(format!(
                "DRAMSim3 needs a folder for temporary files: {error}"
            ))
        })?;
        Ok(Self {
            device,
            geometry,
            clocks: Clocks::new(clock_hz, geometry.cycle_attoseconds),
            line_bytes,
            path_latency: u64::from(spec.path_latency_cycles),
            write_backs: spec.write_backs,
            ahead: 0,
            paused: false,
            now: 0,
            waiting: WaitingRequests::new(geometry.channels()),
            in_flight: HashMap::new(),
            pending: PendingReads::default(),
            buses: vec![
                Calendar::new(Interval::of_cycles(geometry.burst_cycles));
                geometry.channels()
            ],
            last_active: 0,
            ended: Vec::new(),
            learned: 0,
            reached: 0,
            counts: DramStatistics::default(),
        })
    }

    /// What is asked for from now on is for this core.
    pub(super) fn set_core(&mut self, core: usize) {
        self.waiting.set_core(core);
    }

    /// Reads the line at `address` and gives its pending time.
    pub(super) fn read(&mut self, address: u64, time: u64, now: u64) -> u64 {
        let due = self.arrive(time, now);
        self.go_back(due);
        self.counts.reads += 1;
        let parts = self.parts(address);
        let read = self.pending.start(parts.clone().count() as u32, time);
        for address in parts {
            self.enqueue((due, time), address, Some(read));
        }
        PendingReads::time(read)
    }

    /// Somebody wants the line of a read, by its pending time, in an earlier cycle than it was asked for. If it has not reached its
    /// controller, it is asked for then.
    pub(super) fn ask_before(&mut self, pending: u64, time: u64) -> bool {
        let Some((read, parts)) = self.pending.under_way(pending) else {
            return false;
        };
        let due = self.clocks.to_dram(time);
        if !self.waiting.bring_forward(read, parts, (due, time)) {
            return false;
        }
        self.go_back(due);
        self.pending.ask_before(read, time);
        true
    }

    /// Writes the line at `address`, and gives the cycle in which its last part has its place on the data bus.
    pub(super) fn write(&mut self, address: u64, time: u64, now: u64) -> u64 {
        if !self.write_backs {
            return time;
        }
        let due = self.arrive(time, now).max(self.time());
        self.counts.writes += 1;
        let mut sent = time;
        for address in self.parts(address) {
            // When the controller really writes is its own affair: what counts is that nobody else has the bus for so long.
            sent = sent.max(self.clocks.to_core(self.reserve(address, due)));
            self.enqueue((due, time), address, None);
        }
        sent
    }

    /// Cycles outside the DRAM.
    pub(super) fn path_latency(&self) -> u64 {
        self.path_latency
    }

    /// When a read ended, if that is known.
    pub(super) fn known(&self, time: u64) -> Option<u64> {
        self.pending.known(time)
    }

    /// The later of two times, pending or not.
    pub(super) fn later(&mut self, times: [u64; 2]) -> u64 {
        self.pending.later(times)
    }

    /// Keeps when a read that is under way ends, for whoever asks when the run has ended.
    pub(super) fn keep(&mut self, time: u64) {
        self.pending.keep(time);
    }

    /// Simulates until a read has ended.
    pub(super) fn wait(&mut self, time: u64) -> u64 {
        let start = self.device.clock();
        loop {
            if let Some(complete) = self.known(time) {
                return complete;
            }
            self.tick();
            self.check_progress(start);
        }
    }

    /// Simulates until another read has ended, but not beyond core cycle `limit`.
    pub(super) fn advance(&mut self, limit: u64) -> bool {
        // A read that ends in a DRAM cycle is there so much later. Behind that cycle somebody may still ask.
        if let Some(ended) = limit.checked_sub(self.path_latency) {
            let last = self.clocks.begun_by(ended);
            while self.time() <= last && !self.is_idle() {
                if self.tick() {
                    return true;
                }
            }
        }
        self.reached = self.reached.max(limit);
        false
    }

    /// Lines that have become known so far.
    pub(super) fn learned(&self) -> u64 {
        self.learned
    }

    /// Whether it was simulated so far that no line comes by core cycle `cycle` that is not known.
    pub(super) fn has_reached(&self, cycle: u64) -> bool {
        cycle <= self.reached
    }

    /// Simulates until everything asked for has ended.
    pub(super) fn drain(&mut self) {
        let start = self.device.clock();
        while !self.is_idle() {
            self.tick();
            self.check_progress(start);
        }
    }

    /// A pause, by whose end everything is done. Rows stay as they are.
    pub(super) fn pause(&mut self) {
        self.drain();
        self.paused = true;
    }

    /// Whether the device goes on.
    ///
    /// # Errors
    /// As for [`Device::check`].
    pub(super) fn check(&self) -> Result<(), SinkError> {
        self.device.check()
    }

    /// The counts of the run. Everything has ended.
    ///
    /// # Panics
    /// If the last report is lost, or an earlier one that nobody was told of.
    pub(super) fn statistics(&mut self) -> DramStatistics {
        self.device.run_to_report();
        if let Err(lost) = self.check() {
            panic!("{lost}");
        }
        self.counts()
    }

    /// The counts so far, without disturbing what is under way: commands up to the latest report.
    pub(super) fn counts(&self) -> DramStatistics {
        let commands = self.device.commands();
        DramStatistics {
            read_commands: commands.reads,
            write_commands: commands.writes,
            read_row_hits: commands.read_row_hits,
            write_row_hits: commands.write_row_hits,
            activates: commands.activates,
            refreshes: commands.refreshes + commands.bank_refreshes,
            ..self.counts
        }
    }

    /// The DRAM cycle of a request at core cycle `time`.
    fn arrive(&mut self, time: u64, now: u64) -> u64 {
        self.now = self.now.max(now);
        self.pending.forget(self.now);
        let due = self.clocks.to_dram(time);
        if self.paused {
            self.paused = false;
            self.ahead = self.device.clock() as i64 - due as i64;
            self.buses.iter_mut().for_each(Calendar::clear);
        }
        due
    }

    /// A read is due in a DRAM cycle that may have passed.
    fn go_back(&mut self, due: u64) {
        let late = self.time().saturating_sub(due);
        if late > 0 {
            // The device cannot go back: its clock counts from here on as the time of the request.
            self.ahead += late as i64;
            self.counts.late_reads += 1;
            self.counts.late_dram_cycles += late;
        }
    }

    /// The core's time, in DRAM cycles, at which the device's next cycle begins.
    fn time(&self) -> u64 {
        (self.device.clock() as i64 - self.ahead) as u64
    }

    /// The requests that a line takes: it may be longer than one, or a part of one.
    fn parts(&self, address: u64) -> impl Iterator<Item = u64> + Clone + use<> {
        let size = self.geometry.request_bytes;
        let first = address & !(size - 1);
        let count = (self.line_bytes / size).max(1);
        (0..count).map(move |part| first.wrapping_add(part * size))
    }

    fn enqueue(&mut self, due: (u64, u64), address: u64, read: Option<u64>) {
        let channel = self.geometry.channel(address);
        self.waiting.push(channel, due, address, read);
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    /// Simulates a DRAM cycle. Whether a line became known.
    fn tick(&mut self) -> bool {
        self.skip_idle_time();
        self.submit_due();
        let mut ended = std::mem::take(&mut self.ended);
        let cycle = self.device.clock();
        self.device.tick(&mut ended);
        let mut any = false;
        for address in ended.drain(..) {
            any |= self.end(address, cycle);
        }
        self.ended = ended;
        any
    }

    /// Hands over the requests whose time has come, as far as the controllers have room.
    fn submit_due(&mut self) {
        let (time, submitted) = (self.time(), self.device.clock());
        self.waiting.hand_over(time, |request| {
            if !self.device.submit(request.address, request.is_write()) {
                return false;
            }
            self.last_active = submitted;
            if let Some(read) = request.read {
                let same = self.in_flight.entry(request.address).or_default();
                same.push_back(InFlight {
                    read,
                    submitted,
                    ahead: self.ahead,
                    shares_burst: !same.is_empty(),
                });
            }
            true
        });
    }

    /// The oldest read of `address` ended in device cycle `cycle`. Whether its line is complete.
    fn end(&mut self, address: u64, cycle: u64) -> bool {
        let same = self
            .in_flight
            .get_mut(&address)
            .expect("only what is in flight ends");
        let read = same
            .pop_front()
            .expect("a list is removed with its last read");
        if same.is_empty() {
            self.in_flight.remove(&address);
        }
        self.last_active = cycle;
        let mut done = (cycle as i64 - read.ahead) as u64;
        let burst = self.geometry.burst_cycles;
        // A read that meets a write of the same bytes in the controller is served there.
        let moved = cycle - read.submitted > burst;
        if moved && !read.shares_burst {
            // In the device's time bursts never overlap, but late requests see it at other times.
            done = self.reserve(address, done.saturating_sub(burst)) + burst;
        }
        let complete = self.clocks.to_core(done) + self.path_latency;
        let took = self.pending.end_part(read.read, complete);
        self.counts.read_latency_cycles += took.unwrap_or(0);
        self.learned += u64::from(took.is_some());
        took.is_some()
    }

    /// Takes the first burst on the bus of a channel that is free from a DRAM cycle on, and gives when it begins.
    fn reserve(&mut self, address: u64, from: u64) -> u64 {
        // The device may be behind the cores: whoever ends later ends after its clock, and so does whoever is asked for from now on.
        let past = self.time().min(self.clocks.to_dram(self.now));
        let earliest = past.saturating_sub(self.geometry.burst_cycles + 1);
        self.buses[self.geometry.channel(address)].reserve(Claim::ahead(from, earliest))
    }

    /// When nothing is under way, refresh is all that happens, and it repeats: leaves out whole periods of it.
    fn skip_idle_time(&mut self) {
        let settled = self.last_active + self.geometry.settle_cycles;
        if !self.geometry.idle_repeats
            || self.device.clock() < settled
            || !self.in_flight.is_empty()
        {
            return;
        }
        if let Some(next) = self.waiting.earliest() {
            let period = self.geometry.refresh_period_cycles;
            let whole = next.saturating_sub(self.time()) / period * period;
            self.ahead -= whole as i64;
        }
    }

    fn check_progress(&self, start: u64) {
        let waited = self.device.clock() - start;
        assert!(
            waited < PATIENCE_CYCLES,
            "DRAMSim3 did not serve a request in {waited} cycles"
        );
    }
}

#[cfg(test)]
mod tests;
