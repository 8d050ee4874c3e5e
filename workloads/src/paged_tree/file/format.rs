//! The bytes of a page file, all numbers little-endian:
//!
//! | from byte | what |
//! |---|---|
//! | 0 | the header, [`HEADER_BYTES`] |
//! | [`HEADER_BYTES`] | the pages, one after the other from page 1 on, as the index has them in memory |
//! | behind them | the directory, [`ENTRY_BYTES`] for each page: CRC-32 of the page, its group (level, or kind in a cache-first tree), zeros |
//!
//! The header has at
//!
//! | byte | bytes | what |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | version: 2 of disk-first trees, 3 of cache-first trees, 1 of the others |
//! | 12 | 4 | CRC-32 of the header, these four bytes being zeros |
//! | 16 | 4 | structure: 0 slotted, 1 array, 2 micro-index, 3 disk-first, 4 cache-first |
//! | 20 | 12 | bytes of a page, a key, a cache line |
//! | 32 | 16 | lines of nodes and sub-arrays, zeros where the structure has none: non-leaf nodes, leaf nodes, nodes, sub-arrays |
//! | 48 | 8 | root: page, and line of a cache-first tree's root node |
//! | 56 | 4 | levels of pages, or of nodes of a cache-first tree |
//! | 60 | 4 | the overflow page that the next leaf parent goes to; 0 if there is none |
//! | 64 | 8 | keys |
//! | 72 | 8 | splits |
//! | 80 | 32 | keys of the bulkload, share that it filled (a double), insertions after it that room was reserved for, insertions since |
//! | 112 | 4 | CRC-32 of the directory |
//! | 116 | 4 | groups of pages |
//! | 120 | 8 each | pages of each group |
//!
//! and zeros up to its end. Each byte of a file is covered by one of the checksums.

use super::error::PageFileError;
use crate::bounds::FILL;
use crate::paged_tree::geometry::PageSizes;
use crate::paged_tree::plan::History;
use crate::paged_tree::structure::{Build, Lines, Structure};
use crate::paged_tree::{cache_first, tree};
use crate::word::Word;
use std::path::Path;

/// Bytes of a header: no more than the smallest page.
pub(super) const HEADER_BYTES: usize = 2048;
/// What a page file begins with. The first byte is none of a text.
pub(super) const MAGIC: [u8; 8] = *b"\x89MWpages";
/// Version of this format for most structures.
const VERSION: u32 = 1;
/// Version of it for disk-first trees, whose nodes have had their keys before all else since then.
const DISK_FIRST_VERSION: u32 = 2;
/// Version of it for cache-first trees, which got an array of leaf pages with version 2 and such nodes with this one.
const CACHE_FIRST_VERSION: u32 = 3;
/// Bytes of a page's entry in the directory.
pub(super) const ENTRY_BYTES: usize = 8;
/// Most groups: levels that there may be.
pub(super) const MOST_GROUPS: usize = 64;
/// Most keys of a bulkload, and insertions after it. PageIDs have four bytes.
const MOST_KEYS: u64 = u32::MAX as u64;

pub(super) const VERSION_AT: usize = 8;
const CHECKSUM_AT: usize = 12;
const STRUCTURE_AT: usize = 16;
const SIZES_AT: usize = 20;
const LINES_AT: usize = 32;
const ROOT_AT: usize = 48;
const LEVELS_AT: usize = 56;
const OVERFLOW_AT: usize = 60;
const KEYS_AT: usize = 64;
const SPLITS_AT: usize = 72;
pub(super) const HISTORY_AT: usize = 80;
const DIRECTORY_AT: usize = 112;
const GROUPS_AT: usize = 116;
const PAGES_AT: usize = 120;

/// What a page file says of its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Structure, sizes and lines.
    pub build: Build,
    /// Keys.
    pub keys: u64,
    /// What the index is besides its pages.
    pub state: State,
    /// Checksum of the directory.
    pub(super) directory: u32,
}

/// What an index is besides its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Page of the root, and the line where a root node begins.
    pub root: (u32, u16),
    /// Levels of pages, or of nodes.
    pub levels: usize,
    /// Overflow page that is filled; 0 if there is none.
    pub overflow: u32,
    /// Splits since the bulkload.
    pub splits: u64,
    /// What the index came from.
    pub history: History,
    /// Pages by group.
    pub pages: Vec<u64>,
}

impl State {
    /// The same with room for so many groups of pages, at least.
    pub(super) fn with_groups(mut self, groups: usize) -> Self {
        self.pages.resize(groups.max(self.pages.len()), 0);
        self
    }
}

