//! The load of one run, and its counts.

use super::{Growth, KindBeyond, PlannedRun, RAMP_NS};
use stripewise_results::{Counting, JobRecord, KindOutcome};
use stripewise_workload::{Rate, Recorded, Workload};

/// A recording at a factor.
pub(super) fn recorded(workload: &Workload, growth: Growth, planned: &PlannedRun) -> Workload {
    let named = workload.recorded.as_deref().cloned();
    let named = named.map(|named| {
        Box::new(Recorded {
            copies: if growth == Growth::Faster {
                1.0
            } else {
                planned.factor
            },
            speed: if growth == Growth::Faster {
                planned.factor
            } else {
                1.0
            },
            from_ns: planned.from_ns,
            closed: growth == Growth::WaitingUsers,
            ..named
        })
    });
    Workload {
        recorded: named,
        duration_ns: planned.length_ns,
        ramp_ns: RAMP_NS,
        seed: planned.seed,
        ..workload.clone()
    }
}

/// A job of a profile at a factor.
pub(super) fn grown(workload: &Workload, planned: &PlannedRun) -> Workload {
    let outstanding = f64::from(workload.outstanding) * planned.factor;
    Workload {
        rate: workload.rate.map(|rate| Rate {
            iops: rate.iops * planned.factor,
            ..rate
        }),
        outstanding: match workload.rate {
            Some(_) => workload.outstanding,
            None => (outstanding.round() as u32).clamp(1, 4_096),
        },
        duration_ns: planned.length_ns,
        ramp_ns: RAMP_NS,
        seed: workload.seed ^ planned.seed,
        ..workload.clone()
    }
}

/// Operations of a job, and those beyond the limit: by their due times if they have any,
/// else by completion.
pub(super) fn counts(job: &JobRecord, limit_ns: u64) -> (u64, u64) {
    if let Some(due) = &job.outcome.due {
        let seconds = due.seconds.iter();
        return seconds.fold((0, 0), |(all, beyond), second| {
            let more = second.beyond.first().copied().unwrap_or(0);
            (all + second.due, beyond + more)
        });
    }
    let kinds = [&job.outcome.read, &job.outcome.write].map(|kind| beyond(kind, limit_ns));
    (
        kinds.iter().map(|one| one.operations).sum(),
        kinds.iter().map(|one| one.beyond).sum(),
    )
}

/// Counts of one kind, by completion.
pub(super) fn beyond(kind: &KindOutcome, limit_ns: u64) -> KindBeyond {
    let Some(histogram) = &kind.histogram else {
        return KindBeyond::default();
    };
    let operations = histogram.count();
    KindBeyond {
        operations,
        beyond: operations - histogram.count_at_most(limit_ns),
    }
}

/// Whether operations of a replay waited for a slot: the target's doing where the program itself was
/// never as late, and no fault of the replay.
pub(super) fn held_up(job: &JobRecord, limit_ns: u64) -> bool {
    let lag_ns_max = Counting::transfers(vec![limit_ns]).lag_ns_max;
    let replay = job.outcome.replay.as_ref();
    let lateness = replay.and_then(|replay| replay.lateness.as_ref());
    lateness.is_some_and(|lateness| lateness.max_ns > lag_ns_max)
}
