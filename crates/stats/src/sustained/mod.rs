//! How long a fast rate lasts: what a cache absorbs, and the sustained rate after it.
//!
//! A write cache, the fast part of an SSD and a token bucket look the same from outside: a rate
//! that holds until B bytes (or operations) are done beyond what drains meanwhile, then a lower
//! one. No finite test excludes a larger cache, so the outcome includes how far the pilot went.
//!
//! [`Pilot`] is fed the intervals of one continuous load. It compares spans that double in time,
//! starting with the first of at least a second and 1,000 operations:
//!
//! - A span below 0.85 of the preceding one is a step down. It is located where two levels fit the
//!   operations of both spans best (the likelihood of two Poisson rates), and the doubling restarts
//!   after it.
//! - Two successive spans of at least 30 s and 1,000 operations each that agree within
//!   max(5 %, two standard errors) end it. Where intervals have a latency, the mean latency
//!   must be steady over the later span too, by SNIA's rule ([`crate::SteadyRule`]): a queue
//!   that grows while the rate holds is not steady. In virtual time a span of
//!   [`PilotPlan::span_operations`] is long enough as well: there it is their number that
//!   makes a rate certain, and no clock of the storage's own.
//! - A quick pilot begins with spans of 5 s and 100 operations, and accepts two spans if neither is
//!   a step from the other.
//!
//! Agreement does not suffice to call a rate sustained: see [`Claim`].
//!
//! Pure: it reads no clock and can be serialised between intervals. With few intervals (n = 0, 1,
//! 2) there are no two spans unless each is 30 s long; the outcome is then [`Claim::NotReached`]
//! with the rate so far, if any.

mod outcome;
mod timeline;

#[cfg(test)]
mod tests;

pub use outcome::{Absorbed, Claim, Need, NotReached, Sustained};
pub use timeline::{LoadInterval, Mark};

use crate::steady::SteadyRule;
use serde::{Deserialize, Serialize};
use timeline::Timeline;

/// A span below this share of the preceding one is a step down.
const STEP_SHARE: f64 = 0.85;
/// Spans that differ by less than this agree, whatever their number of operations.
const AGREE_SHARE: f64 = 0.05;
/// The same in a quick pilot, whose spans are short: other load on the machine makes them differ
/// more, and a cache makes a difference of several times.
const STEP_SHARE_QUICK: f64 = 0.7;
/// Fewest operations in a span.
const OPERATIONS_MIN: f64 = 1_000.0;
/// The same for a quick pilot: a slow disk does no more in five seconds.
const OPERATIONS_MIN_QUICK: f64 = 100.0;
/// The first span is at least this long, in seconds.
const FIRST_SPAN_S: f64 = 1.0;
/// Writing this multiple of a cache's size overflows it, or shows that it does not hold these
/// writes.
pub const CACHE_TIMES: f64 = 4.0;
/// This multiple of the bytes before a step is written before the rate after it is taken, in virtual
/// time.
const SETTLE_TIMES: f64 = 2.0;

/// The known credit of a token bucket: so many operations above a cap, after a rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstCredit {
    /// Operations of this load that a full bucket allows above the cap.
    pub operations: f64,
    /// The cap, operations per second.
    pub per_s: f64,
}

/// Facts about the target, and how thorough the pilot is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PilotPlan {
    /// Shortest span that may agree with another, in seconds.
    pub span_s_min: f64,
    /// In virtual time, a span of this many operations may also agree, however short it is.
    pub span_operations: Option<u64>,
    /// Size of a known or given cache, bytes.
    pub cache_bytes: Option<u64>,
    /// Bytes of flash to write once, capacity and spare, if the target is flash.
    pub flash_bytes: Option<u64>,
    /// Known burst credits, one of operations and one of bytes: spent before a rate is sustained.
    #[serde(default)]
    pub credits: [Option<BurstCredit>; 2],
    /// Most bytes that the pilot may write; `None`: as many as it needs.
    pub bytes_max: Option<u64>,
}

