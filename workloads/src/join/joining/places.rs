//! Where the parts of a join lie in the simulated address space.

use super::buckets::buckets;
use super::inspector::{ArrayPlaces, ArraySizes, Filters, Passed};
use super::output;
use super::pairs::{PAIR_BYTES, PAIRS};
use super::probe::Probe;
use super::sort_merge::{DividedSide, SortPlaces, SortSizes};
use super::spec::JoinWorkload;
use super::sub_places::SubSizes;
use super::table::{CELL_BYTES, FIRST_CELLS, HEADER_BYTES, MOST_CELLS, TablePlaces};
use super::tuples::{Side, Tuples};
use crate::arena::{Reservation, place};
use crate::join::buffers::BufferPlaces;
use crate::join::paging::Paging;
use crate::join::states;
use crate::join::visit::Stages;
use std::ops::Range;
use traces::Segment;

/// Segments, in the order of their addresses.
#[derive(Clone, Copy, Debug)]
enum Part {
    BuildTuples,
    ProbeInput,
    BucketHeaders,
    CellArrays,
    Output,
    State,
    SubTables,
    SubPartitions,
}

/// The addresses of a join.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    page_bytes: u64,
    /// By partition.
    partitions: Vec<PartitionPlaces>,
    /// By thread: where its output pages begin, and how many there are.
    outputs: Vec<(u64, u64)>,
    /// Bytes of one thread's states.
    state_bytes: u64,
    /// By thread: those of the sub-partitions of build and probe tuples.
    sub_partitions: Vec<[BufferPlaces; 2]>,
    /// By partition: what an inspector's filters let pass.
    passed: Vec<Passed>,
    /// By thread: those of the arrays of pointers.
    arrays: Vec<ArrayPlaces>,
    /// By partition: how sort-merge has both sides divided.
    divided: Vec<[DividedSide; 2]>,
    /// By thread: those of what is sorted.
    sorts: Vec<SortPlaces>,
}

/// Where the parts of a partition lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionPlaces {
    pub(super) build: u64,
    pub(super) probe: u64,
    pub(super) table: TablePlaces,
}

/// The sizes of a partition's parts: pages of both sides, buckets, cells, and output tuples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) build_pages: u64,
    pub(super) probe_pages: u64,
    pub(super) buckets: u32,
    pub(super) cells: u64,
    pub(super) matches: u64,
}

impl JoinWorkload {
    /// The sizes of a partition, of which an inspector's filters let something pass, or whose sides are divided.
    fn sizes(
        &self,
        number: u32,
        passed: Option<&Passed>,
        divided: Option<&[DividedSide; 2]>,
    ) -> Sizes {
        let build = self.share(self.build_tuples, number);
        let probe = self.share(self.probe_tuples, number);
        let format = self.partition_format();
        let sub_partitions = self.sub_partitions();
        // The build tuples of the largest table.
        let table = match passed {
            Some(passed) if !passed.switches(self) => passed.largest,
            _ => build.div_ceil(sub_partitions.into()),
        };
        let matching = (probe as f64 * self.match_share).round() as u64;
        let matches = matching.saturating_mul(self.duplicates.into());
        if let Some([build, probe]) = divided {
            return Sizes {
                build_pages: build.pages(format),
                probe_pages: probe.pages(format),
                buckets: 0,
                cells: 0,
                matches,
            };
        }
        Sizes {
            build_pages: self.paging(number, Side::Build).pages(),
            probe_pages: passed.map_or_else(
                || self.paging(number, Side::Probe).pages(),
                |passed| passed.pages,
            ),
            buckets: buckets(table, self.partitions * sub_partitions),
            cells: MOST_CELLS * build + u64::from(FIRST_CELLS),
            matches,
        }
    }

    /// Which tuples of a side of a partition are on which page.
    pub(super) fn paging(&self, number: u32, side: Side) -> Paging {
        let tuples = Tuples::new(self, number, side);
        Paging::new(self.partition_format(), &tuples)
    }

    /// The partitions that a thread joins.
    pub(super) fn partitions_of(&self, thread: u32) -> Range<u32> {
        let until = |thread: u32| {
            (u64::from(thread) * u64::from(self.partitions) / u64::from(self.threads)) as u32
        };
        until(thread)..until(thread + 1)
    }

    /// Output pages of a thread.
    fn output_pages(&self, sizes: &[Sizes]) -> u64 {
        let matches = sizes
            .iter()
            .fold(0_u64, |sum, one| sum.saturating_add(one.matches));
        output::pages(self, matches)
    }
}

