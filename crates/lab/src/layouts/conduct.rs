//! Conducts an experiment over layouts: pass after pass until two layouts within the
//! margin could be distinguished, or the passes or the time are spent.

use super::judge::resolution;
use super::measured::{LayoutPass, Measured, MixCell};
use super::passes::{PASSES_MIN, passes_likely, to_drop};
use super::question::Question;
use super::set::LayoutSet;
use super::slots::{SlotPlan, without_slots};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stripewise_stats::Random;
use stripewise_units::InputError;
use stripewise_workload::Workload;

/// A workload that every layout runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutCell {
    /// Its part in the mix.
    #[serde(flatten)]
    pub mix: MixCell,
    /// With its ramp and duration. Its seed is not used: every run has its own.
    pub workload: Workload,
}

/// What such an experiment does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutPlan {
    /// In a line, for people.
    pub title: String,
    /// The profile or mix by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The layouts.
    pub set: LayoutSet,
    /// The workloads.
    pub cells: Vec<LayoutCell>,
    /// What is there now, if it is one of the layouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<usize>,
    /// Differences up to this do not count.
    pub margin_percent: f64,
    /// Passes at most; 6 at least.
    pub passes_max: u32,
    /// No pass begins that would probably end after this, but for the first of a sitting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget_ns: Option<u64>,
    /// Of the order of layouts and of every run's workload.
    pub seed: u64,
    /// Layouts lie side by side and change places from pass to pass; absent where each is
    /// made in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<SlotPlan>,
}

impl LayoutPlan {
    /// Default margin in per cent: smaller differences do not count.
    pub const MARGIN_PERCENT: f64 = 2.0;
    /// Default maximum number of passes.
    pub const PASSES_MAX: u32 = 30;

    /// The cells as input for the statistics.
    pub fn mix(&self) -> Vec<MixCell> {
        self.cells.iter().map(|cell| cell.mix.clone()).collect()
    }

