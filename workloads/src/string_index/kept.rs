//! Indexes built for one workload and kept for the next.

use super::format::Format;
use super::in_page::InPageTree;
use super::slotted::SlottedPage;
use super::spec::{StringIndexWorkload, Structure};
use super::text::Texts;
use super::tree::StringTree;
use crate::operations::{FOR_BUILDING, Maturity, key};
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
    structure: Structure,
    page_bytes: u32,
    line_bytes: u32,
    /// Only where there are prefixes.
    prefix_bytes: Option<u32>,
    /// Only where there are nodes.
    node_lines: Option<u32>,
    texts: Texts,
    keys: u64,
    fill: f64,
    bulkloaded: u64,
    room: u64,
    /// Of the order of insertion; none for a bulkloaded index.
    seed: Option<u64>,
}

impl IndexKey {
    fn of(workload: &StringIndexWorkload) -> Self {
        let prefixes = workload.structure == Structure::PrefixArray;
        let nodes = workload.structure == Structure::InPageTree;
        Self {
            structure: workload.structure,
            page_bytes: workload.page_bytes,
            line_bytes: workload.line_bytes,
            prefix_bytes: prefixes.then_some(workload.prefix_bytes),
            node_lines: nodes.then_some(workload.node_lines),
            texts: workload.texts(),
            keys: workload.keys,
            fill: workload.fill,
            bulkloaded: workload.bulkloaded_keys(),
            room: workload.room(),
            seed: (workload.maturity == Maturity::Mature).then_some(workload.seed),
        }
    }
}

/// An index with pages of any kind.
#[derive(Clone, Debug)]
pub(super) enum AnyIndex {
    Slotted(Arc<StringTree<SlottedPage>>),
    InPage(Arc<StringTree<InPageTree>>),
}

/// The most recently used indexes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexes {
    /// Least recently used first.
    kept: Vec<(IndexKey, AnyIndex)>,
}

impl Indexes {
    /// Whether the index of a workload is kept.
    pub(super) fn holds(&self, workload: &StringIndexWorkload) -> bool {
        let key = IndexKey::of(workload);
        self.kept.iter().any(|(kept, _)| *kept == key)
    }

    /// The index of a workload, kept or built.
    pub(super) fn get(&mut self, workload: &StringIndexWorkload) -> AnyIndex {
        let key = IndexKey::of(workload);
        let entry = match self.kept.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.kept.remove(place),
            None => {
                // Make room first: an index may take a large part of the host's memory.
                if self.kept.len() == INDEXES_KEPT {
                    self.kept.remove(0);
                }
                let index = match key.structure {
                    Structure::Slotted | Structure::PrefixArray => {
                        AnyIndex::Slotted(Arc::new(build(workload.slotted_page(), &key)))
                    }
                    Structure::InPageTree => {
                        let format = workload.in_page_tree().expect("it was validated");
                        AnyIndex::InPage(Arc::new(build(format, &key)))
                    }
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
fn build<F: Format>(format: F, wanted: &IndexKey) -> StringTree<F> {
    let text = |rank: u32| wanted.texts.text(key(rank.into()));
    // Ranks are below 2^32: a workload has at most 200 million keys.
    let mut ranks: Vec<u32> = match wanted.seed {
        Some(_) => (0..wanted.keys as u32).collect(),
        None => Vec::new(),
    };
    if let Some(seed) = wanted.seed {
        Random::new(seed, FOR_BUILDING).shuffle(&mut ranks);
    }
    let drawn = (wanted.bulkloaded as usize).min(ranks.len());
    let (sorted, later) = ranks.split_at_mut(drawn);
    sorted.sort_unstable();
    let rank = |number: usize| sorted.get(number).copied().unwrap_or(number as u32);
    let entries = (
        wanted.bulkloaded as usize,
        |number| text(rank(number)),
        rank,
    );
    let mut index =
        StringTree::bulkload(format, wanted.page_bytes, entries, wanted.fill, wanted.room);
    for &rank in &*later {
        index.insert(&mut Untraced, &text(rank), rank);
        watch::step(MATURING);
    }
    index.pool.freeze();
    index
}
