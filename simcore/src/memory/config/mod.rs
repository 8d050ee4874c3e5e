//! A DRAM described by an ini file for DRAMSim3, checked before DRAMSim3 sees it.

mod geometry;
mod ini;
mod keys;

pub use geometry::DramFacts;
pub(crate) use geometry::Geometry;

use ini::{Entry, Mistake};
use keys::{Key, Need, SECTIONS, Value, nearest};

/// Largest integer that a key may have: DRAMSim3 adds several of them as 32-bit integers.
const LARGEST: u64 = 100_000_000;

/// The checked entries of an ini file.
#[derive(Clone, Debug)]
pub(crate) struct DramConfig<'a> {
    entries: Vec<Entry<'a>>,
    lines: usize,
}

impl<'a> DramConfig<'a> {
    /// Reads the file called `name`.
    ///
    /// # Errors
    /// The first mistake, with file, line, and what would be right.
    pub(crate) fn parse(name: &str, text: &'a str) -> Result<(Self, Geometry), String> {
        let located = |mistake: Mistake| format!("{name}:{}: {}", mistake.line, mistake.message);
        let config = Self {
            entries: ini::parse(text).map_err(located)?,
            lines: text.lines().count().max(1),
        };
        config.check_values().map_err(located)?;
        config.check_missing().map_err(located)?;
        let geometry = Geometry::new(&config).map_err(located)?;
        Ok((config, geometry))
    }

    /// The file that DRAMSim3 reads: what was checked, and how often it reports.
    #[cfg(feature = "dramsim3")]
    pub(crate) fn rendered(&self, epoch_cycles: u64) -> String {
        use std::fmt::Write as _;
        let mut text = String::new();
        for (section, keys) in SECTIONS {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{section}]");
            for key in keys
                .iter()
                .filter(|key| !matches!(key.value, Value::Unread | Value::Useless(_)))
            {
                if let Some(entry) = self.find(section, key.name) {
                    let _ = writeln!(text, "{} = {}", key.name, entry.value);
                }
            }
            if *section == "other" {
                let _ = writeln!(text, "epoch_period = {epoch_cycles}\noutput_level = 1");
            }
        }
        text
    }

    fn find(&self, section: &str, key: &str) -> Option<&Entry<'a>> {
        let mut entries = self.entries.iter();
        entries.find(|entry| (entry.section, entry.key) == (section, key))
    }

    /// The line to blame for what a key says, or does not say.
    fn line(&self, section: &str, key: &str) -> usize {
        let at = self.find(section, key);
        let section = || self.entries.iter().rfind(|entry| entry.section == section);
        at.or_else(section).map_or(self.lines, |entry| entry.line)
    }

    /// An integer that has been checked, or the default of an optional one.
    fn number(&self, section: &str, key: &str, default: u64) -> u64 {
        let value = self
            .find(section, key)
            .and_then(|entry| entry.value.parse().ok());
        value.unwrap_or(default)
    }

    fn word(&self, section: &str, key: &str) -> &'a str {
        self.find(section, key).map_or("", |entry| entry.value)
    }

    fn flag(&self, section: &str, key: &str, default: bool) -> bool {
        let at = self.find(section, key);
        at.map_or(default, |entry| entry.value.eq_ignore_ascii_case("true"))
    }

    fn check_values(&self) -> Result<(), Mistake> {
        for entry in &self.entries {
            let (_, keys) = SECTIONS
                .iter()
                .find(|(section, _)| *section == entry.section)
                .ok_or_else(|| {
                    let sections = SECTIONS.iter().map(|(section, _)| *section);
                    let hint = nearest(entry.section, sections);
                    Mistake::new(
                        entry.line,
                        format!("unknown section [{}]; {hint}", entry.section),
                    )
                })?;
            let key = keys
                .iter()
                .find(|key| key.name == entry.key)
                .ok_or_else(|| {
                    let useful = keys
                        .iter()
                        .filter(|key| !matches!(key.value, Value::Useless(_)));
                    let hint = nearest(entry.key, useful.map(|key| key.name));
                    Mistake::new(
                        entry.line,
                        format!("unknown key `{}` in [{}]; {hint}", entry.key, entry.section),
                    )
                })?;
            check_value(key, entry)?;
        }
        Ok(())
    }

    fn check_missing(&self) -> Result<(), Mistake> {
        for (section, keys) in SECTIONS {
            for key in *keys {
                if self.needs(key.need) && self.find(section, key.name).is_none() {
                    return Err(Mistake::new(
                        self.line(section, key.name),
                        format!(
                            "[{section}] lacks `{}`, for which DRAMSim3 would put a number of its own",
                            key.name
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    fn needs(&self, need: Need) -> bool {
        let protocol = self.word("dram_structure", "protocol");
        let gddr = protocol.starts_with("GDDR");
        let split = gddr || protocol.starts_with("HBM");
        match need {
            Need::Always => true,
            Need::Never => false,
            Need::OneRowToColumn => !split,
            Need::TwoRowToColumn => split,
            Need::Gddr => gddr,
            Need::PrechargeToPrecharge => gddr || protocol == "LPDDR4",
            Need::BankRefresh => self.word("system", "refresh_policy") == keys::BANK_STAGGERED,
            Need::SelfRefresh => self.flag("system", "enable_self_refresh", false),
        }
    }
}

fn check_value(key: &Key, entry: &Entry<'_>) -> Result<(), Mistake> {
    let refuse = |expected: &str| {
        Err(Mistake::new(
            entry.line,
            format!("{}: `{}` is not {expected}", entry.key, entry.value),
        ))
    };
    match key.value {
        Value::Unread => Ok(()),
        Value::Useless(instead) => Err(Mistake::new(
            entry.line,
            format!(
                "{} changes nothing in DRAMSim3: {instead}; leave the key out",
                entry.key
            ),
        )),
        Value::Count | Value::Cycles => {
            let least = u64::from(key.value == Value::Count);
            match integer(entry.value) {
                Some(number) if (least..=LARGEST).contains(&number) => Ok(()),
                _ => refuse(&format!("an integer from {least} to {LARGEST}")),
            }
        }
        Value::Real if is_decimal(entry.value) => Ok(()),
        Value::Real => refuse("a decimal number"),
        Value::Flag
            if ["true", "false"]
                .iter()
                .any(|word| entry.value.eq_ignore_ascii_case(word)) =>
        {
            Ok(())
        }
        Value::Flag => refuse("true or false"),
        Value::Word(words) if words.contains(&entry.value) => Ok(()),
        Value::Word(words) => refuse(&format!(
            "a known word; {}",
            nearest(entry.value, words.iter().copied())
        )),
        Value::Mapping if geometry::is_mapping(entry.value) => Ok(()),
        Value::Mapping => refuse("an order of the fields ch, ra, bg, ba, ro and co, each once"),
    }
}

/// A decimal integer as everybody reads it: C takes one that begins with 0 for octal.
fn integer(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let octal = text.len() > 1 && text.starts_with('0');
    (plain && !octal).then(|| text.parse().ok()).flatten()
}

/// Digits, and perhaps a point and more digits.
fn is_decimal(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(part) && text.len() <= 20
}

#[cfg(test)]
mod tests;
