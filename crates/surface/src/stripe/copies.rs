//! Whether reads of one unit's disk can be served by two disks: a mirrored pair.
//!
//! Two reads far from each other on one arm end at least a seek apart. On a pair of
//! disks some pairs of reads go to different arms, and then some end at nearly the same
//! time, as two reads of different units do.
//!
//! Ends that are seen at the very same time say nothing: that is how a busy machine looks
//! at what ended while it did something else. Where many do, a mirror is never claimed.

use super::edges::{Comb, Window};
use super::reads::Reader;
use super::{Copies, Trouble};
use crate::device::Device;
use stripewise_stats::median;

const PAIRS: usize = 200;
const PAIRS_MAX: usize = 800;
/// Ends that are farther apart than the first and closer than the second, as shares of the
/// median time of the first end, count as nearly at the same time; closer ones as seen at
/// once.
const CLOSE: [f64; 2] = [0.02, 0.12];
/// Pairs of different units that must have ended so for a judgement.
const CLOSE_MIN: f64 = 30.0;
/// Two arms have one pair in forty seen at once by chance; a machine that is busy, more.
const AT_ONCE_MAX: f64 = 0.06;

/// When the first of two reads ended, and how much later the other.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first_ns: f64,
    gap_ns: f64,
}

/// How often two reads end at nearly the same time, of one place and of two.
pub(super) fn copies<D: Device>(
    reader: &mut Reader<'_, D>,
    period: u64,
    (anchor, apart): (i128, i128),
) -> Result<Copies, Trouble> {
    let size = reader.size_bytes();
    let comb = |from: u64, to: u64| Comb {
        period,
        every: 1,
        window: Window { from, to },
    };
    // Far apart: the arm must travel from one to the other.
    let (near, far) = (comb(0, size / 3), comb(size / 3 * 2, size));
    let (mut one, mut two): (Vec<Ends>, Vec<Ends>) = Default::default();
    loop {
        for _ in 0..PAIRS {
            for (ends, other) in [(&mut one, anchor), (&mut two, apart)] {
                let first = near.position(reader, anchor);
                let second = far.position(reader, other);
                let answers = reader.together(&[first, second])?;
                let (a, b) = (answers[0].latency_ns, answers[1].latency_ns);
                ends.push(Ends {
                    first_ns: a.min(b) as f64,
                    gap_ns: a.abs_diff(b) as f64,
                });
            }
        }
        if let Some(copies) = judge(&one, &two) {
            return Ok(copies);
        }
        if one.len() >= PAIRS_MAX {
            return Ok(Copies::Unknown);
        }
    }
}

/// From pairs of reads of one unit, and of two.
fn judge(one: &[Ends], two: &[Ends]) -> Option<Copies> {
    let all: Vec<f64> = one.iter().chain(two).map(|ends| ends.first_ns).collect();
    let usual_ns = median(&all)?;
    let count = |ends: &[Ends], [low, high]: [f64; 2]| {
        let within = |ends: &&Ends| (low..high).contains(&(ends.gap_ns / usual_ns));
        ends.iter().filter(within).count() as f64
    };
    let (together, apart) = (count(one, CLOSE), count(two, CLOSE));
    let at_once = [0.0, CLOSE[0]];
    let busy = count(one, at_once) + count(two, at_once) > AT_ONCE_MAX * all.len() as f64;
    match apart >= CLOSE_MIN {
        true if together <= 0.1 * apart => Some(Copies::One),
        true if together >= 0.25 * apart && !busy => Some(Copies::Several),
        _ => None,
    }
}
