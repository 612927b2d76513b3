//! Compares two profiles: the same disk at two times, or two disks.
//!
//! Rates are compared place by place (at the same fraction of the surface) by the logarithm of
//! their ratio: the Hodges-Lehmann estimate with the interval of the signed-rank test. A single
//! place has changed if its ratio differs from the others by more than six of their median absolute
//! deviations, and by at least 5 %. Access times are compared as a whole, by the shift of their
//! logarithms. Spots are matched if they overlap.

use super::{AccessAt, RateAt};
use serde::{Deserialize, Serialize};
use stripewise_stats::{median, rank_sum_interval, signed_rank_interval};

/// Fewest common places for a result.
const PLACES_MIN: usize = 12;
const DEVIATIONS: f64 = 6.0;
const CHANGE_MIN: f64 = 0.05;
/// Factor by which a spot must be slower or faster, otherwise it is the same.
const SPOT_FACTOR: f64 = 1.5;
/// Most accesses compared of a long profile.
const ACCESSES_MAX: usize = 1_000;

/// The compared parts of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Bytes of the target.
    pub size_bytes: u64,
    /// By position.
    pub rates: &'a [RateAt],
    /// Random reads.
    pub accesses: &'a [AccessAt],
}

/// A change in percent and its interval (95 %).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangePercent {
    /// B relative to A.
    pub percent: f64,
    /// Its interval.
    pub interval: [f64; 2],
}

impl ChangePercent {
    /// Whether the interval excludes 0.
    pub fn is_found(&self) -> bool {
        self.interval[0] > 0.0 || self.interval[1] < 0.0
    }
}

/// A single place whose rate changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlaceChange {
    /// First byte on A.
    pub offset_bytes: u64,
    /// Rate of A.
    pub before_bytes_per_s: f64,
    /// Rate of B.
    pub after_bytes_per_s: f64,
}

/// Comparison of two profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Compared {
    /// Number of common places.
    pub places: u64,
    /// Change of the rate; null if there are too few places.
    pub rate: Option<ChangePercent>,
    /// Single places that changed.
    pub changed_places: Vec<PlaceChange>,
    /// Change of the access time.
    pub access: Option<ChangePercent>,
}

/// Compares B with A.
pub fn compare(a: &Side<'_>, b: &Side<'_>) -> Compared {
    let pairs = pairs(a, b);
    let ratios: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| libm::log(b.bytes_per_s.max(1.0) / a.bytes_per_s.max(1.0)))
        .collect();
    let enough = pairs.len() >= PLACES_MIN;
    let interval = signed_rank_interval(&ratios, 0.95).filter(|_| enough);
    let accesses = |side: &Side<'_>| -> Vec<f64> {
        let all = side.accesses.iter().take(ACCESSES_MAX);
        all.map(|access| libm::log(access.latency_ns.max(1) as f64))
            .collect()
    };
    let access = rank_sum_interval(&accesses(a), &accesses(b), 0.95);
    let percent = |estimate: stripewise_stats::Estimate| {
        let percent = |value: f64| (libm::exp(value) - 1.0) * 100.0;
        ChangePercent {
            percent: percent(estimate.value),
            interval: [percent(estimate.low), percent(estimate.high)],
        }
    };
    Compared {
        places: pairs.len() as u64,
        rate: interval.map(percent),
        changed_places: match enough {
            true => changed(&pairs, &ratios),
            false => Vec::new(),
        },
        access: access.map(percent),
    }
}

/// Places at the same fraction of both surfaces.
fn pairs(a: &Side<'_>, b: &Side<'_>) -> Vec<(RateAt, RateAt)> {
    let part = |side: &Side<'_>, rate: &RateAt| {
        let middle = rate.offset_bytes + rate.length_bytes / 2;
        middle as f64 / side.size_bytes.max(1) as f64
    };
    // Half the distance between two places of A.
    let near = 0.5 / a.rates.len().max(1) as f64;
    let nearest = |at: f64| {
        let off = |rate: &&RateAt| (part(b, rate) - at).abs();
        b.rates.iter().min_by(|x, y| off(x).total_cmp(&off(y)))
    };
    a.rates
        .iter()
        .filter_map(|rate| {
            let at = part(a, rate);
            let other = nearest(at)?;
            ((part(b, other) - at).abs() <= near).then_some((*rate, *other))
        })
        .collect()
}

