//! Were operations issued when due?
//!
//! Lateness that is independent between operations is harmless; common lateness makes bursts that
//! the recording did not have. By simulation, p99 of lateness up to a quarter of the median latency
//! changes p99 of latency by at most 3 %; twice that, twice as much.

use stripewise_stats::Histogram;

/// p99 of lateness over the median latency: a replay is valid up to the first, void above
/// the second.
const RATIOS: [f64; 2] = [0.25, 0.5];
/// A burst: the dispersion of counts rises by more than this.
const DISPERSION_RISE_MAX: f64 = 0.1;
/// Clock-regular arrivals have next to none.
const DISPERSION_FLOOR: f64 = 0.1;

/// Whether the replay is the recorded load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Punctuality {
    /// On time.
    Valid,
    /// Slightly late: must be reported.
    Late,
    /// Too late.
    Void,
}

/// Lateness of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lateness {
    /// The verdict.
    pub punctuality: Punctuality,
    /// Median lateness, nanoseconds.
    pub p50_ns: u64,
    /// 99 % quantile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The share of operations issued more than a microsecond late, 0 to 1.
    pub late_share: f64,
    /// Dispersion (variance over mean) of the counts in bins of 1 ms, and of half the median
    /// latency, relative to that of the due times, minus one: the larger of both.
    pub dispersion_rise: f64,
}

/// Judges a replay by each operation's due and issue time, both ordered by due time. None for no
/// operations.
pub fn lateness(due_ns: &[u64], left_ns: &[u64], latency_ns_p50: u64) -> Option<Lateness> {
    let mut late = Histogram::new();
    let mut count = 0u64;
    for (due, left) in due_ns.iter().zip(left_ns) {
        let ns = left.saturating_sub(*due);
        late.record(ns);
        count += u64::from(ns > 1_000);
    }
    let p99_ns = late.percentile(99.0)?;
    let widths = [1_000_000, (latency_ns_p50 / 2).max(1_000)];
    let rises = widths.map(|width| {
        let [due, left] = [due_ns, left_ns].map(|times| dispersion(times, width));
        (left - due) / due.max(DISPERSION_FLOOR)
    });
    let dispersion_rise = rises[0].max(rises[1]);
    let ratio = p99_ns as f64 / latency_ns_p50.max(1) as f64;
    let is_bunched = dispersion_rise > DISPERSION_RISE_MAX;
    let punctuality = if ratio > RATIOS[1] || is_bunched {
        Punctuality::Void
    } else if ratio > RATIOS[0] {
        Punctuality::Late
    } else {
        Punctuality::Valid
    };
    Some(Lateness {
        punctuality,
        p50_ns: late.percentile(50.0)?,
        p99_ns,
        max_ns: late.max()?,
        late_share: count as f64 / late.count() as f64,
        dispersion_rise,
    })
}

/// Variance over mean of counts in bins of this width, from the first time to the last.
fn dispersion(times: &[u64], width: u64) -> f64 {
    let (Some(&first), Some(&last)) = (times.iter().min(), times.iter().max()) else {
        return 0.0;
    };
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let bins = ((last - first) / width + 1) as f64;
    let mut squares = 0.0;
    // Adjacent equal bins: empty bins add nothing to the squares.
    for group in sorted.chunk_by(|one, other| (one - first) / width == (other - first) / width) {
        squares += (group.len() * group.len()) as f64;
    }
    let mean = times.len() as f64 / bins;
    (squares / bins - mean * mean) / mean
}
