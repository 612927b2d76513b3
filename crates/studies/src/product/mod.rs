//! Requirements of a product on a disk: its load, and thresholds with their sources. Data, one
//! TOML file each; users' own files have the same format.
//!
//! ```toml
//! name = "etcd"
//! about = "What it is, in a line"
//! notes = ["What is assumed of its load."]
//!
//! [[file]]                     # in a directory each is a file of its own
//! name = "wal"
//! size = "1G"
//! state = "preallocated"       # or "written" (the default), "growing"
//!
//! [[job]]
//! name = "wal"
//! file = "wal"
//! phase = "commit"             # jobs of one phase run at once; the default is "load"
//! options = { write = true, sequential = true, block = "2300", cache = "buffered", sync = "fdatasync" }
//!
//! [[requirement]]              # without a limit it is measured and not judged
//! name = "wal-fsync-p99"
//! job = "wal"
//! operations = "commits"         # or "transfers" (the default): reads and writes
//! metric = "p99"               # p50 p90 p95 p99 p999 mean max iops commits-per-s mib-per-s
//! below = "10ms"               # or at-most; of rates at-least
//! miss = "What a miss means, in the product's words."
//! source = "etcd FAQ"
//! url = "https://..."
//! date = "2026-11-26"
//! quotation = "..."
//! confidence = "vendor-documentation"
//!
//! [commit]                     # ways of committing that are compared after the load
//! files = ["wal"]              # each in another state
//! block = "8K"                 # of one commit: 8K is the default
//! committers = [1]             # at once, each for itself; [1] is the default
//! groups = [8]                 # of which one writes and syncs for all
//! page = "8K"                  # a page of the database, and what guards it from being torn
//! guard = "full_page_writes"
//!
//! [commit.methods]             # fsync fdatasync dsync rwf-dsync direct-fdatasync direct-dsync
//! fdatasync = "wal_sync_method=fdatasync"
//! ```

mod bundled;
mod commit;
mod limit;
#[cfg(test)]
mod tests;

pub use bundled::{BUNDLED, bundled};
pub use commit::ProductCommit;
pub use limit::{Limit, Metric, Relation};

use crate::FileState;
use serde::{Deserialize, Serialize};
use stripewise_results::CountedOperations;
use stripewise_units::{ByteSize, InputError, Typeset, field_hint, typeset_quote_at};
use stripewise_workload::{Workload, WorkloadOptions, check};

/// Maximum number of jobs, and of requirements.
const ENTRIES_MAX: usize = 64;

/// Options of a workload that have no effect in a product: why, and what to do.
const UNUSED: [(&str, &str, &str); 4] = [
    ("duration", "the qualification decides how long", LENGTH),
    ("ramp", "the qualification decides how long", LENGTH),
    (
        "seed",
        "each run has its own",
        "leave it out; <--seed> sets those of all runs",
    ),
    ("in-turn", "a job has one file", "leave it out"),
];
const LENGTH: &str = "leave it out; <--quick> and <--sign> change how long it takes";

/// Where a threshold comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The vendor's documentation.
    VendorDocumentation,
    /// A program of the vendor judges by it.
    VendorTool,
    /// An opinion of users or consultants.
    Opinion,
    /// The reader's own file.
    Own,
}

impl Confidence {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Confidence::VendorDocumentation => "vendor's documentation",
            Confidence::VendorTool => "vendor's tool",
            Confidence::Opinion => "opinion",
            Confidence::Own => "own",
        }
    }
}

/// A file that the load uses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductFile {
    /// Unique.
    pub name: String,
    #[serde(deserialize_with = "size")]
    size: u64,
    /// Its content before a run.
    #[serde(default)]
    pub state: FileState,
}

impl ProductFile {
    /// How large it is.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }
}

fn size<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = number_as_text(from)?.unwrap_or_default();
    let size: Result<ByteSize, _> = text.parse();
    size.map(ByteSize::bytes).map_err(serde::de::Error::custom)
}

/// A job as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobText {
    name: String,
    file: String,
    #[serde(default = "only_phase")]
    phase: String,
    #[serde(default)]
    options: toml::Table,
}

fn only_phase() -> String {
    "load".to_owned()
}

