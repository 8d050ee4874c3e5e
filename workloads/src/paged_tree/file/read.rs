//! Opens page files, of which nothing is believed that was not checked.

use super::error::PageFileError;
use super::format::{ENTRY_BYTES, HEADER_BYTES, Header, MAGIC, State, checksum, of_entry};
use super::look_at;
use super::state::reservations;
use crate::paged_tree::plan::{History, Room};
use crate::paged_tree::{Index, Key, Long};
use crate::pool::Pool;
use crate::tracer::Untraced;
use crate::watch;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use traces::host_memory::{Free, size};

/// Damaged pages that an error names.
const NAMED: usize = 8;

/// An index that a page file had.
#[derive(Clone, Debug)]
pub(crate) struct Opened<K> {
    /// What the file says of it.
    pub header: Header,
    /// The index, with a frame for every page.
    pub index: Index<K>,
}

/// A page file that begins with a header and has the length that this says.
struct Source<'p> {
    path: &'p Path,
    file: File,
    header: Header,
}

/// Opens an index with keys of the file's size, and room for so many insertions. It goes on as if it had never been closed; and if
/// it has room for as many anyway, it lies at the same addresses. `sha256` is the digest that the file has to have, if it matters.
///
/// # Errors
/// There is no such file, it is no page file, it is damaged, or an index cannot work with what it holds; or there is no memory for it.
///
/// # Panics
/// If the file has keys of another size, of which its header tells.
pub(crate) fn open<K: Key>(
    path: &Path,
    room: Room,
    sha256: Option<&str>,
) -> Result<Opened<K>, PageFileError> {
    let mut source = Source::of(path)?;
    if let Some(wanted) = sha256 {
        source.check_digest(wanted)?;
    }
    let header = source.header.clone();
    let (shape, sizes) = (header.build.shape(), &header.build.sizes);
    let shape = shape.map_err(|error| PageFileError::new(path, error))?;
    let history = header.state.history.with_room(room);
    let plan = shape.plan(sizes, history.bulkloaded, history.fill, history.room);
    let most = larger(&plan.most, &header.state.pages);
    let (mut index, needed) = source.load::<K>(&most, history, room)?;
    let enough = larger(&needed, &most);
    if enough != most {
        // Pages are fuller than insertions of the bulkload's history leave them.
        source.check_memory(&enough)?;
        let pool = index.pool_mut();
        let pool = pool.with_room(&reservations(&shape, &enough, sizes.page));
        let state = index.state().with_groups(enough.len());
        index = Index::of(&header.build, shape, state, pool);
    }
    Ok(Opened { header, index })
}

/// Checks a page file, whatever the size of its keys; returns what its header says.
///
/// # Errors
/// As for [`open`].
pub fn check(path: &Path) -> Result<Header, PageFileError> {
    let source = Source::of(path)?;
    match source.header.build.sizes.key {
        4 => source.checked::<u32>(),
        8 => source.checked::<u64>(),
        _ => source.checked::<Long>(),
    }
}

impl Header {
    /// What a page file says of its index; its length is that of such a file, and its pages are not looked at.
    ///
    /// # Errors
    /// There is no such file, or it is no page file, or a damaged one.
    pub fn read(path: &Path) -> Result<Self, PageFileError> {
        Ok(Source::of(path)?.header)
    }
}

/// The larger of two numbers of pages for each group.
fn larger(left: &[u64], right: &[u64]) -> Vec<u64> {
    let groups = left.len().max(right.len());
    let of = |pages: &[u64], group: usize| pages.get(group).copied().unwrap_or(0);
    (0..groups)
        .map(|group| of(left, group).max(of(right, group)))
        .collect()
}

impl<'p> Source<'p> {
    fn of(path: &'p Path) -> Result<Self, PageFileError> {
        let refused = |error: io::Error| PageFileError::new(path, error);
        let metadata = path.metadata().map_err(refused)?;
        if !metadata.is_file() {
            return Err(PageFileError::new(path, "is no regular file"));
        }
        let mut file = File::open(path).map_err(refused)?;
        let mut bytes = [0; HEADER_BYTES];
        let mut first = Vec::new();
        let mut head = (&mut file).take(HEADER_BYTES as u64);
        let found = head.read_to_end(&mut first).map_err(refused)?;
        bytes[..found].copy_from_slice(&first);
        if found < HEADER_BYTES && bytes.starts_with(&MAGIC) {
            let what = format!("is cut off: it has {found} bytes, and a header has {HEADER_BYTES}");
            return Err(PageFileError::new(path, what));
        }
        let header = Header::decode(path, &bytes)?;
        let (length, wanted) = (metadata.len(), header.file_bytes());
        if length != wanted {
            let how = if length < wanted {
                "is cut off"
            } else {
                "has something behind its end"
            };
            let pages = header.pages();
            let what = format!("{how}: it has {length} bytes, and {pages} pages take {wanted}");
            return Err(PageFileError::new(path, what));
        }
        Ok(Self { path, file, header })
    }

    fn wrong(&self, what: impl std::fmt::Display) -> PageFileError {
        PageFileError::new(self.path, what)
    }

