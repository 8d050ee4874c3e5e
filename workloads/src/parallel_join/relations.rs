//! The inputs: two arrays of tuples.

use super::places::{BUILD_INPUT, PROBE_INPUT, input_reservations};
use super::spec::ParallelJoinWorkload;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::arena::place;
use crate::buckets::{Keys, payload};
use crate::random::Random;
use crate::ranks::Ranks;
use crate::shared::Shared;
use crate::watch;

/// Purposes of the random choices: the order of build tuples, which probe tuples have matches, and with whom (one for each tuple).
const ORDER: u64 = 0;
const MATCHES: u64 = 1;
const PARTNERS: u64 = 1 << 32;

/// What the inputs are made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inputs {
    build_tuples: u64,
    probe_tuples: u64,
    keys: Keys,
    match_share: f64,
    skew: f64,
    seed: u64,
    pub(super) tuple_bytes: u32,
}

impl Inputs {
    pub(super) fn of(workload: &ParallelJoinWorkload) -> Self {
        Self {
            build_tuples: workload.build_tuples,
            probe_tuples: workload.probe_tuples,
            keys: workload.keys,
            match_share: workload.match_share,
            skew: workload.skew,
            seed: workload.seed,
            tuple_bytes: workload.tuple_bytes,
        }
    }
}

/// The inputs, build before probe relation.
#[derive(Debug)]
pub(crate) struct Relations<W: TupleWord> {
    pub(super) inputs: Inputs,
    pub(super) tuples: [Shared<W>; 2],
}

/// Which of the two relations.
pub(super) const BUILD: usize = 0;
pub(super) const PROBE: usize = 1;

impl<W: TupleWord> Relations<W> {
    /// Draws them.
    pub(super) fn draw(inputs: &Inputs) -> Self {
        let mut numbers: Vec<u64> = (1..=inputs.build_tuples).collect();
        Random::new(inputs.seed, ORDER).shuffle(&mut numbers);
        let build = numbers.iter().map(|&number| inputs.keys.of(number));
        let mut chance = Random::new(inputs.seed, MATCHES);
        let ranks = Ranks::new(
            inputs.build_tuples.max(1),
            inputs.skew,
            inputs.seed,
            PARTNERS,
        );
        let probe = (0..inputs.probe_tuples).map(|tuple| {
            let rank = ranks.at(tuple);
            let matches =
                (chance.below(1 << 53) as f64) < inputs.match_share * (1_u64 << 53) as f64;
            // Keys of the same distribution that no build tuple has.
            let other = inputs.build_tuples + 1 + rank;
            let partner = numbers.get(rank as usize).filter(|_| matches);
            inputs.keys.of(partner.copied().unwrap_or(other))
        });
        Self::of(inputs.clone(), build, probe)
    }

    /// Relations with these keys.
    pub(super) fn of(
        inputs: Inputs,
        build: impl Iterator<Item = W>,
        probe: impl Iterator<Item = W>,
    ) -> Self {
        let segments = place(&input_reservations(
            [inputs.build_tuples, inputs.probe_tuples],
            W::TUPLE_BYTES,
        ));
        let counts = [inputs.build_tuples, inputs.probe_tuples].map(|count| count as usize);
        let tuples = [(BUILD, BUILD_INPUT), (PROBE, PROBE_INPUT)].map(|(relation, segment)| {
            let words = counts[relation] * TUPLE_WORDS;
            Shared::new(segments[segment].base, words)
        });
        let fill = |to: &Shared<W>, keys: &mut dyn Iterator<Item = W>| {
            for (tuple, key) in keys.enumerate() {
                watch::look_at(tuple as u64);
                to.set(tuple * TUPLE_WORDS, key);
                to.set(tuple * TUPLE_WORDS + 1, payload(key));
            }
        };
        fill(&tuples[BUILD], &mut { build });
        fill(&tuples[PROBE], &mut { probe });
        Self { inputs, tuples }
    }

    /// The key of a build tuple.
    pub(super) fn build_key(&self, tuple: usize) -> u64 {
        self.tuples[BUILD].get(tuple * TUPLE_WORDS).to_u64()
    }

    /// A build tuple: key and payload.
    pub(super) fn build_tuple(&self, tuple: usize) -> [W; 2] {
        [0, 1].map(|word| self.tuples[BUILD].get(tuple * TUPLE_WORDS + word))
    }

    /// How many tuples a relation has.
    pub(super) fn tuples_of(&self, relation: usize) -> usize {
        [self.inputs.build_tuples, self.inputs.probe_tuples][relation] as usize
    }

    /// How many build tuples there are.
    pub(super) fn build_tuples(&self) -> usize {
        self.inputs.build_tuples as usize
    }
}
