//! What follows from the numbers of an ini file, and which numbers cannot be together.

use super::ini::Mistake;
use super::{DramConfig, keys};
use serde::Serialize;

/// Fields of an address, each a pair of letters in `address_mapping`.
const FIELDS: [&str; 6] = ["ch", "ra", "bg", "ba", "ro", "co"];

/// Whether the text names every field of an address once.
pub(super) fn is_mapping(text: &str) -> bool {
    let pairs = text.as_bytes().chunks(2);
    text.len() == 2 * FIELDS.len()
        && FIELDS
            .iter()
            .all(|field| pairs.clone().any(|pair| pair == field.as_bytes()))
}

/// What a DRAM can do, for people and for tests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DramFacts {
    /// Bytes in all channels.
    pub capacity_bytes: u64,
    /// Bytes that one request moves: bus width x burst length.
    pub request_bytes: u64,
    /// Bytes per second when every channel's data bus is always busy.
    pub peak_bandwidth_bytes_per_second: u64,
    /// Time of a read in a bank without an open row, from its arrival at the controller to its last byte.
    pub unloaded_latency_ps: u64,
    /// Least time between two rows of one bank (tRC = tRAS + tRP).
    pub row_cycle_ps: u64,
    /// Time between two refreshes of a rank (tREFI).
    pub refresh_interval_ps: u64,
}

/// The shape of a DRAM and the times that follow from it, in DRAM cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Length of a DRAM cycle.
    pub(crate) cycle_attoseconds: u64,
    /// Bytes that one request moves; a power of two.
    pub(crate) request_bytes: u64,
    /// Cycles that one request occupies the data bus of its channel.
    pub(crate) burst_cycles: u64,
    /// From arrival at the controller to the last byte, in a bank without an open row: a cycle in the controller,
    /// activation, column access, burst.
    pub(crate) unloaded_cycles: u64,
    /// Refresh repeats after this time when nothing else goes on.
    pub(crate) refresh_period_cycles: u64,
    /// By then everything that has reached the controller has been served, even if each request needs a row of its own
    /// and all are for one bank, and every bank has been refreshed.
    pub(crate) settle_cycles: u64,
    /// Whether refresh repeats. It does not if ranks sleep when idle, nor bank by bank: DRAMSim3 asks for a bank every
    /// tREFIb but lets tREFI pass between two of a rank, so that ever more wait.
    pub(crate) idle_repeats: bool,
    channels: u64,
    /// Bits of the address below the channel's number.
    channel_shift: u32,
    channel_megabytes: u64,
    row_cycle_cycles: u64,
    refresh_interval_cycles: u64,
}

