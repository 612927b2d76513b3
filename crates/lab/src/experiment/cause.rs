//! Why an offset matters, as far as arithmetic and the data can show.
//!
//! Arithmetic gives the effect of an offset on a known layout: which share of
//! operations crosses a stripe unit, whether pages of parity or physical sectors
//! are split. The data then decide: no cause is claimed if the
//! effect is larger than it can be, or has the wrong sign. An offset that is a
//! multiple of 4 KiB but not of the block (36K for 8K) separates the causes: it
//! crosses units like any misaligned one, but splits no page.
//!
//! Random operations only: a sequential stream touches every unit
//! whatever the offset, and the cost of that is not known well enough.

use serde::{Deserialize, Serialize};
use stripewise_disk_formats::crossing::{Crossing, PARITY_PAGE_BYTES};
use stripewise_units::{ByteSize, format_bytes};

/// The law of crossings is an upper bound; measured gains stay below it. A gain
/// that exceeds it by more than this factor, or by a point, needs another cause.
const BOUND_SLACK: f64 = 1.1;

/// What is known of the layout under a target; what is not known is None, and
/// no cause is claimed that needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutFacts {
    /// As sentences call it: `this array`, `this disk`.
    pub subject: String,
    /// Where byte 0 of the target lies on the array or disk below; levels' base
    /// offsets count from there.
    pub start_bytes: Option<u64>,
    /// Bytes on one disk before the next begins; 0: not striped.
    pub stripe_unit_bytes: Option<u64>,
    /// Parity is kept (RAID 5 and 6).
    pub parity: Option<bool>,
    /// Physical sector of the device.
    pub physical_sector_bytes: Option<u64>,
}

impl Default for LayoutFacts {
    /// Nothing is known.
    fn default() -> Self {
        LayoutFacts {
            subject: "this storage".to_owned(),
            start_bytes: None,
            stripe_unit_bytes: None,
            parity: None,
            physical_sector_bytes: None,
        }
    }
}

/// Why one offset is slower than another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "cause")]
pub enum Cause {
    /// Operations cross from one stripe unit into the next, so that two disks
    /// serve one operation.
    StripeCrossing {
        /// Stripe units touched in excess of an aligned operation's, per
        /// operation: with blocks up to the unit, the share of operations that
        /// cross. `None` if the unit is not known and a third offset showed the cause.
        share: Option<f64>,
    },
    /// Writes that begin inside a parity page: the rest of the page is read first.
    PageSplitting,
    /// Writes that begin inside a physical sector: the drive reads the rest first.
    SectorSplitting {
        /// Its size.
        physical_sector_bytes: u64,
    },
    /// Operations off the 4 KiB grid are slow and those on it are not, on an
    /// unknown layout: pages or sectors of 4 KiB are split somewhere.
    GridOf4K,
    /// Unknown cause.
    Unknown {
        /// Why it is unknown.
        because: Unexplained,
    },
}

/// Why no cause is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unexplained {
    /// The stripe unit, or where the target starts on the array, is not known.
    LayoutUnknown,
    /// On this layout the offsets should make no difference.
    NothingExpected,
    /// Crossings explain at most this share of the gain.
    LargerThanCrossings {
        /// The largest gain in per cent that crossings explain.
        explained_percent: f64,
    },
    /// On this layout the other offset should be the slower one.
    Contradicted,
    /// Crossings or split pages: a third offset would show which.
    Ambiguous,
    /// Sequential I/O.
    NotModelled,
}

/// How a third offset behaved that is a multiple of 4 KiB but not of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Like the slow offset: operations cross units.
    LikeSlow,
    /// Like the fast one: operations split pages.
    LikeFast,
}

/// What was compared, and the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseQuestion {
    /// Base offset of the slower level.
    pub slow_bytes: u64,
    /// Base offset of the faster level.
    pub fast_bytes: u64,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Some operations write.
    pub writes: bool,
    /// Positions are random.
    pub random: bool,
    /// Low end of the gain of the fast over the slow level, in per cent.
    pub gain_percent_low: f64,
    /// The result of a third offset, if there was a suitable one.
    pub probe: Option<Probe>,
}

