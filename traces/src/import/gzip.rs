//! Gzip data: members one behind the other, and zeros that fill the rest of a tape's block.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// What the members hold, one behind the other.
pub(super) struct Gzip<R: Read> {
    /// Nothing if all has been read.
    member: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Gzip<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            member: Some(GzDecoder::new(BufReader::new(source))),
        }
    }

    /// The member behind one that has been read, if there is another.
    fn next(member: GzDecoder<BufReader<R>>) -> io::Result<Option<GzDecoder<BufReader<R>>>> {
        let mut source = member.into_inner();
        loop {
            let bytes = source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == bytes.len();
            source.consume(zeros);
            if !is_all {
                return Ok(Some(GzDecoder::new(source)));
            }
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.member = match self.member.take() {
                None => None,
                Some(member) => Self::next(member)?,
            };
        }
        Ok(0)
    }
}
