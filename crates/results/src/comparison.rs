//! What a comparison of A with B found: plain types for the store, the JSON of
//! `compare`, `align` and `check`, and the tables and charts made of them.

use crate::{AnswerBound, AnswerPlace};
use serde::{Deserialize, Serialize};
use stripewise_stats::mean;

/// A table of differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparisonRecord {
    /// What is compared, in a line: `partition offset`.
    pub title: String,
    /// The reference.
    pub a: SideRecord,
    /// What is held against it.
    pub b: SideRecord,
    /// 0.95 unless asked otherwise: of each interval by itself, and of all
    /// verdicts together (1 - level bounds the odds of any false finding).
    pub level: f64,
    /// A row per cell, in the order of the runs.
    pub rows: Vec<ComparisonRow>,
    /// A mean per kind of I/O.
    pub groups: Vec<ComparisonGroup>,
    /// Over all rows.
    pub verdict: Verdict,
    /// For people, in the order of importance.
    pub sentences: Vec<String>,
    /// What must be known to read the table rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the reference itself changed while the experiment ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftRecord>,
}

/// How the baseline of an experiment changed from its first block to its last: a
/// straight line through the logarithms of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DriftRecord {
    /// Blocks that it is read off.
    pub blocks: u32,
    /// Change of the metric over all of them.
    pub percent: f64,
    /// Its interval at the comparison's level, low and high.
    pub interval_percent: [f64; 2],
    /// The interval does not hold 0.
    pub found: bool,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SideRecord {
    /// As it heads its column: `31.5K`, `20261121-201530-k3f9`.
    pub name: String,
    /// Ids of its runs, or the source of an import.
    pub from: Vec<String>,
}

/// One cell, measured on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparisonRow {
    /// `read`, `write`, `70 % read`.
    pub operation: String,
    /// `random`, `sequential`, `stride`; `log` where both sides are the log of a bench.
    pub pattern: String,
    /// Bytes of one operation, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Threads, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Outstanding per thread, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// `iops`, `mib_per_s`, `latency_ns_p99`...
    pub metric: String,
    /// Of A: the median over blocks, or the single value.
    pub a: f64,
    /// Of B likewise.
    pub b: f64,
    /// The classic column: (B - A) / A * 100 of the two values above; where one is a bound and
    /// the other lies beyond it, the least difference.
    pub difference_percent: f64,
    /// The least and the most that the difference can be, where an answer is a bound; null where
    /// nothing limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_percent: Option<[Option<f64>; 2]>,
    /// Hodges-Lehmann estimate over blocks, with repetitions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_percent: Option<f64>,
    /// Its interval, low and high; absent with too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_percent: Option<[f64; 2]>,
    /// Two-sided exact p-value before correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// Repetitions (blocks) on both sides.
    pub blocks: u32,
    /// What follows.
    pub verdict: Verdict,
    /// The x of "no difference larger than x %".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_percent_max: Option<f64>,
    /// The difference as the authors printed it, in a published table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_difference_percent: Option<f64>,
    /// Codes of the warnings that void runs of it, on either side: nothing follows
    /// from its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void: Vec<String>,
    /// What its table's sentences say of it alone, where it is better or worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// How A and B are to be read, where they are answers of benches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<[ComparedAnswer; 2]>,
}

/// What a value is, that is the answer of a bench.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct ComparedAnswer {
    /// Present where the value is only a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<AnswerBound>,
    /// Present where the latency limit is missed: where on its ladder the answer is from instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_limit: Option<AnswerPlace>,
}

impl ComparisonRow {
    /// The one number of the row in headlines, sentences and charts: the estimate where it has
    /// an interval and so a column of its own, else the difference of the two values.
    #[must_use]
    pub fn percent(&self) -> f64 {
        let estimate = self.interval_percent.and(self.estimate_percent);
        estimate.unwrap_or(self.difference_percent)
    }

    /// An answer is a bound, and which side is more does not follow: the row has no one number.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.bounds_percent.is_some_and(|[least, most]| {
            !(least > Some(0.0) || most.is_some_and(|most| most < 0.0))
        })
    }

    /// Why the row is undecided, in short; none where it is not, or its numbers are void.
    #[must_use]
    pub fn undecided_because(&self) -> Option<&'static str> {
        if self.verdict != Verdict::Undecided || !self.void.is_empty() {
            return None;
        }
        let beyond = self
            .answers
            .map(|both| both.map(|one| one.beyond_limit.is_some()));
        // Less of what is beyond the limit is worse all the same.
        let is_over = match (beyond, self.interval_percent) {
            (Some([true, false]), Some([low, _])) => low <= 0.0,
            (Some([false, true]), Some([_, high])) => high >= 0.0,
            (Some([a, b]), None) => a != b,
            _ => false,
        };
        Some(match (is_over, self.interval_percent) {
            (true, _) => "over the limit",
            (_, None) if self.bounds_percent.is_some() => "only bounds",
            (_, None) => "too few runs",
            (_, Some([low, high])) if low <= 0.0 && 0.0 <= high => "interval too wide",
            _ => "may be chance",
        })
    }
}

