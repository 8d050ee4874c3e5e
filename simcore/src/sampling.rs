//! Sampled timing (SMARTS: Wunderlich, Wenisch, Falsafi, Hoe, ISCA 2003): small units are measured, one in each period, and everything between
//! passes in no time but keeps caches, TLB and predictor warm.
//!
//! A unit begins at a random place of its period, and not, as in the paper, at regular distances: kernels that go from page to page repeat
//! themselves, and a regular distance may meet the same place of each page.

use crate::engine::Engine;
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::Statistics;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Which instructions are measured. Numbers are instructions. An event is measured if the one before it ends within a unit, so that each has the
/// same chance, however many instructions it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingPlan {
    /// Length of a measured unit.
    pub unit: u64,
    /// Run in full, but not measured, before each unit: fills the pipeline and the queues to memory.
    pub warmup: u64,
    /// Instructions of which one unit and its warm-up are taken.
    pub period: u64,
}

impl SamplingPlan {
    /// Units of 1000 instructions, warmed up for 2000, ten thousand of them in a run of so many instructions, as the
    /// SMARTS paper recommends; but never more than a tenth of the run in full.
    #[must_use]
    pub fn for_length(instructions: u64) -> Self {
        let (unit, warmup) = (1000, 2000);
        Self {
            unit,
            warmup,
            period: (instructions / 10_000).max(10 * (unit + warmup)),
        }
    }

    /// Checks that units and their warm-ups do not overlap.
    ///
    /// # Errors
    /// Names the number that cannot be, and what would be right.
    pub fn validate(&self) -> Result<(), SpecError> {
        let least = self.unit.saturating_add(self.warmup);
        let (path, message) = if self.unit == 0 {
            ("sample.unit", "must be at least 1".to_owned())
        } else if self.period < least {
            (
                "sample.period",
                format!(
                    "{} is less than unit and warm-up together ({least})",
                    self.period
                ),
            )
        } else {
            return Ok(());
        };
        Err(SpecError {
            path: path.to_owned(),
            message,
        })
    }
}

/// What happens to the instructions that come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// They pass in no time.
    Between,
    /// They run, but do not count.
    Warmup,
    /// They are measured.
    Unit,
}

/// Cycles and instructions of one unit.
#[derive(Clone, Copy, Debug)]
struct Unit {
    slots: u64,
    instructions: u64,
}

/// A sampled run. Feed it events, then [`Sampler::finish`].
pub struct Sampler {
    engine: Engine,
    plan: SamplingPlan,
    width: u64,
    stage: Stage,
    /// The instruction with which the stage ends.
    stage_end: u64,
    /// The instruction with which the period ends.
    period_end: u64,
    random: SplitMix64,
    /// Where the unit began: graduation slots, instructions run.
    began: Unit,
    units: Vec<Unit>,
    instructions: u64,
}

/// Fewest units that an interval may be given for: with fewer, their mean need not be distributed normally.
const LEAST_UNITS: usize = 30;

/// Confidence level of the interval, in percent: three standard deviations of a normal distribution, as in the SMARTS paper.
const CONFIDENCE_PERCENT: f64 = 99.7;
const DEVIATIONS: f64 = 3.0;

/// So many standard deviations, as they are estimated from so many units, hold as much of Student's distribution as [`DEVIATIONS`] of the normal
/// one: two terms of its expansion (Abramowitz and Stegun, 26.7.5), which with 30 units or more are off by 0.1% at most.
fn deviations(units: f64) -> f64 {
    let (z, freedom) = (DEVIATIONS, units - 1.0);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / freedom + second / freedom.powi(2)
}

/// Cycles of the whole run, estimated from its measured units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The plan that was followed.
    pub plan: SamplingPlan,
    /// Units measured.
    pub units: u64,
    /// Instructions in them.
    pub measured_instructions: u64,
    /// Instructions of the whole run.
    pub instructions: u64,
    /// Cycles per instruction in the units.
    pub cycles_per_instruction: f64,
    /// Standard deviation of what a unit takes from what its instructions take on the average, relative to the mean of units.
    pub coefficient_of_variation: f64,
    /// Confidence level of the interval, in percent.
    pub confidence_percent: f64,
    /// Cycles of the whole run: the lower bound, the estimate and the upper bound.
    pub cycles: [f64; 3],
}

/// The results of a sampled run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledStatistics {
    /// Time of the whole run, as estimated.
    pub estimate: Estimate,
    /// Counts of caches, TLB and branches are those of the whole run; cycles, instructions and slots are those of the
    /// units and their warm-ups.
    pub statistics: Statistics,
}

impl Sampler {
    /// A sampled run on a machine with empty caches. Equal plans measure the same instructions of equal traces.
    ///
    /// # Errors
    /// The machine or the plan cannot be.
    pub fn new(spec: &MachineSpec, layout: &Layout, plan: SamplingPlan) -> Result<Self, SpecError> {
        plan.validate()?;
        if spec.interference.is_some() {
            return Err(SpecError {
                path: "interference".to_owned(),
                message: "no time passes between the units of a sample, and the caches would be emptied too rarely; leave out `sample` or `interference`"
                    .to_owned(),
            });
        }
        let mut sampler = Self {
            engine: Engine::new(spec, layout)?,
            plan,
            width: u64::from(spec.core.issue_width),
            stage: Stage::Between,
            stage_end: 0,
            period_end: 0,
            random: SplitMix64::seed_from_u64(0),
            began: Unit {
                slots: 0,
                instructions: 0,
            },
            units: Vec::new(),
            instructions: 0,
        };
        sampler.begin_period();
        Ok(sampler)
    }