/// CRC-32 of bytes.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// CRC-32 of a header, of which its own place does not count.
fn header_checksum(bytes: &[u8; HEADER_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM_AT]);
    hasher.update(&[0; 4]);
    hasher.update(&bytes[CHECKSUM_AT + 4..]);
    hasher.finalize()
}

/// Makes the checksums of a page file right, as far as its bytes are one: whatever they say is then refused, or believed, for what it is.
/// For tests and fuzzers.
pub fn seal(bytes: &mut [u8]) {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
        return;
    };
    let page_bytes = u32::read(header, SIZES_AT) as usize;
    let Some(each) = page_bytes.checked_add(ENTRY_BYTES) else {
        return;
    };
    let pages = (bytes.len() - HEADER_BYTES) / each;
    let (before, entries) = bytes.split_at_mut(HEADER_BYTES + pages * page_bytes);
    let contents = before[HEADER_BYTES..].chunks_exact(page_bytes.max(1));
    for (page, place) in contents.zip(entries.chunks_exact_mut(ENTRY_BYTES)) {
        checksum(page).write(place, 0);
    }
    checksum(&entries[..pages * ENTRY_BYTES]).write(before, DIRECTORY_AT);
    let header = before.first_chunk().expect("there is one");
    header_checksum(header).write(before, CHECKSUM_AT);
}

/// A page's entry in the directory.
pub(super) fn entry(checksum: u32, group: usize) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    checksum.write(&mut bytes, 0);
    bytes[4] = group as u8;
    bytes
}

/// Checksum and group of a page.
pub(super) fn of_entry(bytes: &[u8]) -> (u32, usize) {
    (u32::read(bytes, 0), bytes[4].into())
}

/// Version of the format for a structure.
fn version(structure: Structure) -> u32 {
    match structure {
        Structure::DiskFirst => DISK_FIRST_VERSION,
        Structure::CacheFirst => CACHE_FIRST_VERSION,
        _ => VERSION,
    }
}

