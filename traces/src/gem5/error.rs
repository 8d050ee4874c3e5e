//! What can go wrong while a gem5 trace is read, each in one line that names the file, the place and the remedy.

use std::io::{self, ErrorKind};
use thiserror::Error;

/// Why a gem5 trace could not be read.
#[derive(Debug, Error)]
pub enum Gem5Error {
    /// The file cannot be opened.
    #[error("{path}: {source}; check the path and its permissions")]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system or the decompressor refused.
    #[error("{path}: message {message}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Message of the file, from 0 (the header).
        message: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin as a gem5 trace.
    #[error("{path}: not a gem5 trace: it begins with {found}, not with `gem5` (67 65 6d 35)")]
    NotGem5 {
        /// The file.
        path: String,
        /// The first bytes in hexadecimal.
        found: String,
    },
    /// The file stops inside a message.
    #[error("{path}: cut short inside message {message}; copy the file again or write it again")]
    Truncated {
        /// The file.
        path: String,
        /// Message of the file, from 0 (the header).
        message: u64,
    },
    /// A message's length is none that a message can have.
    #[error(
        "{path}: message {message} (byte {offset}): bad length {found}; it is a varint of at most {max} bytes of message"
    )]
    Length {
        /// The file.
        path: String,
        /// Message of the file, from 0 (the header).
        message: u64,
        /// Where its length begins, in the decompressed file.
        offset: u64,
        /// The length in words.
        found: String,
        /// The longest message that is read.
        max: u32,
    },
    /// The bytes of a message are none of the wanted kind.
    #[error("{path}: message {message} (byte {offset}): not a {wanted}: {cause}")]
    Message {
        /// The file.
        path: String,
        /// Message of the file, from 0 (the header).
        message: u64,
        /// Where its length begins, in the decompressed file.
        offset: u64,
        /// The kind of message that belongs there.
        wanted: &'static str,
        /// What the protobuf decoder said.
        cause: String,
    },
}

impl Gem5Error {
    /// An error while the bytes of `message` were read; their early end is a truncated file.
    pub(super) fn read(path: &str, message: u64, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == ErrorKind::UnexpectedEof {
            Self::Truncated { path, message }
        } else {
            Self::Io {
                path,
                message,
                source,
            }
        }
    }
}
