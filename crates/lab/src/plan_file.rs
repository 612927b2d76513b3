//! Plan files of experiments (`lab run PLAN.toml`): one target, one factor at
//! several levels, one or more cells of workload.
//!
//! TOML, in the manner of the plans of `run`: every key of a workload has the
//! name of a switch and takes the same text. Strict: an unknown key is an error
//! that names the line and the keys there are. Permission to destroy or
//! overwrite is not in plans. [`TEMPLATE`] shows all keys.

use crate::experiment::{Cell, Level, Metric};
use std::ops::Range;
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::{Workload, WorkloadOptions};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What `lab init` writes: a plan that runs as it is, with every key explained.
pub const TEMPLATE: &str = include_str!("plan_file/template.toml");

/// The factor whose levels are offsets from the start of the disk, corrected for
/// where the target starts.
pub const OFFSET_FACTOR: &str = "offset";
/// Options that are no factor: what differs must not be chance or length.
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
const PERMISSIONS: [&str; 4] = ["destroy", "overwrite", "busy-ok", "keep"];

/// An experiment as its file says it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabPlan {
    /// In a line, for people.
    pub name: Option<String>,
    /// The user's words.
    pub label: Option<String>,
    /// As on the command line.
    pub target: String,
    /// What differs: `offset`, or the name of an option of a workload.
    pub factor: String,
    /// Levels of any factor but `offset`; empty for that one.
    pub levels: Vec<Level>,
    /// Levels of the factor `offset`, in bytes from the start of the disk.
    pub offsets_bytes: Vec<u64>,
    /// Index of the level that the others are held against.
    pub baseline: usize,
    /// Index of the cell that the primary hypothesis is about.
    pub primary: Option<usize>,
    /// What is compared.
    pub metric: Metric,
    /// Width at which it stops.
    pub precision_percent: Option<f64>,
    /// Time for everything.
    pub time_ns: Option<u64>,
    /// Blocks at most.
    pub blocks_max: Option<u32>,
    /// Of the order and of all streams.
    pub seed: Option<u64>,
    /// `auto`, `uring`, `threads`.
    pub engine: Option<String>,
    /// One or more.
    pub cells: Vec<Cell>,
    /// Every cell says how long its runs are.
    pub duration_given: bool,
    /// A cell says how much is in flight.
    pub load_given: bool,
}

/// A plan file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LabPlanError {
    line: usize,
    problem: String,
    hint: String,
}

impl LabPlanError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl std::str::FromStr for LabPlan {
    type Err = LabPlanError;

    fn from_str(text: &str) -> Result<Self, LabPlanError> {
        let reader = Reader { text };
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let hint = "plans are TOML: key = \"value\", [defaults], [[cell]]";
            reader.refuse(at, error.message(), hint)
        })?;
        reader.plan(document.get_ref())
    }
}

/// A value and where it stands.
type Value<'a> = Spanned<DeValue<'a>>;

/// Reads values and knows where they stand.
struct Reader<'a> {
    text: &'a str,
}

/// What the head of a plan says, as text.
#[derive(Default)]
struct Head {
    name: Option<String>,
    label: Option<String>,
    target: Option<String>,
    factor: Option<(String, Range<usize>)>,
    levels: Vec<(String, Range<usize>)>,
    baseline: Option<(String, Range<usize>)>,
    metric: Metric,
    precision_percent: Option<f64>,
    time_ns: Option<u64>,
    blocks_max: Option<u32>,
    seed: Option<u64>,
    engine: Option<String>,
    defaults: WorkloadOptions,
    cells: Vec<(WorkloadOptions, Option<String>, bool, Range<usize>)>,
}