impl Header {
    /// Pages of the file.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.state.pages.iter().sum()
    }

    /// Bytes of the file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.pages() * (u64::from(self.build.sizes.page) + ENTRY_BYTES as u64)
    }

    /// The header's bytes.
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let Self {
            build,
            keys,
            state,
            directory,
        } = self;
        let mut bytes = [0; HEADER_BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        version(build.structure).write(&mut bytes, VERSION_AT);
        let structure = Structure::ALL
            .iter()
            .position(|&one| one == build.structure);
        (structure.expect("all are listed") as u32).write(&mut bytes, STRUCTURE_AT);
        let Build { sizes, lines, .. } = build.plain();
        let words = |bytes: &mut [u8; HEADER_BYTES], at: usize, words: &[u32]| {
            for (number, word) in words.iter().enumerate() {
                word.write(bytes, at + 4 * number);
            }
        };
        words(&mut bytes, SIZES_AT, &[sizes.page, sizes.key, sizes.line]);
        let lines = [lines.nonleaf, lines.leaf, lines.node, lines.subarray];
        words(&mut bytes, LINES_AT, &lines);
        words(&mut bytes, ROOT_AT, &[state.root.0, state.root.1.into()]);
        words(&mut bytes, LEVELS_AT, &[state.levels as u32]);
        words(&mut bytes, OVERFLOW_AT, &[state.overflow]);
        keys.write(&mut bytes, KEYS_AT);
        state.splits.write(&mut bytes, SPLITS_AT);
        let history = state.history;
        let fill = history.fill.to_bits();
        let numbers = [history.bulkloaded, fill, history.room, history.inserted];
        for (number, word) in numbers.into_iter().enumerate() {
            word.write(&mut bytes, HISTORY_AT + 8 * number);
        }
        words(&mut bytes, DIRECTORY_AT, &[*directory]);
        words(&mut bytes, GROUPS_AT, &[state.pages.len() as u32]);
        for (number, pages) in state.pages.iter().enumerate() {
            pages.write(&mut bytes, PAGES_AT + 8 * number);
        }
        header_checksum(&bytes).write(&mut bytes, CHECKSUM_AT);
        bytes
    }

    /// What a file's first bytes say: a header that can be.
    pub(super) fn decode(path: &Path, bytes: &[u8; HEADER_BYTES]) -> Result<Self, PageFileError> {
        let wrong = |what: String| Err(PageFileError::new(path, what));
        if !bytes.starts_with(&MAGIC) {
            return wrong("is no page file of memwalk; `memwalk index build` writes them".into());
        }
        let word = |at: usize| u32::read(bytes, at);
        let found = word(VERSION_AT);
        if !(VERSION..=CACHE_FIRST_VERSION).contains(&found) {
            return wrong(format!(
                "is a page file of version {found}, and this memwalk reads versions {VERSION} to {CACHE_FIRST_VERSION}; build it again"
            ));
        }
        if word(CHECKSUM_AT) != header_checksum(bytes) {
            return wrong("its header is damaged: the checksum is another; build it again".into());
        }
        let Some(&structure) = Structure::ALL.get(word(STRUCTURE_AT) as usize) else {
            return wrong(format!("structure {} is none", word(STRUCTURE_AT)));
        };
        let wanted = version(structure);
        if found != wanted {
            return wrong(format!(
                "is a page file of version {found}, and this memwalk reads version {wanted} of such an index; build it again"
            ));
        }
        let [page, key, line] = [0, 4, 8].map(|behind| word(SIZES_AT + behind));
        let [nonleaf, leaf, node, subarray] = [0, 4, 8, 12].map(|behind| word(LINES_AT + behind));
        let build = Build {
            structure,
            sizes: PageSizes { page, key, line },
            lines: Lines {
                nonleaf,
                leaf,
                node,
                subarray,
            },
        };
        let number = |at: usize| u64::read(bytes, at);
        let [bulkloaded, fill, room, inserted] =
            [0, 8, 16, 24].map(|behind| number(HISTORY_AT + behind));
        let groups = word(GROUPS_AT) as usize;
        if !(1..=MOST_GROUPS).contains(&groups) {
            return wrong(format!(
                "{groups} groups of pages; there are 1 to {MOST_GROUPS}"
            ));
        }
        let root_line = word(ROOT_AT + 4);
        let header = Self {
            build,
            keys: number(KEYS_AT),
            state: State {
                root: (word(ROOT_AT), root_line as u16),
                levels: word(LEVELS_AT) as usize,
                overflow: word(OVERFLOW_AT),
                splits: number(SPLITS_AT),
                history: History {
                    bulkloaded,
                    fill: f64::from_bits(fill),
                    room,
                    inserted,
                },
                pages: (0..groups)
                    .map(|group| number(PAGES_AT + 8 * group))
                    .collect(),
            },
            directory: word(DIRECTORY_AT),
        };
        header.check(path)?;
        // What is nowhere in the header is zeros, and what is in it stands there in one way.
        if header.encode() != *bytes {
            return wrong("its header has something where it should have zeros".into());
        }
        Ok(header)
    }

    /// Checks numbers alone: what pages say is another matter.
    fn check(&self, path: &Path) -> Result<(), PageFileError> {
        let State { history, pages, .. } = &self.state;
        let wrong = |what: String| Err(PageFileError::new(path, what));
        if let Err(error) = self.build.shape() {
            return wrong(error.to_string());
        }
        if FILL.check("fill", history.fill).is_err() {
            return wrong(format!("a fill of {} cannot be", history.fill));
        }
        let numbers = [
            history.bulkloaded,
            history.room,
            history.inserted,
            self.keys,
        ];
        if numbers.iter().any(|&number| number > MOST_KEYS) {
            return wrong(format!(
                "keys {}, {} of them bulkloaded, {} inserted and room for {}; the most is {MOST_KEYS}",
                self.keys, history.bulkloaded, history.inserted, history.room
            ));
        }
        let all = pages
            .iter()
            .try_fold(0_u64, |all, &pages| all.checked_add(pages));
        if !all.is_some_and(|all| (1..MOST_KEYS).contains(&all)) {
            return wrong(format!("pages by group {pages:?}; pageIDs have four bytes"));
        }
        let (levels, nodes) = (
            self.state.levels,
            self.build.structure == Structure::CacheFirst,
        );
        let most = if nodes {
            cache_first::MOST_LEVELS
        } else {
            tree::MOST_LEVELS
        };
        if !(1..=most).contains(&levels) {
            return wrong(format!("{levels} levels; there are 1 to {most}"));
        }
        // Pages of a level are a group, or nodes of all levels are in a few, and the array of leaf pages is one more.
        let grouped = if nodes {
            pages.len() == cache_first::GROUPS
        } else {
            pages.len() >= levels && pages[levels..].iter().all(|&pages| pages == 0)
        };
        if !grouped {
            return wrong(format!("{levels} levels, and pages by group {pages:?}"));
        }
        Ok(())
    }
}
