//! Everything that reads, writes, imports and exports traces, in one program: it is linked once.

mod atomic;
mod common;
mod damage;
mod export;
mod gem5;
mod golden;
mod import;
mod round_trip;
mod threads;
