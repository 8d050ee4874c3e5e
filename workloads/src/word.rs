//! Machine words of the simulated machine.

/// An unsigned integer that fills one machine word of the simulated machine.
pub trait Word: Copy + Ord + std::fmt::Debug + std::hash::Hash + Send + Sync + 'static {
    /// Bytes per word.
    const BYTES: usize;
    /// The largest value.
    const MAX: Self;
    /// Narrows a value that is known to fit.
    ///
    /// # Panics
    /// If it does not fit: addresses and keys are checked against the word when a workload is validated.
    fn from_u64(value: u64) -> Self;
    /// Widens.
    fn to_u64(self) -> u64;
    /// Reads the word at `offset`.
    fn read(bytes: &[u8], offset: usize) -> Self;
    /// Writes the word at `offset`.
    fn write(self, bytes: &mut [u8], offset: usize);
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BYTES: usize = size_of::<Self>();
            const MAX: Self = Self::MAX;

            #[inline]
            fn from_u64(value: u64) -> Self {
                Self::try_from(value).expect("value fits the word")
            }

            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn read(bytes: &[u8], offset: usize) -> Self {
                let word = bytes[offset..]
                    .first_chunk()
                    .expect("the address space ends behind the word");
                Self::from_le_bytes(*word)
            }

            #[inline]
            fn write(self, bytes: &mut [u8], offset: usize) {
                bytes[offset..offset + Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }
        }
    };
}
word!(u16);
word!(u32);
word!(u64);
