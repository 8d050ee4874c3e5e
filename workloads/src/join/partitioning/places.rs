//! Where the parts of partitioning lie in the simulated address space.

use super::counts;
use super::filter_table::TableSpec;
use super::ordered::{OrderPlaces, RING_BYTES};
use super::spec::{Filtering, Input, PartitionWorkload};
use crate::arena::{Reservation, place};
use crate::join::buffers::{BufferPlaces, ENTRY_BYTES};
use crate::join::filter::row_bytes;
use crate::join::states;
use traces::Segment;

/// Segments, in the order of their addresses; the last ones are those of workloads with filters, and of multiple filters.
#[derive(Clone, Copy, Debug)]
enum Part {
    Input,
    BufferTable,
    OutputBuffers,
    State,
    Filters,
    /// What all filters are made into.
    Made,
    FilterTable,
    Counts,
}

/// The addresses of a relation of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelationPlaces {
    pub(super) input: u64,
    pub(super) buffers: BufferPlaces,
    /// Of tuples out of order, if somebody looks for them.
    pub(super) order: Option<OrderPlaces>,
}

/// The addresses of one thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadPlaces {
    /// By relation.
    pub(super) relations: Vec<RelationPlaces>,
    pub(super) states: u64,
    pub(super) filters: u64,
    pub(super) table: u64,
    pub(super) counts: u64,
}

/// The addresses of a workload.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    pub(super) threads: Vec<ThreadPlaces>,
    /// Of what the filters of all threads are made into. If they are one, that is what it stays.
    pub(super) made: u64,
}

/// Hands out parts of a segment, one after the other.
struct Next(u64);

impl Next {
    fn take(&mut self, bytes: u64) -> u64 {
        let address = self.0;
        self.0 += bytes;
        address
    }
}

impl Places {
    pub(super) fn new(workload: &PartitionWorkload) -> Self {
        let page = u64::from(workload.page_bytes);
        // No line is of two threads.
        let lines = |bytes: u64| bytes.next_multiple_of(workload.line_bytes.into());
        let table = lines(u64::from(workload.partitions) * ENTRY_BYTES);
        let (_, state_bytes) = workload.states();
        let filter_table = lines(workload.filter_table(0).bytes());
        let counts = lines(counts::bytes(workload.partitions, workload.most_filters()));
        let segments = place(&workload.reservations(table, (filter_table, counts)));
        let next = |part: Part| Next(segments.get(part as usize).map_or(0, |one| one.base));
        let (mut input, mut tables) = (next(Part::Input), next(Part::BufferTable));
        let (mut pages, mut state) = (next(Part::OutputBuffers), next(Part::State));
        let (mut filters, mut filter_tables) = (next(Part::Filters), next(Part::FilterTable));
        let mut all_counts = next(Part::Counts);
        // In the last two segments.
        let looks = workload.looks_for_order();
        let mut of_order = [2, 1].map(|last| {
            let segment = segments.len().checked_sub(last).filter(|_| looks);
            Next(segment.map_or(0, |number| segments[number].base))
        });
        let threads = (0..workload.threads).map(|thread| {
            let relations = workload.inputs().iter().map(|&of| {
                let output = workload.output_pages(of, thread);
                RelationPlaces {
                    input: input.take(workload.input_pages(of, thread) * page),
                    buffers: BufferPlaces {
                        table: tables.take(table),
                        first_page: pages.take(output * page),
                        pages: output,
                    },
                    order: looks.then(|| OrderPlaces {
                        ring: of_order[0].take(lines(RING_BYTES)),
                        first_page: of_order[1].take(workload.order_buffer_bytes()),
                        pages: workload.order_buffer_pages.into(),
                    }),
                }
            });
            ThreadPlaces {
                relations: relations.collect(),
                states: state.take(state_bytes),
                filters: filters
                    .take(workload.filter_bytes() * workload.filters_of_thread() as u64),
                table: filter_tables.take(filter_table),
                counts: all_counts.take(counts),
            }
        });
        let alone = workload.filter == Filtering::Single && !workload.merges();
        Self {
            threads: threads.collect(),
            made: next(if alone { Part::Filters } else { Part::Made }).0,
            segments,
        }
    }
}

