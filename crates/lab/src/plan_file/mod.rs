//! Plan files of experiments (`lab run PLAN.toml`): one target, one factor at
//! several levels, one or more cells of workload.
//!
//! TOML, like the plans of `run`: every key of a workload has the
//! name of a switch and takes the same text. Strict: an unknown key is an error
//! that names the line and the valid keys. Permission to destroy or
//! overwrite is not part of plans. [`TEMPLATE`] shows all keys.

mod layouts;
mod top;

pub use layouts::{LayoutsFile, cells_of};

use crate::experiment::{Cell, Level, Metric};
use std::ops::Range;
use stripewise_units::ByteSize;
use stripewise_workload::{PlanError, PlanOptions, PlanReader, PlanValue, WorkloadOptions};
use toml::de::DeTable;
use top::{CellTable, TopLevelKeys, count, list, percent};

/// What `lab init` writes: a runnable plan that explains every key.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The factor whose levels are offsets from the start of the disk, corrected for
/// where the target starts.
pub const OFFSET_FACTOR: &str = "offset";
/// Options that cannot be factors: levels must not differ by chance or length.
const NO_FACTORS: [&str; 3] = ["seed", "duration", "ramp"];
const PLAN_KEYS: [&str; 14] = [
    "name",
    "label",
    "target",
    "factor",
    "levels",
    "baseline",
    "metric",
    "precision",
    "time",
    "blocks",
    "seed",
    "engine",
    "defaults",
    "cell",
];

/// An experiment as read from its file.
#[derive(Clone, Debug, PartialEq)]
pub struct LabPlan {
    /// One line for people.
    pub name: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// As on the command line.
    pub target: String,
    /// What varies: `offset`, or the name of an option of a workload.
    pub factor: String,
    /// Levels of any factor other than `offset`; empty for that one.
    pub levels: Vec<Level>,
    /// Levels of the factor `offset`, in bytes from the start of the disk.
    pub offsets_bytes: Vec<u64>,
    /// Index of the level that the others are compared with.
    pub baseline: usize,
    /// Index of the cell of the primary hypothesis.
    pub primary: Option<usize>,
    /// The metric that is compared.
    pub metric: Metric,
    /// Width at which it stops, in percentage points.
    pub precision_percent: Option<f64>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Maximum number of blocks.
    pub blocks_max: Option<u32>,
    /// Seed of the order and of all streams.
    pub seed: Option<u64>,
    /// `auto`, `uring`, `nvme`, `threads`.
    pub engine: Option<String>,
    /// One or more.
    pub cells: Vec<Cell>,
    /// Every cell specifies the duration of its runs.
    pub duration_given: bool,
    /// A cell specifies how much is in flight.
    pub load_given: bool,
}

/// A plan file of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum LabFile {
    /// One factor, in randomised blocks.
    One(Box<LabPlan>),
    /// Several factors, in passes over layouts.
    Several(Box<LayoutsFile>),
}

impl std::str::FromStr for LabFile {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let reader = PlanReader::new(text);
        let hint = "plans are TOML: key = \"value\", [factors], [defaults], [[cell]]";
        let document = reader.document(hint)?;
        if layouts::names_several(document.get_ref()) {
            let file = layouts::read(reader, document.get_ref())?;
            return Ok(LabFile::Several(Box::new(file)));
        }
        text.parse().map(|plan| LabFile::One(Box::new(plan)))
    }
}

impl std::str::FromStr for LabPlan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let reader = Reader(PlanReader::new(text));
        let hint = "plans are TOML: key = \"value\", [defaults], [[cell]]";
        reader.plan(reader.0.document(hint)?.get_ref())
    }
}

/// Parses the parts of an experiment.
struct Reader<'a>(PlanReader<'a>);

/// The head of a plan, as text.
#[derive(Default)]
struct Head {
    top: TopLevelKeys,
    factor: Option<(String, Range<usize>)>,
    levels: Vec<(String, Range<usize>)>,
    baseline: Option<(String, Range<usize>)>,
    metric: Metric,
    precision_percent: Option<f64>,
    blocks_max: Option<u32>,
    engine: Option<String>,
    defaults: PlanOptions,
    cells: Vec<CellText>,
}

/// The table of a cell, as text.
struct CellText {
    table: CellTable,
    primary: bool,
}

impl<'a> Reader<'a> {
    fn plan(&self, document: &DeTable<'a>) -> Result<LabPlan, PlanError> {
        let mut head = Head::default();
        for (key, value) in document {
            self.entry(&mut head, key.get_ref().as_ref(), &key.span(), value)?;
        }
        let lacks =
            |what: &str, hint: &str| self.0.refuse(0..0, format!("the plan has no {what}"), hint);
        let target = head.top.target.clone().ok_or_else(|| {
            lacks(
                "target",
                "target = \"a file, a directory, a device or sim:NAME\"",
            )
        })?;
        let (factor, factor_at) = head
            .factor
            .clone()
            .ok_or_else(|| lacks("factor", "factor = \"offset\", or an option of a workload"))?;
        let (levels, offsets_bytes) = self.levels(&head, &factor, &factor_at)?;
        let baseline = self.baseline(&head)?;
        let (cells, primary) = self.cells(&head)?;
        let is_stated = |says: fn(&WorkloadOptions) -> bool| {
            let defaults = says(&head.defaults.options);
            move |cell: &CellText| defaults || says(&cell.table.options.options)
        };
        Ok(LabPlan {
            duration_given: head
                .cells
                .iter()
                .all(is_stated(|options| options.duration.is_some())),
            load_given: head.cells.iter().any(is_stated(|options| {
                options.threads.is_some() || options.outstanding.is_some()
            })) || matches!(factor.as_str(), "threads" | "outstanding"),
            name: head.top.name,
            label: head.top.label,
            target,
            factor,
            levels,
            offsets_bytes,
            baseline,
            primary,
            metric: head.metric,
            precision_percent: head.precision_percent,
            time_ns: head.top.time_ns,
            blocks_max: head.blocks_max,
            seed: head.top.seed,
            engine: head.engine,
            cells,
        })
    }

