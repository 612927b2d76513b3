//! Finds the stripe unit, phase and period of an array that does not report them.
//!
//! After Shear (Denehy et al., "Deconstructing Storage Arrays", ASPLOS 2004), with tests instead of
//! visual clustering. Only reads of one sector each, started concurrently in a batch: reads that
//! share a disk wait for each other, others do not.
//!
//! 1. *Period* (`period`, `search`): equally spaced reads collide where their stride is
//!    near a multiple of the pattern's period. Folding finds it; longer strides sharpen it.
//! 2. *Unit and phase* (`edges`, `unit`): from a random place to both sides, the nearest places
//!    that no longer share its disk, by bisection with a sequential test, to one sector.
//!    The period must be a whole number of units, each unit must be another disk, and
//!    edges must be sharp.
//! 3. *Agreement* (`pattern`): edges at 5, 45 and 85 % of the target must fit.
//! 4. *Copies* (`copies`): whether one unit's reads are served by one disk or by several.
//! 5. *Rotations* (`rotations`): whether parity that is in the way explains what reads cost
//!    better; a part of its period looks like a mirror.
//! 6. *Moving parts* (`moving`): if nothing turns or moves, the channels of slow flash are another
//!    explanation, and no level is claimed.
//!
//! What reads cannot distinguish is listed: a left-symmetric RAID 5 distributes its data like RAID
//! 0, and parity is never read. For a target without such a pattern (one disk, a mirror, a
//! solid-state drive, a virtualised array) the result is a refusal, never a guess.

mod copies;
mod edges;
mod layouts;
mod moving;
mod multiples;
mod pattern;
mod period;
mod reads;
mod rotations;
mod scale;
mod search;
mod unit;

use crate::device::{Device, StopReason};
use reads::Reader;
use search::{Period, Search};
use serde::{Deserialize, Serialize};

pub use layouts::Consistent;

/// Search range and time limit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Smallest stripe unit searched for.
    pub unit_bytes_min: u64,
    /// Largest stripe unit searched for with many disks.
    pub unit_bytes_max: u64,
    /// Most disks in the pattern.
    pub disks_max: u32,
    /// Time limit for reading.
    pub time_ns_max: u64,
    /// Seed of all positions.
    pub seed: u64,
}

impl Default for Limits {
    /// 4 KiB to 1 MiB on up to 32 disks, in 15 minutes, which only a busy array takes.
    fn default() -> Self {
        Limits {
            unit_bytes_min: 4_096,
            unit_bytes_max: 1 << 20,
            disks_max: 32,
            time_ns_max: 900_000_000_000,
            seed: 1,
        }
    }
}

impl Limits {
    /// The longest period searched for.
    pub fn period_bytes_max(&self) -> u64 {
        self.unit_bytes_max * u64::from(self.disks_max)
    }

    /// A target of this size shows all patterns in the search range.
    pub fn size_bytes_full(&self) -> u64 {
        32 * self.period_bytes_max()
    }
}

/// Periods whose multiples are tried if none is a pattern itself.
const LONGER: usize = 2;

/// The smallest target probed.
pub const SIZE_BYTES_MIN: u64 = 256 << 20;

/// Disks that serve the reads of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// One.
    One,
    /// Two or more: a mirror.
    Several,
    /// Undetermined.
    Unknown,
}

/// A detected pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Contiguous bytes on one disk.
    pub unit_bytes: u64,
    /// The smallest and largest unit consistent with the reads.
    pub unit_bytes_interval: [u64; 2],
    /// Start of the first unit that begins at or after byte 0 of the target.
    pub phase_bytes: u64,
    /// Half the width of the interval of the phase: it is taken modulo the unit.
    pub phase_bytes_error: u64,
    /// Disks in the pattern; mirrored ones count once.
    pub columns: u32,
    /// Bytes after which it repeats: one unit per disk, or several if parity displaces data.
    pub period_bytes: u64,
    /// Whether a unit's reads are served by one disk.
    pub copies: Copies,
    /// All layouts that reads cannot distinguish from the observations.
    pub layouts: Vec<Consistent>,
    /// Probability that unit and phase are right, from the errors of the tests.
    pub confidence: f64,
    /// Latency of reads on one disk relative to reads on two.
    pub contrast: f64,
    /// Places that agreed, in percent of the target.
    pub places_percent: Vec<u32>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Refusal {
    /// Stable name of the reason.
    pub code: String,
    /// The reason, in a sentence.
    pub reason: String,
}