impl PilotPlan {
    /// Spans of at least 30 s.
    pub const SPAN_S: f64 = 30.0;
    /// Spans of a quick pilot, which never calls a rate sustained.
    pub const QUICK_SPAN_S: f64 = 5.0;

    /// Most bytes that a pilot writes: what a fast drive takes in that time, to limit wear.
    pub const fn bytes_max(quick: bool) -> u64 {
        if quick { 256 << 30 } else { 4 << 40 }
    }

    /// Thorough or quick, with nothing known.
    pub const fn new(quick: bool) -> PilotPlan {
        PilotPlan {
            span_s_min: if quick {
                PilotPlan::QUICK_SPAN_S
            } else {
                PilotPlan::SPAN_S
            },
            span_operations: None,
            cache_bytes: None,
            flash_bytes: None,
            credits: [None; 2],
            bytes_max: Some(PilotPlan::bytes_max(quick)),
        }
    }

    /// Whether its spans are too short for a sustained rate.
    pub fn is_quick(&self) -> bool {
        self.span_s_min < PilotPlan::SPAN_S
    }

    /// A quick pilot has no time for spans that cannot agree with another.
    fn first_span_s(&self) -> f64 {
        match self.is_quick() {
            true => self.span_s_min,
            false => FIRST_SPAN_S,
        }
    }

    fn step_share(&self) -> f64 {
        match self.is_quick() {
            true => STEP_SHARE_QUICK,
            false => STEP_SHARE,
        }
    }

    fn operations_min(&self) -> f64 {
        match self.is_quick() {
            true => OPERATIONS_MIN_QUICK,
            false => OPERATIONS_MIN,
        }
    }

    /// Seconds from a step to the end of two agreeing spans, if nothing else is found: spans of 1,
    /// 1, 2, 4, ... s until two have the required length.
    pub fn spans_s(&self) -> f64 {
        if self.is_quick() {
            return 2.0 * self.span_s_min;
        }
        let mut span = FIRST_SPAN_S;
        while span < self.span_s_min {
            span *= 2.0;
        }
        4.0 * span
    }
}

/// The next step after an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PilotStep {
    /// Continue; nothing can be decided before this second of the pilot.
    WriteOn {
        /// Seconds since the pilot began.
        until_s: f64,
    },
    /// The rate stepped down here; continue.
    SteppedDown(Mark),
    /// Nothing more can be learnt within the plan: [`Pilot::outcome`].
    Done,
}

/// A span of time, in seconds since the pilot began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Span {
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

/// The pilot of one load.
///
/// ```
/// use stripewise_stats::{Claim, LoadInterval, Pilot, PilotPlan, PilotStep};
/// // 1,000 writes of 8K a second for 20 s, then 200.
/// let mut pilot = Pilot::new(PilotPlan::new(false));
/// let mut second = 0;
/// loop {
///     let operations = if second < 20 { 1_000 } else { 200 };
///     let interval = LoadInterval { seconds: 1.0, operations, bytes: operations * 8_192, latency_s: None };
///     if pilot.feed(interval) == PilotStep::Done { break; }
///     second += 1;
/// }
/// let found = pilot.outcome();
/// assert_eq!(found.claim, Claim::Sustained);
/// assert_eq!(found.absorbed.unwrap().at.seconds, 20.0);
/// assert!((found.rate.unwrap() - 200.0).abs() < 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    plan: PilotPlan,
    line: Timeline,
    /// Where the doubling began: 0, or the last step.
    start_s: f64,
    /// Length of the first span after `start_s`.
    first_s: f64,
    /// The last complete span.
    last: Option<Span>,
    steps: Vec<Absorbed>,
    /// Whether the last two spans agree.
    agrees: bool,
    is_done: bool,
}

