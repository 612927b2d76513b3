//! Plan files: several named jobs on targets of their own (`run --plan FILE`).
//!
//! TOML. Every key has the name of a switch of `run` and its value the text that
//! the switch takes; a bare number or `true` will do where it means the same.
//! Strict: an unknown key is an error that names the line, the key and the
//! nearest known one. Permission to destroy or overwrite is not in plans; it is
//! given on the command line, each time.
//!
//! ```toml
//! label = "new volume, RAID 10"     # optional: kept with the run
//! run = "together"                  # or "alone": one job after the other;
//!                                   # or "both": first alone, then together
//! [defaults]                        # for all jobs that do not say otherwise
//! duration = "60s"                  # one duration and one ramp for all jobs
//! ramp = "5s"
//! cache = "direct"
//!
//! [[job]]
//! name = "log"                      # required, unique
//! target = "/data/log"              # required, as on the command line
//! write = true                      # or read = true, or read-percent = 70
//! sequential = true                 # or random = true, or stride = "64K"
//! block = "8K"
//! cache = "direct-sync"
//!
//! [[job]]
//! name = "data"
//! target = ["/data/d1", "/data/d2"] # several: one job over all of them
//! read-percent = 70
//! block = "8K"
//! threads = 4
//! outstanding = 16                  # of each thread on each target
//! distribution = "hot:10/90"        # or "uniform" or "zipf:0.99"
//! rate = 5000                       # open loop: operations a second in all
//! arrivals = "poisson"              # or "fixed"
//! size = "64G"
//! base-offset = "31.5K"
//! seed = 7
//!
//! [[job]]
//! name = "backup"
//! target = "/backup"
//! write = true
//! sequential = true
//! cursor = "shared"                 # or "own"
//! block = "1M"
//! threads = 2
//! sync = "fdatasync:64"             # after every 64 writes of a thread
//! compressible = 50
//! dedupable = 10
//! engine = "uring"                  # or auto, threads, null
//! cpus = "0-3,8"
//! ```

use crate::nearest::nearest;
use crate::{Workload, WorkloadError, WorkloadOptions};
use std::fmt;
use std::ops::Range;
use stripewise_units::{CpuList, ParseError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Jobs of one plan at most.
const JOBS_MAX: usize = 1_024;

/// Keys of the document.
const PLAN_KEYS: [&str; 4] = ["label", "run", "defaults", "job"];
/// Keys of a job besides the options of its workload.
const JOB_KEYS: [&str; 4] = ["name", "target", "engine", "cpus"];
/// Engines that can be asked for.
const ENGINES: [&str; 4] = ["auto", "uring", "threads", "null"];
/// Keys that are refused with an explanation of their own.
const PERMISSIONS: [&str; 4] = ["destroy", "overwrite", "busy-ok", "keep"];

/// Whether jobs run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanOrder {
    /// All at once.
    #[default]
    Together,
    /// One after the other.
    Alone,
    /// One after the other, then all at once.
    Both,
}

/// Several jobs.
///
/// ```
/// use stripewise_workload::Plan;
///
/// let plan: Plan = r#"
///     [[job]]
///     name = "log"
///     target = "/data/log"
///     write = true
///     sequential = true
/// "#.parse()?;
/// assert_eq!(plan.jobs[0].targets, ["/data/log"]);
///
/// let error = "[[job]]\nblok = \"8K\"".parse::<Plan>().unwrap_err();
/// assert_eq!(error.to_string(), "line 2: `blok` is not a key of a job");
/// assert!(error.hint().contains("`block`"));
/// # Ok::<(), stripewise_workload::PlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The user's words about the run.
    pub label: Option<String>,
    /// Whether jobs run at once.
    pub order: PlanOrder,
    /// In the order of the file; names are unique; at least one.
    pub jobs: Vec<PlanJob>,
}

/// One job of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanJob {
    /// Unique in the plan.
    pub name: String,
    /// As they would stand on the command line; at least one.
    pub targets: Vec<String>,
    /// What it does; `check`ed, but not against its targets. A job without a
    /// seed of its own has that of the plan plus its number from 0, so that
    /// jobs do not move in step.
    pub workload: Workload,
    /// Engine asked for: `auto`, `uring`, `threads`, `null`.
    pub engine: Option<String>,
    /// Processors to run on.
    pub cpus: Option<CpuList>,
    /// The options of the job and of the plan's defaults, before anything else
    /// was filled in: says what was left open.
    pub options: WorkloadOptions,
}

/// A plan that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    line: usize,
    problem: String,
    hint: String,
}

