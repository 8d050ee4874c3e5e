//! Sets as arrays in the order of use, most recent first.

/// No entry: larger than any line number, because lines are at least two bytes.
pub(crate) const EMPTY: u64 = u64::MAX;

/// Makes `entry` the most recently used of its set and says whether it was there. If not, the last one leaves.
#[inline(always)]
pub(crate) fn touch(set: &mut [u64], entry: u64) -> bool {
    let mut moved = entry;
    for place in set {
        let held = std::mem::replace(place, moved);
        if held == entry {
            return true;
        }
        moved = held;
    }
    false
}

/// [`touch`] for a number of ways known beforehand, in few instructions and without a branch where the host has such.
///
/// Where in a set the entry is, if at all, is what the host's branch predictor cannot know.
#[inline(always)]
pub(crate) fn touch_ways<const WAYS: usize>(set: &mut [u64; WAYS], entry: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512vl"))]
    {
        if let Ok(set) = <&mut [u64; 4]>::try_from(set.as_mut_slice()) {
            return avx512::touch_4(set, entry);
        }
        if let Ok(set) = <&mut [u64; 8]>::try_from(set.as_mut_slice()) {
            return avx512::touch_8(set, entry);
        }
    }
    touch(set, entry)
}

/// A whole set in one register. The build has the instructions, or this module is not part of it.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512vl"))]
mod avx512 {
    use std::arch::x86_64::*;

    /// Ways that take over from the one before: those up to the entry's, or all.
    #[inline(always)]
    fn moving(found: u8) -> u8 {
        found.wrapping_sub(1) | found
    }

    #[inline(always)]
    #[allow(unsafe_code, reason = "the host's vectors")]
    pub(super) fn touch_4(set: &mut [u64; 4], entry: u64) -> bool {
        let set = set.as_mut_ptr().cast();
        // SAFETY: `set` is valid for four words, which need not be aligned, and the build has AVX-512.
        unsafe {
            let held = _mm256_loadu_epi64(set);
            let wanted = _mm256_set1_epi64x(entry.cast_signed());
            let found = _mm256_cmpeq_epi64_mask(held, wanted);
            let moved = _mm256_alignr_epi64::<3>(held, wanted);
            let kept = _mm256_mask_mov_epi64(held, moving(found), moved);
            _mm256_storeu_epi64(set, kept);
            found != 0
        }
    }

    #[inline(always)]
    #[allow(unsafe_code, reason = "the host's vectors")]
    pub(super) fn touch_8(set: &mut [u64; 8], entry: u64) -> bool {
        let set = set.as_mut_ptr().cast();
        // SAFETY: `set` is valid for eight words, which need not be aligned, and the build has AVX-512.
        unsafe {
            let held = _mm512_loadu_epi64(set);
            let wanted = _mm512_set1_epi64(entry.cast_signed());
            let found = _mm512_cmpeq_epi64_mask(held, wanted);
            let moved = _mm512_alignr_epi64::<7>(held, wanted);
            let kept = _mm512_mask_mov_epi64(held, moving(found), moved);
            _mm512_storeu_epi64(set, kept);
            found != 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same<const WAYS: usize>(entries: &[u64]) {
        let (mut one, mut other) = ([EMPTY; WAYS], [EMPTY; WAYS]);
        for &entry in entries {
            let found = touch(&mut one, entry);
            assert_eq!(touch_ways(&mut other, entry), found);
            assert_eq!(one, other);
        }
    }

    proptest! {
        #[test]
        fn known_ways_make_no_difference(entries in prop::collection::vec(0_u64..12, 0..200)) {
            same::<1>(&entries);
            same::<2>(&entries);
            same::<4>(&entries);
            same::<8>(&entries);
            same::<16>(&entries);
        }
    }
}
