//! Plan files: several named jobs, each with its own targets (`run --plan FILE`).
//!
//! TOML. Every key has the name of a switch of `run`, and its value is the text that the switch
//! takes; a bare number or `true` is accepted where it means the same. Strict: an unknown key is an
//! error that names the line, the key and the nearest known one. Plans cannot grant permission to
//! destroy or overwrite; it is given on the command line, each time.
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
//! write = true                      # or read = true, discard = true, or read-percent = 70
//! sequential = true                 # or random = true, or stride = "64K"
//! block = "8K"
//! cache = "direct-sync"
//! atomic = true                     # blocks that a loss of power cannot tear
//! poll = true                       # completions are polled for
//!
//! [[job]]
//! name = "data"
//! target = ["/data/d1", "/data/d2"] # several: one job over all of them
//! read-percent = 70
//! discard-percent = 10              # of all operations; the rest, 20 %, are written
//! block = "8K"
//! threads = 4
//! outstanding = 16                  # of each thread on each target
//! distribution = "hot:10/90"        # or "uniform", "covering", "zipf:0.99" or "one-pass:15"
//! rate = 5000                       # open loop: operations a second in all
//! arrivals = "poisson"              # or "fixed"
//! size = "64G"
//! base-offset = "31.5K"
//! seed = 7
//!
//! [[job]]
//! name = "backup"
//! target = ["/backup/1", "/backup/2"]
//! write = true
//! sequential = true
//! cursor = "shared"                 # or "own"
//! block = "1M"
//! threads = 2
//! sync = "fdatasync:64"             # after every 64 writes of a thread
//! dsync = true                      # each write is durable when it completes
//! in-turn = true                    # a thread's operations go round the targets
//! think-time = "10ms:8"             # a thread pauses after every 8 operations
//! compressible = 50
//! dedupable = 10
//! engine = "uring"                  # or auto, nvme, threads, null
//! cpus = "0-3,8"
//! ```

use crate::plan_text::{PlanError, PlanOptions, PlanReader, PlanValue};
use crate::{
    Request, RequestJob, RequestPart, SIMULATED_OPERATIONS_MIN, Workload, WorkloadOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use stripewise_units::{CpuList, InputError, nearest};
use toml::de::DeTable;

/// Most jobs in a plan.
const JOBS_MAX: usize = 1_024;

/// Top-level keys.
const PLAN_KEYS: [&str; 4] = ["label", "run", "defaults", "job"];
/// Keys of a job in addition to its workload options.
const JOB_KEYS: [&str; 4] = ["name", "target", "engine", "cpus"];
/// Names of selectable engines; a test compares them with the engine crate.
pub const ENGINE_NAMES: [&str; 6] = ["auto", "uring", "nvme", "iocp", "threads", "null"];

/// Defaults that a job takes only where they apply: whether it took them, and what it needs for it.
type Dependent = (&'static str, fn(&PlanJob) -> bool, &'static str);
const DEPENDENT: [Dependent; 7] = [
    ("sync", |job| job.options.sync.is_some(), "writes"),
    ("atomic", |job| job.options.atomic, "writes"),
    ("dsync", |job| job.options.dsync, "writes"),
    ("arrivals", |job| job.options.arrivals.is_some(), "a rate"),
    (
        "distribution",
        |job| job.options.distribution.is_some(),
        "random positions",
    ),
    (
        "cursor",
        |job| job.options.cursor.is_some(),
        "sequential or stride",
    ),
    (
        "in-turn",
        |job| job.options.in_turn && several(&job.targets),
        "several targets, and no rate",
    ),
];

/// Whether these are several targets, or may be on hosts that replace `{target}`.
fn several(targets: &[String]) -> bool {
    targets.len() > 1 || targets.iter().any(|target| target.contains('{'))
}

/// Whether jobs run concurrently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanOrder {
    /// All concurrently.
    #[default]
    Together,
    /// One after the other.
    Alone,
    /// One after the other, then all at once.
    Both,
}