impl PlanError {
    /// The line, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for PlanError {}

impl std::str::FromStr for Plan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let reader = Reader { text };
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let hint = "plans are TOML: key = \"value\", [defaults], [[job]]";
            reader.refuse(at, error.message(), hint)
        })?;
        reader.plan(document.get_ref())
    }
}

/// What a table of options says.
#[derive(Default)]
struct Section {
    options: WorkloadOptions,
    name: Option<(String, Range<usize>)>,
    targets: Option<Vec<String>>,
    engine: Option<String>,
    cpus: Option<CpuList>,
}

/// Reads values and knows where they stand.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn refuse(
        &self,
        at: Range<usize>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> PlanError {
        let before = self.text.as_bytes().iter().take(at.start);
        PlanError {
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    fn plan(&self, document: &DeTable<'_>) -> Result<Plan, PlanError> {
        let mut label = None;
        let mut order = PlanOrder::Together;
        let mut defaults = Section::default();
        let mut tables = Vec::new();
        for (key, value) in document {
            match key.get_ref().as_ref() {
                "label" => label = Some(self.string("label", value)?),
                "run" => order = self.order(value)?,
                "defaults" => defaults = self.section(value, true)?,
                "job" => tables = self.jobs(value)?,
                unknown => {
                    return Err(self.unknown(key.span(), unknown, "a plan", &PLAN_KEYS));
                }
            }
        }
        if tables.is_empty() {
            let hint = "add a table [[job]] with name and target";
            return Err(self.refuse(0..0, "the plan has no job", hint));
        }
        let mut jobs: Vec<PlanJob> = Vec::with_capacity(tables.len());
        for (number, (at, section)) in tables.into_iter().enumerate() {
            let job = self.job(number as u64, &at, section, &defaults)?;
            if jobs.iter().any(|other| other.name == job.name) {
                let problem = format!("there are two jobs named `{}`", job.name);
                return Err(self.refuse(at, problem, "names tell jobs apart in the results"));
            }
            self.check_times(order, &at, &job, jobs.first())?;
            jobs.push(job);
        }
        Ok(Plan { label, order, jobs })
    }

    fn order(&self, value: &Spanned<DeValue<'_>>) -> Result<PlanOrder, PlanError> {
        match self.string("run", value)?.as_str() {
            "together" => Ok(PlanOrder::Together),
            "alone" => Ok(PlanOrder::Alone),
            "both" => Ok(PlanOrder::Both),
            other => {
                let hint = "together (all at once), alone (one after the other) or both";
                Err(self.refuse(value.span(), format!("run = `{other}` is unknown"), hint))
            }
        }
    }

    fn jobs(
        &self,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<(Range<usize>, Section)>, PlanError> {
        let Some(tables) = value.get_ref().as_array() else {
            let hint = "jobs are tables with double brackets: [[job]]";
            return Err(self.refuse(value.span(), "`job` is not a list of tables", hint));
        };
        if tables.len() > JOBS_MAX {
            let problem = format!(
                "the plan has {} jobs; the limit is {JOBS_MAX}",
                tables.len()
            );
            return Err(self.refuse(value.span(), problem, "use threads for more of the same"));
        }
        tables
            .iter()
            .map(|table| Ok((table.span(), self.section(table, false)?)))
            .collect()
    }

    /// A job's table, or that of the defaults.
    fn section(&self, table: &Spanned<DeValue<'_>>, defaults: bool) -> Result<Section, PlanError> {
        let Some(entries) = table.get_ref().as_table() else {
            let hint = "write [defaults] or [[job]] on a line of its own, keys below";
            return Err(self.refuse(table.span(), "a table is needed here", hint));
        };
        let mut section = Section::default();
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            match name {
                "name" if !defaults => {
                    section.name = Some((self.string(name, value)?, value.span()));
                }
                "target" if !defaults => section.targets = Some(self.targets(value)?),
                "engine" => section.engine = Some(self.engine(value)?),
                "cpus" => {
                    let cpus = self.scalar(name, value)?.parse();
                    section.cpus = Some(cpus.map_err(|error| self.bad_value(name, value, &error))?);
                }
                _ if WorkloadOptions::NAMES.contains(&name) => {
                    let text = self.scalar(name, value)?;
                    let set = section.options.set(name, &text);
                    set.map_err(|error| self.bad_value(name, value, &error))?;
                }
                _ => {
                    let known = &JOB_KEYS[if defaults { 2 } else { 0 }..];
                    let known = [known, &WorkloadOptions::NAMES].concat();
                    let whose = if defaults { "the defaults" } else { "a job" };
                    return Err(self.unknown(key.span(), name, whose, &known));
                }
            }
        }
        Ok(section)
    }

    fn job(
        &self,
        number: u64,
        at: &Range<usize>,
        section: Section,
        defaults: &Section,
    ) -> Result<PlanJob, PlanError> {
        let lacks = |key: &str| {
            let hint = "each job needs name = \"...\" and target = \"...\"";
            self.refuse(at.clone(), format!("a job has no {key}"), hint)
        };
        let (name, name_at) = section.name.ok_or_else(|| lacks("name"))?;
        if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
            let hint = "a name has 1 to 64 bytes on one line";
            return Err(self.refuse(name_at, format!("`{name}` is no name for a job"), hint));
        }
        let targets = section.targets.ok_or_else(|| lacks("target"))?;
        let own_seed = section.options.seed.is_some();
        let options = section.options.or(&defaults.options);
        let mut workload = options
            .clone()
            .build(&Workload::default())
            .map_err(|error| self.bad_job(at, &name, &error))?;
        if !own_seed {
            workload.seed = workload.seed.wrapping_add(number);
        }
        Ok(PlanJob {
            name,
            targets,
            workload,
            engine: section.engine.or_else(|| defaults.engine.clone()),
            cpus: section.cpus.or_else(|| defaults.cpus.clone()),
            options,
        })
    }

    /// Jobs at once share their times.
    fn check_times(
        &self,
        order: PlanOrder,
        at: &Range<usize>,
        job: &PlanJob,
        first: Option<&PlanJob>,
    ) -> Result<(), PlanError> {
        let times = |job: &PlanJob| (job.workload.duration_ns, job.workload.ramp_ns);
        match first {
            Some(first) if order != PlanOrder::Alone && times(first) != times(job) => {
                let problem = format!(
                    "jobs that run together have one duration and ramp, but `{}` and `{}` differ",
                    first.name, job.name
                );
                let hint = "put duration and ramp into [defaults], or say run = \"alone\"";
                Err(self.refuse(at.clone(), problem, hint))
            }
            _ => Ok(()),
        }
    }

    fn targets(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, PlanError> {
        let targets = match value.get_ref().as_array() {
            None => vec![self.string("target", value)?],
            Some(items) => {
                let strings = items.iter().map(|item| self.string("target", item));
                strings.collect::<Result<_, _>>()?
            }
        };
        if targets.is_empty() || targets.iter().any(String::is_empty) {
            let hint = "a file, directory or device, or a list of them";
            return Err(self.refuse(value.span(), "`target` is empty", hint));
        }
        Ok(targets)
    }

    fn engine(&self, value: &Spanned<DeValue<'_>>) -> Result<String, PlanError> {
        let engine = self.string("engine", value)?;
        if ENGINES.contains(&engine.as_str()) {
            return Ok(engine);
        }
        let hint = format!("one of {}", ENGINES.join(", "));
        Err(self.refuse(
            value.span(),
            format!("engine = `{engine}` is unknown"),
            hint,
        ))
    }

    fn string(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, PlanError> {
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| {
            let hint = format!("{key} = \"text in quotes\"");
            self.refuse(value.span(), format!("`{key}` is not text"), hint)
        })
    }

    /// The text that the switch would have been given.
    fn scalar(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, PlanError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(yes) => Ok(yes.to_string()),
            other => {
                let found = match other {
                    DeValue::Array(_) => "a list",
                    DeValue::Table(_) => "a table",
                    _ => "a date or another base than ten",
                };
                let problem = format!("`{key}` takes one value, not {found}");
                let hint = format!("{key} = \"what --{key} takes\"; a plan has no grids");
                Err(self.refuse(value.span(), problem, hint))
            }
        }
    }

    fn bad_value(&self, key: &str, value: &Spanned<DeValue<'_>>, error: &ParseError) -> PlanError {
        self.refuse(value.span(), format!("{key}: {error}"), error.hint())
    }

    fn bad_job(&self, at: &Range<usize>, name: &str, error: &WorkloadError) -> PlanError {
        self.refuse(at.clone(), format!("job `{name}`: {error}"), error.hint())
    }

    fn unknown(&self, at: Range<usize>, key: &str, whose: &str, known: &[&str]) -> PlanError {
        let hint = if PERMISSIONS.contains(&key) {
            format!("permissions are given on the command line, each time: --{key}")
        } else {
            let keys = known.join(", ");
            match nearest(key, known.iter().copied()) {
                Some(word) => format!("did you mean `{word}`? The keys are {keys}"),
                None => format!("the keys are {keys}"),
            }
        };
        self.refuse(at, format!("`{key}` is not a key of {whose}"), hint)
    }
}
