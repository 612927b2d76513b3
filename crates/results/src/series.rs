//! A series: the steps of a ladder and the answers derived from them.

use crate::{LatencySummary, SustainedRecord};
use serde::{Deserialize, Serialize};
use stripewise_stats::InFull;
use stripewise_units::{
    counted, distinct, format_iops, format_iops_beside, format_rate_interval,
    format_rate_interval_beside, format_share, plural,
};

/// One ladder, summarised. Everything here follows from the runs it names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesRecord {
    /// The id of its runs.
    pub id: String,
    /// `random-read`, `random-write`, `sequential-read`, `sequential-write`, `log`.
    pub name: String,
    /// The latency limit in force, as typed: `p99<5ms`.
    pub slo: String,
    /// In order of queue depth.
    pub steps: Vec<StepRecord>,
    /// Where throughput stops growing; absent if the ladder is too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<KneeRecord>,
    /// Not all due steps ran to their end: interrupted, killed or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Why it has no answer, as text: every step is void, or none ran to its end. Absent if it has
    /// one; `within_limit`, `ceiling` and `knee` are absent if this is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<String>,
    /// Index into `steps` of the highest throughput within the latency limit: a single run, which
    /// is more often too low than too high; see `answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<usize>,
    /// Index into `steps` of the highest throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<usize>,
    /// Present where that is only a bound: throughput still rose at the largest load, or fewer
    /// than four steps count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_bound: Option<AnswerBound>,
    /// The answer with its interval, from runs made for it after the climb. Absent where
    /// there were too few of them: then only the steps of the ladder are known, one run
    /// each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerRecord>,
    /// The runs made for the answer, in the order they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_runs: Vec<StepRecord>,
    /// What a pilot found before the first step; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<SustainedRecord>,
    /// Why the ladder ended, as text.
    pub stopped: String,
    /// The answer in plain words.
    pub sentence: String,
}

/// A series' answer, with an interval.
///
/// At a limit crossed within the measured loads, rate and load are those of the crossing, not of a
/// single run. If only a bound is known, `bound` says which, and `iops` and `mib_per_s` are that
/// bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerRecord {
    /// The load of the rate.
    pub at: AnswerPlace,
    /// Operations in flight there.
    pub in_flight: f64,
    /// Present if only a bound is known: the rate is at least, or at most, this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<AnswerBound>,
    /// Operations per second.
    pub iops: f64,
    /// Lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_high: Option<f64>,
    /// MiB per second.
    pub mib_per_s: f64,
    /// Lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib_per_s_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib_per_s_high: Option<f64>,
    /// Confidence of the interval, 0 to 1: the share of such intervals that contain the rate.
    pub level: f64,
    /// The limited latency there, nanoseconds, of all operations of those runs. At a crossing between
    /// two loads it is the limit itself.
    pub latency_ns: u64,
    /// The latencies of all operations of those runs, if they are at one load. Of records without
    /// histograms each percentile is a mean over the runs, as of the rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencySummary>,
    /// Number of runs it is based on.
    pub runs: u32,
    /// Excluded runs: stopped, void, or disturbed according to their warnings (`cpu-steal`,
    /// `paused`, `suspended`).
    pub runs_left_out: u32,
    /// Present where the interval excludes the plain mean of its runs: some of them were far slower,
    /// or faster, than the others, and have little weight in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_full: Option<InFullRecord>,
}

/// An answer with each of its runs counted in full, whether the storage stalled in some of them or
/// something outside of it disturbed them. More or fewer runs may be like that in the long run,
/// which is what its 95 % interval speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InFullRecord {
    /// Operations per second.
    pub iops: f64,
    /// Lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_high: Option<f64>,
    /// MiB per second.
    pub mib_per_s: f64,
    /// Lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib_per_s_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib_per_s_high: Option<f64>,
    /// Runs far from the others.
    pub runs_apart: u32,
    /// By how much these differ from the others on average, percent; negative if they were slower.
    pub difference_percent: f64,
    /// All runs.
    pub runs: u32,
}

