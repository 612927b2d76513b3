//! Whether reads of one unit's disk can be served by two disks: a mirrored pair.
//!
//! Two reads far from each other on one arm end at least a seek apart. On a pair of
//! disks some pairs of reads go to different arms, and then some end at nearly the same
//! time, as two reads of different units do.

use super::edges::{Comb, Window};
use super::reads::Reader;
use super::{Copies, Trouble};
use crate::device::Device;

const PAIRS: usize = 200;
const PAIRS_MAX: usize = 800;
/// Ends closer than this share of the mean latency count as at the same time.
const CLOSE: f64 = 0.1;
/// Pairs of different units that must have ended so for a judgement.
const CLOSE_MIN: f64 = 15.0;

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
    let (mut one, mut two) = (Vec::new(), Vec::new());
    loop {
        for _ in 0..PAIRS {
            for (gaps, other) in [(&mut one, anchor), (&mut two, apart)] {
                let first = near.position(reader, anchor);
                let second = far.position(reader, other);
                let answers = reader.together(&[first, second])?;
                let (a, b) = (answers[0].latency_ns as f64, answers[1].latency_ns as f64);
                gaps.push((a - b).abs() / f64::midpoint(a, b).max(1.0));
            }
        }
        let close = |gaps: &[f64]| gaps.iter().filter(|gap| **gap < CLOSE).count() as f64;
        let (together, apart) = (close(&one), close(&two));
        if apart >= CLOSE_MIN {
            if together <= 0.1 * apart {
                return Ok(Copies::One);
            }
            if together >= 0.25 * apart {
                return Ok(Copies::Several);
            }
        }
        if one.len() >= PAIRS_MAX {
            return Ok(Copies::Unknown);
        }
    }
}
