//! A digest of what a kernel does.

use traces::{Event, EventSink, SinkError};

/// FNV-1a over 64-bit words: the same in every version of the compiler.
#[derive(Clone, Copy)]
pub struct Digest(pub u64);

impl Digest {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(29);
    }

    pub fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.word(byte.into()));
        self.word(text.len() as u64);
    }
}

impl EventSink for Digest {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            let [size, words, instructions, site] =
                [event.size, event.words, event.instructions, event.site].map(u64::from);
            let (kind, chain) = (event.kind as u64, u64::from(event.chain));
            self.word(event.address);
            self.word(u64::from(event.dep) | kind << 32 | chain << 40);
            self.word(size | words << 16 | instructions << 32 | site << 48);
        }
        Ok(())
    }
}