/// Where on the ladder an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerPlace {
    /// Where the latency limit is crossed; with fewer than ten in flight, the largest whole load
    /// that meets it, or a smaller one with the same rate.
    Limit,
    /// Within the limit, where throughput no longer rises; or the largest load tested.
    Plateau,
    /// Nothing meets the limit: the knee.
    Knee,
    /// Nothing meets the limit, and no knee was found: where throughput was highest.
    Highest,
    /// There is no other load.
    Only,
}

/// Direction of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerBound {
    /// It is this or more.
    AtLeast,
    /// It is this or less.
    AtMost,
}

impl AnswerBound {
    /// `≥` or `≤`.
    pub fn sign(self) -> &'static str {
        match self {
            AnswerBound::AtLeast => "\u{2265}",
            AnswerBound::AtMost => "\u{2264}",
        }
    }

    /// `at least` or `at most`.
    pub fn words(self) -> &'static str {
        match self {
            AnswerBound::AtLeast => "at least",
            AnswerBound::AtMost => "at most",
        }
    }
}

/// The unit of a rate: `MiB/s` if `in_bytes`.
pub const fn rate_unit(in_bytes: bool) -> &'static str {
    match in_bytes {
        true => "MiB/s",
        false => "IOPS",
    }
}

/// A rate with its interval if that is known: `57,400 IOPS (54,900-59,800)`, `57,400 IOPS`.
fn rate_words(rate: f64, ends: Option<[f64; 2]>, unit: &str) -> String {
    match ends {
        Some(ends) => format_rate_interval(rate, ends, unit),
        None => format!("{} {unit}", format_iops(rate)),
    }
}

impl InFullRecord {
    /// From the same relative to a rate, with a block in MiB.
    pub fn of(found: &InFull, iops: f64, mib: f64) -> InFullRecord {
        let count = |runs: usize| u32::try_from(runs).unwrap_or(u32::MAX);
        let ends = found.ends.map(|ends| ends.map(|end| iops * end));
        let (low, high) = (ends.map(|[low, _]| low), ends.map(|[_, high]| high));
        let iops = iops * found.ratio;
        InFullRecord {
            iops,
            iops_low: low,
            iops_high: high,
            mib_per_s: iops * mib,
            mib_per_s_low: low.map(|low| low * mib),
            mib_per_s_high: high.map(|high| high * mib),
            runs_apart: count(found.apart),
            difference_percent: found.apart_share * 100.0,
            runs: count(found.runs),
        }
    }

    /// Its rate and the ends of its interval; in MiB/s if `in_bytes`, else in operations per second.
    pub fn rate(&self, in_bytes: bool) -> (f64, Option<[f64; 2]>) {
        let (rate, low, high) = match in_bytes {
            true => (self.mib_per_s, self.mib_per_s_low, self.mib_per_s_high),
            false => (self.iops, self.iops_low, self.iops_high),
        };
        (rate, low.zip(high).map(|(low, high)| [low, high]))
    }

    /// `3 of 20 runs were slower by 15 %; counted in full the rate is 95,700 IOPS (92,300-97,500)`;
    /// in MiB/s if `in_bytes`, and `unit` says so.
    pub fn words(&self, in_bytes: bool, unit: &str) -> String {
        let (rate, ends) = self.rate(in_bytes);
        let rate = rate_words(rate, ends, unit);
        let runs = counted(self.runs as usize, "run", "runs");
        let slower = match self.difference_percent < 0.0 {
            true => "slower",
            false => "faster",
        };
        format!(
            "{} of {runs} {} {slower} by {}; counted in full the rate is {rate}",
            self.runs_apart,
            plural(self.runs_apart as usize, "was", "were"),
            format_share(self.difference_percent.abs() / 100.0)
        )
    }
}

impl AnswerRecord {
    /// `8 runs`, `one run`.
    pub fn runs_words(&self) -> String {
        match self.runs {
            0 | 1 => "one run".to_owned(),
            runs => counted(runs as usize, "run", "runs"),
        }
    }

