//! How a replay was issued, for the record.

use stripewise_results::{
    FeatureRecord, FidelityRecord, JobRecord, LatenessRecord, PunctualityRecord, ReplayRecord,
};
use stripewise_trace::fidelity::{FeatureFit, Fidelity};
use stripewise_trace::replay::{Lateness, Punctuality, lateness};
use stripewise_workload::RecordedLoad;

/// How many operations were due and issued.
pub(super) fn counts(load: &RecordedLoad, measured_ns: u64) -> ReplayRecord {
    let mut replay = ReplayRecord::default();
    let mut held = 0u64;
    for (number, one) in load.operations().iter().enumerate() {
        let left = load.left(number);
        let is_due = match load.is_closed() {
            true => left.is_some(),
            false => one.due_ns < measured_ns,
        };
        replay.due += u64::from(is_due);
        replay.issued += u64::from(is_due && left.is_some());
        held += u64::from(left.is_some_and(|(_, is_held)| is_held));
    }
    replay.held_share = held as f64 / replay.issued.max(1) as f64;
    replay
}

/// For unrestricted operations: the program's own lateness, and waits for a free slot.
pub(super) fn punctuality(
    load: &RecordedLoad,
    measured_ns: u64,
    latency_ns_p50: u64,
) -> Option<LatenessRecord> {
    let (mut due_ns, mut left_ns) = (Vec::new(), Vec::new());
    for (number, one) in load.operations().iter().enumerate() {
        if one.due_ns < measured_ns
            && let Some((at_ns, false)) = load.left(number)
        {
            due_ns.push(one.due_ns);
            left_ns.push(at_ns);
        }
    }
    lateness(&due_ns, &left_ns, latency_ns_p50).map(|found| lateness_record(&found))
}

fn lateness_record(found: &Lateness) -> LatenessRecord {
    LatenessRecord {
        verdict: match found.punctuality {
            Punctuality::Valid => PunctualityRecord::Valid,
            Punctuality::Late => PunctualityRecord::Late,
            Punctuality::Void => PunctualityRecord::Void,
        },
        p50_ns: found.p50_ns,
        p99_ns: found.p99_ns,
        max_ns: found.max_ns,
        late_share: found.late_share,
        dispersion_rise: found.dispersion_rise,
    }
}

/// For the record; `None` without any feature.
pub(super) fn fidelity_record(fidelity: &Fidelity) -> Option<FidelityRecord> {
    let worst = fidelity.worst()?;
    let [low, high] = worst.ratio_interval;
    let feature = |one: &FeatureFit| FeatureRecord {
        feature: one.feature.name().to_owned(),
        ratio: one.ratio,
    };
    Some(FidelityRecord {
        score: worst.ratio,
        low,
        high,
        worst_feature: worst.feature.name().to_owned(),
        features: fidelity.features.iter().map(feature).collect(),
    })
}

/// For the kind with the most operations.
pub(super) fn median_latency(job: &JobRecord) -> u64 {
    let (read, write) = (&job.outcome.read, &job.outcome.write);
    let most = match read.operations >= write.operations {
        true => read,
        false => write,
    };
    most.latency_ns.map_or(0, |latency| latency.p50)
}
