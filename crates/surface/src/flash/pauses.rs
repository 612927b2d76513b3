//! Pauses: writes that take far longer than others, and whether they are evenly spaced.
//!
//! Garbage collection makes a drive pause when it needs space, so its pauses are counted in bytes
//! written. Random pauses have gaps like those of a Poisson process, whose standard deviation
//! equals their mean. Gaps that vary less than in all but one of a thousand such series are a
//! pattern.

use crate::device::{Device, ProbeIo, ProbeResult, StopReason};
use serde::{Deserialize, Serialize};
use stripewise_stats::{Random, mean, mean_interval, median, standard_deviation};

/// Bytes per write, and concurrent writes.
const PIECE_BYTES: u64 = 64 << 10;
const PIECES: u64 = 4;
/// A pause takes this multiple of the usual time, and this much longer.
const TIMES: f64 = 6.0;
const LONGER_NS: f64 = 1e6;
/// Fewest pauses for a pattern.
const PAUSES_MIN: usize = 6;
const SERIES: usize = 4_000;
const CHANCE_MAX: f64 = 0.001;

/// Amount to write.
#[derive(Clone, Copy, Debug)]
pub struct PausePlan {
    /// Total bytes; wraps around to byte 0.
    pub bytes: u64,
    /// Time limit for writing.
    pub time_ns_max: u64,
}

/// Latencies of writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteLatencies {
    /// Nanoseconds of each batch of 256 KiB, in order of time.
    pub batches_ns: Vec<u64>,
    /// Why it was cut short, if it was.
    pub stop_reason: Option<StopReason>,
}

impl WriteLatencies {
    /// Bytes of a batch.
    pub const BATCH_BYTES: u64 = PIECE_BYTES * PIECES;

    /// Bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.batches_ns.len() as u64 * Self::BATCH_BYTES
    }
}

/// The pattern of pauses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pauses {
    /// Pauses seen.
    pub count: u64,
    /// Usual duration of a batch of writes.
    pub usual_ns: u64,
    /// Median length of a pause.
    pub length_ns: Option<u64>,
    /// Interval of the mean length (95 %).
    pub length_ns_interval: Option<[u64; 2]>,
    /// Bytes from one pause to the next, if they are evenly spaced.
    pub every_bytes: Option<u64>,
    /// Its interval (95 %).
    pub every_bytes_interval: Option<[u64; 2]>,
    /// Probability of gaps this even by chance.
    pub chance: Option<f64>,
    /// Why there is no pattern.
    pub refused: Option<String>,
}

/// Writes 256 KiB at a time, from byte 0.
pub fn write_for_pauses<D: Device>(device: &mut D, plan: &PausePlan) -> WriteLatencies {
    let deadline_ns = device.now_ns().saturating_add(plan.time_ns_max);
    let room = device.size_bytes() / WriteLatencies::BATCH_BYTES;
    let mut writing = WriteLatencies::default();
    let mut answers: Vec<ProbeResult> = Vec::new();
    let mut failed = 0;
    for number in 0..plan.bytes / WriteLatencies::BATCH_BYTES {
        if device.now_ns() >= deadline_ns {
            writing.stop_reason = Some(StopReason::OutOfTime);
            break;
        }
        let from = number % room.max(1) * WriteLatencies::BATCH_BYTES;
        let requests: [ProbeIo; PIECES as usize] = std::array::from_fn(|piece| ProbeIo {
            offset_bytes: from + piece as u64 * PIECE_BYTES,
            length_bytes: PIECE_BYTES as u32,
            write: true,
        });
        let begun_ns = device.now_ns();
        if let Err(stop_reason) = device.run_batch(&requests, &mut answers) {
            writing.stop_reason = Some(stop_reason);
            break;
        }
        writing.batches_ns.push(device.now_ns() - begun_ns);
        failed += answers.iter().filter(|answer| !answer.whole).count();
        if failed > 64 {
            writing.stop_reason = Some(StopReason::Gone(format!("{failed} writes failed")));
            break;
        }
    }
    writing
}