impl Pilot {
    /// Before anything was written.
    pub fn new(plan: PilotPlan) -> Pilot {
        Pilot {
            plan,
            line: Timeline::new(),
            start_s: 0.0,
            first_s: plan.first_span_s(),
            last: None,
            steps: Vec::new(),
            agrees: false,
            is_done: false,
        }
    }

    /// Adds the next interval of the load; intervals follow each other without gaps. One whose time
    /// is not above 0 is ignored, and so is everything after the end.
    pub fn feed(&mut self, interval: LoadInterval) -> PilotStep {
        if self.is_done {
            return PilotStep::Done;
        }
        self.line.push(interval);
        let mut stepped = None;
        while !self.is_done {
            let until_s = self.next_end_s();
            // Sums of interval lengths are off by rounding.
            if until_s > self.line.end_s() + 1e-6 {
                return match stepped {
                    Some(mark) => PilotStep::SteppedDown(mark),
                    None if self.is_spent() => PilotStep::Done,
                    None => PilotStep::WriteOn { until_s },
                };
            }
            stepped = self.advance().or(stepped);
        }
        PilotStep::Done
    }

    /// The second at which the next span to be decided ends.
    pub fn until_s(&self) -> f64 {
        self.next_end_s()
    }

    /// Seconds fed so far.
    pub fn fed_s(&self) -> f64 {
        self.line.end_s()
    }

    /// Whether nothing more can be learnt within the plan.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The plan's bytes are written; the outcome is final.
    fn is_spent(&mut self) -> bool {
        let written = self.line.end().bytes;
        self.is_done = self.plan.bytes_max.is_some_and(|max| written >= max as f64);
        self.is_done
    }

    /// The end of the next span to be decided.
    fn next_end_s(&self) -> f64 {
        match self.last {
            None => self.start_s + self.first_s,
            Some(last) => last.to_s + self.next_length_s(last),
        }
    }

    fn next_length_s(&self, last: Span) -> f64 {
        (last.to_s - self.start_s).max(self.first_s)
    }

    /// Evaluates the span that ended. Returns the position of a step down, if it is one.
    fn advance(&mut self) -> Option<Mark> {
        let Some(last) = self.last else {
            self.begin();
            return None;
        };
        let next = Span {
            from_s: last.to_s,
            to_s: last.to_s + self.next_length_s(last),
        };
        let (before, after) = (self.line.rate(last), self.line.rate(next));
        if after < self.plan.step_share() * before {
            return Some(self.step_down(last, next));
        }
        self.agrees = self.agree(last, next);
        self.last = Some(next);
        self.is_done = self.agrees && self.has_measured_enough();
        None
    }

    /// The first span, doubled until it has enough operations.
    fn begin(&mut self) {
        let first = Span {
            from_s: self.start_s,
            to_s: self.start_s + self.first_s,
        };
        if self.line.operations(first) < self.plan.operations_min() {
            self.first_s *= 2.0;
        } else {
            self.last = Some(first);
        }
    }

    fn step_down(&mut self, last: Span, next: Span) -> Mark {
        let place_s = self.line.best_split(Span {
            from_s: last.from_s,
            to_s: next.to_s,
        });
        let at = self.line.at(place_s);
        self.steps.push(Absorbed {
            at,
            rate: self.line.rate(Span {
                from_s: self.start_s,
                to_s: place_s,
            }),
        });
        self.start_s = place_s;
        self.first_s = self.plan.first_span_s();
        self.last = None;
        self.agrees = false;
        at
    }

    fn agree(&self, last: Span, next: Span) -> bool {
        let counts = [last, next].map(|span| self.line.operations(span));
        let many = (self.plan.span_operations).map_or(f64::INFINITY, |count| count as f64);
        let long = [last, next].iter().all(|span| {
            span.to_s - span.from_s >= self.plan.span_s_min - 1e-6
                || self.line.operations(*span) >= many
        });
        let fewest = self.plan.operations_min();
        let enough = counts.iter().all(|count| *count >= fewest);
        if !long || !enough {
            return false;
        }
        let error = libm::sqrt(1.0 / counts[0] + 1.0 / counts[1]);
        let ratio = self.line.rate(next) / self.line.rate(last);
        let (agree, steady) = match self.plan.is_quick() {
            // Neither is a step from the other: it only shows that a rate held; the runs after it
            // show how certain it is.
            true => (1.0 - STEP_SHARE_QUICK, true),
            false => (AGREE_SHARE, self.latency_is_steady(next)),
        };
        (ratio - 1.0).abs() <= agree.max(2.0 * error) && steady
    }

