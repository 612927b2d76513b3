//! One sweep over a task's operations: the number in flight over time, and what each decision to
//! issue saw.

use super::Span;

/// Issues closer together than this, or than a quarter of the median latency, are a batch.
const BATCH_NS_MAX: u64 = 100_000;

/// Result of the sweep.
pub(crate) struct Sweep {
    spans: Vec<Span>,
    /// Sorted completions.
    completed: Vec<u64>,
    /// Indices of issues that are decisions.
    pub epochs: Vec<usize>,
    /// Own operations in flight just before each of them.
    pub seen: Vec<u32>,
    /// The maximum in flight.
    pub in_flight_max: u32,
    /// Variance over mean of the number in flight over time.
    pub in_flight_dispersion: f64,
    /// Standard deviation over mean of the gaps between epochs.
    pub gap_variation: f64,
    /// Issues just after own completions minus those just before, per issue.
    pub completions_answered: f64,
    /// Between each issue and the next, from delta after the first on: duration, and operations
    /// times time.
    between: Vec<(u64, u128)>,
}

impl Sweep {
    /// Sweeps operations sorted by issue. None for fewer than 60.
    pub fn new(spans: &[Span]) -> Option<Self> {
        if spans.len() < 60 {
            return None;
        }
        let mut completed: Vec<u64> = spans.iter().map(|span| span.completed_ns).collect();
        completed.sort_unstable();
        let median_ns = median_latency(spans);
        let delta = BATCH_NS_MAX.min(median_ns / 4).max(1);
        let mut sweep = Sweep {
            spans: spans.to_vec(),
            completed,
            epochs: Vec::new(),
            seen: Vec::new(),
            in_flight_max: 0,
            in_flight_dispersion: 0.0,
            gap_variation: 0.0,
            completions_answered: 0.0,
            between: Vec::new(),
        };
        sweep.find_epochs(delta);
        sweep.integrate(delta);
        sweep.in_flight_dispersion = sweep.dispersion();
        sweep.gap_variation = sweep.variation_of_gaps();
        let width = (median_ns / 10).max(30_000);
        sweep.completions_answered = sweep.answered(width);
        Some(sweep)
    }

    fn issued_before(&self, at_ns: u64) -> usize {
        self.spans.partition_point(|span| span.issued_ns < at_ns)
    }

    fn completed_until(&self, at_ns: u64) -> usize {
        self.completed.partition_point(|&done| done <= at_ns)
    }

    fn find_epochs(&mut self, delta: u64) {
        let mut last = None;
        for k in 0..self.spans.len() {
            let at = self.spans[k].issued_ns;
            let seen = self
                .issued_before(at)
                .saturating_sub(self.completed_until(at));
            self.in_flight_max = self.in_flight_max.max(seen as u32 + 1);
            if last.is_none_or(|last: u64| at - last >= delta) {
                self.epochs.push(k);
                self.seen.push(seen as u32);
            }
            last = Some(at);
        }
    }

    /// Operations times time from the start to `at_ns`.
    fn integral(&self, at_ns: u64, sums: &[Vec<u128>; 2]) -> u128 {
        let issued = self.spans.partition_point(|span| span.issued_ns <= at_ns);
        let done = self.completed_until(at_ns);
        let at = u128::from(at_ns);
        let started = issued as u128 * at - sums[0][issued];
        started.saturating_sub(done as u128 * at - sums[1][done])
    }

    fn integrate(&mut self, delta: u64) {
        let sums_of = |times: &mut dyn Iterator<Item = u64>| {
            let mut sum = 0;
            let rest = times.map(|time| {
                sum += u128::from(time);
                sum
            });
            let mut sums = vec![0];
            sums.extend(rest);
            sums
        };
        let sums = [
            sums_of(&mut self.spans.iter().map(|span| span.issued_ns)),
            sums_of(&mut self.completed.iter().copied()),
        ];
        let pairs = self.spans.windows(2).map(|pair| {
            let end = pair[1].issued_ns;
            let start = pair[0].issued_ns.saturating_add(delta).min(end);
            (start, end)
        });
        let between = pairs.map(|(start, end)| {
            let until_start = self.integral(start, &sums);
            let area = self.integral(end, &sums).saturating_sub(until_start);
            (end - start, area)
        });
        self.between = between.collect();
    }

