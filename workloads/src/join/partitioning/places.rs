//! Where the parts of partitioning lie in the simulated address space.

use super::spec::PartitionWorkload;
use crate::arena::{Reservation, place};
use crate::join::buffers::{BufferPlaces, ENTRY_BYTES};
use crate::join::distribute::Distribute;
use crate::join::states::STATE_BYTES;
use crate::join::visit::Stages;
use traces::Segment;

/// Segments, in the order of their addresses.
#[derive(Clone, Copy, Debug)]
enum Part {
    Input,
    BufferTable,
    OutputBuffers,
    State,
}

/// The addresses of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadPlaces {
    pub(super) input: u64,
    pub(super) buffers: BufferPlaces,
    pub(super) states: u64,
}

/// The addresses of a workload.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    pub(super) threads: Vec<ThreadPlaces>,
}

/// The sizes of a thread's parts.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    input_pages: u64,
    output_pages: u64,
}

impl Places {
    pub(super) fn new(workload: &PartitionWorkload) -> Self {
        let threads = u64::from(workload.threads);
        let sizes = |thread: u32| {
            let own = workload.tuples_of(thread);
            let tuples = own.end - own.start;
            Sizes {
                input_pages: workload.input_format().pages(tuples),
                output_pages: workload.output_pages(tuples),
            }
        };
        let sizes: Vec<Sizes> = (0..workload.threads).map(sizes).collect();
        let page = u64::from(workload.page_bytes);
        // No line is of two threads.
        let table = u64::from(workload.partitions) * ENTRY_BYTES;
        let table = table.next_multiple_of(workload.line_bytes.into());
        let states = workload.order().states(Distribute::LAST);
        let segments = place(&[
            named("input", page, sizes.iter().map(|one| one.input_pages).sum()),
            named("buffer table", table, threads),
            named(
                "output buffers",
                page,
                sizes.iter().map(|one| one.output_pages).sum(),
            ),
            named("state", STATE_BYTES, states * threads),
        ]);
        let base = |part: Part| segments[part as usize].base;
        let mut next = ThreadPlaces {
            input: base(Part::Input),
            buffers: BufferPlaces {
                table: base(Part::BufferTable),
                first_page: base(Part::OutputBuffers),
                pages: 0,
            },
            states: base(Part::State),
        };
        let places = sizes.iter().map(|own| {
            next.buffers.pages = own.output_pages;
            let places = next;
            next.input += own.input_pages * page;
            next.buffers.table += table;
            next.buffers.first_page += own.output_pages * page;
            next.states += states * STATE_BYTES;
            places
        });
        Self {
            threads: places.collect(),
            segments,
        }
    }
}

fn named(name: &str, object_bytes: u64, objects: u64) -> Reservation {
    Reservation {
        name: name.into(),
        object_bytes,
        objects,
    }
}