/// Several named jobs with their order.
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
    /// Free text by the user, kept with the run.
    pub label: Option<String>,
    /// Whether jobs run concurrently.
    pub order: PlanOrder,
    /// In the order of the file; names are unique; at least one.
    pub jobs: Vec<PlanJob>,
}

/// One job of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanJob {
    /// Unique in the plan.
    pub name: String,
    /// As typed on the command line; at least one.
    pub targets: Vec<String>,
    /// Its load, `check`ed, but not against its targets. A job without a seed gets the plan's seed
    /// plus its number from 0, so that jobs do not move in step.
    pub workload: Workload,
    /// The engine to use: `auto`, `uring`, `nvme`, `threads`, `null`.
    pub engine: Option<String>,
    /// CPUs to run on.
    pub cpus: Option<CpuList>,
    /// The options of the job and of the plan's defaults, before any other values were filled in:
    /// shows what was left open.
    pub options: WorkloadOptions,
}

impl Plan {
    /// The request for this plan, with the engine and CPUs given on the command line.
    ///
    /// # Errors
    /// If none were given and the jobs specify different ones: concurrent jobs share one engine.
    pub fn request(
        &self,
        engine: Option<String>,
        cpus: Option<Vec<u32>>,
    ) -> Result<Request, InputError> {
        let jobs = || self.jobs.iter();
        let is_given = |given: fn(&WorkloadOptions) -> bool| jobs().any(|job| given(&job.options));
        Ok(Request {
            label: self.label.clone(),
            jobs: jobs().map(PlanJob::request).collect(),
            order: self.order,
            part: RequestPart::Plan,
            engine: engine.map_or_else(|| self.engine(), Ok)?,
            cpus: cpus.map_or_else(|| self.cpus(), Ok)?,
            simulated_operations_min: match is_given(|options| options.duration.is_some()) {
                true => 0,
                false => SIMULATED_OPERATIONS_MIN,
            },
            cache_by_name: is_given(|options| options.cache.is_some()),
            load_by_number: is_given(WorkloadOptions::specifies_load),
            ..Request::default()
        })
    }

    fn engine(&self) -> Result<String, InputError> {
        let named = self.jobs.iter().filter_map(|job| job.engine.as_deref());
        let named: BTreeSet<&str> = named.collect();
        let several = || named.iter().copied().collect::<Vec<_>>().join(", ");
        match named.first() {
            None => Ok(Request::default().engine),
            Some(one) if named.len() == 1 => Ok((*one).to_owned()),
            Some(_) => Err(InputError::new(
                format!(
                    "the jobs of the plan ask for different engines: {}",
                    several()
                ),
                "jobs that run at once run on one engine; give <--engine>, or run them from two plans",
            )),
        }
    }

    /// CPUs are assigned to all threads of a run in turn.
    fn cpus(&self) -> Result<Vec<u32>, InputError> {
        let lists = self.jobs.iter().filter_map(|job| job.cpus.as_ref());
        let mut lists: Vec<&[u32]> = lists.map(CpuList::cpus).collect();
        lists.dedup();
        match lists.as_slice() {
            [] => Ok(Vec::new()),
            [one] => Ok(one.to_vec()),
            _ => Err(InputError::new(
                "the jobs of the plan ask for different processors",
                "give one list for all of them, in [defaults] or with <--cpus>",
            )),
        }
    }
}

impl PlanJob {
    fn request(&self) -> RequestJob {
        RequestJob {
            name: self.name.clone(),
            targets: self.targets.clone(),
            workload: self.workload.clone(),
        }
    }
}

impl std::str::FromStr for Plan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let reader = Reader(PlanReader::new(text));
        let hint = "plans are TOML: key = \"value\", [defaults], [[job]]";
        reader.plan(reader.0.document(hint)?.get_ref())
    }
}

/// The options of one table.
#[derive(Default)]
struct Section {
    options: PlanOptions,
    name: Option<(String, Range<usize>)>,
    targets: Option<Vec<String>>,
    engine: Option<String>,
    cpus: Option<CpuList>,
}

