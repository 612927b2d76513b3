//! Open-loop runs at a rate that is required together with a latency: a ladder does
//! not show whether both are met.

use super::{BenchOptions, Steps};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions};
use stripewise_lab::compare::{RequiredTogether, part_at_rate, pieces_s, required_together};
use stripewise_lab::ladder::Load;
use stripewise_lab::{BenchPlan, SeriesKind, SeriesPlan, series_of};
use stripewise_results::{Counting, RunRecord, Status};
use stripewise_units::{ByteSize, format_duration, format_iops};
use stripewise_workload::{Arrivals, Rate, Request, Workload, derived_seed};

const SECOND_NS: u64 = 1_000_000_000;
/// Ramp before each of these runs.
const RAMP_NS: u64 = SECOND_NS;
/// Seed of their streams; no step uses it.
const SEED_AT_RATE: u64 = 1 << 32;

/// The rates and latencies required together for the series of this plan.
///
/// # Errors
/// If it is not clear which series has to meet a rate and a latency.
pub fn together<'a>(
    options: &'a BenchOptions,
    plan: &BenchPlan,
) -> Outcome<Vec<RequiredTogether<'a>>> {
    let kinds: Vec<SeriesKind> = plan.series.iter().map(|series| series.kind).collect();
    required_together(&options.require, &kinds).map_err(|unclear| {
        let [rate, latency] = unclear.texts;
        Failure::usage(
            format!("--require '{rate}' and '{latency}' may mean several series"),
            "name the series that is to keep both: 'random-read iops>=20000' and \
             'random-read p99<5ms'",
        )
    })
}

/// How long the runs at one required rate take at most.
fn longest_ns() -> u64 {
    pieces_s()
        .iter()
        .map(|seconds| seconds * SECOND_NS + RAMP_NS)
        .sum()
}

/// How long the runs at all required rates take at most.
pub(super) fn longest_of_all_ns(options: &BenchOptions, plan: &BenchPlan) -> u64 {
    let all = together(options, plan).unwrap_or_default();
    longest_ns().saturating_mul(all.len() as u64)
}

/// What is made after the ladders, before anything is done. `limit_ns`: the time for
/// everything, where it is limited.
pub(super) fn announced(
    options: &BenchOptions,
    plan: &BenchPlan,
    limit_ns: Option<u64>,
) -> Vec<String> {
    let all = together(options, plan).unwrap_or_default();
    let time = match limit_ns {
        Some(limit_ns) if limit_ns <= longest_ns() => {
            format!("in what they leave of {}", format_duration(limit_ns))
        }
        Some(limit_ns) => format!(
            "for {} at most, if they leave that of {}",
            format_duration(longest_ns()),
            format_duration(limit_ns)
        ),
        None => format!("for {} at most", format_duration(longest_ns())),
    };
    let words = all.iter().filter_map(|both| {
        let mut series = plan.series.iter();
        let series = series.find(|series| series.kind == both.kind)?;
        Some(format!(
            "Required: {} at {} IOPS in the open loop, after the ladders, {time}",
            both.kind.name(),
            format_iops(both.rate(series.workload.block_size_bytes)),
        ))
    });
    words.collect()
}

impl Steps<'_> {
    /// Runs at the required rates, as far as time allows.
    pub(super) fn at_required_rates(
        &mut self,
        options: &BenchOptions,
        plan: &BenchPlan,
    ) -> Outcome<()> {
        for both in together(options, plan)? {
            let of_kind = |series: &&SeriesPlan| series.kind == both.kind;
            let Some(series) = plan.series.iter().find(of_kind) else {
                continue;
            };
            let block_bytes = series.workload.block_size_bytes;
            let ladders = series_of(&self.records);
            let ladder = ladders.iter().find(|one| one.name == both.kind.name());
            let is_open = ladder.is_some_and(|ladder| {
                ladder.no_answer.is_none()
                    && !ladder.partial
                    && !both.is_missed_by_ladder(ladder, block_bytes)
            });
            // Several hosts share a rate; how it is divided is not decided here.
            if is_open && self.leading.is_none() {
                self.pieces(&both, series)?;
            }
        }
        Ok(())
    }

    /// Runs until it is decided or the time is up.
    fn pieces(&mut self, both: &RequiredTogether<'_>, series: &SeriesPlan) -> Outcome<()> {
        let mut runs: Vec<RunRecord> = Vec::new();
        for (number, seconds) in (1..).zip(pieces_s()) {
            let workload = at_rate(both, series, seconds, number);
            let end_ns = self.elapsed().saturating_add(workload.length_ns());
            let is_late = self.end_ns.is_some_and(|limit_ns| end_ns > limit_ns);
            if is_late || self.context.signal().is_some() {
                break;
            }
            let record = self.piece(both, workload)?;
            let is_whole = record.status == Status::Complete;
            runs.push(record);
            if !is_whole || both.is_decided_by(&runs.iter().collect::<Vec<_>>()) {
                break;
            }
        }
        Ok(())
    }

    fn piece(&mut self, both: &RequiredTogether<'_>, workload: Workload) -> Outcome<RunRecord> {
        let kind = both.kind;
        let title = format!(
            "{} {} at {} IOPS, as required",
            kind.title(),
            ByteSize(workload.block_size_bytes),
            format_iops(both.rate(workload.block_size_bytes)),
        );
        let (elapsed_ns, length_ns) = (self.elapsed(), workload.length_ns());
        self.progress
            .set_total(elapsed_ns.saturating_add(length_ns));
        let place = RunPlace {
            title: &title,
            before_ns: elapsed_ns,
            expected_ns: length_ns,
            after_ns: None,
        };
        let how = RunOptions {
            series: (self.how.series.clone()).map(|(id, _)| (id, part_at_rate(kind))),
            counting: vec![Counting::transfers(both.thresholds_ns())],
            request: Request {
                simulated_operations_min: 0,
                interval_ns: SECOND_NS,
                ..self.how.request.clone()
            },
            quick: false,
            ..self.how.clone()
        };
        let spec = PlacedJob {
            name: kind.name().to_owned(),
            workload,
            targets: vec![0],
        };
        self.measured(spec, &how, &place)
    }
}

fn at_rate(
    both: &RequiredTogether<'_>,
    series: &SeriesPlan,
    seconds: u64,
    number: u64,
) -> Workload {
    let of_series = &series.workload;
    let block_bytes = of_series.block_size_bytes;
    let load = Load::spread(both.in_flight_max(block_bytes), series.limits.cores);
    Workload {
        threads: load.threads,
        outstanding: load.outstanding,
        ramp_ns: RAMP_NS,
        duration_ns: seconds * SECOND_NS,
        rate: Some(Rate {
            iops: both.rate(block_bytes),
            arrivals: Arrivals::Poisson,
        }),
        seed: derived_seed(of_series.seed, SEED_AT_RATE + number),
        ..of_series.clone()
    }
}
