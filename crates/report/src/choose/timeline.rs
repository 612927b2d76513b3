//! A whole bench on one time axis: the rate and p99 of each run over time, where
//! each series began, events on the way, and the load of the host's processors.

use super::axis;
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::words::series_title;
use stripewise_results::{Interval, JobRow, ProcessorUse, RunRecord};
use stripewise_units::{WallTime, counted, format_duration};

/// Fewer runs are not a bench.
const RUNS_MIN: usize = 3;
/// Points per run; a bench has about fifty runs.
const POINTS_OF_RUN: usize = 6;
/// More parts cannot be distinguished.
const PARTS_MAX: usize = 6;
/// More events are not legible.
const EVENTS_MAX: usize = 5;
/// Minimum steal, in per cent of the processors' time, to draw a line.
const STEAL_SHOWN: f64 = 0.1;
/// Warnings of external events at some moment.
const EVENTS: [&str; 9] = [
    "other-load",
    "cpu-steal",
    "cpu-quota",
    "paused",
    "suspended",
    "clock-jump",
    "thermal-throttling",
    "stalled",
    "io-throttled",
];

/// One run on the common axis.
struct PlacedRun<'a> {
    run: &'a RunRecord,
    part: &'a str,
    from_ns: u64,
}

/// The timeline of the one series that these runs belong to.
pub(super) fn chart(runs: &[RunRecord]) -> Option<Chart> {
    let first = runs.iter().find_map(|run| run.series.as_deref())?;
    let placed = placed(runs, first);
    let parts = super::distinct(placed.iter().map(|one| one.part));
    if placed.len() < RUNS_MIN || parts.len() > PARTS_MAX {
        return None;
    }
    let lines = |of: &dyn Fn(&Interval) -> Option<f64>| -> Vec<Series> {
        let each = parts.iter().enumerate().map(|(tone, part)| {
            let of_part = placed.iter().filter(|one| one.part == *part);
            let points = of_part.flat_map(|one| points(one, of)).collect();
            Series::new(&series_title(part), Form::Trace, tone, points)
        });
        each.filter(|line| !line.points.is_empty()).collect()
    };
    let rates = lines(&|interval| {
        let seconds = interval.duration_ns as f64 / 1e9;
        let rate = interval.operations() as f64 / seconds;
        (seconds > 0.0 && rate > 0.0).then_some(rate)
    });
    let latencies = lines(&|interval| {
        let ns = interval.latency_ns_p99? as f64;
        (ns > 0.0).then_some(ns)
    });
    if rates.is_empty() {
        return None;
    }
    let (marks, events) = marks(&placed, &parts);
    let end = placed.iter().map(end_ns).max().unwrap_or(0);
    let host = host_lines(&placed);
    Some(Chart {
        cautions: Vec::new(),
        name: "timeline".to_owned(),
        title: "The whole bench over time".to_owned(),
        summary: format!(
            "{} in {}. {events}",
            counted(placed.len(), "run", "runs"),
            format_duration(end)
        ),
        x: axis(
            "Time since the bench began",
            Quantity::Time,
            Scale::FromZero,
        ),
        panels: vec![
            Panel {
                y: axis("Throughput", Quantity::Iops, Scale::Log10),
                series: rates,
                annotations: marks,
            },
            Panel {
                y: axis(
                    "Latency, p99 of each interval",
                    Quantity::Latency,
                    Scale::Log10,
                ),
                series: latencies,
                annotations: Vec::new(),
            },
            Panel {
                y: axis("Processors of the host", Quantity::Share, Scale::FromZero),
                series: host,
                annotations: Vec::new(),
            },
        ],
    })
}

/// How busy the host was in each run, and how much of it a hypervisor took: a
/// point in the middle of each. Simulated runs have none; the panel is left out then.
fn host_lines(placed: &[PlacedRun<'_>]) -> Vec<Series> {
    let used = |one: &PlacedRun<'_>| -> Option<[f64; 2]> {
        let sum = |of: fn(&ProcessorUse) -> u64| -> f64 {
            one.run.processors.iter().map(|one| of(one) as f64).sum()
        };
        let (busy, steal) = (sum(|one| one.busy_ns), sum(|one| one.steal_ns));
        let all = busy + steal + sum(|one| one.idle_ns);
        (all > 0.0).then(|| [busy / all * 100.0, steal / all * 100.0])
    };
    let known: Vec<(f64, [f64; 2])> = placed
        .iter()
        .filter_map(|one| {
            let middle = (one.from_ns as f64 + end_ns(one) as f64) / 2.0;
            Some((middle, used(one)?))
        })
        .collect();
    let line = |name: &str, tone: usize, of: usize| {
        let points = known.iter().map(|(x, shares)| Point::new(*x, shares[of]));
        Series::new(name, Form::Trace, tone, points.collect())
    };
    let mut lines = vec![line("busy", 6, 0)];
    // A line along 0 is useless.
    if known.iter().any(|(_, [_, steal])| *steal >= STEAL_SHOWN) {
        lines.push(line("taken by the hypervisor", 1, 1));
    }
    lines
}

