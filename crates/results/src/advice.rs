//! What an experiment over layouts found: which are the best for a use, what matters and
//! what does not, and what to do. Plain types for the store, the JSON of `advise` and
//! `lab`, and the pages and pictures made of them.
//!
//! Every percentage is of a rate: 100 (ratio - 1) of the mix's operations a second.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A layout: the level of each factor, by name, as typed.
pub type LayoutLevels = BTreeMap<String, String>;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceRecord {
    /// In a line: `layout for sqlserver-oltp on sim:raid10-10k`.
    pub title: String,
    /// As typed.
    pub target: String,
    /// The profile or mix by its name; absent where a plan gave cells of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What was varied, the first level of each the one that the others are held against.
    pub factors: Vec<FactorRecord>,
    /// The choice; absent where too little was measured for one.
    pub recommendation: Option<RecommendationRecord>,
    /// What is there now, as far as it is one of the layouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<LayoutLevels>,
    /// The best first; those that break a limit last. Empty where they cannot be judged.
    pub layouts: Vec<LayoutRecord>,
    /// Where layouts cannot be judged yet: what each pass measured of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<MeasuredLayout>,
    /// Main effects and two-way interactions; of each factor or pair of factors the
    /// largest first.
    pub effects: Vec<EffectRecord>,
    /// The workloads, what each counts, and its rate on each layout.
    pub cells: Vec<AdviceCell>,
    /// Limits on latency, and which layouts meet them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitRecord>,
    /// What becomes of the choice where a share that no source gives is another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<VariationRecord>,
    /// Differences up to this do not count, per cent.
    pub margin_percent: f64,
    /// Two layouts that lie closer together than this could not be told apart, per cent; 0
    /// where no layout was judged.
    pub resolution_percent: f64,
    /// Confidence of all intervals, and of the set of the best; 0 where no layout was judged.
    pub level: f64,
    /// Passes over all layouts.
    pub passes: u32,
    /// The present layout is outside the set of the best by more than the margin.
    pub present_is_outside: bool,
    /// What makes the choice, in order: command lines and menu entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// For people, in the order of importance.
    pub sentences: Vec<String>,
    /// What must be known to read it rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was not tried, and why.
    pub not_tried: Vec<String>,
}

/// What was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FactorRecord {
    /// `offset`, `stripe-unit`.
    pub name: String,
    /// As typed.
    pub levels: Vec<String>,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecommendationRecord {
    /// It.
    pub layout: LayoutLevels,
    /// Over the present layout; absent where that was not measured.
    pub gain_percent: Option<f64>,
    /// Lower end, simultaneous over all layouts.
    pub gain_percent_low: Option<f64>,
    /// Upper end.
    pub gain_percent_high: Option<f64>,
    /// It is shown to be within the margin of the best. Else it may be.
    pub is_shown: bool,
    /// It is what is there now.
    pub is_present: bool,
    /// Why it is the plainest of the best, in a sentence.
    pub why: String,
}

/// One layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutRecord {
    /// Its levels.
    pub layout: LayoutLevels,
    /// Operations a second of the mix.
    pub score: f64,
    /// Lower end, simultaneous over all layouts.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What it is ahead of the best of the others, per cent; below 0: behind.
    pub ahead_percent: f64,
    /// Hsu's simultaneous interval of that.
    pub ahead_percent_low: f64,
    /// Upper end.
    pub ahead_percent_high: f64,
    /// It may be the best.
    pub among_best: bool,
    /// It is what is there now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_present: bool,
    /// The first limit that it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<String>,
    /// It was dropped after so many passes, as more than 24 layouts were screened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_after: Option<u32>,
}

/// What one pass measured of a layout; by itself no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeasuredLayout {
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Its levels.
    pub layout: LayoutLevels,
    /// Operations a second, a figure for each of the `cells` in their order.
    pub iops: Vec<f64>,
    /// p99 latency, nanoseconds, likewise; absent where it is not known.
    pub latency_ns_p99: Vec<Option<f64>>,
}

/// One effect: of a factor from one level to another, or how much more one of two
/// factors does at another level of the other one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EffectRecord {
    /// One, or two for an interaction.
    pub factors: Vec<String>,
    /// Of each factor: from and to, the better side last.
    pub levels: Vec<[String; 2]>,
    /// Of the better over the worse side; 0 or more.
    pub percent: f64,
    /// Student's interval over passes, of this row by itself.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// P-value after Holm's correction over all rows.
    pub p_value: f64,
    /// There is one, at the level of all rows together.
    pub found: bool,
    /// It follows from arithmetic or the model and was not measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_arithmetic: bool,
}

/// A workload that every layout ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceCell {
    /// `random read`.
    pub name: String,
    /// What it does, in words: `random read 8K, 4x8`.
    pub what: String,
    /// Share of the operations of the mix, per cent; 0: a limit only.
    pub share_percent: f64,
    /// No source gives the share: it is assumed.
    pub assumed: bool,
    /// Geometric mean of its operations a second over the passes, a figure for each of
    /// the `layouts` in their order; absent where it was not measured.
    pub iops: Vec<Option<f64>>,
    /// Median over the passes of its p99 latency, nanoseconds, likewise.
    pub latency_ns_p99: Vec<Option<f64>>,
}

/// A limit on the latency of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRecord {
    /// The cell.
    pub cell: String,
    /// Its p99 must be at most this.
    pub p99_ns: u64,
    /// Layouts that are shown to meet it.
    pub met: u32,
    /// Layouts that are shown to break it.
    pub broken: u32,
    /// All of them break it, or too little is known: it does not choose among them.
    pub is_void: bool,
}

/// A share of the mix halved or doubled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VariationRecord {
    /// The cell whose share it is.
    pub cell: String,
    /// 0.5 or 2.
    pub by: f64,
    /// The choice is still among the best, or within the margin of them.
    pub choice_holds: bool,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommandRecord {
    /// `linux`, `windows`, `controller`.
    pub place: String,
    /// The line to type, or the entry to set.
    pub line: String,
    /// It destroys what is on the disks named.
    pub destroys: bool,
}
