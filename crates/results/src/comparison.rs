//! Result of comparing A with B: plain types for the store, the JSON of `compare`, `align` and
//! `check`, and the tables and charts made from them.

use crate::{AnswerBound, AnswerPlace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_stats::mean;

/// A table of differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRecord {
    /// What is compared, in one line: `partition offset`.
    pub title: String,
    /// The reference.
    pub a: SideRecord,
    /// The side compared with it.
    pub b: SideRecord,
    /// 0.95 by default: for each interval individually, and for all verdicts together (1 - level
    /// bounds the probability of any false finding).
    pub level: f64,
    /// A row per cell, in the order of the runs.
    pub rows: Vec<ComparisonRow>,
    /// A mean per type of I/O.
    pub groups: Vec<ComparisonGroup>,
    /// Over all rows.
    pub verdict: Verdict,
    /// Sentences for users, in order of importance.
    pub sentences: Vec<String>,
    /// Caveats for interpreting the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the reference itself changed during the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftRecord>,
}

impl ComparisonRecord {
    /// The level of a row's interval.
    pub fn level_of(&self, row: &ComparisonRow) -> f64 {
        row.level.unwrap_or(self.level)
    }

    /// The level of all intervals; `None` if they differ.
    pub fn common_level(&self) -> Option<f64> {
        let mut levels = self.rows.iter().map(|row| self.level_of(row));
        let first = levels.next().unwrap_or(self.level);
        levels.all(|level| level == first).then_some(first)
    }
}

/// How an experiment's baseline changed from its first block to its last: a straight line through
/// the logarithms of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftRecord {
    /// Number of blocks it is based on.
    pub blocks: u32,
    /// Change of the metric over all of them.
    pub percent: f64,
    /// Its interval at the comparison's level, low and high.
    pub interval_percent: [f64; 2],
    /// Whether the interval excludes 0.
    pub found: bool,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideRecord {
    /// Its column heading: `31.5K`, `20261121-201530-k3f9`.
    pub name: String,
    /// Ids of its runs, or the source of an import.
    pub from: Vec<String>,
}

/// One cell, measured on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    /// `read`, `write`, `70 % read`.
    pub operation: String,
    /// `random`, `sequential`, `stride`; `log` if both sides are the log of a bench.
    pub pattern: String,
    /// Bytes of one operation, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Threads, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Outstanding per thread, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// `iops`, `mib_per_s`, `latency_ns_p99`...
    pub metric: String,
    /// A: the median over blocks, or the single value.
    pub a: f64,
    /// B, likewise.
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
    /// Level of that interval, where it is another one than that of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Two-sided exact p-value before correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// Repetitions (blocks) on both sides.
    pub blocks: u32,
    /// The conclusion.
    pub verdict: Verdict,
    /// The x of "no difference larger than x %".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_percent_max: Option<f64>,
    /// The difference printed by the authors, for a published table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_difference_percent: Option<f64>,
    /// Codes of the warnings that void its runs, on either side: its numbers have no meaning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void: Vec<String>,
    /// The part of the table's sentences about this row alone, if it is better or worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// How to interpret A and B if they are answers of benches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<[ComparedAnswer; 2]>,
}

/// How to interpret a value that is the answer of a bench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedAnswer {
    /// Its interval leaves out runs that were far slower, or faster.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaves_slow_runs_out: bool,
    /// Present if the value is only a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<AnswerBound>,
    /// Present if the latency limit is missed: where on its ladder the answer comes from instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_limit: Option<AnswerPlace>,
}

impl ComparisonRow {
    /// The row's single number in headlines, sentences and charts: the estimate if it has an
    /// interval and so its own column, otherwise the difference of the two values.
    pub fn percent(&self) -> f64 {
        let estimate = self.interval_percent.and(self.estimate_percent);
        estimate.unwrap_or(self.difference_percent)
    }

    /// An answer is a bound, and which side is more does not follow: the row has no one number.
    pub fn is_open(&self) -> bool {
        self.bounds_percent.is_some_and(|[least, most]| {
            !(least > Some(0.0) || most.is_some_and(|most| most < 0.0))
        })
    }

