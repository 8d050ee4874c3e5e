//! Which cores may hold a line in caches of their own, and who may write it.

use crate::line::Line;
use crate::spec::{CoherenceProtocol, CoherenceSpec};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
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
    pub(crate) core: usize,
    /// The cycle in which that was asked for, and by whom: before it, the core still had the line.
    pub(crate) at: u64,
    pub(crate) by: usize,
    /// Whether no other core held it.
    pub(crate) was_alone: bool,
    /// What it had in the first of its caches that held the line, and the place of that among all: it may have been on its way.
    pub(crate) held: Line,
    pub(crate) place: usize,
    /// What has been written since.
    pub(crate) written: u64,
}

impl Lost {
    /// Whether a core that comes in a cycle still had the line. Of those that come in one cycle the lower number comes first.
    pub(crate) fn is_behind(&self, time: u64) -> bool {
        (time, self.core) < (self.at, self.by)
    }
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
    /// One that is under way.
    fn of(busy: Range<u64>) -> Self {
        Self {
            busy: [busy].into(),
            from: 0,
        }
    }

    /// Nobody asks before cycle `now` any more: what has ended until then is in nobody's way.
    fn forget_before(&mut self, now: u64) {
        let ended = self.busy.partition_point(|busy| busy.end <= now);
        self.busy.drain(..ended);
    }

    /// The end, if it is one, and nobody asks any more before what is forgotten.
    fn only_end(&self, now: u64) -> Option<u64> {
        let only = self.busy.front().filter(|_| self.busy.len() == 1)?;
        (self.from <= now).then_some(only.end)
    }

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

/// What is known of a line: with the line's number one of the host's lines, as each look-up misses the host's caches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    /// Cores that may hold it. That it has left a core's caches is not told.
    pub(crate) holders: Cores,
    /// Who wrote it last and has to give it to others; if no other core may hold it, that core may write it without asking.
    owner: Option<u8>,
    /// When its latest transfer ends, unless `transfers` are several.
    transferred: u64,
    transfers: Option<Box<Transfers>>,
}

impl Sharing {
    /// A line that one core alone holds.
    pub(crate) fn of(core: usize) -> Self {
        let mut sharing = Self::default();
        sharing.give_to(core);
        sharing
    }

    /// Who wrote the line last and has to give it to others, or alone may hold it.
    pub(crate) fn owner(&self) -> Option<usize> {
        self.owner.map(usize::from)
    }

    /// The core that may write the line without asking, if there is one.
    pub(crate) fn exclusive_to(&self) -> Option<usize> {
        self.owner()
            .filter(|&owner| self.holders == Cores::only(owner))
    }

    /// The core alone holds the line from now on.
    pub(crate) fn give_to(&mut self, core: usize) {
        self.own(Cores::only(core), Some(core));
    }

    /// Some cores hold the line from now on, of which one owns it, or none.
    pub(crate) fn own(&mut self, holders: Cores, owner: Option<usize>) {
        self.holders = holders;
        self.owner =
            owner.map(|owner| u8::try_from(owner).expect("a machine has 256 cores at most"));
    }

    /// Transfers the line, or the right to write it, within `cycles` to a core that asks in cycle `time`, and gives when it has it. Nobody
    /// asks before cycle `now` any more.
    pub(crate) fn transfer(&mut self, time: u64, cycles: u64, now: u64) -> u64 {
        if self.transferred <= now && self.transfers.is_none() {
            self.transferred = time + cycles;
            return self.transferred;
        }
        let under_way = self.transferred - cycles..self.transferred;
        let first = || Box::new(Transfers::of(under_way));
        let transfers = self.transfers.get_or_insert_with(first);
        transfers.forget_before(now);
        let end = transfers.add(time, cycles);
        if let Some(only) = transfers.only_end(now) {
            self.transferred = only;
            self.transfers = None;
        }
        end
    }
}

