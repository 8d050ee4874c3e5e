//! Everything that holds the kernels to models of their data structures, in one program: it is linked once.

mod against_btreemap;
mod arrivals;
mod changing_threads;
mod common;
mod dependences;
mod event_streams;
mod index_files;
mod index_threads;
mod limits;
mod minipages;
mod native;
mod nulls;
mod page_files;
mod prefetch_instructions;
mod query_operators;
mod schema;
mod stored_joins;
mod stores;
mod strings;
mod strings_decomposed;
mod table;
mod tpch;
mod tree_threads;
mod trees;
mod warm_up;
mod workload_events;
