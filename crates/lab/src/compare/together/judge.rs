//! The verdicts: from the ladder, and from runs at the required rate.

use super::{RequiredTogether, part_at_rate};
use crate::compare::Requirement;
use stripewise_results::{
    AnswerBound, AnswerPlace, DueRecord, RequirementRecord, RunRecord, SeriesRecord, StepRecord,
};
use stripewise_stats::{
    ClosedLadder, Design, DueSecond, Estimate, LatencyJudgement, LatencyLimit, LatencySecond,
    LatencyStatistic, OpenLoop, QualifyVerdict, STALL_S, Slo, closed_ladder, isotonic,
    judge_latency,
};
use stripewise_units::{
    format_count, format_duration_beside, format_iops, format_iops_beside, quoted,
};

/// A verdict and its reason.
struct JointVerdict {
    verdict: QualifyVerdict,
    words: String,
}

/// The worse of two verdicts decides: missed, then undecided.
fn worst_shortfall(verdict: QualifyVerdict) -> u8 {
    match verdict {
        QualifyVerdict::Met => 0,
        QualifyVerdict::Undecided => 1,
        QualifyVerdict::Missed => 2,
    }
}

pub(super) fn all<'a>(
    both: &RequiredTogether<'a>,
    series: &SeriesRecord,
    runs: &[&RunRecord],
) -> Vec<(&'a Requirement, RequirementRecord)> {
    let part = part_at_rate(both.kind);
    let of_series = |run: &&RunRecord| {
        run.series.as_deref() == Some(series.id.as_str())
            && run.series_part.as_deref() == Some(part.as_str())
    };
    let at_rate: Vec<&RunRecord> = runs.iter().copied().filter(of_series).collect();
    let block_bytes = block_bytes(both, series, runs);
    let rate = both.rate(block_bytes);
    let judged: Vec<(&Requirement, JointVerdict)> = both
        .latencies
        .iter()
        .map(|one| {
            let judged = of_latency(rate, one, series, &at_rate);
            (*one, judged.unwrap_or_else(|| not_run(both, series, runs)))
        })
        .collect();
    let worst = judged
        .iter()
        .max_by_key(|one| worst_shortfall(one.1.verdict));
    let of = of_words(both, rate, &at_rate);
    let texts = |all: &[&Requirement]| {
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        texts.join(", ")
    };
    // State the basis once per latency.
    let title = both.kind.title().to_lowercase();
    let of_rates = both.rates.iter().filter_map(|one| {
        let (_, worst) = worst?;
        let words = format!("as {}, with which it is judged", texts(&both.latencies));
        Some((*one, record(one, worst.verdict, words, &title)))
    });
    let of_latencies = judged.iter().map(|(one, judged)| {
        let words = format!("together with {}: {}", texts(&both.rates), judged.words);
        (*one, record(one, judged.verdict, words, &of))
    });
    of_rates.chain(of_latencies).collect()
}

fn record(
    required: &Requirement,
    verdict: QualifyVerdict,
    words: String,
    of: &str,
) -> RequirementRecord {
    RequirementRecord {
        requirement: required.to_string(),
        measured_words: words,
        of: of.to_owned(),
        met: verdict == QualifyVerdict::Met,
        undecided: verdict == QualifyVerdict::Undecided,
        ..RequirementRecord::default()
    }
}

fn block_bytes(both: &RequiredTogether<'_>, series: &SeriesRecord, runs: &[&RunRecord]) -> u64 {
    let first = series.steps.first();
    let run = first.and_then(|step| runs.iter().find(|run| run.id == step.run));
    let job = run.and_then(|run| run.jobs.first());
    job.map_or_else(
        || both.kind.block_size_bytes(),
        |job| job.workload.block_size_bytes,
    )
}

/// `random read in the open loop, 1,200 s`.
fn of_words(both: &RequiredTogether<'_>, rate: f64, at_rate: &[&RunRecord]) -> String {
    let title = both.kind.title().to_lowercase();
    let seconds: usize = at_rate
        .iter()
        .filter_map(|run| due_of(run))
        .map(seconds_of)
        .sum();
    match seconds {
        0 => format!("{title}, by its ladder alone"),
        seconds => format!(
            "{title} in the open loop at {} IOPS, {} s; stalls that come together are taken to \
             last {STALL_S} s in total",
            format_iops(rate),
            format_count(seconds as u64)
        ),
    }
}

fn seconds_of(due: &DueRecord) -> usize {
    due.seconds.len()
}

fn due_of(run: &RunRecord) -> Option<&DueRecord> {
    run.jobs.first()?.outcome.due.as_ref()
}

