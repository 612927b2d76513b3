//! A cap of the target that `limits` found earlier: no load exceeds it for
//! long.

use crate::steps::limits;
use crate::steps::recording::FileRecording;
use stripewise_conductor::failure::Outcome;
use stripewise_store::Store;
use stripewise_studies::headroom::{CapNature, KnownCap};
use stripewise_studies::limits::{
    AppliesTo, BucketUnit, BurstFound, CapFound, CapKind, LimitsDocument,
};
use stripewise_trace::replay::Recording;
use stripewise_units::Kind;

/// The cap that this recording reaches first, from the last `limits` of the target.
pub(super) fn known_cap(
    store: &Store,
    target: &str,
    file: Option<&FileRecording>,
) -> Outcome<Option<KnownCap>> {
    let Some(file) = file else {
        return Ok(None);
    };
    let mut last: Option<LimitsDocument> = None;
    let mut see = |stored: stripewise_store::StoredDocument| {
        // The newest come first; a document of another version, or a damaged one, is ignored.
        if last.is_none() {
            let document: Option<LimitsDocument> = serde_json::from_str(&stored.json).ok();
            last = document.filter(|one| one.target == target && is_of_target(one));
        }
    };
    store.each_readable_document(limits::KIND, &mut see)?;
    Ok(last.and_then(|limits| first_met(&limits, &file.recording)))
}

/// Whether the result is complete and about the target, not about a control group of that time.
fn is_of_target(limits: &LimitsDocument) -> bool {
    let group = limits.control_group.as_ref();
    limits.refused.is_none() && !limits.partial && !group.is_some_and(|group| group.reached)
}

/// The first of those that limit throughput; if there are none, of those that may.
fn first_met(limits: &LimitsDocument, recording: &Recording) -> Option<KnownCap> {
    // The runs determine what the device itself can do.
    let caps = limits.caps.iter().filter(|cap| cap.limiter != Some(false));
    let behind_burst = limits.burst.as_ref();
    let behind_burst = behind_burst.map(|burst| behind_burst_of(limits, burst));
    let behind_burst = behind_burst.map(|cap| (cap, CapNature::BehindBurst));
    let caps = caps.map(|cap| match cap.limiter {
        Some(_) => (cap.clone(), CapNature::Limiter),
        None => (cap.clone(), CapNature::Undecided),
    });
    // Where writes share the cap on operations, they are taken to share that on bytes.
    let is_shared = (limits.caps.iter()).any(|cap| cap.applies_to == AppliesTo::Both);
    let met = caps.chain(behind_burst).filter_map(|(mut cap, nature)| {
        if is_shared && cap.applies_to == AppliesTo::ReadsUntestedWrites {
            cap.applies_to = AppliesTo::Both;
        }
        let once = rate(&cap, recording);
        (once > 0.0).then(|| KnownCap {
            unit: match cap.kind {
                CapKind::Iops => "IOPS".to_owned(),
                CapKind::BytesPerS => "bytes/s".to_owned(),
            },
            applies_to: cap.applies_to,
            per_s: cap.per_s,
            factor: cap.per_s / once,
            low: cap.per_s_low / once,
            high: cap.per_s_high / once,
            nature,
            series: limits.id.clone(),
        })
    });
    let is_undecided = |cap: &KnownCap| cap.nature == CapNature::Undecided;
    met.min_by(|one, other| {
        let certain = is_undecided(one).cmp(&is_undecided(other));
        certain.then(one.factor.total_cmp(&other.factor))
    })
}

/// The rate after a spent burst, as certain as the cap before it.
fn behind_burst_of(limits: &LimitsDocument, burst: &BurstFound) -> CapFound {
    let kind = match burst.bucket_unit {
        BucketUnit::Operations => CapKind::Iops,
        BucketUnit::Bytes => CapKind::BytesPerS,
    };
    let before = limits.caps.iter().find(|cap| cap.kind == kind);
    let end = |of: fn(&CapFound) -> f64| {
        let share = before.map_or(1.0, |cap| of(cap) / cap.per_s);
        burst.sustained_per_s * share
    };
    CapFound {
        kind,
        applies_to: before.map_or(AppliesTo::Both, |cap| cap.applies_to),
        per_s: burst.sustained_per_s,
        per_s_low: end(|cap| cap.per_s_low),
        per_s_high: end(|cap| cap.per_s_high),
        limiter: Some(true),
    }
}

