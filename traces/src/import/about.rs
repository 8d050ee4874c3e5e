//! What there is to know about a format.

use serde::Serialize;
use std::fmt;

/// The other threads of a program, which is no loss where each has its file.
pub(super) const THREADS: &str = "threads";
/// Which way branches went, which is no loss where the trace says it nevertheless.
pub(super) const BRANCH_OUTCOMES: &str = "branch outcomes";
/// A loss that some formats have always and others sometimes.
pub(super) const INSTRUCTIONS: &str = "instructions";
/// The same.
pub(super) const INSTRUCTION_ADDRESSES: &str = "instruction addresses";

/// What there is to know about a format before reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// Name of the format, as the user writes it.
    pub name: &'static str,
    /// Where such traces come from.
    pub title: &'static str,
    /// What a line or record looks like.
    pub grammar: &'static str,
    /// What the trace is counted in.
    pub unit: Unit,
    /// The options that it has a use for, of those that not every format has; [`Choice::PerAccess`] is told by what is lost.
    pub takes: &'static [Choice],
    /// What a simulation would like to know and the format does not say, or the import does not keep.
    pub lost: &'static [&'static str],
}

/// An option that only some formats have a use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The column of the addresses.
    Column,
    /// The regular expression.
    Pattern,
    /// The instruction cache is told of instructions: the format says where they lie.
    Fetch,
    /// How many instructions there are for each access: the format does not say.
    PerAccess,
    /// The program that was recorded: it knows how many instructions its basic blocks have.
    Program,
}

/// What a foreign trace is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Lines of text, counted from 1.
    Lines,
    /// Binary records or table rows, counted from 0.
    Records,
}

/// How much of a foreign trace there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// So many lines of text.
    Lines(u64),
    /// So many binary records or table rows.
    Records(u64),
}

impl About {
    /// Whether the format has a use for an option.
    pub(super) fn takes(&self, choice: Choice) -> bool {
        match choice {
            Choice::PerAccess => self.lost.iter().any(|lost| lost.starts_with(INSTRUCTIONS)),
            _ => self.takes.contains(&choice),
        }
    }
}

impl Choice {
    /// The option as the user writes it.
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Column => "--column",
            Self::Pattern => "--pattern",
            Self::Fetch => "--instructions fetch",
            Self::PerAccess => "--instructions-per-access",
            Self::Program => "--program",
        }
    }
}

impl Amount {
    /// Both of them.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lines(count), Self::Lines(more)) => Self::Lines(count + more),
            (
                Self::Lines(count) | Self::Records(count),
                Self::Lines(more) | Self::Records(more),
            ) => Self::Records(count + more),
        }
    }
}

impl Unit {
    pub(super) fn amount(self, count: u64) -> Amount {
        match self {
            Self::Lines => Amount::Lines(count),
            Self::Records => Amount::Records(count),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(count) => write!(formatter, "{count} lines"),
            Self::Records(count) => write!(formatter, "{count} records"),
        }
    }
}
