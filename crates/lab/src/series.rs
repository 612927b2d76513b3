//! The five series of a bench.

use serde::{Deserialize, Serialize};
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern, Workload};

// In running order, reads before writes; named as in records and switches.
stripewise_units::named! {
    /// A series of a bench.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SeriesKind {
        /// Random reads, 8K.
        RandomRead = "random-read",
        /// Sequential reads, 64K.
        SequentialRead = "sequential-read",
        /// Random writes, 8K.
        RandomWrite = "random-write",
        /// Sequential writes, 64K.
        SequentialWrite = "sequential-write",
        /// Sequential writes, 8K, one outstanding, direct-sync: a database's log.
        Log = "log",
    }
}

impl SeriesKind {
    /// Its name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            SeriesKind::RandomRead => "Random read",
            SeriesKind::RandomWrite => "Random write",
            SeriesKind::SequentialRead => "Sequential read",
            SeriesKind::SequentialWrite => "Sequential write",
            SeriesKind::Log => "Log",
        }
    }

    /// What qualifies `read` or `write` in text, to distinguish it from other loads:
    /// the log's writes are sequential, but each is waited for and durable.
    pub fn pattern(self) -> &'static str {
        match self {
            SeriesKind::RandomRead | SeriesKind::RandomWrite => "random",
            SeriesKind::SequentialRead | SeriesKind::SequentialWrite => "sequential",
            SeriesKind::Log => "log",
        }
    }

    /// It writes.
    pub fn writes(self) -> bool {
        !matches!(self, SeriesKind::RandomRead | SeriesKind::SequentialRead)
    }

    /// Its throughput is reported in MiB/s rather than IOPS.
    pub fn reported_in_bytes(self) -> bool {
        matches!(
            self,
            SeriesKind::SequentialRead | SeriesKind::SequentialWrite
        )
    }

    /// Whether it climbs; the log is a single step with one outstanding.
    pub fn climbs(self) -> bool {
        self != SeriesKind::Log
    }

    /// The default block size.
    pub fn block_size_bytes(self) -> u64 {
        if self.reported_in_bytes() {
            64 * 1024
        } else {
            8 * 1024
        }
    }

    /// The load of one step, with one thread and one outstanding.
    ///
    /// Sequential series share one position between threads, as in SQLIO: the
    /// device sees one sequential stream whatever the number of threads.
    pub fn workload(self, block_size_bytes: u64, step: StepTime, seed: u64) -> Workload {
        let random = matches!(self, SeriesKind::RandomRead | SeriesKind::RandomWrite);
        Workload {
            read_percent: if self.writes() { 0 } else { 100 },
            pattern: if random {
                Pattern::Random {
                    distribution: Distribution::Uniform,
                }
            } else {
                Pattern::Sequential {
                    cursor: CursorKind::Shared,
                }
            },
            block_size_bytes,
            duration_ns: step.duration_ns,
            ramp_ns: step.ramp_ns,
            cache: if self == SeriesKind::Log {
                CacheMode::DirectSync
            } else {
                CacheMode::Direct
            },
            seed,
            ..Workload::default()
        }
    }
}

/// How long a step lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTime {
    /// Before measuring, in nanoseconds.
    pub ramp_ns: u64,
    /// Measured time in nanoseconds.
    pub duration_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{Load, TargetFacts};

    #[test]
    fn what_a_series_always_does_is_said_by_its_name_alone() {
        let target = TargetFacts::unknown();
        let step = StepTime {
            ramp_ns: 1,
            duration_ns: 1,
        };
        for kind in SeriesKind::ALL {
            let workload = kind.workload(8192, step, 1);
            let load = Load {
                host: "here",
                ladder_part: Some(kind.name()),
                job: None,
                target: &target,
                further_targets: &[],
                workload: &workload,
                engine: "io_uring",
            };
            assert_eq!(load.particulars(), [""; 0], "{}", kind.name());
        }
    }
}
