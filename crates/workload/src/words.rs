//! Parses and prints the values of a workload; parsing printed text gives the same value.

use crate::{Arrivals, CacheMode, CursorKind, Distribution, SyncCall, SyncPolicy, ThinkTime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use stripewise_units::{Nanoseconds, ParseError, format_duration, nearest, parse_count};

/// Largest exponent of a Zipf distribution.
pub(crate) const THETA_MAX: f64 = 5.0;

const DISTRIBUTION_HINT: &str = "a distribution is uniform, covering (every block once before any comes again), zipf:THETA (0 < THETA <= 5, such as zipf:0.99), hot:SPACE/OPERATIONS in percent (hot:10/90: a tenth of the blocks takes nine tenths of the operations) or one-pass:PERCENT (writes that leave an SSD with so much spare flash in its steady state)";

/// Allowed spare flash for a pass.
pub(crate) const SPARE_PERCENT: std::ops::RangeInclusive<u8> = 1..=100;

const SYNC_HINT: &str = "syncs are fdatasync or fsync; fdatasync:N is one after every N writes of a thread; fio's sync=dsync is --cache direct-sync here";

const THINK_HINT: &str = "a think time is how long a thread pauses after each operation: 10ms; 10ms:32 pauses after every 32";

/// Implements `FromStr` and `Display` of an enumeration from one table of words.
macro_rules! words {
    ($name:ident, $what:literal, $($value:ident = $word:literal),+) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $($name::$value => $word,)+
                })
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(typed: &str) -> Result<Self, ParseError> {
                match typed.trim() {
                    $($word => Ok($name::$value),)+
                    _ => {
                        let words = [$($word),+];
                        let hint = match nearest(typed.trim(), words) {
                            Some(near) => format!("did you mean {near}?"),
                            None => format!("use one of {}", words.join(", ")),
                        };
                        Err(ParseError::new(typed, concat!("is not ", $what), hint))
                    }
                }
            }
        }
    };
}

words!(
    CacheMode,
    "a cache mode",
    Direct = "direct",
    DirectSync = "direct-sync",
    Buffered = "buffered",
    BufferedSync = "buffered-sync",
    Dontcache = "dontcache"
);
words!(
    SyncCall,
    "a way to sync",
    Fdatasync = "fdatasync",
    Fsync = "fsync"
);
words!(
    CursorKind,
    "a kind of cursor",
    Own = "own",
    Shared = "shared",
    Columns = "columns"
);
words!(
    Arrivals,
    "a kind of arrivals",
    Fixed = "fixed",
    Poisson = "poisson"
);

impl CacheMode {
    /// The mode with these properties.
    pub const fn of(is_direct: bool, is_durable: bool) -> CacheMode {
        match (is_direct, is_durable) {
            (true, true) => CacheMode::DirectSync,
            (true, false) => CacheMode::Direct,
            (false, true) => CacheMode::BufferedSync,
            (false, false) => CacheMode::Buffered,
        }
    }

    /// Bypasses the page cache, so everything must be aligned to the logical sector.
    pub const fn is_direct(self) -> bool {
        matches!(self, CacheMode::Direct | CacheMode::DirectSync)
    }

    /// Every write is durable when it completes.
    pub const fn is_durable(self) -> bool {
        matches!(self, CacheMode::DirectSync | CacheMode::BufferedSync)
    }
}

impl SyncCall {
    // serde requires this signature.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) const fn is_fdatasync(&self) -> bool {
        matches!(self, SyncCall::Fdatasync)
    }
}

impl SyncPolicy {
    /// `fdatasync` after every `every` writes of a thread.
    pub const fn fdatasync(every: u32) -> SyncPolicy {
        SyncPolicy {
            every,
            call: SyncCall::Fdatasync,
        }
    }
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.every {
            1 => fmt::Display::fmt(&self.call, f),
            every => f.pad(&format!("{}:{every}", self.call)),
        }
    }
}