/// One load.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductJob {
    /// Unique.
    pub name: String,
    /// Index of its file.
    pub file: usize,
    /// Jobs of one phase run concurrently.
    pub phase: String,
    /// Its workload on the file.
    pub workload: Workload,
    /// An option that was given to it and has no effect.
    unused: Option<&'static (&'static str, &'static str, &'static str)>,
}

/// Something that is measured, and usually required.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductRequirement {
    /// Unique.
    pub name: String,
    /// Index of its job.
    pub job: usize,
    /// Which of its operations.
    pub operations: CountedOperations,
    /// The metric of those.
    pub metric: Metric,
    /// `None` if no number is published.
    pub limit: Option<Limit>,
    /// The limit applies per processor.
    pub per_processor: bool,
    /// What a miss means for the product.
    pub miss: String,
    /// The source of the number.
    pub source: Source,
}

/// A source of a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Short name: `etcd FAQ`.
    pub name: String,
    /// Its URL; empty if a user's own file gives none.
    pub url: String,
    /// Its date, or the day on which it was accessed.
    pub date: String,
    /// The quoted text.
    pub quotation: String,
    /// `None` for the user's own figure.
    pub confidence: Option<Confidence>,
}

/// A rate and a number of bytes are numbers, and may be written as such.
fn number_as_text<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrNumber {
        Text(String),
        Whole(i64),
        Real(f64),
    }
    Ok(Some(match TextOrNumber::deserialize(value)? {
        TextOrNumber::Text(text) => text,
        TextOrNumber::Whole(number) => number.to_string(),
        TextOrNumber::Real(number) => number.to_string(),
    }))
}

/// A requirement as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RequirementText {
    name: String,
    job: String,
    #[serde(default)]
    operations: CountedOperations,
    metric: Metric,
    #[serde(default)]
    below: Option<String>,
    #[serde(default)]
    at_most: Option<String>,
    #[serde(default, deserialize_with = "number_as_text")]
    at_least: Option<String>,
    #[serde(default)]
    per_processor: bool,
    #[serde(default)]
    miss: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    quotation: String,
    #[serde(default)]
    confidence: Option<Confidence>,
}

/// A source that disagrees, and is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherSource {
    /// Its requirement.
    pub says: String,
    /// In short.
    pub source: String,
    /// Where.
    pub url: String,
    /// Its date.
    pub date: String,
    /// The quoted text.
    pub quotation: String,
    /// How much it weighs.
    #[serde(default)]
    pub confidence: Option<Confidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProductText {
    name: String,
    about: String,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    file: Vec<ProductFile>,
    #[serde(default)]
    job: Vec<JobText>,
    #[serde(default)]
    requirement: Vec<RequirementText>,
    #[serde(default)]
    other: Vec<OtherSource>,
    commit: Option<commit::CommitText>,
}

/// A product.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The name by which users select it.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// What is assumed of its load, and other notes.
    pub notes: Vec<String>,
    /// Files of its load.
    pub files: Vec<ProductFile>,
    /// Its load.
    pub jobs: Vec<ProductJob>,
    /// What is measured of it.
    pub requirements: Vec<ProductRequirement>,
    /// Sources that contradict the applied ones.
    pub others: Vec<OtherSource>,
    /// Its ways of committing, where it has any to compare.
    pub commit: Option<ProductCommit>,
}

impl Product {
    /// Refuses requirements of commits on jobs that have none. Not part of reading a product: a
    /// qualification that is stored with one was measured by an earlier version, and is shown.
    ///
    /// # Errors
    /// If a job has no commits.
    pub fn refuse_missing_commits(&self) -> Result<(), InputError> {
        for one in self.of_commits() {
            let job = &self.jobs[one.job];
            has_commits(job, one.metric).map_err(|(problem, hint)| {
                let what = format!("requirement `{}`: job `{}` {problem}", one.name, job.name);
                InputError::new(what, hint)
            })?;
        }
        Ok(())
    }