/// From runs at the rate, else from the ladder; `None` if neither decides.
fn of_latency(
    rate: f64,
    required: &Requirement,
    series: &SeriesRecord,
    at_rate: &[&RunRecord],
) -> Option<JointVerdict> {
    by_runs(rate, required, at_rate).or_else(|| {
        by_ladder(rate, required, series).map(|words| JointVerdict {
            verdict: QualifyVerdict::Missed,
            words,
        })
    })
}

/// Undecided, with the command that decides it: an hour is enough for the ladder and the
/// longest run at the rate.
fn not_run(
    both: &RequiredTogether<'_>,
    series: &SeriesRecord,
    runs: &[&RunRecord],
) -> JointVerdict {
    let first = series.steps.first();
    let run = first.and_then(|step| runs.iter().find(|run| run.id == step.run));
    let job = run.and_then(|run| run.jobs.first());
    let target = job.map_or_else(|| "TARGET".to_owned(), |job| quoted(&job.target.name));
    let required = both.rates.iter().chain(&both.latencies);
    let required = required.map(|one| format!(" --require '{one}'"));
    JointVerdict {
        verdict: QualifyVerdict::Undecided,
        words: format!(
            "no run at that rate was made, and a ladder alone does not show that both are met; \
             such a run takes 3 to 30 minutes: stripewise bench {target} --series {} --time 1h{}",
            both.kind.name(),
            required.collect::<String>()
        ),
    }
}

/// Why a ladder misses both; `None` if it does not decide.
pub(super) fn by_ladder(
    rate: f64,
    required: &Requirement,
    series: &SeriesRecord,
) -> Option<String> {
    let statistic = required.statistic()?;
    let plateau = plateau_of(required, statistic, series);
    let below = below(rate, required, statistic, series);
    let latency = below.as_ref().map(|(_, latency_ns)| *latency_ns);
    match closed_ladder(rate, required.value, plateau, latency) {
        ClosedLadder::Missed => plateau.map(|plateau| {
            format!(
                "the ladder gives {} IOPS at most",
                format_iops_beside(plateau.high, rate)
            )
        }),
        // Too slow below the rate means no faster at it.
        ClosedLadder::NotWorthTrying => below.map(|(step, latency_ns)| {
            format!(
                "{statistic} is {} at {} IOPS already, with {} in flight",
                format_duration_beside(latency_ns.round() as u64, required.value.round() as u64),
                format_iops(step.iops),
                step.in_flight()
            )
        }),
        ClosedLadder::Unknown => None,
    }
}

/// A rate that no load exceeds, or none within a limit that is at least as lenient.
fn plateau_of(
    required: &Requirement,
    statistic: LatencyStatistic,
    series: &SeriesRecord,
) -> Option<Estimate> {
    let answer = series.answer?;
    let slo: Slo = series.slo.parse().ok()?;
    let is_looser = slo.percentile == statistic && slo.limit_ns as f64 >= required.value;
    let tells = match answer.at {
        AnswerPlace::Plateau => answer.bound != Some(AnswerBound::AtLeast),
        AnswerPlace::Limit => is_looser && answer.bound != Some(AnswerBound::AtLeast),
        AnswerPlace::Knee | AnswerPlace::Highest => false,
        AnswerPlace::Only => true,
    };
    let high = answer.iops_high.filter(|_| tells)?;
    Some(Estimate {
        value: answer.iops,
        low: answer.iops_low.unwrap_or(0.0),
        high,
        level: answer.level,
    })
}

/// The step just below the rate, and its latency, if that step and those of fewer in flight agree:
/// the smaller of its own and of a rising curve. Steps past the highest rate are left
/// out: with more in flight than the target takes, rates fall back to those of few. `None` if
/// some step gives the rate within the limit.
fn below<'a>(
    rate: f64,
    required: &Requirement,
    statistic: LatencyStatistic,
    series: &'a SeriesRecord,
) -> Option<(&'a StepRecord, f64)> {
    let mut steps: Vec<(&StepRecord, f64)> = series
        .steps
        .iter()
        .filter(|step| step.counts())
        .filter_map(|step| Some((step, step.latency_ns?.statistic(statistic)?)))
        .collect();
    let gives_both = |one: &(&StepRecord, f64)| one.0.iops >= rate && one.1 <= required.value;
    if steps.iter().any(gives_both) {
        return None;
    }
    steps.sort_by_key(|one| one.0.in_flight());
    let highest = (0..steps.len()).max_by(|a, b| steps[*a].0.iops.total_cmp(&steps[*b].0.iops))?;
    steps.truncate(highest + 1);
    let latencies: Vec<f64> = steps.iter().map(|step| step.1).collect();
    let rising = isotonic(&latencies);
    let index = steps.iter().rposition(|step| step.0.iops <= rate)?;
    Some((steps[index].0, steps[index].1.min(rising[index])))
}

