//! Identifies the load of a job: which measurements are of the same load, so that together they
//! show how a target changed over time.

use crate::{EngineFacts, JobRecord, TargetFacts, TargetKind};
use serde::Deserialize;
use stripewise_units::ByteSize;
use stripewise_workload::Workload;

/// A job of a record without its results, which are most of a record's size. Can be parsed from a
/// record's JSON.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RequestedJob {
    /// Unique in its run.
    pub name: String,
    /// The target.
    pub target: TargetFacts,
    /// The others, where the job works on several at once.
    #[serde(default)]
    pub further_targets: Vec<TargetFacts>,
    /// The requested workload.
    pub workload: Workload,
    /// The engine used.
    pub engine: EngineFacts,
}

/// A load on a target, with the machine and the series in which it was measured.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The machine.
    pub host: &'a str,
    /// For a step of a bench's ladder, its part: replaces threads and outstanding, which differ by
    /// design.
    pub ladder_part: Option<&'a str>,
    /// For one of several jobs, its name.
    pub job: Option<&'a str>,
    /// The target.
    pub target: &'a TargetFacts,
    /// The others.
    pub further_targets: &'a [TargetFacts],
    /// The requested workload.
    pub workload: &'a Workload,
    /// The engine used.
    pub engine: &'a str,
}

/// Equal for two measurements of one load, and for no others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadKey(Vec<String>);

impl<'a> Load<'a> {
    /// The load of a record's job, in a run of this many jobs.
    #[must_use]
    pub fn of_record(
        (host, ladder_part): (&'a str, Option<&'a str>),
        jobs: usize,
        job: &'a JobRecord,
    ) -> Load<'a> {
        Load {
            host,
            ladder_part,
            job: (jobs > 1).then_some(&*job.name),
            target: &job.target,
            further_targets: &job.further_targets,
            workload: &job.workload,
            engine: &job.engine.name,
        }
    }

    /// The load of a single job read without its record.
    #[must_use]
    pub fn of_request(
        (host, ladder_part): (&'a str, Option<&'a str>),
        job: &'a RequestedJob,
    ) -> Load<'a> {
        Load {
            host,
            ladder_part,
            job: None,
            target: &job.target,
            further_targets: &job.further_targets,
            workload: &job.workload,
            engine: &job.engine.name,
        }
    }

    /// Everything that stays the same when the load is measured again: target, engine and all
    /// parameters except duration and seed. Labels, which give a time or reason, are not part of
    /// it.
    pub fn key(&self) -> LoadKey {
        let mut comparable = self.workload.clone();
        (comparable.seed, comparable.ramp_ns, comparable.duration_ns) = (0, 0, 0);
        if self.ladder_part.is_some() {
            (comparable.threads, comparable.outstanding) = (0, 0);
        }
        let targets = std::iter::once(self.target).chain(self.further_targets);
        let mut key = vec![
            self.host.to_owned(),
            self.ladder_part.unwrap_or_default().to_owned(),
            self.job.unwrap_or_default().to_owned(),
            self.engine.to_owned(),
            self.starts_at(),
            format!("{comparable:?}"),
        ];
        key.extend(targets.map(|target| target.full_name().to_owned()));
        LoadKey(key)
    }

    /// The unusual properties of the load ([`Workload::particulars`]). Those that a bench always
    /// has in a series are implied by its name.
    pub fn particulars(&self) -> Vec<String> {
        let usual: &[&str] = match self.ladder_part {
            Some("log") => &["cursor shared", "direct-sync"],
            Some(_) => &["cursor shared"],
            None => &[],
        };
        let mut stated = self.workload.particulars();
        stated.retain(|one| !usual.contains(&one.as_str()));
        stated
    }

    /// Where the target's partition starts, if known: `from 31.5K`. Simulated arrays have it in
    /// their name.
    pub fn starts_at(&self) -> String {
        starts_at(self.target)
    }
}

/// [`Load::starts_at`] of a target.
pub fn starts_at(target: &TargetFacts) -> String {
    let start = target
        .partition_offset_bytes
        .filter(|_| target.kind != TargetKind::Simulated);
    start.map_or_else(String::new, |bytes| format!("from {}", ByteSize(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_relative_name_elsewhere_is_another_target() {
        let dot = |path: &str| TargetFacts {
            name: ".".to_owned(),
            path: Some(path.to_owned()),
            ..TargetFacts::unknown()
        };
        let key = |target: &TargetFacts| {
            let load = Load {
                host: "db7",
                ladder_part: None,
                job: None,
                target,
                further_targets: &[],
                workload: &Workload::default(),
                engine: "io_uring",
            };
            load.key()
        };
        assert_ne!(key(&dot("/data/a")), key(&dot("/data/b")));
        assert_eq!(key(&dot("/data/a")), key(&dot("/data/a")));
    }
}
