//! How much of what was written is held in the drive's own memory.
//!
//! At the start the host is served faster until that memory is full, and only then sees the rate of
//! the flash; so it sees the end of a fast part late, by the amount held. The flash itself was used
//! up before. The amount shows at the start, as what was written ahead of the following rate,
//! unless the path to the drive is no faster than its flash.

use super::{Curve, Step};

/// Memory in which drives hold writes, if its size does not show.
const ASSUMED_BYTES: u64 = 128 << 20;
/// Searched for in the first writes: such memory is not larger.
const LOOK_BYTES: u64 = 1 << 30;
/// Being ahead by this many steps is not chance.
const STEPS_MIN: u64 = 1;

/// Bytes that may have been held when the fast part of a curve seemed to end; 0 if it has none.
pub(super) fn held_bytes(steps: &[Step], curve: &Curve) -> u64 {
    let Some(fast) = curve.fast_part() else {
        return 0;
    };
    let Some(step_bytes) = steps.first().map(|step| step.length_bytes) else {
        return 0;
    };
    let ahead = ahead_bytes(steps, fast.fast_bytes_per_s);
    if ahead > STEPS_MIN * step_bytes {
        return ahead;
    }
    // After the fast part the memory fills at the fast rate and empties at the slow one.
    let slow = (fast.slow_bytes_per_s / fast.fast_bytes_per_s).clamp(0.0, 0.8);
    (ASSUMED_BYTES as f64 / (1.0 - slow)) as u64
}

/// The largest amount written ahead of a rate, near the start.
fn ahead_bytes(steps: &[Step], bytes_per_s: f64) -> u64 {
    let (mut bytes, mut time_ns, mut most) = (0u64, 0u64, 0.0f64);
    for step in steps {
        bytes += step.length_bytes;
        time_ns += step.duration_ns;
        if bytes > LOOK_BYTES {
            break;
        }
        most = most.max(bytes as f64 - bytes_per_s * time_ns as f64 / 1e9);
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::*;

    /// Steps of 16 MiB at these rates in MiB/s.
    fn steps(parts: &[(usize, f64)]) -> Vec<Step> {
        let rates = parts.iter().flat_map(|&(count, rate)| vec![rate; count]);
        rates
            .enumerate()
            .map(|(number, rate)| Step {
                from_bytes: number as u64 * (16 << 20),
                length_bytes: 16 << 20,
                duration_ns: (16e9 / rate) as u64,
                temperature_millicelsius: None,
            })
            .collect()
    }

    #[test]
    fn what_was_written_ahead_at_the_start_is_held_at_the_end() {
        // 64 MiB twice as fast as what follows: 32 MiB ahead.
        let curve = analyse(&steps(&[(4, 6000.0), (200, 3000.0), (200, 1000.0)]), 1);
        let fast = curve.fast_part().expect("a fast part");
        assert!(fast.held_bytes.abs_diff(32 << 20) < 2 << 20, "{fast:?}");
        let [low, high] = fast.interval_bytes();
        assert_eq!(high, fast.end.interval_bytes[1]);
        assert_eq!(low, fast.end.interval_bytes[0] - fast.held_bytes);
    }

    #[test]
    fn where_nothing_is_ahead_some_is_allowed_for() {
        let curve = analyse(&steps(&[(200, 3000.0), (200, 1500.0)]), 1);
        let held = curve.fast_part().expect("a fast part").held_bytes;
        assert!(held.abs_diff(2 * ASSUMED_BYTES) < 2 << 20, "{held}");
        let even = analyse(&steps(&[(200, 3000.0)]), 1);
        assert_eq!(even.held_bytes, 0);
    }
}
