//! (few) The answers of a bench on disk arrays whose limit lies between two integer loads: at N +
//! 1/2 for N from 1 to 8 in flight, where p99 may rise by half from one to the next.

use super::answers::{BenchTrial, plan};
use super::arrays::array;
use super::parallel::trials;
use super::simulated::{measure, measure_until};
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use anyhow::{Context, Result};
use stripewise_array_sim::ArraySpec;
use stripewise_lab::{Series, SeriesKind, summarise};
use stripewise_results::RunRecord;
use stripewise_stats::{Random, Slo};
use stripewise_workload::{SIMULATED_OPERATIONS_MIN, Workload};

const ARRAYS: [&str; 4] = ["raid10-10k", "raid5-7k2", "disk-15k", "disk-7k2"];
const STATISTICS: [&str; 3] = ["p95", "p99", "mean"];
const UNITS: [&str; 4] = ["16K", "64K", "256K", "1M"];
/// For a long run: its rate is known to 0.1 %, better than the runs of an answer.
const OPERATIONS: f64 = 1_000_000.0;
/// Latencies closer than this leave no room for a limit between them.
const APART: f64 = 1.02;

/// An array with a limit between two loads, and the rate of the largest load that meets it.
struct Case {
    spec: ArraySpec,
    limit: String,
    truth: f64,
}

/// The study.
pub fn few(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let outcomes = trials(size.arrays, |number| {
        let seed = seed_of(seed, 400, number);
        let case = case(seed, 1 + number as u32 % 8)?;
        case.map(|case| bench(&case, seed)).transpose()
    })?;
    let outcomes: Vec<BenchTrial> = outcomes.into_iter().flatten().collect();
    let answered: Vec<&BenchTrial> = outcomes
        .iter()
        .filter(|outcomes| outcomes.is_answered())
        .collect();
    let covered = answered.iter().filter(|outcomes| outcomes.covers()).count();
    let of_all = |count: usize| 100.0 * count as f64 / outcomes.len().max(1) as f64;
    let share = 100.0 * covered as f64 / answered.len().max(1) as f64;
    let claim = "(few) limits at 1.5 to 8.5 in flight: covered, %";
    table.state(claim, share, 1, Bound::AtLeast(93.0));
    let widths = answered.iter().filter_map(|outcomes| outcomes.half_width());
    let widths: Vec<f64> = widths.collect();
    let width = 100.0 * stripewise_stats::median(&widths).unwrap_or(f64::NAN);
    table.state("(few) median half width, %", width, 1, Bound::None);
    let with = of_all(widths.len());
    table.state("(few) with an interval, %", with, 1, Bound::AtLeast(80.0));
    Ok(())
}

/// `None` if the latencies of the two loads are too close.
fn case(seed: u64, load: u32) -> Result<Option<Case>> {
    let mut random = Random::new(seed);
    let name = ARRAYS[random.below(ARRAYS.len())];
    let target = match name.starts_with("disk") {
        true => name.to_owned(),
        false => format!("{name}?stripe_unit={}", UNITS[random.below(UNITS.len())]),
    };
    let spec = array(&target, seed)?;
    let statistic = STATISTICS[random.below(STATISTICS.len())];
    let slo: Slo = format!("{statistic}<1s").parse().ok().context("a limit")?;
    let mut seen = Vec::new();
    for load in [load, load + 1] {
        // Two seconds give the rate; the long run has the required number of operations.
        let workload = Workload {
            outstanding: load,
            seed: seed_of(seed, 401, load as usize),
            ramp_ns: 1_000_000_000,
            duration_ns: 2_000_000_000,
            ..plan(SeriesKind::RandomRead, "p99<1s", seed)?.workload
        };
        let iops = job(&measure(&spec, &workload)?)?.outcome.iops;
        let long = Workload {
            duration_ns: (OPERATIONS / iops * 1e9) as u64,
            ..workload
        };
        let record = measure(&spec, &long)?;
        let job = job(&record)?;
        let latency = job.leading().latency_ns.context("a latency")?;
        let limited = latency.statistic(slo.percentile).context("a statistic")?;
        seen.push((job.outcome.iops, limited));
    }
    let [(rate, below), (_, above)] = seen[..] else {
        return Ok(None);
    };
    let middle_ns = (below * above).sqrt().round();
    Ok((above > below * APART).then(|| Case {
        spec,
        limit: format!("{statistic}<{middle_ns}ns"),
        truth: rate,
    }))
}

fn job(record: &RunRecord) -> Result<&stripewise_results::JobRecord> {
    record.jobs.first().context("a run has a job")
}

fn bench(case: &Case, seed: u64) -> Result<BenchTrial> {
    let kind = SeriesKind::RandomRead;
    let plan = plan(kind, &case.limit, seed)?;
    let mut series = Series::new(plan.clone());
    let mut records: Vec<RunRecord> = Vec::new();
    while let Some(run) = series.next(0) {
        let mut record = measure_until(&case.spec, &run.workload, SIMULATED_OPERATIONS_MIN)?;
        record.id = records.len().to_string();
        record.series = Some("truth".to_owned());
        record.series_part = Some(kind.name().to_owned());
        record.answer_block = run.answer_block;
        record.latency_limit = Some(case.limit.clone());
        series.completed(&record);
        records.push(record);
    }
    let records: Vec<&RunRecord> = records.iter().collect();
    let found = summarise("truth", kind, plan.limits.slo, &records);
    let outcomes = BenchTrial {
        answer: found.context("a series has steps")?.answer,
        truth: case.truth,
        seconds: 0.0,
    };
    if !outcomes.covers() {
        eprintln!(
            "{} {}: {:?} of {}",
            case.spec.title, case.limit, outcomes.answer, case.truth
        );
    }
    Ok(outcomes)
}
