//! Sampled timing (SMARTS: Wunderlich, Wenisch, Falsafi, Hoe, ISCA 2003): small units are measured at regular distances,
//! and everything between passes in no time but keeps caches, TLB and predictor warm.

use crate::engine::Engine;
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::Statistics;
use serde::{Deserialize, Serialize};
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Which instructions are measured. Numbers are instructions; units begin and end with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingPlan {
    /// Length of a measured unit.
    pub unit: u64,
    /// Run in full, but not measured, before each unit: fills the pipeline and the queues to memory.
    pub warmup: u64,
    /// Distance from the start of one unit to that of the next.
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
    /// Instructions left in the stage.
    left: u64,
    /// Where the unit began: graduation slots, instructions run.
    began: Unit,
    units: Vec<Unit>,
    instructions: u64,
}

/// Fewest units that an interval may be given for: with fewer, their mean need not be distributed normally.
const LEAST_UNITS: usize = 30;

/// Confidence level of the interval, in percent: three standard deviations, as in the SMARTS paper.
const CONFIDENCE_PERCENT: f64 = 99.7;
const DEVIATIONS: f64 = 3.0;

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
    /// Standard deviation of a unit's cycles per instruction, relative to their mean.
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
    /// A sampled run on a machine with empty caches. The first unit ends with the first period.
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
        Ok(Self {
            engine: Engine::new(spec, layout)?,
            plan,
            width: u64::from(spec.core.issue_width),
            stage: Stage::Between,
            left: plan.period - plan.unit - plan.warmup,
            began: Unit {
                slots: 0,
                instructions: 0,
            },
            units: Vec::new(),
            instructions: 0,
        })
    }

    /// The warm-up of the workload is over: the first unit ends with the first period from here on.
    fn measure(&mut self) {
        self.stage = Stage::Between;
        self.left = self.plan.period - self.plan.unit - self.plan.warmup;
        self.units.clear();
        self.instructions = 0;
    }

    /// Goes on to the next stage that has instructions.
    fn advance(&mut self) {
        while self.left == 0 {
            (self.stage, self.left) = match self.stage {
                Stage::Between => (Stage::Warmup, self.plan.warmup),
                Stage::Warmup => {
                    self.began = self.position();
                    (Stage::Unit, self.plan.unit)
                }
                Stage::Unit => {
                    let end = self.position();
                    self.units.push(Unit {
                        slots: end.slots - self.began.slots,
                        instructions: end.instructions - self.began.instructions,
                    });
                    let between = self.plan.period - self.plan.unit - self.plan.warmup;
                    (Stage::Between, between)
                }
            };
        }
    }

    fn position(&self) -> Unit {
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
        let per_instruction = |unit: &Unit| unit.slots as f64 / unit.instructions.max(1) as f64;
        let mean = slots as f64 / measured.max(1) as f64;
        let squares = self
            .units
            .iter()
            .map(|unit| (per_instruction(unit) - mean).powi(2));
        let deviation = (squares.sum::<f64>() / (units - 1.0).max(1.0)).sqrt();
        let instructions = self.instructions as f64;
        // What is measured is known: only the rest is guessed.
        let guessed = (1.0 - measured as f64 / instructions.max(1.0)).max(0.0);
        let error = DEVIATIONS * deviation * (guessed / units.max(1.0)).sqrt();
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
            while taken < rest.len() && instructions < self.left {
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
            self.left = self.left.saturating_sub(instructions);
            if begins {
                self.measure();
            }
            rest = later;
        }
        Ok(())
    }
}