impl Refusal {
    fn new(code: &str, reason: impl Into<String>) -> Self {
        Refusal {
            code: code.to_owned(),
            reason: reason.into(),
        }
    }

    fn too_small(size_bytes: u64) -> Self {
        Refusal::new(
            "too-small",
            format!(
                "the target has {}; a pattern needs {} at least, and {} to be found whatever it is",
                stripewise_units::format_bytes(size_bytes),
                stripewise_units::format_bytes(SIZE_BYTES_MIN),
                stripewise_units::format_bytes(Limits::default().size_bytes_full()),
            ),
        )
    }

    fn too_fast(median_ns: f64) -> Self {
        Refusal::new(
            "too-fast",
            format!(
                "four reads at once take {:.0} us on average: a solid-state drive, or a cache in the way; such targets have periods of their own that are not stripes",
                median_ns / 1e3
            ),
        )
    }

    fn cached(instant: u64, reads: u64) -> Self {
        Refusal::new(
            "cached",
            format!("{instant} of {reads} reads came back at once: a cache is in the way"),
        )
    }

    fn no_period(batches: u64, period_max: u64) -> Self {
        Refusal::new(
            "no-pattern",
            format!(
                "{batches} batches of reads show no pattern with a period of up to {}: one disk, a mirror, a virtualised array, or too much noise",
                stripewise_units::format_bytes(period_max)
            ),
        )
    }

    fn no_contrast(contrast: f64) -> Self {
        Refusal::new(
            "no-contrast",
            format!(
                "reads that should share a disk take only {contrast:.2} times as long as others"
            ),
        )
    }

    fn noise(contrast: f64, deviation: f64) -> Self {
        Refusal::new(
            "noise",
            format!(
                "reads that should share a disk take {contrast:.2} times as long as others, but batches of the same reads differ by a factor of {:.2}, too much to decide which places share one",
                libm::exp(deviation)
            ),
        )
    }

    fn not_a_pattern(what: &str) -> Self {
        Refusal::new("not-a-stripe", what)
    }

    /// Why a period that was found is no pattern. What was seen comes first: reads that do wait for
    /// each other are not explained away by a test that failed.
    fn about_period(self, period_bytes: u64) -> Self {
        match self.code.as_str() {
            "too-small" | "places-differ" => self,
            _ => Refusal {
                reason: format!(
                    "reads about {} apart wait for each other more than others do, but no pattern of RAID 0, 10, 5 or 6 was confirmed: {}",
                    stripewise_units::format_bytes(period_bytes),
                    self.reason
                ),
                code: self.code,
            },
        }
    }

    fn places(found: usize) -> Self {
        Refusal::new(
            "places-differ",
            format!(
                "the pattern found at one place was met again at {found} of 2 others: a virtualised array, or another volume's pieces between these"
            ),
        )
    }
}

/// Why the search ended without a pattern.
#[derive(Clone, Debug)]
enum SearchEnd {
    Refused(Refusal),
    Halted(StopReason),
}

impl From<Refusal> for SearchEnd {
    fn from(refusal: Refusal) -> Self {
        SearchEnd::Refused(refusal)
    }
}

impl From<StopReason> for SearchEnd {
    fn from(stop_reason: StopReason) -> Self {
        SearchEnd::Halted(stop_reason)
    }
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct ProbeFindings {
    /// The pattern, or why there is none.
    pub outcome: Result<Pattern, Refusal>,
    /// Why the search was cut short, if it was.
    pub stop_reason: Option<StopReason>,
    /// Reads of one sector each.
    pub reads: u64,
    /// Their duration.
    pub duration_ns: u64,
    /// The period of the pattern, or the one that the refusal is about: the likeliest one examined.
    pub period_bytes: Option<u64>,
    /// Mean latency in the median batch of four reads.
    pub median_ns: Option<u64>,
}

/// The current stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Searching for a period.
    Period,
    /// Measuring it.
    Following,
    /// Searching for the edges of units.
    Edges,
    /// Comparing places.
    Places,
}