    /// Without latencies, or below 800 operations per round, where SNIA's rule is affected by
    /// chance: the rate alone decides.
    fn latency_is_steady(&self, span: Span) -> bool {
        let rounds = SteadyRule::SNIA.window;
        let length_s = (span.to_s - span.from_s) / rounds as f64;
        let latencies: Option<Vec<f64>> = (0..rounds)
            .map(|round| {
                let from_s = span.from_s + round as f64 * length_s;
                self.line.latency_s(Span {
                    from_s,
                    to_s: from_s + length_s,
                })
            })
            .collect();
        let few = self.line.operations(span) < 800.0 * rounds as f64;
        let judged = latencies.and_then(|latencies| SteadyRule::SNIA.judge(&latencies));
        few || judged.is_none_or(|seen| seen.steady)
    }

    /// Nothing known about the target requires more bytes, no known credit is left, and the rate
    /// after a step has settled.
    fn has_measured_enough(&self) -> bool {
        let written = self.line.end().bytes;
        let is_enough = self.bytes_wanted().is_none_or(|wanted| written >= wanted);
        is_enough && self.credit_left_s().is_none() && self.has_settled()
    }

    /// In virtual time, a step is followed by as many bytes again: the first sweep over a full cache
    /// is slower than those after it, the more so the larger the cache, and no less steady.
    fn has_settled(&self) -> bool {
        let step = self.plan.span_operations.and(self.last_step());
        step.is_none_or(|step| self.line.end().bytes >= SETTLE_TIMES * step.at.bytes)
    }

    /// Seconds until the known credits are spent, at the rate of the last span. `None` if they were
    /// when it began, or if its rate is that of a cap, or less, and spends nothing.
    pub(crate) fn credit_left_s(&self) -> Option<f64> {
        let last = self.last?;
        let rate = self.line.rate(last);
        let left = |credit: &BurstCredit, at: Mark| {
            credit.operations - (at.operations - credit.per_s * at.seconds)
        };
        let credits = self.plan.credits.iter().flatten();
        let seconds = credits.filter_map(|credit| {
            let net = rate - credit.per_s;
            let at_start = left(credit, self.line.at(last.from_s));
            let is_spending =
                net > AGREE_SHARE * credit.per_s && at_start > AGREE_SHARE * credit.operations;
            is_spending.then(|| left(credit, self.line.end()).max(0.0) / net)
        });
        seconds.reduce(f64::max)
    }

    /// Bytes that must be written before the rate may be called sustained, if known: four times a
    /// cache that no step has shown to be full, and all flash.
    pub(crate) fn bytes_wanted(&self) -> Option<f64> {
        let shown = |cache: f64| {
            self.last_step()
                .is_some_and(|step| step.at.bytes >= cache / 2.0)
        };
        let cache = self.plan.cache_bytes.map(|bytes| bytes as f64);
        let cache = cache.filter(|bytes| !shown(*bytes));
        let flash = self.plan.flash_bytes.map(|bytes| bytes as f64);
        match (cache.map(|bytes| CACHE_TIMES * bytes), flash) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, other) => one.or(other),
        }
    }

    /// The last step after which the rate stayed low; a rate that recovered was a pause.
    pub(crate) fn last_step(&self) -> Option<&Absorbed> {
        let now = self.last.map(|span| self.line.rate(span));
        self.steps
            .iter()
            .rev()
            .find(|step| now.is_none_or(|now| now < STEP_SHARE * step.rate))
    }
}