    /// Checks the digest of all of the file.
    fn check_digest(&mut self, wanted: &str) -> Result<(), PageFileError> {
        let mut hasher = Sha256::new();
        let mut bytes = vec![0; 1 << 20];
        self.seek(0)?;
        loop {
            let found = self.file.read(&mut bytes);
            let found = found.map_err(|error| self.wrong(error))?;
            if found == 0 {
                break;
            }
            hasher.update(&bytes[..found]);
            watch::look();
        }
        let mut digest = String::new();
        for byte in hasher.finalize() {
            let _ = write!(digest, "{byte:02x}");
        }
        if digest == wanted {
            return Ok(());
        }
        Err(self.wrong("has changed since it was named: its SHA-256 is another; run again"))
    }

    fn seek(&mut self, to: u64) -> Result<(), PageFileError> {
        let sought = self.file.seek(SeekFrom::Start(to));
        sought.map(|_| ()).map_err(|error| self.wrong(error))
    }

    /// Checks that there is memory for frames of so many pages.
    fn check_memory(&self, most: &[u64]) -> Result<(), PageFileError> {
        let page_bytes = u64::from(self.header.build.sizes.page);
        let all: u64 = most.iter().sum();
        let (bytes, free) = (all.saturating_mul(page_bytes), Free::now());
        let touched = self.header.pages() * page_bytes;
        if bytes > free.piece || touched > free.memory || all > u64::from(u32::MAX) {
            let what = format!(
                "has {} pages and reserves {all}, which take {}, and {} of memory are free",
                self.header.pages(),
                size(bytes),
                size(free.memory)
            );
            return Err(self.wrong(what));
        }
        Ok(())
    }

    /// What the directory says: checksum and group of each page.
    fn directory(&mut self) -> Result<Vec<(u32, usize)>, PageFileError> {
        let pages = self.header.pages();
        let behind_pages = self.header.file_bytes() - pages * ENTRY_BYTES as u64;
        self.seek(behind_pages)?;
        let mut bytes = vec![0; pages as usize * ENTRY_BYTES];
        let read = self.file.read_exact(&mut bytes);
        read.map_err(|error| self.wrong(error))?;
        if checksum(&bytes) != self.header.directory {
            return Err(self.wrong(
                "its directory of pages is damaged: the checksum is another; build it again",
            ));
        }
        let directory: Vec<(u32, usize)> = bytes.chunks_exact(ENTRY_BYTES).map(of_entry).collect();
        let wanted = &self.header.state.pages;
        let mut found = vec![0; wanted.len()];
        for &(_, group) in &directory {
            *found.get_mut(group).ok_or_else(|| {
                self.wrong(format!(
                    "a page is of group {group}, and there are {}",
                    wanted.len()
                ))
            })? += 1_u64;
        }
        if found != *wanted {
            return Err(self.wrong(format!(
                "its header says there are {wanted:?} pages by group, and its directory {found:?}"
            )));
        }
        Ok(directory)
    }

    /// Reads all pages into frames, of which there are so many for each group, and checks them; returns how many pages of each group there
    /// may come to be by `room` insertions, too.
    fn load<K: Key>(
        &mut self,
        most: &[u64],
        history: History,
        room: Room,
    ) -> Result<(Index<K>, Vec<u64>), PageFileError> {
        let build = self.header.build;
        assert_eq!(build.sizes.key as usize, K::BYTES, "keys of the file");
        let shape = build.shape().map_err(|error| self.wrong(error))?;
        self.check_memory(most)?;
        let directory = self.directory()?;
        self.seek(HEADER_BYTES as u64)?;
        let mut pool = Pool::new(
            build.sizes.page,
            &reservations(&shape, most, build.sizes.page),
        );
        let mut input = BufReader::with_capacity(1 << 18, &self.file);
        let mut damaged: Vec<u32> = Vec::new();
        for (wanted, group) in directory {
            let page = pool.create(&mut Untraced, group);
            let bytes = pool.bytes_mut(&page);
            let read = input.read_exact(bytes);
            if checksum(bytes) != wanted {
                damaged.push(page.page);
            }
            pool.unfix(&mut Untraced, &page, true);
            read.map_err(|error| self.wrong(error))?;
            look_at(page.page, build.sizes.page);
        }
        if !damaged.is_empty() {
            return Err(self.wrong(damage(&damaged)));
        }
        let state = State {
            history,
            ..self.header.state.clone()
        };
        let mut index = Index::of(&build, shape, state.with_groups(most.len()), pool);
        let mut keys = 0;
        let needed = index.most_pages(room, &mut |_, _| keys += 1);
        let needed = needed.map_err(|fault| self.wrong(fault))?;
        if keys != self.header.keys {
            let said = self.header.keys;
            return Err(self.wrong(format!(
                "its header says {said} keys, and its pages have {keys}"
            )));
        }
        Ok((index, needed))
    }

    fn checked<K: Key>(mut self) -> Result<Header, PageFileError> {
        let State { pages, history, .. } = self.header.state.clone();
        self.load::<K>(&pages, history, 0)?;
        Ok(self.header)
    }
}

/// Says which pages are damaged.
fn damage(pages: &[u32]) -> String {
    let named: Vec<String> = pages.iter().take(NAMED).map(u32::to_string).collect();
    let more = match pages.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (pages, have) = if pages.len() == 1 {
        ("page", "is")
    } else {
        ("pages", "are")
    };
    format!(
        "{pages} {}{more} {have} damaged: the checksum is another; build it again",
        named.join(", ")
    )
}
