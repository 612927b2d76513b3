//! Finds where pages begin: two sectors, read across a boundary or next to it.
//!
//! After flashbench's `-a` (Arnd Bergmann), with a test instead of visual judgement: reads of two
//! sectors whose middle is on an odd multiple of the alignment are compared with reads of the same
//! length just before and just after it. They transfer the same amount, so only the location makes
//! a difference. A page boundary costs a second page, and so do all multiples of it.

use super::Answered;
use super::batches::{Prober, difference};
use crate::device::{Device, StopReason};
use serde::{Deserialize, Serialize};

const BLOCKS: usize = 48;
const READS: usize = 32;
const ALIGNMENT_MAX: u64 = 8 << 20;
/// Smaller differences do not indicate a second page.
const RISE_MIN: f64 = 0.05;
/// Sixteen alignments are tested, at 99.9 % each.
const LEVEL: f64 = 0.999;

/// The cost of crossing the boundaries of one alignment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AlignmentAt {
    /// The alignment.
    pub bytes: u64,
    /// How much longer reads across its boundaries take, percent.
    pub longer_percent: f64,
    /// Interval (99.9 %).
    pub longer_percent_interval: [f64; 2],
}

/// Where pages begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignments {
    /// The smallest alignment with boundaries that cost something.
    pub step_bytes: Answered<u64>,
    /// Each alignment tested.
    pub all: Vec<AlignmentAt>,
}

impl Default for Alignments {
    fn default() -> Self {
        Alignments {
            step_bytes: Answered::refused("not measured"),
            all: Vec::new(),
        }
    }
}

pub(super) fn measure<D: Device>(prober: &mut Prober<'_, D>) -> Result<Alignments, StopReason> {
    let sector = prober.sector_bytes();
    let mut alignments = Vec::new();
    let mut bytes = 2 * sector;
    while bytes <= ALIGNMENT_MAX {
        alignments.push(bytes);
        bytes *= 2;
    }
    let mut differences = vec![Vec::with_capacity(BLOCKS); alignments.len()];
    let mut order: Vec<usize> = (0..alignments.len()).collect();
    for _ in 0..BLOCKS {
        prober.random.shuffle(&mut order);
        for &number in &order {
            let bytes = alignments[number];
            let across_first = prober.random.below(2) == 0;
            let mut costs = [0.0; 2];
            for turn in 0..2 {
                let across = (turn == 0) == across_first;
                costs[usize::from(across)] =
                    prober.cost(2 * sector, |prober| places(prober, bytes, across))?;
            }
            differences[number].push(costs[1] - costs[0]);
        }
    }
    let all: Vec<AlignmentAt> = alignments
        .iter()
        .zip(&differences)
        .map(|(bytes, differences)| {
            let found = difference(differences, LEVEL);
            let percent = |value: f64| (libm::exp(value) - 1.0) * 100.0;
            AlignmentAt {
                bytes: *bytes,
                longer_percent: percent(found.value),
                longer_percent_interval: [percent(found.low), percent(found.high)],
            }
        })
        .collect();
    Ok(Alignments {
        step_bytes: step(&all, sector),
        all,
    })
}

/// Offsets of a batch: the middle on an odd multiple of the alignment, or next to it.
fn places<D: Device>(prober: &mut Prober<'_, D>, bytes: u64, across: bool) -> Vec<u64> {
    let sector = prober.sector_bytes();
    (0..READS)
        .map(|_| {
            let boundary = prober.place(2 * bytes, 2 * bytes) - bytes;
            match (across, prober.random.below(2)) {
                (true, _) => boundary - sector,
                (false, 0) => boundary - 2 * sector,
                (false, _) => boundary,
            }
        })
        .collect()
}

/// The smallest alignment with a cost, if all larger ones have it and no smaller one does.
fn step(all: &[AlignmentAt], sector: u64) -> Answered<u64> {
    let limit = RISE_MIN * 100.0;
    let costs = |at: &AlignmentAt| at.longer_percent_interval[0] > limit;
    let may_cost = |at: &AlignmentAt| at.longer_percent_interval[1] > limit;
    let Some(first) = all.iter().position(costs) else {
        return Answered::refused(match all.iter().any(may_cost) {
            true => {
                "too much noise: no alignment is sure to cost anything, and none is sure not to"
                    .to_owned()
            }
            false => format!(
                "reads across boundaries cost no more than beside them, up to {}: pages are no larger than a sector of {sector} bytes, or reads do not show them",
                stripewise_units::format_bytes(ALIGNMENT_MAX)
            ),
        });
    };
    if let Some(free) = all[first..].iter().find(|at| !costs(at)) {
        return Answered::refused(format!(
            "boundaries of {} cost something and those of {} do not: no plain pages, or too much noise",
            stripewise_units::format_bytes(all[first].bytes),
            stripewise_units::format_bytes(free.bytes)
        ));
    }
    let low = all[..first].iter().find(|at| may_cost(at));
    let low = low.map_or(all[first].bytes, |at| at.bytes);
    Answered::found(all[first].bytes, [low, all[first].bytes])
}
