//! Several memories, each with a bus of its own: a line comes from the one that holds its data structure.

use super::fixed::Writes;
use super::{FixedMemory, Memory};
use crate::segments::matches;
use crate::spec::{MachineSpec, MemorySpec, NamedMemory, SpecError};
use traces::Layout;

/// Addresses that do not lie in the first memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    bytes: u64,
    /// Number of the memory.
    memory: usize,
}

/// The first memory, those beside it, and what lies in them.
#[derive(Debug)]
pub(crate) struct SeveralMemories {
    pub(super) first: Memory,
    /// The second one, and so on.
    pub(super) others: Vec<FixedMemory>,
    /// In the order of their first addresses.
    ranges: Vec<Range>,
    /// Bits of an address that say which line of the last cache it is in.
    line: u64,
}

impl SeveralMemories {
    /// Idle memories, the first given; nothing lies in the others yet. The specification has been validated.
    pub(super) fn new(spec: &MachineSpec, first: Memory) -> Self {
        let others = spec.memory.named().iter().skip(1);
        let others = others.filter_map(|memory| match &memory.times {
            MemorySpec::Fixed {
                latency_cycles,
                interval_cycles,
                write_backs_use_bus,
                write_interval_cycles,
            } => Some(FixedMemory::new(
                *latency_cycles,
                *interval_cycles,
                Writes::of(*write_backs_use_bus, *write_interval_cycles),
            )),
            MemorySpec::Dramsim3(_) => None,
        });
        let line_bytes = spec.caches.last().map_or(1, |cache| cache.line_bytes);
        Self {
            first,
            others: others.collect(),
            ranges: Vec::new(),
            line: !(line_bytes - 1),
        }
    }

    /// Lays data structures where the machine says. Programs have a layout, and lie so far from where its addresses say.
    ///
    /// # Errors
    /// A memory holds nothing, or what no program has.
    pub(super) fn place(
        &mut self,
        named: &[NamedMemory],
        programs: &[(u64, &Layout)],
    ) -> Result<(), SpecError> {
        for (number, memory) in named.iter().enumerate().skip(1) {
            check(number, named, programs)?;
            for &(displacement, layout) in programs {
                let segments = layout.segments.iter();
                let held = segments.filter(|segment| holds(memory, &segment.name));
                self.ranges.extend(held.map(|segment| Range {
                    first: segment.base.wrapping_add(displacement),
                    bytes: segment.size_bytes,
                    memory: number,
                }));
            }
        }
        self.ranges.sort_unstable_by_key(|range| range.first);
        // Threads of one program name its structures each.
        self.ranges.dedup();
        Ok(())
    }

    /// Number of the memory that the line at `address` lies in: that of its first byte.
    pub(super) fn memory_of(&self, address: u64) -> usize {
        let line = address & self.line;
        let behind = self.ranges.partition_point(|range| range.first <= line);
        // The last range may go on at address 0.
        let range = self.ranges.get(behind.wrapping_sub(1));
        match range.or(self.ranges.last()) {
            Some(range) if line.wrapping_sub(range.first) < range.bytes => range.memory,
            _ => 0,
        }
    }

    /// The memory beside the first that the line at `address` lies in, or nothing.
    pub(super) fn other(&mut self, address: u64) -> Option<&mut FixedMemory> {
        let number = self.memory_of(address).checked_sub(1)?;
        Some(&mut self.others[number])
    }

    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.others.iter_mut().for_each(FixedMemory::clear);
    }
}

/// Whether a memory is the one for a segment of this name.
fn holds(memory: &NamedMemory, segment: &str) -> bool {
    memory.holds.iter().any(|pattern| matches(pattern, segment))
}

/// Checks that a memory holds something, nothing that no program has, and nothing that lies in one before it.
fn check(
    number: usize,
    named: &[NamedMemory],
    programs: &[(u64, &Layout)],
) -> Result<(), SpecError> {
    let memory = &named[number];
    let segments = programs.iter().flat_map(|(_, layout)| &layout.segments);
    let mut known: Vec<&str> = segments.map(|segment| segment.name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    let has = match &known[..] {
        [] => "names none".to_owned(),
        known => format!("has {}", known.join(", ")),
    };
    let error = |problem: String| SpecError {
        path: format!("memory.{number}.holds"),
        message: format!("{problem}; what runs here {has}"),
    };
    if memory.holds.is_empty() {
        return Err(error(format!(
            "nothing lies in memory `{}`, so that it has no effect",
            memory.name
        )));
    }
    let unknown = |pattern: &&String| !known.iter().any(|name| matches(pattern, name));
    if let Some(pattern) = memory.holds.iter().find(unknown) {
        return Err(error(format!("there is no data structure `{pattern}`")));
    }
    for before in &named[1..number] {
        let twice = known
            .iter()
            .find(|name| holds(memory, name) && holds(before, name));
        if let Some(name) = twice {
            let problem = format!(
                "`{name}` lies in memory `{}`, too; it has one place",
                before.name
            );
            return Err(error(problem));
        }
    }
    Ok(())
}
