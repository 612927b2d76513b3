//! What a target must offer, derived from the runs on it: the only place that does so.

use serde::{Deserialize, Serialize};
use stripewise_io_engine::EngineName;
use stripewise_studies::PlacedJob;
use stripewise_targets::{IoFeatures, Size};
use stripewise_workload::{CacheMode, DataPattern, Workload};

/// What all runs on one target need of it. What does not follow from the runs has the value of
/// somebody who gave no switch; callers set the rest: `Needs { size, ..Needs::of(&runs, 0) }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// It is read.
    pub reads: bool,
    /// It is written.
    pub writes: bool,
    /// How large it must be.
    pub size: Size,
    /// Operations in flight over all jobs, at most.
    pub outstanding_total: u32,
    /// Somebody asked for that many by number.
    pub outstanding_by_number: bool,
    /// The cache mode.
    pub cache: CacheMode,
    /// It was asked for by name.
    pub cache_by_name: bool,
    /// The engine of the operations: what can be opened depends on it.
    #[serde(with = "engine_as_typed")]
    pub engine: EngineName,
    /// Workloads that ask more of the kernel than reads and writes ([`IoFeatures::asking`]).
    pub loads: Vec<Workload>,
    /// What written data looks like.
    pub data: DataPattern,
    /// Seed of that data.
    pub seed: u64,
    /// Filling a test file takes at most this.
    pub fill_time_limit_ns: Option<u64>,
    /// The caller writes all of a test file before anything is read.
    pub filled_by_caller: bool,
}

impl Needs {
    /// What these runs need of the target with this index. Jobs of one run go at once; the
    /// runs follow each other. The target must have the farthest byte that a load names, or
    /// is as large as it happens to be where none does.
    #[must_use]
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a [PlacedJob]>, target: usize) -> Needs {
        let mut uses: Vec<&Workload> = Vec::new();
        let mut outstanding_total = 0;
        for run in runs {
            let in_flight = run.iter().map(in_flight).fold(0, u32::saturating_add);
            outstanding_total = outstanding_total.max(in_flight);
            let on_it = run.iter().filter(|job| job.targets.contains(&target));
            uses.extend(on_it.map(|job| &job.workload));
        }
        Needs {
            outstanding_total: outstanding_total.max(1),
            ..Needs::of_loads(uses)
        }
    }

    /// The same where each load is a run by itself, on one target.
    #[must_use]
    pub fn of_loads<'a>(loads: impl IntoIterator<Item = &'a Workload>) -> Needs {
        let loads: Vec<&Workload> = loads.into_iter().collect();
        let default = Workload::default();
        let first = loads.first().copied().unwrap_or(&default);
        let ends = loads.iter().filter_map(|load| {
            let size_bytes = load.size_bytes?;
            Some(size_bytes.saturating_add(load.base_offset_bytes))
        });
        let in_flight = loads.iter().map(|load| in_flight_of(load, 1));
        Needs {
            reads: loads.iter().any(|load| load.read_percent > 0),
            writes: loads.iter().any(|load| load.read_percent < 100),
            size: ends.max().map_or(Size::Auto, Size::Exactly),
            outstanding_total: in_flight.max().unwrap_or(1),
            outstanding_by_number: false,
            cache: first.cache,
            cache_by_name: false,
            engine: EngineName::Auto,
            loads: IoFeatures::asking(loads.iter().copied()),
            data: first.data,
            seed: first.seed,
            fill_time_limit_ns: None,
            filled_by_caller: false,
        }
    }

    /// The same without what is written: for a target that may only be read.
    #[must_use]
    pub fn reading(self) -> Needs {
        Needs {
            writes: false,
            ..self
        }
    }

    /// What operations ask of the kernel besides.
    #[must_use]
    pub fn manner(&self) -> IoFeatures {
        IoFeatures::of(&self.loads).passed_through(self.engine == EngineName::Nvme)
    }
}

/// Operations that a job has in flight at most, over all its files.
fn in_flight(job: &PlacedJob) -> u32 {
    in_flight_of(&job.workload, job.targets.len())
}

/// The same on so many files: one after the other, or all at once.
fn in_flight_of(load: &Workload, files: usize) -> u32 {
    let files = match load.in_turn {
        true => 1,
        false => u32::try_from(files).unwrap_or(u32::MAX),
    };
    load.threads
        .saturating_mul(load.outstanding)
        .saturating_mul(files)
}

/// An engine by its name, as other hosts get it.
mod engine_as_typed {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use stripewise_io_engine::EngineName;

    pub fn serialize<S: Serializer>(engine: &EngineName, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(engine)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<EngineName, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(read_percent: u8, outstanding: u32) -> Workload {
        Workload {
            read_percent,
            outstanding,
            ..Workload::default()
        }
    }

    fn job(workload: Workload, targets: &[usize]) -> PlacedJob {
        PlacedJob {
            name: "job".to_owned(),
            workload,
            targets: targets.to_vec(),
        }
    }

    #[test]
    fn jobs_of_a_run_add_up_and_runs_follow_each_other() {
        let together = [job(load(100, 8), &[0, 1]), job(load(0, 4), &[1])];
        let alone = [job(load(100, 17), &[0])];
        let runs = [&together[..], &alone[..]];
        let first = Needs::of(runs, 0);
        assert_eq!((first.reads, first.writes), (true, false));
        // What is in flight is the program's: 8 on each of two files, and 4.
        assert_eq!(first.outstanding_total, 20);
        let second = Needs::of(runs, 1);
        assert_eq!((second.reads, second.writes), (true, true));
    }

    #[test]
    fn files_in_turn_are_used_one_at_a_time() {
        let in_turn = Workload {
            in_turn: true,
            ..load(100, 8)
        };
        let run = [job(in_turn, &[0, 1, 2])];
        assert_eq!(Needs::of([&run[..]], 0).outstanding_total, 8);
    }

    #[test]
    fn the_farthest_byte_that_a_load_names_must_be_there() {
        let spans = [
            load(100, 1),
            Workload {
                size_bytes: Some(4 << 20),
                base_offset_bytes: 512,
                ..load(100, 1)
            },
        ];
        let needs = Needs::of_loads(&spans);
        assert_eq!(needs.size, Size::Exactly((4 << 20) + 512));
        assert_eq!(Needs::of_loads(&spans[..1]).size, Size::Auto);
        assert_eq!(Needs::of_loads([]).outstanding_total, 1);
    }
}