    /// Why the row is undecided, in short; none where it is not, or its numbers are void.
    pub fn undecided_because(&self) -> Option<&'static str> {
        if self.verdict != Verdict::Undecided || !self.void.is_empty() {
            return None;
        }
        let beyond = self
            .answers
            .map(|both| both.map(|one| one.beyond_limit.is_some()));
        let mut answers = self.answers.iter().flatten();
        let leaves_out = answers.any(|one| one.leaves_slow_runs_out);
        // Less of what is beyond the limit is worse all the same.
        let is_over = match (beyond, self.interval_percent) {
            (Some([true, false]), Some([low, _])) => low <= 0.0,
            (Some([false, true]), Some([_, high])) => high >= 0.0,
            (Some([a, b]), None) => a != b,
            _ => false,
        };
        Some(match (is_over, self.interval_percent) {
            (true, _) => "over the limit",
            (_, Some(_)) if leaves_out => "slow runs are left out",
            (_, None) if self.bounds_percent.is_some() => "only bounds",
            (_, None) => "too few runs",
            (_, Some([low, high])) if low <= 0.0 && 0.0 <= high => "interval too wide",
            _ => "may be chance",
        })
    }
}

/// The conclusion for a row, or a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// Too few repetitions for a conclusion.
    #[default]
    Undecided,
}

impl Verdict {
    /// The verdict of a table from those of its rows: any finding counts, whatever the other rows
    /// are; no rows are undecided.
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

/// Rows of one type of I/O combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonGroup {
    /// `random read`, `sequential write`...
    pub name: String,
    /// Metric of its rows.
    pub metric: String,
    /// Number of rows.
    pub rows: u32,
    /// Arithmetic mean of their `difference_percent`, as printed in the articles.
    pub difference_percent_mean: f64,
}

impl ComparisonGroup {
    /// A group per type of I/O, in the order of the rows.
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

/// A requirement and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementRecord {
    /// As typed: `read_iops>=20000`.
    pub requirement: String,
    /// Measured value: operations per second, MiB per second, or nanoseconds; absent if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// The same as text, or why there is none.
    pub measured_words: String,
    /// The decisive job.
    pub of: String,
    /// Number of repetitions whose median the value is.
    pub repetitions: usize,
    /// Whether it is met. Unknown or uncertain counts as not met.
    pub met: bool,
    /// The interval of `measured`, if it has one: of a bench's answer, or of six or more runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Neither met nor missed for certain: within the interval, or the runs are void or stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// Its outcome for each series of a bench that it applies to, as far as it decides about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesVerdict>,
}

/// The outcome of a requirement for one series of a bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesVerdict {
    /// Id of the bench.
    pub id: String,
    /// The series: `random-read`.
    pub name: String,
    /// The outcome.
    pub verdict: RequirementVerdict,
}

/// Outcome of a requirement, the worst first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementVerdict {
    /// Certainly not met, or nothing measured that could meet it.
    Missed,
    /// It is within the interval of the measured value, or the runs are void or stopped.
    Undecided,
    /// Met.
    Met,
}

impl RequirementRecord {
    /// Its outcome: the single source for all texts about it.
    pub fn verdict(&self) -> RequirementVerdict {
        match (self.met, self.undecided) {
            (true, _) => RequirementVerdict::Met,
            (false, true) => RequirementVerdict::Undecided,
            (false, false) => RequirementVerdict::Missed,
        }
    }
}

impl RequirementVerdict {
    /// The word used in running text and lists.
    pub fn word(self) -> &'static str {
        match self {
            RequirementVerdict::Missed => "missed",
            RequirementVerdict::Undecided => "undecided",
            RequirementVerdict::Met => "met",
        }
    }

    /// The worst of several requirements; `None` if there are none.
    pub fn of_all(all: &[RequirementRecord]) -> Option<RequirementVerdict> {
        RequirementVerdict::worst(all.iter().map(RequirementRecord::verdict))
    }

    /// The worst of several outcomes; `None` if there are none.
    pub fn worst(all: impl IntoIterator<Item = RequirementVerdict>) -> Option<RequirementVerdict> {
        all.into_iter().min()
    }
}
