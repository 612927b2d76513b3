//! What `check` measures: the baseline's workloads, those named in
//! requirements, or a gentle form of either.

use super::{CheckLoad, CheckOptions};
use crate::steps::baselines::StoredBaseline;
use crate::steps::rerun::{Step, StepTarget, Work};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::PlacedJob;
use stripewise_lab::compare::Requirement;
use stripewise_lab::{SeriesKind, StepTime};
use stripewise_targets::Size;
use stripewise_units::{distinct, is_sim_target, path_of};
use stripewise_workload::{
    Arrivals, Distribution, Pattern, Rate, Request, SIMULATED_OPERATIONS_MIN, Steady, Workload,
};

/// Reads per second of a gentle check: a fiftieth of what one spinning disk can do
/// in bursts, and nothing to an array.
const GENTLE_IOPS: f64 = 50.0;

/// The usual load of a data sheet's random figures: 32 in flight.
const THREADS: u32 = 8;
const OUTSTANDING: u32 = 4;

/// Measured time of a run without a baseline.
const DURATION_NS: u64 = 10_000_000_000;

/// All workloads to measure.
pub fn work(options: &CheckOptions, baseline: Option<&StoredBaseline>) -> Outcome<Work> {
    let work = match (baseline, &options.target) {
        (Some(baseline), other_target) => {
            refuse_loads(options)?;
            Work::of_records(&baseline.runs, other_target.as_deref())?
        }
        (None, Some(target)) => of_requirements(options, target)?,
        (None, None) => {
            return Err(Failure::usage(
                "there is no baseline, and no target is named",
                "name what to measure: `stripewise check TARGET --require ...`, or keep a baseline first: `stripewise baseline set ID`",
            ));
        }
    };
    if !options.gentle {
        return Ok(work);
    }
    if work.targets.iter().any(|target| target.is_made) {
        return Err(Failure::target(
            "a gentle check only reads, and a directory needs a test file to be written first",
            "name an existing file: one of the server's own, or one that `stripewise prepare` made in a quiet hour",
        ));
    }
    Ok(gentle(work))
}

/// Load switches apply only without a baseline.
fn refuse_loads(options: &CheckOptions) -> Outcome<()> {
    if options.load != CheckLoad::default() {
        return Err(Failure::usage(
            "the baseline defines what is measured, and a workload switch would change that",
            "leave the switch out, or check without a baseline: --baseline none",
        ));
    }
    Ok(())
}

/// A step for each part that a requirement names or implies.
fn of_requirements(options: &CheckOptions, target: &str) -> Outcome<Work> {
    let kinds = options.require.iter().map(kind_of);
    let mut kinds = distinct(kinds.collect::<Outcome<Vec<_>>>()?);
    // Reads before writes.
    kinds.sort_by_key(|kind| SeriesKind::ALL.iter().position(|known| known == kind));
    let mut work = Work::default();
    let is_made = path_of(target).is_dir();
    let size = options.load.size_bytes;
    let index = work.add(StepTarget {
        name: target.to_owned(),
        size: match size {
            Some(bytes) => Size::Exactly(bytes),
            None => Size::Auto,
        },
        is_made,
        number: usize::from(is_made),
    });
    for kind in kinds {
        let workload = workload_of(options, kind, size.filter(|_| !is_made));
        work.steps.push(Step {
            part: kind.name().to_owned(),
            jobs: vec![PlacedJob {
                name: kind.name().to_owned(),
                workload,
                targets: vec![index],
            }],
            request: Request {
                simulated_operations_min: match options.load.duration_ns {
                    Some(_) => 0,
                    None => SIMULATED_OPERATIONS_MIN,
                },
                // Requirements on writes apply to the sustained rate; on simulated volumes, reads
                // spend a burst credit, too.
                steady: match kind.writes() || is_sim_target(target) {
                    true => Steady::Quick,
                    false => Steady::No,
                },
                cache_size_bytes: options.load.cache_size_bytes,
                ..Request::default()
            },
        });
    }
    Ok(work)
}

