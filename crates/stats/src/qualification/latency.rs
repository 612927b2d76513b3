//! Judges a latency limit, wherever the seconds were measured: a bench at a required rate, or a
//! qualification. Looks are taken when the design prescribes, and a decision at a look is final.

use super::mean::{MaxJudgement, MeanJudgement, judge_max, judge_mean};
use super::sequence::{Design, Look, Qualification, QualifyOutcome, QualifyStep, QualifyVerdict};
use super::share::{DueSecond, ShareRule};
use super::{ONE_SIDE, STALL_S};
use stripewise_units::{beside, counted, format_count, format_duration, format_duration_beside};

/// A latency limit, for which each second has counted the operations beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatencyLimit {
    /// Largest share that may be beyond it: 0.01 for a p99.
    Share(f64),
    /// The mean must be below this many seconds.
    Mean(f64),
    /// No operation may be beyond it.
    Max,
}

/// A second of due time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySecond {
    /// Operations due in it, and those beyond the limit.
    pub due: DueSecond,
    /// Sum of their latencies, seconds.
    pub latency_s_sum: f64,
}

/// A verdict and its basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyJudgement {
    /// Undecided until a look decides.
    pub verdict: QualifyVerdict,
    /// Total seconds until the next look; none if no more can be learnt.
    pub until_seconds: Option<usize>,
    /// Seconds measured.
    pub seconds: usize,
    /// The result; none if too little was measured.
    pub found: Option<LatencyFinding>,
}

/// Result for a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatencyFinding {
    /// For a percentile.
    Share {
        /// The share that may be beyond it.
        share_max: f64,
        /// The share found.
        outcome: QualifyOutcome,
    },
    /// For the mean.
    Mean {
        /// The mean found.
        judgement: MeanJudgement,
        /// What it must be below, seconds.
        limit_s: f64,
        /// Number of leading seconds it is based on: if a look decided, those it saw.
        seconds: usize,
    },
    /// For the maximum.
    Max(MaxJudgement),
}

/// Judges seconds in the order measured. `seed` is for the random orders used to compare minutes.
pub fn judge_latency(
    limit: LatencyLimit,
    design: Design,
    seed: u64,
    seconds: &[LatencySecond],
) -> LatencyJudgement {
    match limit {
        LatencyLimit::Share(share_max) => of_share(share_max, design, seed, seconds),
        LatencyLimit::Mean(limit_s) => of_mean(limit_s, design, seconds),
        LatencyLimit::Max => of_max(design, seconds),
    }
}

/// Seconds after which a target on which nothing waits meets the limit at the earliest; `None` if
/// the whole design is too short for it.
pub fn earliest_met(limit: LatencyLimit, design: Design) -> Option<usize> {
    let quiet = LatencySecond {
        due: DueSecond {
            due: 1_000,
            beyond: 0,
        },
        latency_s_sum: 0.0,
    };
    let mut looks = design.looks().iter().map(|look| look.seconds);
    looks.find(|&seconds| {
        let judged = judge_latency(limit, design, 0, &vec![quiet; seconds]);
        judged.verdict == QualifyVerdict::Met
    })
}

fn of_share(
    share_max: f64,
    design: Design,
    seed: u64,
    seconds: &[LatencySecond],
) -> LatencyJudgement {
    let mut qualification = Qualification::new(ShareRule::new(share_max), design, seed);
    let mut until_seconds = next_look(design, 0);
    for second in seconds {
        until_seconds = match qualification.feed(second.due) {
            QualifyStep::GoOn { until_seconds } => Some(until_seconds),
            QualifyStep::Done => None,
        };
    }
    let outcome = qualification.outcome();
    LatencyJudgement {
        verdict: outcome.verdict,
        until_seconds,
        seconds: seconds.len(),
        found: (outcome.judgement).map(|_| LatencyFinding::Share { share_max, outcome }),
    }
}