impl Geometry {
    /// Checks the numbers against each other. Each alone has been checked.
    pub(super) fn new(config: &DramConfig<'_>) -> Result<Self, Mistake> {
        let structure = |key| config.number("dram_structure", key, 1);
        let system = |key| config.number("system", key, 1);
        let timing = |key| config.number("timing", key, 0);
        powers_of_two(config)?;

        let protocol = config.word("dram_structure", "protocol");
        let split = protocol.starts_with("GDDR") || protocol.starts_with("HBM");
        let burst_length = structure("BL");
        // Data words per clock cycle.
        let rate = match protocol {
            "GDDR5" => 4,
            "GDDR5X" => 8,
            "GDDR6" => 16,
            _ => 2,
        };
        let burst_cycles = burst_length / rate;
        let at = |key: &str| config.line("dram_structure", key);
        if burst_cycles == 0 {
            let message = format!(
                "BL: a burst of {burst_length} is shorter than a cycle, which moves {rate} words"
            );
            return Err(Mistake::new(at("BL"), message));
        }
        let (bus_width, device_width) = (system("bus_width"), structure("device_width"));
        if bus_width < device_width.max(8) {
            let message = format!(
                "bus_width: {bus_width} bits are less than one device ({device_width} bits) or a byte"
            );
            return Err(Mistake::new(config.line("system", "bus_width"), message));
        }
        // What a column is differs by protocol; here it is one word of the device.
        let words_per_column = match protocol {
            "GDDR5" | "GDDR5X" | "GDDR6" => burst_length,
            "HBM" | "HBM2" => 2,
            _ => 1,
        };
        let columns = structure("columns") * words_per_column;
        if columns < burst_length {
            let message = format!(
                "columns: a row of {columns} words is shorter than a burst of {burst_length}"
            );
            return Err(Mistake::new(at("columns"), message));
        }
        let banks = structure("bankgroups") * structure("banks_per_group");
        let ranks = ranks(
            config,
            columns * device_width / 8,
            banks,
            bus_width / device_width,
        )?;

        let interval = refresh_interval(config, ranks)?;
        // Additive latency lets a command follow the activation early, and waits inside the device.
        let activation = if split {
            [timing("tRCDRD"), timing("tRCDWR")]
        } else {
            [timing("tRCD").saturating_sub(timing("AL")); 2]
        };
        let [read_delay, write_delay] = delays(config, burst_cycles, ranks, activation)?;
        let refresh_period_cycles = match config.word("system", "refresh_policy") {
            keys::RANK_STAGGERED => interval / ranks * ranks,
            _ => interval,
        };
        let row_cycle_cycles = timing("tRAS") + timing("tRP");
        let queued = 2 * system("trans_queue_size") + system("cmd_queue_size") * banks * ranks;
        let one_by_one = queued * (row_cycle_cycles + read_delay.max(write_delay) + timing("tWR"));
        Ok(Self {
            cycle_attoseconds: cycle_attoseconds(config)?,
            request_bytes: bus_width / 8 * burst_length,
            burst_cycles,
            unloaded_cycles: 1 + activation[0] + read_delay,
            refresh_period_cycles,
            // Refresh takes its share of the time in which the queues empty.
            settle_cycles: one_by_one + one_by_one / 4 + 2 * refresh_period_cycles,
            idle_repeats: !config.flag("system", "enable_self_refresh", false)
                && config.word("system", "refresh_policy") != keys::BANK_STAGGERED,
            channels: system("channels"),
            channel_shift: channel_shift(
                config,
                ranks,
                columns / burst_length,
                bus_width / 8 * burst_length,
            ),
            channel_megabytes: system("channel_size"),
            row_cycle_cycles,
            refresh_interval_cycles: interval,
        })
    }

    /// What the DRAM can do.
    pub(crate) fn facts(&self) -> DramFacts {
        let ps = |cycles: u64| {
            (u128::from(cycles) * u128::from(self.cycle_attoseconds) / 1_000_000) as u64
        };
        let bytes = u128::from(self.channels * self.request_bytes) * 1_000_000_000_000_000_000;
        let burst = u128::from(self.burst_cycles) * u128::from(self.cycle_attoseconds);
        DramFacts {
            capacity_bytes: self.channels * (self.channel_megabytes << 20),
            request_bytes: self.request_bytes,
            peak_bandwidth_bytes_per_second: (bytes / burst) as u64,
            unloaded_latency_ps: ps(self.unloaded_cycles),
            row_cycle_ps: ps(self.row_cycle_cycles),
            refresh_interval_ps: ps(self.refresh_interval_cycles),
        }
    }
}

#[cfg(feature = "dramsim3")]
impl Geometry {
    /// The channel that an address belongs to.
    pub(crate) fn channel(&self, address: u64) -> usize {
        (address.checked_shr(self.channel_shift).unwrap_or(0) & (self.channels - 1)) as usize
    }

    /// Number of channels.
    pub(crate) fn channels(&self) -> usize {
        self.channels as usize
    }
}

/// Cycles between refreshes, which have to leave so many ranks time for something else.
fn refresh_interval(config: &DramConfig<'_>, ranks: u64) -> Result<u64, Mistake> {
    let timing = |key| config.number("timing", key, 0);
    let (interval, refresh) = (timing("tREFI"), timing("tRFC"));
    if interval / ranks > refresh + timing("tRAS") + timing("tRP") {
        return Ok(interval);
    }
    let message = format!(
        "tREFI: refreshes every {interval} cycles leave {ranks} ranks no time beside tRFC of {refresh} cycles"
    );
    Err(Mistake::new(config.line("timing", "tREFI"), message))
}

/// From a command to the last byte of its burst: of a read, and of a write.
///
/// DRAMSim3 has one follow the other by a number of cycles that may be negative: then nothing is waited for. It counts cycles without a sign
/// from the first on, and would wait for ever for one before it; none lies there as long as an activation, without which there is no command,
/// makes up for the number.
fn delays(
    config: &DramConfig<'_>,
    burst: u64,
    ranks: u64,
    activation: [u64; 2],
) -> Result<[u64; 2], Mistake> {
    let timing = |key| config.number("timing", key, 0);
    let [before_read, before_write] = activation;
    let (to_read, to_write) = (timing("CL"), timing("CWL"));
    let [read, write] = [to_read, to_write].map(|latency| timing("AL") + latency + burst);
    let turn = burst + timing("tRTRS");
    if before_read + read + turn < write || (ranks > 1 && before_write + write + turn < read) {
        let message = format!(
            "CWL: {to_write} is too far from CL of {to_read}: data of reads and writes would cross"
        );
        return Err(Mistake::new(config.line("timing", "CWL"), message));
    }
    Ok([read, write])
}

