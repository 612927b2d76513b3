//! Judges a rate and latencies that are required of one series together.
//!
//! A ladder keeps a fixed number in flight and waits: arrivals while the device stalls are not
//! in it, and the load that reaches the rate is not the load that meets the latency. So
//! the two are judged by one open-loop run at the required rate, latency from the
//! intended start (Procedure Q, [`stripewise_stats::Qualification`]; for users, MEASUREMENT.md,
//! "A rate and a latency together"). The ladder alone may show that both are missed, or leave
//! it undecided; it never shows that they are met.
//!
//! Pure: the same records give the same verdict, whether a bench has just made
//! them or they are stored.

mod judge;

#[cfg(test)]
mod tests;

use super::Requirement;
use super::requirement::{Kind, Quantity, Relation};
use crate::series::SeriesKind;
use stripewise_results::{AT_RATE, RequirementRecord, RunRecord, SeriesRecord};
use stripewise_stats::{Design, OpenLoop};
use stripewise_units::format_duration_exact;

/// The part name of runs at the required rate of a series.
pub fn part_at_rate(kind: SeriesKind) -> String {
    format!("{}{AT_RATE}", kind.name())
}

/// A rate and one or more latencies required of one series.
#[derive(Clone, Debug)]
pub struct RequiredTogether<'a> {
    /// The series.
    pub kind: SeriesKind,
    rates: Vec<&'a Requirement>,
    latencies: Vec<&'a Requirement>,
}

/// A rate and a latency where it is not clear which series has to meet both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousLimit {
    /// As typed.
    pub texts: [String; 2],
}

/// The rate and latencies required together, for each of these series.
///
/// # Errors
/// If a rate and a latency are required of the same several series.
pub fn required_together<'a>(
    required: &'a [Requirement],
    kinds: &[SeriesKind],
) -> Result<Vec<RequiredTogether<'a>>, AmbiguousLimit> {
    let fitting = |one: &Requirement| -> Vec<SeriesKind> {
        let all = kinds.iter().copied();
        all.filter(|kind| one.means_kind(*kind)).collect()
    };
    let rates: Vec<&Requirement> = required.iter().filter(|one| !one.is_of_latency()).collect();
    let latencies: Vec<&Requirement> = required.iter().filter(|one| one.is_of_latency()).collect();
    for rate in &rates {
        for latency in &latencies {
            let [of_rate, of_latency] = [fitting(rate), fitting(latency)];
            let is_shared = of_rate.iter().any(|kind| of_latency.contains(kind));
            if is_shared && (of_rate.len() > 1 || of_latency.len() > 1) {
                return Err(AmbiguousLimit {
                    texts: [rate.to_string(), latency.to_string()],
                });
            }
        }
    }
    let of_kind = |all: &[&'a Requirement], kind: SeriesKind| -> Vec<&'a Requirement> {
        let all = all.iter().copied();
        all.filter(|one| one.means_kind(kind)).collect()
    };
    let joined = kinds.iter().map(|&kind| RequiredTogether {
        kind,
        rates: of_kind(&rates, kind),
        latencies: of_kind(&latencies, kind),
    });
    Ok(joined
        .filter(|both| !both.rates.is_empty() && !both.latencies.is_empty())
        .collect())
}

impl Requirement {
    fn means_kind(&self, kind: SeriesKind) -> bool {
        let named = self.name().is_none_or(|name| name == kind.name());
        named
            && match self.kind {
                Kind::Any => true,
                Kind::Read => !kind.writes(),
                Kind::Write => kind.writes(),
            }
    }

    /// IOPS with blocks of this size.
    fn iops(&self, block_bytes: u64) -> f64 {
        match self.quantity {
            Quantity::MibPerS => self.value * 1_048_576.0 / block_bytes.max(1) as f64,
            Quantity::Iops | Quantity::Latency(_) => self.value,
        }
    }

    /// Describes an operation that exceeds the latency: `took longer than 5 ms`.
    fn beyond_words(&self) -> String {
        let limit = format_duration_exact(self.value as u64);
        match self.relation {
            Relation::Below => format!("took {limit} or longer"),
            _ => format!("took longer than {limit}"),
        }
    }

    /// The latency threshold of an operation, in nanoseconds.
    fn threshold_ns(&self) -> u64 {
        let limit_ns = self.value as u64;
        match self.relation {
            Relation::Below => limit_ns.saturating_sub(1),
            _ => limit_ns,
        }
    }
}

impl RequiredTogether<'_> {
    /// The rate at which it is judged: the highest required, in IOPS.
    pub fn rate(&self, block_bytes: u64) -> f64 {
        let rates = self.rates.iter().map(|one| one.iops(block_bytes));
        rates.fold(0.0, f64::max)
    }

    /// Latency thresholds by which a run at that rate counts its arrivals, in rising order.
    pub fn thresholds_ns(&self) -> Vec<u64> {
        let all = self.latencies.iter().map(|one| one.threshold_ns());
        let mut all: Vec<u64> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Maximum operations in flight of such a run, high enough that the program does not
    /// hold arrivals back; the log writes one at a time.
    pub fn in_flight_max(&self, block_bytes: u64) -> u32 {
        if !self.kind.climbs() {
            return 1;
        }
        let limit_ns = self.thresholds_ns().last().copied().unwrap_or(0);
        let run = OpenLoop {
            limit_ns,
            share_max: 0.01,
        };
        let wanted = run.in_flight_cap_min(self.rate(block_bytes));
        wanted.min(u64::from(IN_FLIGHT_MOST)) as u32
    }

    /// Whether `required` is among them.
    pub fn has(&self, required: &Requirement) -> bool {
        let mut all = self.rates.iter().chain(&self.latencies);
        all.any(|one| std::ptr::eq(*one, required))
    }

    /// The ladder has already decided: a run at the rate is not worth its time.
    pub fn is_missed_by_ladder(&self, series: &SeriesRecord, block_bytes: u64) -> bool {
        let mut latencies = self.latencies.iter();
        latencies.any(|one| judge::by_ladder(self.rate(block_bytes), one, series).is_some())
    }

    /// These runs at the rate decide every latency: further runs add nothing.
    pub fn is_decided_by(&self, runs: &[&RunRecord]) -> bool {
        let mut latencies = self.latencies.iter();
        latencies.all(|one| judge::is_decided(one, runs))
    }

    /// The requirements, with the verdict on both: rates first.
    pub fn judge(
        &self,
        series: &SeriesRecord,
        runs: &[&RunRecord],
    ) -> Vec<(&Requirement, RequirementRecord)> {
        judge::all(self, series, runs)
    }
}

/// More operations in flight would only wait.
const IN_FLIGHT_MOST: u32 = 4_096;

/// Lengths in seconds of consecutive measurements, with a check after each:
/// see [`Design::Continuous`].
pub fn pieces_s() -> Vec<u64> {
    let mut before = 0;
    let looks = Design::Continuous.looks().iter();
    looks
        .map(|look| {
            let piece = look.seconds as u64 - before;
            before = look.seconds as u64;
            piece
        })
        .collect()
}