fn next_look(design: Design, seconds: usize) -> Option<usize> {
    let mut looks = design.looks().iter().map(|look| look.seconds);
    looks.find(|look| *look > seconds)
}

fn of_mean(limit_s: f64, design: Design, seconds: &[LatencySecond]) -> LatencyJudgement {
    let sums: Vec<(u64, f64)> = seconds
        .iter()
        .map(|second| (second.due.due, second.latency_s_sum))
        .collect();
    let at = |look: &Look| {
        let found = judge_mean(sums.get(..look.seconds)?, limit_s, STALL_S)?;
        let verdict = match () {
            () if found.p_missed < look.alpha_missed => QualifyVerdict::Missed,
            () if found.p_met < look.alpha_met => QualifyVerdict::Met,
            () => return None,
        };
        Some((verdict, look.seconds, found))
    };
    // Report what the verdict is based on: later seconds may differ.
    match design.looks().iter().find_map(at) {
        Some((verdict, judged, found)) => LatencyJudgement {
            verdict,
            until_seconds: None,
            seconds: seconds.len(),
            found: Some(LatencyFinding::Mean {
                judgement: found,
                limit_s,
                seconds: judged,
            }),
        },
        None => LatencyJudgement {
            verdict: QualifyVerdict::Undecided,
            until_seconds: next_look(design, seconds.len()),
            seconds: seconds.len(),
            found: judge_mean(&sums, limit_s, STALL_S).map(|judgement| LatencyFinding::Mean {
                judgement,
                limit_s,
                seconds: seconds.len(),
            }),
        },
    }
}

/// Missed at the first excess. Otherwise met as far as the whole design can show it: its reason
/// states how rare an excess must be.
fn of_max(design: Design, seconds: &[LatencySecond]) -> LatencyJudgement {
    let due = seconds.iter().map(|second| second.due.due).sum();
    let beyond = seconds.iter().map(|second| second.due.beyond).sum();
    let found = judge_max(due, beyond, seconds.len() as f64);
    let next = next_look(design, seconds.len());
    let (verdict, until_seconds) = match (found, next) {
        (Some(MaxJudgement::Missed { .. }), _) => (QualifyVerdict::Missed, None),
        (Some(MaxJudgement::NoneSeen { .. }), None) => (QualifyVerdict::Met, None),
        (_, next) => (QualifyVerdict::Undecided, next),
    };
    LatencyJudgement {
        verdict,
        until_seconds,
        seconds: seconds.len(),
        found: found.map(LatencyFinding::Max),
    }
}

impl LatencyJudgement {
    /// Seconds of measuring that a verdict takes, where the reason says so.
    pub fn takes_seconds(&self) -> Option<f64> {
        match &self.found {
            Some(LatencyFinding::Share { outcome, .. }) => longer_seconds(outcome),
            _ => None,
        }
    }

    /// The reason. `beyond` describes an operation beyond the limit: `took 10 ms or longer`.
    pub fn reason(&self, beyond: &str) -> String {
        let words = match &self.found {
            None => {
                return match self.until_seconds {
                    Some(until) => format!(
                        "only {} of the {until} seconds that it takes were measured",
                        self.seconds
                    ),
                    None => "too few seconds were measured".to_owned(),
                };
            }
            Some(LatencyFinding::Share { share_max, outcome }) => {
                share_words(*share_max, outcome, beyond)
            }
            Some(LatencyFinding::Mean {
                judgement,
                limit_s,
                seconds,
            }) => {
                let text =
                    |mean_s| format_duration_beside(nanoseconds(mean_s), nanoseconds(*limit_s));
                let of = match *seconds < self.seconds {
                    true => format!(" of the first {seconds} s, which decided,"),
                    false => String::new(),
                };
                let mean = text(judgement.mean);
                match self.verdict {
                    QualifyVerdict::Undecided => {
                        let low = text(judgement.low);
                        let range = match judgement.high.is_finite() {
                            true => format!("{low} to {}", text(judgement.high)),
                            false => format!("above {low}"),
                        };
                        format!(
                            "the mean is {mean} ({range}, stalls that were not seen included){}",
                            undecided_reason(judgement.p_met, judgement.p_missed)
                                .unwrap_or(": too close to tell")
                        )
                    }
                    _ => format!("the mean{of} is {mean}"),
                }
            }
            Some(LatencyFinding::Max(found)) => max_words(*found, beyond),
        };
        match self.until_seconds {
            Some(_) => format!(
                "{words}; only {} were measured",
                counted(self.seconds, "second", "seconds")
            ),
            None => words,
        }
    }
}

