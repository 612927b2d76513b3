//! (e) The answers of a bench: how often the interval contains the rate that a device has at its
//! limit, and how wide it is. Devices are curves with noise, everything above them is the lab's own
//! code: the load search, the chosen point, the runs made there, the summary.

use super::curves::{Curve, Runs};
use super::parallel::trials;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use anyhow::{Context, Result};
use stripewise_lab::{LadderOptions, SeriesKind, SeriesPlan, plan_bench, summarise};
use stripewise_results::{AnswerBound, AnswerPlace, AnswerRecord, RunRecord};
use stripewise_stats::{Random, median};

/// Variation between runs.
const NOISES: [f64; 2] = [0.07, 0.10];

/// Below this many in flight a bench answers with the rate of a whole load.
const FEW: f64 = 10.0;

/// Position of the limit.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// At the maximum curvature.
    AtKnee,
    /// At this multiple of the load at which proportional growth would reach the ceiling.
    At(f64),
    /// Beyond all loads.
    Never,
}

/// Question about the answers on a curve.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    name: &'static str,
    kind: SeriesKind,
    curve: Curve,
    limit: Limit,
    covered_min: Option<f64>,
    half_width_max: Option<f64>,
}

/// Saturated, at the knee, and below it.
fn cases() -> Vec<Case> {
    let case = |name, knee, sharpness, tail_slope, limit| Case {
        name,
        kind: SeriesKind::RandomRead,
        curve: Curve {
            knee,
            sharpness,
            tail_slope,
            decline: 0.0,
        },
        limit,
        covered_min: Some(93.0),
        half_width_max: Some(10.0),
    };
    let (knee, below) = (Limit::AtKnee, None);
    let mut declining = case("", 8.0, 2.0, 0.2, knee).curve;
    declining.decline = 0.01;
    vec![
        case("flat, limit at 4", 1.0, 0.0, 0.05, Limit::At(4.0)),
        case("flat, limit at 24", 1.0, 0.0, 0.05, Limit::At(24.0)),
        case("saturated, soft knee", 8.0, 2.0, 0.0, Limit::At(4.0)),
        case("saturated, sharper knee", 16.0, 4.0, 0.1, Limit::At(3.0)),
        case("plateau, limit never met", 8.0, 2.0, 0.05, Limit::Never),
        Case {
            kind: SeriesKind::SequentialRead,
            ..case("plateau of a stream", 3.0, 4.0, 0.05, Limit::At(16.0))
        },
        Case {
            curve: declining,
            ..case("declining beyond its knee", 8.0, 2.0, 0.2, Limit::At(3.0))
        },
        case("at a very soft knee of 16", 16.0, 1.5, 0.1, knee),
        case("at a soft knee of 8", 8.0, 2.0, 0.05, knee),
        case("at a soft knee of 32", 32.0, 2.0, 0.1, knee),
        case("at a sharper knee of 16", 16.0, 4.0, 0.1, knee),
        case("at a sharper knee of 5", 5.0, 4.0, 0.15, knee),
        Case {
            covered_min: Some(91.0),
            half_width_max: below,
            ..case("at a sharp knee of 16", 16.0, 16.0, 0.25, knee)
        },
        Case {
            covered_min: Some(91.0),
            half_width_max: below,
            ..case("far below a sharp knee", 32.0, 16.0, 0.25, Limit::At(0.4))
        },
        Case {
            covered_min: Some(88.0),
            half_width_max: below,
            ..case(
                "in the corner of a sharp knee",
                16.0,
                16.0,
                0.1,
                Limit::At(1.0),
            )
        },
        Case {
            half_width_max: below,
            ..case("half way up", 16.0, 2.0, 0.1, Limit::At(1.0))
        },
        Case {
            covered_min: Some(91.0),
            half_width_max: below,
            ..case("below a soft knee", 32.0, 2.0, 0.1, Limit::At(0.5))
        },
        Case {
            half_width_max: below,
            ..case("few in flight", 3.0, 2.0, 0.1, Limit::At(1.0))
        },
    ]
}

/// Answer of a bench.
#[derive(Clone, Copy, Debug)]
pub struct BenchTrial {
    pub answer: Option<AnswerRecord>,
    pub truth: f64,
    pub seconds: f64,
}

impl BenchTrial {
    pub fn covers(&self) -> bool {
        let Some(answer) = self.answer else {
            return false;
        };
        match (answer.bound, answer.iops_low, answer.iops_high) {
            (Some(AnswerBound::AtLeast), ..) => self.truth >= answer.iops,
            (Some(AnswerBound::AtMost), ..) => self.truth <= answer.iops,
            (None, Some(low), Some(high)) => (low..=high).contains(&self.truth),
            _ => false,
        }
    }

