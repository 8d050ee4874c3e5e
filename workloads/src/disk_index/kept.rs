//! Indexes built for one workload and kept for the next.

use super::named_file::{PageFile, wrong};
use super::spec::DiskIndexWorkload;
use crate::kept::Kept;
use crate::operations::{BuildOrder, key};
use crate::paged_tree::file::{Header, PageFileError, open};
use crate::paged_tree::geometry::PageSizes;
use crate::paged_tree::{Index, Key, Long, Shape};
use crate::tracer::Untraced;
use crate::validate::WorkloadError;
use crate::watch;
use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Steps of inserting a key into a growing index, against bulkloading it.
pub(super) const MATURING: u64 = 20;

/// What determines an index, and where its segments are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexKey {
    shape: Shape,
    sizes: PageSizes,
    keys: u64,
    fill: f64,
    bulkloaded: u64,
    room: u64,
    /// Of the order of insertion; none for an index that is not inserted into.
    seed: Option<u64>,
    /// The page file that it is in, if it is in one.
    file: Option<FileKey>,
}

/// What tells a page file from the one that was there before.
#[derive(Clone, Debug, PartialEq)]
struct FileKey {
    file: PageFile,
    bytes: Option<u64>,
    modified: Option<SystemTime>,
    /// A file that has taken another's place within a tick of the clock has a number of its own.
    number: Option<u64>,
}

impl FileKey {
    fn of(file: &PageFile) -> Self {
        let metadata = Path::new(&file.path).metadata().ok();
        Self {
            file: file.clone(),
            bytes: metadata.as_ref().map(Metadata::len),
            number: metadata.as_ref().and_then(number),
            modified: metadata.and_then(|metadata| metadata.modified().ok()),
        }
    }
}

/// The number of a file on its device.
#[cfg(unix)]
fn number(metadata: &Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    Some(metadata.ino())
}

/// The number of a file on its device, which only Unix says.
#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<u64> {
    None
}

impl IndexKey {
    pub(super) fn of(workload: &DiskIndexWorkload) -> Self {
        Self {
            shape: workload.shape(),
            sizes: workload.sizes(),
            keys: workload.keys,
            fill: workload.fill,
            bulkloaded: workload.bulkloaded_keys(),
            room: workload.room(),
            seed: workload.grows().then_some(workload.seed),
            file: workload.page_file.as_ref().map(FileKey::of),
        }
    }
}

/// What there is of an index, by the size of its keys.
#[derive(Clone, Debug)]
pub(crate) enum ByKey<Four, Eight, Twenty> {
    Four(Four),
    Eight(Eight),
    Twenty(Twenty),
}

/// An index with keys of any size.
pub(crate) type AnyIndex = ByKey<Arc<Index<u32>>, Arc<Index<u64>>, Arc<Index<Long>>>;

/// The indexes of the latest workloads: the one in use and the one before, since experiments often alternate between two.
pub(crate) type Indexes = Kept<IndexKey, AnyIndex, 2>;

/// The index of a workload, kept, built or read.
pub(super) fn index(
    workload: &DiskIndexWorkload,
    indexes: &mut Indexes,
) -> Result<AnyIndex, WorkloadError> {
    indexes.get(IndexKey::of(workload), |key| {
        Ok(match key.sizes.key {
            4 => AnyIndex::Four(Arc::new(built_or_read(key, workload)?)),
            8 => AnyIndex::Eight(Arc::new(built_or_read(key, workload)?)),
            _ => AnyIndex::Twenty(Arc::new(built_or_read(key, workload)?)),
        })
    })
}

fn built_or_read<K: Key>(
    wanted: &IndexKey,
    workload: &DiskIndexWorkload,
) -> Result<Index<K>, WorkloadError> {
    let mut index = match &workload.page_file {
        None => build(wanted),
        Some(file) => {
            let room = workload.room_to_come();
            let opened = open(Path::new(&file.path), room, file.sha256.as_deref());
            let opened = opened.map_err(|error| wrong(&error))?;
            // The file may have been another when the workload was checked.
            workload.check_header(&opened.header)?;
            opened.index
        }
    };
    index.pool_mut().freeze();
    Ok(index)
}

/// Builds the index of a workload and writes it into a page file.
pub(super) fn save(workload: &DiskIndexWorkload, path: &Path) -> Result<Header, PageFileError> {
    let key = IndexKey::of(workload);
    let made_by = workload.build();
    match key.sizes.key {
        4 => build::<u32>(&key).save(path, &made_by),
        8 => build::<u64>(&key).save(path, &made_by),
        _ => build::<Long>(&key).save(path, &made_by),
    }
}

/// Builds an index, untraced.
fn build<K: Key>(wanted: &IndexKey) -> Index<K> {
    let entry = |rank: u32| (K::from_u64(key(rank.into())), rank);
    let order = BuildOrder::new(wanted.keys, wanted.bulkloaded, wanted.seed);
    let first = (0..order.bulkloaded()).map(|number| entry(order.rank(number)));
    let (sizes, fill, room) = (&wanted.sizes, wanted.fill, wanted.room);
    let mut index = Index::bulkload(wanted.shape, sizes, first, fill, room);
    for &rank in order.later() {
        let (key, id) = entry(rank);
        index.insert(&mut Untraced, key, id);
        watch::step(MATURING);
    }
    index
}
