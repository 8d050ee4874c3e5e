//! Where programs that know nothing of each other lie in one physical memory.

/// Distance of two programs: a whole 48-bit address space, as large as that of today's processors.
const SPACE_BYTES: u64 = 1 << 48;

/// By how much further each program begins than at a multiple of that, before it is rounded to a page: the golden section
/// of 2^40. Any power of two divides its multiples with remainders far apart, so that equal addresses of two programs meet
/// neither in the sets of a cache nor in the banks and rows of a DRAM more often than others do.
const SPREAD: u64 = 0x9E_3779_B97F;

/// How far the lines of program `number` lie from where its addresses say; 0 for the first. Whole pages, so that what is
/// on one page stays on one.
pub(crate) fn displacement(number: u64, page_bytes: u64) -> u64 {
    let spread = SPREAD & !(page_bytes - 1) | page_bytes;
    number.wrapping_mul(SPACE_BYTES + spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Canonical addresses are 47 bits from 0 in both directions: programs take 2^48 bytes each, and 256 fit.
    #[test]
    fn programs_do_not_overlap() {
        for page in [4096, 16 << 10, 2 << 20] {
            let mut places: Vec<u64> = (0..256).map(|number| displacement(number, page)).collect();
            assert_eq!(places[0], 0);
            places.sort_unstable();
            let next = places[1..].iter().chain(&places[..1]);
            for (place, next) in places.iter().zip(next) {
                assert!(next.wrapping_sub(*place) >= SPACE_BYTES);
                assert_eq!(place % page, 0);
            }
        }
    }

    /// Equal addresses of eight programs fall into eight parts of a cache's sets, or of a DRAM's rows.
    #[test]
    fn programs_begin_in_different_sets() {
        for page in [4096_u64, 16 << 10] {
            for size_bytes in [32 * page, 64 << 20, 16 << 30] {
                let places = (0..4).map(|number| displacement(number, page) % size_bytes);
                let mut places: Vec<u64> = places.collect();
                places.sort_unstable();
                assert!(
                    places
                        .windows(2)
                        .all(|two| two[1] - two[0] >= size_bytes / 32),
                    "{places:x?} of {size_bytes:#x}"
                );
            }
        }
    }
}
