//! Stores past the host's caches (non-temporal stores).

#[cfg(not(target_arch = "x86_64"))]
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes of one such store, to a place that is a multiple of them.
const BYTES: usize = 16;

macro_rules! stream {
    ($name:ident, $word:ty, $atomic:ty) => {
        /// Writes a line of words past the caches, 16 bytes at a time; through them on processors other than x86-64.
        ///
        /// The words must not be read or written, by anybody, before the thread has called [`fence`].
        ///
        /// # Panics
        /// If there are not as many places as words, or they do not begin and end at multiples of 16 bytes.
        #[allow(
            unsafe_code,
            reason = "the standard library offers the instruction as an unsafe function only"
        )]
        pub(crate) fn $name(places: &[$atomic], words: &[$word]) {
            const WORDS: usize = BYTES / size_of::<$word>();
            let first = places.as_ptr();
            assert!(places.len() == words.len() && words.len().is_multiple_of(WORDS));
            assert_eq!(
                first.cast::<u8>().align_offset(BYTES),
                0,
                "a place is no multiple of {BYTES} bytes"
            );
            #[cfg(target_arch = "x86_64")]
            for (places, words) in places.chunks_exact(WORDS).zip(words.chunks_exact(WORDS)) {
                use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
                // SAFETY: the words are 16 bytes that are read. The places are 16 bytes that begin at a multiple of 16, as `first` does, and that
                // atomics let be written through a shared reference. Others see them when the thread has called `fence`, and nobody accesses
                // them before: `stream` asks for that, and a thread that breaks it reads old words or new ones, as of any atomic. Every x86-64
                // processor has the instructions (SSE2).
                unsafe {
                    let words = _mm_loadu_si128(words.as_ptr().cast());
                    _mm_stream_si128(places.as_ptr().cast_mut().cast(), words);
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            for (place, &word) in places.iter().zip(words) {
                place.store(word, Ordering::Relaxed);
            }
        }
    };
}
stream!(stream_halves, u32, AtomicU32);
stream!(stream, u64, AtomicU64);

/// Writes words of 4 bytes past the caches; through them on processors other than x86-64, and what is no whole word in its place.
///
/// The bytes must not be read or written before the thread has called [`fence`].
///
/// # Panics
/// If there is not as much room as bytes.
#[allow(
    unsafe_code,
    reason = "the standard library offers the instruction as an unsafe function only"
)]
pub(crate) fn stream_bytes(to: &mut [u8], bytes: &[u8]) {
    assert_eq!(to.len(), bytes.len());
    #[cfg(target_arch = "x86_64")]
    if to.as_ptr().align_offset(size_of::<i32>()) == 0 {
        use std::arch::x86_64::_mm_stream_si32;
        let (places, rest) = to.as_chunks_mut::<4>();
        let (words, bytes) = bytes.as_chunks::<4>();
        for (place, &word) in places.iter_mut().zip(words) {
            // SAFETY: the place is 4 bytes that begin at a multiple of 4, as the first does, and that nobody else has; they are read when the
            // thread has called `fence`: `stream_bytes` asks for that. Every x86-64 processor has the instruction (SSE2).
            unsafe { _mm_stream_si32(place.as_mut_ptr().cast(), i32::from_ne_bytes(word)) }
        }
        rest.copy_from_slice(bytes);
        return;
    }
    to.copy_from_slice(bytes);
}

/// Has everything that the thread wrote by [`stream`], [`stream_halves`] and [`stream_bytes`] be where all threads see it, before what follows.
#[allow(
    unsafe_code,
    reason = "the standard library offers the instruction as an unsafe function only"
)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::_mm_sfence;
        // SAFETY: it orders stores and has no other effect. Every x86-64 processor has it (SSE).
        unsafe { _mm_sfence() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::thread;

    #[repr(align(64))]
    struct Lines([AtomicU64; 64]);

    #[test]
    fn words_are_where_they_were_written_when_the_thread_has_fenced() {
        let lines = Lines(std::array::from_fn(|_| AtomicU64::new(1)));
        thread::scope(|scope| {
            scope.spawn(|| {
                for line in 1..8 {
                    let words: Vec<u64> = (0..8).map(|word| 100 * line + word).collect();
                    stream(&lines.0[8 * line as usize..][..8], &words);
                }
                fence();
            });
        });
        for (word, found) in (0..).zip(&lines.0) {
            let expected = if word < 8 {
                1
            } else {
                100 * (word / 8) + word % 8
            };
            assert_eq!(found.load(Ordering::Relaxed), expected, "word {word}");
        }
    }

    #[test]
    fn halves_of_words_are_where_they_were_written() {
        #[repr(align(64))]
        struct Line([AtomicU32; 16]);
        let line = Line(std::array::from_fn(|_| AtomicU32::new(0)));
        stream_halves(&line.0[4..12], &[1, 2, 3, 4, 5, 6, 7, 8]);
        fence();
        let found = line.0.map(AtomicU32::into_inner);
        assert_eq!(found, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0]);
    }

    #[test]
    fn bytes_are_where_they_were_written() {
        #[repr(align(8))]
        struct Bytes([u8; 128]);
        let mut memory = Bytes([0; 128]);
        let bytes: Vec<u8> = (0..50).collect();
        for (from, until) in [(0, 50), (4, 20), (1, 17), (8, 8)] {
            let all = &mut memory.0;
            all.fill(u8::MAX);
            stream_bytes(&mut all[from..until], &bytes[from..until]);
            fence();
            assert_eq!(all[from..until], bytes[from..until]);
            assert!(
                all[..from]
                    .iter()
                    .chain(&all[until..])
                    .all(|&byte| byte == u8::MAX)
            );
        }
    }

    #[test]
    #[should_panic(expected = "no multiple of 16 bytes")]
    fn a_place_between_two_is_refused() {
        let lines = Lines(std::array::from_fn(|_| AtomicU64::new(0)));
        stream(&lines.0[1..3], &[1, 2]);
    }
}
