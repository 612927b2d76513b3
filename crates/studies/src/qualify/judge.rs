//! The verdict on one requirement, from the counts of its job.

use super::{JobSeconds, PIECE_S, Phase, Qualify, QualifyDesign};
use crate::product::{Limit, Metric, Product, ProductRequirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_results::{CountedOperations, Counting};
use stripewise_stats::{
    DueSecond, LatencyFinding, LatencyJudgement, LatencyLimit, LatencySecond, MaxJudgement,
    OpenLoop, QualifyVerdict, RATE_MARGIN, RateJudgement, STALL_S, ShareRule, earliest_met,
    judge_latency, judge_mean, judge_rate, judge_share, mean,
};
use stripewise_units::{counted, format_count, format_duration};

/// Seconds to measure an unjudged requirement.
pub(super) const UNJUDGED_S: u64 = 300;
/// Minimum number of seconds to judge a rate, except in the quick design.
const RATE_S_MIN: u64 = 600;
/// A void piece is left out; more than this share of them void the requirement,
/// once there are enough pieces.
const VOID_SHARE_MAX: f64 = 0.1;
const VOID_PIECES_MIN: u64 = 10;
/// Warnings of a processor that held the program back, and so affect a latency.
const LATENCY_HELD_BACK: &[&str] = &["cpu-quota"];
/// One that is merely busy takes a rate; of a latency it is known how long was waited for it.
const RATE_HELD_BACK: &[&str] = &["cpu-quota", "cpu-bound"];
/// A wait for a processor explains a miss from this share of the limit on, of each operation
/// beyond it.
const WAITED_SHARE_MIN: f64 = 0.5;
/// Bounds of a percentile are found on thresholds that are so many times the one before.
const STEP: f64 = 1.189_207_115;
/// Thresholds on each side of the limit: a factor of 8.
const STEPS: i32 = 12;
/// Thresholds above the limit end here: arrivals of a rate that are due so close to the end of a
/// minute are not judged.
const STEPS_NS_MAX: u64 = 5_000_000_000;
/// Centre of the thresholds if nothing is required.
const UNJUDGED_NS: f64 = 2e6;

/// A verdict.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No number is published: measured and not judged.
    NotJudged,
    /// Shown to hold.
    Met,
    /// Neither shown to hold nor not to.
    Undecided,
    /// The numbers are not the target's.
    Void,
    /// Shown not to hold.
    Missed,
}

impl Verdict {
    /// As one word.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::NotJudged => "not judged",
            Verdict::Met => "met",
            Verdict::Undecided => "undecided",
            Verdict::Void => "void",
            Verdict::Missed => "missed",
        }
    }
}

/// The worst of them: a missed one stays missed even if others are void.
pub(super) fn worst(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.max().unwrap_or(Verdict::NotJudged)
}

/// Results of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured value, in the unit of the metric.
    pub measured: Option<f64>,
    /// Its interval at 95 %; of a percentile the nearest thresholds that are certain.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// Why.
    pub reason: String,
    /// Total seconds at the next check; 0: nothing remains to be learned.
    pub seconds_wanted: u64,
    /// Total seconds if no check decides.
    pub seconds_most: u64,
    /// Seconds of measuring that a verdict takes, where the reason says so.
    pub takes_seconds: Option<f64>,
}

impl Judgement {
    fn undecided(reason: impl Into<String>) -> Judgement {
        Judgement {
            verdict: Verdict::Undecided,
            measured: None,
            low: None,
            high: None,
            reason: reason.into(),
            seconds_wanted: 0,
            seconds_most: 0,
            takes_seconds: None,
        }
    }
}