    /// Half the interval's width over the rate; `None` without an interval.
    pub fn half_width(&self) -> Option<f64> {
        let (low, high) = (self.iops_low?, self.iops_high?);
        (self.iops > 0.0 && self.bound.is_none()).then(|| (high - low) / 2.0 / self.iops)
    }

    /// Whether the interval, or the bound, allows this rate in operations per second.
    pub fn may_be(&self, iops: f64) -> bool {
        let is_above = self.iops_low.is_none_or(|low| low <= iops);
        is_above && self.iops_high.is_none_or(|high| iops <= high)
    }

    /// Its rate and the ends of its interval; in MiB/s if `in_bytes`, else in operations per second.
    pub fn rate(&self, in_bytes: bool) -> (f64, Option<[f64; 2]>) {
        let (rate, low, high) = match in_bytes {
            true => (self.mib_per_s, self.mib_per_s_low, self.mib_per_s_high),
            false => (self.iops, self.iops_low, self.iops_high),
        };
        (rate, low.zip(high).map(|(low, high)| [low, high]))
    }

    /// `57,400 IOPS (54,900-59,800)`, `at least 54,900 IOPS`; in MiB/s if `in_bytes`, and `unit`
    /// says so.
    pub fn words(&self, in_bytes: bool, unit: &str) -> String {
        let (rate, ends) = self.rate(in_bytes);
        match self.bound {
            Some(bound) => format!("{} {} {unit}", bound.words(), format_iops(rate)),
            None => rate_words(rate, ends, unit),
        }
    }

    /// The same beside a rate that is required, in MiB/s if `in_bytes`: no number looks to be on
    /// the other side of it.
    pub fn words_beside(&self, in_bytes: bool, required: f64) -> String {
        let (rate, ends) = self.rate(in_bytes);
        let unit = rate_unit(in_bytes);
        let text = format_iops_beside(rate, required);
        match (self.bound, ends) {
            (Some(bound), _) => format!("{} {text} {unit}", bound.words()),
            (None, Some(ends)) => format_rate_interval_beside(rate, ends, unit, required),
            (None, None) => format!("{text} {unit}"),
        }
    }
}

/// One step of a ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepRecord {
    /// Id of its run.
    pub run: String,
    /// Threads.
    pub threads: u32,
    /// Outstanding per thread.
    pub outstanding: u32,
    /// Operations per second.
    pub iops: f64,
    /// MiB per second.
    pub mib_per_s: f64,
    /// Latency of its reads or writes; absent if none completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
    /// Found by bisection between two doublings.
    pub bisection: bool,
    /// Stopped before its end: not used for answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Codes of the warnings that void its numbers: not used for answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void: Vec<String>,
}

impl StepRecord {
    /// Whether it may be used for answers: it ran to its end and no warning voids it.
    pub fn counts(&self) -> bool {
        !self.partial && self.void.is_empty()
    }

    /// Its rate; in MiB/s if `in_bytes`, else in operations per second.
    pub fn rate(&self, in_bytes: bool) -> f64 {
        match in_bytes {
            true => self.mib_per_s,
            false => self.iops,
        }
    }
}

impl SeriesRecord {
    /// Codes of the warnings that void steps, without duplicates.
    pub fn void_codes(&self) -> Vec<&str> {
        let codes = self.steps.iter().flat_map(|step| &step.void);
        distinct(codes.map(String::as_str))
    }
}

/// The knee of a ladder, in operations in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KneeRecord {
    /// By Kneedle: where the curve bends most.
    pub kneedle_in_flight: u32,
    /// 90 % bracket of it, by bootstrap.
    pub kneedle_bracket: [u32; 2],
    /// The smallest load that reaches 97 % of the highest throughput.
    pub plateau_in_flight: u32,
    /// 90 % bracket of it, by bootstrap.
    pub plateau_bracket: [u32; 2],
}
