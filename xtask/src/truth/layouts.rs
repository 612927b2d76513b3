//! (f): experiments over layouts with a known truth: 4 to 24 layouts, noise between builds and
//! between runs, stopping rules included, and slots that differ by 30 %.

use super::parallel::trials;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use anyhow::Result;
use std::convert::Infallible;
use stripewise_lab::layouts::{
    CellValue, Factor, LayoutCell, LayoutPass, LayoutPlan, LayoutSet, Measured, MixCell,
    PassProgress, PassRunner, Question, SlotPlan, conduct_passes, judge, slot_plan,
};
use stripewise_results::AdviceRecord;
use stripewise_stats::Random;
use stripewise_workload::Workload;

/// Standard deviation of a build, and of a run, on the log scale.
const MAKING: f64 = 0.01;
const RUN: f64 = 0.01;
/// Difference between the first and the last slot.
const SLOTS: f64 = 0.3;

/// Result of one experiment, compared with the truth.
#[derive(Clone, Copy, Debug)]
pub struct LayoutTrial {
    /// The true best is in the set.
    pub has_best: bool,
    /// Number of layouts in the set.
    pub set: f64,
    /// Number of layouts in the set with known noise.
    pub oracle: f64,
    /// Effects whose interval contains the truth, and all of them.
    pub covered: [usize; 2],
    /// The stated gain over the present layout does not contain the true one.
    pub false_gain: bool,
    /// An effect was reported.
    pub any_effect: bool,
    /// The intervals of all leads over the best of the others contain the true ones.
    pub leads_hold: bool,
}

/// A synthetic bench: rates of exp(truth + noise).
struct SyntheticBench {
    truth: Vec<f64>,
    random: Random,
    slots: Option<SlotPlan>,
}

impl PassRunner for SyntheticBench {
    type Error = Infallible;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, Infallible> {
        let mut values = vec![None; self.truth.len()];
        let common = 0.05 * self.random.normal();
        for &layout in order {
            let noise = MAKING * self.random.normal() + RUN * self.random.normal();
            let slot = self.slots.as_ref().map_or(0.0, |plan| {
                let slots = plan.of_pass(pass as usize);
                SLOTS * slots[layout] as f64 / (slots.len() as f64 - 1.0)
            });
            let log = self.truth[layout] + common + noise + slot;
            values[layout] = Some(vec![CellValue {
                iops: 1_000.0 * log.exp(),
                latency_ns_p99: None,
            }]);
        }
        Ok(LayoutPass { values })
    }

    fn elapsed_ns(&self) -> u64 {
        0
    }

    fn after_pass(&mut self, _progress: &PassProgress<'_>) -> Result<bool, Infallible> {
        Ok(true)
    }
}

/// Factors of 2 to 4 levels with 4 to 24 combinations, and the truth of each layout: main effects
/// and one interaction, up to about 10 % in all; or no effect at all.
fn ground(random: &mut Random, equal: bool) -> Result<(LayoutSet, Vec<f64>)> {
    const SHAPES: [&[usize]; 6] = [&[2, 2], &[2, 3], &[2, 4], &[3, 4], &[2, 2, 3], &[2, 3, 4]];
    let shape = SHAPES[random.below(SHAPES.len())];
    let factors = shape.iter().enumerate().map(|(number, &levels)| Factor {
        name: format!("factor{number}"),
        levels: (0..levels).map(|level| format!("level{level}")).collect(),
    });
    let set = LayoutSet::full(factors.collect(), |_| None)?;
    let mut effects: Vec<Vec<f64>> = Vec::new();
    for &levels in shape {
        effects.push((0..levels).map(|_| 0.06 * random.uniform()).collect());
    }
    let together = 0.02 * random.uniform();
    let truth = set.layouts.iter().map(|levels| {
        let mains: f64 = levels
            .iter()
            .zip(&effects)
            .map(|(&level, of)| of[level])
            .sum();
        let both = levels[0] == 1 && levels[1] == 1;
        if equal {
            0.0
        } else {
            mains + if both { together } else { 0.0 }
        }
    });
    let truth = truth.collect();
    Ok((set, truth))
}