    /// The question to these measurements of a target, for which `cells` are [`Self::mix`].
    pub fn question<'a>(
        &'a self,
        target: &'a str,
        cells: &'a [MixCell],
        measured: &'a Measured,
    ) -> Question<'a> {
        Question {
            title: &self.title,
            target,
            profile: self.profile.as_deref(),
            set: &self.set,
            cells,
            measured,
            present: self.present,
            margin_percent: self.margin_percent,
            seed: self.seed,
        }
    }

    /// Ramps and durations of one layout's cells.
    pub fn layout_ns(&self) -> u64 {
        let lengths = self.cells.iter().map(|cell| cell.workload.length_ns());
        lengths.fold(0, u64::saturating_add)
    }

    /// The same over all layouts: the measuring time of a pass.
    pub fn pass_ns(&self) -> u64 {
        self.layout_ns().saturating_mul(self.set.len() as u64)
    }

    /// Checks what can be checked without a target.
    ///
    /// # Errors
    /// If there is nothing to score, or the margin or the passes are out of range.
    pub fn check(&self) -> Result<(), InputError> {
        if !self.cells.iter().any(|cell| cell.mix.share_percent > 0.0) {
            return Err(InputError::new(
                "no cell has a share of the mix, so there is nothing to rank layouts by",
                "give at least one cell a share above 0",
            ));
        }
        if !(self.margin_percent > 0.0 && self.margin_percent < 50.0) {
            return Err(InputError::new(
                format!("a margin of {} % is out of range", self.margin_percent),
                "give above 0 and below 50, such as 2%",
            ));
        }
        if self.passes_max < PASSES_MIN {
            return Err(InputError::new(
                format!("{} passes are too few to say anything", self.passes_max),
                format!("ask for {PASSES_MIN} or more"),
            ));
        }
        Ok(())
    }

    /// The measurements by which layouts are judged: without the effects of slots. `None`
    /// if these cannot yet be separated from those of the layouts.
    pub fn levelled<'a>(&self, measured: &'a Measured) -> Option<Cow<'a, Measured>> {
        match &self.slots {
            None => Some(Cow::Borrowed(measured)),
            Some(slots) => without_slots(slots, measured).map(Cow::Owned),
        }
    }

    /// The order in which a pass makes its layouts, deterministic for a plan and pass.
    pub fn order(&self, pass: u32, layouts: &[usize]) -> Vec<usize> {
        let mut order = layouts.to_vec();
        self.random(pass).shuffle(&mut order);
        order
    }

    /// The workload of a cell in a pass on a layout, with a seed of its own: layouts that
    /// shared their positions would share chance effects.
    pub fn workload(&self, pass: u32, layout: usize, cell: usize) -> Workload {
        let mut random = self.random(pass);
        let number = (layout * self.cells.len() + cell) as u64;
        Workload {
            seed: random.bits() ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03),
            ..self.cells[cell].workload.clone()
        }
    }

    fn random(&self, pass: u32) -> Random {
        let mut random = Random::new(self.seed);
        Random::new(random.bits() ^ u64::from(pass + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Makes layouts and measures them.
pub trait PassRunner {
    /// Why a pass could not be made.
    type Error;

    /// Makes these layouts in this order, measures all cells on each, and removes them.
    ///
    /// # Errors
    /// If a layout could not be made or measured; the pass does not count.
    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, Self::Error>;

    /// Time elapsed in all sessions; virtual on simulated arrays.
    fn elapsed_ns(&self) -> u64;

    /// The part of the margin that it measures down to. At half of it, each layout that may be the
    /// best is shown to be within the margin, so the plainest of them is chosen; at all of it, it may be
    /// the luckiest. Half takes four times the passes.
    fn part_of_margin(&self) -> f64 {
        1.0
    }

    /// Called when a pass is finished and stored.
    ///
    /// # Errors
    /// If the experiment must not go on.
    fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, Self::Error>;
}

/// Progress of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct PassProgress<'a> {
    /// All that was measured.
    pub measured: &'a Measured,
    /// The smallest difference between two layouts that can be distinguished, in per cent.
    pub resolution_percent: Option<f64>,
    /// Estimated total number of passes.
    pub passes_likely: u32,
}

/// Why no further pass is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PassesEnded {
    /// Two layouts that differ by the margin could be told apart.
    Precise,
    /// As many as there may be.
    PassesMax,
    /// The next one does not fit into the time.
    Time,
    /// Somebody asked for a stop.
    Interrupted,
}

/// Continues from earlier measurements. On return, `measured` has everything so far,
/// even after an error.
pub fn conduct_passes<M: PassRunner>(
    plan: &LayoutPlan,
    measured: &mut Measured,
    maker: &mut M,
) -> Result<PassesEnded, M::Error> {
    let began_ns = maker.elapsed_ns();
    let before = measured.passes.len();
    // Computed once per pass: it takes most of the time between passes.
    let mut width = resolution_of(plan, measured);
    let margin = -libm::log1p(-plan.margin_percent / 100.0) * maker.part_of_margin();
    loop {
        if let Some(ended) = enough(plan, measured, width, margin) {
            return Ok(ended);
        }
        let made = measured.passes.len();
        let here = (made - before) as u64;
        let spent_ns = maker.elapsed_ns() - began_ns;
        let next_ns = spent_ns.checked_div(here).unwrap_or(0);
        let ends_ns = maker.elapsed_ns().saturating_add(next_ns);
        if plan
            .time_budget_ns
            .is_some_and(|budget| ends_ns > budget && here > 0)
        {
            return Ok(PassesEnded::Time);
        }
        let pass = u32::try_from(made).unwrap_or(u32::MAX);
        let order = plan.order(pass, &left(plan, measured));
        measured.passes.push(maker.pass(pass, &order)?);
        width = resolution_of(plan, measured);
        let progress = PassProgress {
            measured,
            resolution_percent: width.map(|log| 100.0 * libm::expm1(log)),
            passes_likely: likely(plan, measured, width, margin),
        };
        if !maker.after_pass(&progress)? {
            return Ok(PassesEnded::Interrupted);
        }
    }
}

fn resolution_of(plan: &LayoutPlan, measured: &Measured) -> Option<f64> {
    let levelled = plan.levelled(measured)?;
    resolution(&plan.question("", &plan.mix(), &levelled))
}

fn enough(
    plan: &LayoutPlan,
    measured: &Measured,
    width: Option<f64>,
    margin: f64,
) -> Option<PassesEnded> {
    let made = measured.passes.len();
    if made < PASSES_MIN as usize {
        return None;
    }
    if width.is_some_and(|width| width <= margin) {
        return Some(PassesEnded::Precise);
    }
    (made >= plan.passes_max as usize).then_some(PassesEnded::PassesMax)
}

fn likely(plan: &LayoutPlan, measured: &Measured, width: Option<f64>, margin: f64) -> u32 {
    let made = measured.passes.len() as f64;
    let Some(width) = width.filter(|_| made >= 3.0) else {
        return PASSES_MIN;
    };
    // Converts the width after this many passes back to a spread.
    let quantile =
        libm::sqrt(2.0) * libm::sqrt(f64::from(passes_likely(1.0, 1.0, plan.set.len())) / 2.0);
    let spread = width * libm::sqrt(made) / quantile;
    let likely = passes_likely(spread, margin, plan.set.len());
    likely.clamp(PASSES_MIN, plan.passes_max)
}

/// Layouts that the next pass makes.
fn left(plan: &LayoutPlan, measured: &Measured) -> Vec<usize> {
    let all = 0..plan.set.len();
    let dropped = to_drop(&plan.set, &plan.mix(), measured, plan.seed);
    let made_last = |layout: &usize| {
        let last = measured.passes.last();
        last.is_none_or(|pass| pass.values.get(*layout).is_some_and(Option::is_some))
    };
    all.filter(made_last)
        .filter(|layout| !dropped.contains(layout))
        .collect()
}
