//! Writes before the first series that writes, so that its writes find a device
//! without fresh space.

use super::BenchOptions;
use std::fmt;
use std::str::FromStr;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::{SeriesKind, StepTime};
use stripewise_units::parse_count;
use stripewise_workload::{Distribution, Pattern, Workload, one_pass_writes};

/// Block size of the sequential pass, as in SNIA's test.
const SEQUENTIAL_BLOCK_BYTES: u64 = 128 << 10;
/// Block size of the random pass: that of the random series, unless given.
const RANDOM_BLOCK_BYTES: u64 = 8 << 10;
/// Default spare flash in per cent: between a consumer drive with 7 % and
/// a server drive with 28 %.
const SPARE_PERCENT: u8 = 15;
/// A pass ends with the target; this only keeps a stalled device from blocking forever.
const TIME_MAX_NS: u64 = 7 * 24 * 3600 * 1_000_000_000;

/// How a device is preconditioned. Typed and printed as `sequential`, `one-pass`,
/// `one-pass=28`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// One sequential pass over the whole target.
    #[default]
    Sequential,
    /// One random pass that brings an empty SSD with this much spare flash, in per cent of
    /// its capacity, to the steady state of random writes.
    OnePass {
        /// 1 to 100.
        spare_percent: u8,
    },
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precondition::Sequential => f.pad("sequential"),
            Precondition::OnePass { spare_percent } => f.pad(&format!("one-pass={spare_percent}")),
        }
    }
}

impl FromStr for Precondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let spare = match text {
            "sequential" => return Ok(Precondition::Sequential),
            "one-pass" => {
                return Ok(Precondition::OnePass {
                    spare_percent: SPARE_PERCENT,
                });
            }
            other => other.strip_prefix("one-pass="),
        };
        spare
            .map(|spare| spare.strip_suffix('%').unwrap_or(spare))
            .and_then(|spare| parse_count(spare).ok())
            .and_then(|spare| u8::try_from(spare).ok())
            .filter(|spare| (1..=100).contains(spare))
            .map(|spare_percent| Precondition::OnePass { spare_percent })
            .ok_or_else(|| {
                "it is sequential, one-pass, or one-pass=PERCENT with the drive's spare flash, 1 to 100"
                    .to_owned()
            })
    }
}

impl Precondition {
    /// The workload for a target of this size, and its number of writes.
    pub(super) fn pass(
        self,
        options: &BenchOptions,
        size_bytes: u64,
        seed: u64,
    ) -> (Workload, u64) {
        let time = StepTime {
            ramp_ns: 0,
            duration_ns: TIME_MAX_NS,
        };
        match self {
            Precondition::Sequential => {
                let pass = Workload {
                    outstanding: 32,
                    ..SeriesKind::SequentialWrite.workload(SEQUENTIAL_BLOCK_BYTES, time, seed)
                };
                (pass, (size_bytes / SEQUENTIAL_BLOCK_BYTES).max(1))
            }
            Precondition::OnePass { spare_percent } => {
                let block_bytes = options.block_size_bytes.unwrap_or(RANDOM_BLOCK_BYTES);
                let pass = Workload {
                    outstanding: 128,
                    pattern: Pattern::Random {
                        distribution: Distribution::OnePass { spare_percent },
                    },
                    ..SeriesKind::RandomWrite.workload(block_bytes, time, seed)
                };
                let blocks = (size_bytes / block_bytes).max(1);
                (pass, one_pass_writes(blocks, spare_percent))
            }
        }
    }

    /// What the user must know before it starts; `None` if nothing.
    pub(super) fn condition(self) -> Option<String> {
        let Precondition::OnePass { spare_percent } = self else {
            return None;
        };
        Some(format!(
            "One-pass preconditioning is for an SSD that holds nothing yet (discard it before) and \
             has {spare_percent} % of spare flash; --precondition one-pass=PERCENT names another share"
        ))
    }
}

/// Refuses options that prevent a single pass.
pub(super) fn refuse_shared(options: &BenchOptions) -> Outcome<()> {
    if options.precondition == Precondition::Sequential || options.group.is_none() {
        return Ok(());
    }
    Err(Failure::usage(
        "--precondition one-pass is one order of writes, and several hosts would each make their own",
        "precondition from one host first, or leave --precondition out",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_reads_as_what_it_was() {
        for how in [
            Precondition::Sequential,
            Precondition::OnePass { spare_percent: 1 },
            Precondition::OnePass { spare_percent: 100 },
        ] {
            assert_eq!(how.to_string().parse(), Ok(how));
        }
        assert_eq!(
            "one-pass=28%".parse(),
            Ok(Precondition::OnePass { spare_percent: 28 })
        );
        for wrong in [
            "",
            "random",
            "one-pass=",
            "one-pass=0",
            "one-pass=101",
            "one-pass:7",
        ] {
            assert!(wrong.parse::<Precondition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pass_has_the_writes_of_the_whole_target() {
        let options = BenchOptions::of("x");
        let (pass, writes) = Precondition::Sequential.pass(&options, 1 << 30, 1);
        assert_eq!(writes * pass.block_size_bytes, 1 << 30);
        let how = Precondition::OnePass { spare_percent: 25 };
        let (pass, writes) = how.pass(&options, 1 << 30, 1);
        let written = (writes * pass.block_size_bytes) as f64 / f64::from(1 << 30);
        assert!((written - 1.25).abs() < 0.01, "{written}");
        assert_eq!((pass.read_percent, pass.threads), (0, 1));
    }
}
