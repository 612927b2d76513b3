//! Warnings about times in which nothing completed: because the device did not respond, or because
//! the program was not running.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_results::{Interval, Severity, Warning};
use stripewise_units::format_duration;

/// A device silent for less than this is slow, not stalled.
const STALL_NS_MIN: u64 = 1_000_000_000;

/// Operations that must be missing, at the rate of the rest of the run: fewer may be missing by
/// chance (at 20 once in half a billion).
const MISSING_MIN: f64 = 20.0;

/// This many pauses in one run mean a program starved of CPU.
const PAUSES_MIN_STARVED: usize = 3;

/// A time in which the device did not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stall {
    /// Start of the first interval in which nothing completed.
    at_ns: u64,
    duration_ns: u64,
}

/// The stalls that the measured window saw from beginning to end: intervals in which nothing
/// completed although operations were in flight, as is always the case in a closed loop. In an open
/// loop with few arrivals, the first to complete afterwards show it: they took at least as long, or
/// failed. (Those in flight during a pause of the program have no latency.)
///
/// A paused process has no empty intervals: pauses are cut out.
fn stalls(intervals: &[Interval], closed_loop: bool) -> Vec<Stall> {
    let is_empty = |interval: &Interval| interval.operations() + interval.errors == 0;
    let busy = intervals.iter().filter(|interval| !is_empty(interval));
    let (operations, busy_ns) = busy.fold((0, 0), |(operations, ns), interval| {
        let done = interval.operations() + interval.errors;
        (operations + done, ns + interval.duration_ns)
    });
    let per_ns = if busy_ns > 0 {
        operations as f64 / busy_ns as f64
    } else {
        0.0
    };
    let mut found = Vec::new();
    let mut empty: Option<(u64, u64)> = None;
    for interval in intervals {
        if is_empty(interval) {
            let (_, length_ns) = empty.get_or_insert((interval.start_ns, 0));
            *length_ns += interval.duration_ns;
            continue;
        }
        let Some((at_ns, empty_ns)) = empty.take() else {
            continue;
        };
        let in_flight = closed_loop || interval.latency_ns_max >= empty_ns || interval.errors > 0;
        let missing = per_ns * empty_ns as f64;
        if empty_ns >= STALL_NS_MIN && missing >= MISSING_MIN && in_flight {
            // It may have begun and ended inside the adjacent intervals.
            let longest_ns = empty_ns.saturating_add(2 * interval.duration_ns);
            let duration_ns = interval.latency_ns_max.clamp(empty_ns, longest_ns);
            found.push(Stall { at_ns, duration_ns });
        }
    }
    found
}

/// The device did not respond for a time, and then continued.
pub fn stalled(evidence: &Evidence) -> Option<Warning> {
    // Between two pauses of threads with think time, nothing completes either.
    let closed_loop = !evidence.workload.has_due_times() && evidence.workload.think_time.is_none();
    let stalls = stalls(&evidence.outcome.intervals, closed_loop);
    let longest = stalls.iter().max_by_key(|stall| stall.duration_ns)?;
    // A quota that held the program back for as long explains it, and is reported.
    let observed = evidence.observed.as_ref();
    if observed.is_some_and(|seen| seen.quota_throttled_ns >= longest.duration_ns) {
        return None;
    }
    if let Some(doubt) = waited_as_long(evidence, longest.duration_ns) {
        let message = format!(
            "nothing completed for about {}, from {} on; {doubt}",
            format_duration(longest.duration_ns),
            format_duration(longest.at_ns)
        );
        return Some(Code::Stalled.warning(Severity::Warning, message, HINT_PROCESSOR));
    }
    let message = match stalls.len() {
        1 => format!(
            "the device stalled: it answered nothing for about {}, from {} on",
            format_duration(longest.duration_ns),
            format_duration(longest.at_ns)
        ),
        times => format!(
            "the device stalled {times} times: the longest time it answered nothing was about {}, from {} on",
            format_duration(longest.duration_ns),
            format_duration(longest.at_ns)
        ),
    };
    let hint = "look at the kernel's log (dmesg) for timeouts, resets and failed paths; rate and latencies \
                contain the stall";
    let short = format!(
        "nothing completed for about {}, from {} on",
        format_duration(longest.duration_ns),
        format_duration(longest.at_ns)
    );
    Some(
        Code::Stalled
            .warning(Severity::Warning, message, hint)
            .shortened(short),
    )
}

/// Hint for CPU starvation.
const HINT_PROCESSOR: &str = "give it a processor (nice, busy machine, control groups) and run again; if it \
                              happens again, look at the kernel's log (dmesg)";

/// The text added if the job's threads waited for a processor long enough to explain `duration_ns`
/// of silence.
fn waited_as_long(evidence: &Evidence, duration_ns: u64) -> Option<String> {
    (evidence.waited_ns >= duration_ns.div_ceil(2)).then(|| {
        format!(
            "the job's threads waited {} for a processor, so it may not have been the device",
            format_duration(evidence.waited_ns)
        )
    })
}