/// Latency thresholds by which a job is counted, for all of its requirements.
pub(super) fn counting(study: &Qualify, job: usize) -> Counting {
    let of_job = || {
        let all = study.product.requirements.iter();
        all.filter(move |one| one.job == job)
    };
    let mut thresholds_ns: Vec<u64> = of_job().flat_map(thresholds).collect();
    thresholds_ns.sort_unstable();
    thresholds_ns.dedup();
    let limits = of_job().filter(|one| one.metric.is_latency());
    let limits = limits.filter_map(|one| Some(one.limit?.threshold_ns()));
    Counting {
        operations: of_job()
            .next()
            .map_or_else(Default::default, |one| one.operations),
        // Without a limit nothing is late.
        lag_ns_max: limits.min().map_or(u64::MAX, |limit_ns| limit_ns / 10),
        thresholds_ns,
    }
}

fn thresholds(required: &ProductRequirement) -> Vec<u64> {
    let limit_ns = match required.limit {
        Some(limit) if required.metric.is_latency() => limit.threshold_ns(),
        _ => UNJUDGED_NS as u64,
    };
    if required.metric.share_max().is_none() {
        return vec![limit_ns];
    }
    let at = |step: i32| match step {
        // The exact limit, to the nanosecond.
        0 => limit_ns,
        step => (limit_ns as f64 * STEP.powi(step)).round() as u64,
    };
    let steps = match required.limit {
        Some(_) => -STEPS..=STEPS,
        // From 31 us to a second: nobody knows what to expect.
        None => -2 * STEPS..=3 * STEPS,
    };
    let within = |ns: &u64| *ns <= limit_ns.max(STEPS_NS_MAX);
    steps.map(at).filter(within).collect()
}

/// Seconds after which a requirement may be missed, and after which it may be met at the earliest;
/// none if the whole design is too short for that.
pub(super) fn earliest(study: &Qualify, required: &ProductRequirement) -> (u64, Option<u64>) {
    let Some(limit) = required.limit.filter(|_| required.metric.is_latency()) else {
        return (RATE_S_MIN, Some(RATE_S_MIN));
    };
    let design = study.options.design.design();
    let of_metric = latency_limit(required.metric, limit);
    let missed = match of_metric {
        LatencyLimit::Max => PIECE_S,
        _ => first_look(study),
    };
    let met = earliest_met(of_metric, design);
    (missed, met.map(|seconds| seconds as u64))
}

fn latency_limit(metric: Metric, limit: Limit) -> LatencyLimit {
    match (metric.share_max(), metric) {
        (Some(share_max), _) => LatencyLimit::Share(share_max),
        (None, Metric::Mean) => LatencyLimit::Mean(limit.value / 1e3),
        _ => LatencyLimit::Max,
    }
}

/// Judges the requirement with this index.
pub(super) fn judge(study: &Qualify, index: usize, phase: &Phase) -> Judgement {
    let required = &study.product.requirements[index];
    let job = &phase.jobs[required.job];
    if study.is_unwritten(required) {
        let reason = "not measured: it writes, and this target is only read";
        return Judgement::undecided(reason);
    }
    let seconds = job.seconds.len() as u64;
    if let Some(void) = void(study, job) {
        return in_design(study, void, seconds);
    }
    let judged = match required.metric {
        _ if required.limit.is_none() => unjudged(required, job),
        metric if metric.is_latency() => latency(study, required, job),
        _ => rate(study, required, phase),
    };
    let judged = held_back(judged, required, job);
    let judged = starved(judged, required, job);
    let judged = issued_late(study, judged, required, job);
    in_design(study, judged, seconds)
}

/// Whether this many of all pieces void the result.
fn are_too_many(pieces: u64, all: u64) -> bool {
    let share = pieces as f64 / all.max(1) as f64;
    share > VOID_SHARE_MAX && all >= VOID_PIECES_MIN || pieces >= 3 && share > 0.5
}

