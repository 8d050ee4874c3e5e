//! Writes a gem5 trace, message by message.

use crate::gem5::MAGIC;
use prost::Message;
use std::io::{self, Write};

/// Frames protobuf messages for gem5.
#[derive(Debug)]
pub struct MessageWriter<W> {
    to: W,
    /// One framed message; kept so that its memory is.
    frame: Vec<u8>,
}

impl<W: Write> MessageWriter<W> {
    /// Starts a trace: writes the magic number. The caller compresses, if the file's name ends in `.gz`.
    ///
    /// # Errors
    /// `to` could not be written.
    pub fn new(mut to: W) -> io::Result<Self> {
        to.write_all(&MAGIC)?;
        Ok(Self {
            to,
            frame: Vec::new(),
        })
    }

    /// Writes the next message; the first one is the header.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn write(&mut self, message: &impl Message) -> io::Result<()> {
        self.frame.clear();
        message
            .encode_length_delimited(&mut self.frame)
            .map_err(io::Error::other)?;
        self.to.write_all(&self.frame)
    }

    /// Ends the trace and gives back what it was written to.
    pub fn into_inner(self) -> W {
        self.to
    }
}