/// The recording's demand per second, in the unit of the cap.
fn rate(cap: &CapFound, recording: &Recording) -> f64 {
    let kinds: &[Kind] = match cap.applies_to {
        AppliesTo::Reads | AppliesTo::ReadsUntestedWrites => &[Kind::Read],
        AppliesTo::Writes => &[Kind::Write],
        AppliesTo::Both => &[Kind::Read, Kind::Write],
    };
    let amount = kinds.iter().map(|&kind| {
        let (operations, bytes) = recording.of_kind(kind);
        match cap.kind {
            CapKind::Iops => operations,
            CapKind::BytesPerS => bytes,
        }
    });
    amount.sum::<u64>() as f64 * 1e9 / recording.duration_ns().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_studies::limits::ControlGroupLimit;
    use stripewise_trace::Operation;

    /// 100 IOPS of 8 KiB, three quarters reads, for 100 s.
    fn recording() -> Recording {
        let operations = (0..10_000u64).map(|k| {
            let kind = if k % 4 == 0 { Kind::Write } else { Kind::Read };
            Operation::at(k * 10_000_000, kind, k * 8_192, 8_192)
        });
        Recording::of_operations(operations.collect(), (Some(1), 0.0)).unwrap()
    }

    fn cap(kind: CapKind, applies_to: AppliesTo, per_s: f64, limiter: Option<bool>) -> CapFound {
        CapFound {
            kind,
            applies_to,
            per_s,
            per_s_low: 0.9 * per_s,
            per_s_high: 1.1 * per_s,
            limiter,
        }
    }

    #[test]
    fn the_cap_that_a_load_meets_first_is_the_one_that_bounds_it() {
        let recording = recording();
        let first = |caps: Vec<CapFound>| {
            let limits = LimitsDocument {
                caps,
                ..LimitsDocument::default()
            };
            first_met(&limits, &recording)
        };
        let iops = cap(CapKind::Iops, AppliesTo::Both, 300.0, Some(true));
        let bytes = cap(
            CapKind::BytesPerS,
            AppliesTo::Reads,
            75.0 * 8_192.0 * 2.0,
            None,
        );
        let device = cap(CapKind::Iops, AppliesTo::Writes, 25.0, Some(false));
        let met = first(vec![iops.clone(), device.clone()]).unwrap();
        assert_eq!(met.unit, "IOPS");
        assert!(
            (met.factor - 3.0).abs() < 0.01 && (met.high - 3.3).abs() < 0.01,
            "{met:?}"
        );
        // Closer, but not known to be a limiter's.
        let met = first(vec![iops.clone(), bytes.clone()]).unwrap();
        assert_eq!(
            (met.unit.as_str(), met.nature),
            ("IOPS", CapNature::Limiter)
        );
        let met = first(vec![bytes.clone()]).unwrap();
        assert_eq!(met.nature, CapNature::Undecided);
        assert_eq!(met.applies_to, AppliesTo::Reads);
        let bytes = CapFound {
            limiter: Some(true),
            ..bytes
        };
        let met = first(vec![iops.clone(), bytes, device.clone()]).unwrap();
        assert_eq!(met.unit, "bytes/s");
        assert!((met.factor - 2.0).abs() < 0.01, "{met:?}");
        assert_eq!(first(vec![device]), None);
        // All of its 100 a second count, not the 75 reads alone.
        let bytes = cap(
            CapKind::BytesPerS,
            AppliesTo::ReadsUntestedWrites,
            200.0 * 8_192.0,
            Some(true),
        );
        let met = first(vec![iops, bytes]).unwrap();
        assert_eq!(
            (met.unit.as_str(), met.applies_to),
            ("bytes/s", AppliesTo::Both)
        );
        assert!((met.factor - 2.0).abs() < 0.01, "{met:?}");
    }

    #[test]
    fn what_lies_behind_a_burst_bounds_the_load() {
        let iops = cap(CapKind::Iops, AppliesTo::Both, 300.0, Some(true));
        // After a burst at 300 IOPS, 150 remain.
        let burst = BurstFound {
            burst_per_s: 300.0,
            sustained_per_s: 150.0,
            bucket: 1e6,
            bucket_low: 1e6,
            bucket_high: 1e6,
            bucket_unit: BucketUnit::Operations,
            refill_per_s: None,
            refill_per_s_low: None,
            refill_per_s_high: None,
            lasts_s: 6_000.0,
            lasts_s_low: 6_000.0,
            lasts_s_high: 6_000.0,
        };
        let limits = LimitsDocument {
            caps: vec![iops],
            burst: Some(burst),
            ..LimitsDocument::default()
        };
        let met = first_met(&limits, &recording()).unwrap();
        assert!(
            (met.factor - 1.5).abs() < 0.01 && (met.low - 1.35).abs() < 0.01,
            "{met:?}"
        );
        assert_eq!(met.nature, CapNature::BehindBurst);
    }

    #[test]
    fn what_a_control_group_let_through_is_no_cap_of_the_target() {
        let of = |reached, partial| LimitsDocument {
            control_group: Some(ControlGroupLimit {
                reached,
                ..ControlGroupLimit::default()
            }),
            partial,
            ..LimitsDocument::default()
        };
        assert!(is_of_target(&of(false, false)));
        assert!(!is_of_target(&of(true, false)));
        assert!(!is_of_target(&of(false, true)));
    }
}