/// If something held the program back, it may have caused the latency: nothing is missed then.
fn held_back(judged: Judgement, required: &ProductRequirement, job: &JobSeconds) -> Judgement {
    let codes = match required.metric.is_latency() {
        true => LATENCY_HELD_BACK,
        false => RATE_HELD_BACK,
    };
    let held = codes.iter().filter_map(|code| job.warnings.get(*code));
    let Some(held) = held.max_by_key(|one| one.pieces) else {
        return judged;
    };
    let all = job.pieces + job.void_pieces;
    let reason = format!(
        "{}; in {} of {} the processor held the program back: {}",
        judged.reason,
        held.pieces,
        counted(all as usize, "minute", "minutes"),
        held.text
    );
    let is_often = are_too_many(held.pieces, all);
    match judged.verdict {
        Verdict::Missed if is_often => Judgement {
            verdict: Verdict::Void,
            reason,
            ..judged
        },
        _ => Judgement { reason, ..judged },
    }
}

/// Where other work left the program no processor, a wait for one may be what took so long:
/// nothing is missed by as much as that explains.
fn starved(judged: Judgement, required: &ProductRequirement, job: &JobSeconds) -> Judgement {
    let Some(limit) = required.limit.filter(|_| required.metric.is_latency()) else {
        return judged;
    };
    let late_ns = match required.metric {
        Metric::Mean => {
            let (due, sum_s) = sums(job).into_iter().fold((0, 0.0), |(due, sum), second| {
                (due + second.0, sum + second.1)
            });
            sum_s * 1e9 - limit.value * 1e6 * due as f64
        }
        _ => {
            let due = due_seconds(job, limit.threshold_ns());
            let beyond: u64 = due.iter().map(|second| second.beyond).sum();
            limit.value * 1e6 * beyond as f64
        }
    };
    // A mean may have fallen below its limit since it was judged.
    let is_explained = late_ns > 0.0 && job.starved_ns as f64 >= WAITED_SHARE_MIN * late_ns;
    if judged.verdict != Verdict::Missed || !is_explained {
        return judged;
    }
    Judgement {
        verdict: Verdict::Void,
        reason: format!(
            "{}; other work kept the processors busy, and operations waited {} in all for one, \
             which may be why",
            judged.reason,
            format_duration(job.starved_ns)
        ),
        ..judged
    }
}

/// Arrivals that the program itself issued late do not count against the target. Before the first
/// look nothing is decided, so a hiccup then does not void the rest.
fn issued_late(
    study: &Qualify,
    judged: Judgement,
    required: &ProductRequirement,
    job: &JobSeconds,
) -> Judgement {
    let Some(limit) = required.limit.filter(|_| required.metric.is_latency()) else {
        return judged;
    };
    let due: u64 = job.seconds.iter().map(|second| second.due).sum();
    let open_loop = OpenLoop {
        limit_ns: limit.threshold_ns(),
        share_max: required.metric.share_max().unwrap_or(0.01),
    };
    let own_lags = job.own_lags_beyond(open_loop.limit_ns);
    let is_early = (job.seconds.len() as u64) < first_look(study) && judged.seconds_wanted > 0;
    if is_early || !open_loop.is_void(due, own_lags) {
        return judged;
    }
    Judgement {
        verdict: Verdict::Void,
        ..Judgement::undecided(format!(
            "the program itself issued {} of {} operations late",
            format_count(own_lags),
            format_count(due)
        ))
    }
}

/// The quick design ends early and never says "met".
fn in_design(study: &Qualify, judged: Judgement, seconds: u64) -> Judgement {
    if study.options.design != QualifyDesign::Quick {
        return judged;
    }
    let most = QualifyDesign::Quick.seconds_max();
    let judged = Judgement {
        seconds_wanted: if seconds >= most {
            0
        } else {
            judged.seconds_wanted.min(most)
        },
        seconds_most: judged.seconds_most.min(most),
        ..judged
    };
    match judged.verdict {
        Verdict::Met => Judgement {
            verdict: Verdict::Undecided,
            reason: format!("{}; 5 minutes are too short to say met", judged.reason),
            ..judged
        },
        _ => judged,
    }
}

