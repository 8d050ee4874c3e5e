//! The prefetch instructions of the host.

/// Asks for the line that holds `address`, into the nearest cache; does nothing on processors without a known prefetch
/// instruction.
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the standard library offers the instruction as an unsafe function only"
)]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes what the program can see, and never faults, whatever the address
        // (Intel 64 manual volume 2B and AMD64 manual volume 3, PREFETCHh). Every x86-64 processor has it (SSE).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: PRFM is a hint without architectural effect and never faults (Arm Architecture Reference Manual,
        // C6.2, PRFM). The options say so to the compiler, except `pure`, which would let it drop the instruction.
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{}]",
                in(reg) address,
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Asks for the line that holds `address`, which is used once only, so that it displaces as little as the processor can manage.
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the standard library offers the instruction as an unsafe function only"
)]
pub fn prefetch_nta(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_NTA, _mm_prefetch};
        // SAFETY: as for `prefetch`; the hint says where the line goes.
        unsafe { _mm_prefetch::<_MM_HINT_NTA>(address.cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: as for `prefetch`; the hint says where the line goes.
        unsafe {
            std::arch::asm!(
                "prfm pldl1strm, [{}]",
                in(reg) address,
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Whether [`prefetch`] does anything on this processor.
pub const AVAILABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(test)]
mod tests {
    use super::*;

    /// Every address may be prefetched: mapped, null, the last there is, not canonical.
    #[test]
    fn no_address_faults() {
        let mapped = [7_u8; 64];
        for address in [
            mapped.as_ptr(),
            std::ptr::null(),
            std::ptr::without_provenance(usize::MAX),
            std::ptr::without_provenance(1 << 62),
        ] {
            prefetch(address);
            prefetch_nta(address);
        }
        assert_eq!(mapped, [7; 64]);
    }
}
