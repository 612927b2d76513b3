//! Result of an experiment over layouts: which are best for a use, which factors matter, and what
//! to do. Plain types for the store, the JSON of `advise` and `lab`, and the pages and charts made
//! from them.
//!
//! Every percentage is of a rate: 100 (ratio - 1) of the mix's operations per second.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A layout: the level of each factor, by name, as typed.
pub type LayoutLevels = BTreeMap<String, String>;

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceRecord {
    /// One-line title: `layout for sqlserver-oltp on sim:raid10-10k`.
    pub title: String,
    /// As typed.
    pub target: String,
    /// Name of the profile or mix; absent if a plan gave its own cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The factors varied; the first level of each is the reference for the others.
    pub factors: Vec<FactorRecord>,
    /// The recommendation; absent if too little was measured.
    pub recommendation: Option<RecommendationRecord>,
    /// The present layout, if it is one of those tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<LayoutLevels>,
    /// Best first; those that exceed a limit last. Empty if they cannot be judged.
    pub layouts: Vec<LayoutRecord>,
    /// If layouts cannot be judged yet: the measurements of each pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<MeasuredLayout>,
    /// Main effects and two-way interactions; for each factor or pair of factors the largest first.
    pub effects: Vec<EffectRecord>,
    /// The workloads with their shares, and their rate on each layout.
    pub cells: Vec<AdviceCell>,
    /// Latency limits, and which layouts meet them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitRecord>,
    /// Effect on the choice of changing a share that no source gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<VariationRecord>,
    /// Differences up to this are not relevant, per cent.
    pub margin_percent: f64,
    /// Layouts closer together than this cannot be distinguished, per cent; 0 if no layout was
    /// judged.
    pub resolution_percent: f64,
    /// Confidence of all intervals and of the set of the best; 0 if no layout was judged.
    pub level: f64,
    /// Passes over all layouts.
    pub passes: u32,
    /// Whether the present layout is outside the set of the best by more than the margin.
    pub present_is_outside: bool,
    /// How to apply the choice, in order: command lines and menu entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// Sentences for users, in order of importance.
    pub sentences: Vec<String>,
    /// Caveats for interpreting it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was not tested, and why.
    pub not_tried: Vec<String>,
}

/// A factor that was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FactorRecord {
    /// `offset`, `stripe-unit`.
    pub name: String,
    /// As typed.
    pub levels: Vec<String>,
}

/// The recommended layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecommendationRecord {
    /// Its levels.
    pub layout: LayoutLevels,
    /// Gain over the present layout; absent if that was not measured.
    pub gain_percent: Option<f64>,
    /// Lower end, simultaneous over all layouts.
    pub gain_percent_low: Option<f64>,
    /// Upper end.
    pub gain_percent_high: Option<f64>,
    /// Whether it is proven to be within the margin of the best; otherwise it may be.
    pub is_shown: bool,
    /// Whether it is the present layout.
    pub is_present: bool,
    /// Why it is the simplest of the best, in a sentence.
    pub why: String,
}

/// One layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutRecord {
    /// Its levels.
    pub layout: LayoutLevels,
    /// Operations per second of the mix.
    pub score: f64,
    /// Lower end, simultaneous over all layouts.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Lead over the best of the others, per cent; negative: behind.
    pub ahead_percent: f64,
    /// Lower end of the simultaneous interval.
    pub ahead_percent_low: f64,
    /// Upper end.
    pub ahead_percent_high: f64,
    /// Whether it may be the best.
    pub among_best: bool,
    /// Whether it is the present layout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_present: bool,
    /// The first limit that it exceeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<String>,
    /// Dropped after this many passes, when more than 24 layouts were screened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_after: Option<u32>,
}

/// One pass's measurement of a layout; not a result by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeasuredLayout {
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Its levels.
    pub layout: LayoutLevels,
    /// Operations per second, one value per cell in the order of `cells`.
    pub iops: Vec<f64>,
    /// p99 latency, nanoseconds, likewise; absent if unknown.
    pub latency_ns_p99: Vec<Option<f64>>,
}

/// One effect: of a factor from one level to another, or how much its effect differs between two
/// levels of another factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EffectRecord {
    /// One factor, or two for an interaction.
    pub factors: Vec<String>,
    /// From and to for each factor, the better side last.
    pub levels: Vec<[String; 2]>,
    /// The levels of all other factors at which it holds: those of the recommended layout. Absent if
    /// there are no others, or if it is averaged over them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: LayoutLevels,
    /// Of the better over the worse side; at least 0.
    pub percent: f64,
    /// Student's interval over passes, for this row alone.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// P-value after Holm's correction over all rows.
    pub p_value: f64,
    /// Whether it is significant, over all rows together.
    pub found: bool,
    /// It follows from arithmetic or the model and was not measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_arithmetic: bool,
}

impl EffectRecord {
    /// Whether it was measured as an average over the levels of other factors, if there are this
    /// many factors in all.
    pub fn is_averaged(&self, factors: usize) -> bool {
        !self.by_arithmetic && self.at.is_empty() && factors > self.factors.len()
    }
}

/// A workload that every layout ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceCell {
    /// `random read`.
    pub name: String,
    /// Its workload as text: `random read 8K, 4x8`.
    pub what: String,
    /// Share of the mix's operations, per cent; 0: a limit only.
    pub share_percent: f64,
    /// No source gives the share: it is assumed.
    pub assumed: bool,
    /// Geometric mean of its operations per second over the passes, one value per layout in the
    /// order of `layouts`; absent if not measured.
    pub iops: Vec<Option<f64>>,
    /// Median of its p99 latency over the passes, nanoseconds, likewise.
    pub latency_ns_p99: Vec<Option<f64>>,
}

/// A latency limit of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRecord {
    /// The cell.
    pub cell: String,
    /// Its p99 must be at most this.
    pub p99_ns: u64,
    /// Number of layouts that are proven to meet it.
    pub met: u32,
    /// Number of layouts that are proven to exceed it.
    pub broken: u32,
    /// All of them exceed it, or too little is known: it does not affect the choice.
    pub is_void: bool,
}

/// A share of the mix, halved or doubled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VariationRecord {
    /// The cell with that share.
    pub cell: String,
    /// 0.5 or 2.
    pub by: f64,
    /// Whether the choice is still among the best, or within the margin.
    pub choice_holds: bool,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommandRecord {
    /// `linux`, `windows`, `controller`.
    pub place: String,
    /// The line to type, or the entry to set.
    pub line: String,
    /// Whether it destroys the contents of the named disks.
    pub destroys: bool,
}
