//! Byte usage: how much of the lines that each place in the kernel fetches is ever used.
//!
//! One cache of the last level's geometry, under LRU, sees every access. A line counts for the site whose access fetched
//! it; the bytes of it that any access touches before it leaves count as used. Code has no bytes of data. Lines that a
//! warm-up fetched count for nobody.

use crate::ledger::phase_name;
use crate::spec::{MachineSpec, SpecError};
use serde::Serialize;
use std::collections::BTreeMap;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Bytes that one word of a line's marks stands for.
const MARKED: u64 = u64::BITS as u64;

/// What one site fetched in one phase, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    /// Phase in which the lines were fetched.
    pub phase: String,
    /// The place in the kernel that fetched them.
    pub site: String,
    /// Lines fetched, software prefetches included.
    pub lines: u64,
    /// Bytes of them.
    pub fetched_bytes: u64,
    /// Those touched while the line was in the cache.
    pub used_bytes: u64,
}

/// The results of an observation. Rows are in the order of phases, then of sites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsageStatistics {
    /// Name of the cache whose geometry was taken.
    pub cache: String,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Sites that fetched something.
    pub rows: Vec<UsageRow>,
}

/// Lines that one site fetched in one phase, and bytes of them that were used.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    lines: u64,
    used_bytes: u64,
}

/// Who fetched a line: phase, then site.
type Fetcher = (usize, u16);

/// A line in the cache.
#[derive(Clone, Debug)]
struct Held {
    line: u64,
    /// Nothing if it was before the measurement.
    fetcher: Option<Fetcher>,
    /// One bit for each byte that was touched.
    marks: Box<[u64]>,
}

/// An observation in progress. Feed it events, then [`ByteUsage::finish`].
#[derive(Clone, Debug)]
pub struct ByteUsage {
    layout: Layout,
    cache: String,
    line_bytes: u64,
    ways: usize,
    /// The lines of each set, the most recently used last.
    sets: Vec<Vec<Held>>,
    phase: usize,
    usage: BTreeMap<Fetcher, Usage>,
    /// Whether pages that arrive overwrite the frames that they come into.
    overwrites: bool,
}

impl ByteUsage {
    /// An empty cache of the geometry of the machine's last level.
    ///
    /// # Errors
    /// The machine cannot exist.
    pub fn new(spec: &MachineSpec, layout: &Layout) -> Result<Self, SpecError> {
        spec.validate()?;
        let last = &spec.caches[spec.caches.len() - 1];
        Ok(Self {
            layout: layout.clone(),
            cache: last.name.clone(),
            line_bytes: last.line_bytes,
            ways: last.ways as usize,
            sets: vec![Vec::new(); last.sets() as usize],
            phase: 0,
            usage: BTreeMap::new(),
            overwrites: false,
        })
    }

    /// The same with pages from storage, which overwrite the frames that they come into.
    #[must_use]
    pub fn with_arrivals(mut self) -> Self {
        self.overwrites = true;
        self
    }

    /// Marks the bytes of a load or store, or fetches for a prefetch, which uses none.
    fn access(&mut self, event: &Event, bytes: u64) {
        let last = event.address.saturating_add(bytes.max(1) - 1);
        for line in event.address / self.line_bytes..=last / self.line_bytes {
            let start = line * self.line_bytes;
            let from = event.address.max(start) - start;
            let to = (last - start).min(self.line_bytes - 1);
            let held = self.look_up(line, event.site);
            if bytes > 0 {
                for byte in from..=to {
                    held.marks[(byte / MARKED) as usize] |= 1 << (byte % MARKED);
                }
            }
        }
    }

    /// The line, fetched if it is not there, as the most recently used.
    fn look_up(&mut self, line: u64, site: u16) -> &mut Held {
        let number = (line % self.sets.len() as u64) as usize;
        let set = &mut self.sets[number];
        let held = match set.iter().position(|held| held.line == line) {
            Some(way) => set.remove(way),
            None => {
                if set.len() == self.ways {
                    settle(&mut self.usage, set.remove(0));
                }
                Held {
                    line,
                    fetcher: Some((self.phase, site)),
                    marks: vec![0; self.line_bytes.div_ceil(MARKED) as usize].into(),
                }
            }
        };
        set.push(held);
        let newest = set.len() - 1;
        &mut set[newest]
    }

    /// A page has come into a frame of so many bytes.
    fn arrive(&mut self, address: u64, bytes: u64) {
        if self.overwrites && bytes > 0 {
            self.take_out(address, bytes);
        }
    }

    /// Takes out the lines of so many bytes, at least one.
    fn take_out(&mut self, address: u64, bytes: u64) {
        let last = address.saturating_add(bytes - 1);
        for line in address / self.line_bytes..=last / self.line_bytes {
            let number = (line % self.sets.len() as u64) as usize;
            let set = &mut self.sets[number];
            if let Some(way) = set.iter().position(|held| held.line == line) {
                settle(&mut self.usage, set.remove(way));
            }
        }
    }

    /// Empties the cache.
    fn clear(&mut self) {
        for held in self.sets.iter_mut().flat_map(|set| set.drain(..)) {
            settle(&mut self.usage, held);
        }
    }

    /// Counts from here on.
    fn measure(&mut self) {
        self.usage.clear();
        for held in self.sets.iter_mut().flatten() {
            held.fetcher = None;
        }
    }

    /// The results, the lines still in the cache included.
    #[must_use]
    pub fn finish(mut self) -> UsageStatistics {
        self.clear();
        let rows = self.usage.iter().map(|(&(phase, site), usage)| UsageRow {
            phase: phase_name(&self.layout, phase),
            site: site_name(&self.layout, site),
            lines: usage.lines,
            fetched_bytes: usage.lines * self.line_bytes,
            used_bytes: usage.used_bytes,
        });
        UsageStatistics {
            rows: rows.collect(),
            cache: self.cache,
            line_bytes: self.line_bytes,
        }
    }
}

/// A line left.
fn settle(usage: &mut BTreeMap<Fetcher, Usage>, held: Held) {
    let Some(fetcher) = held.fetcher else {
        return;
    };
    let usage = usage.entry(fetcher).or_default();
    usage.lines += 1;
    let used: u32 = held.marks.iter().map(|marks| marks.count_ones()).sum();
    usage.used_bytes += u64::from(used);
}

fn site_name(layout: &Layout, site: u16) -> String {
    let named = layout.sites.get(usize::from(site));
    named.map_or_else(|| format!("site {site}"), Clone::clone)
}

impl EventSink for ByteUsage {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            match event.kind {
                Kind::Load | Kind::Store | Kind::Exchange => {
                    self.access(event, u64::from(event.size).max(1));
                }
                Kind::Prefetch | Kind::PrefetchNta => self.access(event, 0),
                Kind::StoreNta => self.take_out(event.address, u64::from(event.size).max(1)),
                Kind::Mark => self.phase = event.address as usize,
                Kind::Flush => self.clear(),
                Kind::PageArrival if event.comes_for_another() => {}
                Kind::PageArrival => self.arrive(event.address, event.size.into()),
                Kind::Measure => self.measure(),
                _ => {}
            }
        }
        Ok(())
    }
}
