//! A request: everything that decides what is measured, as plain data.
//!
//! Switches and plan files are turned into a request, the record of a run keeps its own, and a
//! stored or printed request runs again unchanged. It grants nothing: the user gives permission to
//! overwrite or destroy each time, and it is never part of a request.

use crate::plan::{ENGINE_NAMES, PlanOrder};
use crate::validate::check;
use crate::{
    Arrivals, BlockShare, BlockSizes, CursorKind, Pattern, Rate, SyncPolicy, ThinkTime, Workload,
    WorkloadError, derived_seed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use stripewise_units::{InputError, Nanoseconds, nearest};

/// Version of the request's JSON. Raised when a field changes its meaning or is removed; new
/// optional fields do not raise it.
pub const REQUEST_VERSION: u32 = 1;

/// Default interval length, nanoseconds.
pub const INTERVAL_NS: u64 = 1_000_000_000;

/// Minimum operations of a run on a simulated array where no duration is given: the coefficient of
/// variation of its mean is then about 0.7 %.
pub const SIMULATED_OPERATIONS_MIN: u64 = 30_000;

/// Allowed interval lengths, nanoseconds.
const INTERVALS_NS: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000;
const REPETITIONS: std::ops::RangeInclusive<u32> = 1..=1_000;
const NAME_BYTES_MAX: usize = 64;
/// Jobs times repetitions: more could not be reviewed, and each is held in memory.
const RUNS_MAX: usize = 100_000;
/// Targets of one job; an operation numbers them in 16 bits.
const TARGETS_MAX: usize = 4_096;
/// Keys rejected with their own explanation.
const PERMISSIONS: [&str; 4] = ["destroy", "overwrite", "busy_ok", "keep"];

/// What is to be measured.
///
/// ```
/// use stripewise_workload::{Request, RequestJob, Workload};
///
/// let request = Request {
///     jobs: vec![RequestJob {
///         name: "job".to_owned(),
///         targets: vec!["sim:nvme".to_owned()],
///         workload: Workload::default(),
///     }],
///     ..Request::default()
/// };
/// assert_eq!(Request::from_json(&request.to_json()), Ok(request));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// [`REQUEST_VERSION`].
    pub request_version: u32,
    /// Free text by the user, kept with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// At least one. Concurrent jobs have different names.
    pub jobs: Vec<RequestJob>,
    /// Which of them run concurrently.
    #[serde(default)]
    pub order: PlanOrder,
    /// How a series of its runs is stored.
    #[serde(default)]
    pub part: RequestPart,
    /// Number of repetitions, 1 to 1,000. Each has its own seeds, derived from those of the jobs;
    /// the first uses the jobs' seeds.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// One of [`ENGINE_NAMES`].
    #[serde(default = "auto")]
    pub engine: String,
    /// CPUs that the threads of a run are bound to in turn; empty: the scheduler decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Length of an interval, 1 ms to 10 s.
    #[serde(default = "interval_ns")]
    pub interval_ns: u64,
    /// On simulated arrays, a run continues beyond its duration until this many operations have
    /// completed.
    #[serde(default)]
    pub simulated_operations_min: u64,
    /// Each thread stops once it has issued this many, even if time is left; 1 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_max_per_thread: Option<u64>,
    /// Size of the device's or controller's cache, if the user gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_size_bytes: Option<u64>,
    /// Requirements to check, as typed: `p99<5ms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Id of the stored bench of a simulated array that this bench is held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bench: Option<String>,
    /// Written data carries stamps, and reads are verified against them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// Each load that writes is preceded by a pilot, until no cache absorbs it.
    #[serde(default, skip_serializing_if = "Steady::is_no")]
    pub steady: Steady,
    /// The cache modes were requested explicitly: no fallback is allowed.
    #[serde(default = "yes")]
    pub cache_by_name: bool,
    /// Threads and outstanding operations were given explicitly.
    #[serde(default = "yes")]
    pub load_by_number: bool,
}

/// One workload on one or more targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestJob {
    /// 1 to 64 bytes on one line.
    pub name: String,
    /// As typed on the command line; at least one.
    pub targets: Vec<String>,
    /// Complete: no default is left open.
    pub workload: Workload,
}

