//! Whether anything turns or moves below: pages distributed over the channels of slow flash look
//! like stripes on disks.
//!
//! A single read waits for the platter: from none to a full turn, so that the middle half of the
//! reads spreads over half a turn. And it waits for the arm: longer if the preceding one was far
//! away. Flash does neither.

use super::reads::Reader;
use crate::device::{Device, StopReason};
use stripewise_stats::{Quantile, median, quantile};

/// Rounds of nearby reads, and of reads all over the target.
const ROUNDS: usize = 3;
/// Reads of a round, one at a time.
const READS: usize = 128;
/// Of these, this many first bring the arms of up to 32 disks to the place.
const READS_FIRST: usize = 64;
/// Nearby reads are within this fraction of the target.
const NEAR_SHARE: u64 = 64;
/// The middle half of nearby reads spreads over this fraction of their median if something turns. A
/// turn of T plus 10 % for the rest gives 0.83; the nearer of two copies 0.6.
const SPREAD_MIN: f64 = 0.3;
/// How much longer reads all over take if something moves, and by how many standard errors.
const DISTANCE_MIN: f64 = 1.1;
const ERRORS_MIN: f64 = 4.0;

/// Whether reads show that something turns or moves. False if they end early.
pub(super) fn has_moving_parts<D: Device>(reader: &mut Reader<'_, D>) -> bool {
    let size_bytes = reader.size_bytes();
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS as u64 {
        let start = size_bytes / (ROUNDS as u64 + 1) * round;
        let read = single_reads(reader, (start, size_bytes / NEAR_SHARE), &mut near)
            .and_then(|()| single_reads(reader, (0, size_bytes), &mut far));
        if read.is_err() {
            break;
        }
    }
    shows_moving_parts(&near, &far) == Some(true)
}

/// Reads single sectors at random offsets in part of the target; returns each latency in ns.
fn single_reads<D: Device>(
    reader: &mut Reader<'_, D>,
    (start, length): (u64, u64),
    latencies: &mut Vec<f64>,
) -> Result<(), StopReason> {
    let sector = reader.sector_bytes();
    for number in 0..READS {
        let at = start / sector + reader.below((length / sector).max(1));
        let answer = reader.run_batch(&[at * sector])?[0];
        if answer.whole && number >= READS_FIRST {
            latencies.push(answer.latency_ns as f64);
        }
    }
    Ok(())
}

/// From the latencies of nearby reads, and of reads all over; `None` for fewer than 32.
fn shows_moving_parts(near: &[f64], far: &[f64]) -> Option<bool> {
    if near.len().min(far.len()) < 32 {
        return None;
    }
    let middle = median(near)?;
    let spread = (quantile(near, 0.75, Quantile::Linear)?
        - quantile(near, 0.25, Quantile::Linear)?)
        / middle;
    let (near_ln, near_error) = middle_ln(near)?;
    let (far_ln, far_error) = middle_ln(far)?;
    let more = far_ln - near_ln;
    let error = libm::hypot(near_error, far_error);
    let is_farther = more > libm::log(DISTANCE_MIN) && more > ERRORS_MIN * error;
    Some(spread > SPREAD_MIN || is_farther)
}

/// The median of the logarithms, and its standard error from their median deviation.
fn middle_ln(latencies: &[f64]) -> Option<(f64, f64)> {
    let logs: Vec<f64> = latencies.iter().map(|ns| libm::log(ns.max(1.0))).collect();
    let middle = median(&logs)?;
    let away: Vec<f64> = logs.iter().map(|log| libm::fabs(log - middle)).collect();
    let deviation = 1.4826 * median(&away)?;
    // A median's error is that of a mean times the square root of pi / 2.
    Some((middle, 1.2533 * deviation / libm::sqrt(logs.len() as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_stats::Random;

    #[test]
    fn a_turn_shows_in_the_spread_and_an_arm_in_the_distance() {
        let mut random = Random::new(3);
        let mut draw = |base: f64, spread: f64| -> Vec<f64> {
            (0..192).map(|_| base + spread * random.uniform()).collect()
        };
        // A disk at 7,200 rpm; one where only the arm shows; flash.
        let turns = (draw(0.8e6, 8.3e6), draw(4e6, 8.3e6));
        assert_eq!(shows_moving_parts(&turns.0, &turns.1), Some(true));
        let moves = (draw(3e6, 0.2e6), draw(4e6, 0.2e6));
        assert_eq!(shows_moving_parts(&moves.0, &moves.1), Some(true));
        let flash = (draw(1.2e6, 0.2e6), draw(1.2e6, 0.2e6));
        assert_eq!(shows_moving_parts(&flash.0, &flash.1), Some(false));
        assert_eq!(shows_moving_parts(&flash.0[..31], &flash.1), None);
    }
}