    /// Refuses what has no effect: options that a qualification sets itself, files that nothing
    /// uses, and numbers per processor that are no required rate. Not part of reading a product
    /// either.
    ///
    /// # Errors
    /// The first of them.
    pub fn refuse_unused(&self) -> Result<(), InputError> {
        for job in &self.jobs {
            if let Some((option, why, hint)) = job.unused {
                let what = format!("job `{}`: {option} has no effect: {why}", job.name);
                return Err(InputError::new(what, *hint));
            }
        }
        let of_jobs = self.jobs.iter().map(|job| job.file);
        let of_commits = self.commit.iter().flat_map(|commit| &commit.files);
        let used: Vec<usize> = of_jobs.chain(of_commits.copied()).collect();
        for (index, file) in self.files.iter().enumerate() {
            if !used.contains(&index) {
                return Err(InputError::new(
                    format!("file `{}`: neither a job nor [commit] uses it", file.name),
                    "name it as the file of a job, or leave it out",
                ));
            }
        }
        for one in self.requirements.iter().filter(|one| one.per_processor) {
            if one.metric.is_latency() || one.limit.is_none() {
                return Err(InputError::new(
                    format!(
                        "requirement `{}`: per-processor applies to a required rate",
                        one.name
                    ),
                    "leave it out, or give at-least of a rate",
                ));
            }
        }
        Ok(())
    }

    /// Requirements of commits.
    pub(crate) fn of_commits(&self) -> impl Iterator<Item = &ProductRequirement> {
        let all = self.requirements.iter();
        all.filter(|one| one.operations == CountedOperations::Commits)
    }

    /// The phases, in order.
    pub fn phases(&self) -> Vec<&str> {
        let mut phases: Vec<&str> = Vec::new();
        for job in &self.jobs {
            if !phases.contains(&job.phase.as_str()) {
                phases.push(&job.phase);
            }
        }
        phases
    }

    /// Whether some requirement has a limit.
    pub fn is_judged(&self) -> bool {
        self.requirements.iter().any(|one| one.limit.is_some())
    }
}

impl std::str::FromStr for Product {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Product, InputError> {
        let text: ProductText = toml::from_str(text).map_err(|error| {
            let general =
                "a product has name, about, [[file]], [[job]] and [[requirement]]: see QUALIFY.md";
            let at = error.span().map_or(0, |span| span.start);
            let hint = typeset_quote_at(text, at)
                .map_or_else(|| field_hint(error.message(), general), Typeset::hint);
            InputError::new(error.to_string().trim_end().to_owned(), hint)
        })?;
        if text.name.is_empty() || text.job.is_empty() || text.requirement.is_empty() {
            return Err(InputError::new(
                "a product needs a name, a job and a requirement",
                "add [[job]] with a load, and [[requirement]] with what is measured of it",
            ));
        }
        if text
            .job
            .len()
            .max(text.requirement.len())
            .max(text.file.len())
            > ENTRIES_MAX
        {
            return Err(InputError::new(
                format!("a product has at most {ENTRIES_MAX} files, jobs and requirements"),
                "write several files",
            ));
        }
        let jobs = text.job.iter().map(|job| read_job(job, &text.file));
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        unique("job", jobs.iter().map(|job| job.name.as_str()))?;
        unique("file", text.file.iter().map(|file| file.name.as_str()))?;
        unique(
            "requirement",
            text.requirement.iter().map(|one| one.name.as_str()),
        )?;
        let requirements = text.requirement.iter().map(|one| requirement(one, &jobs));
        let requirements = requirements.collect::<Result<Vec<_>, _>>()?;
        same_operations(&requirements, &jobs)?;
        let commit = text.commit.map(|commit| commit.read(&text.file));
        Ok(Product {
            commit: commit.transpose()?,
            name: text.name,
            about: text.about,
            notes: text.notes,
            files: text.file,
            jobs,
            requirements,
            others: text.other,
        })
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), InputError> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if name.is_empty() || name.chars().any(char::is_control) || seen.contains(&name) {
            return Err(InputError::new(
                format!("{what} `{name}`: names are not empty, on one line, and different"),
                format!("give each {what} a name of its own"),
            ));
        }
        seen.push(name);
    }
    Ok(())
}

fn index_of<'a>(
    what: &str,
    of: &str,
    name: &str,
    mut known: impl Iterator<Item = &'a str>,
) -> Result<usize, InputError> {
    known.position(|one| one == name).ok_or_else(|| {
        InputError::new(
            format!("{of}: there is no {what} `{name}`"),
            format!("name one of the [[{what}]] tables"),
        )
    })
}