/// The part of a series that several runs of one request are stored as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequestPart {
    /// The cells of a grid, or repetitions.
    #[default]
    Grid,
    /// The jobs of a plan.
    Plan,
}

/// How thoroughly a pilot checks for cache absorption before a run of a load that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steady {
    /// No pilot.
    #[default]
    No,
    /// With periods of 5 s: until the rate holds, or has dropped by a third and then holds.
    Quick,
    /// With periods of 30 s.
    Thorough,
}

impl Steady {
    /// No pilot runs.
    pub fn is_no(&self) -> bool {
        *self == Steady::No
    }
}

impl Default for Request {
    /// No job yet; one repetition, one-second intervals, automatic engine.
    fn default() -> Self {
        Request {
            request_version: REQUEST_VERSION,
            label: None,
            jobs: Vec::new(),
            order: PlanOrder::default(),
            part: RequestPart::default(),
            repetitions: once(),
            engine: auto(),
            cpus: Vec::new(),
            interval_ns: interval_ns(),
            simulated_operations_min: 0,
            operations_max_per_thread: None,
            cache_size_bytes: None,
            requirements: Vec::new(),
            expected_bench: None,
            verify: false,
            steady: Steady::No,
            cache_by_name: yes(),
            load_by_number: yes(),
        }
    }
}

const fn once() -> u32 {
    1
}

fn auto() -> String {
    "auto".to_owned()
}

const fn interval_ns() -> u64 {
    INTERVAL_NS
}

const fn yes() -> bool {
    true
}

