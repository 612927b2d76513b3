//! Jobs that fio printed in several forms (`--output-format=json,normal`): each is read once.

use crate::Format;
use std::collections::HashMap;

/// What each form says of a job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobFacts {
    pub(crate) name: String,
    /// Of reads and writes, like all others.
    pub(crate) sides: [SideFacts; 2],
}

/// What each form says of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SideFacts {
    pub(crate) runtime_ms: u64,
    /// To a KiB, or to the digits that are printed.
    pub(crate) bytes: u64,
    pub(crate) operations: Option<u64>,
    /// Of the completion latency.
    pub(crate) mean_ns: Option<f64>,
}

/// Name and runtimes of a job: what all forms print exactly.
type JobKey = (String, [u64; 2]);

/// The jobs of a file that were read, in which form.
#[derive(Debug, Default)]
pub(crate) struct JobsRead(HashMap<JobKey, Vec<JobsOfForm>>);

/// Jobs of one key in one form.
#[derive(Debug)]
struct JobsOfForm {
    form: Format,
    jobs: Vec<JobFacts>,
    /// Behind the one that was found last: all forms print jobs in the same order.
    next: usize,
}

/// Jobs of one key that are compared with one.
const COMPARED_MAX: usize = 1_024;

impl JobsOfForm {
    /// Whether this job is one of them.
    fn find(&mut self, job: &JobFacts) -> bool {
        let count = self.jobs.len();
        let mut places = (0..count.min(COMPARED_MAX)).map(|k| (self.next + k) % count);
        let found = places.find(|place| self.jobs[*place].is_same(job));
        if let Some(place) = found {
            self.next = place + 1;
        }
        found.is_some()
    }
}

impl JobsRead {
    /// Adds jobs.
    pub(crate) fn add(&mut self, jobs: Vec<JobFacts>, form: Format) {
        for job in jobs {
            let forms = self.0.entry(job.key()).or_default();
            match forms.iter_mut().find(|one| one.form == form) {
                Some(one) => one.jobs.push(job),
                None => forms.push(JobsOfForm {
                    form,
                    jobs: vec![job],
                    next: 0,
                }),
            }
        }
    }

    /// The other form in which all of these jobs were read.
    pub(crate) fn other_form(&mut self, jobs: &[JobFacts], form: Format) -> Option<Format> {
        let of_job = |job: &JobFacts| {
            let mut forms = self.0.get_mut(&job.key())?.iter_mut();
            forms.find_map(|one| (one.form != form && one.find(job)).then_some(one.form))
        };
        let mut forms = jobs.iter().map(of_job);
        let first = forms.next()??;
        forms.all(|other| other == Some(first)).then_some(first)
    }
}

impl JobFacts {
    fn key(&self) -> JobKey {
        (self.name.clone(), self.sides.map(|side| side.runtime_ms))
    }

    fn is_same(&self, other: &JobFacts) -> bool {
        let mut pairs = self.sides.iter().zip(&other.sides);
        pairs.all(|(one, other)| one.is_same(other))
    }
}

impl SideFacts {
    /// Whether both are one direction of one job; forms round, and some have no count.
    fn is_same(&self, other: &SideFacts) -> bool {
        let counts = self.operations.zip(other.operations);
        let means = self.mean_ns.zip(other.mean_ns);
        let near = |one: f64, other: f64, step: f64| (one - other).abs() <= step + 0.01 * one;
        counts.is_none_or(|(one, other)| one == other)
            && near(self.bytes as f64, other.bytes as f64, 2048.0)
            && means.is_none_or(|(one, other)| near(one, other, 1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(operations: Option<u64>, bytes: u64, mean_ns: Option<f64>) -> JobFacts {
        let read = SideFacts {
            runtime_ms: 60_001,
            bytes,
            operations,
            mean_ns,
        };
        JobFacts {
            name: "reads".to_owned(),
            sides: [read, SideFacts::default()],
        }
    }

    #[test]
    fn a_job_is_the_same_where_nothing_contradicts_it() {
        let mut read = JobsRead::default();
        let json = job(Some(1_000), 8_192_000, Some(250_400.0));
        read.add(vec![json.clone()], Format::FioJson);
        let mut of = |job: JobFacts| read.other_form(&[job], Format::FioTerse);
        let known = Some(Format::FioJson);
        assert_eq!(of(json.clone()), known);
        assert_eq!(of(job(None, 8_191_000, Some(250_000.0))), known);
        assert_eq!(of(job(None, 8_192_000, None)), known);
        // Of the same length, but another run.
        assert_eq!(of(job(Some(1_001), 8_192_000, None)), None);
        assert_eq!(of(job(None, 9_000_000, None)), None);
        assert_eq!(of(job(None, 8_192_000, Some(300_000.0))), None);
        // The same form again is a copy, or another run, never another form.
        let same = std::slice::from_ref(&json);
        assert_eq!(read.other_form(same, Format::FioJson), None);
        let mut other = json.clone();
        other.name = "writes".to_owned();
        assert_eq!(read.other_form(&[json, other], Format::FioTerse), None);
        assert_eq!(read.other_form(&[], Format::FioTerse), None);
    }

    #[test]
    fn thousands_of_jobs_of_one_name_are_found_in_their_order() {
        let count = 3 * COMPARED_MAX as u64;
        let jobs = |form| (1..=count).map(move |k| (form, job(Some(k), k * 4_096, None)));
        let mut read = JobsRead::default();
        for (form, job) in jobs(Format::FioJson) {
            read.add(vec![job], form);
        }
        for (form, job) in jobs(Format::FioTerse) {
            let other = read.other_form(&[job], form);
            assert_eq!(other, Some(Format::FioJson));
        }
    }
}