fn workload_of(options: &CheckOptions, kind: SeriesKind, size_bytes: Option<u64>) -> Workload {
    let load = &options.load;
    let block = load.block_size_bytes.unwrap_or(kind.block_size_bytes());
    let time = StepTime {
        ramp_ns: 0,
        duration_ns: load.duration_ns.unwrap_or(DURATION_NS),
    };
    let (threads, outstanding) = if kind.climbs() {
        (
            load.threads.unwrap_or(THREADS),
            load.outstanding.unwrap_or(OUTSTANDING),
        )
    } else {
        (1, 1)
    };
    Workload {
        threads,
        outstanding,
        size_bytes,
        ..kind.workload(block, time, Workload::SEED)
    }
}

fn kind_of(requirement: &Requirement) -> Outcome<SeriesKind> {
    let Some(name) = requirement.name() else {
        return Ok(if requirement.is_of_writes() {
            SeriesKind::RandomWrite
        } else {
            SeriesKind::RandomRead
        });
    };
    SeriesKind::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = SeriesKind::ALL.iter().map(|kind| kind.name()).collect();
        Failure::usage(
            format!("a requirement names `{name}`; without a baseline there is no such job"),
            format!("without a baseline there are {}", known.join(", ")),
        )
    })
}

/// Reads only, one outstanding, at a low rate, without options of writes and discards.
fn gentle_load(given: &Workload) -> Workload {
    let pattern = match given.pattern {
        Pattern::Random {
            distribution: Distribution::OnePass { .. },
        } => Pattern::Random {
            distribution: Distribution::Covering,
        },
        pattern => pattern,
    };
    Workload {
        read_percent: 100,
        discard_percent: 0,
        pattern,
        threads: 1,
        outstanding: 1,
        sync: None,
        atomic: false,
        dsync: false,
        think_time: None,
        rate: Some(Rate {
            iops: GENTLE_IOPS,
            arrivals: Arrivals::Fixed,
        }),
        ..given.clone()
    }
}

/// The gentle load of each distinct pattern and block size.
fn gentle(work: Work) -> Work {
    let mut steps: Vec<Step> = Vec::new();
    for step in &work.steps {
        for job in &step.jobs {
            let workload = gentle_load(&job.workload);
            let known = steps.iter().any(|known| {
                let there = &known.jobs[0];
                there.targets == job.targets
                    && there.workload.pattern == workload.pattern
                    && there.workload.block_size_bytes == workload.block_size_bytes
            });
            if !known {
                steps.push(Step {
                    part: "gentle".to_owned(),
                    jobs: vec![PlacedJob {
                        name: job.name.clone(),
                        workload,
                        targets: job.targets.clone(),
                    }],
                    request: Request {
                        simulated_operations_min: 0,
                        ..step.request.clone()
                    },
                });
            }
        }
    }
    Work { steps, ..work }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_workload::{SyncPolicy, check};

    #[test]
    fn every_load_can_be_made_gentle_and_then_only_reads() {
        let writes = Workload {
            read_percent: 0,
            ..Workload::default()
        };
        let distribution = Distribution::OnePass { spare_percent: 15 };
        for load in [
            Workload {
                discard_percent: 100,
                ..writes.clone()
            },
            Workload {
                read_percent: 70,
                discard_percent: 10,
                sync: Some(SyncPolicy::fdatasync(1)),
                ..writes.clone()
            },
            Workload {
                pattern: Pattern::Random { distribution },
                ..writes.clone()
            },
            Workload {
                atomic: true,
                dsync: true,
                ..writes.clone()
            },
        ] {
            assert_eq!(check(&load), Ok(()));
            let gentle = gentle_load(&load);
            assert_eq!(check(&gentle), Ok(()), "{load:?}");
            assert_eq!(gentle.operation_name(), "read");
        }
    }
}
