//! What a target must offer. Only this module derives it from the runs.

use serde::{Deserialize, Serialize};
use stripewise_io_engine::EngineName;
use stripewise_studies::PlacedJob;
use stripewise_targets::{IoFeatures, Size};
use stripewise_workload::{CacheMode, DataPattern, Workload};

/// What all runs on one target require. Fields that do not follow from the runs have the value
/// used without any switch; callers set the rest: `Needs { size, ..Needs::of(&runs, 0) }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Some run reads it.
    pub reads: bool,
    /// Some run writes it.
    pub writes: bool,
    /// Required size.
    pub size: Size,
    /// Maximum number of operations in flight over all jobs.
    pub outstanding_total: u32,
    /// The user gave that number explicitly.
    pub outstanding_by_number: bool,
    /// Cache mode of the operations.
    pub cache: CacheMode,
    /// The user named the cache mode.
    pub cache_by_name: bool,
    /// The engine of the operations; it decides what can be opened.
    #[serde(with = "engine_as_typed")]
    pub engine: EngineName,
    /// Workloads that require more of the kernel than plain I/O ([`IoFeatures::asking`]).
    pub loads: Vec<Workload>,
    /// Pattern of the data written.
    pub data: DataPattern,
    /// Seed of that data.
    pub seed: u64,
    /// Time limit for filling a test file.
    pub fill_time_limit_ns: Option<u64>,
    /// The caller writes all of a test file before anything is read.
    pub filled_by_caller: bool,
}

impl Needs {
    /// What these runs require of the target with this index. Jobs of one run are concurrent; the
    /// runs follow each other. The target must include the farthest byte that a load names; if none
    /// does, its present size is used.
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

    /// The same where each load is its own run, on one target.
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

    /// The same without writes: for a target that may only be read.
    #[must_use]
    pub fn reading(self) -> Needs {
        Needs {
            writes: false,
            ..self
        }
    }

    /// What operations require of the kernel beyond plain reads and writes.
    pub fn features(&self) -> IoFeatures {
        IoFeatures::of(&self.loads).passed_through(self.engine == EngineName::Nvme)
    }
}

/// Maximum number of operations a job has in flight, over all its files.
fn in_flight(job: &PlacedJob) -> u32 {
    in_flight_of(&job.workload, job.targets.len())
}

/// The same on this many files: one after the other, or concurrently.
fn in_flight_of(load: &Workload, files: usize) -> u32 {
    let files = match load.in_turn {
        true => 1,
        false => u32::try_from(files).unwrap_or(u32::MAX),
    };
    load.threads
        .saturating_mul(load.outstanding)
        .saturating_mul(files)
}

/// Serialises an engine by its name, as other hosts receive it.
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
        // The program decides what is in flight: 8 on each of two files, and 4.
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
