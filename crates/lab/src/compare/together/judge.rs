//! The verdicts: by the ladder, and by runs at the required rate.

use super::{RequiredTogether, part_at_rate};
use crate::compare::Requirement;
use crate::compare::requirement::Quantity;
use stripewise_results::{
    AnswerBound, AnswerPlace, DueRecord, RequirementRecord, RunRecord, SeriesRecord, Status,
    StepRecord,
};
use stripewise_stats::{
    ClosedLadder, Design, DueSecond, Estimate, LatencyStatistic, MaxJudgement, OpenLoop,
    Qualification, QualifyOutcome, QualifyVerdict, STALL_S, ShareRule, Slo, closed_ladder,
    isotonic, judge_max, judge_mean,
};
use stripewise_units::{format_count, format_duration, format_iops};

/// A mean is judged from this many seconds on, with this chance of a false verdict.
const MEAN_SECONDS_MIN: usize = 180;
const MEAN_ALPHA: f64 = 0.02;

/// A verdict and what it rests on.
struct Judged {
    verdict: QualifyVerdict,
    words: String,
}

/// The worse of two decides: missed, then undecided.
fn badness(verdict: QualifyVerdict) -> u8 {
    match verdict {
        QualifyVerdict::Met => 0,
        QualifyVerdict::Undecided => 1,
        QualifyVerdict::Missed => 2,
    }
}

