//! Which cores may hold a line in caches of their own, and who may write it.

use crate::spec::{CoherenceProtocol, CoherenceSpec};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// Bits of a line that are told apart when it is asked who wrote what: bytes, in lines of up to as many.
const PARTS: u64 = u64::BITS as u64;

/// Some of a machine's cores, of which there are 256 at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cores([u64; 4]);

impl Cores {
    pub(crate) fn only(core: usize) -> Self {
        let mut cores = Self::default();
        cores.insert(core);
        cores
    }

    pub(crate) fn insert(&mut self, core: usize) {
        self.0[core / 64] |= 1 << (core % 64);
    }

    pub(crate) fn without(mut self, core: usize) -> Self {
        self.0[core / 64] &= !(1 << (core % 64));
        self
    }

    pub(crate) fn contains(self, core: usize) -> bool {
        self.0[core / 64] >> (core % 64) & 1 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let words = self.0.into_iter().enumerate();
        words.flat_map(|(word, bits)| {
            (0..64)
                .skip(bits.trailing_zeros() as usize)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| word * 64 + bit)
        })
    }
}

/// A core that lost a line to a store of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    core: usize,
    /// The cycle in which that was asked for: before it, the core still had the line.
    pub(crate) at: u64,
    /// Whether no other core held it.
    pub(crate) was_alone: bool,
    /// What has been written since.
    pub(crate) written: u64,
}

/// Transfers of a line that are remembered.
const TRANSFERS: usize = 16;

/// When a line is transferred: by one core at a time. Requests come in the order of the program, so that there may be time for one before others.
#[derive(Clone, Debug, Default)]
struct Transfers {
    /// In the order of time.
    busy: VecDeque<Range<u64>>,
    /// Before this cycle it is forgotten.
    from: u64,
}

impl Transfers {
    /// Begins a transfer of so many cycles as soon as there is time for it, from cycle `time` on, and gives the end.
    fn add(&mut self, time: u64, cycles: u64) -> u64 {
        let mut start = time.max(self.from);
        let mut place = self.busy.partition_point(|busy| busy.end <= start);
        while let Some(busy) = self
            .busy
            .get(place)
            .filter(|busy| busy.start < start + cycles)
        {
            start = busy.end;
            place += 1;
        }
        self.busy.insert(place, start..start + cycles);
        if self.busy.len() > TRANSFERS {
            self.from = self.busy.pop_front().map_or(0, |busy| busy.end);
        }
        start + cycles
    }
}

/// What is known of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    /// Cores that may hold it. That it has left a core's caches is not told.
    pub(crate) holders: Cores,
    /// Who wrote it last and has to give it to others; if no other core may hold it, that core may write it without asking.
    pub(crate) owner: Option<usize>,
    /// When it is transferred.
    transfers: Transfers,
    lost: Vec<Lost>,
}

impl Sharing {
    /// A line that one core alone holds.
    pub(crate) fn of(core: usize) -> Self {
        Self {
            holders: Cores::only(core),
            owner: Some(core),
            ..Self::default()
        }
    }

    /// The core that may write the line without asking, if there is one.
    pub(crate) fn exclusive_to(&self) -> Option<usize> {
        self.owner
            .filter(|&owner| self.holders == Cores::only(owner))
    }

    /// The core alone holds the line from now on.
    pub(crate) fn give_to(&mut self, core: usize) {
        self.holders = Cores::only(core);
        self.owner = Some(core);
    }

    /// Transfers the line, or the right to write it, within `cycles` to a core that asks in cycle `time`, and gives when it has it.
    pub(crate) fn transfer(&mut self, time: u64, cycles: u64) -> u64 {
        self.transfers.add(time, cycles)
    }

    /// When the core lost the line to another's store, and what was written since; nothing if it did not.
    pub(crate) fn lost(&self, core: usize) -> Option<Lost> {
        self.lost.iter().copied().find(|lost| lost.core == core)
    }

