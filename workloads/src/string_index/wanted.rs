//! Keys that are looked for.

/// The key looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'k> {
    pub bytes: &'k [u8],
    /// Its first bytes, and zeros behind them.
    pub(super) prefix: [u8; 16],
}

impl<'k> Wanted<'k> {
    pub(super) fn new(bytes: &'k [u8]) -> Self {
        let mut prefix = [0; 16];
        let known = bytes.len().min(prefix.len());
        prefix[..known].copy_from_slice(&bytes[..known]);
        Self { bytes, prefix }
    }
}
