//! The result of a pilot, in the terms used in reports.

use super::{Mark, Pilot};
use serde::{Deserialize, Serialize};

/// What can be claimed about the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It is sustained: two spans of at least 30 s agree, and a step was seen, or at least four
    /// times the known cache was written; for flash, all of it once.
    Sustained,
    /// It lasted for the bytes written since [`Sustained::from`]. Nothing known excludes a larger
    /// cache, or spans were short.
    AtLeast,
    /// It is a cache's rate or not a lasting one: no answer, no verdict.
    NotReached(NotReached),
}

/// Why no sustained rate was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotReached {
    /// Fewer than two spans were written.
    TooShort,
    /// The known cache may still have absorbed everything.
    CacheAbsorbs,
    /// The rate stepped down, and has not been steady since.
    JustSteppedDown,
    /// Successive spans kept differing, in rate or in latency.
    Unsteady,
    /// Steady, but the flash was not written once, which its own steady state requires.
    FlashNotWritten,
}

/// What was absorbed before a step down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Absorbed {
    /// Where the rate stepped down: bytes and operations done until there, including what drained
    /// meanwhile.
    pub at: Mark,
    /// Operations per second before it, since the preceding step or the beginning.
    pub rate: f64,
}

/// What more would be needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Seconds for the whole pilot, at the rate of the last span.
    pub seconds: f64,
    /// Bytes for the whole pilot.
    pub bytes: f64,
}

/// Result of a pilot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// What can be claimed about `rate`.
    pub claim: Claim,
    /// What was absorbed at the faster rate; none if no step was seen.
    pub absorbed: Option<Absorbed>,
    /// Operations per second over the last span; none before the first has ended.
    pub rate: Option<f64>,
    /// Since when the rate has held: the step, or the beginning. Runs that start after a rest write
    /// as many bytes again before they measure.
    pub from: Mark,
    /// How far the pilot went.
    pub to: Mark,
    /// What would reach a sustained rate, if none was reached; an estimate, from the known cache or
    /// by doubling.
    pub need: Option<Need>,
}

impl Sustained {
    /// Whether the rate is usable as an answer.
    pub fn is_reached(&self) -> bool {
        !matches!(self.claim, Claim::NotReached(_))
    }
}

impl Pilot {
    /// Current result: final after [`super::PilotStep::Done`], otherwise that of a pilot stopped
    /// now.
    pub fn outcome(&self) -> Sustained {
        let claim = self.claim();
        let rate = self.last.map(|span| self.line.rate(span));
        Sustained {
            claim,
            absorbed: self.last_step().copied(),
            rate,
            from: self.line.at(self.start_s),
            to: self.line.end(),
            need: match claim {
                Claim::NotReached(_) => Some(self.need(rate)),
                Claim::Sustained | Claim::AtLeast => None,
            },
        }
    }

    fn claim(&self) -> Claim {
        let written = self.line.end().bytes;
        let stepped = self.last_step().is_some();
        let flash = self.plan.flash_bytes.map(|bytes| bytes as f64);
        let is_flash_unwritten = flash.is_some_and(|bytes| written < bytes);
        // More bytes are not allowed, and fewer would show nothing else.
        if self.is_done && !self.agrees && is_flash_unwritten {
            return Claim::NotReached(NotReached::FlashNotWritten);
        }
        if !self.agrees {
            return Claim::NotReached(match self.last {
                None if self.steps.is_empty() => NotReached::TooShort,
                _ if stepped => NotReached::JustSteppedDown,
                _ if self.holds_in_cache() => NotReached::CacheAbsorbs,
                Some(last) if last.from_s <= self.start_s => NotReached::TooShort,
                _ if self.spans_are_short() => NotReached::TooShort,
                _ => NotReached::Unsteady,
            });
        }
        if is_flash_unwritten {
            return Claim::NotReached(NotReached::FlashNotWritten);
        }
        if self.holds_in_cache() {
            return Claim::NotReached(NotReached::CacheAbsorbs);
        }
        let has_credit = self.plan.credits.iter().any(Option::is_some);
        let is_known = stepped || self.plan.cache_bytes.is_some() || flash.is_some() || has_credit;
        match is_known && !self.plan.is_quick() {
            true => Claim::Sustained,
            false => Claim::AtLeast,
        }
    }

    /// Whether a known cache may hold everything written, or a known credit is not spent.
    fn holds_in_cache(&self) -> bool {
        if self.credit_left_s().is_some() {
            return true;
        }
        let flash = self.plan.flash_bytes.map_or(0.0, |bytes| bytes as f64);
        let cache = self.plan.cache_bytes.map_or(0.0, |bytes| bytes as f64);
        let wanted = self.bytes_wanted().unwrap_or(0.0);
        cache > 0.0 && wanted > flash && self.line.end().bytes < wanted
    }

    /// The last span is too short for two spans to agree.
    fn spans_are_short(&self) -> bool {
        let since = self.line.end_s() - self.start_s;
        since < self.plan.spans_s()
    }

    /// At least the bytes known to be required; then spans until two agree, or twice the amount so
    /// far.
    fn need(&self, rate: Option<f64>) -> Need {
        let end = self.line.end();
        let block = end.bytes / end.operations.max(1.0);
        let bytes_per_s = match rate {
            Some(rate) if rate > 0.0 => rate * block,
            _ => end.bytes / end.seconds.max(1e-9),
        };
        let missing = (self.bytes_wanted().unwrap_or(0.0) - end.bytes).max(0.0);
        let to_overflow_s = if bytes_per_s > 0.0 {
            missing / bytes_per_s
        } else {
            0.0
        };
        let since_s = end.seconds - self.start_s;
        let spans_s = match self.agrees {
            true => 0.0,
            false if since_s < self.plan.spans_s() => self.plan.spans_s() - since_s,
            false => since_s,
        };
        // What fits in a cache is written faster than what follows.
        let behind_s = if self.holds_in_cache() {
            self.plan.spans_s()
        } else {
            0.0
        };
        let to_spend_s = self.credit_left_s().unwrap_or(0.0);
        let more_s = (to_overflow_s.max(to_spend_s) + behind_s).max(spans_s);
        Need {
            seconds: end.seconds + more_s,
            bytes: end.bytes + more_s * bytes_per_s,
        }
    }
}
