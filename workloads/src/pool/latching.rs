//! How threads that share a pool keep pages in their frames while they read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a page is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// To read it, beside others.
    Read,
    /// To change it, with nobody else there.
    Change,
    /// To fill it, before anybody else can come to it: it is new, and its latch is not taken.
    Make,
}

/// What a thread does so that a page stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Latching {
    /// It takes the latch of the page's chain of the page table and counts a pin, by exchanges; one thread alone takes no latch.
    Pessimistic,
    /// It reads the version of the page's frame before and after, and changes nothing (Leis et al., ICDE 2018).
    Optimistic,
}
