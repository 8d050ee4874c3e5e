//! Lines and records out of a stream of bytes, with their numbers, in bounded memory and without a copy per line.

use crate::import::error::{ImportError, shown};
use crate::import::source::{self, Source};
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Bytes that are buffered, and the longest line there may be.
const BUFFER_BYTES: usize = 256 << 10;
/// Bytes from the start that tell the format.
const HEAD_BYTES: usize = 64 << 10;

/// A foreign trace being read.
pub(super) struct Input {
    name: String,
    source: Source,
    buffer: Vec<u8>,
    /// The bytes in the buffer that are not yet taken.
    begin: usize,
    end: usize,
    exhausted: bool,
    /// Lines or records taken.
    taken: u64,
    /// Byte, after decompression, at which the last of them begins.
    last_begin: u64,
    position: u64,
    head: Vec<u8>,
}

impl Input {
    /// The trace at `path`, decompressed.
    pub(super) fn open(path: &Path) -> Result<Self, ImportError> {
        let name = match path.as_os_str() == source::STDIN {
            true => "<stdin>".to_owned(),
            false => path.display().to_string(),
        };
        Self::new(&name, source::open(path)?)
    }

    /// The trace in `source`, decompressed; `name` is for messages.
    pub(super) fn new(name: &str, source: Source) -> Result<Self, ImportError> {
        let mut input = Self {
            name: name.to_owned(),
            source: source::decompressed(source, name)?,
            buffer: vec![0; BUFFER_BYTES],
            begin: 0,
            end: 0,
            exhausted: false,
            taken: 0,
            last_begin: 0,
            position: 0,
            head: Vec::new(),
        };
        while input.end < HEAD_BYTES && !input.exhausted {
            input.fill()?;
        }
        if input.end == 0 {
            return Err(ImportError::Empty { file: input.name });
        }
        input.head = input.buffer[..input.end.min(HEAD_BYTES)].to_vec();
        Ok(input)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes, and whether they are all there is.
    pub(super) fn head(&self) -> (&[u8], bool) {
        (
            &self.head,
            self.exhausted && self.position == 0 && self.end == self.head.len(),
        )
    }

    /// Counts lines or records from `taken` on, behind a header or in its stead.
    pub(super) fn recount(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// Lines or records taken so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// File and number of the line last taken.
    pub(super) fn line_place(&self) -> String {
        format!("{}:{}", self.name, self.taken)
    }

    /// File, number and position of the record last taken.
    pub(super) fn record_place(&self) -> String {
        let (name, record, byte) = (&self.name, self.taken.saturating_sub(1), self.last_begin);
        format!("{name}: record {record} at byte {byte}")
    }

    /// Whether the line last taken ends with the input and not with a line break.
    pub(super) fn unfinished_line(&self) -> bool {
        self.begin == self.end
            && self.exhausted
            && self.begin > 0
            && self.buffer[self.begin - 1] != b'\n'
    }

    /// The next line, without its line break; nothing at the end.
    #[inline]
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, ImportError> {
        let (begin, length) = loop {
            let left = &self.buffer[self.begin..self.end];
            if let Some(length) = memchr::memchr(b'\n', left) {
                break (self.advance(length + 1), length);
            }
            let length = left.len();
            if self.exhausted {
                if length == 0 {
                    return Ok(None);
                }
                break (self.advance(length), length);
            }
            if length == BUFFER_BYTES {
                let place = format!("{}:{}", self.name, self.taken + 1);
                let text = shown(left);
                let cause = format!(
                    "{place}: a line of more than {BUFFER_BYTES} bytes: `{text}`; this is no text trace"
                );
                return Err(ImportError::Options(cause));
            }
            self.fill()?;
        };
        let line = &self.buffer[begin..begin + length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The next `count` bytes, or what is left of them at the end.
    #[inline]
    pub(super) fn next_bytes(&mut self, count: usize) -> Result<&[u8], ImportError> {
        while self.end - self.begin < count && !self.exhausted {
            self.fill()?;
        }
        let count = count.min(self.end - self.begin);
        let begin = self.advance(count);
        Ok(&self.buffer[begin..begin + count])
    }

    /// Hands over all bytes that are left, for a decoder with a buffer of its own; nothing is left here.
    pub(super) fn take_rest(&mut self) -> Source {
        let buffered = self.buffer[self.begin..self.end].to_vec();
        self.begin = self.end;
        let source = std::mem::replace(&mut self.source, Box::new(io::empty()));
        Box::new(Cursor::new(buffered).chain(source))
    }

    /// Takes `count` bytes as one line or record; returns where in the buffer they are.
    #[inline]
    fn advance(&mut self, count: usize) -> usize {
        let begin = self.begin;
        self.begin += count;
        self.taken += u64::from(count > 0);
        self.last_begin = self.position;
        self.position += count as u64;
        begin
    }

    /// Reads more bytes behind those in the buffer.
    fn fill(&mut self) -> Result<(), ImportError> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        let read = self
            .source
            .read(&mut self.buffer[self.end..])
            .map_err(|error| ImportError::io(&self.name, &error))?;
        self.exhausted = read == 0;
        self.end += read;
        Ok(())
    }
}
