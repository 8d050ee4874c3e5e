//! Writes a page file, all of it or nothing.

use super::error::PageFileError;
use super::format::{HEADER_BYTES, Header, checksum, entry};
use super::look_at;
use crate::paged_tree::structure::Build;
use crate::paged_tree::{Index, Key};
use crate::tracer::{Dep, Untraced};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use traces::atomic::{persist, temporary};

impl<K: Key> Index<K> {
    /// Writes the index into a page file that will be called `path`; `build` is what the index was built by.
    ///
    /// # Errors
    /// The file cannot be written; or the index does not keep to what every index keeps to, which is a defect.
    pub fn save(&mut self, path: &Path, build: &Build) -> Result<Header, PageFileError> {
        let mut keys = 0;
        self.check(&mut |_, _| keys += 1)
            .map_err(|fault| PageFileError::new(path, fault))?;
        let header = Header {
            build: build.plain(),
            keys,
            state: self.state(),
            directory: 0,
        };
        let refused = |error: io::Error| PageFileError::new(path, error);
        let (file, name) = temporary(path).map_err(refused)?.into_parts();
        let mut output = BufWriter::new(file);
        let header = self.write(&mut output, header).map_err(refused)?;
        let file = output
            .into_inner()
            .map_err(|error| refused(error.into_error()))?;
        persist(file, name, path).map_err(refused)?;
        Ok(header)
    }

    /// Writes pages and directory, and then the header over the zeros before them.
    fn write<W: Write + Seek>(&mut self, output: &mut W, header: Header) -> io::Result<Header> {
        output.write_all(&[0; HEADER_BYTES])?;
        let mut directory = Vec::new();
        for page in 1..=header.pages() as u32 {
            let pool = self.pool_mut();
            let fixed = pool.fix(&mut Untraced, page, Dep::NONE);
            let bytes = pool.bytes(&fixed);
            let group = pool.group_of(page).expect("there are so many pages");
            directory.extend(entry(checksum(bytes), group));
            let written = output.write_all(bytes);
            pool.unfix(&mut Untraced, &fixed, false);
            written?;
            look_at(page, header.build.sizes.page);
        }
        output.write_all(&directory)?;
        let header = Header {
            directory: checksum(&directory),
            ..header
        };
        output.seek(SeekFrom::Start(0))?;
        output.write_all(&header.encode())?;
        Ok(header)
    }
}
