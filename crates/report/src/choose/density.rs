//! The histogram of measured latencies: which share of operations took how
//! long, reads and writes separately, in bins of equal width on a logarithmic
//! axis.

use super::{DetailedJob, axis};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use stripewise_stats::Histogram;
use stripewise_units::format_duration;

/// Bins per decade.
const BINS_OF_DECADE: f64 = 12.0;
/// More bins cannot be distinguished.
const BINS_MAX: usize = 140;
/// With fewer operations there is no shape.
const OPERATIONS_MIN: u64 = 100;
const LINES_MAX: usize = 6;

pub(super) fn chart(jobs_shown: &[DetailedJob<'_>]) -> Option<Chart> {
    let mut lines: Vec<Series> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for one in jobs_shown {
        let outcome = &one.row.job.outcome;
        let discards = outcome.discard.as_ref().map(|kind| ("discards", kind));
        let kinds = [("reads", &outcome.read), ("writes", &outcome.write)];
        for (kind, outcome) in kinds.into_iter().chain(discards) {
            let Some(histogram) = outcome
                .histogram
                .as_ref()
                .filter(|all| all.count() >= OPERATIONS_MIN)
            else {
                continue;
            };
            if lines.len() >= LINES_MAX {
                break;
            }
            let name = match one.row.is_mixed() {
                true => format!("{}: {kind}", one.name_with_place()),
                false => one.name_with_place(),
            };
            let Some((points, peak)) = bins(histogram) else {
                continue;
            };
            words.push(format!("{name}: {}.", peak.words()));
            lines.push(Series::new(&name, Form::Steps, lines.len(), points));
        }
    }
    if lines.is_empty() {
        return None;
    }
    Some(Chart {
        cautions: Vec::new(),
        name: "latency-distribution".to_owned(),
        title: "Operations by latency".to_owned(),
        summary: words.join(" "),
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        panels: vec![Panel {
            y: axis("Share of operations", Quantity::Share, Scale::FromZero),
            series: lines,
            annotations: Vec::new(),
        }],
    })
}

/// The bin with the most operations.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Peak {
    from_ns: u64,
    to_ns: u64,
    /// Its share, 0 to 1.
    share: f64,
}

impl Peak {
    /// `most took 100 us to 121 us`, if it has more than half of them.
    fn words(self) -> String {
        let [from, to] = [self.from_ns, self.to_ns].map(format_duration);
        match self.share > 0.5 {
            true => format!("the most common range is {from} to {to}"),
            false => format!(
                "the fullest bin, {from} to {to}, has {:.0} %",
                self.share * 100.0
            ),
        }
    }
}

/// The steps, from 0 to 0, and their peak.
fn bins(histogram: &Histogram) -> Option<(Vec<Point>, Peak)> {
    let (low, high) = (histogram.percentile(0.0)?.max(1), histogram.max()?.max(1));
    let place = |ns: u64| ((ns as f64).log10() * BINS_OF_DECADE).floor() as i64;
    let (first, last) = (place(low), place(high) + 1);
    let wide = usize::try_from(last - first)
        .ok()?
        .div_ceil(BINS_MAX)
        .max(1);
    let edge = |bin: i64| 10f64.powf(bin as f64 / BINS_OF_DECADE);
    let count = histogram.count() as f64;
    let mut points = vec![Point::new(edge(first), 0.0)];
    let mut peak = (0, [low, high]);
    let mut below = 0;
    let mut bin = first;
    while bin < last {
        let next = (bin + wide as i64).min(last);
        let until = edge(next).round() as u64;
        // The upper edge belongs to the next bin, except for the last one.
        let at_most = if next == last {
            u64::MAX
        } else {
            until.saturating_sub(1)
        };
        let so_far = histogram.count_at_most(at_most);
        let inside = so_far.saturating_sub(below);
        if inside > peak.0 {
            peak = (inside, [edge(bin).round() as u64, until]);
        }
        let share = inside as f64 / count * 100.0;
        points.push(Point::new(edge(bin), share));
        below = so_far;
        bin = next;
    }
    points.push(Point::new(edge(last), 0.0));
    // Of two points at the same position, the later counts.
    points.remove(0);
    let (inside, [from_ns, to_ns]) = peak;
    let peak = Peak {
        from_ns,
        to_ns,
        share: inside as f64 / count,
    };
    Some((points, peak))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_peak_is_where_most_are() {
        let mut histogram = Histogram::new();
        for index in 0..1_000_u64 {
            histogram.record(1_000_000 + index);
        }
        for index in 0..50_u64 {
            histogram.record(80_000_000 + index * 1_000_000);
        }
        let (points, peak) = bins(&histogram).unwrap();
        let sum: f64 = points.iter().map(|point| point.y).sum();
        assert!((sum - 100.0).abs() < 1e-6, "{sum}");
        assert!(
            peak.from_ns <= 1_000_000 && peak.to_ns >= 1_000_999,
            "{peak:?}"
        );
        assert!(
            peak.words().starts_with("the most common range"),
            "{peak:?}"
        );
        assert!(points.windows(2).all(|two| two[0].x < two[1].x));
        assert!(bins(&Histogram::new()).is_none());
        // The fullest of many bins does not hold the majority.
        let mut histogram = Histogram::new();
        for index in 1..1_000_u64 {
            histogram.record(index * 1_000_000);
        }
        let (_, peak) = bins(&histogram).unwrap();
        assert!(peak.words().starts_with("the fullest bin"), "{peak:?}");
    }
}
