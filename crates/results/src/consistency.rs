//! Whether the numbers of a record are physically possible.
//!
//! A document is a file that anyone may have edited. A negative or impossibly high rate would
//! propagate through every later calculation and result in a difference of -100.69 %, or one of 75
//! digits.

use crate::{JobRecord, KindOutcome, RunRecord};

/// No machine does more operations, or units of 1,048,576 bytes, per second, nor has more in
/// flight.
const RATE_MAX: f64 = 1e12;
/// Nanoseconds of 31 years: no operation takes longer.
const LATENCY_NS_MAX: f64 = 1e18;

/// The first impossible number of a record: `run ID, job NAME: iops is -1`. `None` if there is
/// none.
pub(crate) fn impossible_number(run: &RunRecord) -> Option<String> {
    run.jobs.iter().find_map(|job| {
        let (path, value) = numbers(job)
            .into_iter()
            .find(|(_, value, max)| !(0.0..=*max).contains(value))
            .map(|(path, value, _)| (path, value))?;
        Some(format!(
            "run {}, job {}: {path} is {value:?}",
            run.id, job.name
        ))
    })
}

/// Names, values and upper limits of a job's floats.
fn numbers(job: &JobRecord) -> Vec<(String, f64, f64)> {
    let outcome = &job.outcome;
    let mut numbers = vec![
        ("iops".to_owned(), outcome.iops, RATE_MAX),
        ("mib_per_s".to_owned(), outcome.mib_per_s, RATE_MAX),
        (
            "outstanding_mean".to_owned(),
            outcome.outstanding_mean,
            RATE_MAX,
        ),
    ];
    let kinds: [(&str, Option<&KindOutcome>); 5] = [
        ("read", Some(&outcome.read)),
        ("write", Some(&outcome.write)),
        ("sync", outcome.sync.as_ref()),
        ("commit", outcome.commit.as_ref()),
        ("discard", outcome.discard.as_ref()),
    ];
    for (name, kind) in kinds {
        let mean = kind.and_then(|kind| kind.latency_ns).map(|ns| ns.mean);
        numbers.extend(mean.map(|mean| (format!("{name}.latency_ns.mean"), mean, LATENCY_NS_MAX)));
    }
    let intervals = outcome.intervals.iter().enumerate();
    numbers.extend(intervals.map(|(index, interval)| {
        let path = format!("intervals.{index}.latency_ns_mean");
        (path, interval.latency_ns_mean, LATENCY_NS_MAX)
    }));
    numbers
}
