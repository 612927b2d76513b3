//! The rate of a load while a cache or a burst credit absorbs it, and the sustained rate.

use serde::{Deserialize, Serialize};
use stripewise_stats::{Claim, NotReached, Sustained};
use stripewise_units::{format_bytes, format_duration, format_iops};

/// What a pilot found about a load before the measured runs: they begin where a cache has nothing
/// left to absorb, as far as that is known. Bytes are those written, or read by a load that only
/// reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SustainedRecord {
    /// What can be claimed about the rate.
    pub claim: SustainedClaim,
    /// Bytes written until the rate stepped down; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorbed_bytes: Option<u64>,
    /// Operations per second until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorbed_iops: Option<f64>,
    /// The same in MiB per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorbed_mib_per_s: Option<f64>,
    /// Operations per second when the pilot ended; absent if it was too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Bytes written where this rate began.
    pub from_bytes: u64,
    /// When it began, nanoseconds since the start of the pilot.
    pub from_ns: u64,
    /// Bytes that the pilot wrote.
    pub written_bytes: u64,
    /// Its duration, nanoseconds.
    pub duration_ns: u64,
    /// Estimated duration of a pilot that reaches a sustained rate; absent if this one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_ns: Option<u64>,
    /// Bytes that it would write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_bytes: Option<u64>,
}

/// What can be claimed about the final rate of a pilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SustainedClaim {
    /// It is sustained.
    Sustained,
    /// It lasted for the bytes that were written; a larger cache is not excluded.
    AtLeast,
    /// Not reached: the pilot was too short.
    TooShort,
    /// Not reached: a cache of the known size may still have absorbed everything.
    CacheAbsorbs,
    /// Not reached: the rate stepped down, and has not been steady since.
    JustSteppedDown,
    /// Not reached: rate or latency kept changing.
    Unsteady,
    /// Not reached: flash was not written once, capacity and spare.
    FlashNotWritten,
}

impl SustainedRecord {
    /// From a pilot's outcome.
    pub fn of(found: &Sustained) -> SustainedRecord {
        // Float to integer saturates.
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let mib = found.to.bytes / found.to.operations.max(1.0) / 1_048_576.0;
        SustainedRecord {
            claim: match found.claim {
                Claim::Sustained => SustainedClaim::Sustained,
                Claim::AtLeast => SustainedClaim::AtLeast,
                Claim::NotReached(NotReached::TooShort) => SustainedClaim::TooShort,
                Claim::NotReached(NotReached::CacheAbsorbs) => SustainedClaim::CacheAbsorbs,
                Claim::NotReached(NotReached::JustSteppedDown) => SustainedClaim::JustSteppedDown,
                Claim::NotReached(NotReached::Unsteady) => SustainedClaim::Unsteady,
                Claim::NotReached(NotReached::FlashNotWritten) => SustainedClaim::FlashNotWritten,
            },
            absorbed_bytes: found.absorbed.map(|step| step.at.bytes as u64),
            absorbed_iops: found.absorbed.map(|step| step.rate),
            absorbed_mib_per_s: found.absorbed.map(|step| step.rate * mib),
            iops: found.rate,
            from_bytes: found.from.bytes as u64,
            from_ns: ns(found.from.seconds),
            written_bytes: found.to.bytes as u64,
            duration_ns: ns(found.to.seconds),
            needed_ns: found.need.map(|need| ns(need.seconds)),
            needed_bytes: found.need.map(|need| need.bytes as u64),
        }
    }

    /// Whether the rate may be used as an answer, and for decisions.
    pub fn is_reached(&self) -> bool {
        matches!(
            self.claim,
            SustainedClaim::Sustained | SustainedClaim::AtLeast
        )
    }

    /// `45,000 IOPS until 256 MiB are written`, or read if it `reads`, or in MiB/s if `in_bytes`;
    /// `None` if nothing was absorbed.
    pub fn absorbed_words(&self, in_bytes: bool, reads: bool) -> Option<String> {
        let done = if reads { "read" } else { "written" };
        let (rate, unit) = match in_bytes {
            true => (self.absorbed_mib_per_s?, "MiB/s"),
            false => (self.absorbed_iops?, "IOPS"),
        };
        Some(format!(
            "{} {unit} until {} are {done}",
            format_iops(rate),
            format_bytes(self.absorbed_bytes?)
        ))
    }