    /// The warm-up of the workload is over: the first period begins here.
    fn measure(&mut self) {
        self.units.clear();
        self.instructions = 0;
        self.period_end = 0;
        self.begin_period();
    }

    /// Begins the period behind the one that ends, whose unit may be anywhere in it.
    fn begin_period(&mut self) {
        let SamplingPlan {
            unit,
            warmup,
            period,
        } = self.plan;
        // A multiplication takes a random number of 64 bits to one below a bound.
        let places = u128::from(period - unit - warmup) + 1;
        let before = (u128::from(self.random.next_u64()) * places) >> 64;
        self.stage = Stage::Between;
        self.stage_end = self.period_end + before as u64;
        self.period_end += period;
    }

    /// Goes on to the stage that the next instruction is in. What an event has run over counts for the stages behind.
    fn advance(&mut self) {
        while self.stage_end <= self.instructions {
            match self.stage {
                Stage::Between => {
                    self.stage = Stage::Warmup;
                    self.stage_end += self.plan.warmup;
                }
                Stage::Warmup => {
                    self.began = self.position();
                    self.stage = Stage::Unit;
                    self.stage_end += self.plan.unit;
                }
                Stage::Unit => {
                    let end = self.position();
                    self.units.push(Unit {
                        slots: end.slots - self.began.slots,
                        instructions: end.instructions - self.began.instructions,
                    });
                    self.begin_period();
                }
            }
        }
    }

    fn position(&mut self) -> Unit {
        Unit {
            slots: self.engine.position(),
            instructions: self.engine.instructions(),
        }
    }

    /// The results. A unit that the end of the trace cut short is not used.
    ///
    /// # Errors
    /// There are too few units for an interval.
    pub fn finish(self) -> Result<SampledStatistics, SpecError> {
        self.enough()?;
        Ok(SampledStatistics {
            estimate: self.estimate(),
            statistics: self.engine.finish(),
        })
    }

    fn enough(&self) -> Result<(), SpecError> {
        let units = self.units.len();
        if units >= LEAST_UNITS {
            return Ok(());
        }
        // A little less, as units end with an event and so a little late.
        let longest = self.instructions / (LEAST_UNITS as u64 + 4);
        let instructions = self.instructions;
        let shorter = if longest >= self.plan.unit + self.plan.warmup {
            format!("give a period of at most {longest}, or replay it in full")
        } else {
            "replay it in full".to_owned()
        };
        Err(SpecError {
            path: "sample.period".to_owned(),
            message: format!(
                "{} measures {units} units of the trace's {instructions} instructions, and an interval needs {LEAST_UNITS}; {shorter}",
                self.plan.period
            ),
        })
    }

    fn estimate(&self) -> Estimate {
        let units = self.units.len() as f64;
        let slots: u64 = self.units.iter().map(|unit| unit.slots).sum();
        let measured: u64 = self.units.iter().map(|unit| unit.instructions).sum();
        let mean = slots as f64 / measured.max(1) as f64;
        // Units differ in their instructions, so that the mean is a ratio of two sums.
        let off = |unit: &Unit| unit.slots as f64 - mean * unit.instructions as f64;
        let squares = self.units.iter().map(|unit| off(unit).powi(2));
        let of_a_unit = (squares.sum::<f64>() / (units - 1.0).max(1.0)).sqrt();
        let deviation = of_a_unit * units / measured.max(1) as f64;
        let instructions = self.instructions as f64;
        // What is measured is known: only the rest is guessed.
        let guessed = (1.0 - measured as f64 / instructions.max(1.0)).max(0.0);
        let error = deviations(units) * deviation * (guessed / units.max(1.0)).sqrt();
        let width = self.width as f64;
        Estimate {
            plan: self.plan,
            units: self.units.len() as u64,
            measured_instructions: measured,
            instructions: self.instructions,
            cycles_per_instruction: mean / width,
            coefficient_of_variation: if mean > 0.0 { deviation / mean } else { 0.0 },
            confidence_percent: CONFIDENCE_PERCENT,
            cycles: [(mean - error).max(0.0), mean, mean + error]
                .map(|slots| slots * instructions / width),
        }
    }
}

impl EventSink for Sampler {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let mut rest = events;
        while !rest.is_empty() {
            self.advance();
            let mut taken = 0;
            let mut instructions = 0;
            let left = self.stage_end - self.instructions;
            while taken < rest.len() && instructions < left {
                let event = &rest[taken];
                instructions += self.engine.instructions_of(event);
                taken += 1;
                if event.kind == Kind::Measure {
                    break;
                }
            }
            let (now, later) = rest.split_at(taken);
            let begins = now.last().map(|event| event.kind) == Some(Kind::Measure);
            if self.stage == Stage::Between {
                self.engine.pass(now)?;
            } else {
                self.engine.consume(now)?;
            }
            self.instructions += instructions;
            if begins {
                self.measure();
            }
            rest = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided, 0.27% outside: tables of Student's distribution by degrees of freedom.
    #[test]
    fn few_units_need_more_deviations() {
        for (freedom, expected) in [(29., 3.28), (60., 3.13), (120., 3.07), (1e9, 3.)] {
            let found = deviations(freedom + 1.);
            assert!((found - expected).abs() < 0.01, "{freedom}: {found}");
        }
    }
}
