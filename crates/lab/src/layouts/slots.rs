//! Layouts side by side: which layout lies in which slot in which pass, and how much the
//! slots themselves differ.
//!
//! Places of a disk differ (outer tracks transfer twice as fast as inner ones), so layouts
//! must change places. A random Latin square lets every layout lie in every slot once;
//! with fewer passes than layouts each pass is a shift of one random order, and the shifts
//! are chosen so that layouts are compared within slots almost as well as in a square.
//! Where neither can be had with enough left to judge the noise by, it is refused.

use crate::experiment::PlanProblem;
use serde::{Deserialize, Serialize};
use stripewise_stats::{Random, least_squares_weights};

/// Efficiency that shifts must have, 1 being a Latin square's.
const EFFICIENCY_MIN: f64 = 0.8;
/// Residual degrees of freedom at least.
const DEGREES_MIN: usize = 10;
/// Sets of shifts that are tried.
const TRIES: usize = 200;

/// Where each layout lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SlotPlan {
    /// By pass, then by layout: the slot, from 0.
    pub slots: Vec<Vec<usize>>,
}

/// Why no plan was made.
pub type SlotProblem = PlanProblem;

/// Places `layouts` layouts in as many slots over `passes` passes.
///
/// # Errors
/// Where the passes are too few to tell slots and layouts apart and to judge the noise.
pub fn slot_plan(layouts: usize, passes: usize, seed: u64) -> Result<SlotPlan, SlotProblem> {
    let needed = |passes: usize| {
        // Passes, slots and layouts each take their effects.
        (layouts * passes).saturating_sub(passes + 2 * layouts.saturating_sub(1))
    };
    let refuse = |why: String| {
        let enough = (2..).find(|&n| needed(n) >= DEGREES_MIN).unwrap_or(layouts);
        let passes = layouts.max(enough);
        Err(PlanProblem::new(
            why,
            format!("make {passes} passes, or make each layout in the same place"),
        ))
    };
    if layouts < 2 {
        return refuse("slots need two layouts or more".to_owned());
    }
    let mut random = Random::new(seed);
    let shifts = match passes.is_multiple_of(layouts) && passes > 0 {
        true => Some(square(layouts, passes, &mut random)),
        false => best_shifts(layouts, passes, &mut random),
    };
    let Some(shifts) = shifts else {
        return refuse(format!(
            "{passes} passes are too few to tell {layouts} layouts from the slots that they lie in"
        ));
    };
    if needed(passes) < DEGREES_MIN {
        return refuse(format!(
            "{passes} passes of {layouts} layouts leave {} values to judge the noise by",
            needed(passes)
        ));
    }
    let mut names: Vec<usize> = (0..layouts).collect();
    random.shuffle(&mut names);
    let of_pass = |shift: &usize| -> Vec<usize> {
        names.iter().map(|name| (name + shift) % layouts).collect()
    };
    Ok(SlotPlan {
        slots: shifts.iter().map(of_pass).collect(),
    })
}

/// Every shift equally often, in random order.
fn square(layouts: usize, passes: usize, random: &mut Random) -> Vec<usize> {
    let mut all = Vec::with_capacity(passes);
    while all.len() < passes {
        let mut shifts: Vec<usize> = (0..layouts).collect();
        random.shuffle(&mut shifts);
        all.extend(shifts);
    }
    all
}

/// The most efficient of many random sets of different shifts, if one is good enough.
fn best_shifts(layouts: usize, passes: usize, random: &mut Random) -> Option<Vec<usize>> {
    let whole = passes / layouts;
    let rest = passes % layouts;
    let mut best: Option<(f64, Vec<usize>)> = None;
    for _ in 0..TRIES {
        let mut shifts = square(layouts, whole * layouts, random);
        let mut others: Vec<usize> = (0..layouts).collect();
        random.shuffle(&mut others);
        shifts.extend(&others[..rest]);
        let Some(efficiency) = efficiency(layouts, &shifts) else {
            continue;
        };
        if best.as_ref().is_none_or(|(most, _)| efficiency > *most) {
            best = Some((efficiency, shifts));
        }
    }
    let (efficiency, shifts) = best?;
    (efficiency >= EFFICIENCY_MIN).then_some(shifts)
}

/// How well layouts are compared, 1 being as well as without slots: the variance of a mean
/// difference without slot effects over that with them, averaged over pairs. `None` where
/// some pair cannot be compared. By symmetry the first layout stands for all.
fn efficiency(layouts: usize, shifts: &[usize]) -> Option<f64> {
    let columns = || {
        shifts
            .iter()
            .flat_map(|shift| (0..layouts).map(move |l| (l, (l + shift) % layouts)))
    };
    let treatments: Vec<usize> = columns().map(|(l, _)| l).collect();
    // Every pass has every slot and every layout once, so passes take nothing from either.
    let slots: Vec<usize> = columns().map(|(_, slot)| slot).collect();
    let ideal = 2.0 / shifts.len() as f64;
    let mut sum = 0.0;
    for other in 1..layouts {
        let mut wanted = vec![0.0; layouts];
        wanted[0] = -1.0;
        wanted[other] = 1.0;
        let weights = least_squares_weights(&treatments, &slots, &wanted)?;
        sum += weights.iter().map(|w| w * w).sum::<f64>();
    }
    Some(ideal * (layouts - 1) as f64 / sum)
}

/// Effects of the slots on the scale of the values, 0 in sum, by joint least squares with
/// an effect for each layout and each pass: what to take off before layouts are compared.
/// `values` are by pass, then by layout. `None` where they cannot be told apart.
#[must_use]
pub fn slot_effects(plan: &SlotPlan, values: &[Vec<f64>]) -> Option<Vec<f64>> {
    let layouts = plan.slots.first()?.len();
    let used = &plan.slots[..values.len().min(plan.slots.len())];
    if used.is_empty() || values.iter().any(|row| row.len() != layouts) {
        return None;
    }
    let slots: Vec<usize> = used.iter().flatten().copied().collect();
    let treatments: Vec<usize> = used.iter().flat_map(|_| 0..layouts).collect();
    // Passes have every slot and every layout once: taking their means out leaves both.
    let centred: Vec<f64> = values
        .iter()
        .flat_map(|row| {
            let middle = row.iter().sum::<f64>() / layouts as f64;
            row.iter().map(move |value| value - middle)
        })
        .collect();
    (0..layouts)
        .map(|slot| {
            let share = 1.0 / layouts as f64;
            let mut wanted = vec![-share; layouts];
            wanted[slot] += 1.0;
            let weights = least_squares_weights(&slots, &treatments, &wanted)?;
            Some(weights.iter().zip(&centred).map(|(w, v)| w * v).sum())
        })
        .collect()
}
