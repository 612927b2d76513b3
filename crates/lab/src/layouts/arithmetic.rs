//! What arithmetic alone says about layouts that could not be measured: how many stripe
//! units the operations of a mix touch, by the law of crossings. It bounds the cost of an
//! offset when all disks are busy. Only a measurement shows the effect of an idle array, a
//! cache or a file system, so no layout gets a score.

use super::conduct::LayoutCell;
use super::plain::plainness;
use super::set::LayoutSet;
use super::words::in_words;
use stripewise_disk_formats::crossing::{Crossing, PARITY_PAGE_BYTES};
use stripewise_results::{AdviceCell, AdviceRecord, EffectRecord, RecommendationRecord};
use stripewise_units::ByteSize;
use stripewise_workload::Workload;

/// Assumed if the stripe unit is not known: the smallest usual one, on which an offset
/// costs most.
const UNIT_TAKEN_BYTES: u64 = 64 << 10;

/// Input for the arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Unmeasured<'a> {
    /// One line.
    pub title: &'a str,
    /// As typed.
    pub target: &'a str,
    /// The profile or mix by its name.
    pub profile: Option<&'a str>,
    /// The layouts; only offsets and stripe units matter.
    pub set: &'a LayoutSet,
    /// The workloads.
    pub cells: &'a [LayoutCell],
    /// The present layout, if it is among them.
    pub present: Option<usize>,
    /// Bytes on one disk before the next is used, if the layout does not specify it; 0: not
    /// striped.
    pub unit_bytes: Option<u64>,
    /// Where such a unit begins, counted like offsets: 0 except for measured units.
    pub first_unit_bytes: u64,
    /// Differences up to this do not count.
    pub margin_percent: f64,
    /// Why nothing was measured, without a full stop.
    pub because: &'a str,
}

/// The answer: a choice without a gain, effects as bounds, no layout with a score.
pub fn by_arithmetic(question: &Unmeasured<'_>) -> AdviceRecord {
    let set = question.set;
    let costs: Vec<f64> = (0..set.len()).map(|layout| question.cost(layout)).collect();
    let least = costs.iter().copied().fold(f64::MAX, f64::min);
    let within = least * (1.0 + question.margin_percent / 100.0);
    let good = (0..set.len()).filter(|&layout| costs[layout] <= within);
    let choice = good.min_by_key(|&layout| plainness(set, layout, question.present));
    let choice = choice.unwrap_or(0);
    let percent = |from: usize, to: usize| 100.0 * (costs[from] / costs[to] - 1.0);
    let mut sentences = vec![
        format!("Nothing was measured: {}.", question.because),
        format!(
            "By arithmetic alone: {} {}.",
            match question.present == Some(choice) {
                true => "keep",
                false => "choose",
            },
            set.words(choice)
        ),
    ];
    sentences.extend(question.present.map(|present| {
        let words = set.words(present);
        match percent(present, choice) {
            gain if gain > question.margin_percent => format!(
                "At most {gain:.1} % more IOPS with {} than with the present layout ({words}), where all disks are busy.",
                set.words(choice)
            ),
            _ => format!(
                "No other layout makes operations touch fewer stripe units than the present one ({words}), but for {} %.",
                question.margin_percent
            ),
        }
    }));
    let why = match question.present == Some(choice) {
        true => {
            "by arithmetic alone: it is the present one, and no other offset splits fewer operations"
        }
        false => "by arithmetic alone: the plainest of those that split the fewest operations",
    };
    AdviceRecord {
        title: question.title.to_owned(),
        target: question.target.to_owned(),
        profile: question.profile.map(str::to_owned),
        factors: set.records(),
        recommendation: Some(RecommendationRecord {
            layout: set.levels(choice),
            gain_percent: None,
            gain_percent_low: None,
            gain_percent_high: None,
            is_shown: false,
            is_present: question.present == Some(choice),
            why: why.to_owned(),
        }),
        present: question.present.map(|present| set.levels(present)),
        effects: question.effects(&costs, choice),
        cells: question.cells.iter().map(cell).collect(),
        margin_percent: question.margin_percent,
        sentences: in_words(&sentences),
        notes: vec![question.basis()],
        ..AdviceRecord::default()
    }
}

fn cell(cell: &LayoutCell) -> AdviceCell {
    AdviceCell {
        name: cell.mix.name.clone(),
        what: cell.mix.what.clone(),
        share_percent: cell.mix.share_percent,
        assumed: cell.mix.assumed,
        iops: Vec::new(),
        latency_ns_p99: Vec::new(),
    }
}

