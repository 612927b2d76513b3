//! What was asked of a job and on what: which measurements are of the same load, so that
//! together they tell how a target changed over time.

use crate::{EngineFacts, JobRecord, TargetFacts, TargetKind};
use serde::Deserialize;
use stripewise_units::ByteSize;
use stripewise_workload::Workload;

/// A job of a record without what came of it, which is most of a record's size. A record's
/// JSON is read as one of these.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AskedJob {
    /// Unique in its run.
    pub name: String,
    /// On what.
    pub target: TargetFacts,
    /// The others, where the job works on several at once.
    #[serde(default)]
    pub further_targets: Vec<TargetFacts>,
    /// What was asked for.
    pub workload: Workload,
    /// What carried it.
    pub engine: EngineFacts,
}

/// A load on a target, and the machine and the series that it was measured in.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The machine.
    pub host: &'a str,
    /// Of a step of a bench's ladder its part: that stands for threads and outstanding, which
    /// differ on purpose.
    pub ladder_part: Option<&'a str>,
    /// Of one of several jobs its name.
    pub job: Option<&'a str>,
    /// On what.
    pub target: &'a TargetFacts,
    /// The others.
    pub further_targets: &'a [TargetFacts],
    /// What was asked for.
    pub workload: &'a Workload,
    /// The engine that carried it.
    pub engine: &'a str,
}

/// The same for two measurements of one load, and for no others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadKey(Vec<String>);

impl<'a> Load<'a> {
    /// That of a job of a record, in a run of so many jobs.
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

    /// That of a job by itself, of which nothing else was read.
    #[must_use]
    pub fn of_asked(
        (host, ladder_part): (&'a str, Option<&'a str>),
        job: &'a AskedJob,
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

    /// What is the same whenever the load is measured again: where, by what and all that was
    /// asked for but how long and from which seed. Labels, which say when or why, are no part
    /// of it.
    #[must_use]
    pub fn key(&self) -> LoadKey {
        let mut asked = self.workload.clone();
        (asked.seed, asked.ramp_ns, asked.duration_ns) = (0, 0, 0);
        if self.ladder_part.is_some() {
            (asked.threads, asked.outstanding) = (0, 0);
        }
        let targets = std::iter::once(self.target).chain(self.further_targets);
        let mut key = vec![
            self.host.to_owned(),
            self.ladder_part.unwrap_or_default().to_owned(),
            self.job.unwrap_or_default().to_owned(),
            self.engine.to_owned(),
            self.starts_at(),
            format!("{asked:?}"),
        ];
        key.extend(targets.map(|target| target.full_name().to_owned()));
        LoadKey(key)
    }

    /// What is said of the load only where it is not as usual
    /// ([`Workload::particulars`]). What a bench always does in a series, the name of that
    /// says.
    #[must_use]
    pub fn particulars(&self) -> Vec<String> {
        let usual: &[&str] = match self.ladder_part {
            Some("log") => &["cursor shared", "direct-sync"],
            Some(_) => &["cursor shared"],
            None => &[],
        };
        let mut said = self.workload.particulars();
        said.retain(|one| !usual.contains(&one.as_str()));
        said
    }

    /// Where the target's partition starts, as far as it is known: `from 31.5K`. Simulated
    /// arrays have it in their name.
    #[must_use]
    pub fn starts_at(&self) -> String {
        starts_at(self.target)
    }
}

/// [`Load::starts_at`] of a target.
#[must_use]
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