/// Searches for the pattern of a target. `on_progress` is called at the start of each stage.
pub fn probe<D: Device>(
    device: &mut D,
    limits: &Limits,
    on_progress: &mut dyn FnMut(Stage),
) -> ProbeFindings {
    let begun_ns = device.now_ns();
    let size_bytes = device.size_bytes();
    let mut reader = Reader::new(device, limits.seed, limits.time_ns_max);
    let mut seen = SearchStats::default();
    let ended = if size_bytes < SIZE_BYTES_MIN {
        Err(Refusal::too_small(size_bytes).into())
    } else {
        look(&mut reader, limits, on_progress, &mut seen).map(|mut pattern| {
            seen.period_bytes = Some(pattern.period_bytes);
            if !moving::has_moving_parts(&mut reader) {
                let channels = Consistent::flash(pattern.columns);
                pattern.layouts.insert(0, channels);
            }
            pattern
        })
    };
    let (outcome, stop_reason) = match ended {
        Ok(pattern) => (Ok(pattern), None),
        Err(SearchEnd::Refused(refusal)) => (Err(refusal), None),
        Err(SearchEnd::Halted(stop_reason)) => {
            (Err(of_stop_reason(&stop_reason)), Some(stop_reason))
        }
    };
    let cached = reader.reads > 200 && reader.instant * 5 > reader.reads;
    let outcome = match outcome {
        Err(refusal) if cached && refusal.code != "too-fast" => {
            Err(Refusal::cached(reader.instant, reader.reads))
        }
        outcome => outcome,
    };
    ProbeFindings {
        outcome,
        stop_reason,
        reads: reader.reads,
        duration_ns: reader.now_ns() - begun_ns,
        period_bytes: seen.period_bytes,
        median_ns: seen.median_ns,
    }
}

fn of_stop_reason(stop_reason: &StopReason) -> Refusal {
    match stop_reason {
        StopReason::Interrupted => {
            Refusal::new("interrupted", "interrupted before there was an answer")
        }
        StopReason::OutOfTime => Refusal::new(
            "too-few-reads",
            "the time limit was reached before there was an answer",
        ),
        StopReason::Gone(why) => Refusal::new("unreadable", why.clone()),
    }
}

#[derive(Default)]
struct SearchStats {
    period_bytes: Option<u64>,
    median_ns: Option<u64>,
}

/// Tries candidates until one of them is a pattern.
fn look<D: Device>(
    reader: &mut Reader<'_, D>,
    limits: &Limits,
    on_progress: &mut dyn FnMut(Stage),
    seen: &mut SearchStats,
) -> Result<Pattern, SearchEnd> {
    on_progress(Stage::Period);
    let mut search = Search::new(reader);
    let candidates = search.candidates(limits)?;
    let mut periods: Vec<Period> = Vec::new();
    let mut first = None;
    for candidate in candidates {
        on_progress(Stage::Following);
        let period = search.follow(candidate)?;
        let known = |other: &Period| (period.best / other.best - 1.0).abs() < 1e-4;
        if periods.iter().any(known) {
            continue;
        }
        let period_bytes = period.best as u64;
        seen.period_bytes = Some(period_bytes);
        seen.median_ns = Some(period.median_ns as u64);
        match pattern::pattern(search.reader(), &period, limits, on_progress) {
            Err(SearchEnd::Refused(refusal)) => {
                first.get_or_insert((refusal, period_bytes));
            }
            ended => return ended,
        }
        periods.push(period);
    }
    for near in periods.iter().take(LONGER) {
        match at_a_multiple(search.reader(), near, limits, on_progress) {
            Err(SearchEnd::Refused(_)) => {}
            ended => return ended,
        }
    }
    // Nor need it be a whole multiple of near-periods.
    for near in periods.iter().take(LONGER) {
        match pattern::behind_parity(search.reader(), near, limits, on_progress) {
            Err(SearchEnd::Refused(_)) => {}
            ended => return ended,
        }
    }
    seen.period_bytes = first.as_ref().map(|(_, period_bytes)| *period_bytes);
    let refusal = match first {
        Some((refusal, period_bytes)) => refusal.about_period(period_bytes),
        None => Refusal::no_period(0, limits.period_bytes_max()),
    };
    Err(refusal.into())
}

/// The pattern at a multiple of a near-period: if rotating parity displaces data, the shortest
/// near-period is not the period.
fn at_a_multiple<D: Device>(
    reader: &mut Reader<'_, D>,
    near: &Period,
    limits: &Limits,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<Pattern, SearchEnd> {
    match multiples::longer_period(reader, near, limits)? {
        Some(longer) => pattern::of_period(reader, longer, on_progress),
        None => Err(Refusal::not_a_pattern("no multiple of it fits better").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_of_a_period_says_what_was_seen() {
        let refusal = Refusal::no_contrast(1.01).about_period(1_529_173);
        assert_eq!(refusal.code, "no-contrast");
        assert_eq!(
            refusal.reason,
            "reads about 1.5 MiB apart wait for each other more than others do, but no pattern of \
             RAID 0, 10, 5 or 6 was confirmed: reads that should share a disk take only 1.01 times \
             as long as others"
        );
    }
}
