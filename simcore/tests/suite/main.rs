//! Everything that holds the simulator to hand-worked times, to models of its own and to DRAMSim3, in one program: it is linked once.

mod barriers;
#[cfg(feature = "dramsim3")]
mod behind_open_loads;
mod call_laws;
mod calls;
mod code_and_walks;
mod code_of_calls;
mod coherence;
mod coherence_among_misses;
mod common;
mod contention;
mod counts;
#[cfg(feature = "dramsim3")]
mod dram;
#[cfg(feature = "dramsim3")]
mod dram_oracle;
#[cfg(feature = "dramsim3")]
mod dram_stepped;
mod event_times;
mod exchanges;
mod exchanges_among_misses;
mod footprint;
mod interference;
mod latches;
mod machine_features;
mod measured;
mod mechanisms;
mod memories;
mod mispredictions_among_misses;
mod miss_handlers;
mod multicore;
mod non_temporal;
#[cfg(feature = "dramsim3")]
mod open_loads;
mod order_of_time;
mod page_sizes;
mod pipelines;
mod policies;
mod prefetches_among_misses;
mod properties;
mod sampling;
mod shared_frames;
mod shared_levels;
mod stack_distance;
mod storage;
mod storage_on_cores;
mod stores;
mod usage;
mod walks_among_misses;
mod walks_in_flight;
mod warm_up;
