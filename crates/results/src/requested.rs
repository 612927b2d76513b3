//! The request of a run, including records made before requests were stored.

use crate::{JobRecord, RunRecord};
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::{
    ENGINE_NAMES, INTERVAL_NS, Request, RequestJob, SIMULATED_OPERATIONS_MIN,
};

impl RunRecord {
    /// The request. Records of versions that stored no request contain enough to derive it:
    /// workloads, targets, engine and processors; the interval length from the intervals.
    pub fn request(&self) -> Request {
        match &self.request {
            Some(request) => Request::clone(request),
            None => derived(self),
        }
    }
}

fn derived(run: &RunRecord) -> Request {
    let jobs = || run.jobs.iter();
    let mut engines = jobs().map(|job| &job.engine.requested);
    let engine = engines.find(|requested| ENGINE_NAMES.contains(&requested.as_str()));
    let cpus = jobs().map(|job| &job.engine.cpus);
    let plain = Request::default();
    Request {
        label: run.label.clone(),
        jobs: jobs().map(job_of).collect(),
        engine: engine.unwrap_or(&plain.engine).clone(),
        cpus: cpus
            .max_by_key(|cpus| cpus.len())
            .cloned()
            .unwrap_or_default(),
        interval_ns: switch(run, "interval")
            .and_then(|text| text.parse().ok())
            .map_or_else(|| interval_ns(run), Nanoseconds::ns),
        simulated_operations_min: operations_min(run),
        cache_size_bytes: switch(run, "cache-size")
            .and_then(|text| text.parse().ok())
            .map(ByteSize::bytes),
        ..plain
    }
}

fn job_of(job: &JobRecord) -> RequestJob {
    let targets = std::iter::once(&job.target).chain(&job.further_targets);
    RequestJob {
        name: job.name.clone(),
        targets: targets.map(|facts| facts.full_name().to_owned()).collect(),
        workload: job.workload.clone(),
    }
}

/// Two options of `run` that those records do not contain otherwise, in that program's syntax:
/// later records are not read this way.
fn switch<'a>(run: &'a RunRecord, name: &str) -> Option<&'a str> {
    let mut words = run.command.iter().map(String::as_str);
    words.find(|word| *word == "run")?;
    let long = format!("--{name}");
    while let Some(word) = words.next() {
        match word.strip_prefix(&long) {
            Some("") => return words.next(),
            Some(rest) if rest.starts_with('=') => return rest.get(1..),
            _ => {}
        }
    }
    None
}

/// The length of most intervals, unless that is the run's own: a run shorter than an interval has
/// one that is cut.
fn interval_ns(run: &RunRecord) -> u64 {
    if run.command.iter().any(|word| word == "run") {
        return INTERVAL_NS;
    }
    let intervals = run.jobs.iter().flat_map(|job| &job.outcome.intervals);
    let mut lengths: Vec<u64> = intervals.map(|interval| interval.duration_ns).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied();
    median.map_or(INTERVAL_NS, |ns| ns.clamp(1_000_000, 10_000_000_000))
}

/// If a run on a simulated array was extended for want of operations, its repetition is too.
fn operations_min(run: &RunRecord) -> u64 {
    let went_on = |job: &&JobRecord| job.outcome.duration_ns > job.workload.duration_ns;
    let operations = run.jobs.iter().filter(went_on);
    let operations = operations.map(|job| job.outcome.operations).min();
    operations.unwrap_or(0).min(SIMULATED_OPERATIONS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineFacts, Interval, JobOutcome, TargetFacts};

    fn run(command: &[&str], intervals_ns: &[u64]) -> RunRecord {
        let intervals = intervals_ns.iter().map(|ns| Interval {
            duration_ns: *ns,
            ..Interval::default()
        });
        let job = JobRecord {
            name: "job".to_owned(),
            target: TargetFacts {
                path: Some("/data".to_owned()),
                ..TargetFacts::unknown()
            },
            engine: EngineFacts {
                requested: "threads".to_owned(),
                cpus: vec![1],
                ..EngineFacts::default()
            },
            outcome: JobOutcome {
                duration_ns: 20_000_000_000,
                operations: 40_000,
                intervals: intervals.collect(),
                ..JobOutcome::default()
            },
            ..JobRecord::default()
        };
        RunRecord {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            jobs: vec![job],
            ..RunRecord::empty()
        }
    }

    #[test]
    fn a_record_without_a_request_holds_enough_for_one() {
        let requested = run(&["stripewise", "bench", "/data"], &[500_000_000; 3]).request();
        assert_eq!(requested.check(), Ok(()));
        assert_eq!(requested.jobs[0].targets, ["/data"]);
        assert_eq!(
            (requested.engine.as_str(), requested.cpus),
            ("threads", vec![1])
        );
        assert_eq!(requested.interval_ns, 500_000_000);
        assert_eq!(requested.simulated_operations_min, 30_000);
    }

    #[test]
    fn what_only_the_switches_said_is_read_off_them() {
        let second = 1_000_000_000;
        let cases: [(&[&str], u64, Option<u64>); 5] = [
            (
                &["stripewise", "run", "x", "--interval", "2s"],
                2 * second,
                None,
            ),
            (
                &["stripewise", "-q", "run", "--interval=50ms"],
                second / 20,
                None,
            ),
            (
                &["stripewise", "run", "--cache-size", "1G"],
                second,
                Some(1 << 30),
            ),
            (
                &["stripewise", "bench", "--cache-size", "1G"],
                second / 2,
                None,
            ),
            (&["stripewise", "run", "--interval"], second, None),
        ];
        for (command, interval_ns, cache_size_bytes) in cases {
            let requested = run(command, &[second / 2, second / 2, 7]).request();
            assert_eq!(requested.interval_ns, interval_ns, "{command:?}");
            assert_eq!(requested.cache_size_bytes, cache_size_bytes, "{command:?}");
        }
    }

    #[test]
    fn a_kept_request_is_what_was_asked() {
        let request = Request {
            interval_ns: 7_000_000,
            ..Request::default()
        };
        let stripped = RunRecord {
            request: Some(Box::new(request.clone())),
            ..run(&["stripewise", "run", "--interval", "2s"], &[])
        };
        assert_eq!(stripped.request(), request);
    }
}