fn void(study: &Qualify, job: &JobSeconds) -> Option<Judgement> {
    let all = job.pieces + job.void_pieces;
    let is_final = are_too_many(job.void_pieces, all);
    // A study that was stopped may be resumed, and its next minutes may count.
    let is_so_far = job.pieces == 0 && job.void_pieces > 0 && study.state.interrupted;
    if !is_final && !is_so_far {
        return None;
    }
    let codes: Vec<&str> = job.void.keys().map(String::as_str).collect();
    let minutes = match all {
        1 => "1 minute is".to_owned(),
        all => format!("{all} minutes are"),
    };
    let reason = format!(
        "{} of {minutes} void ({})",
        job.void_pieces,
        codes.join(", ")
    );
    let [seconds_wanted, seconds_most] = match is_final {
        true => [0, 0],
        false => [first_look(study), seconds_most(study)],
    };
    Some(Judgement {
        verdict: Verdict::Void,
        seconds_wanted,
        seconds_most,
        ..Judgement::undecided(reason)
    })
}

/// When a rate is checked next.
fn next_look(study: &Qualify, seconds: u64, least_s: u64) -> u64 {
    let looks = study.options.design.design().looks().iter();
    let mut looks = looks
        .map(|look| look.seconds as u64)
        .filter(|look| *look >= least_s);
    looks.find(|look| *look > seconds).unwrap_or(0)
}

fn seconds_most(study: &Qualify) -> u64 {
    study.options.design.design().seconds() as u64
}

fn first_look(study: &Qualify) -> u64 {
    let looks = study.options.design.design().looks();
    looks.first().map_or(0, |look| look.seconds as u64)
}

fn unjudged(required: &ProductRequirement, job: &JobSeconds) -> Judgement {
    let seconds = job.seconds.len() as u64;
    let (measured, low, high) = match required.metric.share_max() {
        Some(share_max) => percentile(required, share_max, job, 0),
        None if required.metric == Metric::Max => {
            let longest_ns = job.latencies(required.operations).max_ns;
            (Some(longest_ns as f64 / 1e6), None, None)
        }
        None if required.metric == Metric::Mean => {
            let mean = judge_mean(&sums(job), 1.0, STALL_S);
            (mean.map(|mean| mean.mean * 1e3), None, None)
        }
        None => match judge_rate(&rates(required, job)) {
            Some(rate) => (Some(rate.rate), Some(rate.low), Some(rate.high)),
            None => (None, None, None),
        },
    };
    Judgement {
        verdict: Verdict::NotJudged,
        measured,
        low,
        high,
        reason: "no limit is published".to_owned(),
        seconds_wanted: if seconds < UNJUDGED_S { UNJUDGED_S } else { 0 },
        seconds_most: UNJUDGED_S,
        takes_seconds: None,
    }
}

/// Operations due and those beyond one of the thresholds.
fn due_seconds(job: &JobSeconds, threshold_ns: u64) -> Vec<DueSecond> {
    let index = job.threshold(threshold_ns);
    let seconds = job.seconds.iter().map(|second| DueSecond {
        due: second.due,
        beyond: index
            .and_then(|index| second.beyond.get(index).copied())
            .unwrap_or(0),
    });
    seconds.collect()
}