/// Names the cause of a difference. Pure: depends only on the facts and the
/// findings passed in.
pub fn judge_cause(facts: &LayoutFacts, question: &CauseQuestion) -> Cause {
    if !question.random {
        return unknown(Unexplained::NotModelled);
    }
    let Some(start_bytes) = facts.start_bytes else {
        return without_layout(question);
    };
    let (slow, fast) = (
        start_bytes.saturating_add(question.slow_bytes),
        start_bytes.saturating_add(question.fast_bytes),
    );
    let splits = |offset: u64, unit: u64| {
        !offset.is_multiple_of(unit) || !question.block_size_bytes.is_multiple_of(unit)
    };
    let split_by = |unit: u64| question.writes && splits(slow, unit) && !splits(fast, unit);
    let pages = facts.parity == Some(true) && split_by(PARITY_PAGE_BYTES);
    let crossings = facts
        .stripe_unit_bytes
        .map(|unit| expected(question.block_size_bytes, unit, slow, fast));
    match crossings {
        Some((share, gain)) if gain > 0.0 => crossing(question, share, 100.0 * gain, pages),
        _ if pages => Cause::PageSplitting,
        _ => match facts.physical_sector_bytes {
            Some(physical_sector_bytes)
                if physical_sector_bytes > 512 && split_by(physical_sector_bytes) =>
            {
                Cause::SectorSplitting {
                    physical_sector_bytes,
                }
            }
            _ => match crossings {
                None => without_layout(question),
                Some((_, gain)) if gain < 0.0 => unknown(Unexplained::Contradicted),
                // One disk: nothing else of its layout can matter.
                Some(_)
                    if facts.stripe_unit_bytes == Some(0)
                        && question.probe != Some(Probe::LikeSlow)
                        && splits(slow, PARITY_PAGE_BYTES)
                        && !splits(fast, PARITY_PAGE_BYTES) =>
                {
                    Cause::GridOf4K
                }
                Some(_) => unknown(Unexplained::NothingExpected),
            },
        },
    }
}

/// By the law of crossings: stripe units that an operation touches at the slow
/// offset in excess of the minimum, and the largest gain that the law allows,
/// which is units touched, slow over fast. Neither if nothing is striped.
fn expected(block_size_bytes: u64, unit_bytes: u64, slow: u64, fast: u64) -> (f64, f64) {
    let at = |offset| Crossing::new(block_size_bytes, unit_bytes, offset);
    match (at(slow), at(fast)) {
        (Some(slow), Some(fast)) => (slow.excess(), slow.units_mean() / fast.units_mean() - 1.0),
        _ => (0.0, 0.0),
    }
}

/// Crossings are expected; pages may be split as well.
fn crossing(question: &CauseQuestion, share: f64, gain_percent: f64, pages: bool) -> Cause {
    let cause = Cause::StripeCrossing { share: Some(share) };
    let too_large =
        question.gain_percent_low > (BOUND_SLACK * gain_percent).max(gain_percent + 1.0);
    match (pages, question.probe) {
        (true, Some(Probe::LikeFast)) => Cause::PageSplitting,
        (true, _) if too_large => Cause::PageSplitting,
        (true, None) => unknown(Unexplained::Ambiguous),
        _ if too_large => unknown(Unexplained::LargerThanCrossings {
            explained_percent: gain_percent,
        }),
        // The third offset crosses as many units; if it was fast, crossings are not the cause.
        (false, Some(Probe::LikeFast)) => Cause::GridOf4K,
        _ => cause,
    }
}

/// If the layout is unknown, only a third offset can show the cause.
fn without_layout(question: &CauseQuestion) -> Cause {
    match question.probe {
        Some(Probe::LikeFast) => Cause::GridOf4K,
        Some(Probe::LikeSlow) => Cause::StripeCrossing { share: None },
        None => unknown(Unexplained::LayoutUnknown),
    }
}