fn changed(pairs: &[(RateAt, RateAt)], ratios: &[f64]) -> Vec<PlaceChange> {
    let middle = median(ratios).unwrap_or(0.0);
    let off: Vec<f64> = ratios.iter().map(|ratio| (ratio - middle).abs()).collect();
    let limit = (DEVIATIONS * median(&off).unwrap_or(0.0)).max(CHANGE_MIN);
    let pairs = pairs.iter().zip(&off).filter(|(_, off)| **off > limit);
    pairs
        .map(|((a, b), _)| PlaceChange {
            offset_bytes: a.offset_bytes,
            before_bytes_per_s: a.bytes_per_s,
            after_bytes_per_s: b.bytes_per_s,
        })
        .collect()
}

/// How a spot changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpotChange {
    /// Only in B.
    New,
    /// Only in A.
    Gone,
    /// It has become unreadable.
    NowUnreadable,
    /// It has become readable again.
    ReadableAgain,
    /// Time increased by half or more.
    Slower,
    /// Time decreased by a third or more.
    Faster,
    /// Unchanged.
    Same,
}

/// How a spot changed, by its read times; `None`: not a spot; 0: unreadable.
pub fn spot_change(before_ns: Option<u64>, after_ns: Option<u64>) -> SpotChange {
    match (before_ns, after_ns) {
        (None, _) => SpotChange::New,
        (_, None) => SpotChange::Gone,
        (Some(0), Some(0)) => SpotChange::Same,
        (Some(_), Some(0)) => SpotChange::NowUnreadable,
        (Some(0), Some(_)) => SpotChange::ReadableAgain,
        (Some(before), Some(after)) => match after as f64 / before as f64 {
            ratio if ratio >= SPOT_FACTOR => SpotChange::Slower,
            ratio if ratio <= 1.0 / SPOT_FACTOR => SpotChange::Faster,
            _ => SpotChange::Same,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_stats::Random;

    fn rates(factor: f64, slow_place: Option<usize>, seed: u64) -> Vec<RateAt> {
        let mut random = Random::new(seed);
        (0..64)
            .map(|number| {
                let own = if slow_place == Some(number) { 0.5 } else { 1.0 };
                RateAt {
                    offset_bytes: number as u64 * 1000,
                    length_bytes: 100,
                    bytes_per_s: 1e8 * factor * own * (1.0 + 0.01 * random.normal()),
                }
            })
            .collect()
    }

    fn compared(b: &[RateAt]) -> Compared {
        let a = rates(1.0, None, 1);
        let side = |rates| Side {
            size_bytes: 64_000,
            rates,
            accesses: &[],
        };
        compare(&side(&a), &side(b))
    }

    #[test]
    fn the_same_is_the_same_and_a_tenth_less_is_found() {
        let same = compared(&rates(1.0, None, 2));
        assert!(!same.rate.expect("places").is_found(), "{same:?}");
        assert_eq!(same.changed_places, []);
        let less = compared(&rates(0.9, None, 3));
        let [low, high] = less.rate.expect("places").interval;
        assert!(low < -10.0 && -10.0 < high && high < -9.0, "{less:?}");
        assert_eq!(compared(&rates(1.0, None, 2)[..3]).rate, None);
    }

    #[test]
    fn one_place_that_changed_is_named() {
        let found = compared(&rates(0.9, Some(40), 4));
        let places: Vec<u64> = found
            .changed_places
            .iter()
            .map(|p| p.offset_bytes)
            .collect();
        assert_eq!(places, [40_000]);
    }

    #[test]
    fn spots_come_go_and_change() {
        let cases = [
            (None, Some(9), SpotChange::New),
            (Some(9), None, SpotChange::Gone),
            (Some(9), Some(0), SpotChange::NowUnreadable),
            (Some(0), Some(9), SpotChange::ReadableAgain),
            (Some(100), Some(150), SpotChange::Slower),
            (Some(150), Some(100), SpotChange::Faster),
            (Some(100), Some(110), SpotChange::Same),
        ];
        for (before, after, change) in cases {
            assert_eq!(spot_change(before, after), change);
        }
    }
}
