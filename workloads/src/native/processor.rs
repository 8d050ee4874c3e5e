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
    let cpuid = raw_cpuid::CpuId::new();
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
        dtlb: dtlb(&cpuid),
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
fn dtlb<R: raw_cpuid::CpuIdReader>(cpuid: &raw_cpuid::CpuId<R>) -> Vec<TlbEntries> {
    use raw_cpuid::DatType;
    let amd = [
        cpuid.get_l1_cache_and_tlb_info().map(|info| TlbEntries {
            entries: u32::from(info.dtlb_4k_size()),
            leaf: "80000005h",
        }),
        cpuid.get_l2_l3_cache_and_tlb_info().map(|info| TlbEntries {
            entries: u32::from(info.dtlb_4k_size()),
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

/// Cycles per second that the core runs at now: the median of timed loops whose cycles are known. Right where a
/// rotation and an exclusive or are two instructions of one cycle each, as on every x86-64 core; AArch64 fuses them.
#[must_use]
pub fn clock_hz() -> f64 {
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            black_box(
                (0..black_box(ROUNDS)).fold(1_u64, |value, round| value.rotate_left(1) ^ round),
            );
            (CYCLES_PER_ROUND * ROUNDS) as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    samples.sort_unstable_by(f64::total_cmp);
    samples[SAMPLES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_runs_at_a_possible_clock() {
        assert!((1e8..1e10).contains(&clock_hz()));
    }

    #[test]
    fn geometry_is_consistent() {
        for cache in processor().caches {
            assert_eq!(cache.size_bytes % (cache.line_bytes * cache.ways), 0);
        }
    }
}
