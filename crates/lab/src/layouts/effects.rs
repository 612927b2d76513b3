//! Which factors matter: main effects and two-way interactions of the score.

use super::set::LayoutSet;
use stripewise_results::EffectRecord;
use stripewise_stats::{contrast, holm, least_squares_weights};

/// A contrast of levels.
struct Contrast {
    factors: Vec<usize>,
    /// For each factor: from and to.
    levels: Vec<[usize; 2]>,
}

/// All main effects (every pair of levels) and two-way interactions (every pair of pairs)
/// that the layouts can show, the largest of each factor or pair of factors first. `rows` are
/// scores: one row per pass, one column per layout. Holm's correction covers all of them.
pub(super) fn effects(set: &LayoutSet, rows: &[Vec<f64>], level: f64) -> Vec<EffectRecord> {
    let mut found = Vec::new();
    let mut p_values = Vec::new();
    for wanted in all(set) {
        let Some(weights) = weights(set, &wanted) else {
            continue;
        };
        let Some(contrast) = contrast(rows, &weights, level) else {
            continue;
        };
        p_values.push(contrast.p_value);
        found.push(record(set, &wanted, contrast.estimate));
    }
    for (effect, p_value) in found.iter_mut().zip(holm(&p_values)) {
        effect.p_value = p_value;
        effect.found = p_value <= 1.0 - level;
    }
    let mut order: Vec<Vec<String>> = Vec::new();
    for effect in &found {
        if !order.contains(&effect.factors) {
            order.push(effect.factors.clone());
        }
    }
    let place = |effect: &EffectRecord| order.iter().position(|of| *of == effect.factors);
    found.sort_by(|a, b| (place(a).cmp(&place(b))).then(b.percent.total_cmp(&a.percent)));
    found
}

fn all(set: &LayoutSet) -> Vec<Contrast> {
    let count = set.factors.len();
    let mut all = Vec::new();
    for factor in 0..count {
        for pair in pairs(set.factors[factor].levels.len()) {
            all.push(Contrast {
                factors: vec![factor],
                levels: vec![pair],
            });
        }
    }
    for first in 0..count {
        for second in first + 1..count {
            for of_first in pairs(set.factors[first].levels.len()) {
                for of_second in pairs(set.factors[second].levels.len()) {
                    all.push(Contrast {
                        factors: vec![first, second],
                        levels: vec![of_first, of_second],
                    });
                }
            }
        }
    }
    all
}

fn pairs(levels: usize) -> Vec<[usize; 2]> {
    let from = |from: usize| (from + 1..levels).map(move |to| [from, to]);
    (0..levels).flat_map(from).collect()
}

/// Weights of the layouts: least squares with an effect for each level (or pair
/// of levels) and one for each combination of all other factors. If all combinations
/// exist, these are the plain differences of means.
fn weights(set: &LayoutSet, wanted: &Contrast) -> Option<Vec<f64>> {
    let sizes: Vec<usize> = (wanted.factors.iter())
        .map(|&factor| set.factors[factor].levels.len())
        .collect();
    let treatment = |levels: &[usize]| {
        let chosen = wanted.factors.iter().zip(&sizes);
        chosen.fold(0, |number, (&factor, size)| number * size + levels[factor])
    };
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut block = |layout: &Vec<usize>| {
        let others = layout.iter().enumerate();
        let others = others.filter(|(factor, _)| !wanted.factors.contains(factor));
        let others: Vec<usize> = others.map(|(_, &level)| level).collect();
        let known = blocks.iter().position(|known| *known == others);
        known.unwrap_or_else(|| {
            blocks.push(others);
            blocks.len() - 1
        })
    };
    let of_treatments: Vec<usize> = set.layouts.iter().map(|levels| treatment(levels)).collect();
    let of_blocks: Vec<usize> = set.layouts.iter().map(&mut block).collect();
    let mut coefficients = vec![0.0; sizes.iter().product()];
    match wanted.levels.as_slice() {
        [[from, to]] => {
            coefficients[*to] += 1.0;
            coefficients[*from] -= 1.0;
        }
        [[a, b], [c, d]] => {
            let at = |first: usize, second: usize| first * sizes[1] + second;
            coefficients[at(*b, *d)] += 1.0;
            coefficients[at(*a, *c)] += 1.0;
            coefficients[at(*b, *c)] -= 1.0;
            coefficients[at(*a, *d)] -= 1.0;
        }
        _ => return None,
    }
    let tried = |treatment: usize| of_treatments.contains(&treatment);
    let needed = coefficients.iter().enumerate();
    if needed
        .filter(|(_, value)| **value != 0.0)
        .any(|(treatment, _)| !tried(treatment))
    {
        return None;
    }
    least_squares_weights(&of_treatments, &of_blocks, &coefficients)
}

/// The effect in per cent, with the sign chosen so that it is a gain.
fn record(
    set: &LayoutSet,
    wanted: &Contrast,
    estimate: stripewise_stats::Estimate,
) -> EffectRecord {
    let turned = estimate.value < 0.0;
    let percent = |log: f64| 100.0 * libm::expm1(log);
    let (value, low, high) = match turned {
        false => (estimate.value, estimate.low, estimate.high),
        true => (-estimate.value, -estimate.high, -estimate.low),
    };
    let named = |(place, (&factor, levels)): (usize, (&usize, &[usize; 2]))| {
        let name = |level: usize| set.factors[factor].levels[level].clone();
        let [from, to] = *levels;
        // For an interaction, reversing one of the two factors reverses the sign.
        match turned && place == 0 {
            true => [name(to), name(from)],
            false => [name(from), name(to)],
        }
    };
    let factors = wanted.factors.iter();
    EffectRecord {
        factors: (factors.clone())
            .map(|&factor| set.factors[factor].name.clone())
            .collect(),
        levels: factors.zip(&wanted.levels).enumerate().map(named).collect(),
        percent: percent(value),
        low: percent(low),
        high: percent(high),
        p_value: 1.0,
        found: false,
        by_arithmetic: false,
    }
}
