//! Records made from another tool's results: their source and what they lack.
//!
//! A foreign result rarely has everything that a record has. Missing values are *absent*, not zero:
//! [`Imported::absent`] names those fields, they are omitted from the JSON, and [`crate::JobRow`]
//! returns `None` for them. In the Rust types they hold defaults, which must not be printed: access
//! imported records only through [`crate::JobRow`].

use crate::given::{Given, Paths, Without};
use crate::{JobOutcome, JobRecord, KindOutcome, LatencySummary, RunRecord};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

/// Source of an imported record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Imported {
    /// `sqlio`, `diskspd`, `fio`, `dataset`.
    pub tool: String,
    /// Version given in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// The file, as the user named it; for a dataset its name.
    pub source: String,
    /// Line of the source on which the result starts, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Values in the source that records have no field for, in the tool's own terms: enough to
    /// reproduce the source's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Fields that the source does not give, as paths of the JSON: of the run (`started_at`,
    /// `host.name`) and, below `jobs.`, of all of its jobs (`jobs.outcome.operations`,
    /// `jobs.workload.seed`); below `jobs.0.`, `jobs.1.`... of that job alone, if jobs differ. A
    /// path that names an object covers everything in it, and one below `jobs.target.` that field
    /// of every target of the job; a further target's size is also absent if it is 0. Results of
    /// one format mostly lack the same.
    pub absent: Arc<BTreeSet<String>>,
    /// [`RunRecord::identity`] before the details were removed; not stored.
    #[serde(skip)]
    pub identity: Option<u128>,
}

impl Imported {
    /// Whether the source gives the field at this path; for fields of jobs
    /// (`jobs.workload.threads`), whether it does for all jobs.
    pub fn gives(&self, path: &str) -> bool {
        !self.absent.iter().any(|absent| match of_one_job(absent) {
            Some((_, rest)) => path
                .strip_prefix("jobs.")
                .is_some_and(|path| is_in(path, rest)),
            None => is_in(path, absent),
        })
    }

    /// Whether the source gives the field at this path (`jobs.workload.threads`)
    /// of the job at `index`.
    pub fn gives_of(&self, index: usize, path: &str) -> bool {
        let is_absent = |path: &str| {
            let mut ends = path.match_indices('.').map(|(end, _)| end);
            self.absent.contains(path) || ends.any(|end| self.absent.contains(&path[..end]))
        };
        if is_absent(path) {
            return false;
        }
        // Digits sort before letters: fields of a single job are rare.
        let digits = (Bound::Included("jobs.0"), Bound::Excluded("jobs.:"));
        let of_one_job = self.absent.range::<str, _>(digits).next();
        match (of_one_job, path.strip_prefix("jobs.")) {
            (Some(_), Some(rest)) => !is_absent(&format!("jobs.{index}.{rest}")),
            _ => true,
        }
    }

    /// Serialises a record without the absent fields, in one pass.
    fn serialize_of<S: Serializer>(
        &self,
        run: &RunRecord,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let (mut of_run, mut of_jobs) = (Vec::new(), Vec::new());
        let mut of_one: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        // No field is named otherwise.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        for path in self.absent.iter().filter(|path| path.bytes().all(is_name)) {
            match (path.strip_prefix("jobs."), of_one_job(path)) {
                (_, Some((job, rest))) => of_one.entry(job).or_default().push(rest),
                (Some(rest), None) => of_jobs.push(rest),
                (None, None) => of_run.push(path.as_str()),
            }
        }
        for paths in of_one.values_mut() {
            paths.extend(&of_jobs);
            paths.sort_unstable();
        }
        let jobs = run.jobs.iter().enumerate().map(|(index, job)| {
            let absent = of_one.get(&index).unwrap_or(&of_jobs);
            Job { job, absent }
        });
        let jobs = Each(jobs);
        RunRecord::serialize(
            run,
            Given::with(serializer, Paths::new(&of_run), "jobs", &jobs),
        )
    }
}

/// Serialises one after the other.
struct Each<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// A job without its absent fields.
struct Job<'a> {
    job: &'a JobRecord,
    absent: &'a [&'a str],
}

