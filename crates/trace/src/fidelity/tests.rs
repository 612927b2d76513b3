//! A recording compared with itself, with its model, and with loads that differ in one property.

use super::*;
use crate::model::extract;
use stripewise_units::Kind;

const S: u64 = 1_000_000_000;

/// Bursts of reads at hot places, and a log: 100 s.
fn recording(seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    let mut at = 0.0;
    let mut log = 1u64 << 40;
    let mut rate = 400.0;
    let mut change = 0.0;
    while at < 100e9 {
        at += -1e9 / rate * random.uniform().ln();
        if at > change {
            rate = if rate > 300.0 { 100.0 } else { 400.0 };
            change = at - 0.5e9 * random.uniform().ln();
        }
        let hot = random.uniform() * random.uniform() * random.uniform();
        let is_log = random.below(5) == 0;
        let (kind, offset_bytes, size_bytes) = if is_log {
            log += 4_096;
            (Kind::Write, log - 4_096, 4_096)
        } else {
            (Kind::Read, (hot * 20_000.0) as u64 * 262_144, 8_192)
        };
        all.push(Request {
            at_ns: at as u64,
            kind,
            offset_bytes,
            size_bytes,
        });
    }
    all.truncate(all.partition_point(|one| one.at_ns < 100 * S));
    all
}

const FACTS: Recording = Recording {
    duration_ns: 100 * S,
    resolution_ns: Some(1),
    lost_share: 0.0,
};

#[test]
fn a_recording_is_like_itself_and_like_its_model() {
    let requests = recording(1);
    let original = Original::new(&requests, &FACTS).unwrap();
    let itself = original.compare(&requests);
    assert!(itself.worst().unwrap().ratio <= 1.1, "{itself:?}");
    // 10 s hold only ten bins of 10 s.
    assert_eq!(itself.features.len(), FEATURES.len() - 1);
    let model = extract(requests.iter().copied()).unwrap();
    let again: Vec<Request> = model.requests(5).collect();
    let fidelity = original.compare(&again);
    let worst = fidelity.worst().unwrap();
    assert!(worst.ratio <= 1.5, "{worst:?}");
    let interval = worst.ratio_interval;
    assert!(interval[0] <= worst.ratio && worst.ratio <= interval[1]);
}

#[test]
fn what_differs_is_named() {
    let requests = recording(1);
    let original = Original::new(&requests, &FACTS).unwrap();
    let changed = |change: &dyn Fn(usize, &mut Request)| {
        let mut all = requests.clone();
        all.iter_mut()
            .enumerate()
            .for_each(|(k, one)| change(k, one));
        all.sort_by_key(|one| one.at_ns);
        let fidelity = original.compare(&all);
        let worst = fidelity.worst().unwrap();
        assert!(worst.ratio > 2.0, "{worst:?}");
        worst.feature
    };
    // Sizes that were merged.
    let merged = changed(&|_, one| one.size_bytes *= 4);
    assert!(
        matches!(merged, Feature::Mix | Feature::RunLength),
        "{merged:?}"
    );
    // Places without heat.
    let cold = changed(&|k, one| {
        if one.kind == Kind::Read {
            one.offset_bytes = (k as u64 * 7_919 % 20_000) * 262_144;
        }
    });
    assert!(matches!(cold, Feature::Hot | Feature::Reuse), "{cold:?}");
    // Arrivals evenly in time.
    let step = 100 * S / requests.len() as u64;
    let even = changed(&|k, one| one.at_ns = k as u64 * step);
    assert!(
        matches!(even, Feature::Dispersion { .. } | Feature::Gaps),
        "{even:?}"
    );
    assert!(!even.name().is_empty());
    // A replay that is late by ticks of 100 ms.
    let late = changed(&|_, one| one.at_ns = one.at_ns.next_multiple_of(S / 10) - 1);
    assert!(
        matches!(late, Feature::Dispersion { .. } | Feature::Gaps),
        "{late:?}"
    );
}

#[test]
fn recordings_that_say_too_little_are_refused() {
    let requests = recording(2);
    let with = |facts: Recording| Original::new(&requests, &facts).err();
    let short = Recording {
        duration_ns: 59 * S,
        ..FACTS
    };
    assert_eq!(with(short), Some(FidelityError::TooShort));
    let coarse = Recording {
        resolution_ns: Some(S),
        ..FACTS
    };
    assert_eq!(with(coarse), Some(FidelityError::WholeSeconds));
    let lost = Recording {
        lost_share: 0.002,
        ..FACTS
    };
    assert_eq!(with(lost), Some(FidelityError::Lost));
    let few = Original::new(&requests[..4_999], &FACTS).err();
    assert_eq!(few, Some(FidelityError::TooFew));
}