/// Applies the judge that a bench with a required rate uses too: checks the seconds in
/// chronological order.
fn latency(study: &Qualify, required: &ProductRequirement, job: &JobSeconds) -> Judgement {
    let Some(limit) = required.limit else {
        return Judgement::undecided("nothing is required");
    };
    let of_metric = latency_limit(required.metric, limit);
    let due = due_seconds(job, limit.threshold_ns());
    let sums = job.seconds.iter().map(|second| second.latency_ns_sum);
    let seconds: Vec<LatencySecond> = due
        .into_iter()
        .zip(sums)
        .map(|(due, sum_ns)| LatencySecond {
            due,
            latency_s_sum: sum_ns as f64 / 1e9,
        })
        .collect();
    let design = study.options.design.design();
    let judged = judge_latency(of_metric, design, study.options.seed, &seconds);
    let (measured, low, high) = found(required, job, &judged);
    let wanted = judged.until_seconds.unwrap_or(0) as u64;
    Judgement {
        verdict: match judged.verdict {
            QualifyVerdict::Met => Verdict::Met,
            QualifyVerdict::Undecided => Verdict::Undecided,
            QualifyVerdict::Missed => Verdict::Missed,
        },
        measured,
        low,
        high,
        reason: judged.reason(&limit.beyond_words()),
        seconds_wanted: wanted,
        seconds_most: wanted.max(seconds_most(study)),
        takes_seconds: judged.takes_seconds(),
    }
}

/// The measured value in milliseconds, with its interval.
fn found(
    required: &ProductRequirement,
    job: &JobSeconds,
    judged: &LatencyJudgement,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    match judged.found {
        None => (None, None, None),
        Some(LatencyFinding::Share { share_max, outcome }) => {
            let from = outcome.change.map_or(0, |change| change.at_s);
            percentile(required, share_max, job, from)
        }
        Some(LatencyFinding::Mean { judgement, .. }) => {
            let [mean, low, high] = [judgement.mean, judgement.low, judgement.high]
                .map(|mean_s| Some(mean_s * 1e3).filter(|ms| ms.is_finite()));
            (mean, low, high)
        }
        Some(LatencyFinding::Max(found)) => {
            let seen_ns = job.latencies(required.operations).max_ns;
            let limit_ns = required.limit.map_or(0, |limit| limit.threshold_ns());
            let longest_ns = match found {
                MaxJudgement::Missed { .. } if seen_ns <= limit_ns => {
                    seen_ns.max(job.drained_max_ns)
                }
                _ => seen_ns,
            };
            let longest = milliseconds(longest_ns as f64);
            (Some(longest), Some(longest), None)
        }
    }
}

/// The percentile in milliseconds, and the nearest thresholds that it is certainly above
/// and below. Only seconds from `from` on count.
fn percentile(
    required: &ProductRequirement,
    share_max: f64,
    job: &JobSeconds,
    from: usize,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let histogram = job.latencies(required.operations).histogram();
    let percent = 100.0 * (1.0 - share_max);
    let measured = histogram.percentile(percent);
    let measured = measured.map(|ns| milliseconds(counted_percentile(job, share_max, from, ns)));
    let rule = ShareRule::new(share_max);
    let (mut low, mut high) = (None, None);
    for &threshold_ns in &job.thresholds_ns {
        let seconds = due_seconds(job, threshold_ns);
        let Some(found) = judge_share(&seconds[from.min(seconds.len())..], rule) else {
            continue;
        };
        if found.share.low > share_max {
            low = Some(threshold_ns);
        }
        if found.share.high < share_max && high.is_none() {
            high = Some(threshold_ns);
        }
    }
    let bound = |ns: Option<u64>| ns.map(|ns| milliseconds(ns as f64));
    (measured, bound(low), bound(high))
}

/// The percentile of what was due in the seconds from `from` on. Latencies are kept of all that
/// completed, whose percentile is `all_ns`; of a part, and of what never completed, it is known
/// how many were beyond each threshold. So it is that of all if it lies between the right two
/// thresholds, else the nearer of them, or of a part their middle.
fn counted_percentile(job: &JobSeconds, share_max: f64, from: usize, all_ns: u64) -> f64 {
    if job.seconds.iter().skip(from).all(|second| second.due == 0) {
        return all_ns as f64;
    }
    let holds = |threshold_ns: u64| {
        let (mut due, mut beyond) = (0, 0);
        for second in due_seconds(job, threshold_ns).iter().skip(from) {
            due += second.due;
            beyond += second.beyond;
        }
        beyond as f64 <= share_max * due as f64
    };
    let thresholds_ns = &job.thresholds_ns;
    let place = thresholds_ns.partition_point(|one| !holds(*one));
    let below = place.checked_sub(1).map(|below| thresholds_ns[below]);
    let above = thresholds_ns.get(place).copied();
    let nearest_ns = all_ns
        .max(below.unwrap_or(0))
        .min(above.unwrap_or(u64::MAX));
    match (below, above) {
        (Some(below), Some(above)) if from > 0 && (all_ns <= below || all_ns > above) => {
            (below as f64 * above as f64).sqrt()
        }
        _ => nearest_ns as f64,
    }
}