/// One experiment.
pub fn experiment(seed: u64, equal: bool, in_slots: bool) -> Result<Option<LayoutTrial>> {
    let mut random = Random::new(seed);
    let (set, truth) = ground(&mut random, equal)?;
    let layouts = set.len();
    let passes_max = if in_slots {
        12u32.max(layouts as u32)
    } else {
        12
    };
    let slots = match in_slots {
        true => match slot_plan(layouts, passes_max as usize, seed) {
            Ok(plan) => Some(plan),
            // A refusal counts as an answer.
            Err(_) => return Ok(None),
        },
        false => None,
    };
    let plan = LayoutPlan {
        title: "truth".to_owned(),
        profile: None,
        set,
        cells: vec![LayoutCell {
            mix: MixCell {
                name: "cell".to_owned(),
                what: String::new(),
                share_percent: 100.0,
                assumed: false,
                limit_ns_p99: None,
            },
            workload: Workload::default(),
        }],
        present: Some(random.below(layouts)),
        margin_percent: 2.0,
        passes_max,
        time_budget_ns: None,
        seed,
        slots,
    };
    let mut made = SyntheticBench {
        truth: truth.clone(),
        random,
        slots: plan.slots.clone(),
    };
    let mut measured = Measured::default();
    let Ok(_) = conduct_passes(&plan, &mut measured, &mut made);
    let Some(measured) = plan.levelled(&measured) else {
        // It refuses to give an answer.
        return Ok(None);
    };
    let cells = plan.mix();
    let record = judge(&Question {
        title: "truth",
        target: "",
        profile: None,
        set: &plan.set,
        cells: &cells,
        measured: &measured,
        present: plan.present,
        margin_percent: 2.0,
        seed,
    });
    Ok(record.map(|record| outcomes(&plan, &truth, &measured, &record)))
}

fn outcomes(
    plan: &LayoutPlan,
    truth: &[f64],
    measured: &Measured,
    record: &AdviceRecord,
) -> LayoutTrial {
    let best = (0..truth.len()).max_by(|&a, &b| truth[a].total_cmp(&truth[b]));
    let best = plan.set.levels(best.unwrap_or(0));
    let kept = |levels| {
        record
            .layouts
            .iter()
            .any(|one| one.layout == levels && one.among_best)
    };
    let set = record.layouts.iter().filter(|one| one.among_best).count();
    let true_log = |levels| {
        plan.set
            .position(levels)
            .map_or(0.0, |layout| truth[layout])
    };
    let present = plan.present.map_or(0.0, |layout| truth[layout]);
    let percent = |log: f64| 100.0 * log.exp_m1();
    let false_gain = record.recommendation.as_ref().is_some_and(|choice| {
        let gain = percent(true_log(&choice.layout) - present);
        let holds = choice.gain_percent_low.zip(choice.gain_percent_high);
        holds.is_some_and(|(low, high)| !choice.is_present && !(low..=high).contains(&gain))
    });
    let covered = record.effects.iter().filter(|effect| {
        let truth = percent(true_effect(plan, truth, effect));
        (effect.low - 1e-9..=effect.high + 1e-9).contains(&truth)
    });
    LayoutTrial {
        has_best: kept(best),
        set: set as f64,
        oracle: oracle(record, measured.passes.len()),
        covered: [covered.count(), record.effects.len()],
        false_gain,
        any_effect: record.effects.iter().any(|effect| effect.found),
        leads_hold: leads_hold(plan, truth, record),
    }
}

/// All of them together: of what may be the best and of what is out.
fn leads_hold(plan: &LayoutPlan, truth: &[f64], record: &AdviceRecord) -> bool {
    record.layouts.iter().all(|one| {
        let Some(layout) = plan.set.position(&one.layout) else {
            return false;
        };
        let others = (0..truth.len()).filter(|other| *other != layout);
        let best = others.map(|other| truth[other]).fold(f64::MIN, f64::max);
        let lead = 100.0 * (truth[layout] - best).exp_m1();
        (one.ahead_percent_low - 1e-9..=one.ahead_percent_high + 1e-9).contains(&lead)
    })
}