impl Places {
    pub(super) fn new(workload: &JoinWorkload) -> Self {
        let inspects = workload.algorithm.inspects();
        let passed: Vec<Passed> = (0..workload.partitions)
            .filter(|_| inspects)
            .map(|number| Filters::new(workload, number).passed(workload))
            .collect();
        let divided: Vec<[DividedSide; 2]> = (0..workload.partitions)
            .filter(|_| workload.algorithm.sorts())
            .map(|number| {
                [Side::Build, Side::Probe].map(|side| DividedSide::new(workload, number, side))
            })
            .collect();
        let sizes: Vec<Sizes> = (0..workload.partitions)
            .map(|number| {
                let (passed, divided) = (passed.get(number as usize), divided.get(number as usize));
                workload.sizes(number, passed, divided)
            })
            .collect();
        let pages: Vec<u64> = (0..workload.threads)
            .map(|thread| {
                let own = workload.partitions_of(thread);
                workload.output_pages(&sizes[own.start as usize..own.end as usize])
            })
            .collect();
        let page = u64::from(workload.page_bytes);
        let orders = [workload.stages_order(), workload.repartitioning_order()];
        let states = orders.map(|order| order.states(Probe::LAST));
        let states = states.into_iter().max().unwrap_or(0);
        let (state, state_bytes) =
            states::of_threads(states, workload.threads, workload.line_bytes);
        let sum = |of: fn(&Sizes) -> u64| sizes.iter().map(of).sum::<u64>();
        let mut reservations = vec![
            Reservation::of("build tuples", page, sum(|one| one.build_pages)),
            Reservation::of("probe input", page, sum(|one| one.probe_pages)),
            Reservation::of(
                "bucket headers",
                HEADER_BYTES,
                sum(|one| one.buckets.into()),
            ),
            Reservation::of("cell arrays", CELL_BYTES, sum(|one| one.cells)),
            Reservation::of("output", page, pages.iter().sum()),
            state,
        ];
        let repartitions = workload.algorithm.repartitions();
        let sub_sizes = repartitions.then(|| SubSizes::new(workload));
        reservations.extend(sub_sizes.iter().flat_map(SubSizes::reservations));
        let array_sizes = inspects.then(|| ArraySizes::new(workload, &passed));
        let of_arrays = reservations.len();
        reservations.extend(array_sizes.iter().flat_map(ArraySizes::reservations));
        let sort_sizes = (!divided.is_empty()).then(|| SortSizes::new(workload, &divided));
        reservations.extend(sort_sizes.iter().flat_map(SortSizes::reservations));
        if workload.algorithm.buffers_pairs() {
            let pairs = u64::from(workload.threads) * PAIRS as u64;
            reservations.push(Reservation::of("pairs", PAIR_BYTES, pairs));
        }
        let segments = place(&reservations);
        let base = |part: Part| segments[part as usize].base;
        let mut next = [
            Part::BuildTuples,
            Part::ProbeInput,
            Part::BucketHeaders,
            Part::CellArrays,
        ]
        .map(base);
        let partitions = sizes.iter().map(|sizes| {
            let [build, probe, headers, cells] = next;
            next[0] += sizes.build_pages * page;
            next[1] += sizes.probe_pages * page;
            next[2] += u64::from(sizes.buckets) * HEADER_BYTES;
            next[3] += sizes.cells * CELL_BYTES;
            PartitionPlaces {
                build,
                probe,
                table: TablePlaces {
                    buckets: sizes.buckets,
                    headers,
                    cells,
                    room: sizes.cells,
                },
            }
        });
        let partitions = partitions.collect();
        let mut next = base(Part::Output);
        let outputs = pages.iter().map(|&pages| {
            let first = next;
            next += pages * page;
            (first, pages)
        });
        Self {
            sub_partitions: sub_sizes.map_or_else(Vec::new, |sizes| {
                sizes.places(base(Part::SubTables), base(Part::SubPartitions))
            }),
            arrays: array_sizes.map_or_else(Vec::new, |sizes| {
                sizes.places([0, 1].map(|one| segments[of_arrays + one].base))
            }),
            sorts: sort_sizes.map_or_else(Vec::new, |sizes| {
                sizes.places([0, 1].map(|one| segments[of_arrays + one].base))
            }),
            page_bytes: page,
            passed,
            divided,
            partitions,
            outputs: outputs.collect(),
            segments,
            state_bytes,
        }
    }

    pub(super) fn partition(&self, number: u32) -> PartitionPlaces {
        self.partitions[number as usize]
    }

    /// Where a thread's output pages begin, and how many there are.
    pub(super) fn output(&self, thread: u32) -> (u64, u64) {
        self.outputs[thread as usize]
    }

    /// Which page of storage a page of a partition or an output page is, if it lies there: they follow each other as they do in memory.
    pub(super) fn stored_page(&self, address: u64) -> u64 {
        let mut before = 0;
        for part in [Part::BuildTuples, Part::ProbeInput, Part::Output] {
            let segment = &self.segments[part as usize];
            let bytes = segment.size_bytes;
            if let Some(offset) = address.checked_sub(segment.base).filter(|&at| at < bytes) {
                return (before + offset) / self.page_bytes;
            }
            before += bytes;
        }
        before / self.page_bytes
    }

    /// Where a thread's sub-partitions of build and probe tuples lie, if it makes any.
    pub(super) fn sub_partitions(&self, thread: u32) -> Option<[BufferPlaces; 2]> {
        self.sub_partitions.get(thread as usize).copied()
    }

    /// What an inspector's filters let pass of a partition.
    pub(super) fn passed(&self, number: u32) -> Option<&Passed> {
        self.passed.get(number as usize)
    }

    /// Where a thread's arrays of pointers lie, if it has any.
    pub(super) fn arrays(&self, thread: u32) -> Option<ArrayPlaces> {
        self.arrays.get(thread as usize).copied()
    }

    /// How both sides of a partition are divided, if they are.
    pub(super) fn divided(&self, number: u32) -> Option<&[DividedSide; 2]> {
        self.divided.get(number as usize)
    }

    /// Where a thread sorts, if it does.
    pub(super) fn sorts(&self, thread: u32) -> Option<SortPlaces> {
        self.sorts.get(thread as usize).copied()
    }

    /// Where a thread's buffer of pairs begins, which is in the last segment.
    pub(super) fn pairs(&self, thread: u32) -> u64 {
        let first = self.segments.last().map_or(0, |segment| segment.base);
        first + u64::from(thread) * PAIRS as u64 * PAIR_BYTES
    }

    /// Where a thread's states of tuples under way begin.
    pub(super) fn states(&self, thread: u32) -> u64 {
        self.segments[Part::State as usize].base + u64::from(thread) * self.state_bytes
    }
}
