//! Parses the instants that people type for `--start-at`.

use crate::failure::{Failure, Outcome};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::str::FromStr;
use stripewise_units::{Nanoseconds, ParseError, WallTime};

const HINT: &str = "give a time of day (14:00, 14:00:00Z), a day and time (2026-11-22T14:00:00), or a \
                    time from now (+30s)";
/// A time of day further ahead than this is one that has passed.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(12);
/// No one needs to wait longer.
const WAIT_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);

/// An instant as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct StartAt {
    typed: String,
    moment: StartTime,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StartTime {
    /// This long from now.
    In(Nanoseconds),
    /// The next time that clocks show this, in local time or UTC.
    Time(Time, Zone),
    At(DateTime, Zone),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Zone {
    Local,
    Utc,
}

impl FromStr for StartAt {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refused = || ParseError::new(typed, "is not a valid time to start at", HINT);
        let text = typed.trim();
        let moment = if let Some(length) = text.strip_prefix('+') {
            StartTime::In(length.parse()?)
        } else {
            let (text, zone) = match text.strip_suffix(['Z', 'z']) {
                Some(text) => (text, Zone::Utc),
                None => (text, Zone::Local),
            };
            // Both parsers also accept part of a time.
            if !text.contains(':') || text.contains(['[', '+', '/']) {
                return Err(refused());
            }
            match text.parse::<Time>() {
                Ok(time) if !text.contains('-') => StartTime::Time(time, zone),
                _ => StartTime::At(text.parse().map_err(|_| refused())?, zone),
            }
        };
        Ok(StartAt {
            typed: typed.to_owned(),
            moment,
        })
    }
}

impl StartAt {
    /// The instant, relative to `now`.
    ///
    /// # Errors
    /// If it has passed, or is too far ahead.
    pub fn relative_to(&self, now: WallTime) -> Outcome<WallTime> {
        self.resolve(now, &TimeZone::system())
    }

    fn resolve(&self, now: WallTime, here: &TimeZone) -> Outcome<WallTime> {
        let now = i128::from(now.ns());
        let now = Timestamp::from_nanosecond(now).map_err(|_| self.refused("is not a time"))?;
        let at = match self.moment {
            StartTime::In(length) => {
                let length =
                    SignedDuration::from_nanos(i64::try_from(length.ns()).unwrap_or(i64::MAX));
                now.checked_add(length).ok()
            }
            StartTime::At(at, zone) => zone_of(zone, here).to_timestamp(at).ok(),
            StartTime::Time(time, zone) => next(time, &zone_of(zone, here), now),
        };
        let at = at.ok_or_else(|| self.refused("is not a time of day"))?;
        let ahead = at.duration_since(now);
        let is_time = matches!(self.moment, StartTime::Time(..));
        if ahead.is_negative() || is_time && ahead > AHEAD_MAX {
            return Err(self.refused(&format!("has passed: it is {now:.0}")));
        }
        if ahead > WAIT_MAX {
            return Err(self.refused("is more than a week ahead"));
        }
        Ok(WallTime(u64::try_from(at.as_nanosecond()).unwrap_or(0)))
    }

    fn refused(&self, why: &str) -> Failure {
        Failure::usage(format!("--start-at {} {why}", self.typed), HINT)
    }
}

fn zone_of(zone: Zone, here: &TimeZone) -> TimeZone {
    match zone {
        Zone::Utc => TimeZone::UTC,
        Zone::Local => here.clone(),
    }
}

/// The first instant from `now` on at which clocks of this zone show `time`: today or
/// tomorrow.
fn next(time: Time, zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
    let today = now.to_zoned(zone.clone()).date();
    let days = [Some(today), today.tomorrow().ok()];
    let mut moments = days
        .into_iter()
        .flatten()
        .filter_map(|day| zone.to_timestamp(day.to_datetime(time)).ok());
    moments.find(|at| *at >= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 13:59:30 in UTC; two hours later in the test's zone.
    const NOW: &str = "2026-11-22T13:59:30Z";

    fn resolved(typed: &str) -> Result<String, String> {
        let at: StartAt = typed
            .parse()
            .map_err(|error: ParseError| error.to_string())?;
        let here = TimeZone::fixed(jiff::tz::offset(2));
        let at = at.resolve(NOW.parse().unwrap(), &here);
        at.map(|at| at.to_string()[..23].to_owned())
            .map_err(|failure| failure.error.to_string())
    }

    #[test]
    fn moments_are_local_unless_they_say_otherwise() {
        let cases = [
            ("14:00:00Z", "2026-11-22T14:00:00.000"),
            ("14:00Z", "2026-11-22T14:00:00.000"),
            ("16:00:00", "2026-11-22T14:00:00.000"),
            ("16:00:00.250", "2026-11-22T14:00:00.250"),
            ("+30s", "2026-11-22T14:00:00.000"),
            ("+1m30s", "2026-11-22T14:01:00.000"),
            ("2026-11-22T14:00:00Z", "2026-11-22T14:00:00.000"),
            ("2026-11-22T16:00:00", "2026-11-22T14:00:00.000"),
            ("2026-11-23 16:00", "2026-11-23T14:00:00.000"),
            // After midnight, here and in UTC.
            ("00:10", "2026-11-22T22:10:00.000"),
            ("01:10Z", "2026-11-23T01:10:00.000"),
        ];
        for (typed, expected) in cases {
            assert_eq!(resolved(typed).as_deref(), Ok(expected), "{typed}");
        }
    }

    #[test]
    fn what_is_over_or_no_time_is_refused() {
        let cases = [
            ("13:59:00Z", "has passed: it is 2026-11-22T13:59:30Z"),
            ("15:59:00", "has passed"),
            ("2026-11-22T13:59:29Z", "has passed"),
            ("2026-12-22T13:59:29Z", "is more than a week ahead"),
            ("+200h", "is more than a week ahead"),
            ("soon", "is not a valid time to start at"),
            ("14", "is not a valid time to start at"),
            ("25:00", "is not a valid time to start at"),
            ("14:00+01:00", "is not a valid time to start at"),
            ("2026-11-22", "is not a valid time to start at"),
            ("+", "nothing was given where a value is needed"),
            ("30s", "is not a valid time to start at"),
        ];
        for (typed, expected) in cases {
            let message = resolved(typed).unwrap_err();
            assert!(message.contains(expected), "{typed}: {message}");
        }
    }
}
