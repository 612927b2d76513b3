//! Cumulative totals of a load's intervals.

use super::{STEP_SHARE, Span};
use serde::{Deserialize, Serialize};

/// Most marks kept; beyond that every other one is dropped. A span is then still accurate to 1 part
/// in 1,000.
const MARKS_MAX: usize = 8_192;

/// An interval of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadInterval {
    /// Its length; above 0.
    pub seconds: f64,
    /// Operations that completed.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Their mean latency in seconds, if known and there are any.
    pub latency_s: Option<f64>,
}

/// A position in a load: totals since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Seconds.
    pub seconds: f64,
    /// Operations.
    pub operations: f64,
    /// Bytes.
    pub bytes: f64,
    /// Sum of the latencies of these operations, in seconds.
    pub(crate) latency_s_sum: f64,
}

/// Cumulative intervals; between two marks growth is linear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timeline {
    marks: Vec<Mark>,
    has_latency: bool,
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline {
            marks: vec![Mark::default()],
            has_latency: true,
        }
    }

    pub(crate) fn push(&mut self, interval: LoadInterval) {
        if interval.seconds.is_nan() || interval.seconds <= 0.0 {
            return;
        }
        let operations = interval.operations as f64;
        self.has_latency &= interval.latency_s.is_some() || interval.operations == 0;
        let end = self.end();
        self.marks.push(Mark {
            seconds: end.seconds + interval.seconds,
            operations: end.operations + operations,
            bytes: end.bytes + interval.bytes as f64,
            latency_s_sum: end.latency_s_sum + operations * interval.latency_s.unwrap_or(0.0),
        });
        if self.marks.len() > MARKS_MAX {
            let last = self.marks.len() - 1;
            let mut index = 0;
            self.marks.retain(|_| {
                index += 1;
                index % 2 == 1 || index > last
            });
        }
    }

    pub(crate) fn end(&self) -> Mark {
        self.marks.last().copied().unwrap_or_default()
    }

    pub(crate) fn end_s(&self) -> f64 {
        self.end().seconds
    }

    /// Totals up to a second.
    pub(crate) fn at(&self, seconds: f64) -> Mark {
        let after = self.marks.partition_point(|mark| mark.seconds <= seconds);
        let Some(high) = self.marks.get(after) else {
            return self.end();
        };
        let low = self.marks[after.saturating_sub(1)];
        let share = (seconds - low.seconds) / (high.seconds - low.seconds);
        let between = |low: f64, high: f64| low + share * (high - low);
        Mark {
            seconds,
            operations: between(low.operations, high.operations),
            bytes: between(low.bytes, high.bytes),
            latency_s_sum: between(low.latency_s_sum, high.latency_s_sum),
        }
    }

    pub(crate) fn operations(&self, span: Span) -> f64 {
        self.at(span.to_s).operations - self.at(span.from_s).operations
    }

    /// Operations per second; 0 for an empty span.
    pub(crate) fn rate(&self, span: Span) -> f64 {
        let seconds = span.to_s - span.from_s;
        if seconds > 0.0 {
            self.operations(span) / seconds
        } else {
            0.0
        }
    }

    /// Mean latency; none if unknown.
    pub(crate) fn latency_s(&self, span: Span) -> Option<f64> {
        let operations = self.operations(span);
        let sum = self.at(span.to_s).latency_s_sum - self.at(span.from_s).latency_s_sum;
        (self.has_latency && operations > 0.0).then(|| sum / operations)
    }

    /// The second inside the span where two levels fit its operations best: the largest likelihood
    /// of two Poisson rates, over the ends of intervals and twentieths of the span, the latter for
    /// long intervals.
    pub(crate) fn best_split(&self, span: Span) -> f64 {
        let length = span.to_s - span.from_s;
        let inside = |second: &f64| *second > span.from_s && *second < span.to_s;
        let twentieths = (1..20).map(|part| span.from_s + length * f64::from(part) / 20.0);
        let ends = self.marks.iter().map(|mark| mark.seconds).filter(inside);
        let entropy = |from_s: f64, to_s: f64| {
            let part = Span { from_s, to_s };
            let operations = self.operations(part);
            if operations > 0.0 {
                operations * libm::log(self.rate(part))
            } else {
                0.0
            }
        };
        let fit = |second: f64| entropy(span.from_s, second) + entropy(second, span.to_s);
        let mut best = (f64::NEG_INFINITY, span.from_s + length / 2.0);
        for second in ends.chain(twentieths) {
            let likelihood = fit(second);
            if likelihood > best.0 {
                best = (likelihood, second);
            }
        }
        self.behind_mixed_interval(best.1, span.to_s)
    }

    /// The interval in which the rate fell contains both levels, and would look like a level of its
    /// own: returns its end if it is well above what follows.
    fn behind_mixed_interval(&self, split_s: f64, end_s: f64) -> f64 {
        let after = self.marks.partition_point(|mark| mark.seconds <= split_s);
        let Some(mark) = self.marks.get(after).filter(|mark| mark.seconds < end_s) else {
            return split_s;
        };
        let mixed = Span {
            from_s: split_s,
            to_s: mark.seconds,
        };
        let rest = Span {
            from_s: mark.seconds,
            to_s: end_s,
        };
        let expected = self.rate(rest) * (mixed.to_s - mixed.from_s);
        let excess = self.operations(mixed) - expected / STEP_SHARE;
        if excess > 3.0 * libm::sqrt(expected.max(1.0)) {
            mark.seconds
        } else {
            split_s
        }
    }
}