impl Serialize for Job<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const SIZE: &str = "size_bytes";
        let absent = Paths::new(self.absent);
        if self.job.further_targets.is_empty() {
            return self.job.serialize(Given::new(serializer, absent));
        }
        // Fields that a source lacks for the first target it lacks for the others; but each has
        // its own size, which may be known even if the first one's is not, and 0 bytes are an
        // unknown one.
        let mut with_size = absent.below("target");
        with_size.retain(|path| *path != SIZE);
        let mut without = with_size.clone();
        without.push(SIZE);
        without.sort_unstable();
        let targets = self.job.further_targets.iter().map(|target| Without {
            value: target,
            absent: Paths::new(match target.size_bytes {
                0 => &without,
                _ => &with_size,
            }),
        });
        let targets = Each(targets);
        (self.job).serialize(Given::with(serializer, absent, "further_targets", &targets))
    }
}

/// Whether the field at `path` is the absent one or inside it.
fn is_in(path: &str, absent: &str) -> bool {
    path.strip_prefix(absent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `jobs.3.workload.threads`: the job, and the path inside it.
fn of_one_job(absent: &str) -> Option<(usize, &str)> {
    let of_jobs = absent.strip_prefix("jobs.")?;
    let (number, rest) = of_jobs
        .starts_with(|first: char| first.is_ascii_digit())
        .then(|| of_jobs.split_once('.'))??;
    Some((number.parse().ok()?, rest))
}

/// Fields that own records may lack too: completed inside if present, but never added.
const OPTIONAL: [&str; 2] = ["latency_ns", "sync"];

/// Adds the defaults of a complete record to an imported one, so that it can be parsed.
fn complete(record: &mut Value) {
    static DEFAULTS: LazyLock<Value> = LazyLock::new(defaults);
    let defaults = &*DEFAULTS;
    let jobs = record.get_mut("jobs").and_then(Value::as_array_mut);
    for job in jobs.into_iter().flatten() {
        fill(job, &defaults["jobs"][0]);
        let targets = job.get_mut("further_targets").and_then(Value::as_array_mut);
        for target in targets.into_iter().flatten() {
            fill(target, &defaults["jobs"][0]["target"]);
        }
    }
    fill(record, defaults);
}

fn fill(value: &mut Value, defaults: &Value) {
    let (Some(object), Some(defaults)) = (value.as_object_mut(), defaults.as_object()) else {
        return;
    };
    for (name, default) in defaults {
        match object.get_mut(name) {
            Some(inner) => fill(inner, default),
            None if OPTIONAL.contains(&name.as_str()) => {}
            None => drop(object.insert(name.clone(), default.clone())),
        }
    }
}

/// The JSON of an empty record with one job.
fn defaults() -> Value {
    let latencies = KindOutcome {
        latency_ns: Some(LatencySummary::default()),
        ..KindOutcome::default()
    };
    let job = JobRecord {
        outcome: JobOutcome {
            read: latencies.clone(),
            write: latencies.clone(),
            sync: Some(latencies),
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    };
    let record = RunRecord {
        jobs: vec![job],
        ..RunRecord::empty()
    };
    let mut defaults = serde_json::to_value(record).expect("a record has text keys only");
    // Fields of the other patterns: a source may give one without them.
    let workload = &mut defaults["jobs"][0]["workload"];
    workload["cursor"] = Value::from("own");
    workload["stride_bytes"] = Value::from(0);
    defaults
}

impl RunRecord {
    /// A record from its JSON. One that was measured is parsed without the tree of values that an
    /// imported one needs, which takes a third of the time.
    ///
    /// # Errors
    /// If it is not the JSON of a record.
    pub fn from_json(json: &str) -> serde_json::Result<RunRecord> {
        // In a string these quotation marks would be escaped.
        if json.contains("\"imported\":") {
            return serde_json::from_str(json);
        }
        let mut parser = serde_json::Deserializer::from_str(json);
        let record = RunRecord::deserialize(&mut parser)?;
        parser.end()?;
        Ok(record)
    }

    /// Its JSON on one line. Not generic: crates that are not optimised would have an instance of
    /// their own.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl Serialize for RunRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.imported {
            Some(imported) => imported.serialize_of(self, serializer),
            None => RunRecord::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RunRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        if value.get("imported").is_some_and(Value::is_object) {
            complete(&mut value);
        }
        RunRecord::deserialize(value).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JobRow, TargetFacts};

    fn foreign(absent: &[&str]) -> RunRecord {
        let mut record = RunRecord {
            id: "20080314-101500-aaaa".to_owned(),
            imported: Some(Imported {
                tool: "sqlio".to_owned(),
                source: "results.txt".to_owned(),
                line: Some(7),
                absent: Arc::new(absent.iter().map(|&path| path.to_owned()).collect()),
                ..Imported::default()
            }),
            ..RunRecord::empty()
        };
        let mut outcome = JobOutcome {
            iops: 590.5,
            ..JobOutcome::default()
        };
        outcome.read.latency_ns = Some(LatencySummary {
            min: 0,
            mean: 6_000_000.0,
            max: 91_000_000,
            ..LatencySummary::default()
        });
        record.jobs.push(JobRecord {
            name: "c:\\test.dat".to_owned(),
            outcome,
            ..JobRecord::default()
        });
        record
    }

    const ABSENT: [&str; 7] = [
        "started_at",
        "host",
        "jobs.workload.seed",
        "jobs.target.size_bytes",
        "jobs.outcome.operations",
        "jobs.outcome.errors",
        "jobs.outcome.read.latency_ns.p99",
    ];

    #[test]
    fn copies_are_told_from_others_with_and_without_their_details() {
        let of = |peak: u32, line: u64| {
            let mut record = foreign(&["host"]);
            let imported = record.imported.as_mut().expect("a foreign record");
            imported.details = Some(serde_json::json!({ "histogram_percent": [100 - peak, peak] }));
            imported.line = Some(line);
            record
        };
        let (one, copy, other) = (of(3, 7), of(3, 9), of(4, 7));
        assert_eq!(one.identity(), copy.identity());
        assert_ne!(one.identity(), other.identity());
        let [one, copy, other] = [one, copy, other].map(RunRecord::without_details);
        assert_eq!(
            one.imported.as_ref().and_then(|from| from.details.clone()),
            None
        );
        assert_eq!(one.identity(), copy.identity());
        assert_ne!(one.identity(), other.identity());
    }

    #[test]
    fn what_a_source_lacks_is_not_in_the_json_and_comes_back_as_absent() {
        let record = foreign(&ABSENT);
        let json = serde_json::to_value(&record).unwrap();
        let job = &json["jobs"][0];
        assert!(json.get("host").is_none() && json.get("started_at").is_none());
        assert!(job["workload"].get("seed").is_none());
        assert!(job["outcome"].get("operations").is_none());
        let latencies = &job["outcome"]["read"]["latency_ns"];
        assert!(latencies.get("p99").is_none());
        assert_eq!(latencies["max"], 91_000_000);
        assert_eq!(job["outcome"]["iops"], 590.5);

        let text = serde_json::to_string(&record).unwrap();
        let back: RunRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(back, record);
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn records_of_both_kinds_come_back_from_their_json() {
        let imported = foreign(&ABSENT);
        let mut measured = RunRecord {
            imported: None,
            label: Some("not \"imported\": measured".to_owned()),
            ..foreign(&[])
        };
        measured.jobs[0].outcome.iops = 1.0 / 3.0;
        for record in [imported, measured] {
            let json = record.to_json().unwrap();
            let back = RunRecord::from_json(&json).unwrap();
            assert_eq!(back, record);
            assert_eq!(back, serde_json::from_str::<RunRecord>(&json).unwrap());
            assert_eq!(back.to_json().unwrap(), json);
            assert!(RunRecord::from_json(&format!("{json} ,")).is_err());
            assert!(RunRecord::from_json(&json[..json.len() - 1]).is_err());
        }
    }

    #[test]
    fn a_row_gives_nothing_that_the_source_did_not() {
        let record = foreign(&ABSENT);
        let row = JobRow {
            run: &record,
            job: &record.jobs[0],
        };
        assert_eq!(row.iops(), Some(590.5));
        assert_eq!(row.operations(), None);
        assert_eq!(row.latency("max"), Some(91e6));
        assert_eq!(row.latency("p99"), None);
        assert_eq!(row.latency("p999"), None);
        // An absent object includes its members.
        let record = foreign(&["jobs.workload", "jobs.outcome.read.latency_ns"]);
        let row = JobRow {
            run: &record,
            job: &record.jobs[0],
        };
        assert_eq!((row.threads(), row.pattern()), (None, None));
        assert_eq!(row.latency("max"), None);
    }

    #[test]
    fn each_job_lacks_its_own_fields() {
        let absent = [
            "host",
            "jobs.1.outcome.iops",
            "jobs.1.workload",
            "jobs.2.outcome.read.latency_ns.max",
            "jobs.outcome.errors",
            "jobs.outcome.read.bytes",
        ];
        let mut record = foreign(&absent);
        let job = record.jobs[0].clone();
        record.jobs.extend([job.clone(), job]);
        let json = serde_json::to_value(&record).unwrap();
        let has = |path: &str| json.pointer(path).is_some();
        for (path, of) in [
            ("outcome/iops", [true, false, true]),
            ("workload/threads", [true, false, true]),
            ("outcome/read/latency_ns/max", [true, true, false]),
            ("outcome/read/latency_ns/min", [true; 3]),
            ("outcome/read/operations", [true; 3]),
            ("outcome/read/bytes", [false; 3]),
            ("outcome/errors", [false; 3]),
        ] {
            for (job, of) in of.into_iter().enumerate() {
                assert_eq!(has(&format!("/jobs/{job}/{path}")), of, "{job} {path}");
            }
        }
        assert!(!has("/host") && has("/id"));
        let last = JobRow {
            run: &record,
            job: &record.jobs[2],
        };
        assert_eq!((last.latency("max"), last.iops()), (None, Some(590.5)));
    }

    #[test]
    fn of_further_targets_only_what_the_source_says_is_in_the_json() {
        let mut record = foreign(&["jobs.target.kind", "jobs.target.logical_sector_bytes"]);
        let job = &mut record.jobs[0];
        job.workload.threads = 4;
        job.workload.outstanding = 2;
        for (name, size_bytes) in [("E:\\b.dat", 0), ("F:\\c.dat", 1 << 30)] {
            job.further_targets.push(TargetFacts {
                name: name.to_owned(),
                size_bytes,
                ..TargetFacts::unknown()
            });
        }
        let json = serde_json::to_value(&record).unwrap();
        let targets = &json["jobs"][0]["further_targets"];
        assert_eq!(targets[0], serde_json::json!({"name": "E:\\b.dat"}));
        assert_eq!(targets[1]["size_bytes"], 1 << 30);
        let back: RunRecord = serde_json::from_value(json).unwrap();
        assert_eq!(back, record);
        // Each of three targets has 4 threads with 2 outstanding.
        let row = |record: &RunRecord| {
            let job = &record.jobs[0];
            let row = JobRow { run: record, job };
            (row.in_flight(), row.target_names())
        };
        assert_eq!(row(&record).0, Some(24));
        assert!(
            row(&record).1.ends_with(" and 2 more"),
            "{}",
            row(&record).1
        );
        record.jobs[0].workload.in_turn = true;
        assert_eq!(row(&record).0, Some(8));
    }

    #[test]
    fn a_measured_record_that_lacks_a_field_is_not_completed() {
        let measured = RunRecord {
            imported: None,
            ..foreign(&[])
        };
        let mut json = serde_json::to_value(&measured).unwrap();
        json["jobs"][0]["outcome"]
            .as_object_mut()
            .unwrap()
            .remove("iops");
        assert!(serde_json::from_value::<RunRecord>(json).is_err());
    }
}