fn unknown(because: Unexplained) -> Cause {
    Cause::Unknown { because }
}

impl Cause {
    /// The clause that ends a sentence on the cost: ` because 1 in 8 operations
    /// touches two disks`. Empty if no cause can be claimed.
    pub fn clause(&self) -> String {
        match self {
            Cause::StripeCrossing { share: Some(share) } => {
                format!(" because {}", crossing_words(*share))
            }
            Cause::StripeCrossing { share: None } => {
                " because operations cross from one stripe unit into the next".to_owned()
            }
            Cause::PageSplitting => format!(
                " because every write splits pages of parity ({}), which must be read first",
                format_bytes(PARITY_PAGE_BYTES)
            ),
            Cause::SectorSplitting {
                physical_sector_bytes,
            } => format!(
                " because every write splits physical sectors of {}, which the drive reads first",
                format_bytes(*physical_sector_bytes)
            ),
            Cause::GridOf4K => {
                " because operations off the 4 KiB grid split pages or sectors".to_owned()
            }
            Cause::Unknown { .. } => String::new(),
        }
    }

    /// The sentence about an unknown cause.
    pub fn reservation(&self, block_size_bytes: u64) -> Option<String> {
        let Cause::Unknown { because } = self else {
            return None;
        };
        let third = third_offset(block_size_bytes);
        match because {
            Unexplained::LayoutUnknown => Some(match third {
                Some(third) => format!(
                    "The cause is not known, because the stripe unit is not: a third offset of {} would tell split pages from crossed stripe units.",
                    ByteSize(third)
                ),
                None => "The cause is not known, because the stripe unit is not.".to_owned(),
            }),
            Unexplained::NothingExpected => Some(
                "The layout, as far as it is known, does not explain it: neither offset crosses more stripe units or splits more pages than the other.".to_owned(),
            ),
            Unexplained::LargerThanCrossings { explained_percent } => Some(format!(
                "Operations that touch two disks explain a gain of at most {explained_percent:.1} %; the rest has another cause.",
            )),
            Unexplained::Contradicted => Some(
                "The layout, as far as it is known, predicts the opposite, so it is not the cause.".to_owned(),
            ),
            Unexplained::Ambiguous => third.map(|third| format!(
                "Crossed stripe units or split pages of parity could both be the cause; a third offset of {} would tell.",
                ByteSize(third)
            )),
            Unexplained::NotModelled => None,
        }
    }
}

/// An offset that separates causes: past 32K, a multiple of 4 KiB but not of
/// the block. `None` for blocks up to 4 KiB, which have no such offset.
pub fn third_offset(block_size_bytes: u64) -> Option<u64> {
    let third = (32 << 10) + PARITY_PAGE_BYTES;
    (!third.is_multiple_of(block_size_bytes.max(1))).then_some(third)
}

