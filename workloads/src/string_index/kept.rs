//! Indexes built for one workload and kept for the next.

use super::format::Format;
use super::in_page::InPageTree;
use super::slotted::SlottedPage;
use super::spec::{StringIndexWorkload, Structure};
use super::text::Texts;
use super::tree::StringTree;
use crate::kept::Kept;
use crate::operations::{BuildOrder, Maturity, key};
use crate::tracer::Untraced;
use crate::watch;
use std::convert::Infallible;
use std::sync::Arc;

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

/// The indexes of the latest workloads: the one in use and the one before, since experiments often alternate between two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexes(Kept<IndexKey, AnyIndex, 2>);

impl Indexes {
    /// Whether the index of a workload is kept.
    pub(super) fn holds(&self, workload: &StringIndexWorkload) -> bool {
        self.0.holds(&IndexKey::of(workload))
    }

    /// The index of a workload, kept or built.
    pub(super) fn get(&mut self, workload: &StringIndexWorkload) -> AnyIndex {
        let built = self.0.get(IndexKey::of(workload), |key| {
            Ok::<_, Infallible>(match key.structure {
                Structure::Slotted | Structure::PrefixArray => {
                    AnyIndex::Slotted(Arc::new(build(workload.slotted_page(), key)))
                }
                Structure::InPageTree => {
                    let format = workload.in_page_tree().expect("it was validated");
                    AnyIndex::InPage(Arc::new(build(format, key)))
                }
            })
        });
        let Ok(index) = built;
        index
    }
}

/// Builds an index, untraced.
fn build<F: Format>(format: F, wanted: &IndexKey) -> StringTree<F> {
    let text = |rank: u32| wanted.texts.text(key(rank.into()));
    let order = BuildOrder::new(wanted.keys, wanted.bulkloaded, wanted.seed);
    let entries = (
        order.bulkloaded(),
        |number| text(order.rank(number)),
        |number| order.rank(number),
    );
    let mut index =
        StringTree::bulkload(format, wanted.page_bytes, entries, wanted.fill, wanted.room);
    for &rank in order.later() {
        index.insert(&mut Untraced, &text(rank), rank);
        watch::step(MATURING);
    }
    index.pool.freeze();
    index
}
