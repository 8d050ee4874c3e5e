//! Indexes built for one workload and kept for the next.

use super::spec::DiskIndexWorkload;
use crate::operations::{FOR_BUILDING, Maturity, key};
use crate::paged_tree::geometry::PageSizes;
use crate::paged_tree::{Index, Key, Long, Shape};
use crate::random::Random;
use crate::tracer::Untraced;
use crate::watch;
use std::sync::Arc;

/// Indexes kept: the one in use and the one before, since experiments often alternate between two.
const INDEXES_KEPT: usize = 2;

/// Steps of inserting a key into a growing index, against bulkloading it.
pub(super) const MATURING: u64 = 20;

/// What determines an index, and where its segments are.
#[derive(Clone, Debug, PartialEq)]
struct IndexKey {
    shape: Shape,
    sizes: PageSizes,
    keys: u64,
    fill: f64,
    bulkloaded: u64,
    room: u64,
    /// Of the order of insertion; none for a bulkloaded index.
    seed: Option<u64>,
}

impl IndexKey {
    fn of(workload: &DiskIndexWorkload) -> Self {
        Self {
            shape: workload.shape(),
            sizes: workload.sizes(),
            keys: workload.keys,
            fill: workload.fill,
            bulkloaded: workload.bulkloaded_keys(),
            room: workload.room(),
            seed: (workload.maturity == Maturity::Mature).then_some(workload.seed),
        }
    }
}

/// An index with keys of any size.
#[derive(Clone, Debug)]
pub(super) enum AnyIndex {
    Four(Arc<Index<u32>>),
    Eight(Arc<Index<u64>>),
    Twenty(Arc<Index<Long>>),
}

/// The most recently used indexes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexes {
    /// Least recently used first.
    kept: Vec<(IndexKey, AnyIndex)>,
}

impl Indexes {
    /// Whether the index of a workload is kept.
    pub(super) fn holds(&self, workload: &DiskIndexWorkload) -> bool {
        let key = IndexKey::of(workload);
        self.kept.iter().any(|(kept, _)| *kept == key)
    }

    /// The index of a workload, kept or built.
    pub(super) fn get(&mut self, workload: &DiskIndexWorkload) -> AnyIndex {
        let key = IndexKey::of(workload);
        let entry = match self.kept.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.kept.remove(place),
            None => {
                // Make room first: an index may take a large part of the host's memory.
                if self.kept.len() == INDEXES_KEPT {
                    self.kept.remove(0);
                }
                let index = match key.sizes.key {
                    4 => AnyIndex::Four(Arc::new(build(&key))),
                    8 => AnyIndex::Eight(Arc::new(build(&key))),
                    _ => AnyIndex::Twenty(Arc::new(build(&key))),
                };
                (key, index)
            }
        };
        let index = entry.1.clone();
        self.kept.push(entry);
        index
    }
}

/// Builds an index, untraced.
fn build<K: Key>(wanted: &IndexKey) -> Index<K> {
    let entry = |rank: u64| (K::from_u64(key(rank)), rank as u32);
    // Ranks are below 2^32: a workload has at most 200 million keys.
    let mut ranks: Vec<u32> = match wanted.seed {
        Some(_) => (0..wanted.keys as u32).collect(),
        None => Vec::new(),
    };
    let later = match wanted.seed {
        Some(seed) => {
            Random::new(seed, FOR_BUILDING).shuffle(&mut ranks);
            ranks.split_off(wanted.bulkloaded as usize)
        }
        None => Vec::new(),
    };
    ranks.sort_unstable();
    let first = (0..wanted.bulkloaded as usize)
        .map(|number| entry(ranks.get(number).map_or(number as u64, |&rank| rank.into())));
    let (sizes, fill, room) = (&wanted.sizes, wanted.fill, wanted.room);
    let mut index = Index::bulkload(wanted.shape, sizes, first, fill, room);
    for rank in later {
        let (key, id) = entry(rank.into());
        index.insert(&mut Untraced, key, id);
        watch::step(MATURING);
    }
    index.pool_mut().freeze();
    index
}
