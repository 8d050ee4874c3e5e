//! What the processor says about itself (CPUID), and the clock it runs at.

use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

/// The processor's own account. Fields are empty where it says nothing, everything is on processors without CPUID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Processor {
    /// Who made it, such as `GenuineIntel`.
    pub vendor: String,
    /// Its name for people.
    pub brand: String,
    /// Family, extended family included.
    pub family: u8,
    /// Model, extended model included.
    pub model: u8,
    /// Whether a hypervisor is present, which may say what it likes in place of the processor.
    pub virtual_machine: bool,
    /// Data TLB for 4 KiB pages, nearest level first.
    pub dtlb: Vec<TlbEntries>,
    /// Caches that hold data, nearest first.
    pub caches: Vec<CacheGeometry>,
}

/// One level of TLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TlbEntries {
    /// Translations of 4 KiB pages.
    pub entries: u32,
    /// CPUID leaf that says so.
    pub leaf: &'static str,
}

/// One level of cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheGeometry {
    /// 1 is nearest.
    pub level: u8,
    /// Capacity.
    pub size_bytes: u64,
    /// Line size.
    pub line_bytes: u64,
    /// Lines per set.
    pub ways: u64,
}

/// Asks the processor.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn processor() -> Processor {
    use raw_cpuid::{CpuId, CpuIdReaderNative};
    let cpuid = CpuId::new();
    let features = cpuid.get_feature_info();
    let text = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    Processor {
        vendor: text(
            cpuid
                .get_vendor_info()
                .as_ref()
                .map(|vendor| vendor.as_str()),
        ),
        brand: text(
            cpuid
                .get_processor_brand_string()
                .as_ref()
                .map(|brand| brand.as_str()),
        ),
        family: features.as_ref().map_or(0, |info| info.family_id()),
        model: features.as_ref().map_or(0, |info| info.model_id()),
        virtual_machine: features.is_some_and(|info| info.has_hypervisor()),
        dtlb: dtlb(&CpuIdReaderNative),
        caches: caches(&cpuid),
    }
}

/// Asks the processor: this one has no CPUID.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn processor() -> Processor {
    Processor::default()
}

/// AMD gives the entries in leaves of its own, Intel in leaf 18h. Leaf 2 of older Intel processors, a list of codes
/// with a table of meanings, is not read.
#[cfg(target_arch = "x86_64")]
fn dtlb<R: raw_cpuid::CpuIdReader>(reader: &R) -> Vec<TlbEntries> {
    use raw_cpuid::{CpuId, DatType};
    let cpuid = CpuId::with_cpuid_reader(reader.clone());
    let amd = [
        cpuid.get_l1_cache_and_tlb_info().map(|info| TlbEntries {
            entries: u32::from(info.dtlb_4k_size()),
            leaf: "80000005h",
        }),
        cpuid.get_l2_l3_cache_and_tlb_info().map(|info| TlbEntries {
            entries: u32::from(info.dtlb_4k_size()) * second_tlb_unit(reader),
            leaf: "80000006h",
        }),
    ];
    let found: Vec<_> = amd
        .into_iter()
        .flatten()
        .filter(|level| level.entries > 0)
        .collect();
    if !found.is_empty() {
        return found;
    }
    let mut levels: Vec<(u8, u32)> = Vec::new();
    for info in cpuid
        .get_deterministic_address_translation_info()
        .into_iter()
        .flatten()
    {
        let holds_loads = matches!(
            info.cache_type(),
            DatType::DataTLB | DatType::UnifiedTLB | DatType::LoadOnly
        );
        let entries = u32::from(info.ways()) * info.sets();
        let level = info.cache_level();
        if holds_loads && info.has_4k_entries() && !levels.iter().any(|&(known, _)| known == level)
        {
            levels.push((level, entries));
        }
    }
    levels.sort_unstable();
    levels
        .into_iter()
        .map(|(_, entries)| TlbEntries {
            entries,
            leaf: "18h",
        })
        .collect()
}

/// Entries that AMD's processors of today count as one in the size of the second TLB, which has 12 bits (bit 14 of leaf 80000021h: `L2TlbSizeX32`).
#[cfg(target_arch = "x86_64")]
const COUNTED_AS_ONE: u32 = 32;
/// The first family of AMD's that counts so (Zen 5). Hypervisors hide the bit that says so, and leave the size as it is.
#[cfg(target_arch = "x86_64")]
const COUNTS_SO_FROM_FAMILY: u8 = 26;