impl PartitionWorkload {
    /// Memory for states of tuples under way, and the bytes of each thread's.
    fn states(&self) -> (Reservation, u64) {
        let states = self.stages_order().states(self.last_stage());
        states::of_threads(states, self.threads, self.line_bytes)
    }

    /// Segments, given the bytes of a table of output pages, and of a thread's filter table and counts.
    fn reservations(&self, table: u64, (filter_table, counts): (u64, u64)) -> Vec<Reservation> {
        let (page, threads) = (u64::from(self.page_bytes), u64::from(self.threads));
        let tables = self.inputs().len() as u64 * threads;
        let filters = u64::from(self.filters_of_thread()) * threads;
        let mut all = vec![
            Reservation::of("input", page, self.all_input_pages()),
            Reservation::of("buffer table", table, tables),
            Reservation::of("output buffers", page, self.all_output_pages()),
            self.states().0,
        ];
        match self.filter {
            Filtering::None => {}
            Filtering::Single => all.extend([
                Reservation::of("filters of threads", self.filter_bytes(), filters),
                Reservation::of("merged filter", self.filter_bytes(), self.merges().into()),
            ]),
            Filtering::Multiple => all.extend([
                Reservation::of("horizontal filters", self.filter_bytes(), filters),
                Reservation::of(
                    "vertical filters",
                    self.line_bytes.into(),
                    self.made_bytes().div_ceil(self.line_bytes.into()),
                ),
                Reservation::of("filter table", filter_table, threads),
                Reservation::of("sub-partition counts", counts, threads),
            ]),
        }
        if self.looks_for_order() {
            let ring = RING_BYTES.next_multiple_of(self.line_bytes.into());
            all.push(Reservation::of("tuples kept back", ring, tables));
            let pages = tables * u64::from(self.order_buffer_pages);
            all.push(Reservation::of("tuples out of order", page, pages));
        }
        all
    }

    /// Bytes of a buffer for tuples out of order.
    pub(super) fn order_buffer_bytes(&self) -> u64 {
        u64::from(self.order_buffer_pages) * u64::from(self.page_bytes)
    }

    /// How a thread's filter table is made, from an address on.
    pub(super) fn filter_table(&self, base: u64) -> TableSpec {
        TableSpec {
            base,
            partitions: self.partitions,
            most: self.own_filters(),
            pages: self.pages_per_filter(),
        }
    }

    pub(super) fn filter_bytes(&self) -> u64 {
        u64::from(self.filter_bits() / u8::BITS)
    }

    /// Bytes of what the filters of all threads are made into, at most.
    pub(super) fn made_bytes(&self) -> u64 {
        match self.filter {
            Filtering::None => 0,
            Filtering::Single => u64::from(self.merges()) * self.filter_bytes(),
            Filtering::Multiple => {
                let row = u64::from(row_bytes(self.own_filters() * self.threads));
                let partition = u64::from(self.filter_bits()) * row;
                // All filters, and rows that are longer than they need to be: twice, or a word.
                let filters = u64::from(self.filters_of_thread()) * u64::from(self.threads);
                let packed = 2 * filters * self.filter_bytes();
                let words = u64::from(self.partitions) * self.filter_bytes() * 32;
                (packed + words).min(u64::from(self.partitions) * partition)
            }
        }
    }

    pub(super) fn all_input_pages(&self) -> u64 {
        self.of_all(Self::input_pages)
    }

    /// Output pages of all threads, at most.
    pub(super) fn all_output_pages(&self) -> u64 {
        self.of_all(Self::output_pages)
    }

    /// A number of each relation of each thread, added up.
    fn of_all(&self, of: impl Fn(&Self, Input, u32) -> u64) -> u64 {
        let relations = self.inputs().iter();
        relations
            .flat_map(|&input| (0..self.threads).map(move |thread| (input, thread)))
            .map(|(input, thread)| of(self, input, thread))
            .sum()
    }
}
