//! Layouts side by side: the slot of each layout in each pass, and how much the
//! slots themselves differ.
//!
//! Locations on a disk differ (outer tracks transfer twice as fast as inner ones), so layouts
//! must change places. A random Latin square puts every layout in every slot once;
//! with fewer passes than layouts, each pass is a shift of one random order, and the shifts
//! are chosen so that layouts are compared within slots almost as well as in a square.
//! Refuses if neither leaves enough degrees of freedom to judge the noise.

use super::measured::{CellValue, Measured, MixCell};
use serde::{Deserialize, Serialize};
use stripewise_stats::{Random, least_squares_weights};
use stripewise_units::InputError;

/// Minimum efficiency of shifts, 1 being a Latin square's.
const EFFICIENCY_MIN: f64 = 0.8;
/// Minimum residual degrees of freedom.
const DEGREES_MIN: usize = 10;
/// Number of sets of shifts tried.
const TRIES: usize = 200;

/// Where each layout lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SlotPlan {
    /// By pass, then by layout: the slot, from 0.
    pub slots: Vec<Vec<usize>>,
}

/// Assigns `layouts` layouts to as many slots over `passes` passes.
///
/// # Errors
/// If the passes are too few to separate slots from layouts and to judge the noise.
pub fn slot_plan(layouts: usize, passes: usize, seed: u64) -> Result<SlotPlan, InputError> {
    let needed = |passes: usize| degrees(layouts, passes);
    let refuse = |why: String| {
        let enough = (2..).find(|&n| needed(n) >= DEGREES_MIN).unwrap_or(layouts);
        let passes = layouts.max(enough);
        Err(InputError::new(
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
            "{passes} passes are too few to tell {layouts} layouts from the slots that they are in"
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

/// Residual degrees of freedom, after the effects of passes, slots and layouts.
fn degrees(layouts: usize, passes: usize) -> usize {
    (layouts * passes).saturating_sub(passes + 2 * layouts.saturating_sub(1))
}

impl SlotPlan {
    /// The slot of each layout in this pass. Passes beyond the plan start over.
    pub fn of_pass(&self, pass: usize) -> &[usize] {
        match self.slots.len() {
            0 => &[],
            planned => &self.slots[pass % planned],
        }
    }

    /// After this many passes, layouts and slots can be separated, and the noise judged,
    /// as well as [`slot_plan`] requires.
    pub fn is_distinguishable(&self, passes: usize) -> bool {
        let layouts = self.of_pass(0).len();
        if layouts < 2 || degrees(layouts, passes) < DEGREES_MIN {
            return false;
        }
        // Only the relative position of passes counts.
        let shift = |pass: usize| (layouts + self.of_pass(pass)[0] - self.of_pass(0)[0]) % layouts;
        let shifts: Vec<usize> = (0..passes).map(shift).collect();
        passes.is_multiple_of(layouts)
            || efficiency(layouts, &shifts).is_some_and(|found| found >= EFFICIENCY_MIN)
    }
}

/// Adjusts the measurements as if all slots were equal: subtracts slot effects from
/// the logarithms of every cell's rate and latency. They take k - 1 of the (n - 1)(k - 1)
/// degrees of freedom that judging assumes, so residuals are scaled by
/// sqrt((n - 1) / (n - 2)): means stay, and intervals get their proper width. `None`
/// if slots and layouts cannot be separated yet.
pub fn without_slots(plan: &SlotPlan, measured: &Measured) -> Option<Measured> {
    if !plan.is_distinguishable(measured.passes.len()) {
        return None;
    }
    let mut level = measured.clone();
    for cell in 0..cells_of(measured) {
        let rates = logs(measured, cell, |value| Some(value.iops))?;
        set(&mut level, cell, &levelled(plan, &rates)?, |value, rate| {
            value.iops = rate;
        });
        let p99s = logs(measured, cell, |value| value.latency_ns_p99);
        if let Some(p99s) = p99s.and_then(|p99s| levelled(plan, &p99s)) {
            set(&mut level, cell, &p99s, |value, ns| {
                value.latency_ns_p99 = Some(ns);
            });
        }
    }
    Some(level)
}

/// How far the best slot is ahead of the worst, in per cent, for each cell of the mix.
/// Empty if slots and layouts cannot be separated.
pub fn slot_differences(
    plan: &SlotPlan,
    measured: &Measured,
    cells: &[MixCell],
) -> Vec<(String, f64)> {
    if !plan.is_distinguishable(measured.passes.len()) {
        return Vec::new();
    }
    let differs = |(number, cell): (usize, &MixCell)| {
        let effects = slot_effects(plan, &logs(measured, number, |value| Some(value.iops))?)?;
        let most = effects.iter().copied().fold(f64::MIN, f64::max);
        let least = effects.iter().copied().fold(f64::MAX, f64::min);
        Some((cell.name.clone(), 100.0 * libm::expm1(most - least)))
    };
    let cells = cells.iter().enumerate();
    let scored = cells.filter(|(_, cell)| cell.share_percent > 0.0);
    scored.filter_map(differs).collect()
}

fn cells_of(measured: &Measured) -> usize {
    let first = measured.passes.first().and_then(|pass| pass.values.first());
    first.and_then(Option::as_ref).map_or(0, Vec::len)
}

/// Logarithms of one cell by pass, then by layout.
fn logs(
    measured: &Measured,
    cell: usize,
    of: impl Fn(&CellValue) -> Option<f64>,
) -> Option<Vec<Vec<f64>>> {
    let log = |values: &Option<Vec<CellValue>>| {
        let value = of(values.as_ref()?.get(cell)?)?;
        Some(libm::log(value))
    };
    let rows = measured.passes.iter();
    rows.map(|pass| pass.values.iter().map(log).collect())
        .collect()
}

fn set(
    measured: &mut Measured,
    cell: usize,
    logs: &[Vec<f64>],
    mut put: impl FnMut(&mut CellValue, f64),
) {
    for (pass, logs) in measured.passes.iter_mut().zip(logs) {
        for (values, log) in pass.values.iter_mut().zip(logs) {
            if let Some(value) = values.as_mut().and_then(|values| values.get_mut(cell)) {
                put(value, libm::exp(*log));
            }
        }
    }
}

/// Values without the effects of slots, with scaled residuals.
fn levelled(plan: &SlotPlan, values: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let effects = slot_effects(plan, values)?;
    let (passes, layouts) = (values.len(), effects.len());
    let mut left: Vec<Vec<f64>> = values.to_vec();
    for (pass, row) in left.iter_mut().enumerate() {
        for (value, &slot) in row.iter_mut().zip(plan.of_pass(pass)) {
            *value -= effects[slot];
        }
    }
    let of_pass: Vec<f64> = left.iter().map(|row| row.iter().sum()).collect();
    let of_pass: Vec<f64> = of_pass.iter().map(|sum| sum / layouts as f64).collect();
    let of_layout: Vec<f64> = (0..layouts)
        .map(|layout| left.iter().map(|row| row[layout]).sum::<f64>() / passes as f64)
        .collect();
    let all = of_pass.iter().sum::<f64>() / passes as f64;
    let by = libm::sqrt((passes as f64 - 1.0) / (passes as f64 - 2.0).max(1.0));
    for (row, middle) in left.iter_mut().zip(&of_pass) {
        for (value, layout) in row.iter_mut().zip(&of_layout) {
            let fitted = layout + middle - all;
            *value = fitted + by * (*value - fitted);
        }
    }
    Some(left)
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

/// Efficiency of comparing layouts, 1 being that without slots: the variance of a mean
/// difference without slot effects over that with them, averaged over pairs. `None` if
/// some pair cannot be compared. By symmetry, the first layout represents all.
fn efficiency(layouts: usize, shifts: &[usize]) -> Option<f64> {
    let columns = || {
        shifts
            .iter()
            .flat_map(|shift| (0..layouts).map(move |l| (l, (l + shift) % layouts)))
    };
    let treatments: Vec<usize> = columns().map(|(l, _)| l).collect();
    // Every pass has every slot and every layout once, so passes are orthogonal to both.
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

/// Effects of the slots on the scale of the values, summing to 0, by joint least squares with
/// an effect for each layout and each pass: to be subtracted before layouts are compared.
/// `values` are by pass, then by layout. `None` if they cannot be separated.
pub fn slot_effects(plan: &SlotPlan, values: &[Vec<f64>]) -> Option<Vec<f64>> {
    let layouts = plan.slots.first()?.len();
    if values.is_empty() || values.iter().any(|row| row.len() != layouts) {
        return None;
    }
    let passes = 0..values.len();
    let slots = passes.clone().flat_map(|pass| plan.of_pass(pass));
    let slots: Vec<usize> = slots.copied().collect();
    let treatments: Vec<usize> = passes.flat_map(|_| 0..layouts).collect();
    // Passes have every slot and every layout once: subtracting their means keeps both.
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
