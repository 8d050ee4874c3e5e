//! How large filters are.

use super::hashes::HASHES;

/// Bits of a filter: positions are numbers of 32 bits.
pub(in crate::join) const MOST_BITS: f64 = u32::MAX as f64;

/// Bits of a filter of so many keys that has a rate of false positives, rounded up to whole lines: equation 5.2 the other way round.
pub(in crate::join) fn bits_for(keys: u64, rate: f64, line_bytes: u32) -> f64 {
    let hashes = HASHES as f64;
    let per_key = -hashes / (-rate.powf(hashes.recip())).ln_1p();
    let line = f64::from(line_bytes * u8::BITS);
    (keys.max(1) as f64 * per_key / line).ceil() * line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 5.2, in lines of 64 bytes.
    #[test]
    fn bits_are_the_published_ones() {
        for (rate, per_key) in [(0.1, 4.808), (0.05, 6.529), (0.001, 28.474)] {
            let bits = bits_for(1_000_000, rate, 64);
            assert!((bits / 1e6 - per_key).abs() < 0.001, "{rate}: {bits}");
            assert!(bits % 512.0 < f64::EPSILON);
        }
        assert!((bits_for(0, 0.05, 64) - 512.0).abs() < f64::EPSILON);
    }
}
