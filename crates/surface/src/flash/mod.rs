//! Hidden properties of flash: the size below which nothing gets cheaper, where pages begin, its
//! parallelism, and its garbage collection pauses.
//!
//! All from batches of concurrent operations, with settings in random order within blocks, and
//! tests on the differences between the blocks: an answer has an interval, and if a test is
//! inconclusive the reason is given instead.

mod alignment;
mod batches;
mod parallel;
mod pauses;
mod sizes;

pub use alignment::{AlignmentAt, Alignments};
pub use parallel::{ConcurrencyAt, Parallelism};
pub use pauses::{PausePlan, Pauses, WriteLatencies, pauses, write_for_pauses};
pub use sizes::{SizeAt, Sizes};

use crate::device::{Device, StopReason};
use batches::Prober;

/// A target with slower single reads has moving parts.
const MOVING_NS_MIN: f64 = 1e6;
/// The smallest target probed.
pub const SIZE_BYTES_MIN: u64 = 256 << 20;

/// An answer with its interval, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<T> {
    /// The answer and its interval, or why there is none.
    pub answer: Result<(T, [T; 2]), String>,
}

impl<T: Copy> Answered<T> {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Answered {
            answer: Err(reason.into()),
        }
    }

    pub(crate) fn found(value: T, interval: [T; 2]) -> Self {
        Answered {
            answer: Ok((value, interval)),
        }
    }

    /// The answer.
    pub fn value(&self) -> Option<T> {
        self.answer.as_ref().ok().map(|answer| answer.0)
    }

    /// Its interval.
    pub fn interval(&self) -> Option<[T; 2]> {
        self.answer.as_ref().ok().map(|answer| answer.1)
    }

    /// Why there is none.
    pub fn refusal(&self) -> Option<&str> {
        self.answer.as_ref().err().map(String::as_str)
    }
}

/// Results from reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeFindings {
    /// The size below which an operation costs the same.
    pub sizes: Sizes,
    /// Where pages begin.
    pub alignments: Alignments,
    /// Its read parallelism.
    pub parallelism: Parallelism,
    /// Why it was cut short, if it was.
    pub stop_reason: Option<StopReason>,
    /// Why nothing could be determined, if so.
    pub refused: Option<String>,
    /// Number of reads.
    pub reads: u64,
    /// Their duration.
    pub duration_ns: u64,
}

/// The current stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Sizes.
    Sizes,
    /// Alignment.
    Alignment,
    /// Parallelism.
    Parallelism,
}

/// Probes with reads only. `on_progress` is called at the start of each stage.
pub fn probe<D: Device>(
    device: &mut D,
    seed: u64,
    time_ns_max: u64,
    on_progress: &mut dyn FnMut(Stage),
) -> ProbeFindings {
    let begun_ns = device.now_ns();
    let size_bytes = device.size_bytes();
    let mut prober = Prober::new(device, seed, time_ns_max);
    let mut probed = ProbeFindings {
        sizes: Sizes::default(),
        alignments: Alignments::default(),
        parallelism: Parallelism::default(),
        stop_reason: None,
        refused: None,
        reads: 0,
        duration_ns: 0,
    };
    if size_bytes < SIZE_BYTES_MIN {
        probed.refused = Some(format!(
            "the target has {}; a probe of flash needs {} at least",
            stripewise_units::format_bytes(size_bytes),
            stripewise_units::format_bytes(SIZE_BYTES_MIN)
        ));
        return probed;
    }
    let ended = all(&mut prober, &mut probed, on_progress);
    probed.stop_reason = ended.err();
    probed.reads = prober.reads;
    probed.duration_ns = prober.now_ns() - begun_ns;
    probed
}

fn all<D: Device>(
    prober: &mut Prober<'_, D>,
    probed: &mut ProbeFindings,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<(), StopReason> {
    let single_ns = prober.single_ns()?;
    if single_ns >= MOVING_NS_MIN {
        probed.refused = Some(format!(
            "a single read takes {:.1} ms: a disk with moving parts, or an array of them; `probe stripe` and `profile` are for these",
            single_ns / 1e6
        ));
        return Ok(());
    }
    on_progress(Stage::Alignment);
    probed.alignments = alignment::measure(prober)?;
    on_progress(Stage::Sizes);
    probed.sizes = sizes::measure(prober)?;
    on_progress(Stage::Parallelism);
    let page_bytes = probed.alignments.step_bytes.value();
    probed.parallelism = parallel::measure(prober, page_bytes)?;
    if prober.is_mostly_failing() {
        probed.refused = Some("many reads failed, so the others prove nothing".to_owned());
    }
    Ok(())
}