/// What a row, or a table, says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is better: more throughput, or less latency.
    Better,
    /// B is worse.
    Worse,
    /// Some rows better, some worse (tables only).
    Mixed,
    /// No difference larger than the row's `difference_percent_max` was found.
    NoDifference,
    /// Too few repetitions to say anything.
    Undecided,
}

impl Verdict {
    /// Of a table, from those of its rows: a table that found something says so,
    /// whatever the other rows are; no row at all decides nothing.
    #[must_use]
    pub fn over_all(rows: impl IntoIterator<Item = Verdict>) -> Verdict {
        let all: Vec<Verdict> = rows.into_iter().collect();
        let has = |verdict| all.contains(&verdict);
        match (has(Verdict::Better), has(Verdict::Worse)) {
            (true, true) => Verdict::Mixed,
            (true, false) => Verdict::Better,
            (false, true) => Verdict::Worse,
            (false, false) if has(Verdict::Undecided) || all.is_empty() => Verdict::Undecided,
            (false, false) => Verdict::NoDifference,
        }
    }
}

/// Rows of one kind of I/O together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparisonGroup {
    /// `random read`, `sequential write`...
    pub name: String,
    /// Metric of its rows.
    pub metric: String,
    /// Number of rows.
    pub rows: u32,
    /// Arithmetic mean of their `difference_percent`, as the articles give it.
    pub difference_percent_mean: f64,
}

impl ComparisonGroup {
    /// A group per kind of I/O, in the order of the rows.
    #[must_use]
    pub fn of_rows(rows: &[ComparisonRow]) -> Vec<ComparisonGroup> {
        let mut kinds: Vec<(String, &str, Vec<f64>)> = Vec::new();
        // A mean of bounds is none.
        for row in rows.iter().filter(|row| row.bounds_percent.is_none()) {
            let name = format!("{} {}", row.pattern, row.operation);
            let difference = row.difference_percent;
            match kinds.iter_mut().find(|(known, ..)| *known == name) {
                Some((.., differences)) => differences.push(difference),
                None => kinds.push((name, &row.metric, vec![difference])),
            }
        }
        kinds
            .into_iter()
            .map(|(name, metric, differences)| ComparisonGroup {
                name,
                metric: metric.to_owned(),
                rows: u32::try_from(differences.len()).unwrap_or(u32::MAX),
                difference_percent_mean: mean(&differences).unwrap_or(0.0),
            })
            .collect()
    }
}

/// One thing that was required, and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RequirementRecord {
    /// As it was typed: `read_iops>=20000`.
    pub requirement: String,
    /// Measured: operations a second, MiB a second, or nanoseconds; absent where
    /// nothing has such a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// The same for people, or why there is none.
    pub measured_words: String,
    /// The job that decided.
    pub of: String,
    /// Repetitions that the value is the median of.
    pub repetitions: usize,
    /// Met. What is not known, or not certain, is not met.
    pub met: bool,
    /// The interval of `measured`, where it has one: of the answers of a bench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Neither met nor missed for certain: the requirement lies within the interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
}

/// What became of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequirementVerdict {
    /// Certainly not met, or nothing was measured that could meet it.
    Missed,
    /// It lies within the interval of what was measured.
    Undecided,
    /// Met.
    Met,
}

impl RequirementRecord {
    /// What became of it: the one source of every word about it.
    #[must_use]
    pub fn verdict(&self) -> RequirementVerdict {
        match (self.met, self.undecided) {
            (true, _) => RequirementVerdict::Met,
            (false, true) => RequirementVerdict::Undecided,
            (false, false) => RequirementVerdict::Missed,
        }
    }
}

impl RequirementVerdict {
    /// As it is in running text and in lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            RequirementVerdict::Missed => "missed",
            RequirementVerdict::Undecided => "undecided",
            RequirementVerdict::Met => "met",
        }
    }

    /// Of several requirements the gravest; none where nothing was required.
    #[must_use]
    pub fn of_all(all: &[RequirementRecord]) -> Option<RequirementVerdict> {
        let verdicts = all.iter().map(RequirementRecord::verdict);
        verdicts.min_by_key(|verdict| *verdict as u8)
    }
}
