//! Which factors matter: main effects and two-way interactions of the score.

use super::set::LayoutSet;
use stripewise_results::{EffectRecord, LayoutLevels};
use stripewise_stats::{Estimate, contrast, holm, least_squares_weights};

/// A contrast of levels.
struct Contrast {
    factors: Vec<usize>,
    /// For each factor: from and to.
    levels: Vec<[usize; 2]>,
}

impl Contrast {
    /// The combinations of levels in it, and the sign of each.
    fn terms(&self) -> Vec<(Vec<usize>, f64)> {
        match self.levels.as_slice() {
            [[from, to]] => vec![(vec![*to], 1.0), (vec![*from], -1.0)],
            [[a, b], [c, d]] => vec![
                (vec![*b, *d], 1.0),
                (vec![*a, *c], 1.0),
                (vec![*b, *c], -1.0),
                (vec![*a, *d], -1.0),
            ],
            _ => Vec::new(),
        }
    }
}

/// All main effects (every pair of levels) and two-way interactions (every pair of pairs)
/// that the layouts can show, the largest of each factor or pair of factors first. `rows` are
/// scores: one row per pass, one column per layout. Holm's correction covers all of them.
///
/// Each is that at the levels which the layout `at`, the recommended one, has of all other factors:
/// an average that includes layouts not worth making, such as misaligned ones, is not what a change
/// of the recommended layout brings. It is averaged only if there is no such layout, or if the
/// combinations needed were not tried.
pub(super) fn effects(
    set: &LayoutSet,
    rows: &[Vec<f64>],
    level: f64,
    at: Option<usize>,
) -> Vec<EffectRecord> {
    let mut found: Vec<EffectRecord> = Vec::new();
    let mut p_values = Vec::new();
    for mut wanted in all(set) {
        let there = at.and_then(|at| Some((at, weights_at(set, &wanted, at)?)));
        let (at, weights) = match there {
            Some((at, weights)) => (set.other_levels(at, &wanted.factors), weights),
            None => match weights(set, &wanted) {
                Some(weights) => (LayoutLevels::new(), weights),
                None => continue,
            },
        };
        let Some(contrast) = contrast(rows, &weights, level) else {
            continue;
        };
        p_values.push(contrast.p_value);
        let estimate = gain(set, &mut wanted, contrast.estimate, &found);
        found.push(record(set, &wanted, estimate, at));
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

/// Weights of the layouts that differ from one layout in the contrast's factors only.
fn weights_at(set: &LayoutSet, wanted: &Contrast, at: usize) -> Option<Vec<f64>> {
    let mut weights = vec![0.0; set.len()];
    for (levels, sign) in wanted.terms() {
        weights[set.varied(at, &wanted.factors, &levels)?] += sign;
    }
    Some(weights)
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
    for (levels, sign) in wanted.terms() {
        let pairs = levels.iter().zip(&sizes);
        let place: usize = pairs.fold(0, |number, (&level, &size)| number * size + level);
        coefficients[place] += sign;
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

/// The estimate as a gain, with the contrast turned so that it is one. The first factor of an
/// interaction goes where it gains by the effects that are known, and the second to where that
/// gains more.
fn gain(
    set: &LayoutSet,
    wanted: &mut Contrast,
    estimate: Estimate,
    known: &[EffectRecord],
) -> Estimate {
    let is_turned = match wanted.factors.len() {
        1 => estimate.value < 0.0,
        _ => loses(set, wanted, known),
    };
    let mut estimate = estimate;
    if is_turned {
        wanted.levels[0].reverse();
        estimate = negated(estimate);
    }
    if let (true, Some(second)) = (estimate.value < 0.0, wanted.levels.get_mut(1)) {
        second.reverse();
        estimate = negated(estimate);
    }
    estimate
}

/// Whether the first factor of a contrast loses, going from the one level to the other.
fn loses(set: &LayoutSet, wanted: &Contrast, known: &[EffectRecord]) -> bool {
    let factor = &set.factors[wanted.factors[0]];
    let [from, to] = wanted.levels[0].map(|level| &factor.levels[level]);
    known.iter().any(|one| {
        one.factors == [factor.name.as_str()]
            && matches!(one.levels.as_slice(), [[worse, better]] if worse == to && better == from)
    })
}

fn negated(estimate: Estimate) -> Estimate {
    Estimate {
        value: -estimate.value,
        low: -estimate.high,
        high: -estimate.low,
        ..estimate
    }
}

fn record(
    set: &LayoutSet,
    wanted: &Contrast,
    estimate: Estimate,
    at: LayoutLevels,
) -> EffectRecord {
    let percent = |log: f64| 100.0 * libm::expm1(log);
    let factors = || wanted.factors.iter().map(|&factor| &set.factors[factor]);
    let pairs = factors().zip(&wanted.levels);
    EffectRecord {
        factors: factors().map(|factor| factor.name.clone()).collect(),
        levels: pairs
            .map(|(factor, &levels)| levels.map(|level| factor.levels[level].clone()))
            .collect(),
        at,
        percent: percent(estimate.value),
        low: percent(estimate.low),
        high: percent(estimate.high),
        p_value: 1.0,
        found: false,
        by_arithmetic: false,
    }
}