impl Request {
    /// As multi-line JSON, without a final line break.
    pub fn to_json(&self) -> String {
        // Plain fields with text as keys: always representable in JSON.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Parses a request from JSON, printed by [`Request::to_json`] or written by hand. Strict: an
    /// unknown key is an error.
    ///
    /// # Errors
    /// If the text is not JSON, a field is missing or unknown, the version differs, or a rule of
    /// [`Request::check`] is broken.
    pub fn from_json(text: &str) -> Result<Request, InputError> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            InputError::new(
                format!("this is not JSON: {error}"),
                "print a request with `stripewise run TARGET ... --show-request`",
            )
        })?;
        if let Some(version) = value.get("request_version").and_then(Value::as_u64)
            && version != u64::from(REQUEST_VERSION)
        {
            return Err(InputError::new(
                format!(
                    "the request has version {version}, and this program reads {REQUEST_VERSION}"
                ),
                "use the version of Stripewise that printed it, or print it again",
            ));
        }
        let request: Request = serde_json::from_str(text).map_err(|error| {
            InputError::new(
                format!("this is not a request: {error}"),
                "compare it with one that `stripewise run TARGET ... --show-request` prints",
            )
        })?;
        refuse_unknown(&value)?;
        refuse_keys_of_other_patterns(&value, &request)?;
        request.check()?;
        Ok(request)
    }

    /// Checks the rules of the request alone; targets add their own.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InputError> {
        check_interval(self.interval_ns)
            .map_err(|error| InputError::new(error.to_string(), error.hint()))?;
        if !REPETITIONS.contains(&self.repetitions) {
            return Err(InputError::new(
                format!("repetitions {} is out of range", self.repetitions),
                "give 1 to 1000",
            ));
        }
        if !ENGINE_NAMES.contains(&self.engine.as_str()) {
            return Err(InputError::new(
                format!("engine `{}` is unknown", self.engine),
                format!("give one of {}", ENGINE_NAMES.join(", ")),
            ));
        }
        if self.operations_max_per_thread == Some(0) {
            return Err(InputError::new(
                "operations_max_per_thread 0 would measure nothing",
                "give at least 1, or leave it out",
            ));
        }
        if self.jobs.is_empty() {
            let hint = "give at least one job with name, targets and workload";
            return Err(InputError::new("the request has no job", hint));
        }
        let runs = self.jobs.len().saturating_mul(self.repetitions as usize);
        if runs > RUNS_MAX {
            return Err(InputError::new(
                format!("the request means {runs} runs"),
                format!("give at most {RUNS_MAX} jobs and repetitions in all"),
            ));
        }
        self.jobs.iter().try_for_each(RequestJob::check)?;
        match self.order {
            PlanOrder::Alone => Ok(()),
            PlanOrder::Together | PlanOrder::Both => self.check_jobs_at_once(),
        }
    }

    /// Concurrent jobs share their times and have distinct names.
    fn check_jobs_at_once(&self) -> Result<(), InputError> {
        let mut names = BTreeSet::new();
        let Some(first) = self.jobs.first() else {
            return Ok(());
        };
        for job in &self.jobs {
            let times = |job: &RequestJob| (job.workload.duration_ns, job.workload.ramp_ns);
            if times(job) != times(first) {
                return Err(InputError::new(
                    format!(
                        "jobs that run together have one duration and ramp, but `{}` and `{}` differ",
                        first.name, job.name
                    ),
                    "give them the same, or order them \"alone\"",
                ));
            }
            if !names.insert(&job.name) {
                return Err(InputError::new(
                    format!("two jobs that run together are named `{}`", job.name),
                    "give each job a different name",
                ));
            }
        }
        Ok(())
    }

    /// Its runs, in order; the jobs of one run are concurrent. Each entry is the index of a job,
    /// and its workload with the seed of that repetition.
    pub fn runs(&self) -> Vec<Vec<(usize, Workload)>> {
        let mut runs = Vec::new();
        for repetition in 0..u64::from(self.repetitions) {
            let jobs = self.jobs.iter().map(|job| Workload {
                seed: derived_seed(job.workload.seed, repetition),
                ..job.workload.clone()
            });
            let jobs: Vec<(usize, Workload)> = jobs.enumerate().collect();
            if self.order != PlanOrder::Together {
                runs.extend(jobs.iter().map(|job| vec![job.clone()]));
            }
            if self.order != PlanOrder::Alone {
                runs.push(jobs);
            }
        }
        runs
    }

    /// The same request reduced to one run of these jobs, as kept in that run's record.
    pub fn of_run(&self, jobs: Vec<RequestJob>) -> Request {
        Request {
            request_version: self.request_version,
            label: self.label.clone(),
            jobs,
            order: PlanOrder::Together,
            part: self.part,
            repetitions: once(),
            engine: self.engine.clone(),
            cpus: self.cpus.clone(),
            interval_ns: self.interval_ns,
            simulated_operations_min: self.simulated_operations_min,
            operations_max_per_thread: self.operations_max_per_thread,
            cache_size_bytes: self.cache_size_bytes,
            requirements: self.requirements.clone(),
            expected_bench: self.expected_bench.clone(),
            verify: self.verify,
            steady: self.steady,
            cache_by_name: self.cache_by_name,
            load_by_number: self.load_by_number,
        }
    }
}

impl RequestJob {
    fn check(&self) -> Result<(), InputError> {
        let name = &self.name;
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(InputError::new(
                format!("`{}` is not a valid name for a job", name.escape_debug()),
                "give a name of 1 to 64 bytes on one line",
            ));
        }
        if self.targets.is_empty() || self.targets.iter().any(String::is_empty) {
            return Err(InputError::new(
                format!("job `{name}` has no target"),
                "name a file, directory or device, or sim:NAME",
            ));
        }
        if self.targets.len() > TARGETS_MAX {
            return Err(InputError::new(
                format!("job `{name}` has {} targets", self.targets.len()),
                format!("give at most {TARGETS_MAX}, or several jobs"),
            ));
        }
        check(&self.workload)
            .map_err(|error| InputError::new(format!("job `{name}`: {error}"), error.hint()))
    }
}

/// Rejects an interval too short or too long to be useful.
///
/// # Errors
/// If it is below 1 ms or above 10 s.
pub fn check_interval(interval_ns: u64) -> Result<(), WorkloadError> {
    if INTERVALS_NS.contains(&interval_ns) {
        return Ok(());
    }
    Err(WorkloadError::new(
        "interval",
        Nanoseconds(interval_ns),
        "is out of range",
        "give 1ms to 10s; 1s is the default",
    ))
}

