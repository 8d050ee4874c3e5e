//! Reads a gem5 trace, message by message, in bounded memory.

use crate::gem5::{Gem5Error, MAGIC};
use flate2::bufread::MultiGzDecoder;
use prost::Message;
use prost::encoding::decode_varint;
use std::any::type_name;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest message that is read: far beyond any that gem5 writes, and little memory.
pub const MESSAGE_BYTES_MAX: u32 = 1 << 20;

/// The first bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The most bytes that a 32-bit varint takes.
const VARINT_BYTES_MAX: usize = 5;

/// Takes protobuf messages out of gem5's framing; a file compressed with gzip is recognised by its first bytes.
pub struct MessageReader {
    from: Box<dyn BufRead + Send>,
    path: String,
    /// Messages read.
    messages: u64,
    /// Bytes read, decompressed.
    offset: u64,
    /// The bytes of one message; kept so that its memory is.
    body: Vec<u8>,
}

impl MessageReader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read or does not begin as a gem5 trace.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Gem5Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(BufReader::new(file), name),
            Err(source) => Err(Gem5Error::Open { path: name, source }),
        }
    }

    /// Reads from `from`, which errors call `path`.
    ///
    /// # Errors
    /// `from` cannot be read or does not begin as a gem5 trace.
    pub fn new(
        mut from: impl BufRead + Send + 'static,
        path: impl Into<String>,
    ) -> Result<Self, Gem5Error> {
        let path = path.into();
        let failed = |error| Gem5Error::read(&path, 0, error);
        let compressed = from.fill_buf().map_err(failed)?.starts_with(&GZIP_MAGIC);
        let mut from: Box<dyn BufRead + Send> = if compressed {
            Box::new(BufReader::new(MultiGzDecoder::new(from)))
        } else {
            Box::new(from)
        };
        let mut magic = Vec::new();
        Read::by_ref(&mut from)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(failed)?;
        if magic != MAGIC {
            return Err(Gem5Error::NotGem5 {
                found: shown(&magic),
                path,
            });
        }
        Ok(Self {
            from,
            path,
            messages: 0,
            offset: MAGIC.len() as u64,
            body: Vec::new(),
        })
    }

    /// Messages read so far, the header among them.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The next message, which must be an `M`; nothing at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, stops inside the message, or holds something else there.
    pub fn read<M: Message + Default>(&mut self) -> Result<Option<M>, Gem5Error> {
        let start = self.offset;
        let Some(length) = self.length()? else {
            return Ok(None);
        };
        self.body.clear();
        Read::by_ref(&mut self.from)
            .take(u64::from(length))
            .read_to_end(&mut self.body)
            .map_err(|error| self.failed(error))?;
        if self.body.len() != length as usize {
            return Err(self.failed(io::ErrorKind::UnexpectedEof.into()));
        }
        self.offset += u64::from(length);
        let message = M::decode(self.body.as_slice()).map_err(|error| Gem5Error::Message {
            path: self.path.clone(),
            message: self.messages,
            offset: start,
            wanted: type_name::<M>().rsplit(':').next().unwrap_or_default(),
            cause: error.to_string(),
        })?;
        self.messages += 1;
        Ok(Some(message))
    }

    /// The next message's length; nothing at the end of the file.
    fn length(&mut self) -> Result<Option<u32>, Gem5Error> {
        let mut bytes = [0; VARINT_BYTES_MAX];
        let mut used = 0;
        loop {
            let mut byte = 0;
            match self.from.read(std::slice::from_mut(&mut byte)) {
                Ok(0) if used == 0 => return Ok(None),
                Ok(0) => return Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failed(error)),
            }
            bytes[used] = byte;
            used += 1;
            if byte < 0x80 || used == VARINT_BYTES_MAX {
                break;
            }
        }
        let length = decode_varint(&mut &bytes[..used]);
        match length {
            Ok(length) if length <= u64::from(MESSAGE_BYTES_MAX) => {
                self.offset += used as u64;
                // At most MESSAGE_BYTES_MAX.
                Ok(Some(length as u32))
            }
            other => Err(Gem5Error::Length {
                path: self.path.clone(),
                message: self.messages,
                offset: self.offset,
                found: other.map_or_else(|_| shown(&bytes[..used]), |length| length.to_string()),
                max: MESSAGE_BYTES_MAX,
            }),
        }
    }

    fn failed(&self, error: io::Error) -> Gem5Error {
        Gem5Error::read(&self.path, self.messages, error)
    }
}

impl fmt::Debug for MessageReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("MessageReader");
        shown.field("path", &self.path).finish_non_exhaustive()
    }
}

/// Bytes as a user reads them.
fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.join(" ")
}