/// Entries that stand behind one in AMD's size of the second TLB.
#[cfg(target_arch = "x86_64")]
fn second_tlb_unit<R: raw_cpuid::CpuIdReader>(reader: &R) -> u32 {
    const MOST_LEAF: u32 = 0x8000_0000;
    const LEAF: u32 = 0x8000_0021;
    let says_so = reader.cpuid1(MOST_LEAF).eax >= LEAF && reader.cpuid1(LEAF).eax >> 14 & 1 == 1;
    let features = raw_cpuid::CpuId::with_cpuid_reader(reader.clone()).get_feature_info();
    if says_so || features.is_some_and(|info| info.family_id() >= COUNTS_SO_FROM_FAMILY) {
        COUNTED_AS_ONE
    } else {
        1
    }
}

#[cfg(target_arch = "x86_64")]
fn caches<R: raw_cpuid::CpuIdReader + Clone>(cpuid: &raw_cpuid::CpuId<R>) -> Vec<CacheGeometry> {
    use raw_cpuid::CacheType;
    cpuid
        .get_cache_parameters()
        .into_iter()
        .flatten()
        .filter(|cache| matches!(cache.cache_type(), CacheType::Data | CacheType::Unified))
        .map(|cache| {
            let (line, ways) = (
                cache.coherency_line_size() as u64,
                cache.associativity() as u64,
            );
            let partitions = cache.physical_line_partitions() as u64;
            CacheGeometry {
                level: cache.level(),
                size_bytes: line * ways * partitions * cache.sets() as u64,
                line_bytes: line,
                ways,
            }
        })
        .collect()
}

/// Rounds of the clock's loop: about a millisecond.
const ROUNDS: u64 = 1 << 21;
/// Times that the loop is timed.
const SAMPLES: usize = 15;
/// Cycles of a round: a rotation and an exclusive or, one cycle each, each waiting for the one before.
const CYCLES_PER_ROUND: u64 = 2;

/// Cycles per second that the core runs at now: those of the shortest of timed loops whose cycles are known, as others that have the
/// processor meanwhile can only lengthen one. Right where a rotation and an exclusive or are two instructions of one cycle each, as on
/// every x86-64 core; AArch64 fuses them.
#[must_use]
pub fn clock_hz() -> f64 {
    let loops = (0..SAMPLES).map(|_| {
        let start = Instant::now();
        black_box((0..black_box(ROUNDS)).fold(1_u64, |value, round| value.rotate_left(1) ^ round));
        start.elapsed()
    });
    let least = loops.min().expect("there are some");
    (CYCLES_PER_ROUND * ROUNDS) as f64 / least.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_runs_at_a_possible_clock() {
        assert!((1e8..1e10).contains(&clock_hz()));
    }

    /// TLB entries as a processor of AMD's with this leaf 1 and bit 14 of leaf 80000021h says them.
    #[cfg(target_arch = "x86_64")]
    fn entries(leaf_1: u32, counted_in_32s: bool) -> Vec<u32> {
        let reader = move |leaf: u32, _: u32| {
            let (eax, ebx, ecx, edx) = match leaf {
                0 => (1, 0x6874_7541, 0x444d_4163, 0x6974_6e65), // AuthenticAMD
                1 => (leaf_1, 0, 0, 0),
                0x8000_0000 => (0x8000_0021, 0, 0, 0),
                0x8000_0005 => (0, 0xff60_ff40, 0, 0),
                0x8000_0006 => (0, 0x6080_4040, 0, 0),
                0x8000_0021 => (u32::from(counted_in_32s) << 14, 0, 0, 0),
                _ => (0, 0, 0, 0),
            };
            raw_cpuid::CpuIdResult { eax, ebx, ecx, edx }
        };
        dtlb(&reader).iter().map(|level| level.entries).collect()
    }

    /// A second TLB of 128 times 32 entries on a core of family 26, which a hypervisor may hide, and of 128 on one of family 25.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_second_tlb_may_be_counted_in_32s() {
        const FAMILY_26: u32 = 0x00b0_0f21;
        const FAMILY_25: u32 = 0x00a1_0f11;
        assert_eq!(entries(FAMILY_26, true), [96, 4096]);
        assert_eq!(entries(FAMILY_26, false), [96, 4096]);
        assert_eq!(entries(FAMILY_25, false), [96, 128]);
    }

    #[test]
    fn geometry_is_consistent() {
        for cache in processor().caches {
            assert_eq!(cache.size_bytes % (cache.line_bytes * cache.ways), 0);
        }
    }
}