/// Rejects unknown keys: a typing error would silently measure something else.
fn refuse_unknown(value: &Value) -> Result<(), InputError> {
    let mut known = BTreeSet::new();
    for sample in samples() {
        let sample = serde_json::to_value(sample).unwrap_or_default();
        visit(&sample, "", &mut |path| {
            known.insert(path.to_owned());
        });
    }
    let mut unknown = None;
    visit(value, "", &mut |path| {
        if !known.contains(path) {
            unknown.get_or_insert(path.to_owned());
        }
    });
    let Some(path) = unknown else {
        return Ok(());
    };
    let key = path.rsplit('.').next().unwrap_or(&path);
    let hint = if PERMISSIONS.contains(&key) {
        let switch = key.replace('_', "-");
        format!("permissions are given on the command line, each time: --{switch}")
    } else {
        let keys = known.iter().filter_map(|path| path.rsplit('.').next());
        match nearest(key, keys) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "compare it with what `stripewise run TARGET ... --show-request` prints".into(),
        }
    };
    Err(InputError::new(
        format!("`{key}` is not a field of a request"),
        hint,
    ))
}

/// Rejects keys of another pattern: a stride with random positions would be silently ignored.
fn refuse_keys_of_other_patterns(value: &Value, request: &Request) -> Result<(), InputError> {
    let given = value.get("jobs").and_then(Value::as_array);
    for (given, job) in given.into_iter().flatten().zip(&request.jobs) {
        let Some(Value::Object(given)) = given.get("workload") else {
            continue;
        };
        let own = serde_json::to_value(job.workload.pattern).unwrap_or_default();
        for key in ["distribution", "cursor", "stride_bytes"] {
            if given.contains_key(key) && own.get(key).is_none() {
                let pattern = own.get("pattern").and_then(Value::as_str);
                return Err(InputError::new(
                    format!(
                        "job `{}`: `{key}` does not belong to the pattern `{}`",
                        job.name,
                        pattern.unwrap_or_default()
                    ),
                    format!("leave `{key}` out, or give the pattern that has it"),
                ));
            }
        }
    }
    Ok(())
}

/// The path of every key: `jobs.workload.seed`.
fn visit(value: &Value, at: &str, see: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = match at {
                    "" => key.clone(),
                    at => format!("{at}.{key}"),
                };
                see(&path);
                visit(inner, &path, see);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, at, see)),
        _ => {}
    }
}

/// A value for the field that is omitted when empty.
fn one_size() -> BlockSizes {
    BlockSizes::new(vec![BlockShare {
        size_bytes: 512,
        percent: 100,
    }])
    .unwrap_or_default()
}

/// Requests that together cover every field.
fn samples() -> Vec<Request> {
    let cursor = CursorKind::Own;
    let patterns = [
        Workload::default().pattern,
        Pattern::Sequential { cursor },
        Pattern::Stride {
            stride_bytes: 1,
            cursor,
        },
    ];
    let job = |pattern| RequestJob {
        name: String::new(),
        targets: vec![String::new()],
        workload: Workload {
            pattern,
            discard_percent: 1,
            in_turn: true,
            block_sizes: one_size(),
            sync: Some(SyncPolicy::fdatasync(1)),
            atomic: true,
            dsync: true,
            poll: true,
            think_time: Some(ThinkTime {
                pause_ns: 1,
                every: 1,
            }),
            rate: Some(Rate {
                iops: 1.0,
                arrivals: Arrivals::Fixed,
            }),
            ..Workload::default()
        },
    };
    let request = |pattern| Request {
        label: Some(String::new()),
        jobs: vec![job(pattern)],
        cpus: vec![0],
        operations_max_per_thread: Some(1),
        cache_size_bytes: Some(0),
        requirements: vec![String::new()],
        expected_bench: Some(String::new()),
        verify: true,
        steady: Steady::Thorough,
        ..Request::default()
    };
    patterns.into_iter().map(request).collect()
}