/// Runs in order, each at its wall-clock time but never before the end of the one
/// before: simulated time runs faster than the clock.
fn placed<'a>(runs: &'a [RunRecord], series: &str) -> Vec<PlacedRun<'a>> {
    let mut of_series: Vec<&RunRecord> = runs
        .iter()
        .filter(|run| run.series.as_deref() == Some(series) && run.jobs.len() == 1)
        .collect();
    of_series.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
    let begin = of_series
        .iter()
        .find_map(|run| milliseconds(&run.started_at));
    let mut placed: Vec<PlacedRun<'a>> = Vec::new();
    let mut free_from = 0;
    for run in of_series {
        let Some(part) = run
            .series_part
            .as_deref()
            .filter(|part| *part != "precondition")
        else {
            continue;
        };
        let clock = milliseconds(&run.started_at).zip(begin);
        let clock_ns = clock.map_or(0, |(now, begin)| now.saturating_sub(begin) * 1_000_000);
        let one = PlacedRun {
            run,
            part,
            from_ns: clock_ns.max(free_from),
        };
        free_from = end_ns(&one);
        placed.push(one);
    }
    placed
}

fn end_ns(placed: &PlacedRun<'_>) -> u64 {
    let durations = placed.run.jobs.iter().map(|job| job.outcome.duration_ns);
    placed.from_ns.saturating_add(durations.max().unwrap_or(0))
}

/// The intervals of a run, joined to a few.
fn points(placed: &PlacedRun<'_>, of: &dyn Fn(&Interval) -> Option<f64>) -> Vec<Point> {
    let rows = JobRow::of(std::slice::from_ref(placed.run));
    let intervals = rows
        .into_iter()
        .flat_map(|row| row.job.outcome.intervals.iter());
    let intervals: Vec<Interval> = intervals.copied().collect();
    let together = intervals.len().div_ceil(POINTS_OF_RUN).max(1);
    let joined = intervals.chunks(together).map(|group| {
        let rest = group[1..].iter();
        rest.fold(group[0], |joined, next| joined.joined_with(next, None))
    });
    // The p99 of joined intervals is not known: the slowest of them is used.
    let slowest = |from: u64, to: u64| {
        let inside = intervals
            .iter()
            .filter(|one| (from..to).contains(&one.start_ns));
        inside.filter_map(|one| one.latency_ns_p99).max()
    };
    let each = joined.filter_map(|interval| {
        let end = interval.start_ns.saturating_add(interval.duration_ns);
        let interval = Interval {
            latency_ns_p99: slowest(interval.start_ns, end),
            ..interval
        };
        let middle = interval.start_ns as f64 + interval.duration_ns as f64 / 2.0;
        Some(Point::new(placed.from_ns as f64 + middle, of(&interval)?))
    });
    each.collect()
}

/// Where each part begins, and events; the same as text.
fn marks(placed: &[PlacedRun<'_>], parts: &[&str]) -> (Vec<Annotation>, String) {
    let begin = |part: &&str| placed.iter().find(|one| one.part == *part);
    let mut marks: Vec<Annotation> = parts
        .iter()
        .filter_map(begin)
        .map(|one| Annotation::AtX {
            x: one.from_ns as f64,
            label: series_title(one.part),
        })
        .collect();
    let mut words: Vec<String> = Vec::new();
    for one in placed {
        let of_jobs = one.run.jobs.iter().flat_map(|job| &job.warnings);
        let all = one.run.warnings.iter().chain(of_jobs);
        for warning in all.filter(|warning| EVENTS.contains(&warning.code.as_str())) {
            if words.len() < EVENTS_MAX {
                let at = format_duration(one.from_ns);
                let event = warning.code.replace('-', " ");
                words.push(format!("At {at}: {event}."));
                marks.push(Annotation::AtX {
                    x: one.from_ns as f64,
                    label: event,
                });
            }
        }
    }
    (marks, words.join(" "))
}

/// Milliseconds since 1970 of `2026-11-21T20:15:30.000Z`; `None` for other texts.
fn milliseconds(time: &str) -> Option<u64> {
    let time: WallTime = time.parse().ok()?;
    Some(time.ns() / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_in_milliseconds() {
        for (time, expected) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2000-02-29T12:00:00.250Z", Some(951_825_600_250)),
            ("2026-11-22T19:47:15Z", Some(1_795_376_835_000)),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(milliseconds(time), expected, "{time}");
        }
    }
}
