//! The file that an export goes to.

use crate::atomic::{persist, temporary};
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Preset of the xz compressor: with higher ones the compressor, not the export, sets the pace.
const XZ_PRESET: u32 = 1;

/// A file that takes its name when it is whole, compressed as its name says.
pub(super) struct Output {
    path: PathBuf,
    stream: Stream,
    temporary: TempPath,
}

/// How the bytes go to the file.
enum Stream {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Xz(Box<XzWriter<BufWriter<File>>>),
}

impl Output {
    /// Starts a file that will be called `path`; a file of that name is replaced at the end.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let (file, temporary) = temporary(path)?.into_parts();
        let file = BufWriter::new(file);
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        let stream = match suffix {
            Some("gz") => Stream::Gzip(GzEncoder::new(file, Compression::fast())),
            Some("xz") => Stream::Xz(Box::new(XzWriter::new(
                file,
                XzOptions::with_preset(XZ_PRESET),
            )?)),
            _ => Stream::Plain(file),
        };
        Ok(Self {
            path: path.to_path_buf(),
            stream,
            temporary,
        })
    }

    /// Brings the file onto the disk and gives it its name, which is returned.
    pub(super) fn finish(self) -> io::Result<PathBuf> {
        let file = match self.stream {
            Stream::Plain(file) => file,
            Stream::Gzip(encoder) => encoder.finish()?,
            Stream::Xz(encoder) => encoder.finish()?,
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        persist(file, self.temporary, &self.path)?;
        Ok(self.path)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(file) => file.write(bytes),
            Stream::Gzip(encoder) => encoder.write(bytes),
            Stream::Xz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(file) => file.flush(),
            Stream::Gzip(encoder) => encoder.flush(),
            Stream::Xz(encoder) => encoder.flush(),
        }
    }
}
