//! Translations against a list of walks: who waits for what, in any order of times.

use super::*;
use crate::spec::{PrefetchOnTlbMiss, Walker};
use proptest::prelude::*;
use traces::Segment;

fn spec(levels: &[(u32, u32)]) -> TlbSpec {
    TlbSpec {
        page_bytes: 4096,
        huge_page_bytes: None,
        huge_pages: HugePages::None,
        levels: levels
            .iter()
            .map(|&(entries, latency_cycles)| TlbLevelSpec {
                entries,
                ways: None,
                huge_entries: None,
                huge_ways: None,
                latency_cycles,
            })
            .collect(),
        walk_latency_cycles: 30,
        page_table: None,
        walker: Walker::Parallel,
        walkers: None,
        prefetch_on_miss: PrefetchOnTlbMiss::Walk,
    }
}

fn ask(tlb: &mut Tlb, address: u64, time: u64, now: u64, walk: u64) -> u64 {
    if let Some(latency) = tlb.translate_hinted(address) {
        return time + latency;
    }
    tlb.translate(address, time, now).unwrap_or_else(|| {
        let end = time + walk;
        tlb.fill(address, Arrival { start: time, end }, now);
        end
    })
}

proptest! {
    /// A level with room for all pages: each is walked for once, and whoever asks waits for that walk, or for one as long
    /// from when it asks.
    #[test]
    fn every_page_has_one_walk(
        asks in prop::collection::vec((0_u64..6, 0_u64..200, 0_u64..40), 1..200),
        walk in 0_u64..60,
    ) {
        let mut tlb = Tlb::new(&spec(&[(8, 0)]), &Layout::default());
        let mut walks: [Option<(u64, u64)>; 6] = [None; 6];
        let mut now = 0;
        for (page, ahead, passed) in asks {
            now += passed;
            let time = now + ahead;
            let there = ask(&mut tlb, page << 12, time, now, walk);
            let (start, end) = *walks[page as usize].get_or_insert((time, time + walk));
            let expected = if time < start { time + walk } else { time.max(end) };
            prop_assert_eq!(there, expected);
            if time < start {
                walks[page as usize] = Some((time, time + walk));
            }
        }
        prop_assert_eq!(tlb.walks, walks.iter().flatten().count() as u64);
    }

    /// What is held does not depend on time: hits and walks are those of a TLB in which nobody waits.
    #[test]
    fn time_decides_no_hit(
        asks in prop::collection::vec((0_u64..30, 0_u64..200, 0_u64..40), 1..200),
    ) {
        let mut timed = Tlb::new(&spec(&[(4, 0), (12, 7)]), &Layout::default());
        let mut timeless = timed.clone();
        let mut now = 0;
        let translations = asks.len() as u64;
        for (page, ahead, passed) in asks {
            now += passed;
            ask(&mut timed, page << 12, now + ahead, now, 50);
            timeless.touch(page << 12, 1);
        }
        prop_assert_eq!(timed.walks, timeless.walks);
        prop_assert_eq!(timed.hits(translations), timeless.hits(translations));
    }
}

/// Hits of a TLB of one level whose sets are lists in the order of use.
fn hits_of_lists(entries: u64, ways: u64, pages: &[Option<u64>]) -> u64 {
    let sets = (entries / ways) as usize;
    let mut lists = vec![Vec::new(); sets];
    let mut hits = 0;
    for page in pages {
        let Some(page) = page else {
            lists.iter_mut().for_each(Vec::clear);
            continue;
        };
        let list = &mut lists[*page as usize % sets];
        if let Some(place) = list.iter().position(|held| held == page) {
            list.remove(place);
            hits += 1;
        } else if list.len() == ways as usize {
            list.remove(0);
        }
        list.push(*page);
    }
    hits
}

proptest! {
    /// Pages leave in the order of their last uses, with few ways and with many, also if many pages share a hint; `None` empties
    /// the TLB.
    #[test]
    fn the_least_recently_used_leaves(
        geometry in prop::sample::select(vec![(4_u32, 4_u32), (32, 2), (24, 24), (96, 48), (128, 128)]),
        stride in prop::sample::select(vec![1_u64, 8, 16, 1024]),
        drawn in prop::collection::vec((0_u64..200, 0_u64..60, 0_u32..150), 1..1500),
    ) {
        let (entries, ways) = geometry;
        let pages: Vec<Option<u64>> = drawn
            .into_iter()
            .map(|(any, near, kind)| match kind {
                0 => None,
                1..75 => Some(near * stride),
                _ => Some(any * stride),
            })
            .collect();
        let mut spec = spec(&[(entries, 0)]);
        spec.levels[0].ways = Some(ways);
        let mut tlb = Tlb::new(&spec, &Layout::default());
        for page in &pages {
            match page {
                Some(page) => tlb.touch(page << 12, 1),
                None => tlb.clear(),
            }
        }
        let translations = pages.iter().flatten().count() as u64;
        prop_assert_eq!(tlb.hits(translations), vec![hits_of_lists(entries.into(), ways.into(), &pages)]);
    }
}

