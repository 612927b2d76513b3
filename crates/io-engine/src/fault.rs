//! The plan of the fault-injecting wrapper: what fails, and when.
//!
//! A plan is a list of [`Fault`]s, fixed or drawn from a seed. Clones of a plan share one operation
//! counter, so "the 1,000th operation" is that of the whole run, whatever the number of workers.
//! For the text form, see [`FaultPlan::from_str`]; it is for end-to-end tests.

use crate::Kind;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which operations a fault affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// The n-th operation of the run, counted from 1.
    Nth(u64),
    /// Every n-th operation of the run; never if 0.
    EveryNth(u64),
    /// N per million, drawn from the plan's seed and the operation's number.
    PerMillion(u32),
    /// Operations that touch this range of bytes, in any file.
    Offsets(Range<u64>),
    /// Operations issued from this time up to that one, on the plan's clock.
    Between(Range<u64>),
}

/// What happens to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Completes at once with this error number (positive, as in `errno.h`),
    /// and never reaches the device.
    Fail(i32),
    /// Reports at most this many bytes, though all were transferred.
    Short(u32),
    /// Transfers only this many bytes but reports all of them: a lying disk.
    Torn(u32),
    /// Completes this many nanoseconds later than it did.
    Delay(u64),
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Affects single operations.
    Operation {
        /// Which.
        when: When,
        /// Only this kind, if given.
        kind: Option<Kind>,
        /// What happens to them.
        effect: Effect,
    },
    /// The device goes silent: completions in this range of time, on the plan's clock in
    /// nanoseconds, are held back until its end.
    Stall(Range<u64>),
}

/// All faults of a run.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    seed: u64,
    faults: Vec<Fault>,
    issued: Arc<AtomicU64>,
}

impl FaultPlan {
    /// A plan; if several faults affect one operation, the first one counts. `seed` is for
    /// [`When::PerMillion`].
    pub fn new(seed: u64, faults: Vec<Fault>) -> Self {
        FaultPlan {
            seed,
            faults,
            issued: Arc::default(),
        }
    }

    /// The rules.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Numbers the next operation of the run, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.issued.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The effect on this operation, if any.
    pub(crate) fn strike(
        &self,
        number: u64,
        operation: &crate::Operation,
        now_ns: u64,
    ) -> Option<Effect> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::Operation { when, kind, effect }
                if kind.is_none_or(|kind| kind == operation.kind)
                    && self.applies(when, number, operation, now_ns) =>
            {
                Some(*effect)
            }
            _ => None,
        })
    }

    fn applies(&self, when: &When, number: u64, operation: &crate::Operation, now_ns: u64) -> bool {
        match when {
            When::Nth(n) => number == *n,
            When::EveryNth(n) => *n != 0 && number.is_multiple_of(*n),
            When::PerMillion(share) => mix(self.seed ^ mix(number)) % 1_000_000 < u64::from(*share),
            When::Offsets(range) => {
                let start = operation.offset_bytes;
                let end = start.saturating_add(u64::from(operation.length_bytes));
                operation.kind != Kind::Sync && start < range.end && end > range.start
            }
            When::Between(range) => range.contains(&now_ns),
        }
    }

    /// Until when a stall holds back a completion seen at `now_ns`.
    pub(crate) fn held_until(&self, now_ns: u64) -> Option<u64> {
        let ends = self.faults.iter().filter_map(|fault| match fault {
            Fault::Stall(range) if range.contains(&now_ns) => Some(range.end),
            _ => None,
        });
        ends.max()
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that spreads adjacent
/// numbers over all 64 bits.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Why a typed plan cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault {text:?}: {what}")]
pub struct FaultTextError {
    text: String,
    what: &'static str,
}

/// Parses rules separated by `;`, each
/// `EFFECT[=NUMBER] @ WHEN[=NUMBER[..NUMBER]] [read|write|sync|discard]`; numbers are decimal,
/// times in nanoseconds, sizes in bytes:
/// `fail=5@nth=1000`, `short=512@every=10 read`, `delay=20000000@permillion=100`,
/// `torn=4096@offsets=0..65536 write`, `stall@between=1000000000..2000000000`,
/// and `seed=7`.
impl FromStr for FaultPlan {
    type Err = FaultTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut seed = 0;
        let mut faults = Vec::new();
        for rule in text.split(';').map(str::trim).filter(|r| !r.is_empty()) {
            let wrong = |what| FaultTextError {
                text: rule.to_owned(),
                what,
            };
            if let Some(number) = rule.strip_prefix("seed=") {
                seed = number.parse().map_err(|_| wrong("seed= needs a number"))?;
            } else {
                faults.push(parse_rule(rule).map_err(wrong)?);
            }
        }
        Ok(FaultPlan::new(seed, faults))
    }
}

fn parse_rule(rule: &str) -> Result<Fault, &'static str> {
    let (effect, rest) = rule.split_once('@').ok_or("expected EFFECT@WHEN")?;
    let mut words = rest.split_whitespace();
    let when = parse_when(words.next().ok_or("expected a condition after @")?)?;
    let kind = match words.next() {
        None => None,
        Some("read") => Some(Kind::Read),
        Some("write") => Some(Kind::Write),
        Some("sync") => Some(Kind::Sync),
        Some("discard") => Some(Kind::Discard),
        Some(_) => return Err("the kind is read, write, sync or discard"),
    };
    let (effect, number) = match effect.trim().split_once('=') {
        Some((effect, number)) => (effect, number.parse::<u64>().map_err(|_| NOT_A_NUMBER)?),
        None => (effect.trim(), 0),
    };
    let small = u32::try_from(number).map_err(|_| NOT_A_NUMBER);
    let effect = match (effect, when) {
        ("stall", When::Between(range)) => return Ok(Fault::Stall(range)),
        ("stall", _) => return Err("stall needs between=FROM..UNTIL"),
        ("fail", when) => {
            let errno = i32::try_from(number).ok().filter(|errno| *errno > 0);
            (
                Effect::Fail(errno.ok_or("fail=ERRNO needs a positive number")?),
                when,
            )
        }
        ("short", when) => (Effect::Short(small?), when),
        ("torn", when) => (Effect::Torn(small?), when),
        ("delay", when) => (Effect::Delay(number), when),
        _ => return Err("the effect is fail, short, torn, delay or stall"),
    };
    Ok(Fault::Operation {
        when: effect.1,
        kind,
        effect: effect.0,
    })
}

const NOT_A_NUMBER: &str = "not a number in range";

fn parse_when(text: &str) -> Result<When, &'static str> {
    let (name, value) = text.split_once('=').ok_or("the condition needs =NUMBER")?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| NOT_A_NUMBER);
    let range = || {
        let (from, until) = value.split_once("..").ok_or("expected FROM..UNTIL")?;
        Ok(number(from)?..number(until)?)
    };
    Ok(match name {
        "nth" => When::Nth(number(value)?),
        "every" => When::EveryNth(number(value)?),
        "permillion" => When::PerMillion(u32::try_from(number(value)?).map_err(|_| NOT_A_NUMBER)?),
        "offsets" => When::Offsets(range()?),
        "between" => When::Between(range()?),
        _ => return Err("the condition is nth, every, permillion, offsets or between"),
    })
}