    /// A core gets the line: what was written while it lacked it is new to it no more.
    pub(crate) fn regain(&mut self, core: usize) {
        self.lost.retain(|lost| lost.core != core);
    }

    /// A core writes parts of the line, which is new to others.
    pub(crate) fn write(&mut self, core: usize, parts: u64) {
        let others = self.lost.iter_mut().filter(|lost| lost.core != core);
        others.for_each(|lost| lost.written |= parts);
    }
}

/// What a directory of all lines that cores hold knows.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) protocol: CoherenceProtocol,
    /// Cycles in which a line, or the right to write it, comes from another core.
    pub(crate) transfer: u64,
    lines: FxHashMap<u64, Sharing>,
    /// When it has so many lines, those that nobody holds are forgotten.
    most: usize,
    /// Lines that others' stores took, by core.
    pub(crate) invalidations: Box<[u64]>,
}

impl Directory {
    /// Bytes of the host's memory for a line, in a table that may be half empty. Lines that go from core to core, which are few, take some
    /// hundred more.
    const LINE_BYTES: u64 = 2 * size_of::<(u64, Sharing)>() as u64;

    /// An empty one, for so many cores whose own caches have `lines` lines together.
    pub(crate) fn new(spec: &CoherenceSpec, cores: usize, lines: usize) -> Self {
        Self {
            protocol: spec.protocol,
            transfer: u64::from(spec.transfer_cycles),
            lines: FxHashMap::default(),
            most: Self::most(lines),
            invalidations: vec![0; cores].into(),
        }
    }

    /// Lines that it knows at most: those that are held, and as many that are not, as what it takes to forget them is shared by as many that
    /// come.
    const fn most(lines: usize) -> usize {
        2 * lines
    }

    /// Bytes of the host's memory that it takes when it is full, for cores whose own caches have `lines` lines together.
    pub(crate) fn full_bytes(lines: usize) -> u64 {
        Self::LINE_BYTES.saturating_mul(Self::most(lines) as u64)
    }

    /// What is known of a line.
    pub(crate) fn get(&self, line: u64) -> Option<&Sharing> {
        self.lines.get(&line)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, line: u64) -> Option<&mut Sharing> {
        self.lines.get_mut(&line)
    }

    /// Notes what is known of a line that was not known. `is_held` says which lines some core holds of those that it may.
    pub(crate) fn insert(
        &mut self,
        line: u64,
        sharing: Sharing,
        is_held: impl Fn(u64, Cores) -> bool,
    ) {
        if self.lines.len() >= self.most {
            self.lines
                .retain(|&line, sharing| is_held(line, sharing.holders));
        }
        self.lines.insert(line, sharing);
    }

    /// Gives a line to a core alone, and says which others may have held it.
    pub(crate) fn give_to(&mut self, line: u64, core: usize) -> Cores {
        let Some(sharing) = self.lines.get_mut(&line) else {
            return Cores::default();
        };
        let others = sharing.holders.without(core);
        sharing.give_to(core);
        others
    }

    /// A store takes a line from a core, for which it asked in cycle `at`.
    pub(crate) fn lose(&mut self, line: u64, core: usize, at: u64, was_alone: bool) {
        self.invalidations[core] += 1;
        if let Some(sharing) = self.lines.get_mut(&line) {
            sharing.lost.push(Lost {
                core,
                at,
                was_alone,
                written: 0,
            });
        }
    }

    /// The core's caches are emptied: it has nothing that others have taken from it.
    pub(crate) fn forget(&mut self, core: usize) {
        let lines = self.lines.values_mut();
        lines.for_each(|sharing| sharing.regain(core));
    }

    /// No core holds the line any more.
    pub(crate) fn remove(&mut self, line: u64) {
        self.lines.remove(&line);
    }

