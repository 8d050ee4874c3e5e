//! Every key that DRAMSim3 reads (its `configuration.cc`), what its value may be, and when it must be there.
//!
//! DRAMSim3 puts a number of its own where a key is missing. Here every key that changes a time is required.

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer of at least 1.
    Count,
    /// An integer of at least 0.
    Cycles,
    /// A decimal number.
    Real,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Six fields of two letters each, from the highest address bits to the lowest.
    Mapping,
    /// Known, but DRAMSim3 does not read it, or it is ours to decide: anything.
    Unread,
    /// It looks as if it changed a time, and changes none: refused, with what to say instead.
    Useless(&'static str),
}

/// When a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Always,
    Never,
    /// Activation to read and to write are one number: all protocols but GDDR and HBM.
    OneRowToColumn,
    /// Activation to read and to write are two numbers: GDDR and HBM.
    TwoRowToColumn,
    /// GDDR.
    Gddr,
    /// GDDR and LPDDR4.
    PrechargeToPrecharge,
    /// Refresh bank by bank.
    BankRefresh,
    /// Ranks sleep when idle.
    SelfRefresh,
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) value: Value,
    pub(super) need: Need,
}

const fn key(name: &'static str, value: Value, need: Need) -> Key {
    Key { name, value, need }
}

const fn unread(name: &'static str) -> Key {
    key(name, Value::Unread, Need::Never)
}

const fn useless(name: &'static str, instead: &'static str) -> Key {
    key(name, Value::Useless(instead), Need::Never)
}

/// Protocols that the backend simulates. DRAMSim3's HMC is a network of packets, whose requests have other sizes.
const PROTOCOLS: &[&str] = &[
    "DDR3", "DDR4", "GDDR5", "GDDR5X", "GDDR6", "LPDDR", "LPDDR3", "LPDDR4", "HBM", "HBM2",
];

/// Ranks refreshed in turn.
pub(super) const RANK_STAGGERED: &str = "RANK_LEVEL_STAGGERED";
/// Ranks refreshed at once.
const RANK_SIMULTANEOUS: &str = "RANK_LEVEL_SIMULTANEOUS";
/// Banks refreshed in turn.
pub(super) const BANK_STAGGERED: &str = "BANK_LEVEL_STAGGERED";

use Need::{Always, Never};
use Value::{Count, Cycles, Flag, Real, Word};

/// The sections and their keys.
pub(super) const SECTIONS: &[(&str, &[Key])] = &[
    (
        "dram_structure",
        &[
            key("protocol", Word(PROTOCOLS), Always),
            key("bankgroups", Count, Always),
            key("banks_per_group", Count, Always),
            key("bankgroup_enable", Flag, Never),
            key("rows", Count, Always),
            key("columns", Count, Always),
            key("device_width", Count, Always),
            key("BL", Count, Always),
            key("num_dies", Count, Never),
            key("hbm_dual_cmd", Flag, Never),
        ],
    ),
    (
        "timing",
        &[
            key("tCK", Real, Always),
            key("AL", Cycles, Never),
            key("CL", Cycles, Always),
            key("CWL", Cycles, Always),
            key("tRCD", Cycles, Need::OneRowToColumn),
            key("tRCDRD", Cycles, Need::TwoRowToColumn),
            key("tRCDWR", Cycles, Need::TwoRowToColumn),
            key("tRP", Cycles, Always),
            key("tRAS", Cycles, Always),
            key("tRFC", Cycles, Always),
            key("tRFCb", Cycles, Need::BankRefresh),
            key("tREFI", Count, Always),
            key("tREFIb", Count, Need::BankRefresh),
            key("tRPRE", Cycles, Never),
            key("tWPRE", Cycles, Never),
            key("tRRD_S", Cycles, Always),
            key("tRRD_L", Cycles, Always),
            key("tWTR_S", Cycles, Always),
            key("tWTR_L", Cycles, Always),
            key("tFAW", Cycles, Always),
            key("t32AW", Cycles, Need::Gddr),
            key("tWR", Cycles, Always),
            key("tRTP", Cycles, Always),
            key("tCCD_S", Cycles, Always),
            key("tCCD_L", Cycles, Always),
            key("tPPD", Cycles, Need::PrechargeToPrecharge),
            key("tRTRS", Cycles, Always),
            key("tCKE", Cycles, Never),
            key("tCKESR", Cycles, Need::SelfRefresh),
            key("tXS", Cycles, Need::SelfRefresh),
            key("tXP", Cycles, Never),
            useless(
                "ideal_memory_latency",
                "it is of a memory without banks, which is `model: fixed` here",
            ),
            unread("tRFC2"),
            unread("tRFC4"),
            unread("tWR2"),
            unread("tRTP_L"),
            unread("tRTP_S"),
            unread("tCKSRE"),
        ],
    ),
    (
        "power",
        &[
            key("VDD", Real, Never),
            key("IDD0", Real, Never),
            key("IDD2P", Real, Never),
            key("IDD2N", Real, Never),
            key("IDD3N", Real, Never),
            key("IDD4W", Real, Never),
            key("IDD4R", Real, Never),
            key("IDD5AB", Real, Never),
            key("IDD5PB", Real, Never),
            key("IDD6x", Real, Never),
            unread("IPP0"),
            unread("IDD1"),
            unread("IDD2Q"),
            unread("IDD3P"),
            unread("IDD3Pf"),
            unread("IDD3Ps"),
            unread("IDD5"),
            unread("IDD6"),
            unread("IDD6L"),
            unread("IDD7"),
        ],
    ),
    (
        "system",
        &[
            key("channel_size", Count, Always),
            key("channels", Count, Always),
            key("bus_width", Count, Always),
            key("address_mapping", Value::Mapping, Always),
            key("queue_structure", Word(&["PER_BANK", "PER_RANK"]), Always),
            key(
                "refresh_policy",
                Word(&[RANK_STAGGERED, RANK_SIMULTANEOUS, BANK_STAGGERED]),
                Always,
            ),
            key("row_buf_policy", Word(&["OPEN_PAGE", "CLOSE_PAGE"]), Always),
            key("cmd_queue_size", Count, Always),
            key("trans_queue_size", Count, Always),
            key("unified_queue", Flag, Never),
            key("enable_self_refresh", Flag, Never),
            key("sref_threshold", Count, Need::SelfRefresh),
            useless(
                "write_buf_size",
                "as many writes wait as reads: `trans_queue_size`",
            ),
            useless(
                "aggressive_precharging_enabled",
                "rows are closed by `row_buf_policy`",
            ),
        ],
    ),
    (
        "other",
        &[
            unread("epoch_period"),
            unread("output_level"),
            unread("output_prefix"),
        ],
    ),
    (
        "thermal",
        &[
            unread("amb_temp"),
            unread("bank_layer_order"),
            unread("bank_order"),
            unread("chip_dim_x"),
            unread("chip_dim_y"),
            unread("const_logic_power"),
            unread("loc_mapping"),
            unread("logic_bg_power"),
            unread("logic_max_power"),
            unread("mat_dim_x"),
            unread("mat_dim_y"),
            unread("power_epoch_period"),
        ],
    ),
];

/// Says which of the known names was probably meant, or lists them all.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let distance = |other: &str| strsim::levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let close = known.clone().min_by_key(|other| distance(other));
    match close {
        Some(other) if 2 * distance(other) <= other.len() => format!("did you mean `{other}`?"),
        _ => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
    }
}