/// DRAMSim3 takes addresses apart by bits, and rounds down without a word.
fn powers_of_two(config: &DramConfig<'_>) -> Result<(), Mistake> {
    let keys = [
        ("dram_structure", "bankgroups", 64),
        ("dram_structure", "banks_per_group", 64),
        ("dram_structure", "rows", 1 << 24),
        ("dram_structure", "columns", 1 << 16),
        ("dram_structure", "device_width", 1024),
        ("dram_structure", "BL", 64),
        ("system", "channels", 64),
        ("system", "channel_size", 1 << 20),
        ("system", "bus_width", 1024),
    ];
    for (section, key, most) in keys {
        let value = config.number(section, key, 1);
        if !value.is_power_of_two() || value > most {
            let message = format!("{key}: {value} is no power of two up to {most}");
            return Err(Mistake::new(config.line(section, key), message));
        }
    }
    for (key, most) in [("cmd_queue_size", 1024), ("trans_queue_size", 4096)] {
        let value = config.number("system", key, 1);
        if value > most {
            let message = format!("{key}: {value} entries are more than {most}");
            return Err(Mistake::new(config.line("system", key), message));
        }
    }
    Ok(())
}

/// How many ranks make up a channel, computed as DRAMSim3 does. It would change a size that does not fit.
fn ranks(
    config: &DramConfig<'_>,
    page_bytes: u64,
    banks: u64,
    devices: u64,
) -> Result<u64, Mistake> {
    let rows = config.number("dram_structure", "rows", 1);
    let rank = page_bytes * (rows / 1024) / 1024 * banks * devices;
    let channel = config.number("system", "channel_size", 1);
    if rank == 0
        || channel < rank
        || !(channel / rank).is_power_of_two()
        || !channel.is_multiple_of(rank)
    {
        let message = format!(
            "channel_size: {channel} MB are no power of two of ranks of {rank} MB ({devices} devices of {banks} banks of {rows} rows of {page_bytes} bytes)"
        );
        return Err(Mistake::new(config.line("system", "channel_size"), message));
    }
    Ok(channel / rank)
}

/// Bits of the address below the channel's number.
fn channel_shift(
    config: &DramConfig<'_>,
    ranks: u64,
    bursts_per_row: u64,
    request_bytes: u64,
) -> u32 {
    let mapping = config.word("system", "address_mapping");
    let below = mapping.rsplit("ch").next().unwrap_or("");
    let fields = below.as_bytes().chunks(2);
    let groups = config.number("dram_structure", "bankgroups", 1).ilog2();
    let banks = config
        .number("dram_structure", "banks_per_group", 1)
        .ilog2();
    // Without bank groups, all banks are in one.
    let enabled = config.flag("dram_structure", "bankgroup_enable", true);
    let (groups, banks) = if enabled {
        (groups, banks)
    } else {
        (0, groups + banks)
    };
    let bits = fields.map(|field| match field {
        b"ra" => ranks.ilog2(),
        b"bg" => groups,
        b"ba" => banks,
        b"ro" => config.number("dram_structure", "rows", 1).ilog2(),
        _ => bursts_per_row.ilog2(),
    });
    request_bytes.ilog2() + bits.sum::<u32>()
}

/// The exact length of a cycle: tCK is a decimal number of nanoseconds.
fn cycle_attoseconds(config: &DramConfig<'_>) -> Result<u64, Mistake> {
    const DECIMALS: usize = 9;
    let text = config.word("timing", "tCK");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part:0<DECIMALS$}");
    let value = (part.len() <= DECIMALS)
        .then(|| digits.parse::<u64>().ok())
        .flatten();
    value
        .filter(|length| (10_000_000..=100_000_000_000).contains(length))
        .ok_or_else(|| {
            let message = format!(
                "tCK: `{text}` is no time from 0.01 to 100 ns with at most {DECIMALS} decimals"
            );
            Mistake::new(config.line("timing", "tCK"), message)
        })
}