/// What a directory of all lines that cores hold knows.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) protocol: CoherenceProtocol,
    /// Cycles in which a line, or the right to write it, comes from another core.
    pub(crate) transfer: u64,
    lines: FxHashMap<u64, Sharing>,
    /// Cores that have lost lines to stores of others, by line. Few lines: each miss of a first cache looks here, and finds it in the host's caches.
    lost: FxHashMap<u64, Vec<Lost>>,
    /// The same of cores that have the line again, or are about to, while some may still come for it that came before they lost it.
    before: FxHashMap<u64, Vec<Lost>>,
    /// When it has so many lines, those that nobody holds are forgotten.
    most: usize,
    /// Lines that others' stores took, by core.
    pub(crate) invalidations: Box<[u64]>,
}

impl Directory {
    /// Bytes of the host's memory for a line, in a table that may be half empty. Lines that several cores want at a time, or that some have
    /// lost to a store, which are few, take some hundred more.
    const LINE_BYTES: u64 = 2 * size_of::<(u64, Sharing)>() as u64;

    /// An empty one, for so many cores whose own caches have `lines` lines together.
    pub(crate) fn new(spec: &CoherenceSpec, cores: usize, lines: usize) -> Self {
        Self {
            protocol: spec.protocol,
            transfer: u64::from(spec.transfer_cycles),
            lines: FxHashMap::default(),
            lost: FxHashMap::default(),
            before: FxHashMap::default(),
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
            self.lost.retain(|line, _| self.lines.contains_key(line));
            self.before.retain(|line, _| self.lines.contains_key(line));
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

    /// A store takes a line from a core.
    pub(crate) fn lose(&mut self, line: u64, lost: Lost) {
        self.invalidations[lost.core] += 1;
        self.lost.entry(line).or_default().push(lost);
    }

    /// When a core lost a line to another's store, and what was written since; nothing if it did not.
    pub(crate) fn lost(&self, line: u64, core: usize) -> Option<Lost> {
        let mut lost = self.lost.get(&line)?.iter();
        lost.find(|lost| lost.core == core).copied()
    }

    /// What a core had that comes for a line in cycle `time`, if it has lost that later.
    pub(crate) fn held_before(&self, line: u64, core: usize, time: u64) -> Option<Lost> {
        let before = (!self.before.is_empty()).then(|| self.before.get(&line));
        let all = [self.lost.get(&line), before.flatten()];
        let all = all.into_iter().flatten().flatten();
        all.filter(|lost| lost.core == core && lost.is_behind(time))
            .min_by_key(|lost| lost.at)
            .copied()
    }

    /// A core gets a line: what was written while it lacked it is new to it no more. Nobody comes before cycle `now` any more.
    pub(crate) fn regain(&mut self, line: u64, core: usize, now: u64) {
        if let Entry::Occupied(mut before) = self.before.entry(line) {
            before.get_mut().retain(|lost| lost.at > now);
            if before.get().is_empty() {
                before.remove();
            }
        }
        if let Entry::Occupied(mut lost) = self.lost.entry(line) {
            let regained = lost.get_mut().extract_if(.., |lost| lost.core == core);
            let awaited: Vec<_> = regained.filter(|lost| lost.at > now).collect();
            if lost.get().is_empty() {
                lost.remove();
            }
            if !awaited.is_empty() {
                self.before.entry(line).or_default().extend(awaited);
            }
        }
    }

    /// A core writes parts of a line, which is new to others.
    pub(crate) fn write(&mut self, line: u64, core: usize, parts: u64) {
        let lost = self.lost.get_mut(&line).into_iter().flatten();
        let others = lost.filter(|lost| lost.core != core);
        others.for_each(|lost| lost.written |= parts);
    }

    /// The core's caches are emptied: it has nothing that others have taken from it.
    pub(crate) fn forget(&mut self, core: usize) {
        for all in [&mut self.lost, &mut self.before] {
            all.retain(|_, lost| {
                lost.retain(|lost| lost.core != core);
                !lost.is_empty()
            });
        }
    }

    /// No core holds the line any more.
    pub(crate) fn remove(&mut self, line: u64) {
        self.lines.remove(&line);
        self.lost.remove(&line);
        self.before.remove(&line);
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

    /// For two cores, whose own caches have so many lines.
    fn directory(lines: usize) -> Directory {
        let spec = CoherenceSpec {
            protocol: CoherenceProtocol::Mesi,
            transfer_cycles: 1,
        };
        Directory::new(&spec, 2, lines)
    }

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
        let mut directory = directory(8);
        let lost = Lost {
            core: 0,
            at: 100,
            by: 1,
            was_alone: true,
            held: Line::new(7, 50, 0),
            place: 0,
            written: 0,
        };
        directory.lose(7, lost);
        let written =
            |directory: &Directory, core| directory.lost(7, core).map(|lost| lost.written);
        assert!(directory.lost(7, 0).is_some_and(|lost| lost.at == 100));
        assert_eq!(written(&directory, 0), Some(0));
        directory.write(7, 1, 2);
        directory.write(7, 1, 4);
        directory.write(7, 0, 8);
        directory.write(8, 1, 16);
        assert_eq!(written(&directory, 0), Some(6));
        assert_eq!(written(&directory, 1), None);
        assert!(directory.held_before(7, 0, 100).is_some(), "0 before 1");
        assert!(directory.held_before(7, 0, 101).is_none());
        directory.regain(7, 0, 50);
        assert!(directory.held_before(7, 0, 99).is_some());
        assert_eq!(written(&directory, 0), None);
        assert!(directory.lost.is_empty());
        directory.regain(7, 0, 100);
        assert!(directory.before.is_empty());
    }

    #[test]
    fn transfers_follow_each_other_and_fill_the_gaps_between() {
        let mut sharing = Sharing::of(0);
        let mut transfer = |time| sharing.transfer(time, 80, 0);
        assert_eq!(transfer(1000), 1080);
        assert_eq!(transfer(1010), 1160);
        assert_eq!(transfer(500), 580);
        // Until 1000 there is time for one that begins by 920, and not later.
        assert_eq!((transfer(921), transfer(900)), (1240, 980));
        assert_eq!(transfer(560), 660);
    }

    proptest! {
        /// What ended before anybody asks is forgotten, and makes no difference.
        #[test]
        fn transfers_that_have_ended_are_in_nobodys_way(
            requests in prop::collection::vec((0_u64..200, 0_u64..1000), 1..100),
            cycles in 1_u64..100,
        ) {
            let (mut sharing, mut all, mut now) = (Sharing::of(0), Transfers::default(), 0);
            for (later, ahead) in requests {
                now += later;
                let time = now + ahead;
                prop_assert_eq!(sharing.transfer(time, cycles, now), all.add(time, cycles));
            }
            now += 10_000;
            sharing.transfer(now, cycles, now);
            prop_assert!(sharing.transfers.is_none());
        }
    }

    #[test]
    fn a_line_and_what_is_known_of_it_fill_a_line_of_the_host() {
        assert_eq!(size_of::<(u64, Sharing)>(), 64);
    }

    #[test]
    fn what_is_forgotten_of_transfers_is_early() {
        let mut sharing = Sharing::of(0);
        let ends = (0..100).map(|number| sharing.transfer(number * 10, 80, 0));
        assert_eq!(ends.last(), Some(100 * 80));
        assert_eq!(sharing.transfer(0, 80, 0), 101 * 80);
    }

    #[test]
    fn lines_that_nobody_holds_are_forgotten() {
        let mut directory = directory(8);
        for line in 0..1000 {
            directory.insert(line, Sharing::of(0), |held, cores| {
                held % 100 == 0 && cores.contains(0)
            });
            assert!(directory.len() <= 17);
        }
        assert!((0..10).all(|line| directory.get(line * 100).is_some()));
    }
}
