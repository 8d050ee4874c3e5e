//! Static re-reference interval prediction (Jaleel, Theobald, Steely, Emer, ISCA 2010): two bits per line, hit priority.

use super::{Policy, Position};

/// Predictions of two bits: the next use is near (0) to distant (3).
const NEAR: u8 = 0;
const LONG: u8 = 2;
const DISTANT: u8 = 3;

/// One prediction per line.
#[derive(Clone, Debug)]
pub(crate) struct Srrip {
    predictions: Box<[u8]>,
    ways: usize,
}

impl Policy for Srrip {
    fn new(sets: usize, ways: usize) -> Self {
        Self {
            predictions: vec![DISTANT; sets * ways].into_boxed_slice(),
            ways,
        }
    }

    fn used(&mut self, set: usize, way: usize) {
        self.predictions[set * self.ways + way] = NEAR;
    }

    fn filled(&mut self, set: usize, way: usize, position: Position) {
        self.predictions[set * self.ways + way] = match position {
            Position::Newest => LONG,
            Position::Oldest => DISTANT,
        };
    }

    /// The first way whose next use is distant; if there is none, all come closer to it first.
    fn victim(&mut self, set: usize) -> usize {
        let start = set * self.ways;
        let set = &mut self.predictions[start..start + self.ways];
        let furthest = set.iter().copied().max().unwrap_or(DISTANT);
        for prediction in set.iter_mut() {
            *prediction += DISTANT - furthest;
        }
        set.iter()
            .position(|&prediction| prediction == DISTANT)
            .unwrap_or(0)
    }

    fn clear(&mut self) {
        self.predictions.fill(DISTANT);
    }
}