fn read_job(job: &JobText, files: &[ProductFile]) -> Result<ProductJob, InputError> {
    let of = format!("job `{}`", job.name);
    let file = index_of(
        "file",
        &of,
        &job.file,
        files.iter().map(|file| file.name.as_str()),
    )?;
    let mut options = WorkloadOptions::default();
    for (key, value) in &job.options {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let set = options.set(key, &text);
        set.map_err(|error| InputError::new(format!("{of}: {key}: {error}"), error.hint()))?;
    }
    let built = options.with_room_for_arrivals().build(&Workload::default());
    let workload =
        built.map_err(|error| InputError::new(format!("{of}: {error}"), error.hint()))?;
    let workload = Workload {
        size_bytes: Some(workload.size_bytes.unwrap_or(files[file].size)),
        ..workload
    };
    check(&workload).map_err(|error| InputError::new(format!("{of}: {error}"), error.hint()))?;
    let file_bytes = files[file].size;
    if file_bytes < workload.block_size_bytes {
        return Err(InputError::new(
            format!(
                "{of}: a block of {} does not fit into file `{}` of {}",
                ByteSize(workload.block_size_bytes),
                job.file,
                ByteSize(file_bytes)
            ),
            "give the file a larger size, or the job a smaller block",
        ));
    }
    Ok(ProductJob {
        name: job.name.clone(),
        file,
        phase: job.phase.clone(),
        workload,
        unused: UNUSED
            .iter()
            .find(|(option, ..)| job.options.contains_key(*option)),
    })
}

/// Refuses a job without commits: says what is wrong, and what to do.
fn has_commits(job: &ProductJob, metric: Metric) -> Result<(), (&'static str, &'static str)> {
    match &job.workload {
        _ if metric == Metric::MibPerS => Err((
            "has no bytes of commits",
            "take metric = \"commits-per-s\", or leave out operations = \"commits\"",
        )),
        workload if workload.has_commits() => Ok(()),
        workload if workload.sync.is_some() && workload.writes() => Err((
            "itself waits within a commit",
            "sync after each write, or leave out rate, and pause after a whole commit",
        )),
        _ => Err((
            "has no commits",
            "give it writes and sync = \"fdatasync\", or leave out operations = \"commits\"",
        )),
    }
}

fn requirement(
    text: &RequirementText,
    jobs: &[ProductJob],
) -> Result<ProductRequirement, InputError> {
    let of = format!("requirement `{}`", text.name);
    let job = index_of(
        "job",
        &of,
        &text.job,
        jobs.iter().map(|job| job.name.as_str()),
    )?;
    let (operations, metric) = match (text.operations, text.metric) {
        (CountedOperations::Commits, Metric::Iops) | (_, Metric::CommitsPerS) => {
            (CountedOperations::Commits, Metric::CommitsPerS)
        }
        as_written => as_written,
    };
    let limits = [
        (Relation::Below, &text.below),
        (Relation::AtMost, &text.at_most),
        (Relation::AtLeast, &text.at_least),
    ];
    let mut limits = limits
        .into_iter()
        .filter_map(|(relation, value)| Some((relation, value.as_ref()?)));
    let limit = limits.next();
    if limits.next().is_some() {
        return Err(InputError::new(
            format!("{of}: has two limits"),
            "give one of below, at-most and at-least",
        ));
    }
    let limit = limit
        .map(|(relation, value)| Limit::of(metric, relation, value))
        .transpose()
        .map_err(|problem| InputError::new(format!("{of}: {problem}"), limit::HINT))?;
    Ok(ProductRequirement {
        name: text.name.clone(),
        job,
        operations,
        metric,
        limit,
        per_processor: text.per_processor,
        miss: text.miss.clone(),
        source: Source {
            name: text.source.clone(),
            url: text.url.clone(),
            date: text.date.clone(),
            quotation: text.quotation.clone(),
            confidence: text.confidence,
        },
    })
}

/// A job is counted once: all its requirements must be about the same operations.
fn same_operations(
    requirements: &[ProductRequirement],
    jobs: &[ProductJob],
) -> Result<(), InputError> {
    for (index, job) in jobs.iter().enumerate() {
        let mut of_job = requirements.iter().filter(|one| one.job == index);
        let Some(first) = of_job.next() else {
            continue;
        };
        if of_job.any(|one| one.operations != first.operations) {
            return Err(InputError::new(
                format!(
                    "job `{}`: its requirements are about different operations",
                    job.name
                ),
                "make another job for the others",
            ));
        }
    }
    Ok(())
}