    /// Why there is no sustained rate; `None` if there is one. What absorbs a load that only
    /// `reads` is a burst credit.
    pub fn not_reached_words(&self, reads: bool) -> Option<String> {
        let (operations, done, doing) = match reads {
            true => ("reads", "read", "reading"),
            false => ("writes", "written", "writing"),
        };
        let so_far = format!(
            "after {} ({} {done})",
            format_duration(self.duration_ns),
            format_bytes(self.written_bytes)
        );
        let why = match self.claim {
            SustainedClaim::Sustained | SustainedClaim::AtLeast => return None,
            SustainedClaim::TooShort if self.duration_ns == 0 && reads => {
                "the time was too short to look for a burst credit".to_owned()
            }
            SustainedClaim::TooShort if self.duration_ns == 0 => {
                "the time was too short to look for what a cache absorbs".to_owned()
            }
            SustainedClaim::TooShort => format!("the {operations} were too few to tell {so_far}"),
            SustainedClaim::CacheAbsorbs if reads => {
                format!("a burst credit may still last {so_far}")
            }
            SustainedClaim::CacheAbsorbs => {
                format!("the cache may still absorb everything {so_far}")
            }
            SustainedClaim::JustSteppedDown => {
                format!("the rate had stepped down and was not steady again {so_far}")
            }
            SustainedClaim::Unsteady => format!("the rate still changed {so_far}"),
            SustainedClaim::FlashNotWritten => {
                format!("flash that was never written still absorbed the writes {so_far}")
            }
        };
        let needed = self.needed_ns.zip(self.needed_bytes);
        let needed = needed.filter(|(_, bytes)| *bytes > 0);
        // So far a cache, or fresh flash, set the rate at which the rest was estimated.
        let is_least = matches!(
            self.claim,
            SustainedClaim::CacheAbsorbs | SustainedClaim::FlashNotWritten
        );
        let needed = needed.map(|(ns, bytes)| {
            let (ns, bytes) = (format_duration(ns), format_bytes(bytes));
            match is_least {
                true => format!(
                    ", which takes at least {ns} of {doing} ({bytes}), and longer if the rate falls"
                ),
                false => format!(", which takes about {ns} of {doing} ({bytes})"),
            }
        });
        Some(format!(
            "{why}: sustained {operations} were not measured{}",
            needed.unwrap_or_default()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numbers_or_what_is_missing_are_said() {
        let sustained = SustainedRecord {
            claim: SustainedClaim::Sustained,
            absorbed_bytes: Some(256 << 20),
            absorbed_iops: Some(45_000.0),
            absorbed_mib_per_s: Some(351.6),
            iops: Some(781.0),
            from_bytes: 256 << 20,
            from_ns: 730_000_000,
            written_bytes: 1 << 30,
            duration_ns: 60_000_000_000,
            needed_ns: None,
            needed_bytes: None,
        };
        assert_eq!(
            sustained.absorbed_words(false, false).as_deref(),
            Some("45,000 IOPS until 256 MiB are written")
        );
        assert_eq!(
            sustained.absorbed_words(true, true).as_deref(),
            Some("352 MiB/s until 256 MiB are read")
        );
        assert_eq!(sustained.not_reached_words(false), None);
        let absorbed = SustainedRecord {
            claim: SustainedClaim::CacheAbsorbs,
            absorbed_bytes: None,
            absorbed_iops: None,
            absorbed_mib_per_s: None,
            needed_ns: Some(600_000_000_000),
            needed_bytes: Some(4 << 30),
            ..sustained
        };
        assert!(!absorbed.is_reached());
        assert_eq!(absorbed.absorbed_words(true, false), None);
        assert_eq!(
            absorbed.not_reached_words(false).as_deref(),
            Some(
                "the cache may still absorb everything after 1 m (1 GiB written): sustained \
                 writes were not measured, which takes at least 10 m of writing (4 GiB), and \
                 longer if the rate falls"
            )
        );
        assert_eq!(
            absorbed.not_reached_words(true).as_deref(),
            Some(
                "a burst credit may still last after 1 m (1 GiB read): sustained reads were not \
                 measured, which takes at least 10 m of reading (4 GiB), and longer if the rate falls"
            )
        );
        let unsteady = SustainedRecord {
            claim: SustainedClaim::Unsteady,
            ..absorbed
        };
        let words = unsteady.not_reached_words(false).expect("not reached");
        assert!(
            words.ends_with(", which takes about 10 m of writing (4 GiB)"),
            "{words}"
        );
    }
}
