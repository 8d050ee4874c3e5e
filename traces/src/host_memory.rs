//! What memory the host has to give, so that what does not fit is refused before it is built.

use std::fs;
use std::path::Path;

/// What there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    /// Bytes that may still be touched.
    pub memory: u64,
    /// The largest piece that the system would give.
    pub piece: u64,
}

impl Free {
    /// For hosts that do not say: nothing is refused.
    pub const UNKNOWN: Self = Self {
        memory: u64::MAX,
        piece: u64::MAX,
    };

    /// What this process may take now: of the host's memory, of that of its control groups, and of its own limit.
    #[must_use]
    pub fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).ok();
        let Some(host) = read("/proc/meminfo") else {
            return Self::UNKNOWN;
        };
        let of_host = |name| kilobytes(&host, name).unwrap_or(u64::MAX);
        let own = read("/proc/self/limits").and_then(|limits| address_space(&limits));
        let taken = read("/proc/self/status").and_then(|status| kilobytes(&status, "VmSize:"));
        let left = own.map_or(u64::MAX, |own| own.saturating_sub(taken.unwrap_or(0)));
        let overcommits = read("/proc/sys/vm/overcommit_memory");
        let whole = match overcommits.as_deref().map(str::trim) {
            Some("1") => u64::MAX,
            Some("2") => of_host("CommitLimit:").saturating_sub(of_host("Committed_AS:")),
            _ => of_host("MemTotal:").saturating_add(of_host("SwapTotal:")),
        };
        let groups = read("/proc/self/cgroup").map_or(u64::MAX, |groups| of_groups(&groups));
        Self {
            memory: of_host("MemAvailable:").min(groups).min(left),
            piece: whole.min(left),
        }
    }
}

/// A number of kilobytes in a file of `/proc`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// The limit of a process's addresses, if it has one.
fn address_space(limits: &str) -> Option<u64> {
    let name = "Max address space";
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the control groups that `/proc/self/cgroup` lists leave.
fn of_groups(groups: &str) -> u64 {
    let root = Path::new("/sys/fs/cgroup");
    let mut least = u64::MAX;
    for group in groups.lines() {
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (top, limit, usage, cached) = match controllers {
            "" => (
                root.to_owned(),
                "memory.max",
                "memory.current",
                "inactive_file",
            ),
            "memory" => (
                root.join("memory"),
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            _ => continue,
        };
        let mut folder = top.join(path.trim_start_matches('/'));
        // In a container the path may be that outside; its own group is then the top.
        while folder.starts_with(&top) {
            if let Some(left) = of_group(&folder, limit, usage, cached) {
                least = least.min(left);
            }
            if !folder.pop() {
                break;
            }
        }
    }
    least
}

/// What one group leaves: its limit less what it uses and could not drop at once.
fn of_group(folder: &Path, limit: &str, usage: &str, cached: &str) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let (limit, usage) = (number(limit)?, number(usage)?);
    let cached = read("memory.stat").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix(cached))?;
        line.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or(0))))
}

/// A number of bytes for people.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    if unit == 0 {
        return format!("{bytes} bytes");
    }
    let value = bytes as f64 / (1_u64 << (10 * unit)) as f64;
    format!("{value:.1} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        let sizes = [0, 1023, 1024, 3 << 29, 12 << 30, u64::MAX].map(size);
        let expected = [
            "0 bytes",
            "1023 bytes",
            "1.0 KiB",
            "1.5 GiB",
            "12.0 GiB",
            "16.0 EiB",
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn files_of_the_system_are_read() {
        let host = "MemTotal:       24117248 kB\nMemAvailable:   1024 kB\n";
        assert_eq!(kilobytes(host, "MemAvailable:"), Some(1 << 20));
        assert_eq!(kilobytes(host, "SwapTotal:"), None);
        let limits = "Max open files            1024                 4096                 files\n\
                      Max address space         4294967296           unlimited            bytes\n";
        assert_eq!(address_space(limits), Some(1 << 32));
        assert_eq!(
            address_space("Max address space         unlimited  unlimited  bytes"),
            None
        );
    }

    #[test]
    fn the_tightest_group_decides() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 600\ninactive_file 100\n");
        let left = || {
            of_group(
                folder.path(),
                "memory.max",
                "memory.current",
                "inactive_file",
            )
        };
        assert_eq!(left(), Some(400));
        write("memory.max", "max\n");
        assert_eq!(left(), None);
    }

    #[test]
    fn this_host_has_some() {
        let free = Free::now();
        assert!(free.memory > 1 << 20 && free.piece > 1 << 20, "{free:?}");
    }
}