impl FromStr for SyncPolicy {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |problem: &str| ParseError::new(typed, problem, SYNC_HINT);
        let text = typed.trim();
        let (call, number) = text.split_once(':').unwrap_or((text, "1"));
        let call = call.parse().map_err(|_| refuse("is not a way to sync"))?;
        let every = parse_count(number)
            .ok()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|&every| every > 0)
            .ok_or_else(|| refuse("has no number of writes from 1 on after the colon"))?;
        Ok(SyncPolicy { every, call })
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pause = Nanoseconds(self.pause_ns);
        match self.every {
            1 => f.pad(&pause.to_string()),
            every => f.pad(&format!("{pause}:{every}")),
        }
    }
}

impl ThinkTime {
    /// For people: `each thread pauses for 10 ms after each operation`.
    pub fn describe(&self) -> String {
        let pause = format_duration(self.pause_ns);
        match self.every {
            1 => format!("each thread pauses for {pause} after each operation"),
            every => format!("each thread pauses for {pause} after every {every} operations"),
        }
    }
}

impl FromStr for ThinkTime {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let (pause, every) = typed.trim().split_once(':').unwrap_or((typed, "1"));
        let pause: Nanoseconds = pause.parse()?;
        let every = parse_count(every)
            .ok()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|&every| every > 0);
        let refuse = || {
            let problem = "has no number of operations from 1 on after the colon";
            ParseError::new(typed, problem, THINK_HINT)
        };
        Ok(ThinkTime {
            pause_ns: pause.ns(),
            every: every.ok_or_else(refuse)?,
        })
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Uniform => f.pad("uniform"),
            Distribution::Covering => f.pad("covering"),
            Distribution::Zipf { theta } => f.pad(&format!("zipf:{theta}")),
            Distribution::Hot {
                space_percent,
                operations_percent,
            } => f.pad(&format!("hot:{space_percent}/{operations_percent}")),
            Distribution::OnePass { spare_percent } => f.pad(&format!("one-pass:{spare_percent}")),
        }
    }
}

/// ```
/// use stripewise_workload::Distribution;
///
/// assert_eq!("zipf:0.99".parse(), Ok(Distribution::Zipf { theta: 0.99 }));
/// let error = "hot:10".parse::<Distribution>().unwrap_err();
/// assert!(error.hint().contains("hot:10/90"));
/// ```
impl FromStr for Distribution {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |problem: &str| ParseError::new(typed, problem, DISTRIBUTION_HINT);
        let text = typed.trim();
        if text == "uniform" {
            return Ok(Distribution::Uniform);
        }
        if text == "covering" {
            return Ok(Distribution::Covering);
        }
        if let Some(spare) = text.strip_prefix("one-pass:") {
            return parse_count(spare.strip_suffix('%').unwrap_or(spare))
                .ok()
                .and_then(|count| u8::try_from(count).ok())
                .filter(|percent| SPARE_PERCENT.contains(percent))
                .map(|spare_percent| Distribution::OnePass { spare_percent })
                .ok_or_else(|| {
                    refuse("has no share of spare flash from 1 to 100 after the colon")
                });
        }
        if let Some(exponent) = text.strip_prefix("zipf:") {
            let theta = exponent
                .parse::<f64>()
                .map_err(|_| refuse("has no number after the colon"))?;
            if !(theta > 0.0 && theta <= THETA_MAX) {
                return Err(refuse("has an exponent outside of 0 < THETA <= 5"));
            }
            return Ok(Distribution::Zipf { theta });
        }
        if let Some(shares) = text.strip_prefix("hot:") {
            let percent = |share: &str| {
                let number = parse_count(share).ok()?;
                u8::try_from(number).ok().filter(|n| (1..=99).contains(n))
            };
            let (space, operations) = shares
                .split_once('/')
                .ok_or_else(|| refuse("has no second share after a `/`"))?;
            let shares = percent(space).zip(percent(operations));
            let (space_percent, operations_percent) =
                shares.ok_or_else(|| refuse("has a share outside of 1 to 99"))?;
            return Ok(Distribution::Hot {
                space_percent,
                operations_percent,
            });
        }
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        let known = ["uniform", "covering", "one-pass", "zipf", "hot"];
        let near = known.into_iter().find(|one| name.starts_with(*one));
        let near = near.or_else(|| nearest(name, known));
        Err(match near.filter(|near| *near != name) {
            Some(near) => {
                let rest = &text[name.len()..];
                refuse(&format!(
                    "is not a distribution: did you mean {near}{rest}?"
                ))
            }
            None => refuse("is not a distribution"),
        })
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