/// Rounded to a microsecond.
fn milliseconds(ns: f64) -> f64 {
    (ns / 1e3).round() / 1e3
}

/// Operations and the sum of their latencies in seconds, for each second.
fn sums(job: &JobSeconds) -> Vec<(u64, f64)> {
    let seconds = job.seconds.iter();
    seconds
        .map(|one| (one.due, one.latency_ns_sum as f64 / 1e9))
        .collect()
}

/// Nothing can be said before the next look.
fn too_few(study: &Qualify, seconds: u64, wanted: u64) -> Judgement {
    let reason = match wanted > seconds {
        true => format!("only {seconds} of the {wanted} seconds that it takes were measured"),
        false => format!(
            "only {} were measured",
            counted(seconds as usize, "second", "seconds")
        ),
    };
    Judgement {
        seconds_wanted: wanted,
        seconds_most: seconds_most(study),
        ..Judgement::undecided(reason)
    }
}

/// IOPS or MiB/s of each second. Arrivals that are due whether or not they are served, up to the
/// longest latency limit before the end of a minute, are no rate: what completed is. Nor is what
/// failed, although it was due: every second has its share.
fn rates(required: &ProductRequirement, job: &JobSeconds) -> Vec<f64> {
    let of_each = match required.metric {
        Metric::MibPerS => job.block_bytes as f64 / 1_048_576.0,
        _ => 1.0,
    };
    let is_of_transfers = required.operations == CountedOperations::Transfers;
    if is_of_transfers && !job.completed.is_empty() {
        return job.completed.iter().map(|count| count * of_each).collect();
    }
    let failed = match required.operations {
        CountedOperations::Commits => job.failed_syncs,
        CountedOperations::Transfers => job.failed_transfers,
    };
    let failed = failed as f64 / job.seconds.len().max(1) as f64;
    let seconds = job.seconds.iter();
    let rates = seconds.map(|second| (second.due as f64 - failed).max(0.0) * of_each);
    rates.collect()
}

fn rate(study: &Qualify, required: &ProductRequirement, phase: &Phase) -> Judgement {
    let job = &phase.jobs[required.job];
    let seconds = job.seconds.len() as u64;
    let least_s = match study.options.design {
        QualifyDesign::Quick => 300,
        _ => RATE_S_MIN,
    };
    let wanted = next_look(study, seconds, least_s);
    let limit = study.limit_value(required);
    let all = rates(required, job);
    let Some(found) = judge_rate(&all) else {
        return too_few(study, seconds, wanted);
    };
    // A burst credit that ends: what it is by now must not be on the other side of the limit.
    let latest = latest_rate(&all);
    let of_seconds = match seconds >= least_s {
        true if found.is_met(limit) && latest >= limit => Verdict::Met,
        true if found.is_missed(limit) && latest < limit => Verdict::Missed,
        _ => Verdict::Undecided,
    };
    let reason = rate_reason(
        required,
        &found,
        limit,
        of_seconds,
        (seconds, least_s),
        latest,
    );
    let is_at_limit = of_seconds == Verdict::Undecided && is_close(found.rate, limit);
    let shown_by = shows_rate(&study.product, required).filter(|_| is_at_limit);
    let (verdict, reason) = match shown_by {
        Some(index) if judge(study, index, phase).verdict == Verdict::Met => (
            Verdict::Met,
            format!(
                "{}; {} shows that it was kept",
                rate_words(required, &found, limit, seconds),
                study.product.requirements[index].name
            ),
        ),
        _ => (of_seconds, reason),
    };
    Judgement {
        verdict,
        measured: Some(found.rate),
        low: Some(found.low),
        high: Some(found.high),
        reason,
        // More is required only while nothing is decided.
        seconds_wanted: match verdict {
            Verdict::Undecided => wanted,
            _ => 0,
        },
        seconds_most: seconds_most(study),
        takes_seconds: None,
    }
}