/// The limit of a statistic, for the judge of latencies.
fn limit_of(required: &Requirement) -> Option<LatencyLimit> {
    Some(match required.statistic()? {
        LatencyStatistic::P50 => LatencyLimit::Share(0.5),
        LatencyStatistic::P90 => LatencyLimit::Share(0.1),
        LatencyStatistic::P95 => LatencyLimit::Share(0.05),
        LatencyStatistic::P99 => LatencyLimit::Share(0.01),
        LatencyStatistic::P999 => LatencyLimit::Share(0.001),
        LatencyStatistic::Mean => LatencyLimit::Mean(required.value / 1e9),
        LatencyStatistic::Max => LatencyLimit::Max,
    })
}

/// Seconds of all consecutive runs at the rate, as this requirement counts them.
fn seconds(required: &Requirement, runs: &[&RunRecord]) -> Vec<LatencySecond> {
    let threshold_ns = required.threshold_ns();
    let of_run = |due: &DueRecord| -> Vec<LatencySecond> {
        let index = due
            .thresholds_ns
            .iter()
            .position(|one| *one == threshold_ns);
        let Some(index) = index else {
            return Vec::new();
        };
        let second = |one: &stripewise_results::DueSecondRecord| LatencySecond {
            due: DueSecond {
                due: one.due,
                beyond: one.beyond.get(index).copied().unwrap_or(0),
            },
            latency_s_sum: one.latency_ns_sum as f64 / 1e9,
        };
        due.seconds.iter().map(second).collect()
    };
    let dues = runs.iter().filter_map(|run| due_of(run));
    dues.flat_map(of_run).collect()
}

/// Applies the judge that qualifications use too.
fn judged(limit: LatencyLimit, seconds: &[LatencySecond]) -> LatencyJudgement {
    judge_latency(limit, Design::Continuous, 1, seconds)
}

/// More seconds would not change the verdict.
pub(super) fn is_decided(required: &Requirement, runs: &[&RunRecord]) -> bool {
    limit_of(required).is_some_and(|limit| {
        let judged = judged(limit, &seconds(required, runs));
        judged.until_seconds.is_none()
    })
}

/// From runs at the rate; `None` if there are none.
fn by_runs(rate: f64, required: &Requirement, runs: &[&RunRecord]) -> Option<JointVerdict> {
    let seconds = seconds(required, runs);
    if seconds.is_empty() {
        return None;
    }
    let undecided = |words: String| JointVerdict {
        verdict: QualifyVerdict::Undecided,
        words,
    };
    if let Some(why) = void(rate, required, runs, &seconds) {
        return Some(undecided(why));
    }
    let judged = judged(limit_of(required)?, &seconds);
    let next = match (judged.verdict, judged.until_seconds) {
        (QualifyVerdict::Undecided, Some(_)) => "; more --time would tell",
        (QualifyVerdict::Undecided, None) => {
            "; near a limit no run of this length decides: a plan should take it as missed"
        }
        _ => "",
    };
    Some(JointVerdict {
        verdict: judged.verdict,
        words: format!("{}{next}", judged.reason(&required.beyond_words())),
    })
}

/// Why runs at the rate say nothing about the device.
fn void(
    rate: f64,
    required: &Requirement,
    runs: &[&RunRecord],
    seconds: &[LatencySecond],
) -> Option<String> {
    let mut codes: Vec<&str> = Vec::new();
    for run in runs {
        for job in &run.jobs {
            codes.extend(run.void_codes_of(job));
        }
    }
    codes.dedup();
    if !codes.is_empty() {
        return Some(format!(
            "VOID: the run at that rate is void ({})",
            codes.join(", ")
        ));
    }
    let slower = runs
        .iter()
        .filter_map(|run| run.jobs.first()?.workload.rate);
    if slower
        .into_iter()
        .any(|requested| requested.iops < rate * 0.999)
    {
        return Some("the runs were made at a lower rate".to_owned());
    }
    let arrivals: u64 = seconds.iter().map(|second| second.due.due).sum();
    let own_lags: u64 = runs
        .iter()
        .filter_map(|run| due_of(run))
        .map(|due| due.own_lags_of(required.threshold_ns()))
        .sum();
    let run = OpenLoop {
        limit_ns: required.threshold_ns(),
        share_max: match limit_of(required) {
            Some(LatencyLimit::Share(share_max)) => share_max,
            _ => 0.01,
        },
    };
    run.is_void(arrivals, own_lags).then(|| {
        format!(
            "VOID: the program itself issued {} of {} operations late",
            format_count(own_lags),
            format_count(arrivals)
        )
    })
}