/// Positions of the values that must agree between jobs.
struct Places {
    table: Range<usize>,
    name: Option<Range<usize>>,
    duration: Option<Range<usize>>,
    ramp: Option<Range<usize>>,
}

/// Reads the tables of a plan.
struct Reader<'a>(PlanReader<'a>);

impl<'a> Reader<'a> {
    fn plan(&self, document: &DeTable<'a>) -> Result<Plan, PlanError> {
        let mut label = None;
        let mut order = PlanOrder::Together;
        let mut defaults = Section::default();
        let mut tables = Vec::new();
        for (key, value) in document {
            match key.get_ref().as_ref() {
                "label" => label = Some(self.0.string("label", value)?),
                "run" => order = self.order(value)?,
                "defaults" => defaults = self.section(value, true)?,
                "job" => tables = self.jobs(value)?,
                unknown => {
                    return Err(self.0.unknown(key.span(), unknown, "a plan", &PLAN_KEYS));
                }
            }
        }
        if tables.is_empty() {
            let hint = "add a table [[job]] with name and target";
            return Err(self.0.refuse(0..0, "the plan has no job", hint));
        }
        let mut jobs: Vec<PlanJob> = Vec::with_capacity(tables.len());
        for (number, (at, section)) in tables.into_iter().enumerate() {
            let places = Places {
                name: section.name.as_ref().map(|(_, at)| at.clone()),
                duration: section.options.place("duration"),
                ramp: section.options.place("ramp"),
                table: at,
            };
            let job = self.job(number as u64, &places.table, section, &defaults)?;
            if jobs.iter().any(|other| other.name == job.name) {
                let problem = format!("there are two jobs named `{}`", job.name);
                let at = places.name.unwrap_or(places.table);
                let hint = "give each job a different name";
                return Err(self.0.refuse(at, problem, hint));
            }
            self.check_times(order, places, &job, jobs.first())?;
            jobs.push(job);
        }
        self.refuse_unused_defaults(&defaults.options, &jobs)?;
        Ok(Plan { label, order, jobs })
    }

    fn order(&self, value: &PlanValue<'a>) -> Result<PlanOrder, PlanError> {
        match self.0.string("run", value)?.as_str() {
            "together" => Ok(PlanOrder::Together),
            "alone" => Ok(PlanOrder::Alone),
            "both" => Ok(PlanOrder::Both),
            other => {
                let hint = "together (all at once), alone (one after the other) or both";
                Err(self
                    .0
                    .refuse(value.span(), format!("run = `{other}` is unknown"), hint))
            }
        }
    }

    fn jobs(&self, value: &PlanValue<'a>) -> Result<Vec<(Range<usize>, Section)>, PlanError> {
        let tables = self.0.tables("job", value)?;
        if tables.len() > JOBS_MAX {
            let problem = format!(
                "the plan has {} jobs; the limit is {JOBS_MAX}",
                tables.len()
            );
            return Err(self
                .0
                .refuse(value.span(), problem, "use threads for more of the same"));
        }
        tables
            .iter()
            .map(|table| Ok((table.span(), self.section(table, false)?)))
            .collect()
    }