    fn entry(
        &self,
        head: &mut Head,
        key: &str,
        key_at: &Range<usize>,
        value: &PlanValue<'a>,
    ) -> Result<(), PlanError> {
        let at = value.span();
        match key {
            _ if head.top.take(self.0, key, value)? => {}
            "factor" => head.factor = Some((self.0.scalar(key, value)?, at)),
            "levels" => head.levels = list(self.0, key, value)?,
            "baseline" => head.baseline = Some((self.0.scalar(key, value)?, at)),
            "metric" => {
                let metric = self.0.scalar(key, value)?.parse();
                head.metric = metric.map_err(|error: crate::experiment::UnknownMetric| {
                    self.0
                        .refuse(at, error.to_string(), "metric = \"iops\" is the usual one")
                })?;
            }
            "precision" => head.precision_percent = Some(percent(self.0, key, value)?),
            "blocks" => head.blocks_max = Some(count(self.0, key, value)?),
            "engine" => head.engine = Some(self.0.scalar(key, value)?),
            "defaults" => {
                head.defaults = CellTable::read(self.0, value, &[], |_, _| Ok(()))?.options;
            }
            "cell" => {
                for table in self.0.tables(key, value)? {
                    head.cells.push(self.cell(table)?);
                }
            }
            unknown => {
                return Err(self
                    .0
                    .unknown(key_at.clone(), unknown, "a plan", &PLAN_KEYS));
            }
        }
        Ok(())
    }

    fn cell(&self, table: &PlanValue<'a>) -> Result<CellText, PlanError> {
        let mut primary = false;
        let table = CellTable::read(self.0, table, &["name", "primary"], |key, value| {
            primary = self.0.scalar(key, value)? == "true";
            Ok(())
        })?;
        Ok(CellText { table, primary })
    }

    fn levels(
        &self,
        head: &Head,
        factor: &str,
        factor_at: &Range<usize>,
    ) -> Result<(Vec<Level>, Vec<u64>), PlanError> {
        let bad = |at: &Range<usize>, text: &str, error: &stripewise_units::ParseError| {
            self.0
                .refuse(at.clone(), format!("level {text}: {error}"), error.hint())
        };
        if head.levels.len() < 2 {
            let hint = "levels = [\"31.5K\", \"1M\"], the baseline first";
            return Err(self.0.refuse(
                factor_at.clone(),
                "a factor needs two levels or more",
                hint,
            ));
        }
        if factor == OFFSET_FACTOR {
            let offsets = head.levels.iter().map(|(text, at)| {
                let offset: Result<ByteSize, _> = text.parse();
                offset
                    .map(ByteSize::bytes)
                    .map_err(|error| bad(at, text, &error))
            });
            return Ok((Vec::new(), offsets.collect::<Result<_, _>>()?));
        }
        if !WorkloadOptions::NAMES.contains(&factor) || NO_FACTORS.contains(&factor) {
            let mut names: Vec<&str> = WorkloadOptions::NAMES.to_vec();
            names.retain(|name| !NO_FACTORS.contains(name));
            let hint = format!("a factor is {OFFSET_FACTOR} or one of {}", names.join(", "));
            let problem = format!("`{factor}` is not a factor");
            return Err(self.0.refuse(factor_at.clone(), problem, hint));
        }
        let levels = head.levels.iter().map(|(text, at)| {
            let set = WorkloadOptions::default().set(factor, text);
            set.map_err(|error| bad(at, text, &error))?;
            Ok(Level::option(text, factor, text))
        });
        Ok((levels.collect::<Result<_, _>>()?, Vec::new()))
    }

    fn baseline(&self, head: &Head) -> Result<usize, PlanError> {
        let Some((name, at)) = &head.baseline else {
            return Ok(0);
        };
        let found = head.levels.iter().position(|(level, _)| level == name);
        found.ok_or_else(|| {
            let problem = format!("the baseline `{name}` is not one of the levels");
            self.0
                .refuse(at.clone(), problem, "write it as in `levels`")
        })
    }

    fn cells(&self, head: &Head) -> Result<(Vec<Cell>, Option<usize>), PlanError> {
        if head.cells.is_empty() {
            let hint = "add a table [[cell]] with the options of a workload";
            return Err(self.0.refuse(0..0, "the plan has no cell", hint));
        }
        let mut cells: Vec<Cell> = Vec::with_capacity(head.cells.len());
        let (mut primary, mut names) = (None, Vec::new());
        for cell in &head.cells {
            let (name, workload) = cell.table.workload(self.0, &head.defaults, &mut names)?;
            if cell.primary {
                primary = Some(cells.len());
            }
            cells.push(Cell { name, workload });
        }
        Ok((cells, primary.or(Some(0))))
    }
}

#[cfg(test)]
mod tests;
