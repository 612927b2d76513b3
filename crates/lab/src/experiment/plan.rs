//! The complete plan of an experiment, as stored.

use super::metric::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_units::InputError;
use stripewise_workload::{CacheMode, Pattern, Workload, WorkloadOptions, check};

/// An experiment: every level of one factor with every cell of workload, block
/// after block. Kept whole in the store, so that it can be resumed and analysed
/// again without its command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExperimentPlan {
    /// In a line, for people: `partition offset on /dev/sdb`.
    pub name: String,
    /// What differs between the levels: `partition offset`.
    pub factor: String,
    /// Two or more.
    pub levels: Vec<Level>,
    /// The level that the others are held against, as an index.
    pub baseline: usize,
    /// One or more; a row of the table each.
    pub cells: Vec<Cell>,
    /// The cell of the primary hypothesis, named before anything is measured.
    pub primary: Option<usize>,
    /// What is compared.
    #[serde(default)]
    pub metric: Metric,
    /// Stop when every interval is narrower than this, in points of per cent.
    pub precision_percent: f64,
    /// The promised level of intervals and verdicts, 0.95 unless asked otherwise.
    pub level: f64,
    /// Blocks before stopping on width is considered; at least 10.
    pub blocks_min: u32,
    /// Blocks at most.
    pub blocks_max: u32,
    /// No block begins that would probably end after this; `None`: no limit.
    pub time_budget_ns: Option<u64>,
    /// Of the order of runs and of every run's workload.
    pub seed: u64,
}

/// A level of the factor: what it changes in each cell's workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Level {
    /// As it heads its column: `31.5K`.
    pub name: String,
    /// Another target than the experiment's own, as the user names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// First byte in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_offset_bytes: Option<u64>,
    /// Bytes in use from there on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Bytes of one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Outstanding per thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Treatment of caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMode>,
    /// Share of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<u8>,
    /// Any other options of a workload, by name, as they are typed; after the
    /// fields above. Whoever makes the level has tried them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// A cell: a workload that every level runs once a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cell {
    /// For people and progress: `random read, 8 threads`.
    pub name: String,
    /// With its ramp and duration. Its seed is not used: every run has its own.
    pub workload: Workload,
}

impl Level {
    /// A level that moves the first byte used.
    pub fn offset(name: impl Into<String>, base_offset_bytes: u64) -> Level {
        Level {
            name: name.into(),
            base_offset_bytes: Some(base_offset_bytes),
            ..Level::default()
        }
    }

    /// A level that sets an option of the workload by its name, as typed.
    pub fn option(name: impl Into<String>, option: &str, text: &str) -> Level {
        Level {
            name: name.into(),
            options: BTreeMap::from([(option.to_owned(), text.to_owned())]),
            ..Level::default()
        }
    }

    /// A level that uses another target.
    pub fn target(name: impl Into<String>, target: impl Into<String>) -> Level {
        Level {
            name: name.into(),
            target: Some(target.into()),
            ..Level::default()
        }
    }

    /// The cell's workload with this level's options, and the seed of one run.
    pub fn apply(&self, workload: &Workload, seed: u64) -> Workload {
        let given = &self.with_options(workload);
        Workload {
            base_offset_bytes: self.base_offset_bytes.unwrap_or(given.base_offset_bytes),
            size_bytes: self.size_bytes.or(given.size_bytes),
            block_size_bytes: self.block_size_bytes.unwrap_or(given.block_size_bytes),
            threads: self.threads.unwrap_or(given.threads),
            outstanding: self.outstanding.unwrap_or(given.outstanding),
            cache: self.cache.unwrap_or(given.cache),
            read_percent: self.read_percent.unwrap_or(given.read_percent),
            seed,
            ..given.clone()
        }
    }
}

impl Level {
    /// The workload with this level's options; without them if they do not fit
    /// it, which [`ExperimentPlan::check`] reports.
    fn with_options(&self, workload: &Workload) -> Workload {
        self.try_options(workload)
            .unwrap_or_else(|_| workload.clone())
    }

    fn try_options(&self, workload: &Workload) -> Result<Workload, InputError> {
        let mut options = WorkloadOptions::default();
        for (name, text) in &self.options {
            options.set(name, text).map_err(|error| {
                InputError::new(format!("level {}: {error}", self.name), error.hint())
            })?;
        }
        options
            .build(workload)
            .map_err(|error| InputError::new(format!("level {}: {error}", self.name), error.hint()))
    }
}

impl ExperimentPlan {
    /// Minimum number of blocks before an experiment may stop on width.
    pub const BLOCKS_MIN: u32 = 10;
    /// Default width at which an experiment stops, in percentage points.
    pub const PRECISION_PERCENT: f64 = 2.0;
    /// Default maximum number of blocks: the limit of the exact statistics.
    pub const BLOCKS_MAX: u32 = 200;