pub(super) fn all<'a>(
    both: &RequiredTogether<'a>,
    series: &SeriesRecord,
    runs: &[RunRecord],
) -> Vec<(&'a Requirement, RequirementRecord)> {
    let part = part_at_rate(both.kind);
    let of_series = |run: &&RunRecord| {
        run.series.as_deref() == Some(series.id.as_str())
            && run.series_part.as_deref() == Some(part.as_str())
    };
    let at_rate: Vec<&RunRecord> = runs.iter().filter(of_series).collect();
    let block_bytes = block_bytes(both, series, runs);
    let rate = both.rate(block_bytes);
    let judged: Vec<(&Requirement, Judged)> = both
        .latencies
        .iter()
        .map(|one| (*one, of_latency(rate, one, series, &at_rate)))
        .collect();
    let worst = judged.iter().max_by_key(|one| badness(one.1.verdict));
    let of = of_words(both, rate, &at_rate);
    let texts = |all: &[&Requirement]| {
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        texts.join(", ")
    };
    let of_rates = both.rates.iter().filter_map(|one| {
        let (_, worst) = worst?;
        let words = format!("together with {}: {}", texts(&both.latencies), worst.words);
        Some((*one, record(one, worst.verdict, words, &of)))
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
        measured: None,
        measured_words: words,
        of: of.to_owned(),
        repetitions: 0,
        met: verdict == QualifyVerdict::Met,
        interval: None,
        undecided: verdict == QualifyVerdict::Undecided,
    }
}

fn block_bytes(both: &RequiredTogether<'_>, series: &SeriesRecord, runs: &[RunRecord]) -> u64 {
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
             last 1 s in total",
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

fn of_latency(
    rate: f64,
    required: &Requirement,
    series: &SeriesRecord,
    at_rate: &[&RunRecord],
) -> Judged {
    if let Some(judged) = by_runs(rate, required, at_rate) {
        return judged;
    }
    if let Some(words) = by_ladder(rate, required, series) {
        return Judged {
            verdict: QualifyVerdict::Missed,
            words,
        };
    }
    Judged {
        verdict: QualifyVerdict::Undecided,
        words: "no run at that rate was made, and a ladder alone does not show that both are \
                met; such a run takes 3 to 30 minutes (--time)"
            .to_owned(),
    }
}

/// Why a ladder misses both; none where it does not tell.
pub(super) fn by_ladder(
    rate: f64,
    required: &Requirement,
    series: &SeriesRecord,
) -> Option<String> {
    let statistic = statistic_of(required)?;
    let plateau = plateau_of(required, statistic, series);
    let below = below(rate, statistic, series);
    let latency = below.as_ref().map(|(_, latency_ns)| *latency_ns);
    match closed_ladder(rate, required.value, plateau, latency) {
        ClosedLadder::Missed => plateau.map(|plateau| {
            format!(
                "the ladder gives {} IOPS at most",
                format_iops(plateau.high)
            )
        }),
        // What is too slow below the rate is not faster at it.
        ClosedLadder::NotWorthTrying => below.map(|(step, latency_ns)| {
            format!(
                "{statistic} is {} at {} IOPS already, with {} in flight",
                format_duration(latency_ns.round() as u64),
                format_iops(step.iops),
                step.in_flight()
            )
        }),
        ClosedLadder::Unknown => None,
    }
}

/// The rate that no load exceeds, or none within a limit that is no stricter.
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

/// The step just below the rate, and the latency there on a curve that only rises.
fn below(
    rate: f64,
    statistic: LatencyStatistic,
    series: &SeriesRecord,
) -> Option<(&StepRecord, f64)> {
    let mut steps: Vec<(&StepRecord, f64)> = series
        .steps
        .iter()
        .filter(|step| step.counts())
        .filter_map(|step| Some((step, step.latency_ns?.statistic(statistic)?)))
        .collect();
    steps.sort_by(|a, b| a.0.iops.total_cmp(&b.0.iops));
    let latencies: Vec<f64> = steps.iter().map(|step| step.1).collect();
    let rising = isotonic(&latencies);
    let index = steps.iter().rposition(|step| step.0.iops <= rate)?;
    Some((steps[index].0, rising[index]))
}

fn statistic_of(required: &Requirement) -> Option<LatencyStatistic> {
    let Quantity::Latency(name) = required.quantity else {
        return None;
    };
    Some(match name {
        "mean" => LatencyStatistic::Mean,
        "p50" => LatencyStatistic::P50,
        "p90" => LatencyStatistic::P90,
        "p95" => LatencyStatistic::P95,
        "p99" => LatencyStatistic::P99,
        "p999" => LatencyStatistic::P999,
        _ => LatencyStatistic::Max,
    })
}

/// The share of operations that may be beyond the limit of a percentile.
fn share_max(statistic: LatencyStatistic) -> Option<f64> {
    match statistic {
        LatencyStatistic::P50 => Some(0.5),
        LatencyStatistic::P90 => Some(0.1),
        LatencyStatistic::P95 => Some(0.05),
        LatencyStatistic::P99 => Some(0.01),
        LatencyStatistic::P999 => Some(0.001),
        LatencyStatistic::Mean | LatencyStatistic::Max => None,
    }
}

/// Seconds of all runs at the rate, one after the other, as this requirement counts them.
fn seconds(required: &Requirement, runs: &[&RunRecord]) -> Vec<DueSecond> {
    let threshold_ns = required.threshold_ns();
    let of_run = |due: &DueRecord| -> Vec<DueSecond> {
        let index = due
            .thresholds_ns
            .iter()
            .position(|one| *one == threshold_ns);
        let Some(index) = index else {
            return Vec::new();
        };
        let second = |one: &stripewise_results::DueSecondRecord| DueSecond {
            due: one.due,
            beyond: one.beyond.get(index).copied().unwrap_or(0),
        };
        due.seconds.iter().map(second).collect()
    };
    let dues = runs.iter().filter_map(|run| due_of(run));
    dues.flat_map(of_run).collect()
}

fn qualified(share_max: f64, seconds: &[DueSecond]) -> QualifyOutcome {
    let rule = ShareRule::new(share_max);
    let mut qualification = Qualification::new(rule, Design::Continuous, 1);
    for second in seconds {
        qualification.feed(*second);
    }
    qualification.outcome()
}

/// More seconds would not change the verdict.
pub(super) fn is_decided(required: &Requirement, runs: &[&RunRecord]) -> bool {
    let Some(share_max) = statistic_of(required).and_then(share_max) else {
        return false;
    };
    qualified(share_max, &seconds(required, runs)).verdict != QualifyVerdict::Undecided
}

/// By runs at the rate; none where there are none.
fn by_runs(rate: f64, required: &Requirement, runs: &[&RunRecord]) -> Option<Judged> {
    let seconds = seconds(required, runs);
    if seconds.is_empty() {
        return None;
    }
    let undecided = |words: String| Judged {
        verdict: QualifyVerdict::Undecided,
        words,
    };
    if let Some(why) = void(rate, required, runs, &seconds) {
        return Some(undecided(why));
    }
    let statistic = statistic_of(required)?;
    Some(match (share_max(statistic), statistic) {
        (Some(share_max), _) => of_share(required, share_max, &seconds),
        (None, LatencyStatistic::Max) => of_max(required, &seconds),
        _ => of_mean(required, runs),
    })
}

/// Why runs at the rate say nothing of the device.
fn void(
    rate: f64,
    required: &Requirement,
    runs: &[&RunRecord],
    seconds: &[DueSecond],
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
    if slower.into_iter().any(|asked| asked.iops < rate * 0.999) {
        return Some("the runs were made at a lower rate".to_owned());
    }
    let arrivals: u64 = seconds.iter().map(|second| second.due).sum();
    let own_lags: u64 = runs
        .iter()
        .filter_map(|run| due_of(run))
        .map(|due| due.own_lags)
        .sum();
    let run = OpenLoop {
        limit_ns: required.threshold_ns(),
        share_max: statistic_of(required).and_then(share_max).unwrap_or(0.01),
    };
    run.is_void(arrivals, own_lags).then(|| {
        format!(
            "VOID: the program itself issued {} of {} operations late",
            format_count(own_lags),
            format_count(arrivals)
        )
    })
}

fn of_share(required: &Requirement, share_max: f64, seconds: &[DueSecond]) -> Judged {
    let outcome = qualified(share_max, seconds);
    let limit = format_duration(required.value as u64);
    let percent = |share: f64| format!("{:.2}", share * 100.0);
    let words = match outcome.judgement {
        Some(found) => format!(
            "{} % of operations took longer than {limit} ({}-{} %), and {} % may",
            percent(found.share.value),
            percent(found.share.low),
            percent(found.share.high),
            share_max * 100.0,
        ),
        None => "too few seconds were measured".to_owned(),
    };
    let short = match outcome.verdict {
        QualifyVerdict::Undecided => format!(
            "; that is not enough to tell ({} s of {} s)",
            format_count(outcome.seconds as u64),
            format_count(Design::Continuous.seconds() as u64)
        ),
        QualifyVerdict::Met | QualifyVerdict::Missed => String::new(),
    };
    let change = match outcome.change {
        Some(change) => format!(
            "; it changed after {} s, and this is since then",
            change.at_s
        ),
        None => String::new(),
    };
    Judged {
        verdict: outcome.verdict,
        words: format!("{words}{short}{change}"),
    }
}

/// A maximum is never met for good: the next operation may take longer.
fn of_max(required: &Requirement, seconds: &[DueSecond]) -> Judged {
    let due = seconds.iter().map(|second| second.due).sum();
    let beyond = seconds.iter().map(|second| second.beyond).sum();
    let limit = format_duration(required.value as u64);
    match judge_max(due, beyond, seconds.len() as f64) {
        Some(MaxJudgement::Missed { beyond }) => Judged {
            verdict: QualifyVerdict::Missed,
            words: format!(
                "{} operations took longer than {limit}",
                format_count(beyond)
            ),
        },
        Some(MaxJudgement::NoneSeen {
            operations,
            rarer_than_one_per_s,
        }) => Judged {
            verdict: QualifyVerdict::Undecided,
            words: format!(
                "none of {} operations took longer than {limit}: that is rarer than once in \
                 {rarer_than_one_per_s:.0} s, which is all that can be said of a maximum",
                format_count(operations)
            ),
        },
        None => Judged {
            verdict: QualifyVerdict::Undecided,
            words: "nothing was due".to_owned(),
        },
    }
}

fn of_mean(required: &Requirement, runs: &[&RunRecord]) -> Judged {
    let dues = runs.iter().filter_map(|run| due_of(run));
    let seconds: Vec<(u64, f64)> = dues
        .flat_map(|due| &due.seconds)
        .map(|one| (one.due, one.latency_ns_sum as f64 / 1e9))
        .collect();
    let enough =
        seconds.len() >= MEAN_SECONDS_MIN && runs.iter().all(|run| run.status == Status::Complete);
    let Some(found) = judge_mean(&seconds, required.value / 1e9, STALL_S) else {
        return Judged {
            verdict: QualifyVerdict::Undecided,
            words: "too few seconds were measured".to_owned(),
        };
    };
    let verdict = match enough {
        true if found.p_missed < MEAN_ALPHA => QualifyVerdict::Missed,
        true if found.p_met < MEAN_ALPHA => QualifyVerdict::Met,
        _ => QualifyVerdict::Undecided,
    };
    Judged {
        verdict,
        words: format!("the mean is {}", format_duration((found.mean * 1e9) as u64)),
    }
}