    /// Lines that are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

/// The parts of its line that bytes from `offset` on are, of a line of so many bytes.
pub(crate) fn parts(offset: u64, size: u64, line_bytes: u64) -> u64 {
    let bytes = line_bytes.div_ceil(PARTS);
    let first = offset / bytes;
    let last = (offset + size.max(1) - 1).min(line_bytes - 1) / bytes;
    (u64::MAX >> (PARTS - 1 - (last - first))) << first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn cores_are_a_set(cores in prop::collection::vec(0_usize..256, 0..20), gone in 0_usize..256) {
            let mut set = Cores::default();
            cores.iter().for_each(|&core| set.insert(core));
            let mut plain: BTreeSet<usize> = cores.into_iter().collect();
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), plain.clone());
            prop_assert_eq!(set.is_empty(), plain.is_empty());
            prop_assert_eq!(set.contains(gone), plain.contains(&gone));
            plain.remove(&gone);
            prop_assert_eq!(set.without(gone).iter().collect::<BTreeSet<_>>(), plain);
        }

        #[test]
        fn parts_meet_where_bytes_do(one in (0_u64..64, 1_u64..9), other in (0_u64..64, 1_u64..9)) {
            let bytes = |(start, size): (u64, u64)| start..(start + size).min(64);
            let (first, second) = (bytes(one), bytes(other));
            let meet = first.start < second.end && second.start < first.end;
            prop_assert_eq!(parts(one.0, one.1, 64) & parts(other.0, other.1, 64) != 0, meet);
        }
    }

    #[test]
    fn parts_of_long_lines_are_longer() {
        assert_eq!(parts(0, 1, 256), 1);
        assert_eq!(parts(3, 2, 256), 3);
        assert_eq!(parts(0, 1000, 256), u64::MAX);
        assert_eq!(parts(16, 16, 32), 0xFFFF_0000);
    }

    #[test]
    fn what_was_written_since_a_line_was_lost() {
        let mut sharing = Sharing::of(1);
        sharing.lost.push(Lost {
            core: 0,
            at: 100,
            was_alone: true,
            written: 0,
        });
        assert!(sharing.lost(0).is_some_and(|lost| lost.at == 100));
        assert_eq!(sharing.lost(0).map(|lost| lost.written), Some(0));
        sharing.write(1, 2);
        sharing.write(1, 4);
        sharing.write(0, 8);
        assert_eq!(sharing.lost(0).map(|lost| lost.written), Some(6));
        assert_eq!(sharing.lost(1).map(|lost| lost.written), None);
        sharing.regain(0);
        assert_eq!(sharing.lost(0).map(|lost| lost.written), None);
    }

    #[test]
    fn transfers_follow_each_other_and_fill_the_gaps_between() {
        let mut sharing = Sharing::of(0);
        let mut transfer = |time| sharing.transfer(time, 80);
        assert_eq!(transfer(1000), 1080);
        assert_eq!(transfer(1010), 1160);
        assert_eq!(transfer(500), 580);
        // Until 1000 there is time for one that begins by 920, and not later.
        assert_eq!((transfer(921), transfer(900)), (1240, 980));
        assert_eq!(transfer(560), 660);
    }

    #[test]
    fn what_is_forgotten_of_transfers_is_early() {
        let mut sharing = Sharing::of(0);
        let ends = (0..100).map(|number| sharing.transfer(number * 10, 80));
        assert_eq!(ends.last(), Some(100 * 80));
        assert_eq!(sharing.transfer(0, 80), 101 * 80);
    }

    #[test]
    fn lines_that_nobody_holds_are_forgotten() {
        let spec = CoherenceSpec {
            protocol: CoherenceProtocol::Mesi,
            transfer_cycles: 1,
        };
        let mut directory = Directory::new(&spec, 2, 8);
        for line in 0..1000 {
            directory.insert(line, Sharing::of(0), |held, cores| {
                held % 100 == 0 && cores.contains(0)
            });
            assert!(directory.len() <= 17);
        }
        assert!((0..10).all(|line| directory.get(line * 100).is_some()));
    }
}