/// The program was not running for a time. The results exclude it, but the device was idle.
pub fn paused(evidence: &Evidence) -> Option<Warning> {
    let pauses = &evidence.outcome.pauses;
    let first = pauses.first()?;
    let total_ns = pauses
        .iter()
        .fold(0u64, |sum, pause| sum.saturating_add(pause.duration_ns));
    let place = if first.at_ns >= evidence.outcome.duration_ns {
        "after the stop".to_owned()
    } else {
        format!("after {}", format_duration(first.at_ns))
    };
    let starved = evidence.starved_ns >= total_ns.div_ceil(2);
    let what = if starved {
        "the program got no processor"
    } else {
        "the program was paused"
    };
    let total = format_duration(total_ns);
    let message = match pauses.len() {
        1 => format!(
            "{what} for {total}, {place}; that time is excluded from the rate and the latencies"
        ),
        times => format!(
            "{what} {times} times, for {total} in all, first {place}; these times are excluded from the rate and the \
             latencies"
        ),
    };
    // No one stops a program that often, so something else keeps it from running; where the kernel
    // counts that, it is known.
    Some(if starved || pauses.len() >= PAUSES_MIN_STARVED {
        let hint = "give it a processor (nice, busy machine, control groups): the latencies of operations in \
                    flight at a pause are not known, and the device rests in each";
        Code::Paused.warning(Severity::Warning, message, hint)
    } else {
        let hint = "run again without stopping it (Ctrl-Z, SIGSTOP, docker pause, a virtual machine that is paused) if caches and bursts that recover in a rest matter";
        Code::Paused.warning(Severity::Note, message, hint)
    })
}

/// A stall that the measured window did not see: in a closed loop nothing completes while the
/// device is silent, so the slow operations are those in flight at the stop.
pub fn stalled_at_end(evidence: &Evidence) -> Option<Warning> {
    const RATIO_MIN: u64 = 10;
    const LATENCY_NS_MIN: u64 = 100_000_000;
    let outcome = &evidence.outcome;
    let kinds = [
        Some(&outcome.read),
        Some(&outcome.write),
        outcome.sync.as_ref(),
        outcome.discard.as_ref(),
    ];
    let longest_ns = kinds
        .into_iter()
        .flatten()
        .filter_map(|kind| Some(kind.latency_ns?.max))
        .max()
        .unwrap_or(0);
    let drained_ns = outcome.drain.latency_ns_max;
    if drained_ns < LATENCY_NS_MIN || drained_ns < longest_ns.saturating_mul(RATIO_MIN) {
        return None;
    }
    let counts = format!(
        "operations in flight at the stop took up to {}, the counted ones at most {}",
        format_duration(drained_ns),
        format_duration(longest_ns)
    );
    if let Some(doubt) = waited_as_long(evidence, drained_ns) {
        let message = format!("{counts}; {doubt}");
        return Some(Code::StalledAtEnd.warning(Severity::Warning, message, HINT_PROCESSOR));
    }
    let message = format!("the device stalled at the end: {counts}");
    let hint = "run it longer; if it stalls again and again, look at the kernel's log and the device's health";
    Some(Code::StalledAtEnd.warning(Severity::Warning, message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Intervals of 500 ms with these (operations, errors, longest latency in ms).
    fn intervals(of: &[(u64, u64, u64)]) -> Vec<Interval> {
        (of.iter().enumerate())
            .map(|(index, &(read_operations, errors, longest_ms))| Interval {
                start_ns: index as u64 * 500 * MS,
                duration_ns: 500 * MS,
                read_operations,
                errors,
                latency_ns_max: longest_ms * MS,
                ..Interval::default()
            })
            .collect()
    }

    #[test]
    fn a_stall_is_where_nothing_completed_although_operations_were_in_flight() {
        let good = (100, 0, 9);
        let none = (0, 0, 0);
        let stall = |at_ms: u64, duration_ms: u64| Stall {
            at_ns: at_ms * MS,
            duration_ns: duration_ms * MS,
        };
        for (what, of, expected) in [
            ("nothing unusual", vec![good; 8], vec![]),
            (
                "nothing for a second and more",
                vec![good, none, none, (90, 0, 1_300), good],
                vec![stall(500, 1_300)],
            ),
            (
                "given up by the kernel",
                vec![good, none, none, none, (10, 4, 9)],
                vec![stall(500, 1_500)],
            ),
            (
                "twice",
                vec![
                    good,
                    none,
                    none,
                    (90, 0, 1_300),
                    none,
                    none,
                    none,
                    (5, 0, 9_000),
                ],
                vec![stall(500, 1_300), stall(2_000, 2_500)],
            ),
            (
                "from the start on",
                vec![none, none, (90, 0, 1_100), good],
                vec![stall(0, 1_100)],
            ),
            ("too short", vec![good, none, (90, 0, 600), good], vec![]),
            // An open loop in which nothing arrived.
            ("nothing in flight", vec![good, none, none, good], vec![]),
            (
                "so slow a device",
                vec![(5, 0, 900), none, none, (5, 0, 1_200), (5, 0, 900)],
                vec![],
            ),
            // For `stalled_at_end`, which examines the drain.
            ("to the end", vec![good, none, none, none], vec![]),
            ("all the time", vec![none; 5], vec![]),
            ("no intervals", vec![], vec![]),
        ] {
            assert_eq!(stalls(&intervals(&of), false), expected, "{what}");
        }
        // A pause of the program within the stall leaves no latency that shows it.
        let of = intervals(&[good, none, none, none, (90, 0, 9), good]);
        assert_eq!(stalls(&of, false), []);
        assert_eq!(stalls(&of, true), [stall(500, 1_500)]);
    }
}