    /// A plan over these levels and cells with defaults for the rest: the
    /// first level is the baseline, the first cell the primary hypothesis.
    pub fn new(factor: impl Into<String>, levels: Vec<Level>, cells: Vec<Cell>) -> Self {
        let factor = factor.into();
        ExperimentPlan {
            name: factor.clone(),
            factor,
            levels,
            baseline: 0,
            primary: (!cells.is_empty()).then_some(0),
            cells,
            metric: Metric::Iops,
            precision_percent: Self::PRECISION_PERCENT,
            level: 0.95,
            blocks_min: Self::BLOCKS_MIN,
            blocks_max: Self::BLOCKS_MAX,
            time_budget_ns: None,
            seed: Workload::SEED,
        }
    }

    /// Number of rows of all its tables: levels other than the baseline, times cells.
    pub fn rows(&self) -> usize {
        self.levels.len().saturating_sub(1) * self.cells.len()
    }

    /// Runs of one block.
    pub fn runs_per_block(&self) -> usize {
        self.levels.len() * self.cells.len()
    }

    /// Ramps and durations of one block, without the overhead of its runs.
    pub fn block_ns(&self) -> u64 {
        let cells = self
            .cells
            .iter()
            .map(|cell| cell.workload.length_ns())
            .fold(0, u64::saturating_add);
        cells.saturating_mul(self.levels.len() as u64)
    }

    /// Checks the plan by itself. The caller, who knows the targets, checks for every
    /// level whether its workloads fit them.
    ///
    /// # Errors
    /// The first violated rule.
    pub fn check(&self) -> Result<(), InputError> {
        self.check_shape()?;
        self.check_stopping()?;
        for level in &self.levels {
            for cell in &self.cells {
                level.try_options(&cell.workload)?;
                let workload = level.apply(&cell.workload, 0);
                check(&workload).map_err(|error| {
                    let what = format!("{} at level {}: {error}", cell.name, level.name);
                    InputError::new(what, error.hint())
                })?;
                self.check_span(level, &workload)?;
            }
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), InputError> {
        if self.levels.len() < 2 {
            return Err(InputError::new(
                format!("the factor {} needs two levels or more", self.factor),
                "name what is to be compared, the baseline first",
            ));
        }
        if self.cells.is_empty() {
            return Err(InputError::new(
                "there is no workload to run",
                "give at least one cell",
            ));
        }
        for (number, level) in self.levels.iter().enumerate() {
            if self.levels[..number]
                .iter()
                .any(|other| other.name == level.name)
            {
                return Err(InputError::new(
                    format!("two levels are called {}", level.name),
                    "give each its own name: it heads a column",
                ));
            }
        }
        if self.baseline >= self.levels.len() {
            return Err(InputError::new(
                "the baseline is not one of the levels",
                "name one of the levels as baseline",
            ));
        }
        if self.primary.is_some_and(|cell| cell >= self.cells.len()) {
            return Err(InputError::new(
                "the primary hypothesis is not one of the cells",
                "name one of the cells",
            ));
        }
        Ok(())
    }

    fn check_stopping(&self) -> Result<(), InputError> {
        if !(self.precision_percent > 0.0 && self.precision_percent.is_finite()) {
            return Err(InputError::new(
                format!(
                    "a precision of {} % cannot be reached",
                    self.precision_percent
                ),
                "give a width in per cent such as 2",
            ));
        }
        if !(0.5..1.0).contains(&self.level) {
            return Err(InputError::new(
                format!("a level of {} is outside of 0.5 to below 1", self.level),
                "0.95 is the usual one",
            ));
        }
        if self.blocks_min < Self::BLOCKS_MIN || self.blocks_max < self.blocks_min {
            let what = format!(
                "{} blocks are too few: an experiment has at least {}, so that its intervals mean something",
                self.blocks_max.min(self.blocks_min),
                self.blocks_min.max(Self::BLOCKS_MIN)
            );
            return Err(InputError::new(
                what,
                "ask for more blocks, or leave the number out; --time limits how long it takes",
            ));
        }
        Ok(())
    }

    /// Levels that start elsewhere must use the same number of bytes: otherwise one has
    /// longer seeks, or more to cache, than the other.
    fn check_span(&self, level: &Level, workload: &Workload) -> Result<(), InputError> {
        let moved = self
            .levels
            .iter()
            .any(|other| other.base_offset_bytes != level.base_offset_bytes);
        let random = matches!(workload.pattern, Pattern::Random { .. });
        if moved && random && workload.size_bytes.is_none() {
            return Err(InputError::new(
                format!("level {} does not say how many bytes it uses", level.name),
                "levels at different offsets need the same explicit size, or one of them has longer seeks",
            ));
        }
        Ok(())
    }
}