    /// The mean number in flight between two epochs, over the time that counts.
    pub fn in_flight_between(&self, from: usize, to: usize) -> Option<f64> {
        let first = self.epochs[from].saturating_sub(1);
        let last = self.epochs.get(to).copied().unwrap_or(self.spans.len());
        let part = self.between.get(first..last.saturating_sub(1))?;
        let time: u64 = part.iter().map(|(time, _)| time).sum();
        let area: u128 = part.iter().map(|(_, area)| area).sum();
        (time > 0).then(|| area as f64 / time as f64)
    }

    /// Variance over mean of the number in flight, over the time from 2 % of the recording to the
    /// last issue.
    fn dispersion(&self) -> f64 {
        let (first, last) = (
            self.spans[0].issued_ns,
            self.spans[self.spans.len() - 1].issued_ns,
        );
        let from = first + (last - first) / 50;
        let (mut issue, mut done) = (self.issued_before(from), self.completed_until(from));
        let (mut at, mut sums) = (from, [0.0; 3]);
        while at < last {
            let next_issue = self.spans.get(issue).map_or(last, |span| span.issued_ns);
            let next_done = self.completed.get(done).copied().unwrap_or(last);
            let next = next_issue.min(next_done).min(last);
            let count = issue.saturating_sub(done) as f64;
            let time = (next - at) as f64;
            sums = [
                sums[0] + time,
                sums[1] + time * count,
                sums[2] + time * count * count,
            ];
            at = next;
            if next_done == next {
                done += 1;
            } else if next_issue == next {
                issue += 1;
            }
        }
        let mean = sums[1] / sums[0].max(1.0);
        let variance = sums[2] / sums[0].max(1.0) - mean * mean;
        variance / mean.max(1e-9)
    }

    fn variation_of_gaps(&self) -> f64 {
        let gaps: Vec<f64> = self
            .epochs
            .windows(2)
            .map(|pair| (self.spans[pair[1]].issued_ns - self.spans[pair[0]].issued_ns) as f64)
            .collect();
        stripewise_stats::coefficient_of_variation(&gaps).unwrap_or(f64::INFINITY)
    }

    fn answered(&self, width: u64) -> f64 {
        let mut sum = 0i64;
        for &done in &self.completed {
            let until = |at: u64| self.issued_before(at.saturating_add(1)) as i64;
            let before = |at: u64| self.issued_before(at) as i64;
            sum += until(done.saturating_add(width)) - until(done);
            sum -= before(done) - before(done.saturating_sub(width));
        }
        sum as f64 / self.spans.len() as f64
    }

    /// A quantile of the number seen by epochs.
    pub fn seen_percentile(&self, share: f64) -> f64 {
        let seen: Vec<f64> = self.seen.iter().map(|&seen| f64::from(seen)).collect();
        let linear = stripewise_stats::Quantile::Linear;
        stripewise_stats::quantile(&seen, share, linear).unwrap_or(0.0)
    }

    /// The share of time with own operations in flight, from the first issue to the last.
    pub fn busy_share(&self) -> f64 {
        let (mut idle, mut end) = (0, self.spans[0].completed_ns);
        for span in &self.spans[1..] {
            idle += span.issued_ns.saturating_sub(end);
            end = end.max(span.completed_ns);
        }
        let whole = self.spans[self.spans.len() - 1].issued_ns - self.spans[0].issued_ns;
        1.0 - idle as f64 / whole.max(1) as f64
    }

    /// For each epoch that saw nothing in flight, and whose successor did not either: the time
    /// until its last completion, and until the next epoch.
    pub fn answers(&self) -> Vec<(f64, f64)> {
        let mut answers = Vec::new();
        for k in 0..self.epochs.len().saturating_sub(1) {
            if self.seen[k] > 0 || self.seen[k + 1] > 0 {
                continue;
            }
            let (first, next) = (self.epochs[k], self.epochs[k + 1]);
            let start = self.spans[first].issued_ns;
            let done = self.spans[first..next].iter().map(|span| span.completed_ns);
            let busy = done.max().unwrap_or(start) - start;
            answers.push((busy as f64, (self.spans[next].issued_ns - start) as f64));
        }
        answers
    }
}

fn median_latency(spans: &[Span]) -> u64 {
    let latency = |span: &Span| span.completed_ns.saturating_sub(span.issued_ns);
    let mut all: Vec<u64> = spans.iter().map(latency).collect();
    let middle = all.len() / 2;
    *all.select_nth_unstable(middle).1
}