/// The requirement that shows whether an open loop keeps its rate, which no length of measuring
/// does: where it is met, no more arrivals were late or lost than a rate may be off its limit.
pub(super) fn shows_rate(product: &Product, rate: &ProductRequirement) -> Option<usize> {
    product.jobs[rate.job].workload.rate?;
    let is_strict = |metric: Metric| match metric.share_max() {
        Some(share_max) => share_max <= RATE_MARGIN,
        None => metric == Metric::Max,
    };
    let mut all = product.requirements.iter();
    all.position(|one| one.job == rate.job && one.limit.is_some() && is_strict(one.metric))
}

/// No length of measuring decides between a rate and such a limit.
pub(super) fn is_close(rate: f64, limit: f64) -> bool {
    (rate / limit - 1.0).abs() <= RATE_MARGIN
}

/// `within 2 %`: what that means.
pub(super) fn close_words() -> String {
    format!("within {:.0} %", 100.0 * RATE_MARGIN)
}

/// The mean of the last fifth.
fn latest_rate(rates: &[f64]) -> f64 {
    let latest = &rates[rates.len() - rates.len().div_ceil(5)..];
    mean(latest).unwrap_or(0.0)
}

/// What was measured of a rate, beside what is required.
fn rate_words(
    required: &ProductRequirement,
    found: &RateJudgement,
    limit: f64,
    seconds: u64,
) -> String {
    let text = |rate: f64| required.metric.value_text_beside(rate, limit);
    format!(
        "over {} the mean is {} ({} to {}), and at least {} are required",
        format_duration(seconds * 1_000_000_000),
        text(found.rate),
        text(found.low),
        text(found.high),
        required.metric.limit_text(limit)
    )
}

fn rate_reason(
    required: &ProductRequirement,
    found: &RateJudgement,
    limit: f64,
    verdict: Verdict,
    (seconds, least_s): (u64, u64),
    latest: f64,
) -> String {
    let words = rate_words(required, found, limit, seconds);
    match verdict {
        Verdict::Undecided if seconds < least_s => {
            let least = format_duration(least_s * 1_000_000_000);
            format!("{words}; that takes {least} to judge")
        }
        Verdict::Undecided if found.is_met(limit) || found.is_missed(limit) => {
            let latest = required.metric.value_text_beside(latest, limit);
            format!("{words}; but of the last fifth it is {latest}")
        }
        Verdict::Undecided if is_close(found.rate, limit) => {
            format!(
                "{words}: {} of it, which is too close to tell",
                close_words()
            )
        }
        Verdict::Undecided => format!("{words}: too close to tell"),
        _ => words,
    }
}

impl Qualify {
    /// The limit of a requirement, multiplied by the processors if it is per processor.
    pub fn limit_value(&self, required: &ProductRequirement) -> f64 {
        let factor = match required.per_processor {
            true => f64::from(self.options.processors.max(1)),
            false => 1.0,
        };
        required.limit.map_or(0.0, |limit| limit.value * factor)
    }
}

/// Operations of a job that a requirement counts.
pub(super) const fn operations_word(operations: CountedOperations) -> &'static str {
    match operations {
        CountedOperations::Commits => "commits",
        CountedOperations::Transfers => "operations",
    }
}