/// Intervals are at 95 %; one of several looks needs stronger evidence to decide.
fn undecided_reason(p_met: f64, p_missed: f64) -> Option<&'static str> {
    match () {
        () if p_met < ONE_SIDE => Some(
            ": within the limit, but an early look needs more than 95 % confidence, as several looks share the error rate",
        ),
        () if p_missed < ONE_SIDE => Some(
            ": beyond the limit, but an early look needs more than 95 % confidence, as several looks share the error rate",
        ),
        () => None,
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    // Float to integer saturates.
    (seconds * 1e9).round() as u64
}

/// Seconds that an open verdict takes, where stalls may last longer than assumed.
fn longer_seconds(outcome: &QualifyOutcome) -> Option<f64> {
    let found = outcome.judgement.as_ref()?;
    let is_longer = found.is_clustered || found.cluster_s > STALL_S * 1.000_001;
    let is_open = outcome.verdict == QualifyVerdict::Undecided;
    (is_open && is_longer).then_some(found.seconds_wanted)
}

fn share_words(share_max: f64, outcome: &QualifyOutcome, beyond: &str) -> String {
    let Some(found) = &outcome.judgement else {
        return "too few seconds were measured".to_owned();
    };
    let digits = |percent: f64, more: usize| format!("{percent:.*}", 2 + more);
    let percent = |share: f64| beside(share * 100.0, share_max * 100.0, digits);
    let mut words = format!(
        "{} % ({}-{}) {beyond}, and {} % may",
        percent(found.share.value),
        percent(found.share.low),
        percent(found.share.high),
        (share_max * 1e6).round() / 1e4,
    );
    let together = format!(
        "; stalls come together for {:.1} s, more than the {STALL_S} s assumed",
        found.cluster_s
    );
    match (outcome.verdict, longer_seconds(outcome)) {
        (QualifyVerdict::Met, _) if found.is_clustered => {
            words += &format!("{together}, and that is allowed for");
        }
        (QualifyVerdict::Undecided, Some(seconds)) => {
            let why = match found.is_clustered {
                true => format!("{together}:"),
                false => "; with so few operations".to_owned(),
            };
            let time = format_duration(nanoseconds(seconds));
            words += &format!("{why} that takes {time} of measuring");
        }
        (QualifyVerdict::Undecided, None) => {
            words += undecided_reason(found.p_met, found.p_missed).unwrap_or_default();
        }
        _ => {}
    }
    if let Some(change) = outcome.change {
        words += &format!(
            "; it changed after {} s, and this is since then",
            format_count(change.at_s as u64)
        );
    }
    words
}

fn max_words(found: MaxJudgement, beyond: &str) -> String {
    match found {
        MaxJudgement::Missed { beyond: count } => {
            format!(
                "{} {beyond}",
                counted(count as usize, "operation", "operations")
            )
        }
        MaxJudgement::NoneSeen {
            operations,
            rarer_than_one_per_s,
        } => format!(
            "none of {} {beyond}, so it is rarer than once in {}: more cannot be said of a maximum",
            counted(operations as usize, "operation", "operations"),
            format_duration(nanoseconds(rarer_than_one_per_s))
        ),
    }
}