impl Reader<'_> {
    fn refuse(
        &self,
        at: Range<usize>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> LabPlanError {
        let before = self.text.as_bytes().iter().take(at.start);
        LabPlanError {
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    fn plan(&self, document: &DeTable<'_>) -> Result<LabPlan, LabPlanError> {
        let mut head = Head::default();
        for (key, value) in document {
            self.entry(&mut head, key.get_ref().as_ref(), &key.span(), value)?;
        }
        let lacks =
            |what: &str, hint: &str| self.refuse(0..0, format!("the plan has no {what}"), hint);
        let target = head.target.clone().ok_or_else(|| {
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
        let said = |says: fn(&WorkloadOptions) -> bool| {
            let defaults = says(&head.defaults);
            move |(options, ..): &(WorkloadOptions, _, _, _)| defaults || says(options)
        };
        Ok(LabPlan {
            duration_given: head
                .cells
                .iter()
                .all(said(|options| options.duration.is_some())),
            load_given: head.cells.iter().any(said(|options| {
                options.threads.is_some() || options.outstanding.is_some()
            })) || matches!(factor.as_str(), "threads" | "outstanding"),
            name: head.name,
            label: head.label,
            target,
            factor,
            levels,
            offsets_bytes,
            baseline,
            primary,
            metric: head.metric,
            precision_percent: head.precision_percent,
            time_ns: head.time_ns,
            blocks_max: head.blocks_max,
            seed: head.seed,
            engine: head.engine,
            cells,
        })
    }

    fn entry(
        &self,
        head: &mut Head,
        key: &str,
        key_at: &Range<usize>,
        value: &Value<'_>,
    ) -> Result<(), LabPlanError> {
        let at = value.span();
        match key {
            "name" => head.name = Some(self.scalar(key, value)?),
            "label" => head.label = Some(self.scalar(key, value)?),
            "target" => head.target = Some(self.scalar(key, value)?),
            "factor" => head.factor = Some((self.scalar(key, value)?, at)),
            "levels" => head.levels = self.list(key, value)?,
            "baseline" => head.baseline = Some((self.scalar(key, value)?, at)),
            "metric" => {
                let metric = self.scalar(key, value)?.parse();
                head.metric = metric.map_err(|error: crate::experiment::UnknownMetric| {
                    self.refuse(at, error.to_string(), "metric = \"iops\" is the usual one")
                })?;
            }
            "precision" => head.precision_percent = Some(self.percent(value)?),
            "time" => {
                let time: Nanoseconds = self.parsed(key, value)?;
                head.time_ns = Some(time.ns());
            }
            "blocks" => head.blocks_max = Some(self.count(key, value)?),
            "seed" => head.seed = Some(u64::from(self.count(key, value)?)),
            "engine" => head.engine = Some(self.scalar(key, value)?),
            "defaults" => head.defaults = self.options(value, false)?.0,
            "cell" => {
                let tables = value.get_ref().as_array().ok_or_else(|| {
                    self.refuse(at, "`cell` is not a list of tables", "write [[cell]]")
                })?;
                for table in tables {
                    let (options, name, primary) = self.options(table, true)?;
                    head.cells.push((options, name, primary, table.span()));
                }
            }
            unknown => return Err(self.unknown(key_at.clone(), unknown, &PLAN_KEYS)),
        }
        Ok(())
    }

    /// A table of options: those of a cell, or the defaults of all.
    fn options(
        &self,
        table: &Value<'_>,
        cell: bool,
    ) -> Result<(WorkloadOptions, Option<String>, bool), LabPlanError> {
        let Some(entries) = table.get_ref().as_table() else {
            let hint = "write [defaults] or [[cell]] on a line of its own, keys below";
            return Err(self.refuse(table.span(), "a table is needed here", hint));
        };
        let (mut options, mut name, mut primary) = (WorkloadOptions::default(), None, false);
        for (key, value) in entries {
            let word = key.get_ref().as_ref();
            match word {
                "name" if cell => name = Some(self.scalar(word, value)?),
                "primary" if cell => primary = self.scalar(word, value)? == "true",
                "seed" => {
                    let hint = "seed stands at the top of the plan: every run has its own, derived from it";
                    return Err(self.refuse(key.span(), "a cell has no seed", hint));
                }
                _ if WorkloadOptions::NAMES.contains(&word) => {
                    let set = options.set(word, &self.scalar(word, value)?);
                    set.map_err(|error| {
                        self.refuse(value.span(), format!("{word}: {error}"), error.hint())
                    })?;
                }
                _ => {
                    let own: &[&str] = if cell { &["name", "primary"] } else { &[] };
                    let known = [own, &WorkloadOptions::NAMES].concat();
                    return Err(self.unknown(key.span(), word, &known));
                }
            }
        }
        Ok((options, name, primary))
    }

    fn levels(
        &self,
        head: &Head,
        factor: &str,
        factor_at: &Range<usize>,
    ) -> Result<(Vec<Level>, Vec<u64>), LabPlanError> {
        let bad = |at: &Range<usize>, text: &str, error: &stripewise_units::ParseError| {
            self.refuse(at.clone(), format!("level {text}: {error}"), error.hint())
        };
        if head.levels.len() < 2 {
            let hint = "levels = [\"31.5K\", \"1M\"], the baseline first";
            return Err(self.refuse(factor_at.clone(), "a factor needs two levels or more", hint));
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
            let problem = format!("`{factor}` is no factor");
            return Err(self.refuse(factor_at.clone(), problem, hint));
        }
        let levels = head.levels.iter().map(|(text, at)| {
            let set = WorkloadOptions::default().set(factor, text);
            set.map_err(|error| bad(at, text, &error))?;
            Ok(Level::option(text, factor, text))
        });
        Ok((levels.collect::<Result<_, _>>()?, Vec::new()))
    }

    fn baseline(&self, head: &Head) -> Result<usize, LabPlanError> {
        let Some((name, at)) = &head.baseline else {
            return Ok(0);
        };
        let found = head.levels.iter().position(|(level, _)| level == name);
        found.ok_or_else(|| {
            let problem = format!("the baseline `{name}` is none of the levels");
            self.refuse(at.clone(), problem, "write it as in `levels`")
        })
    }

    fn cells(&self, head: &Head) -> Result<(Vec<Cell>, Option<usize>), LabPlanError> {
        if head.cells.is_empty() {
            let hint = "add a table [[cell]] with the options of a workload";
            return Err(self.refuse(0..0, "the plan has no cell", hint));
        }
        let mut cells: Vec<Cell> = Vec::with_capacity(head.cells.len());
        let mut primary = None;
        for (options, name, is_primary, at) in &head.cells {
            let workload = options
                .clone()
                .or(&head.defaults)
                .build(&Workload::default())
                .map_err(|error| self.refuse(at.clone(), error.to_string(), error.hint()))?;
            let name = name
                .clone()
                .unwrap_or_else(|| format!("cell {}", cells.len() + 1));
            if cells.iter().any(|other| other.name == name) {
                let problem = format!("there are two cells named `{name}`");
                return Err(self.refuse(at.clone(), problem, "names tell rows apart"));
            }
            if *is_primary {
                primary = Some(cells.len());
            }
            cells.push(Cell { name, workload });
        }
        Ok((cells, primary.or(Some(0))))
    }

    fn list(
        &self,
        key: &str,
        value: &Value<'_>,
    ) -> Result<Vec<(String, Range<usize>)>, LabPlanError> {
        let Some(items) = value.get_ref().as_array() else {
            let hint = format!("{key} = [\"first\", \"second\"]");
            return Err(self.refuse(value.span(), format!("`{key}` is not a list"), hint));
        };
        items
            .iter()
            .map(|item| Ok((self.scalar(key, item)?, item.span())))
            .collect()
    }

    /// The text that the switch would have been given.
    fn scalar(&self, key: &str, value: &Value<'_>) -> Result<String, LabPlanError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(yes) => Ok(yes.to_string()),
            _ => {
                let hint = format!("{key} = \"text in quotes\", or a plain number");
                Err(self.refuse(value.span(), format!("`{key}` takes one value"), hint))
            }
        }
    }

    fn parsed<T>(&self, key: &str, value: &Value<'_>) -> Result<T, LabPlanError>
    where
        T: std::str::FromStr<Err = stripewise_units::ParseError>,
    {
        let parsed = self.scalar(key, value)?.parse();
        parsed.map_err(|error: stripewise_units::ParseError| {
            self.refuse(value.span(), format!("{key}: {error}"), error.hint())
        })
    }

    fn count(&self, key: &str, value: &Value<'_>) -> Result<u32, LabPlanError> {
        let count = self.scalar(key, value)?.parse().ok();
        count.filter(|count| *count > 0).ok_or_else(|| {
            let hint = format!("{key} = 40, a whole number above 0");
            self.refuse(value.span(), format!("`{key}` is no count"), hint)
        })
    }

    fn percent(&self, value: &Value<'_>) -> Result<f64, LabPlanError> {
        let text = self.scalar("precision", value)?;
        let percent: Option<f64> = text.trim().trim_end_matches('%').trim_end().parse().ok();
        percent
            .filter(|percent| *percent > 0.0 && *percent <= 100.0)
            .ok_or_else(|| {
                let hint = "precision = \"2%\": the width that every interval must have";
                self.refuse(value.span(), "`precision` is no width", hint)
            })
    }

    fn unknown(&self, at: Range<usize>, key: &str, known: &[&str]) -> LabPlanError {
        let hint = if PERMISSIONS.contains(&key) {
            format!("permissions are given on the command line, each time: --{key}")
        } else {
            format!("the keys are {}", known.join(", "))
        };
        self.refuse(at, format!("`{key}` is not a key here"), hint)
    }
}

#[cfg(test)]
mod tests;