/// For the full set of combinations: differences of plain means of the truth over the layouts that
/// the effect is of.
fn true_effect(plan: &LayoutPlan, truth: &[f64], effect: &stripewise_results::EffectRecord) -> f64 {
    let mean = |wanted: &[(&String, &String)]| {
        let of = (0..truth.len()).filter(|&layout| {
            let levels = plan.set.levels(layout);
            (wanted.iter().copied())
                .chain(&effect.at)
                .all(|(factor, level)| levels.get(factor) == Some(level))
        });
        let values: Vec<f64> = of.map(|layout| truth[layout]).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let factors = &effect.factors;
    match effect.levels.as_slice() {
        [[from, to]] => mean(&[(&factors[0], to)]) - mean(&[(&factors[0], from)]),
        [[a, b], [c, d]] => {
            let at = |x, y| mean(&[(&factors[0], x), (&factors[1], y)]);
            at(b, d) - at(b, c) - at(a, d) + at(a, c)
        }
        _ => 0.0,
    }
}

/// The size of the set if the noise is known: Dunnett's one-sided quantile with infinitely many
/// degrees of freedom.
fn oracle(record: &AdviceRecord, passes: usize) -> f64 {
    let quantile = match record.layouts.len() {
        0..=4 => 2.06,
        5..=8 => 2.34,
        9..=12 => 2.46,
        _ => 2.68,
    };
    let noise = (MAKING * MAKING + RUN * RUN).sqrt();
    let limit = quantile * noise * (2.0 / passes as f64).sqrt();
    let logs: Vec<f64> = record.layouts.iter().map(|one| one.score.ln()).collect();
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    logs.iter().filter(|log| most - *log <= limit).count() as f64
}

/// `count` experiments with an answer.
pub fn experiments(
    seed: u64,
    count: usize,
    equal: bool,
    in_slots: bool,
) -> Result<Vec<LayoutTrial>> {
    let study = 80 + u64::from(equal) + 2 * u64::from(in_slots);
    let all = trials(count, |number| {
        experiment(seed_of(seed, study, number), equal, in_slots)
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// Percentage of experiments for which a condition holds.
fn share(all: &[LayoutTrial], holds: impl Fn(&LayoutTrial) -> bool) -> f64 {
    100.0 * all.iter().filter(|outcomes| holds(outcomes)).count() as f64 / all.len().max(1) as f64
}

/// (f): sets, effects and gains of layouts.
pub fn layouts(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    for (in_slots, what) in [(false, "remade"), (true, "in slots 30 % apart")] {
        let all = experiments(seed, size.coverage, false, in_slots)?;
        let mut state = |claim: &str, value: f64, decimals: usize, bound: Bound| {
            table.state(&format!("(f) {what}: {claim}"), value, decimals, bound);
        };
        state(
            "best in the set, %",
            share(&all, |outcomes| outcomes.has_best),
            1,
            Bound::AtLeast(93.0),
        );
        let sum = |of: fn(&LayoutTrial) -> f64| all.iter().map(of).sum::<f64>();
        let ratio = sum(|outcomes| outcomes.set) / sum(|outcomes| outcomes.oracle);
        state(
            "size of the set over an oracle's",
            ratio,
            2,
            Bound::AtMost(1.3),
        );
        state(
            "all leads over the best of the others covered, %",
            share(&all, |outcomes| outcomes.leads_hold),
            1,
            Bound::AtLeast(93.0),
        );
        let covered: usize = all.iter().map(|outcomes| outcomes.covered[0]).sum();
        let effects: usize = all.iter().map(|outcomes| outcomes.covered[1]).sum();
        let covered = 100.0 * covered as f64 / effects.max(1) as f64;
        state("effects covered, %", covered, 1, Bound::AtLeast(93.0));
        state(
            "false gains, %",
            share(&all, |outcomes| outcomes.false_gain),
            1,
            Bound::AtMost(6.0),
        );
        let equal = experiments(seed, size.coverage, true, in_slots)?;
        let alarms = share(&equal, |outcomes| outcomes.any_effect);
        state(
            "equal layouts: any effect found, %",
            alarms,
            1,
            Bound::AtMost(6.0),
        );
    }
    Ok(())
}
