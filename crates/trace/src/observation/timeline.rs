//! A load over time: bins of equal width, which doubles as the trace grows.

/// Most bins; for longer times, pairs are merged.
const BINS_MAX: usize = 1_024;
/// The initial width.
const WIDTH_NS: u64 = 100_000_000;
/// A moment is slow if its mean latency is this multiple of the usual one.
const SLOW_FACTOR: f64 = 3.0;

/// One bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Operations that arrived in it.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Number of those known to have completed.
    pub completed: u64,
    /// The sum of their latencies, nanoseconds.
    pub latency_ns_sum: u64,
    /// The largest of their latencies, nanoseconds.
    pub latency_ns_max: u64,
}

impl Moment {
    /// The mean latency, nanoseconds; None if no completion is known.
    pub fn latency_ns_mean(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.latency_ns_sum as f64 / self.completed as f64)
    }

    /// One operation.
    pub fn of(bytes: u64, latency_ns: Option<u64>) -> Self {
        Moment {
            operations: 1,
            bytes,
            completed: u64::from(latency_ns.is_some()),
            latency_ns_sum: latency_ns.unwrap_or(0),
            latency_ns_max: latency_ns.unwrap_or(0),
        }
    }

    /// Adds another one.
    pub fn add(&mut self, other: &Moment) {
        self.operations += other.operations;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.completed += other.completed;
        self.latency_ns_sum = self.latency_ns_sum.saturating_add(other.latency_ns_sum);
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }
}

/// A load over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    width_ns: u64,
    bins: Vec<Moment>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            width_ns: WIDTH_NS,
            bins: Vec::new(),
        }
    }
}

impl Timeline {
    /// The width of a bin.
    pub const fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// The bins, from the first arrival of the trace on.
    pub fn bins(&self) -> &[Moment] {
        &self.bins
    }

    /// Adds an operation that arrived `at_ns` after the trace's beginning.
    pub fn add(&mut self, at_ns: u64, bytes: u64, latency_ns: Option<u64>) {
        while at_ns / self.width_ns >= BINS_MAX as u64 {
            let pairs = self.bins.chunks(2).map(|pair| {
                let mut sum = pair[0];
                pair.get(1).into_iter().for_each(|other| sum.add(other));
                sum
            });
            self.bins = pairs.collect();
            self.width_ns = self.width_ns.saturating_mul(2);
        }
        let at = (at_ns / self.width_ns) as usize;
        if self.bins.len() <= at {
            self.bins.resize(at + 1, Moment::default());
        }
        self.bins[at].add(&Moment::of(bytes, latency_ns));
    }

    /// The moments whose mean latency exceeds three times the median over all bins: at most
    /// `count`, those with the largest mean first. Each with its start, nanoseconds after that of
    /// the trace.
    pub fn slow_moments(&self, count: usize) -> Vec<(u64, Moment)> {
        let means = self.bins.iter().filter_map(Moment::latency_ns_mean);
        let means: Vec<f64> = means.collect();
        let Some(usual) = stripewise_stats::median(&means) else {
            return Vec::new();
        };
        let mean_of = |moment: &Moment| moment.latency_ns_mean().unwrap_or(0.0);
        let numbered = (0u64..).zip(&self.bins);
        let mut slow: Vec<(u64, Moment)> = numbered
            .filter(|(_, moment)| mean_of(moment) > SLOW_FACTOR * usual)
            .map(|(k, moment)| (k * self.width_ns, *moment))
            .collect();
        slow.sort_by(|one, other| mean_of(&other.1).total_cmp(&mean_of(&one.1)));
        slow.truncate(count);
        slow
    }
}
