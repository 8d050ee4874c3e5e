//! The two kinds of pipeline, and what they share.

mod groups;
mod in_order;
mod machinery;
mod out_of_order;
mod pace;
mod retirement;
mod units;

pub(crate) use groups::Groups;
pub(crate) use in_order::InOrder;
pub(crate) use machinery::Machinery;
pub(crate) use out_of_order::OutOfOrder;
pub(crate) use pace::{Flow, Pace};
pub(crate) use retirement::cycles_by_retired;
