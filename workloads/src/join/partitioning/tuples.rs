//! Which tuples the input holds.

use super::spec::{Input, PartitionWorkload};
use crate::join::hash::key_of;
use crate::join::lengths::Drawn;
use crate::join::nearly_sorted::{TupleOrder, nearly_sorted};
use crate::join::paging::Paging;
use crate::join::tuple::{Source, Tuple};
use crate::permutation::Permutation;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What the random orders are for.
const FOR_CODES: u64 = 0;
const FOR_PROBE: u64 = 1;
const FOR_BUILD: u64 = 2;
/// Hash codes there are: one of each key.
const CODES: u64 = 1 << 32;

/// Tuples of random keys, of which the build relation has as many of each as there are duplicates.
///
/// Probe tuples that have matches have the build tuples' keys, one after the other and then again; the others have keys of their own.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    input: Input,
    numbers: Range<u64>,
    codes: Permutation,
    order: Order,
    duplicates: u64,
    build_keys: u64,
    /// Probe tuples that have matches.
    matching: u64,
    lengths: Drawn,
}

impl PartitionWorkload {
    /// Input pages that a thread's tuples of a relation take.
    pub(super) fn input_pages(&self, input: Input, thread: u32) -> u64 {
        let own = self.tuples_of(input, thread);
        if self.lengths().shortest().is_none() {
            return self.input_format().pages(own.end - own.start);
        }
        let tuples = Tuples::new(self, input).part(own);
        Paging::new(self.input_format(), &tuples).pages()
    }
}

/// In which order the tuples of a relation are.
#[derive(Clone, Debug)]
enum Order {
    /// In that of their keys' numbers, which are random.
    OfNumbers,
    Random(Permutation),
    /// By their keys, but for a share of them. The list of the whole relation is made once, for all that have a part of it.
    NearlySorted {
        tuples: u64,
        displaced: f64,
        seed: u64,
        list: Arc<OnceLock<Vec<u32>>>,
    },
}

impl Tuples {
    /// All of an input.
    pub(super) fn new(workload: &PartitionWorkload, input: Input) -> Self {
        let (tuples, probe) = (workload.tuples(input), workload.probe_tuples);
        let duplicates = u64::from(workload.duplicates);
        let build_keys = workload.tuples.div_ceil(duplicates);
        let matching = (probe as f64 * workload.match_share).round() as u64;
        let random = |purpose| Order::Random(Permutation::new(tuples, workload.seed, purpose));
        let order = match (workload.order, input) {
            (TupleOrder::NearlySorted, _) => Order::NearlySorted {
                tuples,
                displaced: workload.displaced,
                seed: workload.seed,
                list: Arc::default(),
            },
            (TupleOrder::Random, Input::Probe) => random(FOR_PROBE),
            // Tuples of one key are not to be together.
            (TupleOrder::Random, Input::Build) if duplicates > 1 => random(FOR_BUILD),
            (TupleOrder::Random, Input::Build) => Order::OfNumbers,
        };
        Self {
            input,
            numbers: 0..tuples,
            codes: Permutation::new(CODES, workload.seed, FOR_CODES),
            order,
            duplicates,
            build_keys,
            matching: if build_keys > 0 { matching } else { 0 },
            lengths: Drawn::new(
                workload.lengths(),
                (workload.seed, u64::from(input == Input::Probe)),
            ),
        }
    }

    /// Those with these numbers.
    pub(super) fn part(&self, numbers: Range<u64>) -> Self {
        Self {
            numbers,
            ..self.clone()
        }
    }

    /// The number of a tuple's key: those of build tuples come first.
    pub(super) fn key_number(&self, number: u64) -> u64 {
        let number = self.numbers.start + number;
        self.key_at(match &self.order {
            Order::OfNumbers => number,
            Order::Random(order) => order.at(number),
            Order::NearlySorted {
                tuples,
                displaced,
                seed,
                list,
            } => {
                let key = |place| key_of(self.code(self.key_at(place)));
                let side = u64::from(self.input == Input::Probe);
                let make = || nearly_sorted(*tuples, key, *displaced, (*seed, side));
                list.get_or_init(make)[number as usize].into()
            }
        })
    }

    fn key_at(&self, place: u64) -> u64 {
        match self.input {
            Input::Build => place / self.duplicates,
            Input::Probe if place < self.matching => place % self.build_keys,
            Input::Probe => self.build_keys + place - self.matching,
        }
    }

    /// The hash code of a key.
    fn code(&self, key: u64) -> u32 {
        self.codes.at(key) as u32
    }
}

impl Source for Tuples {
    fn count(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    fn bytes(&self, number: u64) -> u32 {
        self.lengths.of(self.numbers.start + number)
    }

    fn at(&self, number: u64) -> Tuple {
        let code = self.code(self.key_number(number));
        Tuple {
            code,
            key: key_of(code),
            number: (self.numbers.start + number) as u32,
            bytes: self.bytes(number),
        }
    }
}