#[test]
fn a_page_has_to_fit_its_set() {
    let mut spec = spec(&[(6, 0)]);
    let touch = |spec: &TlbSpec, pages: &[u64]| {
        let mut tlb = Tlb::new(spec, &Layout::default());
        pages.iter().for_each(|page| tlb.touch(page << 12, 1));
        tlb.walks
    };
    // Three sets of two: pages 0, 3 and 6 share one.
    assert_eq!(touch(&spec, &[0, 3, 6, 0]), 3);
    spec.levels[0].ways = Some(2);
    assert_eq!(touch(&spec, &[0, 3, 6, 0]), 4);
    assert_eq!(
        touch(&spec, &[0, 3, 0, 6, 0]),
        3,
        "the least recently used goes"
    );
    assert_eq!(touch(&spec, &[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]), 6);
}

fn two_segments() -> Layout {
    let segment = |name: &str, base, size_bytes| Segment {
        name: name.to_owned(),
        base,
        size_bytes,
    };
    Layout {
        segments: vec![
            segment("heap", 0x1000, 0x1000),
            segment("tree 0", 0x20_5000, 0x20_0000),
        ],
        ..Layout::default()
    }
}

#[test]
fn segments_are_huge_with_what_shares_their_pages() {
    let mut spec = spec(&[(4, 0)]);
    spec.huge_page_bytes = Some(2 << 20);
    spec.huge_pages = HugePages::Segments(vec!["tree*".to_owned()]);
    spec.levels[0].huge_entries = Some(1);
    let tlb = Tlb::new(&spec, &two_segments());
    let bits = |address| tlb.page_shift(address);
    // The segment lies in the second and the third page of 2 MiB.
    assert_eq!([0x1000, 0x1f_ffff, 0x60_0000].map(bits), [12; 3]);
    assert_eq!(
        [0x20_0000, 0x20_5000, 0x40_5000, 0x5f_ffff].map(bits),
        [21; 4]
    );
    let touch = |addresses: &[u64]| {
        let mut tlb = tlb.clone();
        addresses.iter().for_each(|&address| tlb.touch(address, 1));
        (tlb.walks, tlb.hits(addresses.len() as u64))
    };
    assert_eq!(touch(&[0x20_0000, 0x3f_ffff, 0x20_7000]), (1, vec![2]));
    // One huge entry, apart from the four of small pages.
    assert_eq!(touch(&[0x20_0000, 0x40_0000, 0x20_0000]).0, 3);
    let small = [0, 0x1000, 0x2000, 0x3000];
    let around = [&[0x20_0000], &small[..], &[0x20_0000], &small[..]].concat();
    assert_eq!(touch(&around), (5, vec![5]));
    // Shared, five pages take turns in four entries.
    spec.levels[0].huge_entries = None;
    let shared = Tlb::new(&spec, &two_segments());
    let mut shared_touched = shared.clone();
    around
        .iter()
        .for_each(|&address| shared_touched.touch(address, 1));
    assert_eq!(shared_touched.walks, 10);
    // No entries: every access walks.
    spec.levels[0].huge_entries = Some(0);
    let mut none = Tlb::new(&spec, &two_segments());
    [0x20_0000, 0x20_0000, 0x1000, 0x1000]
        .iter()
        .for_each(|&address| none.touch(address, 1));
    assert_eq!(none.walks, 3);
}

#[test]
fn all_pages_can_be_huge() {
    let mut spec = spec(&[(4, 0)]);
    spec.huge_page_bytes = Some(2 << 20);
    spec.huge_pages = HugePages::All;
    spec.levels[0].huge_entries = Some(2);
    let mut tlb = Tlb::new(&spec, &Layout::default());
    [0, 0x1f_ffff, 0x20_0000, 0x40_0000, 0]
        .iter()
        .for_each(|&address| tlb.touch(address, 1));
    assert_eq!((tlb.walks, tlb.hits(5)), (4, vec![1]));
}