/// The pauses after the first tenth, in which buffers fill.
pub fn pauses(writing: &WriteLatencies, seed: u64) -> Pauses {
    let times: Vec<f64> = writing.batches_ns[writing.batches_ns.len() / 10..]
        .iter()
        .map(|ns| *ns as f64)
        .collect();
    let Some(usual) = median(&times) else {
        return Pauses {
            refused: Some("nothing was written".to_owned()),
            ..Pauses::default()
        };
    };
    let limit = (usual * TIMES).max(usual + LONGER_NS);
    let at: Vec<usize> = (0..times.len()).filter(|k| times[*k] > limit).collect();
    // Adjacent ones are one pause.
    let mut begins: Vec<usize> = Vec::new();
    let mut lengths: Vec<f64> = Vec::new();
    for (number, &place) in at.iter().enumerate() {
        match number > 0 && at[number - 1] + 1 == place {
            true => *lengths.last_mut().expect("one before") += times[place] - usual,
            false => {
                begins.push(place);
                lengths.push(times[place] - usual);
            }
        }
    }
    let mut found = Pauses {
        count: begins.len() as u64,
        usual_ns: usual as u64,
        length_ns: median(&lengths).map(|ns| ns as u64),
        ..Pauses::default()
    };
    let length = mean_interval(&lengths, 0.95);
    found.length_ns_interval = length.map(|one| [one.low.max(0.0) as u64, one.high as u64]);
    if begins.len() < PAUSES_MIN {
        found.refused = Some(format!(
            "{} pauses in {}: {PAUSES_MIN} at least show a pattern; write more with --write",
            begins.len(),
            stripewise_units::format_bytes(writing.bytes())
        ));
        return found;
    }
    let gaps: Vec<f64> = begins
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 * WriteLatencies::BATCH_BYTES as f64)
        .collect();
    let chance = chance_of(&gaps, seed);
    found.chance = Some(chance);
    if chance > CHANCE_MAX {
        found.refused = Some(format!(
            "pauses come at uneven distances: gaps as even as these are met by chance in {:.1} % of all series",
            chance * 100.0
        ));
        return found;
    }
    if let Some(gap) = mean_interval(&gaps, 0.95) {
        // A pause is seen in the batch that it hits: a gap is accurate to one batch.
        let edge = WriteLatencies::BATCH_BYTES as f64 / gaps.len() as f64;
        found.every_bytes = Some(gap.value as u64);
        found.every_bytes_interval =
            Some([(gap.low - edge).max(0.0) as u64, (gap.high + edge) as u64]);
    }
    found
}

/// The share of random series with gaps this even.
fn chance_of(gaps: &[f64], seed: u64) -> f64 {
    let unevenness = |gaps: &[f64]| {
        let middle = mean(gaps).unwrap_or(1.0);
        standard_deviation(gaps).unwrap_or(middle) / middle.max(1e-9)
    };
    let seen = unevenness(gaps);
    let mut random = Random::new(seed);
    let as_even = (0..SERIES)
        .filter(|_| {
            let drawn: Vec<f64> = gaps.iter().map(|_| -libm::log(random.uniform())).collect();
            unevenness(&drawn) <= seen
        })
        .count();
    (as_even + 1) as f64 / (SERIES + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writing(pause: impl Fn(usize) -> bool) -> WriteLatencies {
        let time = |number| if pause(number) { 80_000_000 } else { 500_000 };
        WriteLatencies {
            batches_ns: (0..4_000).map(time).collect(),
            stop_reason: None,
        }
    }

    #[test]
    fn even_pauses_are_a_pattern_and_random_ones_are_none() {
        let even = pauses(&writing(|number| number % 137 == 50), 1);
        assert_eq!(even.every_bytes, Some(137 * WriteLatencies::BATCH_BYTES));
        assert_eq!(even.length_ns, Some(79_500_000));
        let mut false_ones = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let chosen: Vec<bool> = (0..4_000).map(|_| random.below(140) == 0).collect();
            let found = pauses(&writing(|number| chosen[number]), seed);
            assert!(found.refused.is_some() != found.every_bytes.is_some());
            false_ones += usize::from(found.every_bytes.is_some());
        }
        assert!(false_ones <= 2, "{false_ones}");
        let none = pauses(&writing(|_| false), 1);
        assert_eq!((none.count, none.length_ns), (0, None));
        assert!(none.refused.is_some());
        assert!(pauses(&WriteLatencies::default(), 1).refused.is_some());
    }
}