    /// A job's table, or that of the defaults.
    fn section(&self, table: &PlanValue<'a>, defaults: bool) -> Result<Section, PlanError> {
        let entries = self.0.table(table, "[defaults] or [[job]]")?;
        let mut section = Section::default();
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            match name {
                "name" if !defaults => {
                    section.name = Some((self.0.string(name, value)?, value.span()));
                }
                "target" if !defaults => section.targets = Some(self.targets(value)?),
                "engine" => section.engine = Some(self.engine(value)?),
                "cpus" => section.cpus = Some(self.0.parsed(name, value)?),
                _ if self.0.option(&mut section.options, name, value)? => {}
                _ => {
                    let known = &JOB_KEYS[if defaults { 2 } else { 0 }..];
                    let known = [known, &WorkloadOptions::NAMES].concat();
                    let whose = if defaults { "the defaults" } else { "a job" };
                    return Err(self.0.unknown(key.span(), name, whose, &known));
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
            self.0
                .refuse(at.clone(), format!("a job has no {key}"), hint)
        };
        let (name, name_at) = section.name.ok_or_else(|| lacks("name"))?;
        if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
            let hint = "a name has 1 to 64 bytes on one line";
            return Err(self.0.refuse(
                name_at,
                format!("`{name}` is not a valid name for a job"),
                hint,
            ));
        }
        let targets = section.targets.ok_or_else(|| lacks("target"))?;
        let own = section.options;
        if let Some(place) = own.place("in-turn")
            && !several(&targets)
        {
            let problem = format!("job `{name}`: in-turn goes round several targets, and has one");
            let hint = "leave it out, or give target = [\"...\", \"...\"]";
            return Err(self.0.refuse(place, problem, hint));
        }
        let own_seed = own.options.seed.is_some();
        let options = own.options.clone().or(&defaults.options.options);
        let mut workload = options
            .clone()
            .with_room_for_arrivals()
            .build(&Workload::default())
            .map_err(|error| {
                let whose = format!("job `{name}`");
                let from = [&own, &defaults.options];
                self.0.bad_workload(from, at, &whose, &error)
            })?;
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

    /// A default that none of the jobs can take is a mistake.
    fn refuse_unused_defaults(
        &self,
        defaults: &PlanOptions,
        jobs: &[PlanJob],
    ) -> Result<(), PlanError> {
        for (name, is_taken, needs) in DEPENDENT {
            if let Some(place) = defaults.place(name)
                && !jobs.iter().any(is_taken)
            {
                let problem = format!("`{name}` applies to none of the jobs: it needs {needs}");
                return Err(self.0.refuse(place, problem, "leave it out"));
            }
        }
        Ok(())
    }

    /// Concurrent jobs share their times.
    fn check_times(
        &self,
        order: PlanOrder,
        places: Places,
        job: &PlanJob,
        first: Option<&PlanJob>,
    ) -> Result<(), PlanError> {
        let times = |job: &PlanJob| (job.workload.duration_ns, job.workload.ramp_ns);
        match first {
            Some(first) if order != PlanOrder::Alone && times(first) != times(job) => {
                let own = if times(first).0 != times(job).0 {
                    places.duration.or(places.ramp)
                } else {
                    places.ramp.or(places.duration)
                };
                let problem = format!(
                    "jobs that run together have one duration and ramp, but `{}` and `{}` differ",
                    first.name, job.name
                );
                let hint = "put duration and ramp into [defaults], or say run = \"alone\"";
                Err(self.0.refuse(own.unwrap_or(places.table), problem, hint))
            }
            _ => Ok(()),
        }
    }

    fn targets(&self, value: &PlanValue<'a>) -> Result<Vec<String>, PlanError> {
        let targets = match value.get_ref().as_array() {
            None => vec![self.0.string("target", value)?],
            Some(items) => {
                let strings = items.iter().map(|item| self.0.string("target", item));
                strings.collect::<Result<_, _>>()?
            }
        };
        if targets.is_empty() || targets.iter().any(String::is_empty) {
            let hint = "a file, directory or device, or a list of them";
            return Err(self.0.refuse(value.span(), "`target` is empty", hint));
        }
        Ok(targets)
    }

    fn engine(&self, value: &PlanValue<'a>) -> Result<String, PlanError> {
        let engine = self.0.string("engine", value)?;
        if ENGINE_NAMES.contains(&engine.as_str()) {
            return Ok(engine);
        }
        let hint = match nearest(&engine, ENGINE_NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", ENGINE_NAMES.join(", ")),
        };
        Err(self.0.refuse(
            value.span(),
            format!("engine = `{engine}` is unknown"),
            hint,
        ))
    }
}