    /// Rate within the limit; absent if the answer is that no load meets it.
    pub fn is_answered(&self) -> bool {
        let knee = |answer: AnswerRecord| answer.at == AnswerPlace::Knee;
        self.answer.is_some_and(|answer| !knee(answer))
    }

    /// Of its interval, if it has one.
    pub fn half_width(&self) -> Option<f64> {
        self.answer?.half_width()
    }
}

/// The study.
pub fn answers(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    for (number, case) in (0..).zip(cases()) {
        for (level, noise) in (0..).zip(NOISES) {
            let outcomes = trials(size.coverage, |trial| {
                bench(&case, noise, seed_of(seed, 100 + 2 * number + level, trial))
            })?;
            state(&case, noise, &outcomes, table);
        }
    }
    Ok(())
}

fn state(case: &Case, noise: f64, outcomes: &[BenchTrial], table: &mut Table) {
    let name = format!("(e) {}, {:.0} %", case.name, 100.0 * noise);
    let answered: Vec<&BenchTrial> = outcomes
        .iter()
        .filter(|outcomes| outcomes.is_answered())
        .collect();
    let percent = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
    let covered = answered.iter().filter(|outcomes| outcomes.covers()).count();
    table.state(
        &format!("{name}: covered, %"),
        percent(covered, answered.len()),
        1,
        case.covered_min.map_or(Bound::None, Bound::AtLeast),
    );
    let widths = answered.iter().filter_map(|outcomes| outcomes.half_width());
    let widths: Vec<f64> = widths.collect();
    table.state(
        &format!("{name}: median half width, %"),
        100.0 * median(&widths).unwrap_or(f64::NAN),
        1,
        case.half_width_max.map_or(Bound::None, Bound::AtMost),
    );
    table.state(
        &format!("{name}: with an interval, %"),
        percent(widths.len(), outcomes.len()),
        1,
        Bound::None,
    );
    let slowest = outcomes
        .iter()
        .map(|outcomes| outcomes.seconds)
        .fold(0.0, f64::max);
    table.state(
        &format!("{name}: seconds, at most"),
        slowest,
        0,
        Bound::None,
    );
}

fn bench(case: &Case, noise: f64, seed: u64) -> Result<BenchTrial> {
    let curve = case.curve;
    let at = match case.limit {
        Limit::AtKnee => curve.knee_load(),
        Limit::At(multiple) => multiple * curve.knee,
        Limit::Never => 100_000.0,
    };
    let limit = format!("p99<{}ns", (curve.latency_s(at) * 1e9).round());
    let mut runs = Runs {
        curve,
        noise,
        random: Random::new(seed),
        elapsed_ns: 0,
        limit,
    };
    let plan = plan(case.kind, &runs.limit, seed)?;
    let records = runs.series(&plan);
    let records: Vec<&RunRecord> = records.iter().collect();
    let series = summarise("truth", case.kind, plan.limits.slo, &records);
    let is_most = case.kind.reported_in_bytes() || matches!(case.limit, Limit::Never);
    let truth = match is_most {
        true => curve.most_up_to(at),
        // Loads are integers, which matters with few in flight.
        false if at < FEW => curve.most_up_to(at.floor().max(1.0)),
        false => curve.rate(at),
    };
    Ok(BenchTrial {
        answer: series.context("a series has steps")?.answer,
        truth,
        seconds: runs.elapsed_ns as f64 / 1e9,
    })
}

/// For a series without a time limit.
pub fn plan(kind: SeriesKind, limit: &str, seed: u64) -> Result<SeriesPlan> {
    let slo = limit.parse().ok().context("a limit that cannot be read")?;
    let options = LadderOptions {
        qualify: false,
        series: vec![kind],
        read_only: false,
        step_ns: None,
        time_ns: None,
        block_size_bytes: None,
        slo,
        // Every number of operations in flight is possible.
        cores: 256,
        pilot_ns: 0,
        seed,
    };
    let mut series = plan_bench(&options).series;
    series.pop().context("a bench of one series has one")
}

/// How many of `count` answers at a soft knee contain the truth, and the median half width in per
/// cent: a part of the study, run for every change.
#[cfg(test)]
pub fn at_a_soft_knee(seed: u64, count: usize) -> Result<(usize, f64)> {
    let cases = cases();
    let case = cases
        .iter()
        .find(|case| case.name == "at a soft knee of 8")
        .context("the case is there")?;
    let outcomes = trials(count, |trial| bench(case, 0.08, seed_of(seed, 99, trial)))?;
    let widths = outcomes.iter().filter_map(BenchTrial::half_width);
    let widths: Vec<f64> = widths.collect();
    let covered = outcomes.iter().filter(|outcomes| outcomes.covers()).count();
    Ok((covered, 100.0 * median(&widths).unwrap_or(f64::NAN)))
}