fn crossing_words(share: f64) -> String {
    let one_in = (1.0 / share).round();
    if share >= 1.0 {
        "every operation touches one disk more".to_owned()
    } else if (one_in * share - 1.0).abs() < 0.01 && one_in <= 1_000.0 {
        format!("1 in {one_in} operations touches two disks")
    } else {
        format!("{:.1} % of operations touch two disks", 100.0 * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(unit: Option<u64>, parity: bool) -> LayoutFacts {
        LayoutFacts {
            start_bytes: Some(0),
            stripe_unit_bytes: unit,
            parity: Some(parity),
            ..LayoutFacts::default()
        }
    }

    fn question(gain_percent_low: f64, writes: bool, probe: Option<Probe>) -> CauseQuestion {
        CauseQuestion {
            slow_bytes: 63 * 512,
            fast_bytes: 1 << 20,
            block_size_bytes: 8192,
            writes,
            random: true,
            gain_percent_low,
            probe,
        }
    }

    #[test]
    fn causes_follow_from_layout_and_data() {
        let unit = Some(65_536);
        let crossing = Cause::StripeCrossing { share: Some(0.125) };
        let (fast, slow) = (Some(Probe::LikeFast), Some(Probe::LikeSlow));
        for (facts, question, cause) in [
            (facts(unit, false), question(9.8, true, None), crossing),
            (facts(unit, false), question(9.8, false, slow), crossing),
            // Data that contradict it: no cause is claimed.
            (
                facts(unit, false),
                question(40.0, false, None),
                unknown(Unexplained::LargerThanCrossings {
                    explained_percent: 12.5,
                }),
            ),
            (
                facts(unit, false),
                question(9.8, true, fast),
                Cause::GridOf4K,
            ),
            // RAID 5: crossings cannot give a factor of three; in between, only 36K shows why.
            (
                facts(unit, true),
                question(180.0, true, None),
                Cause::PageSplitting,
            ),
            (
                facts(unit, true),
                question(9.0, true, fast),
                Cause::PageSplitting,
            ),
            (facts(unit, true), question(9.0, true, slow), crossing),
            (
                facts(unit, true),
                question(9.0, true, None),
                unknown(Unexplained::Ambiguous),
            ),
            (facts(unit, true), question(9.0, false, None), crossing),
            // Not striped: nothing to cross, so only pages or sectors are left.
            (
                facts(Some(0), false),
                question(3.0, false, None),
                Cause::GridOf4K,
            ),
            (
                facts(Some(0), false),
                question(3.0, false, slow),
                unknown(Unexplained::NothingExpected),
            ),
            (
                facts(None, false),
                question(3.0, false, None),
                unknown(Unexplained::LayoutUnknown),
            ),
            (
                facts(None, false),
                question(3.0, false, slow),
                Cause::StripeCrossing { share: None },
            ),
        ] {
            assert_eq!(
                judge_cause(&facts, &question),
                cause,
                "{facts:?} {question:?}"
            );
        }
    }

    #[test]
    fn the_start_of_the_target_counts() {
        // A partition that starts at 63 sectors: a base offset of 0 is misaligned.
        let facts = LayoutFacts {
            start_bytes: Some(63 * 512),
            ..facts(Some(65_536), false)
        };
        let aligned = CauseQuestion {
            slow_bytes: 0,
            fast_bytes: 512,
            ..question(9.0, true, None)
        };
        assert_eq!(
            judge_cause(&facts, &aligned),
            Cause::StripeCrossing { share: Some(0.125) }
        );
        let opposite = CauseQuestion {
            slow_bytes: 512,
            fast_bytes: 0,
            ..aligned
        };
        assert_eq!(
            judge_cause(&facts, &opposite),
            unknown(Unexplained::Contradicted)
        );
    }

    #[test]
    fn a_layout_that_says_anything_does_no_harm() {
        for (block_size_bytes, unit) in [(8192, u64::MAX), (u64::MAX, 8192), (0, 8192)] {
            let question = CauseQuestion {
                block_size_bytes,
                ..question(9.0, true, None)
            };
            let _ = judge_cause(&facts(Some(unit), false), &question);
        }
    }

    #[test]
    fn split_physical_sectors_are_named() {
        let facts = LayoutFacts {
            start_bytes: Some(0),
            stripe_unit_bytes: Some(0),
            physical_sector_bytes: Some(4096),
            ..LayoutFacts::default()
        };
        assert_eq!(
            judge_cause(&facts, &question(5.0, true, None)),
            Cause::SectorSplitting {
                physical_sector_bytes: 4096
            }
        );
    }

    #[test]
    fn shares_are_told_as_people_tell_them() {
        for (share, words) in [
            (0.125, "1 in 8 operations touches two disks"),
            (0.5, "1 in 2 operations touches two disks"),
            (0.234, "23.4 % of operations touch two disks"),
            (1.0, "every operation touches one disk more"),
        ] {
            assert_eq!(crossing_words(share), words);
        }
        assert_eq!(third_offset(8192), Some(36 << 10));
        assert_eq!(third_offset(4096), None);
    }
}