impl Unmeasured<'_> {
    fn size(&self, layout: usize, factor: &str) -> Option<u64> {
        let levels = self.set.levels(layout);
        let size: Option<ByteSize> = levels.get(factor)?.parse().ok();
        size.map(ByteSize::bytes)
    }

    fn unit_bytes(&self, layout: usize) -> u64 {
        let unit = self.size(layout, "stripe-unit").or(self.unit_bytes);
        match unit.unwrap_or(UNIT_TAKEN_BYTES) {
            // Not striped: physical sectors or pages are split instead.
            0 => PARITY_PAGE_BYTES,
            unit => unit,
        }
    }

    /// Stripe units that an operation of the mix touches, relative to the minimum.
    fn cost(&self, layout: usize) -> f64 {
        let (unit, offset) = (
            self.unit_bytes(layout),
            self.size(layout, "offset").unwrap_or(0),
        );
        // A stripe unit named by the layout will be created, and created ones begin with the disk.
        let first = match self.size(layout, "stripe-unit") {
            None => self.first_unit_bytes % unit,
            Some(_) => 0,
        };
        let offset = offset + unit - first;
        let cells = self.cells.iter();
        let scored = cells.filter(|cell| cell.mix.share_percent > 0.0);
        let (mut sum, mut shares) = (0.0, 0.0);
        for cell in scored {
            sum += cell.mix.share_percent * touched(&cell.workload, unit, offset);
            shares += cell.mix.share_percent;
        }
        if shares > 0.0 { sum / shares } else { 1.0 }
    }

    /// For every pair of levels of every factor, at the levels that the choice has of the others: a
    /// bound.
    fn effects(&self, costs: &[f64], choice: usize) -> Vec<EffectRecord> {
        let mut effects = Vec::new();
        for (number, factor) in self.set.factors.iter().enumerate() {
            let at = |level: usize| {
                let layout = self.set.varied(choice, &[number], &[level])?;
                Some((costs[layout], factor.levels[level].clone()))
            };
            let tried: Vec<(f64, String)> = (0..factor.levels.len()).filter_map(at).collect();
            for (from, one) in tried.iter().enumerate() {
                for other in &tried[from + 1..] {
                    let (worse, better) = if one.0 >= other.0 {
                        (one, other)
                    } else {
                        (other, one)
                    };
                    let percent = 100.0 * (worse.0 / better.0 - 1.0);
                    effects.push(EffectRecord {
                        factors: vec![factor.name.clone()],
                        levels: vec![[worse.1.clone(), better.1.clone()]],
                        at: self.set.other_levels(choice, &[number]),
                        percent,
                        low: 0.0,
                        high: percent,
                        p_value: 1.0,
                        found: false,
                        by_arithmetic: true,
                    });
                }
            }
        }
        effects.sort_by(|a, b| (a.factors.cmp(&b.factors)).then(b.percent.total_cmp(&a.percent)));
        effects
    }

    /// The basis of the arithmetic, in words.
    fn basis(&self) -> String {
        let varied = self.set.factors.iter().any(|one| one.name == "stripe-unit");
        let unit = match (varied, self.unit_bytes) {
            (true, _) => "the stripe units that are named".to_owned(),
            (false, Some(0)) => {
                "physical sectors or pages of 4 KiB, as nothing is striped".to_owned()
            }
            (false, Some(unit)) if self.first_unit_bytes > 0 => format!(
                "stripe units of {} that begin at byte {}, as they were measured here",
                ByteSize(unit),
                self.first_unit_bytes
            ),
            (false, Some(unit)) => format!("stripe units of {}, as they are here", ByteSize(unit)),
            (false, None) => format!(
                "stripe units of {}, since the actual ones are not known",
                ByteSize(UNIT_TAKEN_BYTES)
            ),
        };
        format!(
            "Arithmetic counts the pieces that the operations of the mix are split into on {unit}. It is a bound: it ignores caches, idle disks and file systems."
        )
    }
}

/// Mean over the operations of a workload.
fn touched(workload: &Workload, unit: u64, offset: u64) -> f64 {
    let ratio = |size: u64| {
        Crossing::new(size, unit, offset).map_or(1.0, |crossing| {
            crossing.units_mean() / crossing.units_least.max(1) as f64
        })
    };
    let shares = workload.block_sizes.shares();
    if shares.is_empty() {
        return ratio(workload.block_size_bytes);
    }
    let all: f64 = shares.iter().map(|one| f64::from(one.percent)).sum();
    let sum: f64 = (shares.iter())
        .map(|one| f64::from(one.percent) * ratio(one.size_bytes))
        .sum();
    if all > 0.0 { sum / all } else { 1.0 }
}
